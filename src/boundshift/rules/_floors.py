"""Floors and caps: constraints that come before the objective."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from boundshift._typing import FloatArray
from boundshift._validation import as_positive, as_share
from boundshift._words import METRIC_TITLES
from boundshift.exceptions import InvalidInputError
from boundshift.rules._base import Rule, Settings, Sizes
from boundshift.rules._binary import GMean, as_prevalence, frequencies
from boundshift.rules._guarantee import Guarantee

FLOORS = ("recall", "specificity", "precision", "npv", "flagged")
"""Names of the floors, and of the one cap, `flagged`."""

# A rounding error must not break a floor.
_ROUNDING = 1e-12
# A cap that is missed by any amount weighs more than all floors that are missed.
_CAP_MISSED = 10.0


@dataclass(frozen=True)
class Floors(Rule):
    r"""Meet every floor, then optimise an objective.

    By default, floors are guaranteed: with 0.95 confidence, all of them hold together for new rows
    from the same distribution. `flagged` is a budget: it holds for the given rows, and if it is the
    only floor, it is used completely. With ``confidence=None``, or a curve that estimates, floors
    are estimates.

    If no threshold meets all floors, the status is UNMET, and the ``message`` of the boundary names
    what fails and what would be needed. The budget is kept even then.

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
    then : str or Rule, default=None
        What to optimise among the boundaries that meet all floors: a rule, or "recall",
        "specificity" or "precision". None: the G-mean; for a cap alone, the share flagged.
    confidence : float, None or "auto", default="auto"
        A number: everything asked for, a cap included, is guaranteed with this confidence. None:
        nothing is guaranteed, and floors are met as counted on the rows given. "auto": floors are
        guaranteed with the curve's confidence, 0.95 if no curve is named, and a cap is a budget.
    prevalence : float, default=None
        Share of the positive class where decisions will be made, for precision, npv, flagged and
        `then`; None takes the sample's, which must then be representative.

    Notes
    -----
    Several guarantees each get an equal part of :math:`\delta = 1 -` confidence. A budget needs
    none.

    Recall and specificity: a boundary that leaves a fixed number of a class's points on the wrong
    side is an order statistic of that class, and the binomial bound for the count holds for it as
    it is. The same holds for a guaranteed cap, among all rows.

    Precision and npv: of the m rows above an order statistic of all scores, the number of
    positives is binomial with the precision as its probability. Boundaries are tested from few
    flagged rows to many, by the fallback procedure of Wiens and Dmitrienko. It starts at a few
    numbers of rows, which depend on nothing but the number of rows, the floor and the confidence.
    All boundaries that pass hold together, whatever the classes look like.

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

    A budget of 100 rows in 1,000:

    >>> int((s > find_boundary(y, s, rule=Floors(flagged=0.1)).threshold).sum())
    100
    """

    name = "floors"

    recall: float | None = None
    specificity: float | None = None
    precision: float | None = None
    npv: float | None = None
    flagged: float | None = None
    then: str | Rule | None = None
    confidence: float | Literal["auto"] | None = "auto"
    prevalence: float | None = None

    def __post_init__(self) -> None:
        remedy = "Use 0.9, for example."
        for name in FLOORS[:4]:
            value = getattr(self, name)
            if value is not None and as_positive(name, value, remedy) > 1:
                raise InvalidInputError(
                    f"must be at most 1, got {value!r}. {remedy}", argument=name
                )
        if self.flagged is not None:
            as_share("flagged", self.flagged, "Use 0.02 for at most 2% of the rows.")
        if self.confidence is not None and self.confidence != "auto":
            as_share("confidence", self.confidence, "Use None for an estimate.")
        as_prevalence(self.prevalence)
        if not self.asked:
            raise InvalidInputError(
                f"must have at least one of {', '.join(FLOORS)}, got none. "
                "Use Floors(recall=0.9), for example.",
                argument="Floors",
            )
        depends = self.objective.depends_on_prevalence
        depends |= bool({"precision", "npv", "flagged"} & {*self.asked})
        if self.prevalence is not None and not depends:
            raise InvalidInputError(
                f"must be left out if nothing depends on it, got "
                f"{self.prevalence!r} with {', '.join(self.asked)} and then={self.then!r}. "
                "Use it with precision, npv or flagged.",
                argument="prevalence",
            )

    __repr__ = Settings.changed_repr

    @property
    def asked(self) -> dict[str, float]:
        """The floors that are asked for, by name."""
        given = {name: getattr(self, name) for name in FLOORS}
        return {name: float(value) for name, value in given.items() if value is not None}

    @property
    def guaranteed(self) -> list[str]:
        """Names of the floors that are guaranteed; a budget is not."""
        floors = [name for name in self.asked if name != "flagged"]
        return floors if floors and self.confidence == "auto" else list(self.asked)

    def guarantees(self, delta: float | None) -> tuple[Guarantee, ...]:
        """Return a guarantee for each floor, with an equal part of `delta`; none without it."""
        if delta is None:
            return ()
        names = self.guaranteed
        return tuple(
            Guarantee(name, self.asked[name], delta / len(names), is_cap=name == "flagged")
            for name in names
        )

    @property
    def level(self) -> float | None:
        """Confidence of the guarantees if no curve is named; None for an estimate."""
        if self.confidence == "auto":
            return None if [*self.asked] == ["flagged"] else 0.95
        return self.confidence

    @property
    def objective(self) -> Rule:
        """The rule that chooses among the thresholds that meet all floors."""
        from boundshift.rules import as_rule

        rule: Rule
        if self.then is None:
            rule = Rate("flagged") if [*self.asked] == ["flagged"] else GMean()
        elif isinstance(self.then, str) and self.then in ("recall", "specificity", "precision"):
            rule = Rate(self.then)
        else:
            rule = as_rule(self.then)
        if isinstance(rule, Floors):
            raise InvalidInputError(
                f"must be an objective, got {rule!r}. Give all floors to one Floors.",
                argument="then",
            )
        return rule if self.prevalence is None else rule.at_prevalence(self.prevalence)

    def at_prevalence(self, prevalence: float) -> Self:
        """Return the floors unchanged; their prevalence is a setting of their own."""
        return self

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the objective, or a penalty above its maximum if a floor is not met."""
        objective = self.objective
        best = objective.value(negative, positive, n_samples)
        worst = objective.value(np.ones(1), np.ones(1), n_samples)[0]
        missing = total_shortfall(self._shortfalls(negative, positive, n_samples))
        # Of the boundaries that miss a floor the nearest comes first; the objective breaks ties.
        beyond = worst + 1.0 + missing + 1e-6 * best / (1.0 + np.abs(best))
        return np.where(missing <= 0.0, best, beyond)

    def missed(self, negative: float, positive: float, n_samples: Sizes) -> dict[str, float]:
        """Return the shortfall of each floor that is not met."""
        shortfalls = self._shortfalls(np.array([negative]), np.array([positive]), n_samples)
        return {name: float(short[0]) for name, short in shortfalls.items() if short[0] > 0.0}

    def _shortfalls(
        self, negative: FloatArray, positive: FloatArray, n_samples: Sizes
    ) -> dict[str, FloatArray]:
        rates = reached_rates(negative, positive, frequencies(self.prevalence, n_samples))
        return {name: missed_by(name, floor, rates[name]) for name, floor in self.asked.items()}


