"""The k-th point: exchangeability."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boundshift.curves.base import Claim, CountCurve
from boundshift.typing import FloatArray

__all__ = ["KthPoint"]


@dataclass(frozen=True)
class KthPoint(CountCurve):
    """Probability that a fresh point lies beyond the k-th most extreme of n: (k + 1)/(n + 1).

    A fresh point is equally likely to fall into any of the n + 1 gaps that the seen ones leave,
    so it lies beyond the (k + 1)-th from the end with exactly this probability. At k = 0 it is
    Eq. iid_error of the paper.

    Examples
    --------
    >>> KthPoint().bound([0, 4], 9).tolist()
    [0.1, 0.5]
    """

    name = "kth-point"
    claim = Claim.EXACT
    assumptions = "Seen and fresh scores are exchangeable and have no ties."
    formula = "(k + 1) / (n + 1)"
    reference = "Blitzstein & Hwang 2019, section 5.7.1"

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the claim for each number of points on the wrong side."""
        return np.asarray((np.asarray(wrong) + 1.0) / (n + 1.0))
