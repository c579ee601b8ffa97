"""Rules that treat both classes alike, whatever their frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boundshift.rules.base import FloatArray, Rule
from boundshift.validation import as_positive

__all__ = ["GMean", "Minimax", "Sum"]


@dataclass(frozen=True)
class Sum(Rule):
    """Sum of both error rates: the least balanced error.

    Examples
    --------
    >>> float(Sum().value(np.array(0.2), np.array(0.1), (90, 10)).round(3))
    0.3
    """

    name = "sum"
    alike = True

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
        """Return the sum."""
        return negative + positive


@dataclass(frozen=True)
class Minimax(Rule):
    """The larger of both error rates.

    Examples
    --------
    >>> float(Minimax().value(np.array(0.2), np.array(0.1), (90, 10)))
    0.2
    """

    name = "minimax"
    alike = True

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
        """Return the maximum."""
        return np.maximum(negative, positive)


@dataclass(frozen=True)
class GMean(Rule):
    """Shortfall of the G-mean, the geometric mean of both recalls.

    Between the sum, which may give up a class, and the larger error, which looks at one only.

    Parameters
    ----------
    f1_weight : float, default=0.08
        At least 0. The G-mean is multiplied by the F1 of the class with fewer rows to this power.
        Around its best the G-mean is flat, and a little weight finds the place there that has
        fewer false alarms, which are many where one class is large. Equally frequent classes have
        none.

    Examples
    --------
    >>> float(GMean(f1_weight=0).value(np.array(0.19), np.array(0.0), (90, 10)).round(3))
    0.1
    """

    name = "g-mean"
    alike = True

    f1_weight: float = 0.08

    def __post_init__(self) -> None:
        weight = as_positive("f1_weight", self.f1_weight, "Use 0 for the plain one.", zero=True)
        object.__setattr__(self, "f1_weight", weight)

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
        """Return one minus the geometric mean of the recalls, times a power of F1."""
        g_mean = np.sqrt((1.0 - negative) * (1.0 - positive))
        if not self.f1_weight or n_samples[0] == n_samples[1]:
            return np.asarray(1.0 - g_mean)
        rare, common = (positive, negative) if n_samples[0] > n_samples[1] else (negative, positive)
        ratio = max(n_samples) / min(n_samples)
        f1 = 2.0 * (1.0 - rare) / (2.0 - rare + ratio * common)
        return np.asarray(1.0 - g_mean * f1**self.f1_weight)
