"""What was asked for: floors, a metric or a cost; whether it is met, and how that is said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, floor, log10
from typing import Any

import numpy as np
from scipy.stats import binom

from boundshift._status import Status
from boundshift._words import Sentence, at_least, at_most, claim, number, percent, sure
from boundshift.curves import Claim
from boundshift.report._evidence import Evidence, PairedRows
from boundshift.rules import Cost, Floors, GMean, Rule
from boundshift.rules._floors import Rate, missed_by, reached_rates

_PER = 1000  # decisions whose cost is reported
_DRAWS, _FEW_DRAWS = 2000, 200
_WISHES = {
    "recall": "find at least {share} of {names.positives} (recall)",
    "specificity": "leave at least {share} of {names.negatives} unflagged (specificity)",
    "precision": "be right in at least {share} of the alarms (precision)",
    "npv": "be right in at least {share} of {names.unit} that are not flagged (npv)",
    "flagged": "flag at most {share} of {names.unit}",
}
_OF_CLASS = ("specificity", "recall")


class State(StrEnum):
    """A floor is missed, reached on these rows, or met: shown by a bound or promised.

    A metric or a cost is better or worse than at the model's own threshold, or unsure where the
    difference may be chance.
    """

    MISSED = "missed"
    REACHED = "reached"
    MET = "met"
    BETTER = "better"
    UNSURE = "unsure"
    WORSE = "worse"


# Of floors, the worst first.
WORDS = {State.MISSED: "Missed", State.REACHED: "Not proved", State.MET: "Met"}


def say_cost(value: float) -> str:
    return number(value, ",.0f" if 1000 <= abs(value) < 1e12 else ".4g")


class Aim:
    """The quantity that a rule makes best; of floors, among boundaries that keep them."""

    def __init__(self, evidence: Evidence) -> None:
        rule: Rule = evidence.boundary.rule
        if isinstance(rule, Floors):
            rule = rule.objective
        # Of boundaries that use a capacity, the one that finds the most is best.
        self.is_capacity = isinstance(rule, Rate) and rule.rate == "flagged"
        self.rule = Rate("recall") if self.is_capacity else rule
        self.is_cost, self.share = isinstance(rule, Cost), evidence.prevalence
        self.title = "cost of 1,000 decisions" if self.is_cost else self.rule.title
        self.greater = self.rule.maximised

    def of(self, negative: Any, positive: Any) -> Any:
        """Return it at both error rates."""
        value = self.rule.measure(np.asarray(negative), np.asarray(positive), self.share)
        return _PER * value if self.is_cost else value

    def text(self, value: float) -> str:
        """Return a value in words."""
        if self.is_cost:
            return say_cost(value)
        return percent(value) if self.rule.in_percent else number(value, ".3f")

    def gain(self, rows: PairedRows, confidence: float) -> tuple[float, float]:
        """Return the interval of its difference between two decisions on the same rows."""
        n_draws = _FEW_DRAWS if self.rule.costly else _DRAWS
        return rows.gain_interval(self.of, confidence, n_draws)


@dataclass(frozen=True)
class Floor:
    """A floor or a cap: what was asked for, reached on these rows, and shown by a bound."""

    name: str
    asked: float
    reached: float
    shown: float | None
    where: str
    state: State
    promised: bool = False  # by the choice itself, and not shown by these rows alone


@dataclass(frozen=True)
class Compared:
    """A quantity now and at the model's own threshold, with the interval of the difference."""

    now: float
    before: float
    difference: tuple[float, float] | None  # None for rows in clusters
    may_be_chance: bool
    state: State
    shown: float | None  # its bound, where one is certified
    prices: dict[str, float] | None  # of a cost of each error, as opposed to each row


@dataclass(frozen=True)
class Goal:
    """Whether a rule got what it asked for."""

    state: State
    word: str
    sentence: str
    parts: list[Sentence]
    floors: list[Floor]
    aim: Compared | None = None


