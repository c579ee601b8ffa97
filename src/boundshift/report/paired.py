"""Methods beside ours on the same rows: on how many they differ, and whether that may be chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.promises.comparison import compare_boundaries
from boundshift.view.words import OUR_METHODS, Names, metric_title

__all__ = ["compare_pairs"]

BoolArray = NDArray[np.bool_]


def compare_pairs(
    methods: Sequence[Mapping[str, Any]],
    is_positive: BoolArray,
    scores: NDArray[np.float64],
    threshold: float,
    decisions: Mapping[str, ArrayLike],
    confidence: float,
    names: Names,
) -> dict[str, Any]:
    """Compare our boundary with each other method, row by row.

    Parameters
    ----------
    methods : sequence of mappings
        Rows of the comparison: "method", metrics, and "threshold" where there is one.
    is_positive, scores : arrays
        Of the rows that judge.
    threshold : float
        Ours.
    decisions : mapping from str to array of bool
        Of methods without a threshold. Those with neither are left out.
    confidence : float
        Of each interval.
    names : Names
        Of both classes.

    Returns
    -------
    dict
        ``rows``, each with ``method``, ``found_more`` and ``flagged_more`` (positives and
        negatives that only ours flags, minus those that only the other does), their intervals as
        shares of the class, and ``may_be_chance``; and ``lead``, a sentence about the best of the
        others, None where there is none.
    """
    ours = scores > threshold
    rows = []
    for method in methods:
        name = str(method["method"])
        other = _decide(method, scores, decisions)
        if name in OUR_METHODS or other is None:
            continue
        paired = compare_boundaries(
            is_positive, other.astype(float), 0.5, ours.astype(float), 0.5, confidence
        )
        (flag_low, flag_high), (miss_low, miss_high) = paired.intervals
        rows.append(
            {
                "method": name,
                "found_more": paired.mended[1] - paired.broken[1],
                "found_interval": [-miss_high, -miss_low],
                "flagged_more": paired.broken[0] - paired.mended[0],
                "flagged_interval": [flag_low, flag_high],
                "differ": sum(paired.mended) + sum(paired.broken),
                "may_be_chance": [miss_low <= 0 <= miss_high, flag_low <= 0 <= flag_high],
            }
        )
    return {"rows": rows, "lead": _lead(methods, rows, is_positive, confidence, names)}


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
    methods: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    is_positive: BoolArray,
    confidence: float,
    names: Names,
) -> str | None:
    """Say how far ours is from the best of the others, in rows."""
    key = "g_mean"
    known = {str(m["method"]): float(m[key]) for m in methods if m.get(key) is not None}
    ours = next((known[name] for name in OUR_METHODS if name in known), None)
    rivals = [row for row in rows if row["method"] in known]
    if ours is None or not rivals:
        return None
    best = max(rivals, key=lambda row: known[row["method"]])
    value = known[best["method"]]
    place = "ahead of" if ours > value else "behind" if ours < value else "level with"
    start = (
        f"By {metric_title(key)}, ours is {place} the best of the others, {best['method']}: "
        f"{ours:.3f} against {value:.3f}."
    )
    if best["differ"] == 0:
        return f"{start} Both decide every row alike."
    found, flagged = best["found_more"], best["flagged_more"]
    n_positive = int(is_positive.sum())
    told = (
        f"It finds {_more(found)} of {n_positive:,} {names.positives} and flags {_more(flagged)} "
        f"of {len(is_positive) - n_positive:,} {names.negatives}"
    )
    if best["differ"] == 1:
        told = f"The whole difference is 1 of {len(is_positive):,} {names.unit}: {_lower(told)}"
    elif all(best["may_be_chance"]):
        told = f"{told}, which may be chance"
    sure = f"{100 * confidence:.6g}%"
    chance = "" if not all(best["may_be_chance"]) else f" Both {sure} intervals hold 0."
    return f"{start} {told}.{chance}"


def _more(number: int) -> str:
    """Return a difference of counts in words."""
    return f"{abs(number):,} {'fewer' if number < 0 else 'more'}"


def _lower(text: str) -> str:
    """Return a sentence to stand behind a colon."""
    return text[0].lower() + text[1:]
