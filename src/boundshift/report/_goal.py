"""What was asked for: floors, a metric or a cost; what is reached, and what a bound shows of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from scipy.stats import binom

from boundshift._guarantees.certificate import Certificate
from boundshift._status import Status
from boundshift._typing import FloatArray
from boundshift._words import number, percent
from boundshift.curves import Claim
from boundshift.report._evidence import Evidence
from boundshift.rules import Cost, GMean, Rule
from boundshift.rules._floors import Rate, missed_by, reached_rates

PER = 1000
"""Decisions whose cost is reported."""
OF_CLASS = ("specificity", "recall")
"""Rates of the rows of one class."""
_DRAWS = 2000
_FEW_DRAWS = 200


class State(StrEnum):
    """How far a goal is reached.

    A floor is missed, reached on these rows, or met: shown by a bound, or guaranteed when the
    threshold was chosen. A metric or a cost is better or worse than at the model's own threshold,
    unsure where the difference may be chance, and alone where the own threshold is not known.
    """

    MISSED = "missed"
    REACHED = "reached"
    MET = "met"
    BETTER = "better"
    UNSURE = "unsure"
    WORSE = "worse"
    ALONE = "alone"


# Of floors, the worst first.
_FLOOR_STATES = (State.MISSED, State.REACHED, State.MET)


def goal_rule(rule: Rule) -> Rule:
    """Return the rule whose measure is to be made best, among thresholds that keep floors."""
    objective = rule.objective
    # Of thresholds that use a capacity, the one that finds the most is best.
    return Rate("recall") if _is_capacity(objective) else objective


def _is_capacity(objective: Rule) -> bool:
    return isinstance(objective, Rate) and objective.rate == "flagged"


class Aim:
    """The quantity that a rule makes best; with floors, among thresholds that keep them."""

    def __init__(self, evidence: Evidence) -> None:
        rule: Rule = evidence.boundary.rule
        self.asked = rule.asked
        self.is_capacity = _is_capacity(rule.objective)
        self.rule = goal_rule(rule)
        self.is_cost = isinstance(self.rule, Cost)
        self.prevalence = evidence.prevalence
        self.title = "cost of 1,000 decisions" if self.is_cost else self.rule.title
        self.is_maximised = self.rule.maximised
        self.n_draws = _FEW_DRAWS if self.rule.costly else _DRAWS

    def of(self, negative: FloatArray, positive: FloatArray) -> FloatArray:
        """Return it at both error rates."""
        value = np.asarray(self.rule.measure(negative, positive, self.prevalence))
        return PER * value if self.is_cost else value

    def at(self, errors: tuple[float, float]) -> float:
        """Return it at one pair of error rates."""
        return float(self.of(np.asarray(errors[0]), np.asarray(errors[1])))

    def is_better(self, value: float, other: float) -> bool:
        """Return whether one value is better than another."""
        return value > other if self.is_maximised else value < other

    def text(self, value: float) -> str:
        """Return a value as it is written."""
        if self.is_cost:
            return cost_text(value)
        return percent(value) if self.rule.in_percent else number(value, ".3f")


def cost_text(value: float) -> str:
    """Return an amount as it is written."""
    return number(value, ",.0f" if 1000 <= abs(value) < 1e12 else ".4g")


class Budget(NamedTuple):
    """How many rows a cap allows, and how many are flagged."""

    flagged: int
    allowed: int
    n_rows: int


@dataclass(frozen=True)
class Floor:
    """A floor or a cap: what was asked for, reached on these rows, and shown by a bound."""

    name: str
    asked: float
    reached: float
    shown: float | None
    state: State
    is_guaranteed: bool = False  # by the choice itself, and not shown by these rows alone
    budget: Budget | None = None  # of a cap that can be counted

    @property
    def is_exceeded(self) -> bool:
        """Whether a cap is exceeded on these rows, be it by chance."""
        return self.name == "flagged" and not keeps(self.name, self.asked, self.reached)


@dataclass(frozen=True)
class Reached:
    """What a rule makes best: here, at the model's own threshold, and as a bound shows it."""

    now: float
    before: float | None  # None if the own threshold is not known
    difference: tuple[float, float] | None  # None for rows in clusters, too
    state: State
    shown: float | None  # its bound, where one is certified
    prices: dict[str, float] | None  # of a cost of each error, as opposed to each row


@dataclass(frozen=True)
class Goal:
    """Whether a rule got what it asked for."""

    state: State
    floors: list[Floor]
    aim: Reached
    is_asked: bool  # whether the aim is part of what was asked for
    is_unmet: bool = False  # whether the choice of the threshold fell short or is no guarantee


def judge_goal(evidence: Evidence) -> Goal | None:
    """Return what a rule got of what it asked for; None for the default rule."""
    boundary = evidence.boundary
    aim = Aim(evidence)
    default = GMean() if aim.asked else boundary.curve.default_rule
    is_default = isinstance(aim.rule, type(default)) or aim.is_capacity
    if not aim.asked and is_default and evidence.rows.cost is None:
        return None
    floors = _judge_floors(boundary.rule, evidence) if aim.asked else []
    reached = _judge_aim(aim, evidence)
    state = worst_of(floors) or reached.state
    is_unmet = boundary.status in (Status.UNMET, Status.NOT_GUARANTEED)
    is_asked = not aim.asked or not is_default
    return Goal(state, floors, reached, is_asked, is_unmet and state != State.MET)


def worst_of(floors: list[Floor]) -> State | None:
    """Return the state of the floor that is worst off, None without floors."""
    states = [floor.state for floor in floors]
    return next((state for state in _FLOOR_STATES if state in states), None)


