"""Floors that were asked for: what is reached of each, what is shown, and how that is said."""

from __future__ import annotations

from typing import Any

import numpy as np

from boundshift.curves import Claim
from boundshift.promises.certificate import Certificate
from boundshift.report.goal_words import State, state_word
from boundshift.report.verdict import JudgedOn, part
from boundshift.result.boundary import Boundary
from boundshift.rules import Floors
from boundshift.rules.floors import missed_by, reached_rates
from boundshift.status import Status
from boundshift.view.words import Names, at_least, at_most, percent

__all__ = ["judge_floors", "say_floor", "wish_for"]


def judge_floors(
    rule: Floors,
    boundary: Boundary,
    certificate: Certificate,
    judged_on: JudgedOn,
    prevalence: float,
    weighted: tuple[float, float] | None = None,
) -> list[dict[str, Any]]:
    """Return each floor with what is reached on these rows and what is shown of it.

    Error rates by the rows' weights, where there are any, are reached; nothing shows them.
    """
    asked = rule.asked
    certified = certificate.certified and weighted is None
    shares = (1 - prevalence, prevalence)
    flagged, missed = (np.array([error]) for error in weighted or certificate.errors)
    reached = {k: float(v[0]) for k, v in reached_rates(flagged, missed, shares).items()}
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
        and certified
        and boundary.status is Status.OPTIMAL
        and boundary.curve.claim is Claim.HIGH_PROBABILITY
    )
    items = []
    for name, floor in asked.items():
        met = _meets(name, floor, shown[name]) and certified
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
                "shown": shown[name] if certified else None,
                "promised": promised and not met,
                "state": state,
            }
        )
    return items


def _meets(name: str, floor: float, value: float) -> bool:
    """Return whether a floor, or a cap, is kept."""
    return float(missed_by(name, floor, np.array([value]))[0]) == 0.0


def wish_for(item: dict[str, Any], names: Names) -> str:
    """Say what one floor asks for."""
    share = f"{100 * item['asked']:.6g}%"
    return {
        "recall": f"find at least {share} of {names.positives}",
        "specificity": f"leave at least {share} of {names.negatives} alone",
        "precision": f"be right in at least {share} of the alarms",
        "npv": f"be right in at least {share} of {names.unit} that are not flagged",
        "flagged": f"flag at most {share} of {names.unit}",
    }[item["name"]]


def say_floor(
    item: dict[str, Any], judged_on: JudgedOn, confidence: float, several: bool
) -> list[dict[str, Any]]:
    """Say whether one floor is met, and by how much."""
    cap = item["name"] == "flagged"
    title = f"{item['name'].capitalize()}: " if several else ""
    where = "on the test rows" if judged_on == "test" else "on the rows that chose the threshold"
    reached = f"{percent(item['reached'])} {where}"
    sure = f"{100 * confidence:.6g}% confidence"
    word = state_word(item["state"])
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
