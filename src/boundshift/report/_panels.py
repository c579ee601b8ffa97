"""What is counted on the judging rows: slider stops, histograms, groups, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift._typing import BoolArray
from boundshift._validation import is_finite
from boundshift._view import (
    ScoreAxis,
    choose_axis,
    class_scores,
    error_band,
    metrics_at,
)
from boundshift._words import METRIC_TITLES, METRICS_COMPARED
from boundshift.curves._uniform import uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.report._evidence import MOST_LEVELS, Evidence
from boundshift.report._goal import aim_of, keeps_all
from boundshift.rules import Floors, GMean, Sum

_N_STOPS = 1001
_OURS = ("boundshift", "shifted")  # methods that are set off from the others
_N_BINS = 60
_MOST_BASELINES = 3
_DRAWS, _FEW_DRAWS = 2000, 200

Facts = dict[str, Any]


def panels(evidence: Evidence) -> Facts:
    """Return what is drawn: the axis, both classes, the slider, groups."""
    marks = {"old": evidence.old_threshold, "shifted": evidence.boundary.threshold}
    axis = choose_axis([evidence.deciding, evidence.judging], list(marks.values()))
    return {
        "axis": {"kind": axis.kind, "low": axis.low, "high": axis.high, "ticks": axis.ticks()},
        "projection": _projection(evidence, axis),
        "stops": _stops(evidence, axis, marks),
        "subgroups": _subgroups(evidence),
    }


def _stops(evidence: Evidence, axis: ScoreAxis, marks: dict[str, float]) -> Facts:
    """Return the stops of the slider, with exact counts and bounds at each.

    Both marks are stops themselves. Bounds hold at all stops at once, so that a reader may choose
    freely. Those of "together" (negatives above, positives below and above) hold jointly, for what
    depends on both classes.
    """
    grid = axis.score(np.linspace(0, 1, _N_STOPS))
    short = np.array([float(f"{t:.6g}") for t in grid])  # easy to copy
    grid = short if np.all(np.diff(short) > 0) else grid
    thresholds = np.unique([*grid, *marks.values()])
    sample, delta = evidence.judging, 1 - evidence.confidence
    wrong, n = sample.count_wrong(thresholds), sample.n_samples
    counted = ((wrong[0], n[0]), (wrong[1], n[1]), (n[1] - wrong[1], n[1]))
    return {
        "threshold": thresholds.tolist(),
        "at": [round(float(place), 5) for place in axis.place(thresholds)],
        "wrong": [counts.tolist() for counts in wrong],
        "bounds": [_bounds(*counts, delta) for counts in counted[:2]],
        "together": [_bounds(*counts, delta / 3) for counts in counted],
        "marks": {name: int(np.searchsorted(thresholds, t)) for name, t in marks.items()},
    }


def _bounds(wrong: NDArray[np.intp], n: int, delta: float) -> list[float]:
    """Return the bound that holds for every threshold, rounded up."""
    distinct, place = np.unique(wrong, return_inverse=True)
    bounds = np.minimum(1.0, np.ceil(uniform_bound(distinct, n, delta) * 1e6) / 1e6)
    return [float(bound) for bound in bounds[place]]


def _projection(evidence: Evidence, axis: ScoreAxis) -> list[Facts]:
    """Return histograms of each class along the axis: all rows, and those on the right side."""
    classes, cut = [], evidence.boundary.threshold
    low, high = axis.score(0.0), axis.score(1.0)
    for i, scores in enumerate(class_scores(evidence.deciding)):
        right = (scores > cut) == bool(i)
        every, solid = (
            np.histogram(axis.place(shown), bins=_N_BINS, range=(0.0, 1.0))[0].tolist()
            for shown in (scores, scores[right])
        )
        outside = int(np.count_nonzero((scores < low) | (scores > high)))
        wrong = int(np.count_nonzero(~right))
        classes.append({"counts": every, "solid": solid, "wrong": wrong, "outside": outside})
    return classes


def _share(part: Any, whole: Any, confidence: float) -> Facts | None:
    """Return a share with Clopper and Pearson's two-sided interval."""
    if not whole:
        return None
    band = error_band(part, whole, confidence)
    return {"share": float(band.value), "low": float(band.low), "high": float(band.high)}


def _subgroups(evidence: Evidence) -> list[Facts]:
    """Count hits and false alarms in each group of each column, the largest group first."""
    is_positive, flagged = evidence.rows.is_positive, evidence.rows.new
    tables = []
    for column, values in evidence.details.groups.items():
        levels = np.array([_level(value) for value in values])
        names, counts = np.unique(levels, return_counts=True)
        if not 2 <= len(names) <= MOST_LEVELS:
            continue
        rows = []
        for name in names[np.argsort(-counts, kind="stable")]:
            here = levels == name
            n, positives = int(here.sum()), int((is_positive & here).sum())
            found, alarms = int((is_positive & flagged & here).sum()), int((flagged & here).sum())
            shares = {
                "recall": (found, positives),
                "false_alarm_rate": (alarms - found, n - positives),
                "precision": (found, alarms),
            }
            rows.append(
                {"level": str(name), "n": n, "positives": positives}
                | {key: _share(*counts, evidence.confidence) for key, counts in shares.items()}
            )
        tables.append({"column": column, "rows": rows})
    return tables


def _level(value: Any) -> str:
    """Return a value as text; NaN, which does not equal itself, is missing."""
    return "(missing)" if value is None or value != value or str(value) == "<NA>" else str(value)


