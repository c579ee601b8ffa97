r"""What an error curve is.

For a boundary t each class has an error curve U(t), a claim on the share of that class that falls
on the wrong side. A curve of counts sees only how many of the n points do; a curve of shape sees
the scores. Everything is stated for a class that lies below the boundary; the other one is
mirrored.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boundshift._scores import ScoreSample
from boundshift._search import ErrorsAt, Found, search_between, search_gaps, search_line
from boundshift._status import Status
from boundshift._typing import FloatArray
from boundshift.curves._floors import describe_unmet, search_estimates
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors, GMean, Rule
from boundshift.rules._base import Settings

if TYPE_CHECKING:
    from boundshift.curves._paper import SupportGeometry


class Claim(Enum):
    """What kind of statement a curve makes."""

    HIGH_PROBABILITY = "Holds with the stated confidence, for any distribution."
    AVERAGE_CASE = "An estimate of the error, not a bound on it."
    NOMINAL = "Holds under assumptions that real scores do not meet."


@dataclass(frozen=True)
class Solution:
    """The boundary that a curve and a rule ask for, in the sample's units."""

    found: Found
    status: Status
    remarks: tuple[Status, ...] = ()
    """What else is to be said, such as the direction of the scores where floors are met."""
    geometry: SupportGeometry | None = None
    detail: str = ""
    """What happened in this very problem, where the status does not say it all."""


@dataclass(frozen=True)
class ErrorCurve(Settings, ABC):
    """A claim on the share of each class on the wrong side of a boundary.

    A curve of your own is a frozen dataclass with `errors`, a `name` and a `claim`;
    pass an instance as ``curve``. Derive from :class:`CountCurve` where the claim depends on a
    class's count only, from :class:`PairCurve` where it is smooth in the boundary.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from boundshift import find_boundary
    >>> @dataclass(frozen=True)
    ... class Halved(CountCurve):
    ...     name = "halved"
    ...     claim = Claim.AVERAGE_CASE
    ...     def bound(self, wrong, n):
    ...         return (np.asarray(wrong) + 0.5) / (n + 1)
    >>> find_boundary([0, 0, 0, 1, 1], [0, 1, 2, 5, 6], curve=Halved()).threshold
    3.5
    """

    name: ClassVar[str]
    claim: ClassVar[Claim]
    assumptions: ClassVar[str] = ""
    default_rule: ClassVar[Rule] = GMean()
    """The rule that goes with the curve where none is asked for."""

    @abstractmethod
    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return the function from boundaries to the claimed error rates (negative, positive)."""

    def solve(self, sample: ScoreSample, rule: Rule) -> Solution:
        """Return the boundary at which the rule on this curve is least."""
        if not isinstance(rule, Floors):
            return Solution(self._search(sample, rule), status_of(sample))
        self.check_floors(rule)
        return solution_of_floors(sample, *self._search_floors(sample, rule))

    def check_floors(self, rule: Floors) -> None:
        """Raise if floors are to be promised, which only some curves can do."""
        if rule.confidence not in (None, "auto"):
            raise InvalidInputError(
                f"`confidence` of Floors must be left out with the curve {self.name!r}, got "
                f"{rule.confidence!r}: it makes no promise. Use 'clopper-pearson', or no curve."
            )

    def _search_floors(self, sample: ScoreSample, rule: Floors) -> tuple[Found, str]:
        """Return the best boundary that meets all floors as estimated, and which are missed."""
        found = self._search(sample, rule)
        unmet = rule.missed(*found.errors, sample.n_samples)
        if unmet:
            return found, describe_unmet(rule, unmet, sample.n_samples, None)
        negative, positive = (np.array([error]) for error in found.errors)
        value = float(rule.objective.value(negative, positive, sample.n_samples)[0])
        return found._replace(value=value), ""

    def _search(self, sample: ScoreSample, rule: Rule) -> Found:
        return search_line(self.errors(sample), rule, sample)


def status_of(sample: ScoreSample) -> Status:
    """Return the status of a boundary that was found on this sample."""
    negative, positive = sample.negative, sample.positive
    if negative.median == positive.median and positive.mean <= negative.mean:
        return Status.CHANCE
    if sample.is_reversed:
        return Status.REVERSED
    low, high = sample.extremes
    are_two = all(c.count_at_most(low) == c.count_below(high) for c in (negative, positive))
    if are_two and low < high and (negative.maximum == high or positive.minimum == low):
        return Status.HARD_LABELS
    return Status.LONE_ROW if min(sample.n_samples) == 1 else Status.OPTIMAL


def solution_of_floors(sample: ScoreSample, found: Found, missed: str, kept: str = "") -> Solution:
    """Return whether floors are met, and as a remark what the scores are like."""
    status = status_of(sample)
    remarks = () if status is Status.OPTIMAL else (status,)
    met = Status.UNMET if missed else Status.OPTIMAL
    return Solution(found, met, remarks, detail=missed or kept)


@dataclass(frozen=True)
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

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return the function from boundaries to the claimed error rates (negative, positive)."""

        def at(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            above, below = sample.count_wrong(t)
            return self.bound(above, sample.negative.n), self.bound(below, sample.positive.n)

        return at

    def _search(self, sample: ScoreSample, rule: Rule) -> Found:
        if isinstance(rule, Floors) and rule.flagged is not None:
            # The share flagged does not grow with both errors, so every gap is a candidate.
            return search_estimates(self.bound, rule, sample)
        return search_gaps(self.errors(sample), rule, sample)


@dataclass(frozen=True)
class PairCurve(ErrorCurve):
    """A smooth curve that sees the scores of both classes at once.

    A row counts on both sides of a boundary nearby. Scores that repeat are atoms: their rows never
    do, so boundaries stand in the gaps between distinct scores.
    """

    def bends(self, sample: ScoreSample) -> FloatArray | None:
        """Return the scores between which both tails are smooth, None if these are not known."""
        return None

    def _search(self, sample: ScoreSample, rule: Rule) -> Found:
        errors = self.errors(sample)
        if len(sample.atoms):
            return search_between(errors, rule, sample)
        return search_line(errors, rule, sample, self.bends(sample))
