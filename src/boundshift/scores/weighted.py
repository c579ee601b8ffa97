"""The scores of one class where rows have weights, which count as frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.scores.sample import Binning, KnownScores, ScoreSample, SumTo, is_among
from boundshift.typing import FloatArray
from boundshift.validation import as_labels, as_real_column, as_scores

__all__ = [
    "LEAST_WEIGHT",
    "RANK_ROUNDING",
    "Weighted",
    "WeightedScores",
    "as_weights",
    "check_weight_shape",
    "collect_weighted",
    "judge_weights",
    "middle_places",
    "no_weights",
    "not_frequencies",
    "not_weighted",
    "refuse_weights",
]

LEAST_WEIGHT = 2.0
"""What the weights of a class must sum to: with fewer rows than two it has no spread."""
# Beyond this sum float64 no longer counts single rows.
_MOST_WEIGHT = 1e15
RANK_ROUNDING = 1e-9
"""A rank that a rounding error puts just below the next score belongs to that one."""
_ROUNDING = 1e-12
_CURE = "Pass how often each row counts."


class Weighted:
    """Marks the scores of a class whose rows have weights: counts are sums of these."""

    n: Any
    n_rows: Any
    effective: Any


@dataclass(frozen=True, eq=False)
class WeightedScores(Weighted, KnownScores):
    """The scores of one class in ascending order, each met as often as its weight says.

    A weight of 2 is the row twice, to rounding; fractions are allowed. It answers what estimating
    curves ask; curves of high probability count rows and do not take weights.

    Parameters
    ----------
    values : array of shape (n,)
        Sorted, finite.
    weights : array of shape (n,)
        Above 0.
    """

    values: FloatArray
    weights: FloatArray

    @cached_property
    def _total(self) -> FloatArray:
        """Weight before each score, and of all at the end."""
        return np.concatenate([[0.0], np.cumsum(self.weights)])

    @property
    def n(self) -> Any:
        """Sum of the weights."""
        return float(self._total[-1])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def effective(self) -> float:
        """Rows of equal weight that would be as certain: Kish's number."""
        return float(self.n**2 / (self.weights @ self.weights))

    @cached_property
    def mean(self) -> float:
        """Mean, computed about the median so that a large offset costs no digits."""
        return self.median + self.mean_from(self.median)

    @cached_property
    def median(self) -> float:
        """Score with half of the weight on either side, or the mean of two that share it."""
        first, last = middle_places(self._total)
        low, high = self.values[first], self.values[last]
        return float(low + (high - low) / 2)

    @cached_property
    def std(self) -> float:
        """Standard deviation with n − 1 degrees of freedom."""
        if self.n <= 1 or self.minimum == self.maximum:
            return 0.0
        squares = self.weights @ (self.values - self.mean) ** 2
        return float(np.sqrt(squares / (self.n - 1)))

    def count_at_most(self, t: ArrayLike) -> Any:
        """Return the weight of the scores ≤ t, for every t."""
        return self._total[np.searchsorted(self.values, t, side="right")]

    def count_below(self, t: ArrayLike) -> Any:
        """Return the weight of the scores < t, for every t."""
        return self._total[np.searchsorted(self.values, t, side="left")]

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1, each score having as many as its weight."""
        place = np.searchsorted(self._total, np.asarray(rank) + RANK_ROUNDING, side="right") - 1
        return np.asarray(self.values[np.minimum(place, len(self.values) - 1)])

    def mean_from(self, reference: float) -> float:
        """Return how far the mean lies above a score."""
        return float(self.weights @ (self.values - reference)) / float(self.n)

    def sums_from(self, rank: int) -> SumTo:
        """Raise: only the paper's method sums by rank, and it counts rows."""
        raise not_weighted("support")

    def binned(self, binning: Binning) -> FloatArray:
        """Return how much of the scores counts at each node."""
        return binning.count(self.values, self.weights)  # type: ignore[arg-type]

    def points(self) -> tuple[FloatArray, FloatArray]:
        """Return all scores and their weights."""
        return self.values, self.weights

    def without(self, atoms: FloatArray) -> WeightedScores | None:
        """Return the scores that are none of these values, None if all are."""
        kept = ~is_among(self.values, atoms)
        return WeightedScores(self.values[kept], self.weights[kept]) if kept.any() else None

    def mirrored(self) -> WeightedScores:
        """Return the scores with their sign changed."""
        return WeightedScores(-self.values[::-1], self.weights[::-1])


def middle_places(total: FloatArray) -> tuple[int, int]:
    """Return the places of the two middle scores, given the weight before each and of all.

    Examples
    --------
    >>> middle_places(np.array([0.0, 1.0, 2.0, 4.0]))
    (1, 2)
    """
    # Sums of weights that are half of all but for a rounding error are half of all.
    half, rounding = total[-1] / 2, _ROUNDING * total[-1]
    first = np.searchsorted(total[1:], half - rounding, side="left")
    last = np.searchsorted(total[1:], half + rounding, side="right")
    return int(first), int(min(last, len(total) - 2))


