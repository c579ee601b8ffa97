r"""More than two classes: pairwise thresholds become one bias per class.

For each pair of classes the binary method gives a threshold :math:`t_{ij}` on
:math:`s_j - s_i`. One bias per class then follows by weighted least squares on
:math:`b_i - b_j \approx t_{ij}`, a small Laplacian system with :math:`\sum_k b_k = 0`, and the
prediction is :math:`\arg\max_k (s_k + b_k)`. With two classes that is the binary method.

Least squares treats a pair whose classes lie far apart, where the threshold hardly matters, like
one whose classes overlap. `joint_biases` asks the curves instead: the biases minimise

.. math:: \sum_{i<j} -\ln\left(1 - V_{ij}(b_i - b_j)\right),

with the rule's value :math:`V_{ij}` of a pair, from 0 where no error is claimed to 1 where all is
wrong. With the rule "g-mean" that is the product of all recalls between pairs; with two classes
the minimum is that of the rule itself, whichever it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.curves import ErrorCurve
from boundshift.result.boundary import Boundary
from boundshift.rules import Rule
from boundshift.scores.sample import ScoreSample
from boundshift.search.minimum import errors_at

__all__ = ["class_biases", "fit_biases", "joint_biases"]

FloatArray = NDArray[np.float64]
FindBoundary = Callable[[NDArray[np.bool_], FloatArray], Boundary]
Boundaries = dict[tuple[int, int], Boundary]

# A pair's loss is looked up between this many thresholds.
_NODES = 513
# A pair that is always wrong must not weigh infinitely.
_LEAST_RIGHT = 1e-9
# From a quarter of the widest range of scores down to this share of it.
_FINEST_STEP = 1e-4


def fit_biases(
    y: NDArray[np.intp],
    scores: FloatArray,
    find: FindBoundary,
    strategy: Literal["pairwise", "one-vs-rest"] = "pairwise",
) -> tuple[FloatArray, Boundaries]:
    """Return one bias per class, and the boundary of each binary problem behind them.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class indices.
    scores : array of shape (n_samples, n_classes)
        Scores of every class; NaN where a model did not know the class.
    find : callable
        Finds the boundary of (is_positive, score).
    strategy : {"pairwise", "one-vs-rest"}, default="pairwise"
        Which binary problems to solve.

    Returns
    -------
    biases : array of shape (n_classes,)
        They sum to zero; a class that no binary problem could use has bias zero.
    boundaries : dict
        From (i, j), i < j, or from (k, -1) for one class against the rest.
    """
    if strategy == "pairwise":
        return _pairwise(y, scores, find)
    return _one_vs_rest(y, scores, find)


def class_biases(
    n_classes: int, thresholds: dict[tuple[int, int], float], weights: dict[tuple[int, int], float]
) -> FloatArray:
    r"""Solve :math:`b_i - b_j \approx t_{ij}` by weighted least squares.

    Examples
    --------
    >>> t = {(0, 1): 1.0, (0, 2): 3.0, (1, 2): 2.0}
    >>> class_biases(3, t, dict.fromkeys(t, 1.0)).round(3).tolist()
    [1.333, 0.333, -1.667]
    """
    laplacian, right = np.zeros((n_classes, n_classes)), np.zeros(n_classes)
    for (i, j), t in thresholds.items():
        w = weights[i, j]
        laplacian[[i, j], [i, j]] += w
        laplacian[[i, j], [j, i]] -= w
        right[[i, j]] += w * t, -w * t
    # The least-norm solution sums to zero on every connected set of classes.
    return np.asarray(np.linalg.lstsq(laplacian, right, rcond=None)[0], dtype=np.float64)


def joint_biases(
    y: NDArray[np.intp], scores: FloatArray, curve: ErrorCurve, rule: Rule
) -> FloatArray:
    """Return the biases that are best for all pairs of classes together.

    Meant for curves that estimate, "smoothed" and "student-t", with the rule "g-mean".

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class indices.
    scores : array of shape (n_samples, n_classes)
        Scores of every class; NaN where a model did not know the class.
    curve, rule : ErrorCurve, Rule
        The claim on each class's error in a pair, and how both become one number.

    Returns
    -------
    array of shape (n_classes,)
        They sum to zero; a class without rows keeps the bias zero.

    Examples
    --------
    >>> from boundshift.curves import as_curve
    >>> from boundshift.rules import as_rule
    >>> y = np.repeat([0, 1, 2], [800, 150, 50])
    >>> scores = np.random.default_rng(0).normal(size=(1000, 3)) - [0.0, 1.0, 2.0]
    >>> scores[np.arange(1000), y] += 2
    >>> biases = joint_biases(y, scores, as_curve("student-t"), as_rule("g-mean"))
    >>> biases.round(1).tolist()
    [-0.8, 0.0, 0.7]
    """
    losses = {
        pair: _PairLoss.tabulate(is_second, difference, curve, rule)
        for pair, is_second, difference in _pairs(y, scores)
    }
    start = {pair: loss.best for pair, loss in losses.items()}
    weights = {pair: _weight(loss.n_samples) for pair, loss in losses.items()}
    return _descend(class_biases(scores.shape[1], start, weights), losses)


class _PairLoss(NamedTuple):
    """The loss of one pair of classes at many thresholds."""

    thresholds: FloatArray
    losses: FloatArray
    n_samples: tuple[int, int]

    @classmethod
    def tabulate(
        cls, is_second: NDArray[np.bool_], difference: FloatArray, curve: ErrorCurve, rule: Rule
    ) -> _PairLoss:
        """Evaluate the rule on the curves, from below all scores to above."""
        sample = ScoreSample.from_labels(is_second, difference)
        low, high = float(difference.min()), float(difference.max())
        reach = (high - low) / 8 or abs(low) or 1.0
        thresholds = np.linspace(low - reach, high + reach, _NODES)
        errors = errors_at(curve, sample, np.ldexp(thresholds, -sample.exponent))
        ends = np.array([0.0, 1.0])
        best, worst = rule.value(ends, ends, sample.n_samples)
        share = (rule.value(*errors, sample.n_samples) - best) / (worst - best)
        return cls(thresholds, -np.log(np.maximum(1 - share, _LEAST_RIGHT)), sample.n_samples)

    @property
    def best(self) -> float:
        """Threshold with the least loss."""
        return float(self.thresholds[self.losses.argmin()])

    def at(self, threshold: FloatArray) -> FloatArray:
        """Return the loss at each threshold."""
        return np.interp(threshold, self.thresholds, self.losses)


def _descend(biases: FloatArray, losses: dict[tuple[int, int], _PairLoss]) -> FloatArray:
    """Move one bias after the other, by ever smaller steps, while the loss falls."""
    widest = max((float(np.ptp(loss.thresholds)) for loss in losses.values()), default=0.0)
    step, places = widest / 4, np.linspace(-1, 1, 17)
    while step > _FINEST_STEP * widest:
        moved = False
        for k in range(len(biases)):
            tried = biases[k] + step * places
            total = np.zeros(len(places))
            for (i, j), loss in losses.items():
                if k in (i, j):
                    total += loss.at(tried - biases[j] if k == i else biases[i] - tried)
            best = int(total.argmin())
            if total[best] < total[len(places) // 2] - 1e-9:
                biases[k], moved = tried[best], True
        step = step if moved else step / 4
    seen = [k for k in range(len(biases)) if any(k in pair for pair in losses)]
    biases[seen] -= biases[seen].mean() if seen else 0.0
    return biases


def _pairs(
    y: NDArray[np.intp], scores: FloatArray
) -> Iterator[tuple[tuple[int, int], NDArray[np.bool_], FloatArray]]:
    """Yield each pair of classes that has rows: who is of the second, and score differences."""
    for i, j in combinations(range(scores.shape[1]), 2):
        difference = scores[:, j] - scores[:, i]
        rows = ((y == i) | (y == j)) & ~np.isnan(difference)
        is_second = y[rows] == j
        if 0 < np.count_nonzero(is_second) < len(is_second):
            yield (i, j), is_second, difference[rows]


def _weight(n_samples: tuple[int, int]) -> float:
    """Return a pair's weight: its threshold's variance falls with the rows of the smaller class."""
    return 1 / (1 / n_samples[0] + 1 / n_samples[1])


def _pairwise(
    y: NDArray[np.intp], scores: FloatArray, find: FindBoundary
) -> tuple[FloatArray, Boundaries]:
    """Solve every pair of classes on the rows of the two."""
    boundaries = {pair: find(is_second, gap) for pair, is_second, gap in _pairs(y, scores)}
    weights = {ij: _weight(b.n_samples) for ij, b in boundaries.items()}
    thresholds = {ij: b.threshold for ij, b in boundaries.items()}
    return class_biases(scores.shape[1], thresholds, weights), boundaries


def _one_vs_rest(
    y: NDArray[np.intp], scores: FloatArray, find: FindBoundary
) -> tuple[FloatArray, Boundaries]:
    """Solve every class against all others, on its own score."""
    biases, boundaries = np.zeros(scores.shape[1]), {}
    known = ~np.isnan(scores)
    for k in range(scores.shape[1]):
        rows = known[:, k] & (known.sum(axis=1) > 1)
        is_k = y[rows] == k
        if 0 < np.count_nonzero(is_k) < len(is_k):
            boundaries[k, -1] = find(is_k, _margin(scores[rows], k))
            # The border of two classes is moved from both sides: each moves it half the way, and
            # two classes have the binary method's boundary.
            biases[k] = -boundaries[k, -1].threshold / 2
    return biases - biases.mean(), boundaries


def _margin(scores: FloatArray, k: int) -> FloatArray:
    """Return a class's score over the best of the others: its sign is what argmax decides by."""
    others: FloatArray = np.nanmax(np.delete(scores, k, axis=1), axis=1)
    return scores[:, k] - others
