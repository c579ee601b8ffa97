"""Which columns a model's decisions depend on: permutation importance in terms of the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boundshift._app.cli import Show
from boundshift._classifier import BoundShiftClassifier
from boundshift._typing import BoolArray, FloatArray, IndexArray, IntArray
from boundshift.report._goal import PER, goal_rule
from boundshift.rules import Cost

if TYPE_CHECKING:
    import pandas as pd

_N_SHUFFLES = 5
_N_DRAWS = 200
_MOST_ROWS = 1000  # of a class


class Importance(NamedTuple):
    """By how much the goal's measure gets worse if a column is shuffled, with a 95% interval."""

    mean: float
    low: float
    high: float


def measure_importance(
    model: BoundShiftClassifier,
    X: pd.DataFrame,
    is_positive: BoolArray,
    *,
    clusters: IntArray | None = None,
    progress: Show = lambda what, done, total: None,
) -> dict[str, Importance]:
    """Return the importance of each column on test rows, the greatest first.

    Five times a column gets values of random other rows, and the rows are decided again by the
    same threshold. The interval comes from a Poisson bootstrap of rows, or of clusters. Up to 1,000
    rows of a class are used.
    """
    random = np.random.default_rng(0)
    prevalence = float(is_positive.mean())
    rows = np.concatenate([_draw(~is_positive, random), _draw(is_positive, random)])
    _, unit = np.unique(rows if clusters is None else clusters[rows], return_inverse=True)
    draws = random.poisson(1.0, (_N_DRAWS, unit.max() + 1))[:, unit].astype(np.float64)
    weights = np.vstack([np.ones(len(rows)), draws])
    every_row = X
    X = X.iloc[rows].reset_index(drop=True)
    is_positive = is_positive[rows]
    rule = goal_rule(model.boundary_.rule)

    def measure(wrong_rate: FloatArray) -> FloatArray:
        """Return the goal's measure for the rows and for each of their draws; more is better."""
        negative = _weighted_mean(wrong_rate, weights, ~is_positive)
        positive = _weighted_mean(wrong_rate, weights, is_positive)
        values = rule.measure(negative, positive, prevalence)
        if isinstance(rule, Cost):
            values = PER * values
        return values if rule.maximised else -values

    threshold = model.boundary_.threshold
    before = measure((model.positive_scores(X) > threshold) != is_positive)
    importance = {}
    for done, name in enumerate(X.columns):
        progress("shuffle columns", done, len(X.columns))
        shuffled = X.iloc[np.tile(np.arange(len(X)), _N_SHUFFLES)].reset_index(drop=True)
        # Values of all rows, which have the classes in their natural proportion.
        drawn = random.integers(0, len(every_row), len(shuffled))
        shuffled[name] = every_row[name].to_numpy()[drawn]
        flagged = (model.positive_scores(shuffled) > threshold).reshape(_N_SHUFFLES, -1)
        losses = before - measure((flagged != is_positive).mean(axis=0))
        low, high = np.percentile(losses[1:], [2.5, 97.5])
        importance[str(name)] = Importance(float(losses[0]), float(low), float(high))
    progress("shuffle columns", 1, 1)
    return dict(sorted(importance.items(), key=lambda item: -item[1].mean))


def _draw(is_own: BoolArray, random: np.random.Generator) -> IndexArray:
    """Return the numbers of some rows of a class, or of all if these are few."""
    return random.permutation(np.flatnonzero(is_own))[:_MOST_ROWS]


def _weighted_mean(values: FloatArray, weights: FloatArray, chosen: BoolArray) -> FloatArray:
    """Return the mean of some values for each row of weights, 0 if these are all 0."""
    weights = weights[:, chosen]
    return np.asarray(weights @ values[chosen] / np.maximum(weights.sum(axis=1), 1.0))
