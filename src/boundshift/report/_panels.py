"""What is counted on the judging rows: slider stops, histograms, groups, comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift._typing import BoolArray
from boundshift._validation import is_finite
from boundshift._view import ScoreAxis, choose_axis, class_scores, error_band, metrics_at
from boundshift._words import METRIC_TITLES, METRICS_COMPARED
from boundshift.curves._uniform import uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.report._evidence import MOST_LEVELS, Evidence
from boundshift.report._goal import Aim, keeps, rates_at
from boundshift.rules import Floors, GMean, Sum

_N_STOPS, _N_BINS = 1001, 60
_OURS = ("boundshift", "shifted")  # methods that are set off from the others

Facts = dict[str, Any]


def panels(evidence: Evidence) -> Facts:
    """Return what is drawn: the axis, both classes, the slider, groups."""
    marks = {"old": evidence.old_threshold, "shifted": evidence.boundary.threshold}
    axis = choose_axis([evidence.judging], list(marks.values()))
    return {
        "axis": {"kind": axis.kind, "low": axis.low, "high": axis.high, "ticks": axis.ticks()},
        "projection": _projection(evidence, axis),
        "stops": _stops(evidence, axis, marks),
        "subgroups": list(_subgroups(evidence)),
    }


def _stops(evidence: Evidence, axis: ScoreAxis, marks: dict[str, float]) -> Facts:
    """Return the stops of the slider, both marks among them, with exact counts and bounds.

    Bounds hold at all stops at once, so that a reader may choose freely. Those of "together"
    (negatives above, positives below and above) hold jointly, for what depends on both classes.
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
    classes = []
    low, high = axis.score(0.0), axis.score(1.0)
    for i, scores in enumerate(class_scores(evidence.judging)):
        right = (scores > evidence.boundary.threshold) == bool(i)
        every, solid = (
            np.histogram(axis.place(shown), bins=_N_BINS, range=(0.0, 1.0))[0].tolist()
            for shown in (scores, scores[right])
        )
        outside = int(np.count_nonzero((scores < low) | (scores > high)))
        classes.append({"counts": every, "solid": solid, "outside": outside})
    return classes


def _subgroups(evidence: Evidence) -> Any:
    """Count hits and false alarms in each group of each column, the largest group first."""
    is_positive, flagged = evidence.rows.is_positive, evidence.rows.new
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
            row: Facts = {"level": str(name), "n": n, "positives": positives}
            for key, part, whole in (
                ("recall", found, positives),
                ("false_alarm_rate", alarms - found, n - positives),
                ("precision", found, alarms),
            ):
                band = error_band(part, max(whole, 1), evidence.confidence)
                shares = {"share": band.value, "low": band.low, "high": band.high}
                row[key] = {end: float(at) for end, at in shares.items()} if whole else None
            rows.append(row)
        yield {"column": column, "rows": rows}


def _level(value: Any) -> str:
    """Return a value as text; NaN, which does not equal itself, is missing."""
    return "(missing)" if value is None or value != value or str(value) == "<NA>" else str(value)


def compare(methods: Sequence[Mapping[str, Any]] | None, evidence: Evidence) -> Facts:
    """Return a table of methods, a sentence on the best, and who is better.

    None compares the model's own threshold with the boundary.
    """
    if methods is None:
        cuts = {
            "the model's own threshold": evidence.old_threshold,
            "shifted": evidence.boundary.threshold,
        }
        known = {name: metrics_at(evidence.judging, cut) for name, cut in cuts.items()}
        methods = [
            {"method": name, "threshold": cuts[name]} | {key: at[key] for key in METRICS_COMPARED}
            for name, at in known.items()
        ]
    for method in methods:
        if not isinstance(method, Mapping) or "method" not in method:
            raise InvalidInputError(
                f"`comparison` must be a list of mappings with the key 'method', got {method!r}. "
                "Use [{'method': 'untouched', 'g_mean': 0.7}], for example."
            )
    keys = dict.fromkeys(key for method in methods for key in method if key != "method")
    shown = [key for key in METRICS_COMPARED if key in keys]
    shown += [key for key in keys if key not in shown]
    columns = []
    for key in shown:
        values = [method[key] for method in methods if is_finite(method.get(key))]
        best = max(values) if key in METRICS_COMPARED and values else None
        columns.append({"title": METRIC_TITLES.get(key, key.replace("_", " ")), "best": best})
    rows = [
        {"method": each["method"], "ours": each["method"] in _OURS}
        | {"values": [each.get(key) for key in shown]}
        for each in methods
    ]
    decided = {
        method["method"]: np.asarray(evidence.scores > method["threshold"])
        for method in methods
        if method["method"] not in _OURS and is_finite(method.get("threshold"))
    }
    lead = better = None
    if decided and any(row["ours"] for row in rows):
        lead, better = _lead(decided, evidence)
    return {"columns": columns, "rows": rows, "lead": lead, "better": better}


def _lead(decided: Mapping[str, BoolArray], evidence: Evidence) -> tuple[str, str | None]:
    """Say how far ours is from the best of the others, and name one that is better beyond chance.

    The difference is that of what was asked for, on the same rows.
    """
    rows, rule, names, aim = evidence.rows, evidence.boundary.rule, evidence.names, Aim(evidence)
    asked = rule.asked if isinstance(rule, Floors) else {}
    values = {}
    for name, made in ({"": rows.new} | dict(decided)).items():
        errors = replace(rows, new=made).errors("new")
        rates = rates_at(errors, aim.share)
        if all(keeps(floor, limit, rates[floor]) for floor, limit in asked.items()):
            values[name] = float(aim.of(*errors))
    ours = values.pop("", None)
    told = "" if isinstance(rule, GMean | Sum) else "The others may have had another goal. "
    if asked:
        told += (
            f"{len(values)} of {len(decided)} reach this one on these rows; ours "
            f"{'does not' if ours is None else 'does'}. "
        )
    if ours is None or not values:
        return told.strip(), None
    best = (max if aim.greater else min)(values, key=lambda name: values[name])
    theirs, other = values[best], decided[best]
    place = "ahead of" if (ours > theirs) == aim.greater else "behind"
    place = "level with" if ours == theirs else place
    told += f"By {aim.title}, ours is {place} {best}: {aim.text(ours)} against {aim.text(theirs)}."
    counted = []
    for of_class in (rows.is_positive, ~rows.is_positive):
        more = int((rows.new & of_class).sum()) - int((other & of_class).sum())
        counted.append(f"{abs(more):,} {'fewer' if more < 0 else 'more'} of {of_class.sum():,}")
    told += f" Ours finds {counted[0]} {names.positives} and flags {counted[1]} {names.negatives}."
    if evidence.clustered:
        return f"{told} Rows of one cluster are alike, so the difference may be chance.", None
    low, high = aim.gain(replace(rows, old=other), evidence.confidence)
    if low <= 0 <= high:
        chance = f"may be chance ({100 * evidence.confidence:.6g}%, by resampling)"
        return f"{told} On the same cases the difference {chance}.", None
    if asked and place == "behind":
        return f"{told} But none of these promises the goal.", None
    return told, best if place == "behind" else None
