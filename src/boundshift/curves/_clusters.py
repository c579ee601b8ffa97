r"""Bounds for rows that come in clusters, such as several visits of one patient.

Rows of one cluster resemble each other, so bounds that count rows are too narrow. The clusters
are independent, and the mean error of a cluster is a number in [0, 1]: a bet on these numbers
bounds their expectation whatever the dependence within a cluster.

Against the claim that the expectation is at least m, the capital

.. math:: W(m) = \sum_j w_j \prod_i \left(1 - c_j + c_j \frac{1 - x_i}{1 - m}\right)

has an expectation of at most 1 for any shares :math:`c_j` of the capital in [0, 1]. It reaches
:math:`1/\delta` with probability at most :math:`\delta` (Markov's inequality), and does not
depend on the order of the clusters. Bets of this kind are those of Waudby-Smith and Ramdas (2024,
Journal of the Royal Statistical Society B 86). Three shares are fixed before: the one that is best
for clusters which are right or wrong as a whole, and two larger ones for clusters whose means vary
less.

The capital falls with every :math:`x_i`. So a threshold that leaves more rows on the wrong side
has less of it, and the farthest threshold that passes keeps its guarantee (monotone risk control):
if it were too far, the nearest threshold that is too far would have passed, too.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import expit, xlogy

from boundshift._scores import ScoreSample
from boundshift._search import best_gap
from boundshift._typing import BoolArray, FloatArray, IndexArray, IntArray
from boundshift._validation import as_clusters
from boundshift.curves._base import ConfidenceCurve, Solution, solution_of_floors
from boundshift.curves._unmet import describe_unmet
from boundshift.rules import Floors
from boundshift.rules._guarantee import Guarantee

Bets = tuple[tuple[float, float], ...]
"""Weights and shares of the capital."""

# Weights, and multiples of the share that is best for clusters right or wrong as a whole.
_WEIGHTS = (0.5, 0.25, 0.25)
_MULTIPLES = (1.0, 2.0, 4.0)
# Means between two of these have the same bets, so that evidence grows with the mean. The odds
# halve above a mean of one half, where few bounds lie, and fall by the fourth root of 2 below.
_LOG_ODDS = np.concatenate([np.arange(30.0, 0.0, -1.0), np.arange(0.0, -30.25, -0.25)])
EDGES = expit(_LOG_ODDS * math.log(2.0)).tolist()


def cluster_means(values: BoolArray | FloatArray, cluster: IndexArray) -> FloatArray:
    """Return the mean of each cluster that has rows; of errors it is the share of wrong rows."""
    rows = np.bincount(cluster)
    return np.asarray(np.bincount(cluster, values)[rows > 0] / rows[rows > 0])


def bound_mean(values: FloatArray, delta: float, ratio: FloatArray | None = None) -> float:
    """Return an upper bound of the expectation of independent numbers in [0, 1].

    It is the greatest mean that the capital does not refute. A ratio is the least
    probability of being drawn over that of each number: the expectation is then that of the
    numbers before drawing.

    Examples
    --------
    >>> round(bound_mean(np.zeros(100), 0.05), 3), bound_mean(np.ones(9), 0.05)
    (0.03, 1.0)
    """
    right = 1.0
    for left in EDGES if len(values) else ():
        bets = choose_bets(left, len(values), delta)
        if _evidence(left, values, bets, ratio) < 0.0:
            if right == 1.0 or _evidence(right, values, bets, ratio) < 0.0:
                return right
            return float(brentq(_evidence, left, right, args=(values, bets, ratio), xtol=1e-12))
        right = left
    return right


def refutes(x: FloatArray, mean: float, bets: Bets, ratio: FloatArray | None = None) -> bool:
    """Return whether bets on numbers refute a mean."""
    return _evidence(mean, x, bets, ratio) >= 0.0


def most_wrong_rows(cluster: IndexArray, most: float, delta: float) -> int:
    """Return how many rows may be wrong if the mean error of clusters is to be at most `most`.

    -1 if that cannot be guaranteed even with none. Rows are given by their cluster, in the order in
    which a threshold would put them on the wrong side.
    """
    if most <= 0.0:
        return -1
    _, cluster = np.unique(cluster, return_inverse=True)
    rows = np.bincount(cluster)
    bets = choose_bets(most, len(rows), delta) if len(rows) else ()

    def fails(k: int) -> bool:
        shares = np.bincount(cluster[:k], minlength=len(rows)) / rows
        return not len(rows) or not refutes(shares, most, bets)

    return bisect_left(range(len(cluster) + 1), True, key=fails) - 1


def refutes_counts(wrong: int, n: int, mean: float, delta: float) -> bool:
    """Return whether n clusters, some wrong as a whole and the others right, refute a mean."""
    x = np.repeat([1.0, 0.0], [wrong, n - wrong])
    return _evidence(mean, x, choose_bets(mean, n, delta), None) >= -1e-12


def order_clusters(
    is_positive: BoolArray, scores: FloatArray, cluster: ArrayLike
) -> tuple[IndexArray, IndexArray]:
    """Return the clusters of each class's rows, from the first that a threshold puts wrong."""
    ids = as_clusters(cluster, len(scores))
    order = np.argsort(scores, kind="stable")
    falling = order[::-1]
    return ids[falling[~is_positive[falling]]], ids[order[is_positive[order]]]


