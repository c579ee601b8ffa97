r"""How one level divides its free space between the classes.

With :math:`k_i = C / a_i` the part of the loss that depends on the share :math:`\theta` of the
negative class is

.. math:: w_1 e^{-(k_1 \theta)^2 / 2} + w_2 e^{-(k_2 (1 - \theta))^2 / 2}.

Both ends are local minima. There is at most one more inside, where

.. math:: f(z) = \ln \frac{w_1 k_1^2}{w_2 k_2^2} + z
          - \frac{(k_1 \theta)^2}{2} + \frac{(k_2 (1 - \theta))^2}{2},
          \qquad \theta = \frac{1}{1 + e^{-z}},

falls through zero. Its slope is :math:`f'(z) = 1 - h` with
:math:`h = \theta (1 - \theta) (k_1^2 \theta + k_2^2 (1 - \theta))`, and h has a single peak, so f
falls in one stretch around it or nowhere. No confidence is computed before its place is known: the
answer is exact even if every :math:`\delta` underflows.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from boundshift._typing import BoolArray, FloatArray

# A class whose radius is 1e100 times smaller than the free space is a point; squares stay finite.
_LARGEST_RATIO = 1e100
# ln h falls to 0 within this distance of its peak for every ratio below the largest.
_Z_RANGE = 500.0
# Halvings that narrow this range down to the rounding of z.
_HALVINGS = 64


def split_space(k: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Divide the free space so that the loss is smallest, in each of m problems.

    Returns the share :math:`\theta` of the negative class, both :math:`u_i`, and the loss.
    """
    k = np.minimum(k, _LARGEST_RATIO)
    z = _interior_minimum(k, w)
    zeros = np.zeros_like(z)
    ones = np.ones_like(z)
    inside = np.stack([expit(z), expit(-z)])
    at_zero = np.stack([zeros, ones])
    at_one = np.stack([ones, zeros])
    loss_at_zero = _variable_loss(k, w, at_zero)
    loss_at_one = _variable_loss(k, w, at_one)
    loss_inside = _variable_loss(k, w, inside)
    # Between equally good ends the rarer class, which has the smaller weight, gets the space.
    is_tie = loss_at_zero == loss_at_one
    is_zero = (loss_at_zero < loss_at_one) | (is_tie & (w[0] >= w[1]))
    is_inside = ~np.isnan(z) & (loss_inside <= np.minimum(loss_at_zero, loss_at_one))
    share = np.where(is_inside, inside, np.where(is_zero, at_zero, at_one))
    return share[0], k * share, _variable_loss(k, w, share)


def bound_loss(k: FloatArray, w: FloatArray, n_shares: int) -> tuple[FloatArray, FloatArray]:
    """Return a lower and an upper bound on the loss of `split_space`, much cheaper.

    Between two neighbouring shares no class can have more than its better one of the two.
    """
    k = np.minimum(k, _LARGEST_RATIO)[:, None]
    w = w[:, None]
    shares = np.linspace(0.0, 1.0, n_shares)[:, None]
    better = np.stack([shares[1:], 1 - shares[:-1]])
    same = np.stack([shares, 1 - shares])
    return _variable_loss(k, w, better).min(axis=0), _variable_loss(k, w, same).min(axis=0)


def _variable_loss(k: FloatArray, w: FloatArray, share: FloatArray) -> FloatArray:
    with np.errstate(under="ignore"):
        return np.asarray((w * np.exp(-0.5 * (k * share) ** 2)).sum(axis=0))


def _interior_minimum(k: FloatArray, w: FloatArray) -> FloatArray:
    """Return z of the minimum inside, NaN if there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = np.log(w[0] / w[1]) + 2 * np.log(k[0] / k[1])
    peak = _peak_of_slope(k)

    def f(z: FloatArray) -> FloatArray:
        u1 = k[0] * expit(z)
        u2 = k[1] * expit(-z)
        # The difference of squares is factored to keep its digits.
        return np.asarray(offset + z - 0.5 * (u1 - u2) * (u1 + u2))

    def falls(z: FloatArray) -> BoolArray:
        first = expit(z)
        second = expit(-z)
        return np.asarray(first * second * (k[0] ** 2 * first + k[1] ** 2 * second) > 1)

    # From the peak of h towards the zero of f: up to it f falls and keeps its sign.
    direction = np.where(f(peak) > 0, 1.0, -1.0)
    near = np.zeros_like(peak)
    far = np.full_like(peak, _Z_RANGE)
    for _ in range(_HALVINGS):
        middle = (near + far) / 2
        z = peak + direction * middle
        is_before = falls(z) & (direction * f(z) > 0)
        near = np.where(is_before, middle, near)
        far = np.where(is_before, far, middle)
    exists = falls(peak) & falls(peak + direction * far)
    return np.where(exists, peak + direction * near, np.nan)


def _peak_of_slope(k: FloatArray) -> FloatArray:
    """Return z at the peak of h."""
    larger = k.max(axis=0)
    smaller = k.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = np.where(larger > 0, (smaller / larger) ** 2, 1.0)
        root = np.sqrt(1 - r + r * r)
        # Two forms of the same root, each without cancellation on its half.
        share = np.where(r < 0.5, (1 - 2 * r + root) / (3 * (1 - r)), r / (root - 1 + 2 * r))
    return np.asarray(np.where(k[0] >= k[1], 1.0, -1.0) * np.log(share / (1 - share)))
