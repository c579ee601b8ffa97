"""What is counted on the judging rows: slider stops, curves, calibration, groups, comparisons."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.curves.uniform import uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.promises.comparison import compare_boundaries
from boundshift.report.evidence import Evidence, PairedRows, share_interval
from boundshift.report.goal import aim_of, keeps
from boundshift.result.boundary import Boundary
from boundshift.rules import Cost, Floors, GMean, Sum
from boundshift.rules.floors import reached_rates
from boundshift.scores import ScoreSample
from boundshift.typing import BoolArray, FloatArray
from boundshift.view.axis import ScoreAxis
from boundshift.view.rows import class_scores, count_wrong_at, make_lanes, name_marks
from boundshift.words import METRICS_COMPARED, Names, metric_title, percent, sure

__all__ = [
    "MOST_LEVELS",
    "N_STOPS",
    "collect_calibration",
    "collect_comparison",
    "collect_decision_curve",
    "collect_precision_recall",
    "collect_projection",
    "collect_stops",
    "collect_subgroups",
    "compare_pairs",
]

N_STOPS = 1001
MOST_LEVELS = 12
"""Columns with more values than this are not shown as groups."""

_N_BINS = 60
_MOST_POINTS = 400  # a class with more rows is drawn as a histogram only
_BENEFIT_STEPS = 100
OUR_METHODS = ("boundshift", "shifted")
_MOST_GROUPS, _FEWEST_ROWS = 10, 20  # of a calibration


def collect_stops(
    sample: ScoreSample, axis: ScoreAxis, marks: dict[str, float], confidence: float
) -> dict[str, Any]:
    """Return the stops of the slider along the axis, with exact counts and bounds at each.

    Each mark is a stop itself, in the place of the nearest one. Bounds hold at all stops together,
    so that a reader may choose freely.

    Returns
    -------
    dict
        ``threshold``, ``at`` (place), ``wrong`` and ``bounds`` (negative, positive), ``together``
        (bounds of negatives above, positives below and positives above, which hold together, for
        what depends on both classes), and ``marks``, the index of each mark.
    """
    thresholds = axis.score(np.linspace(0, 1, N_STOPS))
    short = np.array([float(f"{t:.6g}") for t in thresholds])  # easy to copy
    thresholds = short if np.all(np.diff(short) > 0) else thresholds
    index = _place_marks(thresholds, axis, marks)
    wrong = count_wrong_at(sample, thresholds)
    n, delta = sample.n_samples, 1 - confidence
    counted = ((wrong[0], n[0]), (wrong[1], n[1]), (n[1] - wrong[1], n[1]))
    return {
        "threshold": thresholds.tolist(),
        "at": [round(float(place), 5) for place in axis.place(thresholds)],
        "wrong": [counts.tolist() for counts in wrong],
        "bounds": [_bounds(*counts, delta) for counts in counted[:2]],
        "together": [_bounds(*counts, delta / 3) for counts in counted],
        "marks": index,
    }


def _place_marks(
    thresholds: FloatArray, axis: ScoreAxis, marks: dict[str, float]
) -> dict[str, int]:
    """Put each mark in the place of its nearest stop, in order, and return where it went."""
    taken: dict[str, int] = {}
    following = 0
    ordered = sorted(marks, key=lambda name: marks[name])
    for left, name in enumerate(ordered):
        mark = marks[name]
        same = [n for n in taken if marks[n] == mark]
        if same:
            taken[name] = taken[same[0]]
            continue
        nearest = round(float(axis.place(mark)) * (N_STOPS - 1))
        nearest = min(max(nearest, following), N_STOPS - len(ordered) + left)
        thresholds[nearest] = mark
        # A probability of 0 or 1 has no place on an axis of log-odds, yet must keep its rank.
        np.minimum(thresholds[:nearest], mark, out=thresholds[:nearest])
        np.maximum(thresholds[nearest:], mark, out=thresholds[nearest:])
        taken[name] = nearest
        following = nearest + 1
    return taken


def _bounds(wrong: NDArray[np.intp], n: int, delta: float) -> list[float]:
    """Return the bound that holds for every threshold, rounded up."""
    distinct, place = np.unique(wrong, return_inverse=True)
    bounds = np.minimum(1.0, np.ceil(uniform_bound(distinct, n, delta) * 1e6) / 1e6)
    return [float(bound) for bound in bounds[place]]


def collect_projection(sample: ScoreSample, boundary: Boundary, axis: ScoreAxis) -> dict[str, Any]:
    """Return what to draw of each class, with places from 0 to 1 along the axis.

    Returns
    -------
    dict
        ``bins``, their number; ``marks``, what solid and hollow points are; ``classes``, each
        with ``counts`` and ``solid`` (histograms of all and of solid points), ``points`` and
        ``points_solid`` (none where there are very many), ``bar`` (ends of mean, radius and
        confidence radius, or None), ``hollow`` (number) and ``outside`` (number beyond the axis).
    """
    low, high = axis.score(0.0), axis.score(1.0)
    classes = []
    for lane in make_lanes(boundary, class_scores(sample)):
        place = axis.place(lane.scores)
        few = len(lane.scores) <= _MOST_POINTS
        counts, solid = (
            np.histogram(places, bins=_N_BINS, range=(0.0, 1.0))[0].tolist()
            for places in (place, place[lane.solid])
        )
        classes.append(
            {
                "counts": counts,
                "solid": solid,
                "points": np.round(place, 4).tolist() if few else [],
                "points_solid": lane.solid.tolist() if few else [],
                "bar": None if lane.bar is None else np.round(axis.place(lane.bar), 4).tolist(),
                "hollow": int(np.count_nonzero(~lane.solid)),
                "outside": int(np.count_nonzero((lane.scores < low) | (lane.scores > high))),
            }
        )
    return {"bins": _N_BINS, "marks": name_marks(boundary, sample.n_samples), "classes": classes}


def collect_precision_recall(
    stops: dict[str, Any], n_samples: tuple[int, int], prevalence: float
) -> dict[str, Any]:
    """Return recall and precision at every stop that flags a row, and at both thresholds.

    Returns
    -------
    dict
        ``recall`` and ``precision``, of falling thresholds; ``points``, a pair for each mark, None
        where it flags nothing; ``chance``, the precision of flagging everything.
    """
    alarms, misses = (np.array(w)[::-1] / n for w, n in zip(stops["wrong"], n_samples, strict=True))
    recall = 1 - misses
    hits, false = prevalence * recall, (1 - prevalence) * alarms
    precision = np.full(len(hits), np.nan)
    np.divide(hits, hits + false, out=precision, where=hits + false > 0)
    last = len(recall) - 1
    points = {}
    for name, stop in stops["marks"].items():
        here = precision[last - stop]
        points[name] = None if np.isnan(here) else [recall[last - stop], here]
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


def collect_decision_curve(
    errors: Mapping[str, tuple[float, ...]],
    prevalence: float,
    own: tuple[BoolArray, FloatArray] | None = None,
) -> dict[str, Any]:
    r"""Return the net benefit of thresholds with these error rates, and of flagging all rows.

    At a threshold probability p, where one hit is worth :math:`(1 - p)/p` false alarms, the net
    benefit is the share of hits minus :math:`p/(1 - p)` times the share of false alarms. `own` are
    the labels and the model's own probabilities, to act on these at each p.

    Examples
    --------
    >>> curve = collect_decision_curve({"shifted": (0.1, 0.2)}, 0.2)
    >>> round(curve["curves"]["all"][0], 3), curve["curves"]["shifted"][0] < 0.16
    (0.195, True)
    """
    # Beyond three times the prevalence little is left to win.
    most = min(0.95, max(3 * prevalence, 0.02))
    chance = np.linspace(most / _BENEFIT_STEPS, most, _BENEFIT_STEPS)
    odds = chance / (1 - chance)

    def benefit(alarms: FloatArray | float, misses: FloatArray | float) -> list[float]:
        gain = prevalence * (1 - misses) - (1 - prevalence) * odds * alarms
        return [float(g) for g in gain]

    curves = {name: benefit(*pair) for name, pair in errors.items()} | {"all": benefit(1.0, 0.0)}
    if own is not None:
        is_positive, probability = own
        negative, positive = np.sort(probability[~is_positive]), np.sort(probability[is_positive])
        below = np.searchsorted(negative, chance, side="right") / len(negative)
        missed = np.searchsorted(positive, chance, side="right") / len(positive)
        curves["own"] = benefit(1 - below, missed)
    return {"probability": chance.tolist(), "curves": curves, "top": prevalence}


def collect_calibration(
    is_positive: BoolArray, probability: FloatArray, confidence: float, names: Names
) -> dict[str, Any]:
    """Compare probabilities with what came true, in bins of about equally many rows.

    Returns
    -------
    dict
        ``bins``: each with ``n``, ``said`` (mean probability), ``true`` (share of positives) and
        ``low`` and ``high``, Clopper and Pearson's interval of it; ``said`` and ``true`` of all
        rows; ``off``, the number of bins whose interval misses the mean; and a ``sentence``.

    Examples
    --------
    >>> from boundshift.words import read_names
    >>> truth, said = np.arange(100) % 4 == 0, np.full(100, 0.25)
    >>> found = collect_calibration(truth, said, 0.95, read_names(None, (0, 1)))
    >>> [(group["n"], group["said"], group["true"]) for group in found["bins"]]
    [(100, 0.25, 0.25)]
    """
    order = np.argsort(probability, kind="stable")
    said, true = probability[order], is_positive[order]
    count = int(np.clip(len(said) // _FEWEST_ROWS, 1, _MOST_GROUPS))
    wanted = np.linspace(0, len(said), count + 1).round().astype(int)[1:-1]
    # Equal probabilities stay together.
    borders = np.unique(np.searchsorted(said, said[wanted], side="left"))
    bins = []
    for group in np.split(np.arange(len(said)), borders):
        if n := len(group):
            hits = int(true[group].sum())
            low, high = share_interval(hits, n, confidence)
            mean = float(said[group].mean())
            bins.append({"n": n, "said": mean, "true": hits / n, "low": low, "high": high})
    off = sum(not b["low"] <= b["said"] <= b["high"] for b in bins)
    judged = "as far as these rows can tell, its probabilities come true."
    if off:
        judged = (
            f"in {off} of {len(bins)} groups of rows its probabilities do not come true: read "
            "them as a ranking, or calibrate the model."
        )
    mean, share = float(said.mean()), float(true.mean())
    return {
        "bins": bins,
        "said": mean,
        "true": share,
        "off": off,
        "sentence": (
            f"On average the model's own probability is {percent(mean)}, and {percent(share)} are "
            f"{names.positives}; {judged}"
        ),
    }


def collect_subgroups(
    is_positive: BoolArray,
    flagged: BoolArray,
    groups: Mapping[str, NDArray[Any]],
    confidence: float,
) -> list[dict[str, Any]]:
    """Count hits and false alarms in each group of each column.

    Returns
    -------
    list of dict
        ``column`` and ``rows``, in the order of the groups' sizes, each with its ``level``,
        numbers of rows, and for shares an interval (Clopper and Pearson); None where a share has
        no rows.

    Examples
    --------
    >>> truth, flagged = np.array([True, True, False, False]), np.array([True, False, True, False])
    >>> tables = collect_subgroups(truth, flagged, {"town": np.array(list("AABB"))}, 0.95)
    >>> [(row["level"], row["found"], row["false_alarms"]) for row in tables[0]["rows"]]
    [('A', 1, 0), ('B', 0, 1)]
    """

    def share(part: int, whole: int) -> dict[str, float] | None:
        if whole == 0:
            return None
        low, high = share_interval(part, whole, confidence)
        return {"share": part / whole, "low": low, "high": high}

    tables = []
    for column, values in groups.items():
        levels = np.array([_level(value) for value in values])
        names, counts = np.unique(levels, return_counts=True)
        if not 2 <= len(names) <= MOST_LEVELS:
            continue
        rows = []
        for name in names[np.argsort(-counts, kind="stable")]:
            here = levels == name
            n, positives = int(here.sum()), int((is_positive & here).sum())
            found = int((is_positive & flagged & here).sum())
            alarms = int((flagged & here).sum())
            rows.append(
                {
                    "level": str(name),
                    "n": n,
                    "positives": positives,
                    "found": found,
                    "false_alarms": alarms - found,
                    "recall": share(found, positives),
                    "false_alarm_rate": share(alarms - found, n - positives),
                    "precision": share(found, alarms),
                }
            )
        tables.append({"column": column, "rows": rows})
    return tables


def _level(value: Any) -> str:
    """Return a value as text; NaN, which does not equal itself, is missing."""
    return "(missing)" if value is None or value != value or str(value) == "<NA>" else str(value)


def collect_comparison(methods: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Turn rows of metrics into a table whose best values are known.

    Each method has "method" and its metrics, beside it or in a mapping called "metrics". A metric
    that a method lacks stays empty.

    Returns
    -------
    dict
        ``columns`` (key, title, best) and ``rows`` (method, whether it is ours, values in the
        columns' order).
    """
    flat = []
    for method in methods:
        if not isinstance(method, Mapping) or "method" not in method:
            raise InvalidInputError(
                f"`comparison` must be a list of mappings with the key 'method', got {method!r}. "
                "Use [{'method': 'untouched', 'g_mean': 0.7}], for example."
            )
        merged = {**method, **method.get("metrics", {})}
        flat.append({str(key): value for key, value in merged.items() if key != "metrics"})
    keys = list(dict.fromkeys(key for method in flat for key in method if key != "method"))
    known = [key for key in METRICS_COMPARED if key in keys]
    keys = known + [key for key in keys if key not in known]
    columns = []
    for key in keys:
        cells = [_cell(method.get(key)) for method in flat]
        values = [cell for cell in cells if isinstance(cell, float)]
        best = max(values) if key in METRICS_COMPARED and values else None
        columns.append({"key": key, "title": metric_title(key), "best": best})
    rows = [
        {
            "method": str(method["method"]),
            "ours": method["method"] in OUR_METHODS,
            "values": [_cell(method.get(key)) for key in keys],
        }
        for method in flat
    ]
    return {"columns": columns, "rows": rows}


