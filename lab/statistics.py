"""Means, ranks, and paired tests of two methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import wilcoxon

from boundshift._typing import FloatArray


class Mean(NamedTuple):
    """Mean and sample standard deviation over seeds."""

    mean: float
    sd: float
    n: int

    @classmethod
    def of(cls, values: FloatArray) -> Mean:
        """Describe values; NaN where there are none."""
        if len(values) == 0:
            return cls(float("nan"), float("nan"), 0)
        sd = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        return cls(float(values.mean()), sd, len(values))

    @property
    def standard_error(self) -> float:
        """Return the standard error of the mean."""
        return self.sd / float(np.sqrt(self.n))


class Paired(NamedTuple):
    """One method less another, seed by seed."""

    difference: Mean
    p_value: float
    wins: int
    ties: int
    losses: int


def compare(ours: FloatArray, theirs: FloatArray, *, exact: bool = False) -> Paired:
    """Compare two methods on the same seeds by Wilcoxon's signed-rank test, two-sided.

    Ties are ranked with the others and then left out (Pratt). The p-value is that of the normal
    approximation, or for few values the exact one.
    """
    both = ~(np.isnan(ours) | np.isnan(theirs))
    # A difference of the last digit is none.
    difference = np.round(ours[both] - theirs[both], 12)
    wins = int((difference > 0).sum())
    losses = int((difference < 0).sum())
    p_value = 1.0
    if wins + losses:
        method: Literal["auto", "approx"] = "auto" if exact else "approx"
        p_value = float(wilcoxon(difference, zero_method="pratt", method=method).pvalue)
    return Paired(Mean.of(difference), p_value, wins, len(difference) - wins - losses, losses)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Adjust p-values by Holm's step-down method."""
    ordered = sorted(p_values, key=lambda name: p_values[name])
    adjusted = {}
    largest = 0.0
    for position, name in enumerate(ordered):
        largest = max(largest, min(1.0, (len(ordered) - position) * p_values[name]))
        adjusted[name] = largest
    return {name: adjusted[name] for name in p_values}
