"""Class shapes whose distribution is known, and problems of two classes made of them.

The negative class has the shape as it is; the positive one is its mirror image, placed so that the
boundary in the middle errs on a given share of both. True error rates are read off the known
distribution, never estimated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from boundshift.typing import FloatArray

__all__ = ["SHAPES", "Mixture", "Problem"]


class Mixture:
    """Two normal humps."""

    def __init__(self, share: float, first: tuple[float, float], second: tuple[float, float]):
        self.share = share
        self._humps = (stats.norm(*first), stats.norm(*second))
        self._grid = np.linspace(first[0] - 12 * first[1], second[0] + 12 * second[1], 200_001)
        self._cdf = self.cdf(self._grid)

    def rvs(self, size: Any, random_state: np.random.Generator) -> FloatArray:
        """Draw."""
        is_first = random_state.random(size) < self.share
        first, second = (hump.rvs(size, random_state=random_state) for hump in self._humps)
        return np.asarray(np.where(is_first, first, second))

    def cdf(self, x: Any) -> FloatArray:
        """Return the share below."""
        first, second = self._humps
        return np.asarray(self.share * first.cdf(x) + (1 - self.share) * second.cdf(x))

    def sf(self, x: Any) -> FloatArray:
        """Return the share above."""
        first, second = self._humps
        return np.asarray(self.share * first.sf(x) + (1 - self.share) * second.sf(x))

    def ppf(self, q: Any) -> FloatArray:
        """Return quantiles."""
        return np.asarray(np.interp(q, self._cdf, self._grid))


SHAPES: dict[str, Any] = {
    "normal": stats.norm(),
    "skewed": stats.lognorm(1.0),
    "heavy-tailed": stats.t(2),
    "two-humped": Mixture(0.7, (0.0, 1.0), (4.0, 0.5)),
}


@dataclass(frozen=True)
class Problem:
    """Scores of two classes that face each other.

    Those of the negative class are drawn from `shape`, those of the positive one are `distance`
    less a draw of it.
    """

    shape: Any
    distance: float

    @classmethod
    def with_error(cls, shape: Any, error: float) -> Problem:
        """Place the classes so that the boundary in the middle errs on this share of each."""
        return cls(shape, 2 * float(shape.ppf(1 - error)))

    def draw(
        self, n_samples: tuple[int, int], rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Draw labels and scores."""
        negative = self.shape.rvs(n_samples[0], random_state=rng)
        positive = self.distance - self.shape.rvs(n_samples[1], random_state=rng)
        return np.repeat([0, 1], n_samples), np.concatenate([negative, positive])

    def errors(self, threshold: float) -> tuple[float, float]:
        """Return the true error rates (negative, positive) at a boundary."""
        return float(self.shape.sf(threshold)), float(self.shape.sf(self.distance - threshold))