def _cell(value: object) -> float | str | None:
    """Return a finite number, a text, or None."""
    if value is None or isinstance(value, bool):
        return None if value is None else str(value).lower()
    if isinstance(value, numbers.Real):
        return float(value) if np.isfinite(float(value)) else None
    return str(value)


def compare_pairs(methods: Sequence[Mapping[str, Any]], evidence: Evidence) -> dict[str, Any]:
    """Compare our boundary with each other method of the comparison, row by row.

    Methods decide by their "threshold", else by the decisions of the row details; those with
    neither are left out.

    Returns
    -------
    dict
        ``rows``, each with ``method``, ``found_more`` and ``flagged_more`` (positives and
        negatives that only ours flags, minus those that only the other does), their intervals as
        shares of the class, and ``may_be_chance``; and ``lead``, a sentence about the best of the
        others, None where there is none.
    """
    baselines: dict[str, BoolArray] = {}
    for method in methods:
        name, threshold = str(method["method"]), method.get("threshold")
        if threshold is not None and not np.isnan(threshold):
            flagged = np.asarray(evidence.scores > threshold)
        elif name in evidence.details.decisions:
            flagged = np.asarray(evidence.details.decisions[name], dtype=np.bool_)
        else:
            continue
        if name not in OUR_METHODS:
            baselines[name] = flagged
    pairs = [_compare(name, flagged, evidence) for name, flagged in baselines.items()]
    ours = any(str(method["method"]) in OUR_METHODS for method in methods)
    return {"rows": pairs, "lead": _lead(pairs, baselines, evidence) if ours else None}


