r"""Bounds on a weighted sum of mean differences, by bets that follow the spread seen so far.

Class c has independent values :math:`x` in [-1, 1] with the mean :math:`m_c`, and the weight
:math:`w_c`. Bounded is :math:`\mu = \sum_c w_c m_c`. The values of each class are put in random
order and cut into equally many blocks. In a block with :math:`n_c` values of class c, n in all, let
:math:`v = w_c x n / n_c`, whose average over the block has the expectation :math:`\mu`. Against the
claim that :math:`\mu` is at least some number, the capital

.. math:: \prod_{\text{blocks}} \prod_{v} \left(1 + \lambda (\mu - v)\right)

has an expectation of at most 1 if the bet :math:`\lambda` depends on earlier blocks only: within
a block the factors are independent, and the product of their expectations is at most the power of
their mean, which is 1 (inequality of arithmetic and geometric means). By Markov's inequality the
mean over 20 orders reaches :math:`1/\delta` with probability at most :math:`\delta`. The bet is
:math:`(2 \ln(1/\delta) / (N s^2))^{1/2}`, where N counts all values and :math:`s^2` is the variance
in earlier blocks, and at most 0.9 of the largest that keeps the capital positive (Waudby-Smith and
Ramdas 2024, Journal of the Royal Statistical Society B 86).

Orders are drawn with a fixed seed and from sorted values, so the order of rows does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from boundshift._typing import FloatArray, IntArray

_BLOCKS = 20
_ORDERS = 20
# What the mean square is taken to be before any value is seen; it counts as one value.
_PRIOR_SQUARE = 0.2
_LARGEST_BET = 0.9


class _Values(NamedTuple):
    """The values of a class, and how many of each there are in every order and block."""

    distinct: FloatArray
    counts: IntArray
    weight: float

    @property
    def sizes(self) -> IntArray:
        """Values in each block."""
        return np.asarray(self.counts[0].sum(axis=1))

    def past_mean(self, power: int, prior: float) -> FloatArray:
        """Return the mean of a power over earlier blocks, for every order and block."""
        sums = self.counts @ self.distinct**power
        n_past = np.cumsum(self.sizes) - self.sizes
        return np.asarray((np.cumsum(sums, axis=1) - sums + prior) / (n_past + 1.0))


def difference_interval(
    values: Sequence[FloatArray], weights: Sequence[float], delta: float
) -> tuple[float, float]:
    """Interval of the sum of weights times means, from values of each class in [-1, 1].

    Examples
    --------
    >>> mended = np.repeat([-1.0, 0.0], [30, 470])
    >>> low, high = difference_interval([mended], [1.0], 0.05)
    >>> round(low, 3), round(high, 3)
    (-0.097, -0.035)
    """
    random = np.random.default_rng(0)
    n_blocks = min(_BLOCKS, *(len(each) for each in values))
    pairs = zip(values, weights, strict=True)
    classes = [_divide(each, weight, n_blocks, random) for each, weight in pairs]
    mirrored = [each._replace(distinct=-each.distinct) for each in classes]
    return -_upper_bound(mirrored, delta / 2.0), _upper_bound(classes, delta / 2.0)


def _upper_bound(classes: list[_Values], delta: float) -> float:
    """Upper bound on the sum of weights times means."""
    sizes = np.sum([each.sizes for each in classes], axis=0)
    scales = [each.weight * sizes / each.sizes for each in classes]
    greatest = np.max(scales, axis=0)
    if not greatest.any():
        return 0.0
    mean = sum(each.weight * each.past_mean(1, 0.0) for each in classes)
    squares = [
        each.weight * scale * each.past_mean(2, _PRIOR_SQUARE)
        for each, scale in zip(classes, scales, strict=True)
    ]
    variance = np.maximum(sum(squares) - mean**2, 1e-12 * greatest**2)
    bets = np.sqrt(2.0 * math.log(1.0 / delta) / (sizes.sum() * variance))

    def evidence(mu: float) -> float:
        """Return the logarithm of delta times the capital; from 0 on the mean is refuted."""
        allowed = _LARGEST_BET / np.maximum(greatest - mu, 1e-12 * greatest)
        bet = np.minimum(bets, allowed)[:, :, None]
        logs = np.zeros(_ORDERS)
        for each, scale in zip(classes, scales, strict=True):
            factors = np.log1p(bet * (mu - scale[:, None] * each.distinct))
            logs += (each.counts * factors).sum(axis=(1, 2))
        return float(np.logaddexp.reduce(logs)) + math.log(delta / _ORDERS)

    most = sum(each.weight for each in classes)
    if evidence(most) < 0.0:
        return most
    return float(brentq(evidence, -most, most, xtol=1e-9 * most))


def _divide(
    values: FloatArray, weight: float, n_blocks: int, random: np.random.Generator
) -> _Values:
    """Divide values at random into blocks of nearly equal size, in several orders."""
    distinct, counts = np.unique(values, return_counts=True)
    sizes = np.diff(np.linspace(0, len(values), n_blocks + 1).round().astype(np.int64))
    blocks = np.zeros((_ORDERS, n_blocks, len(distinct)), dtype=np.int64)
    for order in blocks:
        left = counts.copy()
        for block, size in zip(order, sizes, strict=True):
            block[:] = random.multivariate_hypergeometric(left, size)
            left -= block
    return _Values(distinct, blocks, weight)
