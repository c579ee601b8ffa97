"""A metric that was asked to be best, or costs by row: now and before, and how that is said."""

from __future__ import annotations

from math import ceil, floor
from typing import Any

import numpy as np

from boundshift.promises.certificate import Certificate
from boundshift.report.aims import Aim
from boundshift.report.paired_rows import PairedRows
from boundshift.report.verdict import JudgedOn, part
from boundshift.view.words import Names, percent

__all__ = ["aim_word", "judge_aim", "say_aim"]

_DRAWS = 2000
_FEW_DRAWS = 200


def judge_aim(
    aim: Aim, rows: PairedRows, certificate: Certificate, prevalence: float
) -> dict[str, Any]:
    """Return what is reached now and before, whether that may be chance, and what is shown.

    The rows are decided by the model's own threshold and by the shifted one, which the certificate
    is about; `prevalence` is the share of the positive class where decisions are made.
    """

    def measure(negative: Any, positive: Any) -> Any:
        return aim.measure(np.asarray(negative), np.asarray(positive), prevalence)

    before, now = (float(measure(*rows.errors(which))) for which in ("old", "new"))
    n_draws = _FEW_DRAWS if aim.slow else _DRAWS
    low, high = rows.gain_interval(measure, certificate.confidence, n_draws)
    better = now > before if aim.greater else now < before
    shown = None
    both = certificate.at(1 - (1 - certificate.confidence) / 2).error_bounds
    if certificate.certified and rows.amount is None and aim.grows and sum(both) < 1:
        shown = float(measure(*both))
    chance = low <= 0 <= high
    return {
        "title": aim.title,
        "now": now,
        "before": before,
        "difference": [low, high],
        "may_be_chance": chance,
        "shown": shown,
        "state": ("reached" if chance else "met") if better or now == before else "missed",
    }


def say_aim(
    aim: Aim,
    judged: dict[str, Any],
    confidence: float,
    judged_on: JudgedOn,
    prevalence: float,
    names: Names,
    *,
    alone: bool,
) -> list[dict[str, Any]]:
    """Say what is reached, beside the model's own threshold, and whether that may be chance.

    Parameters
    ----------
    aim : Aim
        What was to be best.
    judged : dict
        From :func:`judge_aim`.
    confidence : float
        Of the interval and of the bound.
    judged_on : {"test", "deciding"}
        Which rows judge.
    prevalence : float
        Share of the positive class where decisions are made.
    names : Names
        Of both classes.
    alone : bool
        Whether nothing comes before it, as floors do.
    """
    on = "on the test rows" if judged_on == "test" else "on the rows that chose the threshold"
    now, before = aim.text(judged["now"]), aim.text(judged["before"])
    change = "as" if now == before else f"instead of {before}"
    told = f"1,000 decisions cost {now} {on}" if aim.amounts else f"{now} {on}"
    title = _better(aim, judged) if alone else aim.title[0].upper() + aim.title[1:]
    told = f"{title}: {told} {change} at the model's own threshold"
    if aim.amounts and now != before and judged["before"] > 0:
        share = 1 - judged["now"] / judged["before"]
        told = f"{told}, {percent(abs(share))} {'less' if share > 0 else 'more'}"
    parts = [part(f"{told}.")]
    sure = f"{100 * confidence:.6g}%"
    if judged["shown"] is not None:
        where = f", where {percent(prevalence)} are {names.positives}," if aim.by_share else ""
        bound = _bound_text(aim, judged["shown"])
        claim = f"in the long run{where} {bound} with {sure} confidence."
        parts = [part(f"{told};"), part(claim, "certified")]
    if now != before:
        low, high = (aim.text(end) for end in judged["difference"])
        chance = ", so that it may be chance" if judged["may_be_chance"] else ""
        between = f"between {low} and {high} ({sure}, by resampling)"
        parts.append(part(f"The difference lies {between}{chance}."))
    return parts


def aim_word(aim: Aim, judged: dict[str, Any]) -> str:
    """Return what has become of a metric or of a cost, in a word or two."""
    word = _better(aim, judged)
    chance = judged["may_be_chance"] and judged["now"] != judged["before"]
    return f"{word}, may be chance" if chance else word


def _better(aim: Aim, judged: dict[str, Any]) -> str:
    """Return whether a metric or a cost is better than before."""
    if judged["now"] == judged["before"]:
        return "As before"
    better = judged["now"] > judged["before"] if aim.greater else judged["now"] < judged["before"]
    words = ("Lower cost", "Higher cost") if aim.amounts else ("Better", "Worse")
    return words[0] if better else words[1]


def _bound_text(aim: Aim, bound: float) -> str:
    """Return a bound, rounded so that it still bounds."""
    if aim.greater:
        return f"at least {aim.text(floor(1000 * bound + 1e-9) / 1000)}"
    return f"at most {aim.text(ceil(1000 * bound - 1e-9) / 1000)}"