def collect_weighted(
    y_true: ArrayLike,
    y_score: ArrayLike,
    sample_weight: ArrayLike,
    pos_label: object = None,
    *,
    alike: bool = True,
) -> ScoreSample:
    """Collect and sort labelled scores with weights; rows without weight are left out.

    Examples
    --------
    >>> sample = collect_weighted([0, 0, 1, 1], [0.0, 1.0, 2.0, 3.0], [1.5, 1.0, 1.0, 1.25])
    >>> sample.n_samples
    (2.5, 2.25)
    """
    y, s = as_labels(y_true), as_scores(y_score)
    weight = as_weights(sample_weight, len(s))
    if len(y) != len(s):
        ScoreSample.from_labels(y_true, y_score, pos_label, alike=alike)  # says what is wrong
    used = weight > 0
    if len(s) and not used.any():
        raise no_weights()
    plain = ScoreSample.from_labels(y[used], s[used], pos_label, alike=alike)
    classes = []
    for label, scores in zip(plain.labels, (plain.negative, plain.positive), strict=True):
        mine = used & np.asarray(y == label, dtype=np.bool_)
        order = np.argsort(s[mine].astype(np.float64), kind="stable")
        classes.append(WeightedScores(np.asarray(scores.positions), weight[mine][order]))
    return ScoreSample(classes[0], classes[1], plain.exponent, plain.labels)


def judge_weights(sample: ScoreSample) -> list[str]:
    """Raise if a class's weights sum to less than 2; say of which a few rows carry most.

    Weights that are all the same are never said to be uneven, whatever they sum to.

    Examples
    --------
    >>> y, s = [0, 0, 0, 1, 1, 1], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    >>> judge_weights(collect_weighted(y, s, [9.0, 9.0, 9.0, 1.0, 1.0, 98.0]))
    ['The 3 weights of class 1 sum to 100 but count as 1.041 rows at most ...']
    """
    doubts = []
    for label, scores in zip(sample.labels, (sample.negative, sample.positive), strict=True):
        assert isinstance(scores, Weighted)
        if scores.n < LEAST_WEIGHT:
            raise InvalidInputError(
                f"`sample_weight` must sum to at least 2 in each class, got {scores.n:g} for "
                f"{label!r}. Weights are frequencies: do not scale them to sum to 1."
            )
        _check_sum(scores.n)
        rows = scores.n_rows
        if scores.effective < min(scores.n, rows) / 2:
            doubts.append(
                f"The {rows} weights of class {label!r} sum to {scores.n:.4g} but count as "
                f"{scores.effective:.4g} rows at most (Kish): the boundary is less certain than "
                "the sum suggests."
            )
    return doubts


def refuse_weights(sample: ScoreSample, name: str) -> None:
    """Raise if rows have weights, for a curve that counts rows."""
    if isinstance(sample.negative, Weighted):
        raise not_weighted(name)


def not_weighted(name: str) -> InvalidInputError:
    """Return the error for a curve that counts rows."""
    return InvalidInputError(
        f"`sample_weight` must be left out with the curve {name!r}, which counts rows, got "
        "weights. Use 'blend', 'smoothed', 'logistic', 'student-t', 'kth-point' or 'empirical'."
    )


def as_weights(sample_weight: ArrayLike, n_rows: int) -> NDArray[np.float64]:
    """Return weights as numbers of at least 0, one for each row."""
    weight = as_real_column("sample_weight", sample_weight, _CURE, n_rows)
    bad = ~(np.isfinite(weight) & (weight >= 0))
    if bad.any():
        raise not_frequencies(f"{weight[bad][0]:g}", int(bad.sum()))
    with np.errstate(over="ignore"):
        _check_sum(float(weight.sum()))
    return weight


def _check_sum(total: float) -> None:
    """Raise if weights sum to more than float64 can count."""
    if total > _MOST_WEIGHT:
        raise InvalidInputError(
            f"`sample_weight` must sum to at most {_MOST_WEIGHT:g}, got {total:.4g}. Weights are "
            "frequencies: a weight of 2 is the row twice."
        )


def check_weight_shape(shape: tuple[int, ...], n_rows: int) -> None:
    """Raise unless there is one weight for each row."""
    if shape != (n_rows,):
        raise InvalidInputError(
            f"`sample_weight` must have one weight for each of {n_rows} rows, got the shape "
            f"{shape}. {_CURE}"
        )


def not_frequencies(first: str, count: int) -> InvalidInputError:
    """Return the error for weights that are negative or not finite."""
    return InvalidInputError(
        f"`sample_weight` must be finite and at least 0, got {first} and {count - 1} more like "
        f"it. {_CURE}"
    )


def no_weights() -> InvalidInputError:
    """Return the error for weights that are all 0."""
    return InvalidInputError(
        f"`sample_weight` must be above 0 for rows of both classes, got 0 for every row. {_CURE}"
    )
