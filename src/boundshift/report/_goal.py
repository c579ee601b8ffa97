"""What was asked for: floors, a metric or a cost; whether it is met, and how that is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, floor, log10
from typing import Any

import numpy as np
from scipy.stats import binom

from boundshift._promises.certificate import Certificate
from boundshift._promises.certify import certify
from boundshift._promises.comparison import compare_boundaries
from boundshift._status import Status
from boundshift._typing import BoolArray, FloatArray
from boundshift._words import (
    Sentence,
    at_least,
    at_most,
    claim,
    number,
    percent,
    sure,
)
from boundshift.curves import Claim
from boundshift.report._evidence import Evidence
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


def _amount(value: float) -> str:
    return number(value, ",.0f" if 1000 <= abs(value) < 1e12 else ".4g")


@dataclass(frozen=True)
class Aim:
    """The quantity that a rule makes best, from both error rates and the share of positives."""

    title: str
    measure: Callable[[FloatArray, FloatArray, float], FloatArray]
    wish: str
    greater: bool
    """Whether more of it is better."""
    text: Callable[[float], str]
    by_share: bool
    """Whether it depends on the share of positives."""
    monotone: bool
    """Whether it gets worse with each error rate, so that bounds of both bound it."""
    amounts: bool
    """Whether it is the cost of 1,000 decisions."""


def _is_capacity(rule: Rule) -> bool:
    return isinstance(rule, Rate) and rule.rate == "flagged"


def aim_of(rule: Rule) -> Aim:
    """Return what a rule makes best; of floors, what is best among boundaries that keep them."""
    if isinstance(rule, Floors):
        # Of boundaries that use a capacity, the one that finds the most is best.
        return aim_of(Rate("recall") if _is_capacity(rule.objective) else rule.objective)
    factor, title, text = 1, rule.title, percent if rule.in_percent else _decimals
    wish = f"the greatest {title}" if rule.maximised else f"{title} as low as possible"
    if isinstance(rule, Cost):
        miss, alarm = rule.false_negative, rule.false_positive
        wish = f"the least cost, where a miss costs {miss:g} and a false alarm {alarm:g}"
        factor, title, text = _PER, "cost of 1,000 decisions", _amount
    return Aim(
        title,
        lambda u, v, share: factor * rule.measure(u, v, share),
        wish,
        greater=rule.maximised,
        text=text,
        by_share=rule.depends_on_prevalence,
        monotone=rule.monotone,
        amounts=isinstance(rule, Cost),
    )


def _decimals(value: float) -> str:
    return number(value, ".3f")


@dataclass(frozen=True)
class Floor:
    """A floor or a cap: what was asked for, reached on these rows, and shown by a bound."""

    name: str
    asked: float
    reached: float
    shown: float | None
    promised: bool
    """By the choice itself, and not shown by these rows alone."""
    state: State


@dataclass(frozen=True)
class Compared:
    """A quantity now and at the model's own threshold, with the interval of the difference."""

    title: str
    now: float
    before: float
    difference: tuple[float, float] | None
    """None for rows in clusters, which are not independent."""
    state: State
    shown: float | None
    """Its bound, where one is certified."""
    prices: dict[str, float] | None
    """Of a cost of each error, as opposed to each row."""

    @property
    def may_be_chance(self) -> bool:
        """Whether no interval of the difference excludes 0."""
        return self.difference is None or self.difference[0] <= 0 <= self.difference[1]


@dataclass(frozen=True)
class Goal:
    """Whether a rule got what it asked for."""

    state: State
    word: str
    sentence: str
    parts: list[Sentence]
    floors: list[Floor]
    aim: Compared


def judge_goal(evidence: Evidence) -> Goal | None:
    """Say whether a rule got what it asked for; None for the default rule, which asks for nothing.

    A floor is met where a bound shows it, or the choice itself has promised it.
    """
    boundary, rows = evidence.boundary, evidence.rows
    floors = boundary.rule if isinstance(boundary.rule, Floors) else None
    objective = boundary.rule if floors is None else floors.objective
    default = GMean() if floors is not None else boundary.curve.default_rule
    is_default = isinstance(objective, type(default)) or _is_capacity(objective)
    if floors is None and is_default and rows.amount is None:
        return None
    items = [] if floors is None else _judge_floors(floors, evidence)
    aim = aim_of(objective)
    if not rows.shares:
        column = evidence.details.column
        by = f"by column '{column}'" if column else "by the cost of each row"
        aim = replace(aim, wish=f"the least cost of wrong decisions, {by}")
    best = _compare(aim, objective, evidence)
    state = next((s for s in WORDS if s in [item.state for item in items]), best.state)
    parts = [Sentence(f"Goal: {_wish(aim, items, evidence, is_default)}.")]
    for item in items:
        several = len(items) > 1
        parts += say_floor(item, _where(item, evidence), evidence.confidence, several=several)
    if floors is None or not is_default:
        parts += _say_best(aim, best, evidence, alone=floors is None)
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
    return Goal(state, word, " ".join(part.text for part in parts), parts, items, best)


