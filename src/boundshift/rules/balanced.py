"""Rules that are symmetric in both classes and do not depend on the prevalence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boundshift.rules.base import Rule, Sizes
from boundshift.typing import FloatArray
from boundshift.validation import as_positive

__all__ = ["GMean", "Minimax", "Sum"]


@dataclass(frozen=True)
class Sum(Rule):
    """Sum of both error rates; its minimum maximises the balanced accuracy.

    Examples
    --------
    >>> float(Sum().value(np.array(0.2), np.array(0.1), (90, 10)).round(3))
    0.3
    """

    name = "sum"
    alike = True

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
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

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the maximum."""
        return np.maximum(negative, positive)


@dataclass(frozen=True)
class GMean(Rule):
    """One minus the G-mean, the geometric mean of recall and specificity.

    A compromise between the sum, which may sacrifice a class, and the larger error.

    Parameters
    ----------
    tolerance : float, default=0.0025
        The G-mean is flat around its maximum. Among boundaries within this tolerance of it, the
        one with the fewest errors of the larger class is chosen. The tolerance is multiplied by
        one minus the ratio of the class sizes, so that it vanishes for balanced classes.

    Examples
    --------
    >>> float(GMean().value(np.array(0.19), np.array(0.0), (90, 10)).round(3))
    0.1
    """

    name = "g-mean"
    alike = True

    tolerance: float = 0.0025

    def __post_init__(self) -> None:
        number = as_positive("tolerance", self.tolerance, "Use 0 for the best alone.", zero=True)
        object.__setattr__(self, "tolerance", number)

    def tolerance_towards(self, n_samples: tuple[float, float]) -> tuple[float, int]:
        """Return the tolerance, towards fewer errors of the class with more rows."""
        fading = 1.0 - min(n_samples) / max(n_samples)
        return self.tolerance * fading, int(np.sign(n_samples[0] - n_samples[1]))

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return one minus the geometric mean of the recalls."""
        return np.asarray(1.0 - np.sqrt((1.0 - negative) * (1.0 - positive)))
