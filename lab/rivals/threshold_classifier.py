"""A classifier whose threshold a rule moves after training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import check_is_fitted

from boundshift.rivals.delegate import check_labels
from boundshift.typing import FloatArray

__all__ = ["ThresholdClassifier"]


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Train a classifier, and move its threshold by a rule on its scores.

    Parameters
    ----------
    estimator : classifier
        Any binary classifier with ``predict_proba`` or ``decision_function``.
    rule : callable
        From labels and scores to the threshold to predict positive above.
    cv : None, int or splitter, default=None
        Scores to decide on: None those of the training rows, otherwise out-of-fold ones.
    """

    def __init__(
        self, estimator: Any, rule: Callable[[Any, FloatArray], float], *, cv: Any = None
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier and find its threshold."""
        labels = check_labels(X, y)
        self.estimator_ = clone(self.estimator).fit(X, labels)
        self.classes_ = self.estimator_.classes_
        self.threshold_ = self.rule(labels == self.classes_[1], self._deciding(X, labels))
        return self

    def _deciding(self, X: Any, y: NDArray[Any]) -> FloatArray:
        """Return scores of the training rows, or out-of-fold ones."""
        if self.cv is None:
            return _positive(getattr(self.estimator_, _response(self.estimator_))(X))
        method = _response(self.estimator)
        return _positive(cross_val_predict(self.estimator, X, y, cv=self.cv, method=method))

    def decision_function(self, X: Any) -> FloatArray:
        """Return score less threshold; positive values are predicted positive."""
        check_is_fitted(self, "threshold_")
        scores = _positive(getattr(self.estimator_, _response(self.estimator_))(X))
        return scores - self.threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels of the rows of `X`."""
        labels: NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(np.intp)]
        return labels


def _response(estimator: Any) -> str:
    """Return the method to score rows by: probabilities where there are any."""
    return "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"


def _positive(response: Any) -> FloatArray:
    """Return the positive class's scores."""
    scores = np.asarray(response, dtype=np.float64)
    return scores[:, 1] if scores.ndim == 2 else scores
