r"""Division of the free space between two classes: the paper's optimisation in one variable.

With :math:`u_i = \sqrt{2 \ln 1/\delta_i}` and :math:`a_i = \gamma R_i/\sqrt{N_i}` the constraint
is linear, :math:`a_1 u_1 + a_2 u_2 = C`: a share :math:`\theta \in [0, 1]` of the free space
:math:`C` goes to the negative class and the rest to the positive one. With :math:`k_i = C/a_i`
the part of the loss that depends on the division is

.. math:: w_1 e^{-(k_1 \theta)^2/2} + w_2 e^{-(k_2 (1 - \theta))^2/2}.

Both ends are local minima, and there is at most one more inside, where

.. math:: f(z) = \ln \frac{w_1 k_1^2}{w_2 k_2^2} + z - \frac{(k_1 \theta)^2}{2}
          + \frac{(k_2 (1 - \theta))^2}{2}, \qquad \theta = \frac{1}{1 + e^{-z}},

falls through zero. Its slope is :math:`f'(z) = 1 - h`, :math:`h = \theta (1 - \theta)
(k_1^2 \theta + k_2^2 (1 - \theta))`, and :math:`h` has a single peak, so :math:`f` falls in one
stretch around it or nowhere. No confidence is computed before its place is known: the answer
is exact also where every :math:`\delta` underflows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

__all__ = ["Split", "lower_bound", "split_space", "upper_bound"]

FloatArray = NDArray[Any]

# A class whose radius is 1e100 times smaller than the free space is a point; squares stay finite.
_LARGEST_RATIO = 1e100
# ln h falls to 0 within this distance of its peak for every ratio below the largest.
_Z_RANGE = 500.0


class Split(NamedTuple):
    r"""Best division of the free space in each of many problems.

    Parameters
    ----------
    theta : array
        Share of the free space that the negative class gets.
    u : array of shape (2, m)
        :math:`u_i` of both classes; :math:`\ln \delta_i = -u_i^2/2`.
    loss : array
        :math:`w_1 \delta_1 + w_2 \delta_2`.
    """

    theta: FloatArray
    u: FloatArray
    loss: FloatArray


def split_space(k: FloatArray, w: FloatArray) -> Split:
    """Divide the free space so that the loss is least, in each of m problems.

    Parameters
    ----------
    k : array of shape (2, m)
        Free space in steps of each class, ``C / a``; infinite for a class of radius zero.
    w : array of shape (2, m)
        Weights of the two confidences.

    Examples
    --------
    >>> w = np.ones((2, 1))
    >>> split_space(np.array([[10.0], [10.0]]), w).theta.round(9).tolist()
    [0.5]
    >>> split_space(np.array([[10.0], [5.0]]), w).theta.round(4).tolist()
    [0.3484]
    """
    k = np.minimum(k, _LARGEST_RATIO)
    z = _interior_minimum(k, w)
    inside = np.stack([expit(z), expit(-z)])
    losses = np.stack([_loss(k, w, share) for share in (inside, _END[0], _END[1])])
    losses[0, np.isnan(z)] = np.inf
    # Between equally good ends the rarer class, which has the smaller weight, gets the space.
    end = np.where((losses[1] < losses[2]) | ((losses[1] == losses[2]) & (w[0] >= w[1])), 0, 1)
    take_end = losses[1 + end, np.arange(len(z))] < losses[0]
    share = np.where(take_end, np.stack([end, 1 - end]), inside)
    return Split(share[0], k * share, _loss(k, w, share))


def lower_bound(k: FloatArray, w: FloatArray, shares: FloatArray) -> FloatArray:
    """Return a number that the loss of `split_space` cannot fall below, much cheaper.

    Between two neighbouring shares no class can have more than its better one of the two.

    Parameters
    ----------
    k, w : arrays of shape (2, m)
        As in `split_space`.
    shares : array
        From 0 to 1, ascending; the more, the tighter.

    Examples
    --------
    >>> k, w = np.array([[3.0], [2.0]]), np.ones((2, 1))
    >>> bounds = [lower_bound(k, w, np.linspace(0, 1, n))[0] for n in (2, 9, 65)]
    >>> bounds == sorted(bounds) and bool(bounds[-1] < split_space(k, w).loss[0])
    True
    """
    k = np.minimum(k, _LARGEST_RATIO)
    pairs = np.stack([shares[1:], 1 - shares[:-1]])[:, :, None]
    bound: FloatArray = _loss(k[:, None], w[:, None], pairs).min(axis=0)
    return bound


def upper_bound(k: FloatArray, w: FloatArray, shares: FloatArray) -> FloatArray:
    """Return the least loss of some shares, which that of `split_space` does not exceed.

    Parameters as in `lower_bound`.

    Examples
    --------
    >>> k, w = np.array([[3.0], [2.0]]), np.ones((2, 1))
    >>> bool(upper_bound(k, w, np.linspace(0, 1, 9))[0] >= split_space(k, w).loss[0])
    True
    """
    k = np.minimum(k, _LARGEST_RATIO)
    pairs = np.stack([shares, 1 - shares])[:, :, None]
    bound: FloatArray = _loss(k[:, None], w[:, None], pairs).min(axis=0)
    return bound


_END = np.array([[[0.0], [1.0]], [[1.0], [0.0]]])


def _loss(k: FloatArray, w: FloatArray, share: FloatArray) -> FloatArray:
    """Return the variable part of the loss for shares of a shape that goes with (2, m)."""
    with np.errstate(under="ignore"):
        loss: FloatArray = (w * np.exp(-0.5 * (k * share) ** 2)).sum(axis=0)
    return loss


def _interior_minimum(k: FloatArray, w: FloatArray) -> FloatArray:
    """Return z of the minimum inside, NaN where there is none."""
    z = np.full(k.shape[1], np.nan)
    peak = _peak_of_h(k)
    falls = _h(peak, k) > 1
    if not falls.any():
        return z
    k, w, peak = k[:, falls], w[:, falls], peak[falls]
    with np.errstate(divide="ignore"):
        offset = np.log(w[0] / w[1]) + 2 * np.log(k[0] / k[1])
    # f falls on both sides of the peak of h: follow it to where it can cross zero.
    direction = np.where(_f(peak, k, offset) > 0, 1.0, -1.0)
    end = _end_of_fall(peak, direction, k)
    crosses = direction * _f(end, k, offset) < 0
    low, high = np.minimum(peak, end)[crosses], np.maximum(peak, end)[crosses]
    z[np.flatnonzero(falls)[crosses]] = _root(low, high, k[:, crosses], offset[crosses])
    return z


def _f(z: FloatArray, k: FloatArray, offset: FloatArray) -> FloatArray:
    """Return f(z); the difference of squares is factored to keep its digits."""
    u1, u2 = k[0] * expit(z), k[1] * expit(-z)
    value: FloatArray = offset + z - 0.5 * (u1 - u2) * (u1 + u2)
    return value


def _h(z: FloatArray, k: FloatArray) -> FloatArray:
    """Return h(z) = 1 − f'(z)."""
    first, second = expit(z), expit(-z)
    value: FloatArray = first * second * (k[0] ** 2 * first + k[1] ** 2 * second)
    return value