def keeps(name: str, limit: float, value: float) -> bool:
    """Return whether a rate keeps its floor, or a share its cap."""
    return float(missed_by(name, limit, np.array([value]))[0]) == 0.0


def judge_floor(name: str, asked: float, reached: float, shown: float | None) -> Floor:
    """Return a floor with its state; without a bound `shown` is None."""
    state = State.REACHED if keeps(name, asked, reached) else State.MISSED
    if shown is not None and keeps(name, asked, shown):
        state = State.MET
    return Floor(name, asked, reached, shown, state)


def rates_at(errors: tuple[float, float], prevalence: float) -> dict[str, float]:
    """Return recall, specificity, precision, npv and the share flagged at both error rates."""
    negative, positive = (np.array([error]) for error in errors)
    rates = reached_rates(negative, positive, (1 - prevalence, prevalence))
    return {name: float(rate[0]) for name, rate in rates.items()}


def _judge_floors(rule: Rule, evidence: Evidence) -> list[Floor]:
    """Return each floor with what is reached on these rows and what is shown of it."""
    reached = rates_at(evidence.rows.errors(), evidence.prevalence)
    # A budget beside floors is counted, and takes no part of the risk.
    guarantees = rule.guarantees(1 - evidence.confidence)
    confidence = 1 - guarantees[0].delta
    guaranteed = {guarantee.rate for guarantee in guarantees}
    if evidence.is_clustered:  # a bet on clusters follows from no counts
        claimed = evidence.certify_clusters(evidence.boundary.threshold, confidence)
        reached |= {name: 1 - claimed.errors[i] for i, name in enumerate(OF_CLASS)}
    else:
        claimed = evidence.by_row.at(confidence)
    shown = _shown_rates(claimed, evidence)
    floors = []
    for name, asked in rule.asked.items():
        bound = shown.get(name) if name in guaranteed else None
        floor = judge_floor(name, asked, reached[name], bound)
        if name == "flagged":
            floor = _count_budget(floor, evidence)
        if name in guaranteed and _is_guaranteed(evidence) and floor.state == State.REACHED:
            floor = replace(floor, is_guaranteed=True, state=State.MET)
        floors.append(floor)
    return floors


def _shown_rates(claimed: Certificate, evidence: Evidence) -> dict[str, float]:
    """Return the bounds that are certified, by the name of the rate."""
    if not evidence.certificate.certified:
        return {}
    shown = {name: 1 - claimed.error_bounds[i] for i, name in enumerate(OF_CLASS)}
    if evidence.is_clustered:
        return shown
    is_fixed = claimed.method == "clopper-pearson"
    prevalence = evidence.known_prevalence if is_fixed else evidence.prevalence
    return shown | {
        name: claimed.rate(name, prevalence) for name in ("precision", "npv", "flagged")
    }


def _is_guaranteed(evidence: Evidence) -> bool:
    """Return whether floors hold by the rows that chose the threshold."""
    boundary = evidence.boundary
    return (evidence.is_tested and boundary.guaranteed is True) or (
        evidence.judged_on == "deciding"
        and evidence.by_row.certified
        and boundary.status is Status.OPTIMAL
        and boundary.curve.claim is Claim.HIGH_PROBABILITY
    )


def _count_budget(cap: Floor, evidence: Evidence) -> Floor:
    """Return a cap with its rows; one that is exceeded by no more than chance is not missed."""
    flagged = int(evidence.rows.flagged.sum())
    n_rows = len(evidence.rows.flagged)
    # A share flagged may be that of another prevalence, and not be counted.
    if abs(cap.reached - flagged / n_rows) >= 1e-9:
        return cap
    cap = replace(cap, budget=Budget(flagged, int(cap.asked * n_rows + 1e-9), n_rows))
    is_chance = float(binom.sf(flagged - 1, n_rows, cap.asked)) > 1 - evidence.confidence
    if cap.state == State.MISSED and is_chance:
        return replace(cap, state=State.REACHED)
    return cap


def _judge_aim(aim: Aim, evidence: Evidence) -> Reached:
    """Return the quantity now and before, the interval of the difference, and a bound."""
    rows = evidence.rows
    now = aim.at(rows.errors())
    own = evidence.own_decisions
    before = None if own is None else aim.at(rows.errors(own))
    difference = None
    if own is not None and not evidence.is_clustered:
        difference = rows.interval(aim.of, evidence.confidence, aim.n_draws, own)
    shown = None
    if evidence.by_row.certified and rows.cost is None and aim.rule.monotone:
        bounds = evidence.by_row.at(1 - (1 - evidence.confidence) / 2).error_bounds
        shown = aim.at((bounds[0], bounds[1])) if sum(bounds) < 1 else None
    prices = None
    if isinstance(aim.rule, Cost) and rows.cost is None:
        prices = {
            "false_positive": aim.rule.false_positive,
            "false_negative": aim.rule.false_negative,
        }
    state = _compare_with_own(aim, now, before, difference, evidence)
    return Reached(now, before, difference, state, shown, prices)


def _compare_with_own(
    aim: Aim,
    now: float,
    before: float | None,
    difference: tuple[float, float] | None,
    evidence: Evidence,
) -> State:
    if before is None:
        return State.ALONE
    if difference is None or difference[0] <= 0 <= difference[1]:
        return State.UNSURE
    if not aim.is_better(now, before):
        return State.WORSE
    # Rows that chose the threshold flatter it.
    return State.BETTER if evidence.is_tested else State.UNSURE


def keeps_floors(aim: Aim, errors: tuple[float, float]) -> bool:
    """Return whether both error rates keep every floor of an aim."""
    rates = rates_at(errors, aim.prevalence)
    return all(keeps(name, limit, rates[name]) for name, limit in aim.asked.items())
