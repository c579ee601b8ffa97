r"""The paper's equations, one small function each.

The solver in :mod:`boundshift.support.exact` uses them in a form that survives underflow; here
they stand as printed, corrected where the text errs (see ``docs/equations.md``). Class 1 of the
paper is the negative, class 2 the positive one. ``gamma`` and ``constant`` name the two readings of
the concentration term :math:`\gamma R N^{-1/2} (c + \sqrt{2 \ln 1/\delta})`.

References
----------
M. Clifford, J. Erskine, A. Hepburn, R. Santos-Rodríguez, D. Garcia-Garcia, "Learning Confidence
Bounds for Classification with Imbalanced Data", ECAI 2024.
J. Shawe-Taylor, N. Cristianini, "Kernel Methods for Pattern Analysis", 2004, chapter 4.1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Geometry",
    "boundary",
    "class_error",
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


class Geometry(NamedTuple):
    r"""What the optimisation knows of the projected space.

    Parameters
    ----------
    n : tuple of int
        Kept points of each class, :math:`N_i`.
    radius : tuple of float
        Empirical support radii, :math:`\hat{\bar R}_i`.
    distance : float
        Distance between the projected class means, :math:`\hat D`.
    gamma : float, default=1
        Factor of the concentration term.
    constant : float, default=2
        The constant beside the square root.
    """

    n: tuple[int, int]
    radius: tuple[float, float]
    distance: float
    gamma: float = 1.0
    constant: float = 2.0

    @property
    def step(self) -> tuple[float, float]:
        r""":math:`a_i = \gamma R_i / \sqrt{N_i}`, the cost of one unit of :math:`u_i`."""
        first, second = (
            self.gamma * r / np.sqrt(n) for r, n in zip(self.radius, self.n, strict=True)
        )
        return float(first), float(second)


def iid_error(n: ArrayLike) -> Array:
    """Probability that a fresh point lies beyond all `n` seen ones (Eq. iid_error).

    Examples
    --------
    >>> float(iid_error(9))
    0.1
    """
    return 1.0 / (np.asarray(n, dtype=float) + 1.0)


def mean_deviation(
    radius: float, n: int, delta: ArrayLike, gamma: float = 1.0, constant: float = 2.0
) -> Array:
    r"""Bound on the distance of the empirical from the true mean (Theorem 2).

    Holds with probability :math:`1 - \delta` for a support of the given radius.

    Examples
    --------
    >>> float(mean_deviation(1.0, 100, 1.0))
    0.2
    """
    deviation: Array = gamma * radius / np.sqrt(n) * (constant + _u(delta))
    return deviation


def distance_bounds(
    distance: ArrayLike, radius: float, n: int, delta: ArrayLike, constant: float = 2.0
) -> tuple[Array, Array]:
    """Bounds on a point's distance to the true mean, given that to the empirical (Eq. di_bounds).

    Examples
    --------
    >>> low, high = distance_bounds(1.0, 1.0, 100, 1.0)
    >>> float(low), float(high)
    (0.8, 1.2)
    """
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

    Examples
    --------
    >>> float(fresh_point_distance(1.0, 1.0, 100, 1.0))
    1.4
    """
    return farthest + mean_deviation(radius, n, delta, gamma=2.0, constant=constant)


def confidence_radius(
    radius: float, n: int, delta: ArrayLike, gamma: float = 1.0, constant: float = 2.0
) -> Array:
    """Upper bound of the support radius (Eq. R_hat_upper_bound).

    Examples
    --------
    >>> float(confidence_radius(1.0, 100, 1.0))
    1.2
    """
    return radius + mean_deviation(radius, n, delta, gamma, constant)


def class_error(n: ArrayLike, delta: ArrayLike) -> Array:
    r"""Average error of one class, :math:`(1 - \delta)/(N + 1) + \delta` (Eq. cost_function).

    Examples
    --------
    >>> float(class_error(9, 0.0)), float(class_error(9, 1.0))
    (0.1, 1.0)
    """
    delta = np.asarray(delta, dtype=float)
    error: Array = (1.0 - delta) * iid_error(n) + delta
    return error


def delta2_from_delta1(delta1: ArrayLike, geometry: Geometry) -> Array:
    r"""Confidence left for class 2 (Eq. delta2_from_delta1), NaN where there is none.

    As printed, the equation squares :math:`B \sqrt{N_2}/R_2 - 2` and so returns a number even
    where the bracket is negative, that is where the constraint cannot be met.

    Examples
    --------
    >>> space = Geometry(n=(100, 25), radius=(1.0, 1.0), distance=3.0)
    >>> round(float(delta2_from_delta1(1.0, space)), 4)
    0.1353
    >>> float(delta2_from_delta1(1.0, space._replace(distance=2.5)))
    nan
    """
    u = _u2(delta1, geometry)
    return np.where(u >= 0, np.exp(-0.5 * u * u), np.nan)


