"""The share as counted: what happened on these very rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boundshift.curves.base import Claim, CountCurve
from boundshift.typing import FloatArray

__all__ = ["Empirical"]


@dataclass(frozen=True)
class Empirical(CountCurve):
    """Share of the class on the wrong side, as counted: k/n.

    With it a rule is best on the rows at hand, whatever comes after; scikit-learn's tuned
    threshold decides so.

    Examples
    --------
    >>> Empirical().bound([0, 3], 10).tolist()
    [0.0, 0.3]
    """

    name = "empirical"
    claim = Claim.AVERAGE_CASE
    assumptions = "None: it is a count."
    formula = "k / n"
    reference = "Counting"

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the share for each number of points on the wrong side."""
        return np.asarray(np.asarray(wrong, dtype=np.float64) / n)