def judge_goal(evidence: Evidence) -> Goal | None:
    """Say whether a rule got what it asked for; None for the default rule, which asks for nothing.

    A floor is met where a bound shows it, or the choice itself has promised it.
    """
    boundary, aim = evidence.boundary, Aim(evidence)
    floors = boundary.rule if isinstance(boundary.rule, Floors) else None
    default = boundary.curve.default_rule if floors is None else GMean()
    is_default = isinstance(aim.rule, type(default)) or aim.is_capacity
    if floors is None and is_default and evidence.rows.cost is None:
        return None
    items = [] if floors is None else _judge_floors(floors, evidence)
    best = _compare(aim, evidence)
    wishes = [
        _WISHES[item.name].format(share=f"{100 * item.asked:.6g}%", names=evidence.names)
        for item in items
    ]
    if not (items and is_default):
        wishes.append(f"then {_wish(aim, evidence)}" if items else _wish(aim, evidence))
    wish = " and ".join([", ".join(wishes[:-1]), wishes[-1]] if wishes[1:] else wishes)
    parts = [Sentence(f"Goal: {wish}.")]
    for item in items:
        parts += say_floor(item, evidence.confidence, several=len(items) > 1)
    if floors is None or not is_default:
        parts += _say_best(aim, best, evidence, alone=floors is None)
    state = next((s for s in WORDS if s in [item.state for item in items]), best.state)
    if state != State.MET and boundary.status in (Status.UNMET, Status.NOT_PROMISED):
        message = boundary.message
        if evidence.judged_on != "deciding":
            message = f"On the rows that chose the threshold: {message[0].lower()}{message[1:]}"
        parts.append(Sentence(message))
    if items:
        word = WORDS[state]
    elif best.now == best.before:
        word = "As at the model's own threshold"
    else:
        chance = ", may be chance" if best.may_be_chance else ""
        word = f"{_better(aim, best)} than at the model's own threshold{chance}"
    return Goal(state, word, join(parts), parts, items, best)


def join(parts: list[Sentence]) -> str:
    return " ".join(part.text for part in parts)


def _wish(aim: Aim, evidence: Evidence) -> str:
    rule = aim.rule
    if evidence.rows.cost is not None:
        return "the least cost of wrong decisions, by the cost of each row"
    if isinstance(rule, Cost):
        costs = f"a miss costs {rule.false_negative:g} and a false alarm {rule.false_positive:g}"
        return f"the least cost, where {costs}"
    return f"the greatest {aim.title}" if aim.greater else f"{aim.title} as low as possible"


def keeps(name: str, limit: float, value: float) -> bool:
    """Return whether a rate keeps its floor, or a share its cap."""
    return float(missed_by(name, limit, np.array([value]))[0]) == 0.0


def judge_floor(name: str, asked: float, reached: float, shown: float | None, where: str) -> Floor:
    """Return a floor with its state; without a bound `shown` is None."""
    state = State.REACHED if keeps(name, asked, reached) else State.MISSED
    state = State.MET if shown is not None and keeps(name, asked, shown) else state
    return Floor(name, asked, reached, shown, where, state)


def rates_at(errors: tuple[float, float], share: float) -> dict[str, float]:
    flagged, missed = (np.array([error]) for error in errors)
    rates = reached_rates(flagged, missed, (1 - share, share))
    return {name: float(rate[0]) for name, rate in rates.items()}


def _judge_floors(rule: Floors, evidence: Evidence) -> list[Floor]:
    """Return each floor with what is reached on these rows and what is shown of it."""
    boundary, certificate = evidence.boundary, evidence.shifted
    reached = rates_at(evidence.rows.errors("new"), evidence.prevalence)
    each = certificate.at(1 - (1 - certificate.confidence) / len(rule.asked))
    shown: dict[str, float | None] = dict.fromkeys(reached)
    if certificate.certified:
        rates = ("precision", "npv", "flagged")
        is_fixed = each.method == "clopper-pearson"
        share = evidence.known_share if is_fixed else evidence.prevalence
        shown = {name: each.rate(name, share) for name in rates}
    if evidence.clustered:  # a bet on clusters follows from no counts
        each = evidence.certify_clusters(boundary.threshold, each.confidence)
        reached |= {name: 1 - each.errors[i] for i, name in enumerate(_OF_CLASS)}
    if evidence.certificate.certified:
        shown |= {name: 1 - each.error_bounds[i] for i, name in enumerate(_OF_CLASS)}
    promised = (
        not evidence.tested
        and certificate.certified
        and boundary.status is Status.OPTIMAL
        and boundary.curve.claim is Claim.HIGH_PROBABILITY
    )
    flagged, n = int(evidence.rows.new.sum()), len(evidence.rows.new)
    items = []
    for name, asked in rule.asked.items():
        where, values = evidence.where, (asked, reached[name], shown[name])
        if evidence.clustered and name in _OF_CLASS:
            where += ", averaged over clusters"
        item = judge_floor(name, *values, where)
        if promised and item.state != State.MET:
            item = replace(item, promised=True, state=State.MET)
        # A share flagged may be that of another prevalence, and not be counted.
        if name == "flagged" and abs(item.reached - flagged / n) < 1e-9:
            where += f", {flagged:,} of {n:,} where {int(asked * n + 1e-9):,} were asked for"
            chance = float(binom.sf(flagged - 1, n, asked)) > 1 - evidence.confidence
            if item.state == State.MISSED and chance:  # the cap may be the true share
                where, item = f"{where}, which may be chance", replace(item, state=State.REACHED)
        items.append(replace(item, where=where))
    return items


