"""What was asked for: whether it is met, by how much, and what decisions cost."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from boundshift.curves import Claim
from boundshift.promises.certificate import Certificate
from boundshift.promises.comparison import compare_boundaries
from boundshift.report.verdict import JudgedOn, part
from boundshift.result.boundary import Boundary
from boundshift.rules import Cost, Floors, Rule
from boundshift.rules.floors import missed_by, reached_rates
from boundshift.scores.sample import ScoreSample
from boundshift.status import Status
from boundshift.view.words import Names, at_least, at_most, percent

__all__ = ["judge_goal"]

State = Literal["met", "reached", "missed"]

_WORST: tuple[State, ...] = ("missed", "reached", "met")
_PER = 1000


def judge_goal(
    boundary: Boundary,
    judging: ScoreSample,
    shifted: Certificate,
    old_threshold: float,
    judged_on: JudgedOn,
    prevalence: float,
    names: Names,
) -> dict[str, Any] | None:
    """Say whether a rule of floors or costs got what it asked for; None for other rules.

    A floor is *met* where a bound shows it, or the choice itself has promised it; *reached* where
    only the rows at hand do; *missed* else. Costs are met where they are shown to be lower than at
    the model's own threshold.

    Returns
    -------
    dict or None
        ``wish``, ``state``, ``sentence`` with its ``parts``, ``floors`` (one dict each) and
        ``cost``.

    Examples
    --------
    >>> import boundshift
    >>> from boundshift.promises.certificate import certify_counts
    >>> from boundshift.view.words import read_names
    >>> y, s = [0] * 80 + [1] * 20, [*range(80), *range(70, 90)]
    >>> found = boundshift.find_boundary(y, s, rule=boundshift.Floors(recall=0.5))
    >>> sample = ScoreSample.from_labels(y, s)
    >>> fresh = certify_counts((10, 2), (800, 200), (0, 1))
    >>> goal = judge_goal(found, sample, fresh, 0.0, "test", 0.2, read_names(None, (0, 1)))
    >>> print(goal["sentence"])
    Goal: find at least 50% of rows of class 1. Met: 99.0% on the test rows; in the long run at
    least 96.8% with 95% confidence, 46.8 points above the goal.
    """
    rule = boundary.rule
    floors = rule if isinstance(rule, Floors) else None
    cost = _cost_in(rule)
    if floors is None and cost is None:
        return None
    wishes, parts, states = [], [], []
    items = []
    if floors is not None:
        items = _judge_floors(floors, boundary, shifted, judged_on, prevalence)
        wishes += [_wish(item, names) for item in items]
        states += [item["state"] for item in items]
    judged_cost = None
    if cost is not None:
        judged_cost = _judge_cost(cost, boundary, judging, shifted, old_threshold, prevalence)
        if judged_on == "deciding" and judged_cost["state"] == "met":
            judged_cost["state"] = "reached"
        if floors is None:
            states.append(judged_cost["state"])
        first = "" if floors is None else "then "
        wishes.append(
            f"{first}the least cost, where a miss costs {cost.false_negative:g} and a false alarm "
            f"{cost.false_positive:g}"
        )
    state = _WORST[min(_WORST.index(s) for s in states)]
    wish = _joined(wishes)
    parts.append(part(f"Goal: {wish}."))
    for item in items:
        parts += _floor_parts(item, judged_on, shifted.confidence, len(items) > 1)
    if judged_cost is not None:
        parts += _cost_parts(judged_cost, shifted, judged_on, alone=floors is None)
    if state != "met" and boundary.status in (Status.UNMET, Status.NOT_PROMISED):
        parts.append(part(boundary.message))
    return {
        "wish": wish,
        "state": state,
        "word": _word(state, floors is None),
        "sentence": " ".join(p["text"] for p in parts),
        "parts": parts,
        "floors": items,
        "cost": judged_cost,
    }


def _word(state: State, cost: bool = False) -> str:
    """Return a state in words; a lower cost is not reached, it is or is not proved."""
    reached = "Not proved" if cost else "Reached, not proved"
    return {"met": "Met", "reached": reached, "missed": "Missed"}[state]


def _cost_in(rule: Rule) -> Cost | None:
    """Return the costs that a rule weighs, if it does."""
    objective = rule.objective if isinstance(rule, Floors) else rule
    return objective if isinstance(objective, Cost) else None


def _joined(wishes: list[str]) -> str:
    """Return wishes as a list in words."""
    return " and ".join(wishes) if len(wishes) < 3 else f"{', '.join(wishes[:-1])} and {wishes[-1]}"


def _judge_floors(
    rule: Floors,
    boundary: Boundary,
    certificate: Certificate,
    judged_on: JudgedOn,
    prevalence: float,
) -> list[dict[str, Any]]:
    """Return each floor with what is reached on these rows and what is shown of it."""
    asked = rule.asked
    weights = (1 - prevalence, prevalence)
    flagged, missed = (np.array([error]) for error in certificate.errors)
    reached = {k: float(v[0]) for k, v in reached_rates(flagged, missed, weights).items()}
    each = certificate.at(1 - (1 - certificate.confidence) / len(asked))
    rates = each.rates(prevalence)
    shown = {
        "recall": 1 - each.error_bounds[1],
        "specificity": 1 - each.error_bounds[0],
        "precision": rates.precision,
        "npv": rates.npv,
        "flagged": rates.flagged,
    }
    promised = (
        judged_on == "deciding"
        and certificate.certified
        and boundary.status is Status.OPTIMAL
        and boundary.curve.claim is Claim.HIGH_PROBABILITY
    )
    items = []
    for name, floor in asked.items():
        met = _meets(name, floor, shown[name]) and certificate.certified
        state: State = "missed"
        if met or promised:
            state = "met"
        elif _meets(name, floor, reached[name]):
            state = "reached"
        items.append(
            {
                "name": name,
                "asked": floor,
                "reached": reached[name],
                "shown": shown[name] if certificate.certified else None,
                "promised": promised and not met,
                "state": state,
            }
        )
    return items


def _meets(name: str, floor: float, value: float) -> bool:
    """Return whether a floor, or a cap, is kept."""
    return float(missed_by(name, floor, np.array([value]))[0]) == 0.0


def _wish(item: dict[str, Any], names: Names) -> str:
    """Say what one floor asks for."""
    share = f"{100 * item['asked']:.6g}%"
    return {
        "recall": f"find at least {share} of {names.positives}",
        "specificity": f"leave at least {share} of {names.negatives} alone",
        "precision": f"be right in at least {share} of the alarms",
        "npv": f"be right in at least {share} of {names.unit} that are not flagged",
        "flagged": f"flag at most {share} of {names.unit}",
    }[item["name"]]


def _floor_parts(
    item: dict[str, Any], judged_on: JudgedOn, confidence: float, several: bool
) -> list[dict[str, Any]]:
    """Say whether one floor is met, and by how much."""
    cap = item["name"] == "flagged"
    title = f"{item['name'].capitalize()}: " if several else ""
    where = "on the test rows" if judged_on == "test" else "on the rows that chose the threshold"
    reached = f"{percent(item['reached'])} {where}"
    sure = f"{100 * confidence:.6g}% confidence"
    word = _word(item["state"])
    if several and item["state"] != "missed":
        word = word[0].lower() + word[1:]
    if item["promised"]:
        promise = f"promised with {sure} when the threshold was chosen."
        return [part(f"{title}{word}: {reached};"), part(promise, "certified")]
    short = f"{_points(item['asked'], item['reached'], cap)} the goal"
    if item["shown"] is None:
        return [part(f"{title}{word}: {reached}, {short}; nothing is certified.")]
    bound = at_most(item["shown"]) if cap else at_least(item["shown"])
    most = "at most" if cap else "at least"
    claim = f"in the long run {most} {bound} with {sure},"
    if item["state"] == "met":
        by = f"{_points(item['asked'], item['shown'], cap)} the goal."
        return [part(f"{title}{word}: {reached};"), part(claim, "certified"), part(by)]
    return [part(f"{title}{word}: {reached}, {short};"), part(f"{claim[:-1]}.", "certified")]


def _points(asked: float, value: float, cap: bool) -> str:
    """Return how far a share is from what was asked, in percentage points."""
    shown = float((at_most if cap else at_least)(value)[:-1])
    points = f"{abs(shown - 100 * asked):.1f} points"
    return f"{points} {'above' if value >= asked else 'below'}"


def _judge_cost(
    cost: Cost,
    boundary: Boundary,
    judging: ScoreSample,
    certificate: Certificate,
    old_threshold: float,
    prevalence: float,
) -> dict[str, Any]:
    """Return costs per thousand decisions, now and before, with a bound and a paired verdict."""
    prices = {"false_positive": cost.false_positive, "false_negative": cost.false_negative}
    y, s = judging.to_rows()
    paired = compare_boundaries(
        y == judging.labels[1],
        s,
        old_threshold,
        s,
        boundary.threshold,
        certificate.confidence,
        cost=Cost(**prices, prevalence=prevalence),
    )
    flagged, missed = certificate.errors
    now = cost.false_positive * (1 - prevalence) * flagged
    now += cost.false_negative * prevalence * missed
    before = now - paired.cost_difference
    state: State = "reached"
    if paired.verdict == "better":
        state = "met"
    elif paired.cost_difference > 0:
        state = "missed"
    return {
        **prices,
        "now": _PER * now,
        "before": _PER * before,
        "at_most": _PER * certificate.rates(prevalence, **prices).cost,
        "difference": [_PER * end for end in paired.cost_interval],
        "state": state,
    }


def _cost_parts(
    cost: dict[str, Any], certificate: Certificate, judged_on: JudgedOn, alone: bool
) -> list[dict[str, Any]]:
    """Say what decisions cost, and whether that is less than before."""
    now, before = cost["now"], cost["before"]
    change = "as before"
    if _amount(now) != _amount(before):
        share = abs(now - before) / before if before else None
        direction = "less" if now < before else "more"
        by = "" if share is None else f", {percent(share)} {direction}"
        change = f"instead of {_amount(before)}{by}"
    low, high = cost["difference"]
    sure = f"{100 * certificate.confidence:.6g}% confidence"
    # Where floors come first, they may well raise the cost.
    told = f"{_word(cost['state'], cost=True)}: " if alone else ""
    told = f"{told}1,000 decisions cost"
    start = part(f"{told} {_amount(now)} {change}{',' if certificate.certified else '.'}")
    if not certificate.certified:
        return [start]
    bound = part(f"in the long run at most {_up(cost['at_most'])} with {sure}.", "certified")
    if judged_on == "deciding" or cost["state"] == "met" or not alone:
        return [start, bound]
    chance = "" if low > 0 else ", so that it may be chance"
    told = f"The difference lies between {_amount(low)} and {_amount(high)}{chance}."
    return [start, bound, part(told)]


def _up(value: float) -> str:
    """Return an upper bound with four significant digits, rounded up."""
    if value <= 0:
        return "0"
    step = 10.0 ** (np.floor(np.log10(value)) - 3)
    return _amount(float(np.ceil(value / step - 1e-9) * step))


def _amount(value: float) -> str:
    """Return a sum of costs, in full where it is large, with a true minus."""
    text = f"{value:,.0f}" if 1000 <= abs(value) < 1e12 else f"{value:.4g}"
    return text.replace("-", "−")
