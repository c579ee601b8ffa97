"""Kinds of models, their scores of rows left out of training, and models of given scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from boundshift._typing import FloatArray
from boundshift.models._scoring import find_methods, read_response
from lab.training import Score, cross_fit, fit_quietly

MODELS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "svm": lambda: make_pipeline(StandardScaler(), SVC(C=10.0)),
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(100, random_state=0),
    "mlp": lambda: make_pipeline(
        StandardScaler(), MLPClassifier((50,), max_iter=200, random_state=0)
    ),
}


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


class Probabilities(Margins):
    """The same with probabilities as features."""

    decision_function = property()

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the features."""
        return np.asarray(X, dtype=np.float64)


Response = Literal["margin", "decision_function", "predict_proba"]
SCORED = {"margin": Margins, "decision_function": Margins, "predict_proba": Probabilities}


class Halves(NamedTuple):
    """Raw responses to rows to decide on, out-of-fold, and to fresh rows to judge by."""

    y: NDArray[np.int64]
    raw: FloatArray
    fresh_y: NDArray[np.int64]
    fresh_raw: FloatArray
    method: Response


def _fit(model: Any, X: FloatArray, y: NDArray[Any], classes: NDArray[Any]) -> Score:
    """Train a copy, and return what reads its raw responses."""
    method, fitted = find_methods(model)[0], fit_quietly(clone(model), X, y)
    return lambda rows: read_response(fitted, rows, method, classes)


def out_of_fold(model: Any, X: FloatArray, y: NDArray[Any]) -> FloatArray:
    """Return raw responses in the folds that `BoundShiftClassifier` uses by default."""
    return cross_fit(lambda rows, labels: _fit(model, rows, labels, np.unique(y)), X, y)[0]


def score_halves(
    model: Any, X: FloatArray, y: NDArray[Any], fresh: tuple[FloatArray, NDArray[Any]]
) -> Halves:
    """Train on some rows, and return responses to them and to fresh ones."""
    method: Any = find_methods(model)[0]
    raw = _fit(model, X, y, np.unique(y))(fresh[0])
    return Halves(y, out_of_fold(model, X, y), fresh[1], raw, method)
