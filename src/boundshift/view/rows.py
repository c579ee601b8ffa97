"""Labelled scores to be shown, the boundary shown on them, and counts on either side of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.boundary import choose_claims, make_decision, warn_of
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.promises.certificate import read_threshold
from boundshift.result.boundary import Boundary
from boundshift.rules import Rule
from boundshift.scores.log_odds import LogOdds
from boundshift.scores.sample import ScoreSample
from boundshift.typing import FloatArray

__all__ = [
    "area_under_curve",
    "as_score",
    "check_labels",
    "class_scores",
    "count_wrong_at",
    "least_balanced_error",
    "metrics_at",
    "read_sample",
    "settle_boundary",
]


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

    A boundary that is given brings its labels, its curve and its rule along.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Two labels, and scores.
    boundary : Boundary, default=None
        None finds it as :func:`~boundshift.find_boundary` does.
    curve, rule, pos_label : default=None
        Of `find_boundary`; left out where a boundary is given.

    Examples
    --------
    >>> boundary, sample = settle_boundary(["a", "a", "b", "b"], [0, 1, 4, 5], curve="kth-point")
    >>> boundary.threshold, sample.labels
    (2.5, ('a', 'b'))
    """
    if boundary is None:
        alike = choose_claims(curve, rule)[1].alike
        sample = ScoreSample.from_labels(y_true, y_score, pos_label, alike=alike)
        boundary = make_decision(curve, rule, "auto")(sample)
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
    check_labels(sample.labels, labels, name or "y_true")
    classes = (sample.negative, sample.positive)
    if sample.labels[1] != labels[1]:
        classes = classes[::-1]
    return ScoreSample(*classes, sample.exponent, labels)


def as_score(boundary: Boundary, place: float) -> float:
    """Return a place in the units of a boundary's geometry as a score."""
    return LogOdds().to_probability(place) if boundary.scale == "probability" else place


def check_labels(found: tuple[Any, Any], labels: tuple[Any, Any], name: str) -> None:
    """Raise unless the labels found are those of the boundary, in any order."""
    if set(found) != set(labels):
        raise InvalidInputError(
            f"`{name}` must hold the labels {labels[0]!r} and {labels[1]!r}, as the rows that "
            f"chose the boundary do, got {found[0]!r} and {found[1]!r}. "
            "Name the classes alike in both."
        )


def class_scores(sample: ScoreSample) -> tuple[FloatArray, FloatArray]:
    """Return the sorted scores of both classes, in the units in which they were given."""
    negative, positive = sample.negative.positions, sample.positive.positions
    if sample.exponent:
        return np.ldexp(negative, sample.exponent), np.ldexp(positive, sample.exponent)
    return negative, positive


def count_wrong_at(
    sample: ScoreSample, thresholds: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return negatives above and positives at or below each threshold.

    Examples
    --------
    >>> [int(k) for k in count_wrong_at(ScoreSample.from_labels([0, 0, 1], [0, 2, 1]), 1.5)]
    [1, 1]
    """
    negative, positive = class_scores(sample)
    below = np.searchsorted(negative, thresholds, side="right")
    return len(negative) - below, np.searchsorted(positive, thresholds, side="right")


def metrics_at(sample: ScoreSample, threshold: float) -> dict[str, float]:
    """Return every binary metric at a threshold."""
    truth = np.repeat([0, 1], sample.n_samples)
    above = np.concatenate(class_scores(sample)) > threshold
    return binary_metrics(truth, above.astype(np.int64))


def area_under_curve(sample: ScoreSample) -> float:
    """Return how often a positive row outscores a negative one, ties counted half.

    Examples
    --------
    >>> area_under_curve(ScoreSample.from_labels([0, 0, 1], [0.0, 2.0, 2.0]))
    0.75
    """
    negative, positive = class_scores(sample)
    below = np.searchsorted(negative, positive, side="left")
    ties = np.searchsorted(negative, positive, side="right") - below
    return float((below.mean() + ties.mean() / 2) / len(negative))


def least_balanced_error(sample: ScoreSample) -> float:
    """Return the least mean of both error rates that any threshold has on these rows."""
    flagged, missed = count_wrong_at(
        sample, np.unique(np.concatenate([[-np.inf], *class_scores(sample)]))
    )
    errors = flagged / sample.negative.n + missed / sample.positive.n
    return float(errors.min() / 2)
