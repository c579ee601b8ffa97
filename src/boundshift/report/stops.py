"""Where the slider can stop, and what is counted and claimed at each stop.

Whatever the number of rows, there are 1001 stops; at each the counts are exact, not binned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.curves.uniform import uniform_bound
from boundshift.scores.sample import ScoreSample
from boundshift.view.axis import ScoreAxis
from boundshift.view.rows import count_wrong_at

__all__ = ["N_STOPS", "collect_stops"]

N_STOPS = 1001


def collect_stops(
    sample: ScoreSample, axis: ScoreAxis, marks: dict[str, float], confidence: float
) -> dict[str, Any]:
    """Return thresholds along the axis, with wrong rows and upper bounds of both classes.

    Parameters
    ----------
    sample : ScoreSample
        Rows that are counted.
    axis : ScoreAxis
        Along which the stops lie.
    marks : dict of str to float
        Thresholds that are stops themselves; the nearest stop gives way to each.
    confidence : float
        Of the upper bounds, which hold at all stops together: a reader may choose freely.

    Returns
    -------
    dict
        ``threshold``, ``at`` (place), ``wrong`` and ``bounds`` (negative, positive), ``together``
        (bounds of negatives above, positives below and positives above, which hold together, for
        what depends on both classes), and ``marks``, the index of each mark.
    """
    thresholds = _short(axis.score(np.linspace(0, 1, N_STOPS)))
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
    thresholds: NDArray[np.float64], axis: ScoreAxis, marks: dict[str, float]
) -> dict[str, int]:
    """Put each mark in the place of its nearest stop, in order, and return where it went."""
    taken: dict[str, int] = {}
    following = 0
    ordered = sorted(marks, key=lambda name: marks[name])
    for left, name in enumerate(ordered):
        nearest = round(float(axis.place(marks[name])) * (N_STOPS - 1))
        same = [n for n in taken if marks[n] == marks[name]]
        if same:
            taken[name] = taken[same[0]]
            continue
        nearest = min(max(nearest, following), N_STOPS - len(ordered) + left)
        thresholds[nearest] = marks[name]
        # A probability of 0 or 1 has no place on an axis of log-odds, yet must keep its rank.
        np.minimum(thresholds[:nearest], marks[name], out=thresholds[:nearest])
        np.maximum(thresholds[nearest:], marks[name], out=thresholds[nearest:])
        taken[name] = nearest
        following = nearest + 1
    return taken


def _short(thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return thresholds with six digits, which are easy to copy, unless neighbours would merge."""
    short = np.array([float(f"{t:.6g}") for t in thresholds])
    return short if np.all(np.diff(short) > 0) else thresholds


def _bounds(wrong: NDArray[np.intp], n: int, delta: float) -> list[float]:
    """Return the bound that holds for every threshold, rounded up, looked up once a count."""
    distinct, place = np.unique(wrong, return_inverse=True)
    bounds = np.minimum(1.0, np.ceil(uniform_bound(distinct, n, delta) * 1e6) / 1e6)
    return [float(bound) for bound in bounds[place]]
