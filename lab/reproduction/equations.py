r"""The paper's equations that the exact solution does not need, one small function each.

They stand as printed, corrected where the text errs (see ``docs/explanation/the_paper.md``). Those
that it needs are in :mod:`boundshift.curves._paper`. Class 1 of the paper is the negative, class 2
the positive one. ``gamma`` and ``constant`` name the two readings of the
concentration term :math:`\gamma R N^{-1/2} (c + \sqrt{2 \ln 1/\delta})`.

References
----------
J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004, chapter 4.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.curves._paper.levels import class_error

__all__ = [
    "boundary",
    "confidence_radius",
    "delta2_from_delta1",
    "delta2_gradient",
    "distance_bounds",
    "fresh_point_distance",
    "iid_error",
    "loss",
    "loss_gradient",
    "mean_deviation",
    "minimum_distance",
    "slack_loss",
]

Array = NDArray[Any]
Pair = tuple[float, float]


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


# One slack level: its numbers of kept points N₁ and N₂, its steps a₁ and a₂, its free space C.


def u_of_delta(delta: ArrayLike) -> Array:
    r"""Return :math:`u = \sqrt{2 \ln 1/\delta}`."""
    return np.asarray(np.sqrt(-2.0 * np.log(np.asarray(delta, dtype=float))))


def delta2_from_delta1(delta1: ArrayLike, step: Pair, space: float) -> Array:
    r"""Return the confidence left for class 2 (8), NaN if there is none.

    The printed equation squares :math:`u_2 = (C - a_1 u_1)/a_2`. It returns a number even if
    :math:`u_2` is negative and the constraint cannot be met.
    """
    u2 = (space - step[0] * u_of_delta(delta1)) / step[1]
    return np.where(u2 >= 0, np.exp(-0.5 * u2 * u2), np.nan)


def delta2_gradient(delta1: ArrayLike, step: Pair, space: float) -> Array:
    r"""Return the derivative of :math:`\delta_2` with respect to :math:`\delta_1` (10), corrected.

    .. math:: -u_2 \, \frac{a_1}{a_2} \, \frac{\delta_2}{u_1 \delta_1}.

    The printed bracket has :math:`N_1, R_1` in the place of :math:`N_2, R_2` and lacks
    :math:`R_1/R_2`; finite differences refute it.
    """
    a1, a2 = step
    u1 = u_of_delta(delta1)
    u2 = (space - a1 * u1) / a2
    return np.asarray(-u2 * a1 / a2 * np.exp(-0.5 * u2 * u2) / (u1 * np.asarray(delta1)))


def loss(delta1: ArrayLike, n: Pair, step: Pair, space: float) -> Array:
    """Return the sum of both classes' average errors on the constraint (6, 7)."""
    delta2 = delta2_from_delta1(delta1, step, space)
    return class_error(n[0], delta1) + class_error(n[1], delta2)


def loss_gradient(delta1: ArrayLike, n: Pair, step: Pair, space: float) -> Array:
    r"""Return the derivative of the loss with respect to :math:`\delta_1` (9)."""
    return n[0] / (n[0] + 1.0) + n[1] / (n[1] + 1.0) * delta2_gradient(delta1, step, space)
