"""Training, margins of a trained model, and the one out-of-fold loop."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier

from boundshift._typing import FloatArray
from lab.experiment import quiet

Score = Callable[[FloatArray], FloatArray]


def fit_quietly(classifier: Any, X: FloatArray, y: NDArray[Any]) -> Any:
    """Fit; a network that stops before it converges is a model like any other."""
    with quiet(ConvergenceWarning):
        return classifier.fit(X, y)


def decision_scores(model: Any, X: FloatArray) -> FloatArray:
    """Return margins whose zero is the model's own boundary; of a network, its last sum."""
    if isinstance(model, MLPClassifier):
        return last_sums(model, X)[:, 0]
    return np.asarray(model.decision_function(X), dtype=np.float64)


def last_sums(network: MLPClassifier, X: FloatArray) -> FloatArray:
    """Apply a network's layers by hand, the last one without its activation."""
    for weights, bias in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        X = np.maximum(X @ weights + bias, 0.0)
    return np.asarray(X @ network.coefs_[-1] + network.intercepts_[-1])


def folds_of(y: NDArray[Any], folds: int = 5) -> list[NDArray[np.intp]]:
    """Return the rows of each fold, as `BoundShiftClassifier` and scikit-learn's tuner split."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return [unseen for _, unseen in StratifiedKFold(folds).split(y, y)]


def cross_fit(
    fit: Callable[[FloatArray, NDArray[Any]], Score], X: FloatArray, y: NDArray[Any], folds: int = 5
) -> tuple[FloatArray, list[Score]]:
    """Score every row by a model that has not seen it; return the scores and the models.

    `fit` trains on rows and returns what scores rows.
    """
    parts = folds_of(y, folds)
    scorers = []
    for unseen in parts:
        seen = np.setdiff1d(np.arange(len(y)), unseen)
        scorers.append(fit(X[seen], y[seen]))
    scores = np.concatenate([score(X[rows]) for score, rows in zip(scorers, parts, strict=True)])
    return scores[np.argsort(np.concatenate(parts))], scorers