def _wish(aim: Aim, items: list[Floor], evidence: Evidence, is_default: bool) -> str:
    """Return what was asked for: floors, then what is best, and how rows are counted."""
    wishes = [
        _WISHES[item.name].format(share=f"{100 * item.asked:.6g}%", names=evidence.names)
        for item in items
    ]
    if not (items and is_default):
        wishes.append(f"then {aim.wish}" if items else aim.wish)
    wish = " and ".join([", ".join(wishes[:-1]), wishes[-1]] if wishes[1:] else wishes)
    if evidence.rows.amount is None or not evidence.rows.shares:
        return wish
    column = evidence.details.column
    by = f"its weight in column '{column}'" if column else "its weight"
    return f"{wish}, each row counted by {by}"


def keeps(name: str, limit: float, value: float) -> bool:
    """Return whether a rate keeps its floor, or a share its cap."""
    return float(missed_by(name, limit, np.array([value]))[0]) == 0.0


def _reached(errors: tuple[float, float], share: float) -> dict[str, float]:
    flagged, missed = (np.array([error]) for error in errors)
    rates = reached_rates(flagged, missed, (1 - share, share))
    return {name: float(rate[0]) for name, rate in rates.items()}


def bound_rate(certificate: Certificate, name: str, share: float, **prices: float) -> float:
    """Return a bound that holds together with those of the other rates, as the page has them."""
    # A rate needs two bounds: of the three of false alarms, misses and hits that hold together.
    level = 1 - 2 / 3 * (1 - certificate.confidence)
    return certificate.at(level).rate(name, share, **prices)


def keeps_all(rule: Floors, errors: tuple[float, float], share: float) -> bool:
    """Return whether error rates keep all floors."""
    rates = _reached(errors, share)
    return all(keeps(name, asked, rates[name]) for name, asked in rule.asked.items())


def _judge_floors(rule: Floors, evidence: Evidence) -> list[Floor]:
    """Return each floor with what is reached on these rows and what is shown of it."""
    boundary, certificate = evidence.boundary, evidence.shifted
    prevalence = evidence.weighted_prevalence
    # Weighted rates have no bound.
    certified = certificate.certified and evidence.rows.amount is None
    rates = _reached(evidence.rows.errors("new"), prevalence)
    each = certificate.at(1 - (1 - certificate.confidence) / len(rule.asked))
    shown = {
        "recall": 1 - each.error_bounds[1],
        "specificity": 1 - each.error_bounds[0],
        **{name: bound_rate(each, name, prevalence) for name in ("precision", "npv", "flagged")},
    }
    bounded = dict.fromkeys(shown, certified)
    if evidence.clustered is not None:  # a bet on clusters follows from no counts
        known: dict[str, Any] = {"cluster": evidence.details.cluster, "confidence": each.confidence}
        rows = evidence.rows.is_positive, evidence.scores
        each = certify(*rows, boundary.threshold, pos_label=True, **known)
        for i, name in enumerate(_OF_CLASS):
            rates[name], shown[name] = 1 - each.errors[i], 1 - each.error_bounds[i]
            bounded[name] = each.certified
    promised = (
        not evidence.tested
        and certified
        and boundary.status is Status.OPTIMAL
        and boundary.curve.claim is Claim.HIGH_PROBABILITY
    )
    items = []
    for name, asked in rule.asked.items():
        met = bounded[name] and keeps(name, asked, shown[name])
        kept = keeps(name, asked, rates[name])
        if name == "flagged" and _is_counted(rates[name], evidence):
            kept = kept or _may_be_chance(evidence.rows.new, asked, evidence.confidence)
        state = State.REACHED if kept else State.MISSED
        state = State.MET if met or promised else state
        bound = shown[name] if bounded[name] else None
        items.append(Floor(name, asked, rates[name], bound, promised and not met, state))
    return items


def _is_counted(share: float, evidence: Evidence) -> bool:
    """Return whether a share flagged is that of these rows, not of another prevalence."""
    return evidence.rows.amount is None and abs(share - float(np.mean(evidence.rows.new))) < 1e-9


def _may_be_chance(flagged: BoolArray, share: float, confidence: float) -> bool:
    """Return whether chance alone may flag so many rows where the cap is the true share."""
    return bool(binom.sf(flagged.sum() - 1, len(flagged), share) > 1 - confidence)


def _where(item: Floor, evidence: Evidence) -> str:
    """Return which rows were counted, and for a capacity how many were flagged."""
    flagged = evidence.rows.new
    if evidence.clustered is not None and item.name in _OF_CLASS:
        return f"{evidence.where}, averaged over clusters"
    if item.name != "flagged" or not _is_counted(item.reached, evidence):
        return evidence.where
    asked = int(item.asked * len(flagged) + 1e-9)
    told = f"{evidence.where}, {flagged.sum():,} of {len(flagged):,} where {asked:,} were asked for"
    chance = item.state == State.REACHED and item.reached > item.asked
    return f"{told}, which may be chance" if chance else told


