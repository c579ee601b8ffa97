"""How one level divides the free space between the classes."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from boundshift._typing import BoolArray, FloatArray

#
# With k_i = C / a_i the part of the loss that depends on the share θ of the negative class is
#
#     w_1 exp(-(k_1 θ)² / 2) + w_2 exp(-(k_2 (1 - θ))² / 2).
#
# Both ends are local minima. There is at most one more inside, where
#
#     f(z) = ln(w_1 k_1² / (w_2 k_2²)) + z - (k_1 θ)² / 2 + (k_2 (1 - θ))² / 2,  θ = 1 / (1 + e^-z),
#
# falls through zero. Its slope is f'(z) = 1 - h with h = θ (1 - θ) (k_1² θ + k_2² (1 - θ)), and h
# has a single peak, so f falls in one stretch around it or nowhere. No confidence is computed
# before its place is known: the answer is exact also where every δ underflows.

# A class whose radius is 1e100 times smaller than the free space is a point; squares stay finite.
_LARGEST_RATIO = 1e100
# ln h falls to 0 within this distance of its peak for every ratio below the largest.
_Z_RANGE = 500.0


def split_space(k: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Divide the free space so that the loss is least, in each of m problems."""
    k = np.minimum(k, _LARGEST_RATIO)
    z = _interior_minimum(k, w)
    inside, ones = np.stack([expit(z), expit(-z)]), np.ones_like(z)
    at_zero, at_one = np.stack([0 * ones, ones]), np.stack([ones, 0 * ones])
    first, second = _variable_loss(k, w, at_zero), _variable_loss(k, w, at_one)
    # Between equally good ends the rarer class, which has the smaller weight, gets the space.
    is_zero = (first < second) | ((first == second) & (w[0] >= w[1]))
    is_inside = ~np.isnan(z) & (_variable_loss(k, w, inside) <= np.minimum(first, second))
    share = np.where(is_inside, inside, np.where(is_zero, at_zero, at_one))
    return share[0], k * share, _variable_loss(k, w, share)


def bound_loss(k: FloatArray, w: FloatArray, n_shares: int) -> tuple[FloatArray, FloatArray]:
    """Return a lower and an upper bound on the loss of `split_space`, much cheaper.

    Between two neighbouring shares no class can have more than its better one of the two.
    """
    k, shares = np.minimum(k, _LARGEST_RATIO)[:, None], np.linspace(0.0, 1.0, n_shares)[:, None]
    better, same = np.stack([shares[1:], 1 - shares[:-1]]), np.stack([shares, 1 - shares])
    lower = _variable_loss(k, w[:, None], better).min(axis=0)
    return lower, _variable_loss(k, w[:, None], same).min(axis=0)


def _variable_loss(k: FloatArray, w: FloatArray, share: FloatArray) -> FloatArray:
    with np.errstate(under="ignore"):
        return np.asarray((w * np.exp(-0.5 * (k * share) ** 2)).sum(axis=0))


def _interior_minimum(k: FloatArray, w: FloatArray) -> FloatArray:
    """Return z of the minimum inside, NaN where there is none."""
    larger, smaller = k.max(axis=0), k.min(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = np.log(w[0] / w[1]) + 2 * np.log(k[0] / k[1])
        r = np.where(larger > 0, (smaller / larger) ** 2, 1.0)
        root = np.sqrt(1 - r + r * r)
        # The peak of h, in two forms of the same root, each without cancellation on its half.
        share = np.where(r < 0.5, (1 - 2 * r + root) / (3 * (1 - r)), r / (root - 1 + 2 * r))
    peak = np.where(k[0] >= k[1], 1.0, -1.0) * np.log(share / (1 - share))

    def f(z: FloatArray) -> FloatArray:
        u1, u2 = k[0] * expit(z), k[1] * expit(-z)
        # The difference of squares is factored to keep its digits.
        return np.asarray(offset + z - 0.5 * (u1 - u2) * (u1 + u2))

    def falls(z: FloatArray) -> BoolArray:
        first, second = expit(z), expit(-z)
        return np.asarray(first * second * (k[0] ** 2 * first + k[1] ** 2 * second) > 1)

    # From the peak of h towards the zero of f: up to it f falls and keeps its sign.
    direction = np.where(f(peak) > 0, 1.0, -1.0)
    near, far = np.zeros_like(peak), np.full_like(peak, _Z_RANGE)
    for _ in range(64):
        middle = (near + far) / 2
        z = peak + direction * middle
        before = falls(z) & (direction * f(z) > 0)
        near, far = np.where(before, middle, near), np.where(before, far, middle)
    is_there = falls(peak) & falls(peak + direction * far)
    return np.where(is_there, peak + direction * near, np.nan)
