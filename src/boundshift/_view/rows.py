"""Labelled scores to be shown, the boundary shown on them, and each class's picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._boundary import Boundary, choose_claims, decide, warn_of
from boundshift._promises.certificate import read_threshold
from boundshift._result.html import bars
from boundshift._scores import LogOdds, Scores, ScoreSample
from boundshift._typing import BoolArray, FloatArray
from boundshift.curves import ErrorCurve
from boundshift.curves._uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.rules import Rule


def settle_boundary(
    y_true: ArrayLike,
    y_score: ArrayLike,
    boundary: Boundary | None = None,
    *,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    pos_label: object = None,
) -> tuple[Boundary, ScoreSample]:
    """Return the boundary to show, found unless it is given, and the sample to show it on.

    A given boundary has its own labels, curve and rule.
    """
    if boundary is None:
        symmetric = choose_claims(curve, rule)[1].symmetric
        sample = ScoreSample.from_labels(y_true, y_score, pos_label, symmetric=symmetric)
        boundary = decide(sample, curve, rule, "auto")
        warn_of(boundary, stacklevel=4)
        return boundary, sample
    if curve is not None or rule is not None:
        raise InvalidInputError(
            "`curve` and `rule` must be left out where a boundary is given, which has its own, "
            f"got {curve!r} and {rule!r}. Pass find_boundary(y_true, y_score, curve=…, rule=…)."
        )
    read_threshold(boundary, pos_label)
    sample = read_sample(y_true, y_score, boundary.labels)
    boundary.check_scale(*sample.extremes, sum(sample.n_samples))
    return boundary, sample


def read_sample(
    y_true: ArrayLike, y_score: ArrayLike, labels: tuple[Any, Any], name: str | None = None
) -> ScoreSample:
    """Return a sample whose (negative, positive) labels are known; errors name the argument."""
    try:
        sample = ScoreSample.from_labels(y_true, y_score)
    except InvalidInputError as error:
        raise InvalidInputError(f"`{name}`: {error}" if name else str(error)) from error
    found, classes = sample.labels, (sample.negative, sample.positive)
    if set(found) != set(labels):
        raise InvalidInputError(
            f"`{name or 'y_true'}` must hold the labels {labels[0]!r} and {labels[1]!r}, as the "
            f"rows that chose the boundary do, got {found[0]!r} and {found[1]!r}. "
            "Name the classes alike in both."
        )
    if found[1] != labels[1]:
        classes = classes[::-1]
    return ScoreSample(*classes, labels)


def as_score(boundary: Boundary, place: float) -> float:
    """Return a place in the units of a boundary's geometry as a score."""
    return LogOdds().to_probability(place) if boundary.scale == "probability" else place


def class_scores(sample: ScoreSample) -> tuple[FloatArray, FloatArray]:
    """Return the sorted scores of both classes."""
    return sample.negative.value, sample.positive.value


def count_wrong_at(
    sample: ScoreSample, thresholds: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return negatives above and positives at or below each threshold."""
    negative, positive = class_scores(sample)
    below = np.searchsorted(negative, thresholds, side="right")
    return len(negative) - below, np.searchsorted(positive, thresholds, side="right")


class Band(NamedTuple):
    """A quantity at every threshold, with an interval around each value."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def error_band(wrong: ArrayLike, n: ArrayLike, confidence: float) -> Band:
    """Return shares with Clopper and Pearson's two-sided interval."""
    k, tail = np.asarray(wrong), (1 - confidence) / 2
    low, high = 1.0 - clopper_pearson(np.asarray(n) - k, n, tail), clopper_pearson(k, n, tail)
    return Band(k / np.asarray(n), low, high)


def metrics_at(sample: ScoreSample, threshold: float) -> dict[str, float]:
    """Return every binary metric at a threshold."""
    above = np.concatenate(class_scores(sample)) > threshold
    return binary_metrics(np.repeat([0, 1], sample.n_samples), above.astype(np.int64))


def area_under_curve(sample: ScoreSample) -> float:
    """Return how often a positive row outscores a negative one, ties counted half."""
    negative, positive = class_scores(sample)
    ranks = (np.searchsorted(negative, positive, side=side).mean() for side in ("left", "right"))
    return float(sum(ranks) / 2 / len(negative))


def least_balanced_error(sample: ScoreSample) -> float:
    """Return the least mean of both error rates at any threshold."""
    cuts = np.unique(np.concatenate([[-np.inf], *class_scores(sample)]))
    flagged, missed = count_wrong_at(sample, cuts)
    return float((flagged / sample.negative.n + missed / sample.positive.n).min() / 2)


@dataclass(frozen=True, eq=False)
class Lane:
    """The picture of one class along the axis of scores.

    Scores that the paper's method kept are solid, or, for other curves, scores on the right side
    of the threshold. For the paper's method the bar has the mean of the kept scores, the end of
    the radius, and the end of the confidence radius, towards the other class.
    """

    scores: FloatArray
    solid: BoolArray
    bar: tuple[float, float, float] | None

    def count(self, places: FloatArray, n_bins: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return histograms of all and of the solid scores, whose places are from 0 to 1."""
        every, solid = (
            np.histogram(shown, bins=n_bins, range=(0.0, 1.0))[0]
            for shown in (places, places[self.solid])
        )
        return every, solid


def make_lanes(boundary: Boundary, scores: tuple[ArrayLike, ArrayLike]) -> list[Lane]:
    """Return the lanes of the negative and the positive class."""
    negative, positive = (np.asarray(values, dtype=np.float64) for values in scores)
    geometry, cut = boundary.geometry, boundary.threshold
    if geometry is None:
        return [Lane(negative, negative <= cut, None), Lane(positive, positive > cut, None)]
    decided = [negative, positive]  # in the units of the geometry
    if boundary.scale != "raw":
        sample = ScoreSample(Scores(np.sort(negative)), Scores(np.sort(positive)))
        sample = sample.on_scale("auto")
        decided = [sample.from_units(values) for values in decided]
    lanes = []
    for values, units, (low, high), ends in zip(
        (negative, positive), decided, geometry.supports, bars(geometry), strict=True
    ):
        mean, edge, reach = (as_score(boundary, place) for place in ends)
        lanes.append(Lane(values, (units >= low) & (units <= high), (mean, edge, reach)))
    return lanes


def name_marks(boundary: Boundary, n_samples: tuple[int, int]) -> tuple[str, str]:
    """Return what solid and hollow scores are; only rows that decided can be given up."""
    if boundary.geometry is None:
        return "on the right side", "on the wrong side"
    if n_samples != boundary.n_samples:
        return "within the support", "outside the support"
    return "kept", "given up"
