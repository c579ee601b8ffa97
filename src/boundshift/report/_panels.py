"""What is counted on the judging rows: slider stops, histograms, groups, comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from boundshift._typing import BoolArray, Facts
from boundshift._validation import is_finite
from boundshift._view import ScoreAxis, choose_axis, class_scores, error_band, metrics_at
from boundshift._words import METRIC_TITLES, METRICS_COMPARED
from boundshift.curves._uniform import uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.report._evidence import MOST_LEVELS, Evidence
from boundshift.report._goal import Aim, keeps_floors

_N_STOPS = 1001
_N_BINS = 60
OURS = "the new threshold"
_OURS = (OURS, "boundshift")  # methods that are set off from the others


def panels(evidence: Evidence) -> Facts:
    """Return what is drawn: the axis, both classes, the slider, groups."""
    marks = {"shifted": evidence.boundary.threshold}
    if evidence.own_threshold is not None:
        marks["old"] = evidence.own_threshold
    axis = choose_axis([evidence.sample], list(marks.values()))
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
    sample = evidence.sample
    delta = 1 - evidence.confidence
    wrong = sample.count_wrong(thresholds)
    n = sample.n_samples
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
    low = axis.score(0.0)
    high = axis.score(1.0)
    for i, scores in enumerate(class_scores(evidence.sample)):
        right = (scores > evidence.boundary.threshold) == bool(i)
        every, solid = (
            np.histogram(axis.place(shown), bins=_N_BINS, range=(0.0, 1.0))[0].tolist()
            for shown in (scores, scores[right])
        )
        outside = int(np.count_nonzero((scores < low) | (scores > high)))
        classes.append({"counts": every, "solid": solid, "outside": outside})
    return classes


def _subgroups(evidence: Evidence) -> Iterator[Facts]:
    """Count hits and false alarms in each group of each column, the largest group first."""
    is_positive = evidence.rows.is_positive
    flagged = evidence.rows.flagged
    for column, values in evidence.details.groups.items():
        levels = np.array([_level(value) for value in np.asarray(values, dtype=object)])
        names, counts = np.unique(levels, return_counts=True)
        if not 2 <= len(names) <= MOST_LEVELS:
            continue
        rows = []
        for name in names[np.argsort(-counts, kind="stable")]:
            here = levels == name
            n = int(here.sum())
            positives = int((is_positive & here).sum())
            found = int((is_positive & flagged & here).sum())
            alarms = int((flagged & here).sum())
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


def _level(value: object) -> str:
    """Return a value as text; NaN, which does not equal itself, is missing."""
    return "(missing)" if value is None or value != value or str(value) == "<NA>" else str(value)


def compare(methods: Sequence[Facts] | None, evidence: Evidence) -> tuple[Facts, Lead | None]:
    """Return a table of methods, and how far ours is from the best of the others.

    None compares the model's own threshold, if it is known, with ours.
    """
    if methods is None:
        methods = _own_and_new(evidence)
    for method in methods:
        if not isinstance(method, Mapping) or "method" not in method:
            raise InvalidInputError(
                f"must be a list of mappings with the key 'method', got {method!r}. "
                "Use [{'method': 'untouched', 'g_mean': 0.7}], for example.",
                argument="comparison",
            )
    aim = Aim(evidence)
    better = dict.fromkeys(METRICS_COMPARED, max)
    titles = METRIC_TITLES
    if aim.is_cost:  # by which no metric of the table judges
        better = {"cost": min} | better
        titles = METRIC_TITLES | {"cost": aim.title}
        methods = [_with_cost(method, aim, evidence) for method in methods]
    keys = dict.fromkeys(key for method in methods for key in method if key != "method")
    shown = [key for key in better if key in keys]
    shown += [key for key in keys if key not in shown]
    columns = []
    for key in shown:
        values = [method[key] for method in methods if is_finite(method.get(key))]
        best = better[key](values) if key in better and values else None
        columns.append({"title": titles.get(key, key.replace("_", " ")), "best": best})
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
    lead = None
    if decided and any(row["ours"] for row in rows):
        lead = find_lead(decided, evidence)
    return {"columns": columns, "rows": rows, "metrics": shown}, lead


def _own_and_new(evidence: Evidence) -> list[Facts]:
    """Return the model's own threshold, if it is known, and ours, with their metrics."""
    methods = []
    for name, threshold in (
        ("the model's own threshold", evidence.own_threshold),
        (OURS, evidence.boundary.threshold),
    ):
        if threshold is not None:
            metrics = metrics_at(evidence.sample, threshold)
            compared = {metric: metrics[metric] for metric in METRICS_COMPARED}
            methods.append({"method": name, "threshold": threshold, **compared})
    return methods


def _with_cost(method: Facts, aim: Aim, evidence: Evidence) -> Facts:
    """Return a method with the cost of its decisions on these rows, if its threshold is known."""
    if not is_finite(method.get("threshold")):
        return method
    errors = evidence.rows.errors(evidence.scores > method["threshold"])
    return {**method, "cost": aim.at(errors)}


@dataclass(frozen=True)
class Lead:
    """How far ours is from the best of other methods, by the goal, on the same rows."""

    n_others: int
    n_keeping: int  # of the others, those that keep all floors
    ours_keeps: bool
    best: str | None = None
    ours: float = math.nan
    theirs: float = math.nan
    more_found: int = 0
    more_flagged: int = 0
    interval: tuple[float, float] | None = None  # of ours minus theirs; None for clusters
    is_same: bool = False  # whether both decide every row alike
    is_better_method: bool = False  # whether the best is better than ours beyond chance


def find_lead(decided: Mapping[str, BoolArray], evidence: Evidence) -> Lead:
    """Compare ours with the best of the other methods that keep all floors."""
    rows = evidence.rows
    aim = Aim(evidence)
    values = {}
    for name, flagged in decided.items():
        errors = rows.errors(flagged)
        if keeps_floors(aim, errors):
            values[name] = aim.at(errors)
    lead = Lead(
        n_others=len(decided),
        n_keeping=len(values),
        ours_keeps=keeps_floors(aim, rows.errors()),
    )
    if not lead.ours_keeps or not values:
        return lead
    best = (max if aim.is_maximised else min)(values, key=lambda name: values[name])
    ours = aim.at(rows.errors())
    interval = None
    if not evidence.is_clustered:
        interval = rows.interval(aim.of, evidence.confidence, aim.n_draws, decided[best])
    is_beyond = interval is not None and not interval[0] <= 0 <= interval[1]
    is_behind = aim.is_better(values[best], ours)
    difference = rows.flagged.astype(int) - decided[best].astype(int)
    return replace(
        lead,
        best=best,
        ours=ours,
        theirs=values[best],
        more_found=int(difference[rows.is_positive].sum()),
        more_flagged=int(difference[~rows.is_positive].sum()),
        interval=interval,
        is_same=not difference.any(),
        is_better_method=is_beyond and is_behind and not aim.asked,
    )
