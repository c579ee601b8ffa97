"""Clopper–Pearson: the exact binomial bound."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from boundshift.curves.confidence import ConfidenceCurve
from boundshift.typing import FloatArray

__all__ = ["ClopperPearson"]


@dataclass(frozen=True)
class ClopperPearson(ConfidenceCurve):
    """Largest error rate under which so few points on the wrong side are not too unlikely.

    Too unlikely is less than one minus the `confidence`, 0.95 unless said otherwise.

    Examples
    --------
    >>> ClopperPearson(0.95).bound([0, 1, 10], 10).round(3).tolist()
    [0.259, 0.394, 1.0]
    """

    name = "clopper-pearson"
    assumptions = (
        "Independent scores that the model has not seen, and a boundary fixed before, or the "
        "count on the wrong side fixed before."
    )
    formula = "BetaQuantile(confidence; k + 1, n - k)"
    reference = "Clopper & Pearson 1934, Biometrika 26"

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the claim for each number of points on the wrong side."""
        k = np.asarray(wrong, dtype=np.float64)
        # At k = n nothing is left to bound; the inverse is not defined there.
        inside = np.minimum(k, n - 1)
        upper = betaincinv(inside + 1, n - inside, self.confidence)
        return np.asarray(np.where(k >= n, 1.0, upper))
