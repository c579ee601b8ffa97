"""What an error curve is, and the curves that count rows.

For a boundary t each class has an error curve U(t), a claim on the share of that class that falls
on the wrong side. A curve of counts sees only how many of the n points do; a smooth one sees the
scores.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from boundshift._ranking import Ranking, find_ranking
from boundshift._scores import ScoreSample, describe_copies, refuse_weights
from boundshift._search import ErrorsAt, Found, best_gap, best_gap_smooth, minimum_on_line
from boundshift._status import Status
from boundshift._typing import FloatArray
from boundshift._validation import as_share
from boundshift.curves._floors import search_estimates, search_guarantees
from boundshift.curves._uniform import clopper_pearson, uniform_bound
from boundshift.curves._unmet import describe_estimate, describe_unmet
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors, GMean, Rule
from boundshift.rules._base import Settings
from boundshift.rules._guarantee import Guarantee

if TYPE_CHECKING:
    from boundshift.curves._paper import SupportGeometry


# Fractions of a smaller spread may be 0, so such scores are multiplied by a power of two.
_LEAST_SPREAD = 1e-280
_MAGNIFIED = 2.0**600


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
    remarks: tuple[Status, ...] = ()  # such as the direction of the scores where floors are met
    geometry: SupportGeometry | None = None
    detail: str = ""  # what happened in this problem, where the status does not say it all


@dataclass(frozen=True)
class ErrorCurve(Settings, ABC):
    """Estimate or bound the error rate of each class at every threshold.

    To write a curve of your own, define a frozen dataclass with `errors`, a `name` and a `claim`,
    and pass an instance as ``curve``. Its base class is :class:`CountCurve` if it needs only the
    number of misclassified rows, and :class:`PairCurve` if it is smooth in the threshold.

    Examples
    --------
    >>> from dataclasses import dataclass, replace
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
    default_rule: ClassVar[Rule] = GMean()
    """The rule that goes with the curve if none is asked for."""
    is_step: ClassVar[bool] = False
    """Whether the claim changes only where the boundary passes a score."""
    is_smooth: ClassVar[bool] = False
    """Whether the claim is smooth between scores that repeat."""
    is_local: ClassVar[bool] = False
    """Whether errors are claimed only at the threshold that the curve itself finds best."""
    accepts_weights: ClassVar[bool] = True
    """Whether rows may have weights."""

    @property
    def treats_classes_alike(self) -> bool:
        """Whether both classes are treated alike, so that either may be positive."""
        return True

    @property
    def delta(self) -> float | None:
        """Probability that the bound fails; None for an estimate."""
        return None

    @abstractmethod
    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return a function that estimates or bounds both error rates at given thresholds."""

    def errors_at_chosen(
        self, sample: ScoreSample, threshold: float, rule: Rule
    ) -> tuple[float, float]:
        """Return what is claimed at a threshold that this sample chose."""
        negative, positive = self.errors(sample)(np.array([threshold]))
        return float(negative[0]), float(positive[0])

    def bends(self, sample: ScoreSample) -> FloatArray | None:
        """Return the scores between which both errors are smooth, None if these are not known."""
        return None

    def solve(self, sample: ScoreSample, rule: Rule) -> Solution:
        """Return the threshold that optimises the rule on this curve."""
        if isinstance(rule, Floors):
            self.check_floors(rule)
            found, missed = self._search_floors(sample, rule)
            return solution_of_floors(sample, found, bool(missed), missed)
        return Solution(self._search(sample, rule), status_of(sample))

    def check_floors(self, rule: Floors) -> None:
        """Raise if floors are to be guaranteed, which only some curves can do."""
        if rule.confidence not in (None, "auto"):
            raise InvalidInputError(
                f"of Floors must be left out with the curve {self.name!r}, got "
                f"{rule.confidence!r}: it guarantees nothing. Use 'clopper-pearson', or no curve.",
                argument="confidence",
            )

    def _search_floors(self, sample: ScoreSample, rule: Floors) -> tuple[Found, str]:
        """Return the best boundary that meets all floors as estimated, and which are missed."""
        found = self._search(sample, rule)
        missed = [*rule.missed(*found.errors, sample.n_samples)]
        if missed:
            return found, describe_estimate(rule, missed, found.errors, sample.n_samples)
        negative, positive = (np.array([error]) for error in found.errors)
        value = float(rule.objective.value(negative, positive, sample.n_samples)[0])
        return found._replace(value=value), ""

    def _search(self, sample: ScoreSample, rule: Rule) -> Found:
        return minimum_on_line(self.errors(sample), rule, sample)


def status_of(sample: ScoreSample) -> Status:
    """Return the status of a boundary that was found on this sample."""
    ranking = find_ranking(sample)
    if ranking is Ranking.CHANCE:
        return Status.CHANCE
    if ranking is Ranking.REVERSED:
        return Status.REVERSED
    negative, positive = sample.classes
    low, high = sample.extremes
    are_two = all(c.count_at_most(low) == c.count_below(high) for c in (negative, positive))
    if are_two and low < high and (negative.maximum == high or positive.minimum == low):
        return Status.HARD_LABELS
    is_lone = min(negative.n_rows, positive.n_rows) == 1
    return Status.LONE_ROW if is_lone else Status.OPTIMAL


def solution_of_floors(sample: ScoreSample, found: Found, missed: bool, detail: str) -> Solution:
    """Return whether floors are met, and as a remark what the scores are like."""
    status = status_of(sample)
    remarks = () if status is Status.OPTIMAL else (status,)
    return Solution(found, Status.UNMET if missed else Status.OPTIMAL, remarks, detail=detail)


@dataclass(frozen=True)
class CountCurve(ErrorCurve):
    """A curve that sees only how many of n points lie beyond the boundary."""

    is_step = True
    counts_clusters: ClassVar[bool] = False
    """Whether the points are clusters of rows."""

    @abstractmethod
    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the estimate or bound of the error rate for a number of misclassified rows.

        Parameters
        ----------
        wrong : array-like of int
            Misclassified rows of the class, from 0 to n.
        n : int
            Points of the class.
        """

    def bound_at(self, wrong: ArrayLike, n: int, delta: float) -> FloatArray:
        """Return the bound that fails with probability `delta`; estimates ignore it."""
        return self.bound(wrong, n)

    def errors(self, sample: ScoreSample) -> ErrorsAt:
        """Return a function that estimates or bounds both error rates at given thresholds."""

        def at(t: FloatArray) -> tuple[FloatArray, FloatArray]:
            above, below = sample.count_wrong(t)
            return self.bound(above, sample.negative.n), self.bound(below, sample.positive.n)

        return at

    def errors_at_chosen(
        self, sample: ScoreSample, threshold: float, rule: Rule
    ) -> tuple[float, float]:
        """Return what is claimed at a threshold that this sample chose."""
        above, below = sample.count_wrong(np.array([threshold]))
        return self.errors_of_counts((above[0].item(), below[0].item()), sample.n_samples, rule)

    def errors_of_counts(
        self, wrong: tuple[int, int], n_samples: tuple[int, int], rule: Rule
    ) -> tuple[float, float]:
        """Return what is claimed at a threshold that the same rows chose by a rule."""
        with np.errstate(invalid="ignore"):  # of a class without rows
            negative = self.bound(wrong[0], n_samples[0])
            positive = self.bound(wrong[1], n_samples[1])
        return float(negative), float(positive)

    def _search(self, sample: ScoreSample, rule: Rule) -> Found:
        if isinstance(rule, Floors) and rule.flagged is not None:
            # The share flagged does not grow with both errors, so every gap is a candidate.
            return search_estimates(self.bound, rule, sample)
        return best_gap(self.errors(sample), rule, sample)


