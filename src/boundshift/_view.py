"""What plots and report share: the axis of scores, counts at thresholds, the lane of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from boundshift._boundary import decide
from boundshift._guarantees.reading import read_threshold
from boundshift._result.boundary import Boundary, warn_of
from boundshift._scores import ScoreSample
from boundshift._typing import FloatArray
from boundshift._validation import as_labels, as_scores, check_finite, find_distinct
from boundshift._words import number
from boundshift.curves import ErrorCurve
from boundshift.curves._uniform import clopper_pearson
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.rules import Rule

_FENCE = 6.0
_MARGIN = 0.03
_NEAR_ZERO = 1e-7  # log-odds of a probability of exactly 0 or 1 stop here
_COARSE = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5)
_FINE = (*_COARSE, 0.002, 0.005, 0.02, 0.05, 0.2, 0.3, 0.4)


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
        sample = ScoreSample.from_labels(y_true, y_score, pos_label, symmetric=False)
        boundary = decide(sample, curve, rule, "auto")
        warn_of(boundary, stacklevel=4)
        return boundary, sample
    if curve is not None or rule is not None:
        raise InvalidInputError(
            "and `rule` must be left out where a boundary is given, which has its own, "
            f"got {curve!r} and {rule!r}. Pass find_boundary(y_true, y_score, curve=…, rule=…).",
            argument="curve",
        )
    read_threshold(boundary, pos_label)
    sample = read_sample(y_true, y_score, boundary.labels)
    boundary._check_sample_scale(sample)
    return boundary, sample


def read_sample(
    y_true: ArrayLike, y_score: ArrayLike, labels: tuple[Any, Any], name: str | None = None
) -> ScoreSample:
    """Return a sample whose (negative, positive) labels are known; errors name the argument."""
    argument = name or "y_true"
    try:
        y = as_labels(y_true)
        scores = as_scores(y_score, len(y))
        check_finite(scores)
    except InvalidInputError as error:
        raise InvalidInputError(f"`{name}`: {error}" if name else str(error)) from error
    found = find_distinct(y, argument).tolist()
    if set(found) != set(labels):
        shown = ", ".join(map(repr, found[:5])) + (", …" if len(found) > 5 else "")
        raise InvalidInputError(
            f"must hold the labels {labels[0]!r} and {labels[1]!r}, as the rows that "
            f"chose the boundary do, got {shown or 'no rows'}. Pass rows of both classes, and name "
            "them alike in both.",
            argument=argument,
        )
    is_positive = np.asarray(y == labels[1], dtype=np.bool_)
    return ScoreSample.from_rows(is_positive, scores, labels)


def class_scores(sample: ScoreSample) -> tuple[FloatArray, FloatArray]:
    return sample.negative.value, sample.positive.value


class Band(NamedTuple):
    """A quantity at every threshold, with an interval around each value."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def error_band(wrong: ArrayLike, n: ArrayLike, confidence: float) -> Band:
    """Return shares with Clopper and Pearson's two-sided interval."""
    k = np.asarray(wrong)
    tail = (1 - confidence) / 2
    low = 1.0 - clopper_pearson(np.asarray(n) - k, n, tail)
    high = clopper_pearson(k, n, tail)
    return Band(k / np.asarray(n), low, high)


def metrics_at(sample: ScoreSample, threshold: float) -> dict[str, float]:
    above = np.concatenate(class_scores(sample)) > threshold
    return binary_metrics(np.repeat([0, 1], sample.n_samples), above.astype(np.int64))


def assume_own_threshold(sample: ScoreSample) -> float | None:
    """Return one half if all scores may be probabilities, else None: nothing is known then."""
    return 0.5 if sample.are_probabilities() else None


def least_balanced_error(sample: ScoreSample) -> float:
    """Return the least mean of both error rates at any threshold."""
    cuts = np.unique(np.concatenate([[-np.inf], *class_scores(sample)]))
    flagged, missed = sample.count_wrong(cuts)
    return float((flagged / sample.negative.n + missed / sample.positive.n).min() / 2)


@dataclass(frozen=True)
class ScoreAxis:
    """A piece of the score line; `low` and `high` are its ends in drawn units."""

    kind: Literal["linear", "log-odds"]
    low: float
    high: float

    def place(self, scores: ArrayLike) -> FloatArray:
        """Return where scores stand, from 0 (left end) to 1 (right end)."""
        drawn = _drawn(self.kind, np.asarray(scores, dtype=np.float64))
        return np.asarray(np.clip((drawn - self.low) / (self.high - self.low), 0.0, 1.0))

    def score(self, place: ArrayLike) -> FloatArray:
        share = np.asarray(place, dtype=np.float64)
        drawn = self.low * (1 - share) + self.high * share
        return np.asarray(expit(drawn) if self.kind == "log-odds" else drawn)

    def ticks(self) -> list[dict[str, Any]]:
        """Return places and texts of some round scores."""
        if self.kind == "linear":
            values = round_numbers(self.low, self.high)
        else:
            coarse = self._inside(_COARSE)
            values = coarse if len(coarse) >= 3 else self._inside(_FINE)
        return [
            {"at": float(at), "text": number(value, ".12g")}
            for at, value in zip(self.place(values), values, strict=True)
        ]

    def _inside(self, ticks: tuple[float, ...]) -> list[float]:
        both = {*ticks, *(1 - np.array(ticks)).tolist()}
        return sorted(t for t in both if self.low <= float(logit(t)) <= self.high)


def choose_axis(
    samples: Sequence[ScoreSample], marks: Sequence[float], *, linear: bool = False
) -> ScoreAxis:
    classes = [scores for sample in samples for scores in class_scores(sample)]
    kind: Literal["linear", "log-odds"] = "linear"
    if (
        not linear
        and all(sample.are_probabilities() for sample in samples)
        and all(0 <= m <= 1 for m in marks)
    ):
        centres = [*marks, *(float(np.median(scores)) for scores in classes)]
        kind = "log-odds" if any(not 0.1 <= c <= 0.9 for c in centres) else "linear"
    ends = [_fenced(_drawn(kind, scores)) for scores in classes]
    places = _drawn(kind, np.array([m for m in marks if np.isfinite(m)])).tolist()
    low = min([end[0] for end in ends] + places)
    high = max([end[1] for end in ends] + places)
    room = _MARGIN * (high - low) or abs(low) * 0.1 or 1.0
    return ScoreAxis(kind, low - room, high + room)


def _drawn(kind: str, scores: FloatArray) -> FloatArray:
    if kind == "linear":
        return scores
    return np.asarray(logit(np.clip(scores, _NEAR_ZERO, 1 - _NEAR_ZERO)))


def _fenced(ascending: FloatArray) -> tuple[float, float]:
    """Return the ends of a sorted sample, or its fences where they are nearer."""
    first, third = np.quantile(ascending, [0.25, 0.75], method="inverted_cdf")
    reach = _FENCE * (third - first) or np.inf
    return max(float(ascending[0]), first - reach), min(float(ascending[-1]), third + reach)


def round_numbers(low: float, high: float) -> list[float]:
    """Return about nine multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 9
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next((m for m in (1, 2, 5, 10) if m * power >= rough), 10)
    first = int(np.ceil(low / step - 1e-9))
    last = int(np.floor(high / step + 1e-9))
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)][:12]