@dataclass(frozen=True)
class Betting(ConfidenceCurve):
    """The bound of a bet on the mean errors of clusters."""

    name = "betting"
    counts_clusters = True

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the claim for each number of clusters that are wrong as a whole."""
        counts = np.atleast_1d(np.asarray(wrong, dtype=np.intp))
        return np.array([bound_mean(np.repeat([1.0, 0.0], [k, n - k]), self.delta) for k in counts])

    def solve_clusters(
        self, sample: ScoreSample, rule: Floors, clusters: tuple[IndexArray, IndexArray]
    ) -> Solution:
        """Return the boundary that keeps floors of recall and specificity, if there is one.

        Clusters are those of `order_clusters`. A class whose floor is not kept, or that has none,
        has a bound of 1: the bet at a threshold that these rows chose proves nothing.
        """
        of_rate = {each.rate: each for each in rule.guarantees(self.delta)}
        negative = _ClassOfClusters(clusters[0], of_rate.get("specificity"))
        positive = _ClassOfClusters(clusters[1], of_rate.get("recall"))

        def errors(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            above, below = sample.count_wrong(t)
            return negative.claim(above), positive.claim(below)

        found = best_gap(errors, rule, sample)
        above, below = sample.count_wrong(np.array([found.threshold]))
        alarms = int(above[0])
        misses = int(below[0])
        found = found._replace(errors=(negative.bound(alarms), positive.bound(misses)))
        numbers = negative.n_clusters, positive.n_clusters
        missed = []
        if not negative.is_kept(alarms):
            missed.append("specificity")
        if not positive.is_kept(misses):
            missed.append("recall")
        text = f"Every floor is kept with {self.confidence:g} confidence."
        if missed:
            observed = negative.observed(alarms), positive.observed(misses)
            text = describe_unmet(rule, missed, observed, numbers, self.delta, unit="clusters")
        text += (
            f" Rates are averages over {numbers[0]} negative and {numbers[1]} positive clusters."
        )
        return solution_of_floors(sample, found, bool(missed), text)


@dataclass(frozen=True)
class _ClassOfClusters:
    """The rows of one class by their cluster, and the guarantee of the class's error rate.

    The rows are in the order in which a threshold puts them on the wrong side.
    """

    ids: IndexArray
    guarantee: Guarantee | None

    @cached_property
    def n_clusters(self) -> int:
        return len(np.unique(self.ids))

    @cached_property
    def allowed(self) -> int:
        """How many rows may be wrong; all of them without a guarantee."""
        if self.guarantee is None:
            return len(self.ids)
        return most_wrong_rows(self.ids, self.guarantee.error_rate, self.guarantee.delta)

    def is_kept(self, wrong: int) -> bool:
        return wrong <= self.allowed

    def claim(self, wrong: IntArray) -> FloatArray:
        """Return a claim that grows with the count, within the floor iff that is kept."""
        n = len(self.ids)
        most = 1.0 if self.guarantee is None else self.guarantee.error_rate
        beyond = most + (1.0 - most) * (wrong - self.allowed) / max(n - self.allowed, 1)
        return np.where(wrong <= self.allowed, np.minimum(wrong / n, most), beyond)

    def bound(self, wrong: int) -> float:
        """Return what is proved of the error rate at a threshold that these rows chose."""
        if self.guarantee is None or not self.is_kept(wrong):
            return 1.0
        return self.guarantee.error_rate

    def observed(self, wrong: int) -> float:
        """Return the error rate as counted, averaged over clusters."""
        return float(cluster_means(np.arange(len(self.ids)) < wrong, self.ids).mean())


def choose_bets(mean: float, n: int, delta: float) -> Bets:
    """Return the bets of n numbers against a mean; weights are multiplied by delta.

    The first share is the best one if a share q of the clusters is wrong, where q is the largest
    that can be told from the mean: n times their Kullback-Leibler divergence is the logarithm of
    what is to be won.
    """
    goal = math.log(1.0 / (_WEIGHTS[0] * delta)) / n

    def gain(q: float) -> float:
        divergence = xlogy(q, q / mean) + xlogy(1.0 - q, (1.0 - q) / (1.0 - mean))
        return float(divergence) - goal

    first = 1.0 - brentq(gain, 0.0, mean) / mean if gain(0.0) > 0.0 else 1.0
    shares = (min(k * first, (1.0 + first) / 2) if k > 1.0 else first for k in _MULTIPLES)
    return tuple((w * delta, share) for w, share in zip(_WEIGHTS, shares, strict=True))


def _evidence(mean: float, x: FloatArray, bets: Bets, ratio: FloatArray | None) -> float:
    """Return the logarithm of delta times the capital; from 0 on the mean is refuted.

    The bet on a number that was drawn with a larger probability is smaller by the same factor.
    """
    gain = (mean - x) / (1.0 - mean) * (1.0 if ratio is None else ratio)
    with np.errstate(divide="ignore"):
        logs = [np.log(np.maximum(1.0 + c * gain, 0.0)).sum() for _, c in bets]
    parts = [math.log(weight) + log for (weight, _), log in zip(bets, logs, strict=True)]
    return max(float(np.logaddexp.reduce(parts)), -1e3)
