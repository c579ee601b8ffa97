"""The mean of models that were fitted on parts of the same rows: `MeanOfModels`.

Scores are averaged, not probabilities: log-odds that shift by one threshold, as those of a single
model do. :mod:`boundshift.models.collapse` turns a mean of linear models into one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from boundshift.models.log_odds import find_winner, log_probabilities, probabilities
from boundshift.models.response import Response
from boundshift.typing import FloatArray

__all__ = ["MeanOfModels", "mean_scores"]


def _has_probabilities(mean: Any) -> bool:
    return mean.is_log_odds or all(hasattr(part, "predict_proba") for part in mean.estimators)


class MeanOfModels(ClassifierMixin, BaseEstimator):
    """The mean of fitted models' scores, as one model with no shift of its own.

    :func:`~boundshift.save` stores it in as many times the space of one model, and a prediction
    takes as many times as long.

    Parameters
    ----------
    estimators : list of fitted classifiers
        The parts.
    classes : array of shape (n_classes,)
        All labels, sorted; a part may lack some.
    method, floor, is_log_odds
        How a part's response becomes its score: see :class:`~boundshift.models.Response`.
    factors : list of float or None, default=None
        What each part's scores are multiplied by, so that all are on one scale.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> parts = [DecisionTreeClassifier(max_leaf_nodes=2).fit(X[i:], y[i:]) for i in (0, 1)]
    >>> mean = MeanOfModels(parts, np.array([0, 1]), "predict_proba", (0.1, 0.1), True)
    >>> mean.predict([[0.0], [3.0]]).tolist(), mean.predict_proba([[3.0]]).round(2).tolist()
    ([0, 1], [[0.09, 0.91]])
    """

    def __init__(
        self,
        estimators: Sequence[Any],
        classes: Any,
        method: Any,
        floor: tuple[float, ...] | None = None,
        is_log_odds: bool = False,
        factors: Sequence[float] | None = None,
    ) -> None:
        self.estimators = estimators
        self.classes = classes
        self.method = method
        self.floor = floor
        self.is_log_odds = is_log_odds
        self.factors = factors

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels, in sorted order."""
        return np.asarray(self.classes)

    def __getattr__(self, name: str) -> Any:
        # What the parts say of their features.
        if name in ("n_features_in_", "feature_names_in_") and "estimators" in vars(self):
            return getattr(self.estimators[0], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def decision_function(self, X: Any) -> FloatArray:
        """Return the mean of the parts' scores: one column for two classes, else one per class."""
        response = Response(self.method, self.floor, self.is_log_odds)
        parts = [response.read(part, X, self.classes_) for part in self.estimators]
        return mean_scores(parts, self.factors, is_log_odds=self.is_log_odds)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return labels: the sign, or the largest, of the mean scores."""
        return np.asarray(self.classes_[find_winner(self.decision_function(X))])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the logistic function, or the softmax, of the mean log-odds."""
        return probabilities(self._log_odds(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of :meth:`predict_proba`."""
        return log_probabilities(self._log_odds(X))

    def _log_odds(self, X: Any) -> FloatArray:
        """Return the mean of the parts' log-odds, whatever their scores are."""
        if self.is_log_odds:
            return self.decision_function(X)
        floor = (float(np.finfo(np.float64).tiny),) * len(self.classes_)
        response = Response("predict_proba", floor, is_log_odds=True)
        parts = [response.read(part, X, self.classes_) for part in self.estimators]
        return mean_scores(parts, is_log_odds=True)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimators[0], "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimators[0]).input_tags
        return tags


def mean_scores(
    parts: Sequence[FloatArray],
    factors: Sequence[float] | None = None,
    *,
    is_log_odds: bool = False,
) -> FloatArray:
    """Return the mean of several models' scores of the same rows.

    A class that a model did not know, NaN there, has the mean of the others. Scores of many
    classes are told from each other only, so that each row of each model is brought to one level
    first.

    Examples
    --------
    >>> mean_scores([np.array([1.0, 3.0]), np.array([2.0, 5.0])]).tolist()
    [1.5, 4.0]
    """
    if factors is not None:
        parts = [part * factor for part, factor in zip(parts, factors, strict=True)]
    if parts[0].ndim == 1:
        return np.asarray(np.mean(parts, axis=0))
    stacked = np.stack([_level(part, is_log_odds) for part in parts])
    known = ~np.isnan(stacked)
    times = known.sum(axis=0)
    total = np.where(known, stacked, 0.0).sum(axis=0)
    return np.where(times > 0, total / np.maximum(times, 1), np.nan)


def _level(scores: FloatArray, is_log_odds: bool) -> FloatArray:
    """Bring each row to the level of log-probabilities, or to mean zero."""
    known = ~np.isnan(scores)
    if not is_log_odds:
        times = np.maximum(known.sum(axis=1, keepdims=True), 1)
        means = np.where(known, scores, 0.0).sum(axis=1, keepdims=True) / times
        return np.asarray(scores - means)
    level = np.full_like(scores, np.nan)
    some = known.any(axis=1)
    level[some] = log_softmax(np.where(known, scores, -np.inf)[some], axis=1)
    level[~known] = np.nan
    return level
