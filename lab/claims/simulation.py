"""Problems of two classes whose distributions are known: true error rates are never estimated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

from boundshift._typing import FloatArray

# What may be called a failure of any cell, though all guarantees are kept as often as stated.
FALSE_VERDICT = 1e-3


def mark_passes(cells: Sequence[dict[str, Any]]) -> None:
    """Mark the cells that pass: all p-values count together, by Bonferroni's inequality."""
    for cell in cells:
        cell["passes"] = cell["p_value"] * len(cells) > FALSE_VERDICT


def all_pass(*cells: Sequence[dict[str, Any]]) -> bool:
    """Return whether no cell is marked as failed."""
    return all(cell.get("passes", True) for group in cells for cell in group)


def p_value_of_broken(broken: int, draws: int, delta: float = 0.05) -> float:
    """Return how likely as many broken guarantees are if each breaks with probability delta."""
    return float(stats.binom.sf(broken - 1, draws, delta))


def generator(*key: object) -> np.random.Generator:
    """Return a generator that depends on the key alone, not on the order of the cells."""
    return np.random.default_rng(np.frombuffer(repr(key).encode(), dtype=np.uint8).tolist())


class Mixture:
    """A mixture of two normal distributions."""

    def __init__(self, share: float, first: tuple[float, float], second: tuple[float, float]):
        self.share = share
        self._parts = (stats.norm(*first), stats.norm(*second))
        self._grid = np.linspace(first[0] - 12 * first[1], second[0] + 12 * second[1], 200_001)
        self._cdf = self.cdf(self._grid)

    def rvs(self, size: Any, random_state: np.random.Generator) -> FloatArray:
        """Draw."""
        is_first = random_state.random(size) < self.share
        first, second = (part.rvs(size, random_state=random_state) for part in self._parts)
        return np.asarray(np.where(is_first, first, second))

    def cdf(self, x: Any) -> FloatArray:
        """Return the share below."""
        first, second = self._parts
        return np.asarray(self.share * first.cdf(x) + (1 - self.share) * second.cdf(x))

    def sf(self, x: Any) -> FloatArray:
        """Return the share above."""
        first, second = self._parts
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
    """Negative scores have the distribution `shape`; positive ones are `distance` less a draw."""

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


class Margins(ClassifierMixin, BaseEstimator):
    """A trained classifier that costs nothing: its features are its margins."""

    def __init__(self, n_classes: int = 2) -> None:
        self.n_classes = n_classes

    def fit(self, X: Any, y: Any) -> Margins:
        """Learn nothing."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def classes_(self) -> NDArray[np.intp]:
        """Labels."""
        return np.arange(self.n_classes)

    def decision_function(self, X: Any) -> FloatArray:
        """Return the features."""
        return np.asarray(X, dtype=np.float64)


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(400)


def true_recall(shape: Any, separation: float, biases: FloatArray, k: int) -> float:
    """Return the true share of class k whose biased score is the largest.

    Class k lies higher in the k-th of independent scores. The recall is the integral over the
    class's own score of the probability that the others stay below it.
    """
    own = shape.ppf((_NODES + 1) / 2)
    below = [shape.cdf(separation + own + biases[k] - b) for j, b in enumerate(biases) if j != k]
    return float(_WEIGHTS / 2 @ np.prod(below, axis=0))


def true_rates(alarms: float, misses: float, share: float) -> dict[str, float]:
    """Return the rates at true errors and a share of positives; a share of nothing is 1."""
    hits = share * (1 - misses)
    false = (1 - share) * alarms
    left = (1 - share) * (1 - alarms)
    lost = share * misses
    return {
        "recall": 1 - misses,
        "specificity": 1 - alarms,
        "precision": hits / (hits + false) if hits + false > 0 else 1.0,
        "npv": left / (left + lost) if left + lost > 0 else 1.0,
        "flagged": hits + false,
    }


def binomial_error(share: float, runs: int) -> float:
    """Return the Monte-Carlo standard error of a share."""
    return float(np.sqrt(share * (1 - share) / runs))
