"""Empirical Bernstein: Hoeffding with the variance in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boundshift.curves.confidence import ConfidenceCurve
from boundshift.typing import FloatArray

__all__ = ["EmpiricalBernstein"]


@dataclass(frozen=True)
class EmpiricalBernstein(ConfidenceCurve):
    """Empirical share plus a width that shrinks with the share itself, at a `confidence`.

    Examples
    --------
    >>> EmpiricalBernstein(0.95).bound([0, 50], 1000).round(4).tolist()
    [0.0086, 0.0773]
    """

    name = "bernstein"
    assumptions = "Independent scores that the model has not seen, and a boundary fixed before."
    formula = "min(1, p + sqrt(2 V ln(2/d) / n) + 7 ln(2/d) / (3 (n - 1))), V = p (1 - p) n/(n - 1)"
    reference = "Maurer & Pontil 2009, COLT, theorem 4"

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the claim for each number of points on the wrong side."""
        share = np.asarray(wrong, dtype=np.float64) / n
        if n == 1:
            return np.ones_like(share)
        log = np.log(2 / self.delta)
        variance = share * (1 - share) * n / (n - 1)
        width = np.sqrt(2 * variance * log / n) + 7 * log / (3 * (n - 1))
        return np.asarray(np.minimum(1.0, share + width))
