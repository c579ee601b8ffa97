r"""The mean of models fitted on parts of the same rows; linear ones are averaged into one model.

Scores are averaged, not probabilities: log-odds, or margins of models without probabilities.

Model :math:`k` of several linear ones scores a row by :math:`w_k^\top (x - m_k) / s_k + b_k`, where
its StandardScaler has learned :math:`m_k` and :math:`s_k`. In the first model's units,
:math:`z = (x - m_1) / s_1`, that is

.. math:: \left(w_k \frac{s_1}{s_k}\right)^{\!\top} z
          + w_k^\top \frac{m_1 - m_k}{s_k} + b_k,

so a copy of the first model with the mean of these weights and intercepts gives the mean score.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from boundshift._typing import FloatArray, IndexArray
from boundshift.models._scoring import SMALLEST, Response, find_winner, is_a, probabilities, unwrap


def _has_probabilities(mean: Any) -> bool:
    return mean.is_log_odds or all(hasattr(part, "predict_proba") for part in mean.estimators)


class MeanOfModels(ClassifierMixin, BaseEstimator):
    """The mean of fitted models' scores, as one model without a shift.

    The mean of K models takes K times the space and time of one.

    Parameters
    ----------
    estimators : list of fitted classifiers
        The parts.
    classes : array of shape (n_classes,)
        All labels, sorted; a model may lack some.
    method, floor, is_log_odds
        How a model's response becomes its score: the fields of a Response.
    """

    def __init__(
        self,
        estimators: Sequence[Any],
        classes: Any,
        method: Any,
        floor: tuple[float, ...] | None = None,
        is_log_odds: bool = False,
    ) -> None:
        self.estimators = estimators
        self.classes = classes
        self.method = method
        self.floor = floor
        self.is_log_odds = is_log_odds

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels, in sorted order."""
        return np.asarray(self.classes)

    @property
    def response(self) -> Response:
        """How a part's response becomes its score."""
        return Response(self.method, self.floor, self.is_log_odds)

    def __getattr__(self, name: str) -> Any:
        # What the parts say of their features.
        if name in ("n_features_in_", "feature_names_in_") and "estimators" in vars(self):
            return getattr(self.estimators[0], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def decision_function(self, X: Any) -> FloatArray:
        """Return the mean of the parts' scores: one column for two classes, else one per class."""
        return self._mean(X, self.response)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return labels: by the sign of the mean scores, or the largest one."""
        return np.asarray(self.classes_[find_winner(self.decision_function(X))])

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the logistic function, or the softmax, of the mean log-odds."""
        return probabilities(self._log_odds(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithms of :meth:`predict_proba`."""
        return probabilities(self._log_odds(X), log=True)

    def _log_odds(self, X: Any) -> FloatArray:
        """Return the mean of the parts' log-odds, also if their scores are others."""
        if self.is_log_odds:
            return self.decision_function(X)
        floor = (SMALLEST,) * len(self.classes_)
        return self._mean(X, Response("predict_proba", floor, is_log_odds=True))

    def _mean(self, X: Any, response: Response) -> FloatArray:
        parts = [response.read(part, X, self.classes_) for part in self.estimators]
        rows = np.tile(np.arange(len(parts[0])), len(parts))
        return mean_scores(np.concatenate(parts), rows, is_log_odds=response.is_log_odds)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimators[0], "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimators[0]).input_tags
        return tags


def mean_scores(scores: FloatArray, rows: IndexArray, *, is_log_odds: bool = False) -> FloatArray:
    """Return the mean score of each row over the models that scored it.

    Only differences between classes count, so the scores of many classes are first centred: as
    log-probabilities, or to mean zero. A class that a model did not know is NaN there and gets the
    mean of the other models.

    `scores` holds those of all models, one below the other, and `rows` the row of each.
    """
    columns = scores.reshape(len(scores), -1)
    known = ~np.isnan(columns)
    if scores.ndim == 2 and is_log_odds:
        some = known.any(axis=1)
        columns = np.zeros_like(columns)
        columns[some] = log_softmax(np.where(known, scores, -np.inf)[some], axis=1)
    elif scores.ndim == 2:
        totals = np.where(known, columns, 0.0).sum(axis=1, keepdims=True)
        columns = columns - totals / np.maximum(known.sum(axis=1, keepdims=True), 1)

    def add(values: NDArray[Any]) -> FloatArray:
        return np.stack([np.bincount(rows, column) for column in values.T], axis=1)

    total, times = add(np.where(known, columns, 0.0)), add(known)
    mean = np.where(times > 0, total / np.maximum(times, 1.0), np.nan)
    return mean if scores.ndim == 2 else mean[:, 0]


def collapse_linear(models: Sequence[Any]) -> Any | None:
    """Return one linear model whose scores are the mean of many, or None if there is none.

    Steps before the linear models must be StandardScalers, or the same in all models.
    """
    parts = [unwrap(model) for model in models]
    first = parts[0].last
    for last in (part.last for part in parts):
        if (
            not is_a(last, "sklearn", "LinearClassifierMixin")
            or not type(last).__module__.startswith("sklearn.")
            or not isinstance(getattr(last, "coef_", None), np.ndarray)
            or not np.array_equal(last.classes_, first.classes_)
            or np.shape(last.coef_) != np.shape(first.coef_)
        ):
            return None
    scalings = _find_scalings([part.transformers for part in parts])
    if scalings is None:
        return None
    (first_mean, first_scale), weights, intercepts = scalings[0], [], []
    for part, (mean, scale) in zip(parts, scalings, strict=True):
        coef = np.atleast_2d(np.asarray(part.last.coef_, dtype=np.float64))
        own = np.atleast_1d(np.asarray(part.last.intercept_, dtype=np.float64))
        weights.append(coef * (first_scale / scale))
        moved = np.broadcast_to((first_mean - mean) / scale, coef.shape[1:])
        intercepts.append(np.broadcast_to(own, len(coef)) + coef @ moved)
    whole = copy.deepcopy(parts[0].whole)
    one = unwrap(whole).last
    one.coef_ = np.mean(weights, axis=0).reshape(np.shape(one.coef_))
    one.intercept_ = np.mean(intercepts, axis=0)
    return whole


def _find_scalings(steps: Sequence[Sequence[Any]]) -> list[tuple[Any, Any]] | None:
    """Return each model's means and scales, or None if other steps differ between models."""
    if len({len(own) for own in steps}) > 1:
        return None  # A search has dropped a step in one fold and kept it in another.
    found: list[tuple[Any, Any]] = [(0.0, 1.0)] * len(steps)
    may_stay = True  # Steps that are the same in all models may come before the scalers.
    for together in zip(*steps, strict=True):
        if all(type(step) is StandardScaler for step in together):
            may_stay = False
            for k, (step, (mean, scale)) in enumerate(zip(together, found, strict=True)):
                centre = step.mean_ if step.with_mean else 0.0
                found[k] = mean + scale * centre, scale * (step.scale_ if step.with_std else 1.0)
        elif not may_stay or len({joblib.hash(step) for step in together}) > 1:
            return None
    return found
