r"""More than two classes: pairwise thresholds become one bias per class.

For each pair of classes the binary method gives a threshold :math:`t_{ij}` on
:math:`s_j - s_i`. One bias per class then follows by weighted least squares on
:math:`b_i - b_j \approx t_{ij}`, a small Laplacian system with :math:`\sum_k b_k = 0`, and the
prediction is :math:`\arg\max_k (s_k + b_k)`. With two classes that is the binary method.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import Boundary

__all__ = ["class_biases", "fit_biases"]

FloatArray = NDArray[np.float64]
FindBoundary = Callable[[NDArray[np.bool_], FloatArray], Boundary]
Boundaries = dict[tuple[int, int], Boundary]


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


def _pairwise(
    y: NDArray[np.intp], scores: FloatArray, find: FindBoundary
) -> tuple[FloatArray, Boundaries]:
    """Solve every pair of classes on the rows of the two."""
    boundaries: Boundaries = {}
    for i, j in combinations(range(scores.shape[1]), 2):
        difference = scores[:, j] - scores[:, i]
        rows = ((y == i) | (y == j)) & ~np.isnan(difference)
        is_j = y[rows] == j
        if 0 < np.count_nonzero(is_j) < len(is_j):
            boundaries[i, j] = find(is_j, difference[rows])
    # The variance of a pair's threshold falls with the rows of its smaller class.
    weights = {ij: 1 / (1 / b.n_samples[0] + 1 / b.n_samples[1]) for ij, b in boundaries.items()}
    thresholds = {ij: b.threshold for ij, b in boundaries.items()}
    return class_biases(scores.shape[1], thresholds, weights), boundaries


def _one_vs_rest(
    y: NDArray[np.intp], scores: FloatArray, find: FindBoundary
) -> tuple[FloatArray, Boundaries]:
    """Solve every class against all others, on its own score."""
    biases, boundaries = np.zeros(scores.shape[1]), {}
    for k in range(scores.shape[1]):
        rows = ~np.isnan(scores[:, k])
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