def loss(
    delta1: ArrayLike, geometry: Geometry, class_weight: tuple[float, float] = (1.0, 1.0)
) -> Array:
    """Sum of both classes' average errors on the constraint (Eqs. cost_function and d_hat).

    The paper weighs both classes alike.

    Examples
    --------
    >>> space = Geometry(n=(9, 9), radius=(1.0, 1.0), distance=20.0)
    >>> float(loss(1e-12, space))
    0.2...
    """
    delta2 = delta2_from_delta1(delta1, geometry)
    errors = class_error(geometry.n[0], delta1), class_error(geometry.n[1], delta2)
    return class_weight[0] * errors[0] + class_weight[1] * errors[1]


def delta2_gradient(delta1: ArrayLike, geometry: Geometry) -> Array:
    r"""Return the derivative of :math:`\delta_2` with respect to :math:`\delta_1`, corrected.

    .. math:: -u_2 \, \frac{a_1}{a_2} \, \frac{\delta_2}{u_1 \delta_1},
              \qquad u_i = \sqrt{2 \ln 1/\delta_i}.

    The printed bracket has :math:`N_1, R_1` in the place of :math:`N_2, R_2` and lacks
    :math:`R_1/R_2`; finite differences refute it.

    Examples
    --------
    >>> space = Geometry(n=(100, 25), radius=(1.0, 1.0), distance=3.0)
    >>> step = 1e-7
    >>> numeric = np.diff(delta2_from_delta1([0.5, 0.5 + step], space)) / step
    >>> bool(np.isclose(delta2_gradient(0.5, space), numeric[0], rtol=1e-5))
    True
    """
    a1, a2 = geometry.step
    u1, u2 = _u(delta1), _u2(delta1, geometry)
    slope: Array = -u2 * a1 / a2 * np.exp(-0.5 * u2 * u2) / (u1 * np.asarray(delta1, dtype=float))
    return slope


def loss_gradient(
    delta1: ArrayLike, geometry: Geometry, class_weight: tuple[float, float] = (1.0, 1.0)
) -> Array:
    """Return the derivative of the loss with respect to the first confidence (Eq. dL/dδ₁).

    Examples
    --------
    >>> space = Geometry(n=(9, 9), radius=(1.0, 1.0), distance=20.0)
    >>> float(loss_gradient(0.5, space))
    0.9
    """
    first, second = (v * n / (n + 1.0) for v, n in zip(class_weight, geometry.n, strict=True))
    return first + second * delta2_gradient(delta1, geometry)


def boundary(
    mean: float, radius: float, n: int, delta: ArrayLike, gamma: float = 1.0, constant: float = 2.0
) -> Array:
    """Place the boundary at the end of the negative class's confidence radius (Eq. new_bias).

    A row is positive iff its score exceeds this number, so the classifier's new bias is its
    negative; the paper prints the opposite sign.

    Examples
    --------
    >>> float(boundary(-1.0, 0.5, 100, 1.0))
    -0.4
    """
    return mean + confidence_radius(radius, n, delta, gamma, constant)


def slack_loss(value: ArrayLike, slack: ArrayLike, alpha: ArrayLike = 1.0) -> Array:
    r"""Penalised loss :math:`L + \alpha \sum_n \xi_n` (Eq. cost_slacks).

    Examples
    --------
    >>> float(slack_loss(0.25, [1, 0, 1], alpha=0.5))
    1.25
    """
    total: Array = np.asarray(value, dtype=float) + np.sum(np.multiply(alpha, slack), dtype=float)
    return total


def minimum_distance(negative: ArrayLike, positive: ArrayLike) -> tuple[NDArray[Any], float]:
    r"""Weights and bias of the minimum-distance classifier.

    A row is positive iff it is nearer to the positive mean: :math:`w = \bar\phi_2 - \bar\phi_1`
    and :math:`b = (\|\bar\phi_1\|^2 - \|\bar\phi_2\|^2)/2`. The paper prints half the distance of
    the means for :math:`b`, and the opposite sign of :math:`w`.

    Parameters
    ----------
    negative, positive : array-like of shape (n_rows, n_features)
        Rows of each class.

    Returns
    -------
    w : array of shape (n_features,)
    b : float

    Examples
    --------
    >>> w, b = minimum_distance([[0.0], [2.0]], [[5.0]])
    >>> w.tolist(), b
    ([4.0], -12.0)
    """
    first = np.mean(np.asarray(negative, dtype=float), axis=0)
    second = np.mean(np.asarray(positive, dtype=float), axis=0)
    return second - first, float(first @ first - second @ second) / 2


def _u(delta: ArrayLike) -> Array:
    r"""Return :math:`u = \sqrt{2 \ln 1/\delta}`."""
    u: Array = np.sqrt(-2.0 * np.log(np.asarray(delta, dtype=float)))
    return u


def _u2(delta1: ArrayLike, geometry: Geometry) -> Array:
    r"""Return :math:`u_2 = B \sqrt{N_2}/R_2 - c`, negative where the constraint cannot be met."""
    r1, r2 = geometry.radius
    deviation = mean_deviation(r1, geometry.n[0], delta1, geometry.gamma, geometry.constant)
    b = geometry.distance - r1 - deviation - r2  # B in the paper
    return b / geometry.step[1] - geometry.constant