def compare(methods: Sequence[Mapping[str, Any]] | None, evidence: Evidence) -> Facts:
    """Return a table of ours and three other methods, a sentence on the best, and who is better.

    None compares the model's own threshold with the boundary.
    """
    own, ours = evidence.old_threshold, evidence.boundary.threshold
    if methods is None:
        cuts = {"the model's own threshold": own, "shifted": ours}
        known = {name: metrics_at(evidence.judging, cut) for name, cut in cuts.items()}
        methods = [
            {"method": name, "threshold": cuts[name]} | {key: at[key] for key in METRICS_COMPARED}
            for name, at in known.items()
        ]
    decided: dict[str, BoolArray] = {}
    for method in methods:
        if not isinstance(method, Mapping) or "method" not in method:
            raise InvalidInputError(
                f"`comparison` must be a list of mappings with the key 'method', got {method!r}. "
                "Use [{'method': 'untouched', 'g_mean': 0.7}], for example."
            )
        name, threshold = method["method"], method.get("threshold", np.nan)
        if name not in _OURS and is_finite(threshold):
            decided[name] = np.asarray(evidence.scores > threshold)
    judged = {name: _judge(made, evidence) for name, made in decided.items()}
    sign = 1 if aim_of(evidence.boundary.rule).greater else -1

    def rank(method: Mapping[str, Any]) -> tuple[Any, ...]:
        if method.get("threshold") == own:
            return (0,)
        kept, value = judged.get(method["method"], (False, -sign * np.inf))
        return (1, not kept, -sign * value)

    ranked = sorted((method for method in methods if method["method"] not in _OURS), key=rank)
    left_out = [method["method"] for method in ranked[_MOST_BASELINES:]]
    methods = [method for method in methods if method["method"] not in left_out]
    keys = dict.fromkeys(key for method in methods for key in method if key != "method")
    shown = [key for key in METRICS_COMPARED if key in keys]
    shown += [key for key in keys if key not in shown]
    columns = []
    for key in shown:
        values = [method[key] for method in methods if is_finite(method.get(key))]
        best = max(values) if key in METRICS_COMPARED and values else None
        columns.append({"title": METRIC_TITLES.get(key, key.replace("_", " ")), "best": best})
    rows = [
        {
            "method": method["method"],
            "ours": method["method"] in _OURS,
            "values": [method.get(key) for key in shown],
        }
        for method in methods
    ]
    lead, better = None, None
    if decided and any(row["ours"] for row in rows):
        lead, better = _lead(decided, judged, evidence)
    return {"columns": columns, "rows": rows, "left_out": left_out, "lead": lead, "better": better}


def _judge(decided: BoolArray, evidence: Evidence) -> tuple[bool, float]:
    """Return whether decisions keep all floors, and their value by what was asked for."""
    rule, share = evidence.boundary.rule, evidence.weighted_prevalence
    errors = replace(evidence.rows, new=decided).errors("new")
    kept = not isinstance(rule, Floors) or keeps_all(rule, errors, share)
    return kept, float(aim_of(rule).measure(np.asarray(errors[0]), np.asarray(errors[1]), share))


def _lead(
    decided: Mapping[str, BoolArray], judged: Mapping[str, tuple[bool, float]], evidence: Evidence
) -> tuple[str, str | None]:
    """Say how far ours is from the best of the others, and name one that is better beyond chance.

    The difference is that of what was asked for, on the same rows.
    """
    rows, rule, names = evidence.rows, evidence.boundary.rule, evidence.names
    ours_keeps, ours = _judge(rows.new, evidence)
    kept, who = {name: value for name, (keeps, value) in judged.items() if keeps}, "the others"
    before = "" if isinstance(rule, GMean | Sum) else "The others may have had another goal. "
    if isinstance(rule, Floors):
        who = "these"
        reach = f"{len(kept)} reach" if len(kept) > 1 else f"{next(iter(kept), 'none')} reaches"
        before = (
            f"Of {len(judged)} other method{'s' if len(judged) > 1 else ''}, which may have had "
            f"another goal, {reach} this one on these rows; ours "
            f"{'does' if ours_keeps else 'does not'}. "
        )
        if not ours_keeps or not kept:
            return before.strip(), None
    aim = aim_of(rule)
    best = (max if aim.greater else min)(kept, key=lambda name: kept[name])
    theirs, other = kept[best], decided[best]
    place = "ahead of" if (ours > theirs) == aim.greater else "behind"
    place = "level with" if ours == theirs else place
    whom = best if len(kept) == 1 else f"the best of {who}, {best}"
    start = f"{before}By {aim.title}, ours is {place} {whom}: {aim.text(ours)} against "
    start = f"{start}{aim.text(theirs)}."
    if np.array_equal(other, rows.new):
        return f"{start} Both make the same decision on every row.", None
    more = [
        int((rows.new & of_class).sum()) - int((other & of_class).sum())
        for of_class in (~rows.is_positive, rows.is_positive)
    ]
    flagged, found = (f"{abs(count):,} {'fewer' if count < 0 else 'more'}" for count in more)
    n_positive = int(rows.is_positive.sum())
    told = (
        f"Ours finds {found} of {n_positive:,} {names.positives} and flags {flagged} of "
        f"{len(rows.is_positive) - n_positive:,} {names.negatives}."
    )
    if evidence.clustered is not None:
        alike = "Rows of one cluster are alike, so the difference may be chance."
        return f"{start} {told} {alike}", None
    low, high = replace(rows, old=other).gain_interval(
        lambda u, v: aim.measure(u, v, evidence.weighted_prevalence),
        evidence.confidence,
        _FEW_DRAWS if rule.costly else _DRAWS,
    )
    if low <= 0 <= high:
        chance = f"may be chance ({100 * evidence.confidence:.6g}%, by resampling)"
        return f"{start} {told} On the same cases the difference {chance}.", None
    if place == "behind" and isinstance(rule, Floors):
        return f"{start} {told} But none of these promises the goal.", None
    return f"{start} {told}", best if place == "behind" else None
