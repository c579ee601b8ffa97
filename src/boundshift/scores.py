"""Labelled scores as the mathematics sees them: two sorted samples, one per class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.validation import as_scores, split_by_label

__all__ = ["ClassScores", "ScoreSample"]

FloatArray = NDArray[np.float64]

# Sums of squares of at most 2**40 scores below this magnitude cannot overflow or vanish.
_SAFE_EXPONENT = 400
# Distance of the quartiles of a standard normal distribution.
_NORMAL_IQR = 1.3489795003921634


@dataclass(frozen=True, eq=False)
class ClassScores:
    """The scores of one class in ascending order.

    Parameters
    ----------
    values : array of shape (n,)
        Sorted, finite.
    """

    values: FloatArray

    @property
    def n(self) -> int:
        """Number of scores."""
        return len(self.values)

    @property
    def minimum(self) -> float:
        """Smallest score."""
        return float(self.values[0])

    @property
    def maximum(self) -> float:
        """Largest score."""
        return float(self.values[-1])

    @cached_property
    def mean(self) -> float:
        """Mean, computed about the median so that a large offset costs no digits."""
        return self.median + float(np.mean(self.values - self.median))

    @cached_property
    def median(self) -> float:
        """Middle score, or the mean of the two middle ones."""
        middle = self.n // 2
        low, high = self.values[(self.n - 1) // 2], self.values[middle]
        return float(low + (high - low) / 2)

    @cached_property
    def std(self) -> float:
        """Standard deviation with n − 1 degrees of freedom; 0 for a single score."""
        if self.n == 1 or self.minimum == self.maximum:
            return 0.0
        deviation = self.values - self.mean
        return float(np.sqrt(deviation @ deviation / (self.n - 1)))

    @property
    def scale(self) -> float:
        """Standard deviation, at most twice that of a normal class with the same quartiles.

        An outlier cannot raise it beyond that, unless half of the scores are alike.
        """
        place = np.array([self.n - 1, 3 * (self.n - 1)]) / 4
        left = place.astype(np.int64)
        low, high = self.values[left], self.values[np.minimum(left + 1, self.n - 1)]
        quartile = low + (place - left) * (high - low)
        normal = float(quartile[1] - quartile[0]) / _NORMAL_IQR
        return min(self.std, 2 * normal) if normal > 0 else self.std

    def count_at_most(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores ≤ t, for every t."""
        return np.searchsorted(self.values, t, side="right")

    def mirrored(self) -> ClassScores:
        """Return the scores with their sign changed."""
        return ClassScores(-self.values[::-1])


@dataclass(frozen=True, eq=False)
class ScoreSample:
    """The scores of both classes, in units in which nothing overflows.

    Parameters
    ----------
    negative, positive : ClassScores
        Scores times ``2**-exponent``.
    exponent : int, default=0
        Zero for every ordinary problem. A power of two changes no digit of a score.
    labels : tuple, default=(0, 1)
        Labels of the two classes (negative, positive).
    """

    negative: ClassScores
    positive: ClassScores
    exponent: int = 0
    labels: tuple[Any, Any] = (0, 1)

    @classmethod
    def from_labels(
        cls, y_true: ArrayLike, y_score: ArrayLike, pos_label: object = None
    ) -> ScoreSample:
        """Collect and sort labelled scores.

        Raises
        ------
        InvalidInputError
            If a score is not finite, the lengths differ, or there are not exactly two classes.
        """
        negative, positive, labels = split_by_label(y_true, as_scores(y_score), pos_label)
        negative.sort()
        positive.sort()
        _check_finite(negative, positive)
        exponent = _exponent(negative, positive)
        if exponent:
            np.ldexp(negative, -exponent, out=negative)
            np.ldexp(positive, -exponent, out=positive)
        return cls(ClassScores(negative), ClassScores(positive), exponent, labels)

    @property
    def n_samples(self) -> tuple[int, int]:
        """Numbers of rows (negative, positive)."""
        return self.negative.n, self.positive.n

    @property
    def spread(self) -> float:
        """Distance between the smallest and the largest score."""
        top = max(self.negative.maximum, self.positive.maximum)
        return top - min(self.negative.minimum, self.positive.minimum)

    @cached_property
    def pooled_std(self) -> float:
        """Standard deviation within the classes, both together."""
        squares = [(c.n - 1) * c.std**2 for c in (self.negative, self.positive)]
        return float(np.sqrt(sum(squares) / max(sum(self.n_samples) - 2, 1)))

    def to_units(self, value: float) -> float:
        """Carry a number from the sample's units to the units of the given scores."""
        with np.errstate(over="ignore"):  # A confidence radius may exceed the largest double.
            return float(np.ldexp(value, self.exponent))

    def mirrored(self) -> ScoreSample:
        """Return the problem with scores negated and classes swapped."""
        return ScoreSample(
            self.positive.mirrored(), self.negative.mirrored(), self.exponent, self.labels[::-1]
        )

    def reversed(self) -> ScoreSample:
        """Return the problem with scores negated and classes kept."""
        return ScoreSample(
            self.negative.mirrored(), self.positive.mirrored(), self.exponent, self.labels
        )


def _check_finite(*sorted_values: FloatArray) -> None:
    """Raise if a sorted array holds NaN or infinity, which can only stand at its ends."""
    if all(np.isfinite(v[0]) and np.isfinite(v[-1]) for v in sorted_values):
        return
    values = np.concatenate(sorted_values)
    raise InvalidInputError(
        f"`y_score` must be finite, got {int(np.isnan(values).sum())} NaN and "
        f"{int(np.isinf(values).sum())} infinite values among {len(values)}. "
        "Drop those rows, or clip infinite scores to the largest finite one."
    )


def _exponent(*sorted_values: FloatArray) -> int:
    """Return the power of two to divide by: 0 unless the scores are huge or tiny."""
    largest = max(max(abs(v[0]), abs(v[-1])) for v in sorted_values)
    exponent = int(np.frexp(largest)[1])
    return exponent if abs(exponent) > _SAFE_EXPONENT else 0
