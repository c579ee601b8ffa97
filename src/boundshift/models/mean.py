r"""The mean of models that were fitted on parts of the same rows, and linear ones as one model.

Scores are averaged, not probabilities: log-odds, or margins of models without probabilities.

Of linear models the mean costs no more than one. Part :math:`k` scores a row by
:math:`w_k^\top (x - m_k) / s_k + b_k`, where its own scalers have learned :math:`m_k` and
:math:`s_k`. In the first part's units, :math:`z = (x - m_1) / s_1`, that is

.. math:: \left(w_k \frac{s_1}{s_k}\right)^{\!\top} z
          + w_k^\top \frac{m_1 - m_k}{s_k} + b_k,

so that a copy of the first part whose last step has the mean of these weights and intercepts gives
the mean of all scores.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from boundshift.models.scoring import (
    Response,
    find_winner,
    is_a,
    log_probabilities,
    look_up,
    probabilities,
    unwrap,
)
from boundshift.typing import FloatArray

__all__ = ["MeanOfModels", "collapse_linear", "mean_scores", "thaw"]

Affine = tuple[Any, Any]


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

    def __getattr__(self, name: str) -> Any:
        # What the parts say of their features.
        if name in ("n_features_in_", "feature_names_in_") and "estimators" in vars(self):
            return getattr(self.estimators[0], name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def decision_function(self, X: Any) -> FloatArray:
        """Return the mean of the parts' scores: one column for two classes, else one per class."""
        return self._mean(X, Response(self.method, self.floor, self.is_log_odds))

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
        return self._mean(X, Response("predict_proba", floor, is_log_odds=True))

    def _mean(self, X: Any, response: Response) -> FloatArray:
        parts = [response.read(part, X, self.classes_) for part in self.estimators]
        return mean_scores(parts, is_log_odds=response.is_log_odds)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimators[0], "__sklearn_tags__"):
            tags.input_tags = get_tags(self.estimators[0]).input_tags
        return tags


def mean_scores(parts: Sequence[FloatArray], *, is_log_odds: bool = False) -> FloatArray:
    """Return the mean of several models' scores of the same rows.

    A class that a model did not know, NaN there, has the mean of the others. Scores of many
    classes are told from each other only, so that each row of each model is brought to one level
    first.

    Examples
    --------
    >>> mean_scores([np.array([1.0, 3.0]), np.array([2.0, 5.0])]).tolist()
    [1.5, 4.0]
    """
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


def collapse_linear(models: Sequence[Any]) -> Any | None:
    """Return one linear model whose scores are the mean of many, or None if there is none.

    Parameters
    ----------
    models : sequence of fitted models
        Linear ones, or pipelines that end in one. Steps before it must be scalers, or the same in
        all models.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [4.0]]), [0, 0, 1, 1]
    >>> models = [LogisticRegression(C=c).fit(X, y) for c in (1, 3)]
    >>> one = collapse_linear(models)
    >>> mean = (models[0].decision_function(X) + models[1].decision_function(X)) / 2
    >>> bool(np.allclose(one.decision_function(X), mean))
    True
    """
    steps, last = zip(*map(unwrap, models), strict=True)
    if not all(_is_linear(model, last[0]) for model in last):
        return None
    scalings = _scalings(steps)
    if scalings is None:
        return None
    (first_middle, first_scale), weights, intercepts = scalings[0], [], []
    for model, (middle, scale) in zip(last, scalings, strict=True):
        coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
        own = np.atleast_1d(np.asarray(model.intercept_, dtype=np.float64))
        weights.append(coef * (first_scale / scale))
        moved = np.broadcast_to((first_middle - middle) / scale, coef.shape[1:])
        intercepts.append(np.broadcast_to(own, len(coef)) + coef @ moved)
    whole = copy.deepcopy(thaw(models[0]))
    one = unwrap(whole)[1]
    one.coef_ = np.mean(weights, axis=0).reshape(np.shape(one.coef_))
    one.intercept_ = np.mean(intercepts, axis=0)
    return whole


def thaw(model: Any) -> Any:
    """Return the model that a search has found or that was frozen."""
    while isinstance(model, FrozenEstimator) or hasattr(model, "best_estimator_"):
        frozen = isinstance(model, FrozenEstimator)
        model = model.estimator if frozen else model.best_estimator_
    return model


def _is_linear(model: Any, first: Any) -> bool:
    """Return whether a model is a linear one of scikit-learn, of the first one's classes."""
    return (
        is_a(model, "sklearn", "LinearClassifierMixin")
        and type(model).__module__.startswith("sklearn.")
        and isinstance(getattr(model, "coef_", None), np.ndarray)
        and np.array_equal(model.classes_, first.classes_)
        and np.shape(model.coef_) == np.shape(first.coef_)
    )


def _scalings(steps: Sequence[Sequence[Any]]) -> list[Affine] | None:
    """Return the middle and the scale of each model's scalers together, or None if others learn."""
    import joblib

    if len({len(own) for own in steps}) > 1:
        return None  # A search has dropped a step here and kept it there.
    found: list[Affine] = [(0.0, 1.0)] * len(steps)
    may_stay = True  # Steps that are the same in all models may come first.
    for together in zip(*steps, strict=True):
        readers = [look_up(step, _SCALERS) for step in together]
        read = [find(step) for find, step in zip(readers, together, strict=True) if find]
        scalers = [scaler for scaler in read if scaler is not None]
        if len(scalers) == len(together):
            may_stay = False
            found = [
                (middle + scale * next_middle, scale * next_scale)
                for (middle, scale), (next_middle, next_scale) in zip(found, scalers, strict=True)
            ]
        elif not may_stay or len({joblib.hash(step) for step in together}) > 1:
            return None
    return found


def _standard(step: Any) -> Affine:
    return step.mean_ if step.with_mean else 0.0, step.scale_ if step.with_std else 1.0


def _min_max(step: Any) -> Affine | None:
    return None if step.clip else (-step.min_ / step.scale_, 1 / step.scale_)


def _max_abs(step: Any) -> Affine | None:
    return None if getattr(step, "clip", False) else (0.0, step.scale_)


def _robust(step: Any) -> Affine:
    middle = step.center_ if step.with_centering else 0.0
    return middle, step.scale_ if step.with_scaling else 1.0


_SCALERS: dict[tuple[str, str], Callable[[Any], Affine | None]] = {
    ("sklearn", "StandardScaler"): _standard,
    ("sklearn", "MinMaxScaler"): _min_max,
    ("sklearn", "MaxAbsScaler"): _max_abs,
    ("sklearn", "RobustScaler"): _robust,
}