@dataclass(frozen=True)
class Empirical(CountCurve):
    """Count the proportion of each class that is misclassified: k/n.

    The threshold is then the best one for the given rows, as with scikit-learn's tuned threshold.
    It may not be the best one for new rows.

    Examples
    --------
    >>> Empirical().bound([0, 3], 10).tolist()
    [0.0, 0.3]
    """

    name = "empirical"
    claim = Claim.AVERAGE_CASE

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the error rate for each number of misclassified rows."""
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
    accepts_weights = False

    confidence: float = 0.95

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", as_share("confidence", self.confidence))

    @property
    def delta(self) -> float:
        """Probability with which the claim may fail."""
        return 1.0 - self.confidence

    def bound_at(self, wrong: ArrayLike, n: int, delta: float) -> FloatArray:
        """Return the claim for each count at another probability of failure."""
        return replace(self, confidence=1.0 - delta).bound(wrong, n)

    def errors_of_counts(
        self, wrong: tuple[int, int], n_samples: tuple[int, int], rule: Rule
    ) -> tuple[float, float]:
        r"""Bound both error rates at a threshold that the same rows chose by a rule.

        Each bound holds by itself with the confidence :math:`1 - \delta`. A curve's own bound at
        one threshold would not: the rows chose a threshold that flatters them. So a class without
        a guarantee has the band that holds for every threshold at once.

        A guarantee of recall or specificity allows up to k rows of its class on the wrong side, and
        k depends only on the floor, its part of :math:`\delta` and the number of rows. So every
        allowed threshold errs no more often than the order statistic with k rows beyond it, whose
        Clopper-Pearson bound is valid. If more than k rows are wrong, only the rest of
        :math:`\delta` is left for the band, and nothing is known if nothing is left.
        """
        of_rate = {each.rate: each for each in rule.guarantees(self.delta)}
        return (
            self._bound_class(wrong[0], n_samples[0], of_rate.get("specificity")),
            self._bound_class(wrong[1], n_samples[1], of_rate.get("recall")),
        )

    def _bound_class(self, wrong: int, n: int, guarantee: Guarantee | None) -> float:
        if n == 0:
            return math.nan
        if guarantee is None:
            return float(uniform_bound(wrong, n, self.delta))
        allowed = guarantee.allowed_errors(n, self.bound_at)
        if wrong <= allowed:
            return float(clopper_pearson(allowed, n, guarantee.delta))
        if allowed < 0:  # for every sample of this size
            return float(uniform_bound(wrong, n, self.delta))
        left = self.delta - guarantee.delta
        return float(uniform_bound(wrong, n, left)) if left > 0.0 else 1.0

    def solve(self, sample: ScoreSample, rule: Rule) -> Solution:
        """Return the boundary at which the rule on this curve is least; rows must count alike."""
        refuse_weights(sample, self.name)
        solution = super().solve(sample, rule)
        if rule.guarantees(self.delta) and sample.n_copies > 1:
            solution = replace(
                solution,
                status=Status.NOT_GUARANTEED,
                detail=f"{describe_copies(sample.n_copies)}, and no floor is guaranteed. Pass each "
                "row once.",
            )
        errors = self.errors_at_chosen(sample, solution.found.threshold, rule)
        return replace(solution, found=solution.found._replace(errors=errors))

    def check_floors(self, rule: Floors) -> None:
        """Raise if the rule asks for an estimate, or for another confidence."""
        if rule.confidence not in ("auto", self.confidence):
            raise InvalidInputError(
                f"must be the same in Floors and in the curve, got {rule.confidence} "
                f"and {self.confidence}. Give it to Floors, where None asks for an estimate, and "
                "leave out the curve.",
                argument="confidence",
            )

    def _search_floors(self, sample: ScoreSample, rule: Floors) -> tuple[Found, str]:
        """Return the best boundary that keeps every floor with this confidence, or misses some."""
        guarantees = rule.guarantees(self.delta)
        if {"precision", "npv", "flagged"} & set(rule.asked):
            found, missed = search_guarantees(self.bound_at, rule, sample, guarantees)
        else:
            each = replace(self, confidence=1.0 - guarantees[0].delta)
            found = best_gap(each.errors(sample), rule, sample)
            missed = [*rule.missed(*found.errors, sample.n_samples)]
        if not missed:
            return found, ""
        counted = Empirical().errors_at_chosen(sample, found.threshold, rule)
        return found, describe_unmet(rule, missed, counted, sample.n_samples, self.delta)


@dataclass(frozen=True)
class ClopperPearson(ConfidenceCurve):
    """Clopper–Pearson upper bound on the error rate of each class.

    The bound is the quantile of Beta(k + 1, n - k) at the `confidence`, 0.95 by default, if k of n
    rows are misclassified (Clopper and Pearson, 1934, Biometrika 26).

    Examples
    --------
    >>> ClopperPearson(0.95).bound([0, 1, 10], 10).round(3).tolist()
    [0.259, 0.394, 1.0]
    """

    name = "clopper-pearson"

    def bound(self, wrong: ArrayLike, n: int) -> FloatArray:
        """Return the upper bound on the error rate for each number of misclassified rows."""
        return clopper_pearson(wrong, n, self.delta)


@dataclass(frozen=True)
class PairCurve(ErrorCurve):
    """A smooth curve that sees the scores of both classes at once.

    A row counts on both sides of a boundary nearby. Scores that repeat are atoms: their rows never
    do, so boundaries stand in the gaps between distinct scores.
    """

    is_smooth = True

    def _search(self, sample: ScoreSample, rule: Rule) -> Found:
        if 0.0 < sample.spread < _LEAST_SPREAD:
            magnified = self._search(sample.magnified(_MAGNIFIED), rule)
            low, high = magnified.plateau
            return magnified._replace(
                threshold=magnified.threshold / _MAGNIFIED,
                plateau=(low / _MAGNIFIED, high / _MAGNIFIED),
            )
        errors = self.errors(sample)
        if len(sample.atoms):
            return best_gap_smooth(errors, rule, sample)
        return minimum_on_line(errors, rule, sample, self.bends(sample))
