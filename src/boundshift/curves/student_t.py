"""Student's t: where the next normal score falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from boundshift.curves.base import Claim, ShapeCurve, Tail
from boundshift.scores.sample import OrderedScores
from boundshift.search.found import FloatArray

__all__ = ["StudentT"]


@dataclass(frozen=True)
class StudentT(ShapeCurve):
    """Predictive tail of a normal class whose mean and spread are estimated.

    A class of one row, or of rows that are all alike, leans on the spread within both classes.

    Examples
    --------
    >>> from boundshift.scores.sample import ClassScores
    >>> tail = StudentT().tail(ClassScores(np.array([-1.0, 0.0, 1.0])), pooled=1.0)
    >>> tail(np.array([0.0, 2.0])).round(3).tolist()
    [0.5, 0.113]
    """

    name = "student-t"
    claim = Claim.AVERAGE_CASE
    assumptions = "The class's scores are normal."
    formula = "P(T > (t - mean) / (s sqrt(1 + 1/n))), T with n - 1 degrees of freedom"
    reference = "Geisser 1993, Predictive Inference, chapter 2"

    def tail(self, scores: OrderedScores, pooled: float) -> Tail:
        """Return the function from boundaries to the claimed share of the class above them."""
        spread = scores.std or pooled
        scale = spread * float(np.sqrt(1 + 1 / scores.n))
        degrees = max(scores.n - 1, 1)

        def above(t: FloatArray) -> FloatArray:
            if scale == 0:
                return np.where(t < scores.mean, 1.0, 0.0)
            return np.asarray(stdtr(degrees, (scores.mean - t) / scale))

        return above