def _compare(name: str, other: BoolArray, evidence: Evidence) -> dict[str, Any]:
    """Return how many rows of each class ours decides otherwise than a method, with intervals."""
    rows = evidence.rows
    # Only the classes' own differences are read, which no cost enters.
    decided = (other.astype(float), 0.5, rows.new.astype(float), 0.5)
    paired = compare_boundaries(rows.is_positive, *decided, evidence.confidence, cost=Cost())
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


def _lead(
    pairs: list[dict[str, Any]], baselines: Mapping[str, BoolArray], evidence: Evidence
) -> str | None:
    """Say how far ours is from the best of the others, by what was asked for, and in rows."""
    if not pairs:
        return None
    rows, rule, share = evidence.rows, evidence.boundary.rule, evidence.weighted_prevalence
    kept, who = pairs, "the others"
    before = "" if isinstance(rule, GMean | Sum) else "The others may have had another goal. "
    if isinstance(rule, Floors):
        who = "these"
        kept = [p for p in pairs if _keeps_all(rule, baselines[p["method"]], rows, share)]
        ours_keeps = _keeps_all(rule, rows.new, rows, share)
        reach = f"{len(kept)} reach" if len(kept) > 1 else "none reaches"
        reach = f"{kept[0]['method']} reaches" if len(kept) == 1 else reach
        before = (
            f"Of {len(pairs)} other method{'s' if len(pairs) > 1 else ''}, which may have had "
            f"another goal, {reach} this one on these rows; ours "
            f"{'does' if ours_keeps else 'does not'}. "
        )
        if not ours_keeps or not kept:
            return before.strip()
    aim = aim_of(rule)

    def value(flagged: BoolArray) -> float:
        negative, positive = (np.asarray(u) for u in replace(rows, new=flagged).errors("new"))
        return float(aim.measure(negative, positive, share))

    ours, known = value(rows.new), {p["method"]: value(baselines[p["method"]]) for p in kept}
    best = (max if aim.greater else min)(kept, key=lambda pair: known[pair["method"]])
    theirs = known[best["method"]]
    place = "ahead of" if (ours > theirs) == aim.greater else "behind"
    place = "level with" if ours == theirs else place
    whom = best["method"] if len(kept) == 1 else f"the best of {who}, {best['method']}"
    start = f"{before}By {aim.title}, ours is {place} {whom}: {aim.text(ours)} against "
    start = f"{start}{aim.text(theirs)}."
    if best["differ"] == 0:
        return f"{start} Both decide every row alike."
    n, names = len(rows.is_positive), evidence.names
    n_positive, chance = int(rows.is_positive.sum()), all(best["may_be_chance"])
    told = (
        f"urs finds {_more(best['found_more'])} of {n_positive:,} {names.positives} and flags "
        f"{_more(best['flagged_more'])} of {n - n_positive:,} {names.negatives}"
    )
    if best["differ"] == 1:
        told = f"The whole difference is 1 of {n:,} {names.unit}: o{told}"
    else:
        told = f"O{told}{', which may be chance' if chance else ''}"
    interval = sure(evidence.confidence).removesuffix("confidence") + "intervals"
    return f"{start} {told}.{f' Both {interval} contain 0.' if chance else ''}"


def _keeps_all(rule: Floors, flagged: BoolArray, rows: PairedRows, share: float) -> bool:
    """Return whether a method keeps all floors on these rows."""
    negative, positive = (np.array([u]) for u in replace(rows, new=flagged).errors("new"))
    rates = reached_rates(negative, positive, (1 - share, share))
    return all(keeps(name, asked, float(rates[name][0])) for name, asked in rule.asked.items())


def _more(number: int) -> str:
    return f"{abs(number):,} {'fewer' if number < 0 else 'more'}"
