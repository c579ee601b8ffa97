"""Dvoretzky–Kiefer–Wolfowitz: one band for all boundaries at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boundshift.curves.confidence import ConfidenceCurve
from boundshift.typing import FloatArray

__all__ = ["DKW"]


@dataclass(frozen=True)
class DKW(ConfidenceCurve):
    """Empirical share plus a width that covers every boundary together.

    It holds for a boundary chosen on the same scores, with the `confidence`, 0.95 unless said
    otherwise. Below one half Massart's constant does not apply and the one-half width is used.

    Examples
    --------
    >>> DKW(0.95).bound([0, 50, 100], 100).round(3).tolist()
    [0.122, 0.622, 1.0]
    """

    name = "dkw"
    assumptions = "Independent scores that the model has not seen."
    formula = "min(1, k/n + sqrt(ln(1/(1 - confidence)) / (2 n)))"
    reference = "Massart 1990, Annals of Probability 18"

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the claim for each number of points on the wrong side."""
        width = np.sqrt(-np.log(min(self.delta, 0.5)) / (2 * n))
        return np.asarray(np.minimum(1.0, np.asarray(wrong) / n + width))
