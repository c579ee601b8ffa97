"""The axis of scores: where a score stands on the page, and which numbers are written below.

A far outlier must not squeeze everything else together, so the axis ends six interquartile ranges
beyond each class's quartiles. Probabilities that crowd at 0 or 1 are drawn by their log-odds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from boundshift._scores import ScoreSample
from boundshift._typing import FloatArray
from boundshift._view.rows import class_scores
from boundshift._words import number

_FENCE, _MARGIN = 6.0, 0.03
_NEAR_ZERO = 1e-7  # log-odds of a probability of exactly 0 or 1 stop here
_COARSE = (1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5)
_FINE = (*_COARSE, 0.002, 0.005, 0.02, 0.05, 0.2, 0.3, 0.4)


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
        """Return the score at a place."""
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
        # As many digits as tell neighbours apart.
        gap = min((abs(b - a) for a, b in pairwise(values)), default=0.0)
        digits = [
            6 if gap == 0 else int(np.clip(np.log10(max(abs(v), gap) / gap) + 2, 4, 15))
            for v in values
        ]
        return [
            {"at": float(at), "text": number(value, f".{n}g")}
            for at, value, n in zip(self.place(values), values, digits, strict=True)
        ]

    def _inside(self, ticks: tuple[float, ...]) -> list[float]:
        both = {*ticks, *(1 - np.array(ticks)).tolist()}
        return sorted(t for t in both if self.low <= float(logit(t)) <= self.high)


def choose_axis(
    samples: Sequence[ScoreSample], marks: Sequence[float], *, linear: bool = False
) -> ScoreAxis:
    """Return an axis that shows the samples and all marks, such as thresholds and means."""
    classes = [scores for sample in samples for scores in class_scores(sample)]
    kind: Literal["linear", "log-odds"] = "linear"
    if not linear and all(map(is_probability, samples)) and all(0 <= m <= 1 for m in marks):
        centres = [*marks, *(float(np.median(scores)) for scores in classes)]
        kind = "log-odds" if any(not 0.1 <= c <= 0.9 for c in centres) else "linear"
    ends = [_fenced(_drawn(kind, scores)) for scores in classes]
    places = _drawn(kind, np.array([m for m in marks if np.isfinite(m)])).tolist()
    low = min([end[0] for end in ends] + places)
    high = max([end[1] for end in ends] + places)
    room = _MARGIN * (high - low) or abs(low) * 0.1 or 1.0
    return ScoreAxis(kind, low - room, high + room)


def is_probability(sample: ScoreSample) -> bool:
    """Return whether all scores lie from 0 to 1."""
    classes = (sample.negative, sample.positive)
    low, high = min(c.minimum for c in classes), max(c.maximum for c in classes)
    return low >= 0 and sample.to_units(high) <= 1


def _drawn(kind: str, scores: FloatArray) -> FloatArray:
    if kind == "linear":
        return scores
    return np.asarray(logit(np.clip(scores, _NEAR_ZERO, 1 - _NEAR_ZERO)))


def _fenced(ascending: FloatArray) -> tuple[float, float]:
    """Return the ends of a sorted sample, or its fences where they are nearer."""
    first, third = np.quantile(ascending, [0.25, 0.75], method="inverted_cdf")
    reach = _FENCE * (third - first) or np.inf
    return max(float(ascending[0]), first - reach), min(float(ascending[-1]), third + reach)


def round_numbers(low: float, high: float, most: int = 9) -> list[float]:
    """Return about `most` multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / most
    if not np.isfinite(rough) or rough == 0:
        return [low, high]
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next((m for m in (1, 2, 5, 10) if m * power >= rough), 10)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)][:12]
