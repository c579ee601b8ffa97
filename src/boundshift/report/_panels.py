"""What is counted on the judging rows: slider stops, curves, calibration, groups, comparisons."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift._boundary import Boundary
from boundshift._promises.comparison import compare_boundaries
from boundshift._typing import BoolArray
from boundshift._view.axis import ScoreAxis, choose_axis
from boundshift._view.rows import (
    as_score,
    class_scores,
    count_wrong_at,
    error_band,
    make_lanes,
    metrics_at,
    name_marks,
)
from boundshift._words import METRIC_TITLES, METRICS_COMPARED, percent, sure
from boundshift.curves._uniform import uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.report._evidence import MOST_LEVELS, Evidence
from boundshift.report._goal import aim_of, keeps_all
from boundshift.rules import Cost, Floors, GMean, Sum

_N_STOPS = 1001
_OURS = ("boundshift", "shifted")  # methods that are set off from the others
_N_BINS = 60
_MOST_POINTS = 400  # a class with more rows is drawn as a histogram only
_MOST_BASELINES = 3
_MOST_GROUPS, _FEWEST_ROWS = 10, 20  # of a calibration

Facts = dict[str, Any]


def panels(evidence: Evidence) -> Facts:
    """Return what is drawn: the axis, both classes, the slider, curves, calibration, groups."""
    boundary, geometry = evidence.boundary, evidence.boundary.geometry
    marks = {"old": evidence.old_threshold, "shifted": boundary.threshold}
    means = [as_score(boundary, mean) for mean in geometry.means] if geometry else []
    axis = choose_axis([evidence.deciding, evidence.judging], [*marks.values(), *means])
    stops = _stops(evidence, axis, marks)
    return {
        "axis": {"kind": axis.kind, "low": axis.low, "high": axis.high, "ticks": axis.ticks()},
        "projection": _projection(evidence, replace(boundary, geometry=None), axis),
        "paper": geometry and _projection(evidence, boundary, axis),
        "stops": stops,
        "precision_recall": _precision_recall(stops, evidence),
        "calibration": _calibration(evidence),
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
    wrong, n = count_wrong_at(sample, thresholds), sample.n_samples
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


def _projection(evidence: Evidence, boundary: Boundary, axis: ScoreAxis) -> Facts:
    """Return what to draw of each class, with places from 0 to 1 along the axis."""
    sample, classes = evidence.deciding, []
    low, high = axis.score(0.0), axis.score(1.0)
    for lane in make_lanes(boundary, class_scores(sample)):
        places = axis.place(lane.scores)
        few = len(lane.scores) <= _MOST_POINTS
        every, solid = lane.count(places, _N_BINS)
        classes.append(
            {
                "counts": every.tolist(),
                "solid": solid.tolist(),
                "points": np.round(places, 4).tolist() if few else [],
                "points_solid": lane.solid.tolist() if few else [],
                "bar": None if lane.bar is None else np.round(axis.place(lane.bar), 4).tolist(),
                "hollow": int(np.count_nonzero(~lane.solid)),
                "outside": int(np.count_nonzero((lane.scores < low) | (lane.scores > high))),
            }
        )
    return {"marks": name_marks(boundary, sample.n_samples), "classes": classes}


def _precision_recall(stops: Facts, evidence: Evidence) -> Facts:
    """Return recall and precision at every stop that flags a row, and at both thresholds."""
    n, prevalence = evidence.judging.n_samples, evidence.prevalence
    alarms, misses = (np.array(w)[::-1] / size for w, size in zip(stops["wrong"], n, strict=True))
    recall = 1 - misses
    hits, false = prevalence * recall, (1 - prevalence) * alarms
    precision = np.full(len(hits), np.nan)
    np.divide(hits, hits + false, out=precision, where=hits + false > 0)
    points = {}
    for name, stop in stops["marks"].items():
        at = len(recall) - 1 - stop
        points[name] = None if np.isnan(precision[at]) else [recall[at], precision[at]]
    shown = np.flatnonzero(~np.isnan(precision))
    # Neighbouring stops often have the same counts.
    same = (np.diff(recall[shown]) == 0) & (np.diff(precision[shown]) == 0)
    shown = shown[np.concatenate([[True], ~same])] if len(shown) else shown
    return {
        "recall": recall[shown].tolist(),
        "precision": precision[shown].tolist(),
        "points": points,
        "chance": prevalence,
    }


def _share(part: Any, whole: Any, confidence: float) -> Facts | None:
    """Return a share with Clopper and Pearson's two-sided interval."""
    if not whole:
        return None
    return dict(
        zip(("share", "low", "high"), map(float, error_band(part, whole, confidence)), strict=True)
    )


