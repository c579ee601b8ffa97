r"""The paper's equations that the solver does not need by themselves, one small function each.

They stand as printed, corrected where the text errs (see ``docs/explanation/the_paper.md``). Those
that the solver uses are in :mod:`boundshift.curves._paper.equations`. Class 1 of the paper is the
negative, class 2 the positive one. ``gamma`` and ``constant`` name the two readings of the
concentration term :math:`\gamma R N^{-1/2} (c + \sqrt{2 \ln 1/\delta})`.

References
----------
J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004, chapter 4.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "boundary",
    "confidence_radius",
    "distance_bounds",
    "fresh_point_distance",
    "iid_error",
    "mean_deviation",
    "minimum_distance",
    "slack_loss",
]

Array = NDArray[Any]


def iid_error(n: ArrayLike) -> Array:
    """Probability that a fresh point lies beyond all `n` seen ones (Eq. iid_error)."""
    return 1.0 / (np.asarray(n, dtype=float) + 1.0)


def mean_deviation(
    radius: float, n: int, delta: ArrayLike, gamma: float = 1.0, constant: float = 2.0
) -> Array:
    r"""Bound on the distance of the empirical from the true mean (Theorem 2).

    Holds with probability :math:`1 - \delta` for a support of the given radius.
    """
    root = np.sqrt(-2.0 * np.log(np.asarray(delta, dtype=float)))
    return np.asarray(gamma * radius / np.sqrt(n) * (constant + root))


def distance_bounds(
    distance: ArrayLike, radius: float, n: int, delta: ArrayLike, constant: float = 2.0
) -> tuple[Array, Array]:
    """Bounds on a point's distance to the true mean by that to the empirical (Eq. di_bounds)."""
    deviation = mean_deviation(radius, n, delta, constant=constant)
    return np.asarray(distance) - deviation, np.asarray(distance) + deviation


def fresh_point_distance(
    farthest: float, radius: float, n: int, delta: ArrayLike, constant: float = 2.0
) -> Array:
    """Distance which a fresh point exceeds with probability ≤ 1/(n+1) (Eq. test_point_bound).

    It is the distance from the empirical mean; the text prints the expectation in its place and
    drops the probability delta with which the mean itself may be farther off.

    The triangle inequality is used twice, once for the seen points and once for the fresh one,
    hence the factor 2 (``gamma=2``) that the next equation of the paper leaves out.
    """
    return farthest + mean_deviation(radius, n, delta, gamma=2.0, constant=constant)


def confidence_radius(
    radius: float, n: int, delta: ArrayLike, gamma: float = 1.0, constant: float = 2.0
) -> Array:
    """Upper bound of the support radius (Eq. R_hat_upper_bound)."""
    return radius + mean_deviation(radius, n, delta, gamma, constant)


def boundary(
    mean: float, radius: float, n: int, delta: ArrayLike, gamma: float = 1.0, constant: float = 2.0
) -> Array:
    """Place the boundary at the end of the negative class's confidence radius (Eq. new_bias).

    A row is positive iff its score exceeds this number, so the classifier's new bias is its
    negative; the paper prints the opposite sign.
    """
    return mean + confidence_radius(radius, n, delta, gamma, constant)


def slack_loss(value: ArrayLike, slack: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    r"""Penalised loss :math:`L + \alpha \sum_n \xi_n` (Eq. cost_slacks)."""
    return np.asarray(np.asarray(value, dtype=float) + np.sum(np.multiply(alpha, slack)))


def minimum_distance(negative: ArrayLike, positive: ArrayLike) -> tuple[NDArray[Any], float]:
    r"""Weights and bias of the minimum-distance classifier.

    A row is positive iff it is nearer to the positive mean: :math:`w = \bar\phi_2 - \bar\phi_1`
    and :math:`b = (\|\bar\phi_1\|^2 - \|\bar\phi_2\|^2)/2`. The paper prints half the distance of
    the means for :math:`b`, and the opposite sign of :math:`w`.
    """
    first = np.mean(np.asarray(negative, dtype=float), axis=0)
    second = np.mean(np.asarray(positive, dtype=float), axis=0)
    return second - first, float(first @ first - second @ second) / 2
