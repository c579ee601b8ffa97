"""Training, and margins out of a trained model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier

from boundshift.typing import FloatArray
from lab.harness.quiet import quiet

__all__ = ["decision_scores", "fit_quietly"]


def fit_quietly(classifier: Any, X: FloatArray, y: NDArray[Any]) -> Any:
    """Fit; a network that stops before it converges is a model like any other."""
    with quiet(ConvergenceWarning):
        return classifier.fit(X, y)


def decision_scores(model: Any, X: FloatArray) -> FloatArray:
    """Return margins whose zero is the model's own boundary; of a network, its last sum."""
    if not isinstance(model, MLPClassifier):
        return np.asarray(model.decision_function(X), dtype=np.float64)
    hidden = X
    for weights, bias in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        hidden = np.maximum(hidden @ weights + bias, 0.0)
    return np.asarray((hidden @ model.coefs_[-1] + model.intercepts_[-1])[:, 0])
