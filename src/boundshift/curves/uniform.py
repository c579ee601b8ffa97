"""A bound for all boundaries at once, of one class."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainccinv

from boundshift.curves.band import local_level
from boundshift.typing import FloatArray

__all__ = ["clopper_pearson", "uniform_bound"]


def clopper_pearson(wrong: ArrayLike, n: ArrayLike, delta: float) -> FloatArray:
    """Return Clopper and Pearson's upper bound, for a delta of any smallness.

    Examples
    --------
    >>> clopper_pearson([0, 1, 10], 10, 0.05).round(3).tolist()
    [0.259, 0.394, 1.0]
    """
    k, n = np.asarray(wrong, dtype=np.float64), np.asarray(n, dtype=np.float64)
    inside = np.minimum(k, n - 1)
    # With no rows, or all of them wrong, nothing is left to bound.
    upper = betainccinv(np.maximum(inside, 0) + 1, np.maximum(n - inside, 1), delta)
    return np.asarray(np.where(k >= n, 1.0, upper))


def uniform_bound(wrong: ArrayLike, n: int, delta: float) -> FloatArray:
    """Return a bound of a class's error that holds for every boundary at once.

    Up to 2,000 rows the exact band of equal local levels: see :mod:`boundshift.curves.band`.
    Beyond, the smaller of the DKW band at delta/2 and Clopper–Pearson at delta/(2(n + 1)) for all
    n + 1 counts.

    Examples
    --------
    >>> uniform_bound([0, 5], 100, 0.05).round(3).tolist()
    [0.058, 0.144]
    """
    level = local_level(n, delta)
    if level is not None:
        return clopper_pearson(wrong, n, level)
    share = np.asarray(wrong, dtype=np.float64) / n
    band = share + np.sqrt(-np.log(min(delta / 2, 0.5)) / (2 * n))
    counted = clopper_pearson(wrong, n, delta / (2 * (n + 1)))
    return np.asarray(np.minimum(1.0, np.minimum(band, counted)))
