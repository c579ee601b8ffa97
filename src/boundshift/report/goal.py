"""What was asked for: floors, a metric or a cost; whether it is met, and how that is said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from math import ceil, floor
from typing import Any

import numpy as np

from boundshift.curves import Claim
from boundshift.metrics import metrics_of_errors
from boundshift.promises.comparison import compare_boundaries
from boundshift.report.evidence import Evidence, JudgedOn
from boundshift.rules import Cost, FBeta, Floors, GMean, Metric, Minimax, Rule, Sum
from boundshift.rules.floors import Rate, missed_by, reached_rates
from boundshift.status import Status
from boundshift.typing import FloatArray
from boundshift.words import (
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

_PER = 1000  # decisions whose cost is told
_DRAWS, _FEW_DRAWS = 2000, 200
# Metrics of both error rates, and whether they depend on the share of positives.
_BY_SHARE = dict.fromkeys(("mcc", "kappa", "markedness", "flagged"), True)
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


def _amount_up(value: float) -> str:
    """Return an upper bound with four significant digits, rounded up."""
    if value <= 0:
        return "0"
    step = 10.0 ** (np.floor(np.log10(value)) - 3)
    return _amount(float(np.ceil(value / step - 1e-9) * step))


def _three_digits(value: float) -> str:
    return number(value, ".3f")


Measure = Callable[[FloatArray, FloatArray, float], FloatArray]


@dataclass(frozen=True)
class Aim:
    """What is to be best about a decision."""

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
    """Whether it is what 1,000 decisions cost."""
    grows: bool = True
    """Whether it gets worse with each error rate, so that bounds of both bound it."""
    slow: bool = False

    def __post_init__(self) -> None:
        if not self.wish:
            best = "greatest" if self.greater else "least"
            object.__setattr__(self, "wish", f"the {best} {self.title}")


def aim_of(rule: Rule) -> Aim:
    """Return what a rule makes best; of floors, what is best among the boundaries that keep them.

    Examples
    --------
    >>> import boundshift
    >>> aim = aim_of(boundshift.FBeta())
    >>> aim.wish, aim.text(float(aim.measure(np.array(0.2), np.array(0.3), 0.1)))
    ('the greatest F1', '0.400')
    """
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
    if isinstance(rule, Rate) and rule.rate != "flagged":  # their bounds stand in the verdict
        name = rule.rate
        return Aim(
            name,
            lambda u, v, share: reached_rates(u, v, (1 - share, share))[name],
            text=percent,
            by_share=name == "precision",
            grows=False,
        )
    plain: Any = rule
    if hasattr(rule, "prevalence"):
        plain = replace(plain, prevalence=None)
    if isinstance(rule, FBeta):
        return Aim(f"F{rule.beta:g}", _value_of(plain, -1))
    key = "g_mean" if isinstance(rule, GMean) else rule.name
    key = "balanced_accuracy" if isinstance(rule, Sum) else key
    key = rule.rate if isinstance(rule, Rate) else key
    if key in _BY_SHARE:
        return Aim(
            METRIC_TITLES[key],
            lambda u, v, share: metrics_of_errors(u, v, (1 - share, share))[key],
            by_share=_BY_SHARE[key],
        )
    if not isinstance(rule, Metric):
        title = f"“{rule.name}”"
        wish = f"the least value of the rule {title}"
        return Aim(title, _value_of(plain, 1), wish, False, grows=False, slow=rule.costly)
    given: Any = rule.metric
    function = getattr(given, "_score_func", given)
    name = given if isinstance(given, str) else getattr(function, "__name__", "metric")
    title = str(name).removesuffix("_score").replace("_", " ")
    _, sign = rule.resolve()  # a scorer knows better than the argument
    return Aim(title, _value_of(plain, -sign), greater=sign > 0, grows=False, slow=True)


def _value_of(rule: Rule, sign: float) -> Measure:
    return lambda u, v, share: sign * rule.value(np.asarray(u), np.asarray(v), (1 - share, share))


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
    """A number now and at the model's own threshold, with the interval of the difference."""

    now: float
    before: float
    difference: tuple[float, float]
    state: State


@dataclass(frozen=True)
class ComparedMetric(Compared):
    """A metric, with a bound where one is shown."""

    title: str
    shown: float | None


@dataclass(frozen=True)
class ComparedCost(Compared):
    """Of 1,000 decisions."""

    false_positive: float
    false_negative: float
    at_most: float


@dataclass(frozen=True)
class Goal:
    """Whether a rule got what it asked for."""

    wish: str
    state: State
    word: str
    sentence: str
    parts: list[Sentence]
    floors: list[Floor]
    cost: ComparedCost | None
    aim: Compared