def say_floor(item: Floor, where: str, confidence: float, *, several: bool) -> list[Sentence]:
    """Say whether one floor is met, and its bound."""
    word, together = WORDS[item.state], ""
    if several:
        word = f"{item.name[0].upper()}{item.name[1:]} {word.lower()}"
        together = " in all floors together"
    start = f"{word}: {percent(item.reached)} {where}"
    if item.promised:
        promise = f"promised with {sure(confidence)}{together} when the threshold was chosen."
        return [Sentence(f"{start};"), Sentence(promise, "certified")]
    if item.shown is None:
        return [Sentence(f"{start}; this share is not certified.")]
    bound = f"at least {at_least(item.shown)}"
    if item.name == "flagged":
        bound = f"at most {at_most(item.shown)}"
    bound = f"{claim(bound, confidence)}{together}."
    return [Sentence(f"{start};"), Sentence(bound, "certified")]


def _compare(aim: Aim, rule: Rule, evidence: Evidence) -> Compared:
    """Return the quantity now and before, the interval of the difference, and a bound."""
    rows, certificate = evidence.rows, evidence.shifted
    confidence, share = evidence.confidence, evidence.weighted_prevalence

    def measure(negative: Any, positive: Any) -> Any:
        return aim.measure(np.asarray(negative), np.asarray(positive), share)

    prices, shown = None, None
    difference: tuple[float, float] | None
    bounded = certificate.certified and rows.amount is None
    if isinstance(rule, Cost) and rows.amount is None:
        prices = {"false_positive": rule.false_positive, "false_negative": rule.false_negative}
        decided = (rows.old.astype(float), 0.5, rows.new.astype(float), 0.5)
        cost = Cost(**prices, prevalence=share)
        paired = compare_boundaries(rows.is_positive, *decided, confidence, cost=cost)
        low, high = paired.cost_interval
        difference = _PER * low, _PER * high
        if bounded:
            shown = _PER * bound_rate(certificate, "cost", share, **prices)
    else:
        n_draws = _FEW_DRAWS if rule.costly else _DRAWS
        difference = rows.gain_interval(measure, confidence, n_draws)
        both = certificate.at(1 - (1 - confidence) / 2).error_bounds
        if bounded and aim.monotone and sum(both) < 1:
            shown = float(measure(*both))
    before, now = (float(measure(*rows.errors(which))) for which in ("old", "new"))
    state = State.BETTER if (difference[0] > 0) == aim.greater else State.WORSE
    if evidence.clustered is not None:
        difference = None
    found = Compared(aim.title, now, before, difference, state, shown, prices)
    flattered = state == State.BETTER and not evidence.tested
    return replace(found, state=State.UNSURE) if found.may_be_chance or flattered else found


def _better(aim: Aim, judged: Compared) -> str:
    if judged.now == judged.before:
        return "As before"
    words = ("Lower cost", "Higher cost") if aim.amounts else ("Better", "Worse")
    return words[(judged.now > judged.before) != aim.greater]


def _say_best(aim: Aim, judged: Compared, evidence: Evidence, *, alone: bool) -> list[Sentence]:
    """Say what is reached, its bound, and how far it is from the model's own threshold."""
    now, before = aim.text(judged.now), aim.text(judged.before)
    told = f"{_better(aim, judged) if alone else aim.title[0].upper() + aim.title[1:]}: {now}"
    if aim.amounts:
        told = f"{f'{_better(aim, judged)}: ' if alone else ''}1,000 decisions cost {now}"
    change = "as" if now == before else f"instead of {before}"
    told = f"{told} {evidence.where} {change} at the model's own threshold"
    parts = [Sentence(f"{told}.")]
    if judged.shown is not None:
        among = f"{percent(evidence.weighted_prevalence)} are {evidence.names.positives}"
        given = f", where {among}," if aim.by_share else ""
        bound = claim(_bound(aim, judged.shown), evidence.confidence, given)
        parts = [Sentence(f"{told};"), Sentence(f"{bound}.", "certified")]
    if judged.difference is None and now != before:
        parts.append(Sentence("Rows of one cluster are alike, so the difference may be chance."))
    elif judged.difference is not None and now != before and evidence.tested:
        low, high = (aim.text(end) for end in judged.difference)
        how = f"{100 * evidence.confidence:.6g}%{'' if judged.prices else ', by resampling'}"
        chance = ", so it may be chance" if judged.may_be_chance else ""
        parts.append(Sentence(f"The difference lies between {low} and {high} ({how}){chance}."))
    return parts


def _bound(aim: Aim, shown: float) -> str:
    """Return a bound, rounded so that it still bounds: to four digits or three decimals."""
    step = 10.0 ** (floor(log10(shown)) - 3) if aim.amounts and shown > 0 else 0.001
    if aim.greater:
        return f"at least {aim.text(floor(shown / step + 1e-9) * step)}"
    return f"at most {aim.text(ceil(shown / step - 1e-9) * step)}"