def say_floor(item: Floor, confidence: float, *, several: bool) -> list[Sentence]:
    """Say whether one floor is met, and its bound."""
    word, together = WORDS[item.state], ""
    if several:
        word = f"{item.name[0].upper()}{item.name[1:]} {word.lower()}"
        together = " in all floors together"
    start = f"{word}: {percent(item.reached)} {item.where}"
    if item.promised:
        bound = f"promised with {sure(confidence)}{together} when the threshold was chosen."
    elif item.shown is None:
        return [Sentence(f"{start}; this share is not certified.")]
    else:
        least, most = f"at least {at_least(item.shown)}", f"at most {at_most(item.shown)}"
        bound = f"{claim(most if item.name == 'flagged' else least, confidence)}{together}."
    return [Sentence(f"{start};"), Sentence(bound, "certified")]


def _compare(aim: Aim, evidence: Evidence) -> Compared:
    """Return the quantity now and before, the interval of the difference, and a bound."""
    rows, confidence, rule = evidence.rows, evidence.confidence, aim.rule
    before, now = (float(aim.of(*rows.errors(which))) for which in ("old", "new"))
    low, high = aim.gain(rows, confidence)
    chance = evidence.clustered or low <= 0 <= high
    state = State.BETTER if (low > 0) == aim.greater else State.WORSE
    if chance or (state == State.BETTER and not evidence.tested):
        state = State.UNSURE
    shown = prices = None
    if rows.cost is None:
        both = evidence.shifted.at(1 - (1 - confidence) / 2).error_bounds
        if evidence.shifted.certified and rule.monotone and sum(both) < 1:
            shown = float(aim.of(*both))
        if isinstance(rule, Cost):
            prices = {"false_positive": rule.false_positive, "false_negative": rule.false_negative}
    difference = None if evidence.clustered else (low, high)
    return Compared(now, before, difference, chance, state, shown, prices)


def _better(aim: Aim, judged: Compared) -> str:
    if judged.now == judged.before:
        return "As before"
    words = ("Lower cost", "Higher cost") if aim.is_cost else ("Better", "Worse")
    return words[(judged.now > judged.before) != aim.greater]


def _say_best(aim: Aim, judged: Compared, evidence: Evidence, *, alone: bool) -> list[Sentence]:
    """Say what is reached, its bound, and how far it is from the model's own threshold."""
    now, before = aim.text(judged.now), aim.text(judged.before)
    told = _better(aim, judged) if alone else f"{aim.title[0].upper()}{aim.title[1:]}"
    told += f": 1,000 decisions cost {now}" if aim.is_cost and alone else f": {now}"
    change = "as" if now == before else f"instead of {before}"
    told = f"{told} {evidence.where} {change} at the model's own threshold"
    parts = [Sentence(f"{told}.")]
    if judged.shown is not None:
        among = f", where {percent(aim.share)} are {evidence.names.positives},"
        given = among if aim.rule.depends_on_prevalence else ""
        bound = claim(_bound(aim, judged.shown), evidence.confidence, given)
        parts = [Sentence(f"{told};"), Sentence(f"{bound}.", "certified")]
    if now == before:
        return parts
    if judged.difference is None:
        parts.append(Sentence("Rows of one cluster are alike, so the difference may be chance."))
    elif evidence.tested:
        low, high = (aim.text(end) for end in judged.difference)
        how = f"{100 * evidence.confidence:.6g}%, by resampling"
        chance = ", so it may be chance" if judged.may_be_chance else ""
        parts.append(Sentence(f"The difference lies between {low} and {high} ({how}){chance}."))
    return parts


def _bound(aim: Aim, shown: float) -> str:
    """Return a bound, rounded so that it still bounds: to four digits or three decimals."""
    step = 10.0 ** (floor(log10(shown)) - 3) if aim.is_cost and shown > 0 else 0.001
    if aim.greater:
        return f"at least {aim.text(floor(shown / step + 1e-9) * step)}"
    return f"at most {aim.text(ceil(shown / step - 1e-9) * step)}"