def judge_goal(evidence: Evidence) -> Goal | None:
    """Say whether a rule got what it asked for; None for the default rule, which asks for nothing.

    A floor is met where a bound shows it, or the choice itself has promised it.
    """
    boundary, rows = evidence.boundary, evidence.rows
    floors = boundary.rule if isinstance(boundary.rule, Floors) else None
    objective = boundary.rule if floors is None else floors.objective
    default = GMean() if floors is not None else boundary.curve.default_rule
    wanted = not isinstance(objective, type(default))
    if floors is None and not wanted and rows.amount is None:
        return None
    items = [] if floors is None else _judge_floors(floors, evidence)
    aim, column = aim_of(objective), evidence.details.column
    if not rows.shares:
        by = f"by column '{column}'" if column else "by what each row costs"
        aim = replace(aim, wish=f"the least cost of wrong decisions, {by}")
    best: ComparedCost | ComparedMetric
    if isinstance(objective, Cost) and rows.amount is None:
        best = _judge_cost(objective, evidence)
    else:
        best = _judge_metric(aim, evidence)
    if best.state == State.BETTER and evidence.judged_on == JudgedOn.DECIDING:
        best = replace(best, state=State.UNSURE)  # rows that chose the threshold flatter it
    state = next((s for s in _WORDS if s in [item.state for item in items]), best.state)
    wishes = [_wish_for(item, evidence.names) for item in items]
    if wanted or floors is None:
        wishes.append(aim.wish if floors is None else f"then {aim.wish}")
    wish = " and ".join([", ".join(wishes[:-1]), wishes[-1]] if wishes[1:] else wishes)
    if rows.amount is not None and rows.shares:
        by = f"its weight in column '{column}'" if column else "its weight"
        wish = f"{wish}, each row counted by {by}"
    parts = [Sentence(f"Goal: {wish}.")]
    for item in items:
        parts += _say_floor(item, evidence, several=len(items) > 1)
    if wanted or floors is None:
        alone = floors is None
        if isinstance(best, ComparedCost):
            parts += _say_cost(aim, best, evidence, alone=alone)
        else:
            parts += _say_metric(aim, best, evidence, alone=alone)
    if state != State.MET and boundary.status in (Status.UNMET, Status.NOT_PROMISED):
        message = boundary.message
        if evidence.judged_on == JudgedOn.TEST:
            message = f"On the rows that chose the threshold: {message[0].lower()}{message[1:]}"
        parts.append(Sentence(message))
    return Goal(
        wish=wish,
        state=state,
        word=_WORDS[state] if items else _outcome_word(aim, best),
        sentence=" ".join(part.text for part in parts),
        parts=parts,
        floors=items,
        cost=best if isinstance(best, ComparedCost) else None,
        aim=best,
    )


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
    negative, positive = evidence.rows.errors("new") if weighted else certificate.errors
    rates = _reached((negative, positive), prevalence)
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
        items.append(
            Floor(
                name,
                asked,
                rates[name],
                shown[name] if certified else None,
                promised and not met,
                State.MET if met or promised else state,
            )
        )
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
    """Return the distance of a share from the goal, in points of what is printed of it."""
    points = round(abs(float(printed[:-1]) - 100 * asked), 4)
    told = f"{points:.6g}" if points or value == asked else "less than 0.1"
    return f"{told} {'point' if points == 1 else 'points'} {'above' if value >= asked else 'below'}"


def _state(difference: tuple[float, float], *, greater: bool) -> State:
    low, high = difference
    if low <= 0 <= high:
        return State.UNSURE
    return State.BETTER if (low > 0) == greater else State.WORSE


def _judge_cost(cost: Cost, evidence: Evidence) -> ComparedCost:
    """Return costs per thousand decisions, now and before, with a bound and a paired interval."""
    prices = {"false_positive": cost.false_positive, "false_negative": cost.false_negative}
    rows, share = evidence.rows, evidence.weighted_prevalence
    paired = compare_boundaries(
        rows.is_positive,
        rows.old.astype(float),
        0.5,
        rows.new.astype(float),
        0.5,
        evidence.confidence,
        cost=Cost(**prices, prevalence=share),
    )
    flagged, missed = evidence.shifted.errors
    now = cost.false_positive * (1 - share) * flagged + cost.false_negative * share * missed
    low, high = paired.cost_interval
    return ComparedCost(
        now=_PER * now,
        before=_PER * (now - paired.cost_difference),
        difference=(_PER * low, _PER * high),
        state=_state(paired.cost_interval, greater=False),
        at_most=_PER * evidence.shifted.rates(share, **prices).cost,
        **prices,
    )