def reached_rates(
    negative: FloatArray, positive: FloatArray, weights: Sizes
) -> dict[str, FloatArray]:
    """Return recall, specificity, precision, npv and the share flagged at each pair of errors.

    The precision is 1 if nothing is flagged, and the npv if everything is.
    """
    negative = np.asarray(negative, float)
    positive = np.asarray(positive, float)
    share = weights[1] / (weights[0] + weights[1])
    true_positives = share * (1.0 - positive)
    false_positives = (1.0 - share) * negative
    true_negatives = (1.0 - share) * (1.0 - negative)
    flagged = true_positives + false_positives
    rest = true_negatives + share * positive
    return {
        "recall": 1.0 - positive,
        "specificity": 1.0 - negative,
        "precision": _divide(true_positives, flagged),
        "npv": _divide(true_negatives, rest),
        "flagged": flagged,
    }


def _divide(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the shares, 1 of nothing."""
    return np.divide(part, whole, out=np.ones_like(part), where=whole > 0)


def missed_by(name: str, floor: float, reached: FloatArray) -> FloatArray:
    """Return the shortfall of a floor, 0 where it is met up to rounding."""
    short = reached - floor if name == "flagged" else floor - reached
    return np.where(short > _ROUNDING, short, 0.0)


def total_shortfall(shortfalls: Mapping[str, FloatArray]) -> FloatArray:
    """Return how far boundaries are from meeting all floors, those that break the cap last."""
    floors = [short for name, short in shortfalls.items() if name != "flagged"]
    total = np.sum(floors, axis=0)
    if "flagged" in shortfalls:
        beyond = shortfalls["flagged"]
        total = total + np.where(beyond > 0.0, _CAP_MISSED + beyond, 0.0)
    return np.asarray(total)


@dataclass(frozen=True)
class Rate(Rule):
    """One rate to maximise, an objective that makes sense beside a floor only."""

    name = "rate"
    maximised = True
    in_percent = True
    monotone = False

    rate: str
    prevalence: float | None = None

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return one minus the rate."""
        # A small error keeps its digits, which one minus a recall would round away.
        if self.rate in ("recall", "specificity"):
            return np.asarray(positive if self.rate == "recall" else negative)
        weights = frequencies(self.prevalence, n_samples)
        return 1.0 - reached_rates(negative, positive, weights)[self.rate]

    @property
    def title(self) -> str:
        """Name of the rate."""
        return METRIC_TITLES[self.rate]

    @property
    def depends_on_prevalence(self) -> bool:
        """Whether the share of positives matters."""
        return self.rate not in ("recall", "specificity")

    def measure(self, negative: FloatArray, positive: FloatArray, prevalence: float) -> FloatArray:
        """Return the rate."""
        return reached_rates(negative, positive, (1.0 - prevalence, prevalence))[self.rate]
