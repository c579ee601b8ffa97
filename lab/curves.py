"""Curves that experiments compare with, and that the package does not have.

Clopper and Pearson's bound is tighter than `DKW`; "blend" decides better than the other two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from boundshift._typing import FloatArray
from boundshift.curves import Claim, CountCurve, Smoothed
from boundshift.curves._base import ConfidenceCurve


@dataclass(frozen=True)
class DKW(ConfidenceCurve):
    """Share as counted plus a width for every boundary at once, with Massart's constant."""

    name = "dkw"

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the claim for each number of points on the wrong side."""
        width = np.sqrt(-np.log(min(self.delta, 0.5)) / (2 * n))
        return np.asarray(np.minimum(1.0, np.asarray(wrong) / n + width))


@dataclass(frozen=True)
class KthPoint(CountCurve):
    """Chance that a fresh point lies beyond the k-th most extreme of n: Eq. iid_error at k = 0."""

    name = "kth-point"
    claim = Claim.AVERAGE_CASE

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the claim for each number of points on the wrong side."""
        return np.asarray((np.asarray(wrong) + 1.0) / (n + 1.0))


@dataclass(frozen=True)
class StudentT(Smoothed):
    """Predictive tail of a normal class whose mean and spread are estimated."""

    name = "student-t"

    def tail(self, scores: Any, pooled: float) -> Any:
        """Return the function from boundaries to the claimed share of the class above them."""
        scale = (scores.std or pooled) * float(np.sqrt(1 + 1 / scores.n))
        if scale == 0:
            return lambda t: np.where(t < scores.mean, 1.0, 0.0)
        degrees = max(scores.n - 1, 1)
        return lambda t: np.asarray(stdtr(degrees, (scores.mean - t) / scale))
