"""Curves of counts that hold with high probability, and floors as promises."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from numpy.typing import ArrayLike

from boundshift.curves.base import Claim, CountCurve, Solution, status_of
from boundshift.curves.floors import describe_unmet, search_promises
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors, Rule
from boundshift.scores.sample import ScoreSample
from boundshift.scores.weighted import refuse_weights
from boundshift.search.gaps import search_gaps
from boundshift.status import Status
from boundshift.typing import FloatArray
from boundshift.validation import as_share

__all__ = ["ConfidenceCurve"]


@dataclass(frozen=True)
class ConfidenceCurve(CountCurve):
    """A curve of counts that holds with high probability.

    Parameters
    ----------
    confidence : float, default=0.95
        Between 0 and 1.
    """

    claim = Claim.HIGH_PROBABILITY

    confidence: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", as_share("confidence", self.confidence))

    @property
    def delta(self) -> float:
        """Probability with which the claim may fail."""
        return 1.0 - self.confidence

    def _at(self, delta: float) -> Self:
        """Return the same curve with another probability of failure."""
        return self if delta == self.delta else replace(self, confidence=1.0 - delta)

    def solve(self, sample: ScoreSample, rule: Rule) -> Solution:
        """Return the boundary at which the rule on this curve is least; rows must count alike."""
        refuse_weights(sample, self.name)
        return super().solve(sample, rule)

    def _solve_floors(self, sample: ScoreSample, rule: Floors) -> Solution:
        """Return the best boundary that keeps every floor with this confidence."""
        if rule.confidence not in (None, self.confidence):
            raise InvalidInputError(
                f"`confidence` must be the same in Floors and in the curve, got {rule.confidence} "
                f"and {self.confidence}. Give it to Floors, and leave out the curve."
            )
        if {"precision", "npv", "flagged"} & set(rule.asked):

            def bound(wrong: ArrayLike, n: int, delta: float) -> FloatArray:
                return self._at(delta).bound(wrong, n)

            found, unmet = search_promises(bound, rule, sample, self.delta)
        else:
            each = self._at(self.delta / len(rule.asked))
            found = search_gaps(each.bound, rule, sample)
            unmet = rule.missed(*found.errors, sample.n_samples)
        if not unmet:
            return Solution(found, status_of(sample))
        detail = describe_unmet(rule, unmet, sample.n_samples, self.delta)
        return Solution(found, Status.UNMET, detail=detail)
