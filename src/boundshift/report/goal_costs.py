"""Costs that were asked to be least: of a thousand decisions, now and before, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from boundshift.promises.certificate import Certificate
from boundshift.promises.comparison import compare_boundaries
from boundshift.report.aims import PER
from boundshift.report.goal_words import State, amount_text, state_word
from boundshift.report.paired_rows import PairedRows
from boundshift.report.verdict import JudgedOn, part
from boundshift.rules import Cost
from boundshift.view.words import percent

__all__ = ["judge_cost", "say_cost"]


def judge_cost(
    cost: Cost, rows: PairedRows, certificate: Certificate, prevalence: float
) -> dict[str, Any]:
    """Return costs per thousand decisions, now and before, with a bound and a paired verdict."""
    prices = {"false_positive": cost.false_positive, "false_negative": cost.false_negative}
    paired = compare_boundaries(
        rows.is_positive,
        rows.old.astype(float),
        0.5,
        rows.new.astype(float),
        0.5,
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
        "now": PER * now,
        "before": PER * before,
        "at_most": PER * certificate.rates(prevalence, **prices).cost,
        "difference": [PER * end for end in paired.cost_interval],
        "state": state,
    }


def say_cost(
    cost: dict[str, Any], certificate: Certificate, judged_on: JudgedOn, alone: bool
) -> list[dict[str, Any]]:
    """Say what decisions cost, and whether that is less than before."""
    now, before = cost["now"], cost["before"]
    change = "as before"
    if amount_text(now) != amount_text(before):
        share = abs(now - before) / before if before else None
        direction = "less" if now < before else "more"
        by = "" if share is None else f", {percent(share)} {direction}"
        change = f"instead of {amount_text(before)}{by}"
    low, high = cost["difference"]
    sure = f"{100 * certificate.confidence:.6g}% confidence"
    # Where floors come first, they may well raise the cost.
    told = f"{state_word(cost['state'], cost=True)}: " if alone else ""
    told = f"{told}1,000 decisions cost"
    start = part(f"{told} {amount_text(now)} {change}{',' if certificate.certified else '.'}")
    if not certificate.certified:
        return [start]
    bound = part(f"in the long run at most {_up(cost['at_most'])} with {sure}.", "certified")
    if judged_on == "deciding" or cost["state"] == "met" or not alone:
        return [start, bound]
    chance = "" if low > 0 else ", so that it may be chance"
    told = f"The difference lies between {amount_text(low)} and {amount_text(high)}{chance}."
    return [start, bound, part(told)]


def _up(value: float) -> str:
    """Return an upper bound with four significant digits, rounded up."""
    if value <= 0:
        return "0"
    step = 10.0 ** (np.floor(np.log10(value)) - 3)
    return amount_text(float(np.ceil(value / step - 1e-9) * step))
