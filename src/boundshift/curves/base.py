r"""What an error curve is.

For a boundary t each class has an error curve U(t), a claim on the share of that class that falls
on the wrong side. A curve of counts sees only how many of the n points do; a curve of shape sees
the scores. Everything is stated for a class that lies below the boundary; the other one is
mirrored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import Enum
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.scores.sample import OrderedScores, ScoreSample
from boundshift.validation import as_share

__all__ = [
    "Claim",
    "ConfidenceCurve",
    "CountCurve",
    "ErrorCurve",
    "PairCurve",
    "ShapeCurve",
    "Tail",
]

FloatArray = NDArray[np.float64]
Tail = Callable[[FloatArray], FloatArray]


class Claim(Enum):
    """What kind of statement a curve makes."""

    EXACT = "Exact on average over samples, for any distribution."
    HIGH_PROBABILITY = "Holds with the stated confidence, for any distribution."
    AVERAGE_CASE = "An estimate of the error, not a bound on it."
    NOMINAL = "Holds under assumptions that real scores do not meet."


class ErrorCurve(ABC):
    """A claim on the share of a class beyond the boundary.

    A subclass in a file of its own in this package is found by its `name`, with no change
    elsewhere.
    """

    name: ClassVar[str]
    claim: ClassVar[Claim]
    assumptions: ClassVar[str]
    formula: ClassVar[str]
    reference: ClassVar[str]

    @property
    def delta(self) -> float:
        """Probability with which the claim may fail; NaN where no such thing is claimed."""
        return float("nan")

    def __repr__(self) -> str:
        arguments = ", ".join(f"{k}={v!r}" for k, v in vars(self).items())
        return f"{type(self).__name__}({arguments})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), tuple(vars(self).items())))


class CountCurve(ErrorCurve):
    """A curve that sees only how many of n points lie beyond the boundary."""

    @abstractmethod
    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the claim for each number of points on the wrong side.

        Parameters
        ----------
        wrong : array-like of int
            Points of the class on the wrong side, from 0 to n.
        n : int
            Points of the class.
        """


class ConfidenceCurve(CountCurve):
    """A curve of counts that holds with high probability.

    Parameters
    ----------
    confidence : float, default=0.95
        Between 0 and 1.
    """

    claim = Claim.HIGH_PROBABILITY

    def __init__(self, confidence: float = 0.95) -> None:
        self.confidence = as_share("confidence", confidence)

    @property
    def delta(self) -> float:
        """Probability with which the claim may fail."""
        return 1.0 - self.confidence


class ShapeCurve(ErrorCurve):
    """A curve that sees the scores."""

    @abstractmethod
    def tail(self, scores: OrderedScores, pooled: float) -> Tail:
        """Return the function from boundaries to the claimed share of the class above them.

        Parameters
        ----------
        scores : OrderedScores
            The class, below the boundary.
        pooled : float
            Standard deviation within the classes, both together; a class whose own spread
            cannot be known leans on it.
        """


class PairCurve(ErrorCurve):
    """A curve that sees the scores of both classes at once."""

    @abstractmethod
    def tails(self, sample: ScoreSample) -> tuple[Tail, Tail]:
        """Return both classes' tails, as `ShapeCurve.tail` does; the positive one's mirrored.

        Parameters
        ----------
        sample : ScoreSample
            Scores of both classes.
        """

    @abstractmethod
    def bends(self, sample: ScoreSample) -> FloatArray:
        """Return scores between which the tails are smooth, where a minimum is looked for.

        Parameters
        ----------
        sample : ScoreSample
            Scores of both classes.
        """
