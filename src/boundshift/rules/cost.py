"""Costs of errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.rules.base import Rule, Sizes
from boundshift.rules.prevalence import as_prevalence, frequencies
from boundshift.typing import FloatArray
from boundshift.validation import as_positive

__all__ = ["Cost"]

_MOST = 1e100
_CURE = "Use Cost(false_positive=1, false_negative=20) where a miss costs 20 false alarms."


@dataclass(frozen=True, kw_only=True)
class Cost(Rule):
    """Expected cost of a decision: costs of errors times class frequencies.

    Parameters
    ----------
    false_positive : float, default=1
        Cost of a false alarm: a negative called positive.
    false_negative : float, default=1
        Cost of a miss: a positive called negative.
    prevalence : float, default=None
        Share of the positive class where decisions will be made; None takes the sample's. Give
        it where negatives were subsampled.

    Examples
    --------
    A miss costs 20 false alarms:

    >>> rule = Cost(false_positive=1, false_negative=20)
    >>> float(rule.value(np.array(0.2), np.array(0.1), (90, 10)).round(3))
    0.38
    """

    name = "cost"

    false_positive: float = 1.0
    false_negative: float = 1.0
    prevalence: float | None = None

    def __post_init__(self) -> None:
        for name in ("false_positive", "false_negative"):
            cost = as_positive(name, getattr(self, name), _CURE)
            if not 1 / _MOST <= cost <= _MOST:
                raise InvalidInputError(
                    f"`{name}` must be between {1 / _MOST:g} and {_MOST:g}, got {cost:g}, by which "
                    f"no number of rows can be multiplied. {_CURE}"
                )
            object.__setattr__(self, name, cost)
        object.__setattr__(self, "prevalence", as_prevalence(self.prevalence))

    def value(self, negative: FloatArray, positive: FloatArray, n_samples: Sizes) -> FloatArray:
        """Return the expected cost of one decision."""
        first, second = frequencies(self.prevalence, n_samples)
        risk = self.false_positive * first * negative + self.false_negative * second * positive
        return np.asarray(risk / (first + second))
