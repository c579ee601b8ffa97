"""Student's t: where the next normal score falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from boundshift.curves.base import Claim, ShapeCurve, Tail
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule
from boundshift.scores.sample import OrderedScores, ScoreSample, robust_std
from boundshift.search.found import Found
from boundshift.typing import FloatArray

__all__ = ["StudentT"]

_MOST_SPREADS = 1e9


@dataclass(frozen=True)
class StudentT(ShapeCurve):
    """Predictive tail of a normal class whose mean and spread are estimated.

    A class of one row, or of rows that are all alike, leans on the spread within both classes.
    Mean and spread follow a single row that is far off; one that is absurdly far off is refused.

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

    def _search(self, sample: ScoreSample, rule: Rule) -> Found:
        for scores in (sample.negative, sample.positive):
            _check_spread(scores)
        return super()._search(sample, rule)


def _check_spread(scores: OrderedScores) -> None:
    """Raise if a row is so far off that mean and spread say nothing of the others."""
    usual = robust_std(scores)
    farthest = max(scores.maximum - scores.median, scores.median - scores.minimum)
    if usual and farthest > _MOST_SPREADS * usual:
        raise InvalidInputError(
            "`y_score` must be about normal in each class for the curve 'student-t', got a row "
            f"{farthest / usual:.0e} spreads away from the middle of its class. Drop such rows, "
            "or use the curve 'blend', which no single row can carry away."
        )
