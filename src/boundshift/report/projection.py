"""The projected space as numbers to draw: histograms, a few points, means and radii."""

from __future__ import annotations

from typing import Any

import numpy as np

from boundshift.result.boundary import Boundary
from boundshift.scores.sample import ScoreSample
from boundshift.typing import FloatArray
from boundshift.view.axis import ScoreAxis
from boundshift.view.lanes import Lane, make_lanes, name_marks
from boundshift.view.rows import class_scores

__all__ = ["MOST_POINTS", "N_BINS", "collect_projection"]


N_BINS = 60
# A class with more rows is drawn as a histogram only.
MOST_POINTS = 400


def collect_projection(sample: ScoreSample, boundary: Boundary, axis: ScoreAxis) -> dict[str, Any]:
    """Return what to draw of each class, with places from 0 to 1 along the axis.

    Returns
    -------
    dict
        ``bins``, their number; ``marks``, what solid and hollow points are; ``classes``, each
        with ``counts`` and ``solid`` (histograms of all and of solid points), ``points`` and
        ``points_solid`` (none where there are very many), ``bar`` (ends of mean, radius and
        confidence radius, or None), ``hollow`` (number) and ``outside`` (number beyond the axis).

    Examples
    --------
    >>> import boundshift
    >>> from boundshift.view.axis import choose_axis
    >>> y, s = [0, 0, 0, 0, 1, 1], [0.0, 1.0, 1.0, 2.0, 5.0, 6.0]
    >>> sample = ScoreSample.from_labels(y, s)
    >>> axis = choose_axis([sample], [])
    >>> projection = collect_projection(sample, boundshift.find_boundary(y, s), axis)
    >>> sum(projection["classes"][0]["counts"])
    4
    """
    lanes = make_lanes(boundary, class_scores(sample))
    return {
        "bins": N_BINS,
        "marks": name_marks(boundary, sample.n_samples),
        "classes": [_collect_class(lane, axis) for lane in lanes],
    }


def _collect_class(lane: Lane, axis: ScoreAxis) -> dict[str, Any]:
    """Return what to draw of one class."""
    place = axis.place(lane.scores)
    low, high = axis.score(0.0), axis.score(1.0)
    few = len(lane.scores) <= MOST_POINTS
    return {
        "counts": _histogram(place),
        "solid": _histogram(place[lane.solid]),
        "points": np.round(place, 4).tolist() if few else [],
        "points_solid": lane.solid.tolist() if few else [],
        "bar": None if lane.bar is None else np.round(axis.place(lane.bar), 4).tolist(),
        "hollow": int(np.count_nonzero(~lane.solid)),
        "outside": int(np.count_nonzero((lane.scores < low) | (lane.scores > high))),
    }


def _histogram(place: FloatArray) -> list[int]:
    """Count places in bins of equal width."""
    counts, _ = np.histogram(place, bins=N_BINS, range=(0.0, 1.0))
    return [int(count) for count in counts]
