"""Methods beside ours on the same rows: on how many they differ, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.promises.comparison import compare_boundaries
from boundshift.report.aims import aim_of
from boundshift.report.paired_rows import PairedRows
from boundshift.rules import Floors, Rule
from boundshift.rules.floors import missed_by, reached_rates
from boundshift.typing import BoolArray
from boundshift.view.words import OUR_METHODS, Names

__all__ = ["compare_pairs"]


def compare_pairs(
    methods: Sequence[Mapping[str, Any]],
    rows: PairedRows,
    scores: NDArray[np.float64],
    decisions: Mapping[str, ArrayLike],
    confidence: float,
    names: Names,
    rule: Rule,
    prevalence: float,
) -> dict[str, Any]:
    """Compare our boundary with each other method, row by row.

    Parameters
    ----------
    methods : sequence of mappings
        Rows of the comparison: "method", metrics, and "threshold" where there is one.
    rows : PairedRows
        The rows that judge, with our decisions.
    scores : array
        Of these rows.
    decisions : mapping from str to array of bool
        Of methods without a threshold. Those with neither are left out.
    confidence : float
        Of each interval.
    names : Names
        Of both classes.
    rule : Rule
        What was to be best: by it methods are told apart.
    prevalence : float
        Share of the positive class where decisions are made.

    Returns
    -------
    dict
        ``rows``, each with ``method``, ``found_more`` and ``flagged_more`` (positives and
        negatives that only ours flags, minus those that only the other does), their intervals as
        shares of the class, and ``may_be_chance``; and ``lead``, a sentence about the best of the
        others, None where there is none.
    """
    others = {str(m["method"]): _decide(m, scores, decisions) for m in methods}
    rivals = {
        name: flagged
        for name, flagged in others.items()
        if flagged is not None and name not in OUR_METHODS
    }
    pairs = [_compare(name, flagged, rows, confidence) for name, flagged in rivals.items()]
    ours = any(name in OUR_METHODS for name in others)
    lead = _lead(pairs, rivals, rows, confidence, names, rule, prevalence) if ours else None
    return {"rows": pairs, "lead": lead}


def _compare(name: str, other: BoolArray, rows: PairedRows, confidence: float) -> dict[str, Any]:
    """Return how many rows of each class ours decides otherwise than a method, with intervals."""
    paired = compare_boundaries(
        rows.is_positive, other.astype(float), 0.5, rows.new.astype(float), 0.5, confidence
    )
    (flag_low, flag_high), (miss_low, miss_high) = paired.intervals
    return {
        "method": name,
        "found_more": paired.mended[1] - paired.broken[1],
        "found_interval": [-miss_high, -miss_low],
        "flagged_more": paired.broken[0] - paired.mended[0],
        "flagged_interval": [flag_low, flag_high],
        "differ": sum(paired.mended) + sum(paired.broken),
        "may_be_chance": [miss_low <= 0 <= miss_high, flag_low <= 0 <= flag_high],
    }


def _decide(
    method: Mapping[str, Any], scores: NDArray[np.float64], decisions: Mapping[str, ArrayLike]
) -> BoolArray | None:
    """Return which rows a method calls positive, None where that is not known."""
    threshold = method.get("threshold")
    if threshold is not None and not np.isnan(threshold):
        return np.asarray(scores > threshold)
    made = decisions.get(str(method["method"]))
    return None if made is None else np.asarray(made, dtype=np.bool_)


def _lead(
    pairs: Sequence[Mapping[str, Any]],
    rivals: Mapping[str, BoolArray],
    rows: PairedRows,
    confidence: float,
    names: Names,
    rule: Rule,
    prevalence: float,
) -> str | None:
    """Say how far ours is from the best of the others, by what was asked for, and in rows."""
    kept, before = pairs, ""
    if pairs and isinstance(rule, Floors):
        kept = [pair for pair in pairs if _keeps(rule, rivals[pair["method"]], rows, prevalence)]
        ours_keeps = _keeps(rule, rows.new, rows, prevalence)
        before = _who_keeps([pair["method"] for pair in kept], len(pairs), ours_keeps)
    if not kept:
        return before or None
    aim = aim_of(rule)

    def value(flagged: BoolArray) -> float:
        negative, positive = (np.asarray(u) for u in replace(rows, new=flagged).errors("new"))
        return float(aim.measure(negative, positive, prevalence))

    ours = value(rows.new)
    known = {pair["method"]: value(rivals[pair["method"]]) for pair in kept}
    best = (max if aim.greater else min)(kept, key=lambda pair: known[pair["method"]])
    theirs = known[best["method"]]
    ahead = ours > theirs if aim.greater else ours < theirs
    place = "level with" if ours == theirs else "ahead of" if ahead else "behind"
    whom = f"the best of {'them' if before else 'the others'}, {best['method']}"
    if before and len(kept) == 1:
        whom = "it"
    against = f"{aim.text(ours)} against {aim.text(theirs)}"
    start = f"By {aim.title}, ours is {place} {whom}: {against}."
    start = f"{before} {start}".strip()
    if best["differ"] == 0:
        return f"{start} Both decide every row alike."
    found, flagged = best["found_more"], best["flagged_more"]
    n_positive, n = int(rows.is_positive.sum()), len(rows.is_positive)
    told = (
        f"It finds {_more(found)} of {n_positive:,} {names.positives} and flags {_more(flagged)} "
        f"of {n - n_positive:,} {names.negatives}"
    )
    if best["differ"] == 1:
        told = f"The whole difference is 1 of {n:,} {names.unit}: {_lower(told)}"
    elif all(best["may_be_chance"]):
        told = f"{told}, which may be chance"
    sure = f"{100 * confidence:.6g}%"
    chance = "" if not all(best["may_be_chance"]) else f" Both {sure} intervals contain 0."
    return f"{start} {told}.{chance}"


def _keeps(rule: Floors, flagged: BoolArray, rows: PairedRows, prevalence: float) -> bool:
    """Return whether a method keeps all floors on these rows."""
    negative, positive = (np.array([u]) for u in replace(rows, new=flagged).errors("new"))
    rates = reached_rates(negative, positive, (1 - prevalence, prevalence))
    return all(float(missed_by(k, floor, rates[k])[0]) == 0 for k, floor in rule.asked.items())


def _who_keeps(kept: list[str], others: int, ours: bool) -> str:
    """Say which methods keep the floors on these rows."""
    if not kept:
        mine = "ours does" if ours else "nor does ours"
        return f"None of the others reaches the goal on these rows; {mine}."
    who = f"{len(kept)} of {others} others reach"
    if len(kept) == 1:
        who = f"Of the others, {kept[0]} reaches"
    return f"{who} the goal on these rows, and {'so does ours' if ours else 'ours does not'}."


def _more(number: int) -> str:
    """Return a difference of counts in words."""
    return f"{abs(number):,} {'fewer' if number < 0 else 'more'}"


def _lower(text: str) -> str:
    """Return a sentence to stand behind a colon."""
    return text[0].lower() + text[1:]
