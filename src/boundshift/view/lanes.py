"""What is drawn of each class along the axis of scores, one lane a class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundshift.result.boundary import Boundary
from boundshift.scores.sample import ClassScores, ScoreSample
from boundshift.typing import FloatArray
from boundshift.view.rows import as_score

__all__ = ["Lane", "make_lanes", "name_marks"]

Scores = tuple[FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Lane:
    """The picture of one class.

    Parameters
    ----------
    scores : array
        All of the class.
    solid : array of bool
        Which scores are drawn solid, the others hollow: those that the paper's method kept, or,
        for other curves, those on the right side of the threshold.
    bar : tuple of float or None
        For the paper's method: mean of the kept scores, end of the radius, and end of the
        confidence radius, towards the other class.
    """

    scores: FloatArray
    solid: NDArray[np.bool_]
    bar: tuple[float, float, float] | None


def make_lanes(boundary: Boundary, scores: Scores) -> tuple[Lane, Lane]:
    """Return the lanes of the negative and the positive class.

    Examples
    --------
    >>> import boundshift
    >>> boundary = boundshift.find_boundary([0, 0, 0, 1, 1], [0, 1, 4, 3, 5], curve="kth-point")
    >>> [lane.solid.tolist() for lane in make_lanes(boundary, ([0, 1, 4], [3, 5]))]
    [[True, True, False], [True, True]]
    """
    negative, positive = (np.asarray(values, dtype=np.float64) for values in scores)
    kept_by = _as_decided(boundary, (negative, positive))
    geometry = boundary.geometry
    if geometry is None:
        above = boundary.threshold
        return Lane(negative, negative <= above, None), Lane(positive, positive > above, None)
    lanes = []
    for i, values in enumerate((negative, positive)):
        low, high = geometry.supports[i]
        mean, other = geometry.means[i], geometry.means[1 - i]
        towards = 1.0 if other >= mean else -1.0
        edge = mean + towards * geometry.radii[i]
        reach = mean + towards * geometry.confidence_radii[i]
        kept = (kept_by[i] >= low) & (kept_by[i] <= high)
        mean, edge, reach = (as_score(boundary, place) for place in (mean, edge, reach))
        lanes.append(Lane(values, kept, (mean, edge, reach)))
    return lanes[0], lanes[1]


def _as_decided(boundary: Boundary, scores: Scores) -> Scores:
    """Return scores in the units of the boundary's geometry."""
    if boundary.scale == "raw":
        return scores
    negative, positive = (ClassScores(np.sort(values)) for values in scores)
    decided = ScoreSample(negative, positive).on_scale("auto")
    return decided.from_units(scores[0]), decided.from_units(scores[1])


def name_marks(boundary: Boundary, n_samples: tuple[int, int]) -> tuple[str, str]:
    """Return what solid and hollow scores are; only rows that decided can be given up."""
    if boundary.geometry is None:
        return "on the right side", "on the wrong side"
    if n_samples != boundary.n_samples:
        return "within the support", "outside the support"
    return "kept", "given up"
