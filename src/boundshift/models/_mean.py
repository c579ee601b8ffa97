r"""Means of models: of their scores, or of their weights if they are linear.

Model :math:`k` of several linear ones scores a row by :math:`w_k^\top (x - m_k) / s_k + b_k`, where
its StandardScaler has learned :math:`m_k` and :math:`s_k`. With :math:`z = (x - m_1) / s_1` that is
:math:`(w_k s_1 / s_k)^\top z + w_k^\top (m_1 - m_k) / s_k + b_k`, so a copy of the first model with
the mean of these weights and intercepts gives the mean score.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import joblib
import numpy as np
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags, get_tags

from boundshift._sklearn_internals import exists_if
from boundshift._typing import FloatArray, IndexArray, LabelArray, Model, Rows
from boundshift.models._parts import is_a, unwrap
from boundshift.models._scoring import (
    SMALLEST,
    SUREST,
    Method,
    Response,
    find_winner,
    probabilities,
)

_Scaling = tuple[FloatArray | float, FloatArray | float]
"""What is subtracted from the columns, and by what they are divided then."""

_if_probabilities = exists_if(
    lambda mean: mean.is_log_odds or all(hasattr(p, "predict_proba") for p in mean.estimators)
)


class MeanOfModels(ClassifierMixin, BaseEstimator):
    """The mean of fitted models' scores, as one model without a shift.

    A model may lack some of the sorted `classes`. The other arguments are those of a Response.
    """

    def __init__(
        self,
        estimators: Sequence[Model],
        classes: LabelArray,
        method: Method,
        floor: tuple[float, ...] | None = None,
        is_log_odds: bool = False,
    ) -> None:
        self.estimators = estimators
        self.classes = classes
        self.method = method
        self.floor = floor
        self.is_log_odds = is_log_odds

    @property
    def classes_(self) -> LabelArray:
        """Labels, in sorted order."""
        return np.asarray(self.classes)

    @property
    def response(self) -> Response:
        """How a part's response becomes its score."""
        return Response(self.method, self.floor, self.is_log_odds)

    def __getattr__(self, name: str) -> object:
        # What the parts say of their features.
        if name in ("n_features_in_", "feature_names_in_") and "estimators" in vars(self):
            return getattr(self.estimators[0], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def decision_function(self, X: Rows) -> FloatArray:
        """Return the mean of the parts' scores: one column for two classes, else one per class."""
        return self._mean(X, self.response)

    def predict(self, X: Rows) -> LabelArray:
        """Return labels: by the sign of the mean scores, or the largest one."""
        return np.asarray(self.classes_[find_winner(self.decision_function(X))])

    @_if_probabilities
    def predict_proba(self, X: Rows) -> FloatArray:
        """Return the logistic function, or the softmax, of the mean log-odds."""
        if self.is_log_odds:
            return probabilities(self.decision_function(X))
        # The parts' scores are others.
        floor = (SMALLEST,) * len(self.classes_)
        return probabilities(self._mean(X, Response("predict_proba", floor, is_log_odds=True)))

    @_if_probabilities
    def predict_log_proba(self, X: Rows) -> FloatArray:
        """Return the logarithms of :meth:`predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def _mean(self, X: Rows, response: Response) -> FloatArray:
        parts = [response.read(part, X, self.classes_) for part in self.estimators]
        rows = np.tile(np.arange(len(parts[0])), len(parts))
        return mean_scores(np.concatenate(parts), rows, is_log_odds=response.is_log_odds)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimators[0], "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimators[0]).input_tags
        return tags


def mean_scores(scores: FloatArray, rows: IndexArray, *, is_log_odds: bool = False) -> FloatArray:
    """Return the mean score of each row over the models that scored it.

    `scores` holds those of all models, one below the other, and `rows` the row of each. Those of
    many classes are first centred: as log-probabilities, or to mean zero. A class that a model did
    not know is NaN there and gets the mean of the other models.

    Of two classes, a row has the median of the log-odds if a model is surer of it than a float64
    probability can say: in a mean, one such model (naive Bayes with few rows) outvotes all others.
    """
    columns = scores.reshape(len(scores), -1)
    is_known = ~np.isnan(columns)
    if scores.ndim == 2 and is_log_odds:
        with np.errstate(invalid="ignore"):  # of a model that knew no class
            columns = log_softmax(np.where(is_known, scores, -np.inf), axis=1)
    elif scores.ndim == 2:
        totals = np.where(is_known, columns, 0.0).sum(axis=1, keepdims=True)
        columns = columns - totals / np.maximum(is_known.sum(axis=1, keepdims=True), 1)
    filled = np.where(is_known, columns, 0.0).T
    total, times = (
        np.stack([np.bincount(rows, column) for column in values], axis=1)
        for values in (filled, is_known.T)
    )
    mean = np.where(times > 0, total / np.maximum(times, 1.0), np.nan)
    if scores.ndim == 2:
        return mean
    if not is_log_odds or np.abs(scores).max(initial=0.0) <= SUREST:
        return mean[:, 0]
    counts = np.bincount(rows)
    first = np.cumsum(counts) - counts
    ordered = scores[np.lexsort((scores, rows))]
    median = (ordered[first + (counts - 1) // 2] + ordered[first + counts // 2]) / 2
    is_sure = np.bincount(rows, np.abs(scores) > SUREST) > 0
    return np.where(is_sure, median, mean[:, 0])


def collapse_linear(models: Sequence[Model]) -> Model | None:
    """Return one linear model whose scores are the mean of many, or None if there is none.

    Steps before the linear models must be StandardScalers, or the same in all models.
    """
    parts = [unwrap(model) for model in models]
    lasts = [part.last for part in parts]
    for last in lasts:
        is_linear = is_a(last, "sklearn", "LinearClassifierMixin")
        is_own = type(last).__module__.startswith("sklearn.")
        if not is_linear or not is_own or not isinstance(last.coef_, np.ndarray):
            return None
    same = {(last.coef_.shape, tuple(last.classes_.tolist())) for last in lasts}
    scalings = _find_scalings([part.transformers for part in parts])
    if len(same) > 1 or scalings is None:
        return None
    first_mean, first_scale = scalings[0]
    weights = []
    intercepts = []
    for last, (mean, scale) in zip(lasts, scalings, strict=True):
        coef = np.atleast_2d(last.coef_.astype(np.float64))
        weights.append(coef * (first_scale / scale))
        moved = np.broadcast_to((first_mean - mean) / scale, coef.shape[1:])
        intercepts.append(np.broadcast_to(last.intercept_, len(coef)) + coef @ moved)
    whole = copy.deepcopy(parts[0].whole)
    one = unwrap(whole).last
    one.coef_ = np.mean(weights, axis=0).reshape(one.coef_.shape)
    one.intercept_ = np.mean(intercepts, axis=0)
    return whole


def _find_scalings(steps: Sequence[Sequence[Model]]) -> list[_Scaling] | None:
    """Return each model's means and scales, or None if other steps differ between models."""
    if len({len(own) for own in steps}) > 1:
        return None  # A search has dropped a step in one fold and kept it in another.
    scalings: list[_Scaling] = [(0.0, 1.0)] * len(steps)
    may_stay = True  # Steps that are the same in all models may come before the scalers.
    for together in zip(*steps, strict=True):
        if all(type(step) is StandardScaler for step in together):
            may_stay = False
            for k, (step, (mean, scale)) in enumerate(zip(together, scalings, strict=True)):
                centre = step.mean_ if step.with_mean else 0.0
                unit = step.scale_ if step.with_std else 1.0
                scalings[k] = (mean + scale * centre, scale * unit)
        elif not may_stay or len({joblib.hash(step) for step in together}) > 1:
            return None
    return scalings
