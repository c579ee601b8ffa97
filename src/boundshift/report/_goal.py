"""What was asked for: floors, a metric or a cost; whether it is met, and how that is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, floor, log10
from typing import Any

import numpy as np

from boundshift._promises.comparison import compare_boundaries
from boundshift._status import Status
from boundshift._typing import FloatArray
from boundshift._words import (
    METRIC_TITLES,
    Names,
    Sentence,
    at_least,
    at_most,
    claim,
    number,
    percent,
    sure,
)
from boundshift.curves import Claim
from boundshift.metrics import metrics_of_errors
from boundshift.report._evidence import Evidence, JudgedOn
from boundshift.rules import Cost, FBeta, Floors, GMean, Metric, Minimax, Rule, Sum
from boundshift.rules._floors import Rate, missed_by, reached_rates

_PER = 1000  # decisions whose cost is reported
_DRAWS, _FEW_DRAWS = 2000, 200
# Metrics of both error rates, and whether they depend on the share of positives.
_BY_SHARE = dict.fromkeys(("mcc", "kappa", "markedness"), True)
_BY_SHARE |= dict.fromkeys(("g_mean", "balanced_accuracy", "youden"), False)


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
_WORDS = {State.MISSED: "Missed", State.REACHED: "Not proved", State.MET: "Met"}


def _amount(value: float) -> str:
    return number(value, ",.0f" if 1000 <= abs(value) < 1e12 else ".4g")


def _three_digits(value: float) -> str:
    return number(value, ".3f")


Measure = Callable[[FloatArray, FloatArray, float], FloatArray]


@dataclass(frozen=True)
class Aim:
    """The quantity that a rule makes best."""

    title: str
    measure: Measure
    """The number, from both error rates (negative, positive) and the share of positives."""
    wish: str = ""
    greater: bool = True
    """Whether more of it is better."""
    text: Callable[[float], str] = _three_digits
    by_share: bool = True
    """Whether it depends on the share of positives."""
    amounts: bool = False
    """Whether it is the cost of 1,000 decisions."""
    monotone: bool = True
    """Whether it gets worse with each error rate, so that bounds of both bound it."""
    slow: bool = False

    def __post_init__(self) -> None:
        if not self.wish:
            best = "greatest" if self.greater else "least"
            object.__setattr__(self, "wish", f"the {best} {self.title}")


def aim_of(rule: Rule) -> Aim:
    """Return what a rule makes best; of floors, what is best among boundaries that keep them."""
    if isinstance(rule, Floors):
        return aim_of(rule.objective)
    if isinstance(rule, Cost):
        miss, alarm = rule.false_negative, rule.false_positive
        return Aim(
            "cost of 1,000 decisions",
            lambda u, v, share: _PER * (alarm * (1 - share) * u + miss * share * v),
            wish=f"the least cost, where a miss costs {miss:g} and a false alarm {alarm:g}",
            greater=False,
            text=_amount,
            amounts=True,
        )
    if isinstance(rule, Minimax):
        title = "the larger of the two error rates"
        wish, worse = f"{title} as low as possible", lambda u, v, share: np.maximum(u, v)
        return Aim(title, worse, wish, greater=False, text=percent, by_share=False)
    if isinstance(rule, Rate):  # their bounds stand in the verdict
        name = rule.rate
        return Aim(
            METRIC_TITLES.get(name, name),
            lambda u, v, share: reached_rates(u, v, (1 - share, share))[name],
            text=percent,
            monotone=False,
        )
    plain: Any = rule
    if hasattr(rule, "prevalence"):
        plain = replace(plain, prevalence=None)

    def value(sign: float) -> Measure:
        return lambda u, v, share: sign * plain.value(u, v, (1 - share, share))

    if isinstance(rule, FBeta):
        return Aim(f"F{rule.beta:g}", value(-1))
    key = "g_mean" if isinstance(rule, GMean) else rule.name
    key = "balanced_accuracy" if isinstance(rule, Sum) else key
    if key in _BY_SHARE:
        return Aim(
            METRIC_TITLES[key],
            lambda u, v, share: metrics_of_errors(u, v, (1 - share, share))[key],
            by_share=_BY_SHARE[key],
        )
    if not isinstance(rule, Metric):
        title = f"“{rule.name}”"
        wish = f"the least value of the rule {title}"
        return Aim(title, value(1), wish, greater=False, monotone=False, slow=rule.costly)
    given: Any = rule.metric
    function = getattr(given, "_score_func", given)
    name = given if isinstance(given, str) else getattr(function, "__name__", "metric")
    title = str(name).removesuffix("_score").replace("_", " ")
    _, sign = rule.resolve()  # a scorer knows better than the argument
    return Aim(title, value(-sign), greater=sign > 0, monotone=False, slow=True)


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
    difference: tuple[float, float]
    state: State
    shown: float | None
    """Its bound, where one is certified."""
    prices: dict[str, float] | None
    """Of a cost of each error, as opposed to each row."""


@dataclass(frozen=True)
class Goal:
    """Whether a rule got what it asked for."""

    wish: str
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
    wanted = floors is None or not isinstance(objective, type(default))
    if floors is None and isinstance(objective, type(default)) and rows.amount is None:
        return None
    items = [] if floors is None else _judge_floors(floors, evidence)
    aim, column = aim_of(objective), evidence.details.column
    if not rows.shares:
        by = f"by column '{column}'" if column else "by the cost of each row"
        aim = replace(aim, wish=f"the least cost of wrong decisions, {by}")
    best = _compare(aim, objective, evidence)
    state = next((s for s in _WORDS if s in [item.state for item in items]), best.state)
    wishes = [_wish_for(item, evidence.names) for item in items]
    if wanted:
        wishes.append(aim.wish if floors is None else f"then {aim.wish}")
    wish = " and ".join([", ".join(wishes[:-1]), wishes[-1]] if wishes[1:] else wishes)
    if rows.amount is not None and rows.shares:
        by = f"its weight in column '{column}'" if column else "its weight"
        wish = f"{wish}, each row counted by {by}"
    parts = [Sentence(f"Goal: {wish}.")]
    for item in items:
        parts += _say_floor(item, evidence, several=len(items) > 1)
    if wanted:
        parts += _say_best(aim, best, evidence, alone=floors is None)
    if state != State.MET and boundary.status in (Status.UNMET, Status.NOT_PROMISED):
        message = boundary.message
        if evidence.judged_on == JudgedOn.TEST:
            message = f"On the rows that chose the threshold: {message[0].lower()}{message[1:]}"
        parts.append(Sentence(message))
    if items:
        word = _WORDS[state]
    elif best.now == best.before:
        word = "As at the model's own threshold"
    else:
        chance = ", may be chance" if _may_be_chance(best.difference) else ""
        word = f"{_better(aim, best)} than at the model's own threshold{chance}"
    told = " ".join(part.text for part in parts)
    return Goal(wish, state, word, told, parts, items, best)


def _keeps(name: str, limit: float, value: float) -> bool:
    return float(missed_by(name, limit, np.array([value]))[0]) == 0.0


def _reached(errors: tuple[float, float], share: float) -> dict[str, float]:
    flagged, missed = (np.array([error]) for error in errors)
    rates = reached_rates(flagged, missed, (1 - share, share))
    return {name: float(rate[0]) for name, rate in rates.items()}


def keeps_all(rule: Floors, errors: tuple[float, float], share: float) -> bool:
    """Return whether error rates keep all floors."""
    rates = _reached(errors, share)
    return all(_keeps(name, asked, rates[name]) for name, asked in rule.asked.items())


def _judge_floors(rule: Floors, evidence: Evidence) -> list[Floor]:
    """Return each floor with what is reached on these rows and what is shown of it."""
    boundary, certificate = evidence.boundary, evidence.shifted
    weighted, prevalence = evidence.rows.amount is not None, evidence.weighted_prevalence
    certified = certificate.certified and not weighted  # weighted rates have no bound
    rates = _reached(evidence.rows.errors("new"), prevalence)
    each = certificate.at(1 - (1 - certificate.confidence) / len(rule.asked))
    bounds = each.rates(prevalence)
    shown = {
        "recall": 1 - each.error_bounds[1],
        "specificity": 1 - each.error_bounds[0],
        "precision": bounds.precision,
        "npv": bounds.npv,
        "flagged": bounds.flagged,
    }
    promised = (
        evidence.judged_on == JudgedOn.DECIDING
        and certified
        and boundary.status is Status.OPTIMAL
        and boundary.curve.claim is Claim.HIGH_PROBABILITY
    )
    items = []
    for name, asked in rule.asked.items():
        met = certified and _keeps(name, asked, shown[name])
        state = State.REACHED if _keeps(name, asked, rates[name]) else State.MISSED
        state = State.MET if met or promised else state
        bound = shown[name] if certified else None
        items.append(Floor(name, asked, rates[name], bound, promised and not met, state))
    return items


def _wish_for(item: Floor, names: Names) -> str:
    share = f"{100 * item.asked:.6g}%"
    return {
        "recall": f"find at least {share} of {names.positives}",
        "specificity": f"leave at least {share} of {names.negatives} alone",
        "precision": f"be right in at least {share} of the alarms",
        "npv": f"be right in at least {share} of {names.unit} that are not flagged",
        "flagged": f"flag at most {share} of {names.unit}",
    }[item.name]


def _say_floor(item: Floor, evidence: Evidence, *, several: bool) -> list[Sentence]:
    """Say whether one floor is met, and by how much."""
    word, together = _WORDS[item.state], ""
    if several:
        word = f"{item.name.capitalize()}: {word.lower()}"
        together = " in all floors together"
    start = f"{word}: {percent(item.reached)} {evidence.where}"
    if item.promised:
        promise = f"promised with {sure(evidence.confidence)}{together}"
        promise = f"{promise} when the threshold was chosen."
        return [Sentence(f"{start};"), Sentence(promise, "certified")]
    short = f"{start}, {_points(item.asked, item.reached, percent(item.reached))} the goal"
    if item.shown is None:
        return [Sentence(f"{short}; nothing is certified.")]
    cap = item.name == "flagged"
    printed = at_most(item.shown) if cap else at_least(item.shown)
    told = claim(f"at {'most' if cap else 'least'} {printed}", evidence.confidence) + together
    if item.state == State.MET:
        by = f"{_points(item.asked, item.shown, printed)} the goal."
        return [Sentence(f"{start};"), Sentence(f"{told},", "certified"), Sentence(by)]
    return [Sentence(f"{short};"), Sentence(f"{told}.", "certified")]


def _points(asked: float, value: float, printed: str) -> str:
    """Return the distance of a printed share from the goal, in percentage points."""
    points = round(abs(float(printed[:-1]) - 100 * asked), 4)
    told = f"{points:.6g}" if points or value == asked else "less than 0.1"
    return f"{told} {'point' if points == 1 else 'points'} {'above' if value >= asked else 'below'}"


def _may_be_chance(difference: tuple[float, float]) -> bool:
    return difference[0] <= 0 <= difference[1]


def _compare(aim: Aim, rule: Rule, evidence: Evidence) -> Compared:
    """Return the quantity now and before, the interval of the difference, and a bound."""
    rows, certificate = evidence.rows, evidence.shifted
    confidence, share = evidence.confidence, evidence.weighted_prevalence

    def measure(negative: Any, positive: Any) -> Any:
        return aim.measure(np.asarray(negative), np.asarray(positive), share)

    prices, shown = None, None
    bounded = certificate.certified and rows.amount is None
    if isinstance(rule, Cost) and rows.amount is None:
        prices = {"false_positive": rule.false_positive, "false_negative": rule.false_negative}
        decided = (rows.old.astype(float), 0.5, rows.new.astype(float), 0.5)
        cost = Cost(**prices, prevalence=share)
        paired = compare_boundaries(rows.is_positive, *decided, confidence, cost=cost)
        low, high = paired.cost_interval
        difference = _PER * low, _PER * high
        if bounded:
            shown = _PER * certificate.rates(share, **prices).cost
    else:
        n_draws = _FEW_DRAWS if aim.slow else _DRAWS
        difference = rows.gain_interval(measure, confidence, n_draws)
        both = certificate.at(1 - (1 - confidence) / 2).error_bounds
        if bounded and aim.monotone and sum(both) < 1:
            shown = float(measure(*both))
    state = State.BETTER if (difference[0] > 0) == aim.greater else State.WORSE
    flattered = state == State.BETTER and evidence.judged_on == JudgedOn.DECIDING
    if _may_be_chance(difference) or flattered:
        state = State.UNSURE
    before, now = (float(measure(*rows.errors(which))) for which in ("old", "new"))
    return Compared(aim.title, now, before, difference, state, shown, prices)


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
    change = "as at the model's own threshold"
    if now != before:
        change = f"instead of {before} at the model's own threshold"
        if aim.amounts and judged.before > 0:
            share = 1 - judged.now / judged.before
            change = f"{change}, {percent(abs(share))} {'less' if share > 0 else 'more'}"
    told = f"{told} {evidence.where} {change}"
    parts = [Sentence(f"{told}.")]
    if judged.shown is not None:
        among = f"{percent(evidence.weighted_prevalence)} are {evidence.names.positives}"
        given = f", where {among}," if aim.by_share else ""
        bound = claim(_bound(aim, judged.shown), evidence.confidence, given)
        parts = [Sentence(f"{told};"), Sentence(f"{bound}.", "certified")]
    if now != before and evidence.judged_on == JudgedOn.TEST:
        low, high = (aim.text(end) for end in judged.difference)
        how = f"{100 * evidence.confidence:.6g}%{'' if judged.prices else ', by resampling'}"
        chance = ", so that it may be chance" if _may_be_chance(judged.difference) else ""
        parts.append(Sentence(f"The difference lies between {low} and {high} ({how}){chance}."))
    return parts


def _bound(aim: Aim, shown: float) -> str:
    """Return a bound, rounded so that it still bounds: to four digits or three decimals."""
    step = 10.0 ** (floor(log10(shown)) - 3) if aim.amounts and shown > 0 else 0.001
    if aim.greater:
        return f"at least {aim.text(floor(shown / step + 1e-9) * step)}"
    return f"at most {aim.text(ceil(shown / step - 1e-9) * step)}"
