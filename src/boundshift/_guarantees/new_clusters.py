r"""The error rate that a new cluster will have, from the error rates of clusters that were tested.

A new site has an error rate of its own, which may be far above the average over sites. With
clusters whose error rates :math:`p_1, \ldots, p_m` were known, the new rate X would exceed their
(r + 1)-th largest with a probability of at most :math:`(r + 1)/(m + 1)`, because all orders of
m + 1 rates drawn from one distribution are equally likely (Wilks 1941, Annals of Mathematical
Statistics 12; Vovk, Gammerman and Shafer 2005).

Only counts of wrong rows are known. Take for each cluster Clopper and Pearson's bound
:math:`U_j`, which is at least :math:`p_j` with probability :math:`1 - \eta`, whatever the cluster.
Given X = x, each :math:`U_j \ge x` with a probability of at least
:math:`(1 - \eta) \Pr(p_j \ge x)`, independently of the others; and
:math:`\Pr(p_j \ge X)` at the random X is stochastically at least uniform. So X exceeds the
(r + 1)-th largest bound with a probability of at most

.. math:: \int_0^1 \Pr\bigl(\mathrm{Bin}(m, (1 - \eta) v) \le r\bigr) \, dv =
          \frac{1}{(1 - \eta)(m + 1)} \sum_{i=0}^{r} I_{1 - \eta}(i + 1, m - i + 1),

with the regularised incomplete beta function I. Without sampling error, :math:`\eta = 0`, this is
(r + 1)/(m + 1) again. It is also less than the sum of both failure probabilities, since a bound
that is too low matters only if few other bounds are high.

*Assumption:* clusters, the new one included, are independent draws of one kind, and rows of a class
within a cluster are independent given the cluster. *Guarantee:* for any number of clusters and
rows, over the clusters tested and the new one.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc

from boundshift._typing import IntArray
from boundshift.curves._uniform import clopper_pearson

# Of the bound of each cluster by itself. With larger ranks and a lower level than this the bounds
# of small clusters get wide; with lower ranks a few extreme clusters count too much.
_LEAST_LEVEL = 0.25
# A failure probability such as 1 - 0.95 is rounded.
_ROUNDED = 1.0 - 1e-9


def failure_probability(rank: int, level: float, n_clusters: int) -> float:
    """Return the highest probability that a new rate exceeds the bound of this rank, from 0.

    Each cluster's own bound fails with a probability of at most `level`.

    Examples
    --------
    >>> round(failure_probability(0, 0.0, 16), 4)
    0.0588
    """
    places = np.arange(rank + 1)
    terms = betainc(places + 1, n_clusters - places + 1, 1.0 - level)
    return float(terms.sum()) / ((1.0 - level) * (n_clusters + 1))


@lru_cache(maxsize=100)
def choose_rank(n_clusters: int, delta: float) -> tuple[int, float] | None:
    """Return which of the sorted bounds to take, and the level of each; None if none suffices.

    They depend on nothing but the number of clusters, so the choice costs no confidence.
    """
    chosen = None
    for rank in range(n_clusters):
        if failure_probability(rank, 0.0, n_clusters) >= delta * _ROUNDED:
            break

        def excess(level: float, rank: int = rank) -> float:
            return failure_probability(rank, level, n_clusters) - delta

        level = float(brentq(excess, 0.0, 1.0 - 1e-9))
        if chosen is not None and level < _LEAST_LEVEL:
            break
        chosen = rank, level
    return chosen


def bound_new_cluster(wrong: IntArray, n: IntArray, delta: float) -> float:
    """Return the upper bound of a new cluster's error rate; 1 if there are too few clusters.

    Examples
    --------
    >>> rows = np.full(40, 100)
    >>> wrong = np.full(40, 5)
    >>> round(bound_new_cluster(wrong, rows, 0.05), 3)
    0.056
    >>> bound_new_cluster(wrong[:16], rows[:16], 0.05)
    1.0
    """
    chosen = choose_rank(len(n), delta)
    if chosen is None:
        return 1.0
    rank, level = chosen
    return float(np.sort(clopper_pearson(wrong, n, level))[-1 - rank])


def fewest_clusters(delta: float) -> int:
    """Return the fewest clusters from which anything follows about a new one.

    Examples
    --------
    >>> fewest_clusters(0.05), fewest_clusters(0.06)
    (20, 16)
    """
    return math.floor(1.0 / (delta * _ROUNDED))
