"""The projected space as numbers to draw: histograms, a few points, means, radii, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.result.boundary import Boundary
from boundshift.view.axis import ScoreAxis
from boundshift.view.rows import ScoredRows

__all__ = ["MOST_POINTS", "N_BINS", "collect_space"]

FloatArray = NDArray[np.float64]

N_BINS = 60
# A class with more rows is drawn as a histogram only.
MOST_POINTS = 400


def collect_space(rows: ScoredRows, boundary: Boundary, axis: ScoreAxis) -> dict[str, Any]:
    """Return what to draw of each class, with places from 0 to 1 along the axis.

    Examples
    --------
    >>> import boundshift
    >>> from boundshift.view.axis import choose_axis
    >>> from boundshift.view.rows import read_rows
    >>> y, s = [0, 0, 0, 0, 1, 1], [0.0, 1.0, 1.0, 2.0, 5.0, 6.0]
    >>> rows = read_rows(y, s)
    >>> space = collect_space(rows, boundshift.find_boundary(y, s), choose_axis([rows], []))
    >>> sum(space["classes"][0]["counts"])
    4
    """
    classes = [
        _collect_class(scores, boundary, i, axis)
        for i, scores in enumerate((rows.negative, rows.positive))
    ]
    return {"bins": N_BINS, "classes": classes}


def _collect_class(
    scores: FloatArray, boundary: Boundary, i: int, axis: ScoreAxis
) -> dict[str, Any]:
    """Return what to draw of one class."""
    place = axis.place(scores)
    low, high = boundary.supports[i]
    kept = (scores >= low) & (scores <= high)
    mean = boundary.means[i]
    towards = 1.0 if boundary.means[1 - i] >= mean else -1.0
    reach = np.array([0.0, boundary.radii[i], boundary.confidence_radii[i]])
    drawn_low, drawn_high = axis.score(0.0), axis.score(1.0)
    outside = int(np.count_nonzero((scores < drawn_low) | (scores > drawn_high)))
    few = len(scores) <= MOST_POINTS
    return {
        "counts": _histogram(place),
        "kept": _histogram(place[kept]),
        "points": np.round(place, 4).tolist() if few else [],
        "points_kept": kept.tolist() if few else [],
        "bar": np.round(axis.place(mean + towards * reach), 4).tolist(),
        "outside": outside,
        "given_up": int(len(scores) - np.count_nonzero(kept)),
    }


def _histogram(place: FloatArray) -> list[int]:
    """Count places in bins of equal width."""
    counts, _ = np.histogram(place, bins=N_BINS, range=(0.0, 1.0))
    return [int(count) for count in counts]