def _calibration(evidence: Evidence) -> Facts | None:
    """Compare probabilities with outcomes, in bins of about equal size."""
    if evidence.details.probability is None:
        return None
    probability = np.asarray(evidence.details.probability)
    order = np.argsort(probability, kind="stable")
    said, true = probability[order], evidence.rows.is_positive[order]
    count = int(np.clip(len(said) // _FEWEST_ROWS, 1, _MOST_GROUPS))
    wanted = np.linspace(0, len(said), count + 1).round().astype(int)[1:-1]
    # Equal probabilities stay together.
    borders = np.unique(np.searchsorted(said, said[wanted], side="left"))
    bins = []
    for group in np.split(np.arange(len(said)), borders):
        found = _share(true[group].sum(), len(group), evidence.confidence)
        if found is not None:
            mean = float(said[group].mean())
            bins.append({"n": len(group), "said": mean, "true": found.pop("share"), **found})
    off = sum(not b["low"] <= b["said"] <= b["high"] for b in bins)
    judged = "as far as these rows can tell, its probabilities come true."
    if off:
        judged = (
            f"in {off} of {len(bins)} groups of rows its probabilities do not come true: read "
            "them as a ranking, or calibrate the model."
        )
    mean, share = float(said.mean()), float(true.mean())
    told = f"On average the model's own probability is {percent(mean)}, and {percent(share)} are"
    told = f"{told} {evidence.names.positives}; {judged}"
    return {"bins": bins, "said": mean, "true": share, "off": off, "sentence": told}


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
                {"level": str(name), "n": n, "positives": positives, "found": found}
                | {"false_alarms": alarms - found}
                | {key: _share(*counts, evidence.confidence) for key, counts in shares.items()}
            )
        tables.append({"column": column, "rows": rows})
    return tables


def _level(value: Any) -> str:
    """Return a value as text; NaN, which does not equal itself, is missing."""
    return "(missing)" if value is None or value != value or str(value) == "<NA>" else str(value)


def compare(methods: Sequence[Mapping[str, Any]] | None, evidence: Evidence) -> Facts:
    """Return a table of our boundary and three other methods, and a sentence on the best of them.

    Methods have "method" and their metrics, beside it or in a mapping called "metrics". None
    compares the model's own threshold with the boundary.
    """
    if methods is None:
        cuts = {
            "model's own threshold": evidence.old_threshold,
            "shifted": evidence.boundary.threshold,
        }
        methods = [
            {"method": name, "threshold": cut}
            | {key: metrics_at(evidence.judging, cut)[key] for key in METRICS_COMPARED}
            for name, cut in cuts.items()
        ]
    flat = []
    for method in methods:
        if not isinstance(method, Mapping) or "method" not in method:
            raise InvalidInputError(
                f"`comparison` must be a list of mappings with the key 'method', got {method!r}. "
                "Use [{'method': 'untouched', 'g_mean': 0.7}], for example."
            )
        merged = {**method, **method.get("metrics", {}), "method": str(method["method"])}
        flat.append({str(key): value for key, value in merged.items() if key != "metrics"})
    decided = _decisions(flat, evidence)
    judged = {name: _judge(made, evidence) for name, made in decided.items()}
    sign = 1 if aim_of(evidence.boundary.rule).greater else -1

    def rank(method: Mapping[str, Any]) -> tuple[Any, ...]:
        if method.get("threshold") == evidence.old_threshold:
            return (0,)
        kept, value = judged.get(method["method"], (False, -sign * np.inf))
        return (1, not kept, -sign * value)

    ranked = sorted((method for method in flat if method["method"] not in _OURS), key=rank)
    left_out = [method["method"] for method in ranked[_MOST_BASELINES:]]
    flat = [method for method in flat if method["method"] not in left_out]
    keys = list(dict.fromkeys(key for method in flat for key in method if key != "method"))
    known = [key for key in METRICS_COMPARED if key in keys]
    keys = known + [key for key in keys if key not in known]
    cells = [[_cell(method.get(key)) for key in keys] for method in flat]
    columns = []
    for key, column in zip(keys, zip(*cells, strict=True), strict=True):
        values = [value for value in column if isinstance(value, float)]
        best = max(values) if key in METRICS_COMPARED and values else None
        title = METRIC_TITLES.get(key, key.replace("_", " "))
        columns.append({"key": key, "title": title, "best": best})
    rows = [
        {"method": method["method"], "ours": method["method"] in _OURS, "values": values}
        for method, values in zip(flat, cells, strict=True)
    ]
    ours = any(row["ours"] for row in rows)
    lead = _lead(decided, judged, evidence) if ours and decided else None
    return {"columns": columns, "rows": rows, "left_out": left_out, "lead": lead}


def _cell(value: object) -> float | str | None:
    """Return a finite number, a text, or None."""
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    if isinstance(value, numbers.Real):
        return float(value) if np.isfinite(float(value)) else None
    return str(value)


def _decisions(methods: Sequence[Mapping[str, Any]], evidence: Evidence) -> dict[str, BoolArray]:
    """Return the rows flagged by each other method that has a threshold or decisions."""
    decided: dict[str, BoolArray] = {}
    for method in methods:
        name, threshold = method["method"], method.get("threshold")
        if name in _OURS:
            continue
        if threshold is not None and not np.isnan(threshold):
            decided[name] = np.asarray(evidence.scores > threshold)
        elif name in evidence.details.decisions:
            decided[name] = np.asarray(evidence.details.decisions[name], dtype=np.bool_)
    return decided


def _judge(decided: BoolArray, evidence: Evidence) -> tuple[bool, float]:
    """Return whether decisions keep all floors, and their value by what was asked for."""
    rule, share = evidence.boundary.rule, evidence.weighted_prevalence
    errors = replace(evidence.rows, new=decided).errors("new")
    kept = not isinstance(rule, Floors) or keeps_all(rule, errors, share)
    return kept, float(aim_of(rule).measure(np.asarray(errors[0]), np.asarray(errors[1]), share))


def _lead(
    decided: Mapping[str, BoolArray], judged: Mapping[str, tuple[bool, float]], evidence: Evidence
) -> str:
    """Say how far ours is from the best of the others, by what was asked for, and in rows."""
    rows, rule = evidence.rows, evidence.boundary.rule
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
            return before.strip()
    aim = aim_of(rule)
    best = (max if aim.greater else min)(kept, key=lambda name: kept[name])
    theirs = kept[best]
    place = "ahead of" if (ours > theirs) == aim.greater else "behind"
    place = "level with" if ours == theirs else place
    whom = best if len(kept) == 1 else f"the best of {who}, {best}"
    start = f"{before}By {aim.title}, ours is {place} {whom}: {aim.text(ours)} against "
    start = f"{start}{aim.text(theirs)}."
    # Only the classes' own differences are read, which no cost enters.
    both = (decided[best].astype(float), 0.5, rows.new.astype(float), 0.5)
    paired = compare_boundaries(rows.is_positive, *both, evidence.confidence, cost=Cost())
    differ = sum(paired.mended) + sum(paired.broken)
    if differ == 0:
        return f"{start} Both make the same decision on every row."
    names, n_positive = evidence.names, int(rows.is_positive.sum())
    n, chance = len(rows.is_positive), all(low <= 0 <= high for low, high in paired.intervals)
    flagged, found = (
        f"{abs(count):,} {'fewer' if count < 0 else 'more'}"
        for count in (
            paired.broken[0] - paired.mended[0],
            paired.mended[1] - paired.broken[1],
        )
    )
    told = (
        f"urs finds {found} of {n_positive:,} {names.positives} and flags {flagged} of "
        f"{n - n_positive:,} {names.negatives}"
    )
    if differ == 1:
        told = f"The whole difference is 1 of {n:,} {names.unit}: o{told}"
    else:
        told = f"O{told}{', which may be chance' if chance else ''}"
    interval = sure(evidence.confidence).removesuffix("confidence") + "intervals"
    advice = f" Consider {best} instead." if place == "behind" and who == "the others" else ""
    return f"{start} {told}.{f' Both {interval} contain 0.' if chance else advice}"