def _judge_metric(aim: Aim, evidence: Evidence) -> ComparedMetric:
    """Return what is reached now and before, whether that may be chance, and what is shown."""
    rows, certificate = evidence.rows, evidence.shifted

    def measure(negative: Any, positive: Any) -> Any:
        share = evidence.weighted_prevalence
        return aim.measure(np.asarray(negative), np.asarray(positive), share)

    before, now = (float(measure(*rows.errors(which))) for which in ("old", "new"))
    n_draws = _FEW_DRAWS if aim.slow else _DRAWS
    difference = rows.gain_interval(measure, evidence.confidence, n_draws)
    both = certificate.at(1 - (1 - evidence.confidence) / 2).error_bounds
    bounded = certificate.certified and rows.amount is None and aim.grows and sum(both) < 1
    return ComparedMetric(
        now,
        before,
        difference,
        _state(difference, greater=aim.greater),
        aim.title,
        float(measure(*both)) if bounded else None,
    )


def _better(aim: Aim, judged: Compared) -> str:
    if judged.now == judged.before:
        return "As before"
    words = ("Lower cost", "Higher cost") if aim.amounts else ("Better", "Worse")
    return words[(judged.now > judged.before) != aim.greater]


def _outcome_word(aim: Aim, judged: Compared) -> str:
    if judged.now == judged.before:
        return "As at the model's own threshold"
    low, high = judged.difference
    chance = ", may be chance" if low <= 0 <= high else ""
    return f"{_better(aim, judged)} than at the model's own threshold{chance}"


def _change(aim: Aim, judged: Compared) -> str:
    """Say what it was at the model's own threshold, and of costs by what share they changed."""
    now, before = judged.now, judged.before
    if aim.text(now) == aim.text(before):
        return "as at the model's own threshold"
    told = f"instead of {aim.text(before)} at the model's own threshold"
    if not aim.amounts or not before > 0:
        return told
    share = 1 - now / before
    return f"{told}, {percent(abs(share))} {'less' if share > 0 else 'more'}"


def _say_cost(aim: Aim, cost: ComparedCost, evidence: Evidence, *, alone: bool) -> list[Sentence]:
    """Say what decisions cost, and whether that is less than before."""
    # Where floors come first, they may well raise the cost.
    told = f"{_better(aim, cost)}: " if alone else ""
    told = f"{told}1,000 decisions cost {_amount(cost.now)} {_change(aim, cost)}"
    if not evidence.shifted.certified:
        return [Sentence(f"{told}.")]
    bound = claim(f"at most {_amount_up(cost.at_most)}", evidence.confidence)
    parts = [Sentence(f"{told},"), Sentence(f"{bound}.", "certified")]
    shown = evidence.judged_on == JudgedOn.DECIDING or cost.state == State.BETTER
    if not shown and alone:
        parts.append(_say_difference(cost, _amount, "", cost.difference[0] <= 0))
    return parts


def _say_metric(
    aim: Aim, judged: ComparedMetric, evidence: Evidence, *, alone: bool
) -> list[Sentence]:
    """Say what is reached, beside the model's own threshold, and whether that may be chance."""
    now, before = aim.text(judged.now), aim.text(judged.before)
    title = _better(aim, judged) if alone else aim.title[0].upper() + aim.title[1:]
    cost = "1,000 decisions cost " if aim.amounts else ""
    told = f"{title}: {cost}{now} {evidence.where} {_change(aim, judged)}"
    parts = [Sentence(f"{told}.")]
    if judged.shown is not None:
        share = percent(evidence.weighted_prevalence)
        given = f", where {share} are {evidence.names.positives}," if aim.by_share else ""
        # Rounded so that it still bounds.
        bound = f"at most {aim.text(ceil(1000 * judged.shown - 1e-9) / 1000)}"
        if aim.greater:
            bound = f"at least {aim.text(floor(1000 * judged.shown + 1e-9) / 1000)}"
        bound = claim(bound, evidence.confidence, given)
        parts = [Sentence(f"{told};"), Sentence(f"{bound}.", "certified")]
    if now != before:
        by = f" ({100 * evidence.confidence:.6g}%, by resampling)"
        low, high = judged.difference
        parts.append(_say_difference(judged, aim.text, by, low <= 0 <= high))
    return parts


def _say_difference(
    judged: Compared, text: Callable[[float], str], by: str, chance: bool
) -> Sentence:
    low, high = (text(end) for end in judged.difference)
    may_be = ", so that it may be chance" if chance else ""
    return Sentence(f"The difference lies between {low} and {high}{by}{may_be}.")
