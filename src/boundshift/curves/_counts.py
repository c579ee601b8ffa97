"""Curves that see only how many of n rows lie on the wrong side of a boundary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from boundshift._scores import ScoreSample, refuse_weights
from boundshift._search import Found, search_gaps
from boundshift._typing import FloatArray
from boundshift._validation import as_share
from boundshift.curves._base import Claim, CountCurve, Solution
from boundshift.curves._floors import describe_unmet, search_promises
from boundshift.curves._uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors, Rule


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

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the share for each number of points on the wrong side."""
        return np.asarray(np.asarray(wrong, dtype=np.float64) / n)


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

    def check_floors(self, rule: Floors) -> None:
        """Raise if the rule asks for an estimate, or for another confidence."""
        if rule.confidence is None:
            raise InvalidInputError(
                f"`confidence` of Floors must be a number with the curve {self.name!r}, got None, "
                "which asks for an estimate. Leave out the curve, or the confidence."
            )
        if rule.confidence not in ("auto", self.confidence):
            raise InvalidInputError(
                f"`confidence` must be the same in Floors and in the curve, got {rule.confidence} "
                f"and {self.confidence}. Give it to Floors, and leave out the curve."
            )

    def _search_floors(self, sample: ScoreSample, rule: Floors) -> tuple[Found, str]:
        """Return the best boundary that keeps every floor with this confidence, or misses some."""
        if {"precision", "npv", "flagged"} & set(rule.asked):

            def bound(wrong: ArrayLike, n: int, delta: float) -> FloatArray:
                return self._at(delta).bound(wrong, n)

            found, unmet = search_promises(bound, rule, sample, self.delta)
        else:
            each = self._at(self.delta / len(rule.asked))
            found = search_gaps(each.errors(sample), rule, sample)
            unmet = rule.missed(*found.errors, sample.n_samples)
        return found, describe_unmet(rule, unmet, sample.n_samples, self.delta) if unmet else ""


@dataclass(frozen=True)
class ClopperPearson(ConfidenceCurve):
    """Largest error rate under which so few points on the wrong side are not too unlikely.

    Too unlikely is less than one minus the `confidence`, 0.95 unless said otherwise. The quantile
    at the confidence of Beta(k + 1, n - k), of Clopper and Pearson (1934, Biometrika 26).

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

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the claim for each number of points on the wrong side."""
        return clopper_pearson(wrong, n, self.delta)
