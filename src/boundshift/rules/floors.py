"""Floors and caps: what must be reached, before anything else is optimised."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.rules.base import Rule, changed_repr
from boundshift.rules.prevalence import as_prevalence, frequencies
from boundshift.typing import FloatArray
from boundshift.validation import as_positive, as_share

__all__ = ["FLOORS", "Floors", "missed_by", "reached_rates"]

FLOORS = ("recall", "specificity", "precision", "npv", "flagged")
"""Names of the floors, and of the one cap, `flagged`."""

# A rounding error must not break a floor.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Floors(Rule):
    r"""Meet every floor, then do the best for an objective.

    With a curve of high probability, and that is what a floor gets where no curve is named, each
    floor is a promise: with the confidence asked for, all of them hold together on fresh rows of
    the same kind. With a curve that estimates, they hold as estimated. Where they cannot be met
    the status is UNMET, and the boundary's ``message`` says which one fails, by how much, and
    what would be needed.

    Parameters
    ----------
    recall : float, default=None
        Least share of the positive class that is flagged.
    specificity : float, default=None
        Least share of the negative class that is not flagged.
    precision : float, default=None
        Least share of flagged rows that are positive.
    npv : float, default=None
        Least share of rows not flagged that are negative.
    flagged : float, default=None
        Largest share of all rows that is flagged, below 1. For "50 a week" rank the rows instead.
    then : str or Rule, default="g-mean"
        What is best among the boundaries that meet all floors: a rule, or "recall",
        "specificity" or "precision".
    confidence : float, default=None
        Of all floors together; None is that of the curve, 0.95 where no curve is named.
    prevalence : float, default=None
        Share of the positive class where decisions will be made, for precision, npv, flagged and
        `then`; None takes the sample's, which must then be drawn as decisions will be.

    Notes
    -----
    With several floors each gets an equal part of :math:`\delta = 1 -` confidence.

    Recall and specificity: a boundary that leaves a fixed number of a class's points on the wrong
    side is an order statistic of that class, and the binomial bound for the count holds for it as
    it is. The share flagged likewise, among all rows.

    Precision and npv: of the m rows above an order statistic of all scores, the number of
    positives is binomial with the precision as its probability. Boundaries are tested from few
    flagged rows to many, by the fallback procedure of Wiens and Dmitrienko. The first starting
    place is the number of flagged rows at which an observed precision halfway between floor and 1
    would do, each further one has three times as many, up to half of all rows; each has an equal
    part of :math:`\delta`. A test that passes hands its level on to the next boundary, one that
    fails loses it. All boundaries that pass hold together, whatever the classes look like, since
    the places depend on nothing but the number of rows, the floor and the confidence.

    With a prevalence both classes are bounded for all boundaries at once, each with half of the
    :math:`\delta`, and any boundary may be chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import Floors, find_boundary
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [900, 100])
    >>> s = rng.normal(size=1000) + 3 * y
    >>> found = find_boundary(y, s, rule=Floors(recall=0.8, precision=0.5))
    >>> round(found.threshold, 2), found.wrong, found.status.name
    (1.4, (57, 6), 'OPTIMAL')
    """

    name = "floors"
    own_curve = "clopper-pearson"

    recall: float | None = None
    specificity: float | None = None
    precision: float | None = None
    npv: float | None = None
    flagged: float | None = None
    then: str | Rule = "g-mean"
    confidence: float | None = None
    prevalence: float | None = None

    def __post_init__(self) -> None:
        cure = "Use 0.9, for example."
        for name in FLOORS[:4]:
            value = getattr(self, name)
            if value is not None and as_positive(name, value, cure) > 1:
                raise InvalidInputError(f"`{name}` must be at most 1, got {value!r}. {cure}")
        if self.flagged is not None:
            as_share("flagged", self.flagged, "Use 0.02 for at most 2% of the rows.")
        if self.confidence is not None:
            as_share("confidence", self.confidence)
        as_prevalence(self.prevalence)
        if not self.asked:
            raise InvalidInputError(
                f"`Floors` must have at least one of {', '.join(FLOORS)}, got none. "
                "Use Floors(recall=0.9), for example."
            )
        depends = {"precision", "npv", "flagged"} & set(self.asked)
        if self.prevalence is not None and not depends and not hasattr(self._named, "prevalence"):
            raise InvalidInputError(
                f"`prevalence` must be left out where nothing depends on it, got "
                f"{self.prevalence!r} with {', '.join(self.asked)} and then={self.then!r}. "
                "Use it with precision, npv or flagged."
            )

    def __repr__(self) -> str:
        return changed_repr(self)

    @property
    def asked(self) -> dict[str, float]:
        """The floors that are asked for, by name."""
        given = {name: getattr(self, name) for name in FLOORS}
        return {name: float(value) for name, value in given.items() if value is not None}

    @property
    def objective(self) -> Rule:
        """What is best among the boundaries that meet all floors, at the prevalence given."""
        rule = self._named
        own = {f.name for f in fields(rule)}
        if self.prevalence is None or "prevalence" not in own or rule.prevalence is not None:  # type: ignore[attr-defined]
            return rule
        return replace(rule, prevalence=self.prevalence)  # type: ignore[call-arg]

    @property
    def _named(self) -> Rule:
        """The objective as it is named."""
        from boundshift.rules import as_rule

        if isinstance(self.then, str) and self.then in _RATES:
            return _RATES[self.then]()
        rule = as_rule(self.then)
        if isinstance(rule, Floors):
            raise InvalidInputError(
                f"`then` must be an objective, got {rule!r}. Give all floors to one Floors."
            )
        return rule

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
        """Return the objective, or something above its worst where a floor is not met."""
        objective = self.objective
        best = objective.value(negative, positive, n_samples)
        worst = objective.value(np.ones(1), np.ones(1), n_samples)[0]
        missing = sum(self._shortfalls(negative, positive, n_samples).values())
        # Beyond the floors the nearest comes first; the objective breaks ties.
        beyond = worst + 1.0 + missing + 1e-6 * best / (1.0 + np.abs(best))
        return np.where(missing <= 0.0, best, beyond)

    def missed(
        self, negative: float, positive: float, n_samples: tuple[float, float]
    ) -> dict[str, float]:
        """Return by how much each floor is missed, those that are met left out."""
        errors = np.array([negative]), np.array([positive])
        short = self._shortfalls(*errors, n_samples)
        return {name: float(by[0]) for name, by in short.items() if by[0] > 0.0}

    def _shortfalls(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> dict[str, FloatArray]:
        """Return by how much each floor is missed at each pair of errors, 0 where it is met."""
        rates = reached_rates(negative, positive, frequencies(self.prevalence, n_samples))
        return {name: missed_by(name, floor, rates[name]) for name, floor in self.asked.items()}


def reached_rates(
    negative: FloatArray, positive: FloatArray, weights: tuple[float, float]
) -> dict[str, FloatArray]:
    """Return what is reached at each pair of errors, by the names of the floors.

    Where nothing is flagged the precision is 1, and so is the npv where everything is: no alarm
    is false, no row is wrongly left alone.
    """
    negative, positive = np.asarray(negative, float), np.asarray(positive, float)
    share = weights[1] / (weights[0] + weights[1])
    hits, alarms = share * (1.0 - positive), (1.0 - share) * negative
    misses, left = share * positive, (1.0 - share) * (1.0 - negative)
    return {
        "recall": 1.0 - positive,
        "specificity": 1.0 - negative,
        "precision": _share(hits, hits + alarms),
        "npv": _share(left, left + misses),
        "flagged": hits + alarms,
    }


def missed_by(name: str, floor: float, reached: FloatArray) -> FloatArray:
    """Return by how much a floor is missed, 0 where it is met but for a rounding error."""
    short = reached - floor if name == "flagged" else floor - reached
    return np.where(short > _ROUNDING, short, 0.0)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return part over whole, 1 where the whole is nothing."""
    return np.divide(part, whole, out=np.ones_like(part), where=whole > 0)


@dataclass(frozen=True)
class _ClassRate(Rule):
    """The share of a class that is right; only a floor keeps it from being had at any price."""

    is_positive: ClassVar[bool]

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
        """Return the error of the class."""
        return np.asarray(positive if self.is_positive else negative)


class _Recall(_ClassRate):
    """The share of positives found."""

    name = "recall"
    is_positive = True


class _Specificity(_ClassRate):
    """The share of negatives left alone."""

    name = "specificity"
    is_positive = False


@dataclass(frozen=True)
class _Precision(Rule):
    """The share of flagged rows that are positive; only a floor makes it flag many."""

    name = "precision"

    prevalence: float | None = None

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
        """Return one minus the precision."""
        weights = frequencies(self.prevalence, n_samples)
        return 1.0 - reached_rates(negative, positive, weights)["precision"]


_RATES: dict[str, type[Rule]] = {
    "recall": _Recall,
    "specificity": _Specificity,
    "precision": _Precision,
}