def _peak_of_h(k: FloatArray) -> FloatArray:
    """Return z at the peak of h, the root of a quadratic in the share."""
    larger, smaller = k.max(axis=0), k.min(axis=0)
    with np.errstate(invalid="ignore"):
        r = np.where(larger > 0, (smaller / larger) ** 2, 1.0)
    root = np.sqrt(1 - r + r * r)
    with np.errstate(invalid="ignore", divide="ignore"):
        # Two forms of the same root, each without cancellation on its half.
        share = np.where(r < 0.5, (1 - 2 * r + root) / (3 * (1 - r)), r / (root - 1 + 2 * r))
    z = np.log(share / (1 - share))
    return np.asarray(np.where(k[0] >= k[1], z, -z))


def _end_of_fall(peak: FloatArray, direction: FloatArray, k: FloatArray) -> FloatArray:
    """Return the place beyond the peak where h has come down to 1, from inside."""
    inside, outside = np.zeros_like(peak), np.full_like(peak, _Z_RANGE)
    for _ in range(32):
        middle = (inside + outside) / 2
        falls = _h(peak + direction * middle, k) > 1
        inside, outside = np.where(falls, middle, inside), np.where(falls, outside, middle)
    return np.asarray(peak + direction * inside)


def _root(low: FloatArray, high: FloatArray, k: FloatArray, offset: FloatArray) -> FloatArray:
    """Return the zero of the falling f in [low, high]: Newton, safeguarded by bisection."""
    z = (low + high) / 2
    last = high - low
    for _ in range(200):
        value = _f(z, k, offset)
        low, high = np.where(value > 0, z, low), np.where(value > 0, high, z)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = value / (_h(z, k) - 1)
            trusted = (z + step > low) & (z + step < high) & (np.abs(step) < 0.5 * np.abs(last))
        last = np.where(trusted, step, (low + high) / 2 - z)
        z = z + last
        # Newton's error after a step is of the order of the step squared.
        if np.all(np.abs(last) <= np.where(trusted, 1e-9, 1e-15) * np.maximum(np.abs(z), 1.0)):
            break
    return z
