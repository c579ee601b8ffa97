r"""The exact equal-local-level band: one bound for every boundary, as tight at each count.

Sort the true error rates of boundaries that stand at the scores of a class: they are the order
statistics :math:`U_{(1)} \le \dots \le U_{(n)}` of n uniform numbers, whatever the distribution of
the scores. A boundary with k rows on the wrong side has an error rate below :math:`U_{(k+1)}`,
which is Beta(k + 1, n − k). The band bounds each by its quantile at :math:`1 - \eta`, with one
local level :math:`\eta` for all counts, and :math:`\eta` is such that all n bounds hold together
with probability :math:`1 - \delta`.

That probability is computed, not simulated. A Poisson process of rate n on [0, 1] with n points in
all is n uniform numbers; the number of its points up to each bound, beyond those that the band asks
for, is carried from bound to bound. Every term is positive, so nothing cancels, and what is cut off
counts as a failure, so that the band errs to the safe side.

References
----------
Weine, McPeek & Abney 2023, Journal of Statistical Software 106(10), for bands of equal local
levels.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, gammaln

from boundshift._typing import FloatArray

MOST_ROWS = 50_000
"""Rows up to which the level is computed."""

# Failure probabilities below this drown in rounding errors.
_LEAST_DELTA = 1e-8
# With more rows than these: how far the crossing probability may stay below delta, and the size of
# groups of bounds in standard deviations of a count.
_SETTINGS = ((2000, 0.03, 0.2), (500, 1e-2, 0.0), (0, 1e-4, 0.0))


def crossing_probability(n: int, level: float, grouping: float = 0.0) -> float:
    """Return the probability that any of n order statistics exceeds its quantile.

    Neighbouring bounds can be grouped: at the first bound of a group as many points are asked for
    as at the last. That asks for more, so the probability is then too large, never too small.
    """
    first = _group(n, grouping)
    last = np.append(first[1:], n)
    bounds: FloatArray = betainccinv(first + 1.0, n - first + 0.0, level).astype(np.float64)
    means: FloatArray = n * np.diff(bounds, prepend=0.0)
    # More points than this beyond those asked for are out of reach of the n there are, or too
    # unlikely to matter.
    excess = n * bounds - last + 8.5 * np.sqrt(n * bounds * (1.0 - bounds)) + 20.0
    widths = np.minimum(n - last + 1, excess.astype(int)).tolist()
    lengths = (means + 9.0 * np.sqrt(means) + 18.0).astype(int).tolist()
    # Poisson probabilities of 0, 1, … points, a row for each mean.
    count = np.arange(max(lengths))
    logs = np.log(np.maximum(means, 1e-300))
    chances = np.exp(logs[:, None] * count - means[:, None] - gammaln(count + 1))
    beyond = np.ones(1)
    for increment, length, asked, width in zip(
        chances, lengths, (last - first).tolist(), widths, strict=True
    ):
        beyond = np.convolve(beyond, increment[:length])[asked : asked + width]
    # All n points lie below the last bound, given that there are n.
    log_given = n * bounds[-1] - n * np.log(n) + gammaln(n + 1)
    return float(1.0 - beyond[0] * np.exp(log_given))


def _group(n: int, grouping: float) -> NDArray[np.intp]:
    """Return the first of each group of neighbouring counts."""
    count = np.arange(1, n + 1)
    size = np.maximum(1, grouping * np.sqrt(count * (n - count) / n)).astype(int)
    if size.max() == 1:
        return count - 1
    first = [0]
    while (following := first[-1] + int(size[first[-1]])) < n:
        first.append(following)
    return np.array(first)


@lru_cache(maxsize=1024)
def local_level(n: int, delta: float) -> float | None:
    """Return the level of each bound at which all hold with probability 1 − delta.

    None if it is not computed: with very many rows, or for a tiny delta.
    """
    if n > MOST_ROWS or not _LEAST_DELTA <= delta < 1.0:
        return None
    if n == 1:
        return delta
    closeness, grouping = next(rest for rows, *rest in _SETTINGS if n > rows)
    goal = np.log1p(-delta * (1.0 - closeness / 2))
    # About how many independent bounds the band is worth: a place to start.
    rows = np.log(n)
    rarity = -np.log(delta)
    worth = 1.0 + rows * (0.921 - 0.118 * rarity) + rows**2 * (0.27 + 0.167 * rarity)
    level = -np.expm1(np.log1p(-delta) / worth) * (0.86 if grouping else 1.0)
    while True:
        reached = crossing_probability(n, level, grouping)
        if delta * (1.0 - closeness) <= reached <= delta:
            return float(level)
        # As if so many independent bounds had to hold, each with probability 1 − level.
        level = -np.expm1(np.log1p(-level) * goal / np.log1p(-reached))


def clopper_pearson(wrong: ArrayLike, n: ArrayLike, delta: float) -> FloatArray:
    """Return the Clopper–Pearson upper bound on an error rate, also for a tiny delta."""
    wrong = np.asarray(wrong, dtype=np.float64)
    n = np.asarray(n, dtype=np.float64)
    inside = np.minimum(wrong, n - 1)
    # With no rows, or all of them wrong, nothing is left to bound.
    upper = betainccinv(np.maximum(inside, 0) + 1, np.maximum(n - inside, 1), delta)
    return np.asarray(np.where(wrong >= n, 1.0, upper))


def uniform_bound(wrong: ArrayLike, n: int, delta: float) -> FloatArray:
    """Return a bound of a class's error that holds for every boundary at once.

    Up to 50,000 rows the band of equal local levels, exact up to 2,000 and slightly conservative
    above. Beyond, the smaller of the DKW band at delta/2 and Clopper–Pearson at delta/(2(n + 1))
    for all n + 1 counts.
    """
    level = local_level(n, delta)
    if level is not None:
        return clopper_pearson(wrong, n, level)
    share = np.asarray(wrong, dtype=np.float64) / n
    band = share + np.sqrt(-np.log(min(delta / 2, 0.5)) / (2 * n))
    counted = clopper_pearson(wrong, n, delta / (2 * (n + 1)))
    return np.asarray(np.minimum(1.0, np.minimum(band, counted)))
