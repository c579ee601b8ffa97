"""Floors: a recall or a specificity that must be reached."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.rules.base import FloatArray, Rule
from boundshift.validation import as_share

__all__ = ["Floors"]


@dataclass(frozen=True)
class Floors(Rule):
    """Meet a floor for one class's recall, then do the best for the other class.

    With a curve of high probability the floor is met with that probability: a boundary that
    leaves a fixed number of a class's points on the wrong side is an order statistic of that
    class, and the binomial bound for the count holds for it as it is.

    Parameters
    ----------
    recall : float, default=None
        Least share of the positive class that is found, between 0 and 1.
    specificity : float, default=None
        Least share of the negative class that is left alone, between 0 and 1. Name one of both.

    Examples
    --------
    >>> rule = Floors(recall=0.9)
    >>> error = np.array([0.05, 0.2])
    >>> rule.value(np.array([0.4, 0.1]), error, (90, 10)).round(3).tolist()
    [0.4, 2.2]
    """

    name = "floors"
    own_curve = "clopper-pearson"

    recall: float | None = None
    specificity: float | None = None

    def __post_init__(self) -> None:
        for name in ("recall", "specificity"):
            if getattr(self, name) is not None:
                share = as_share(name, getattr(self, name), "Use 0.9, for example.")
                object.__setattr__(self, name, share)
        if (self.recall is None) == (self.specificity is None):
            raise InvalidInputError(
                "`Floors` must have one floor, recall or specificity, got "
                f"recall={self.recall} and specificity={self.specificity}. "
                "Use Floors(recall=0.9), for example."
            )

    def value(
        self, negative: FloatArray, positive: FloatArray, n_samples: tuple[float, float]
    ) -> FloatArray:
        """Return the other class's error, or something above 2 where the floor is not met."""
        protected, other = (positive, negative) if self.recall else (negative, positive)
        # Beyond the floor the protected class comes first, the other one breaks ties.
        beyond = 2.0 + protected + 1e-6 * other
        return np.where(protected <= self._most, other, beyond)

    def met(self, negative: float, positive: float) -> bool:
        """Return whether the floor is met."""
        return (positive if self.recall else negative) <= self._most

    @property
    def _most(self) -> float:
        """Largest error of the protected class; a rounding error must not break the floor."""
        floor = self.recall or self.specificity
        assert floor is not None
        return 1.0 - floor + 1e-12
