r"""Bounds for rows that come in clusters, such as several visits of one patient.

Rows of one cluster resemble each other, so bounds that count rows are too narrow. The clusters
are independent, and the mean error of a cluster is a number in [0, 1]: a bet on these numbers
bounds their expectation whatever the dependence within a cluster.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from boundshift._typing import BoolArray, FloatArray, IndexArray
from boundshift._validation import as_labels, find_distinct
from boundshift.exceptions import InvalidInputError

# A bet stakes at most this share of its capital.
_GREATEST_STAKE = 0.9
_SEED = 0


def as_clusters(cluster: ArrayLike, n: int) -> IndexArray:
    """Return the number of each row's cluster, in the order of the sorted ids."""
    ids = as_labels(cluster, "cluster")
    if len(ids) != n:
        raise InvalidInputError(
            f"`cluster` must have one id for each of {n} rows, got {len(ids)}. Pass the ids of the "
            "same rows."
        )
    return np.searchsorted(find_distinct(ids, "cluster"), ids)


def cluster_errors(is_wrong: BoolArray, cluster: IndexArray) -> FloatArray:
    """Return the share of wrong rows of each cluster that has rows."""
    rows = np.bincount(cluster)
    return np.asarray(np.bincount(cluster, is_wrong)[rows > 0] / rows[rows > 0])


def bound_mean(values: FloatArray, delta: float) -> float:
    r"""Return an upper bound of the expectation of independent numbers in [0, 1].

    Against the claim that the expectation is at least m, the capital
    :math:`\prod_{i \le t} (1 + \lambda_i (m - x_i))` is a nonnegative supermartingale if each
    :math:`\lambda_i \le 1/(1 - m)` depends on earlier numbers only. It ever reaches
    :math:`1/\delta` with probability at most :math:`\delta` (Ville's inequality). The bound is the
    greatest m whose capital never does. Bets follow the variance so far (Waudby-Smith and Ramdas
    2024, Journal of the Royal Statistical Society B 86). The order is random with a fixed seed.

    Examples
    --------
    >>> round(bound_mean(np.zeros(100), 0.05), 3), bound_mean(np.ones(9), 0.05)
    (0.033, 1.0)
    """
    n, goal = len(values), math.log(1.0 / delta)
    if n == 0:
        return 1.0
    x = np.random.default_rng(_SEED).permutation(values)
    t = np.arange(1, n + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    stake = np.sqrt(2.0 * goal / (np.append(0.25, variance[:-1]) * n))

    def excess(m: float) -> float:
        bets = np.minimum(stake, _GREATEST_STAKE / (1.0 - m))
        return float(np.cumsum(np.log1p(bets * (m - x))).max()) - goal

    low, high = float(x.mean()), 1.0 - 1e-9
    if low >= high or excess(high) < 0.0:
        return 1.0
    return low if excess(low) >= 0.0 else float(brentq(excess, low, high, xtol=1e-9))
