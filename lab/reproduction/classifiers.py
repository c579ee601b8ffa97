"""The paper's classifiers, and what is read out of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from boundshift.typing import FloatArray
from lab.harness.quiet import quiet
from lab.reproduction.problems import ClassifierKind

__all__ = [
    "PAPER_GRID",
    "PAPER_LAYERS",
    "ClassifierOptions",
    "make_classifier",
    "settled",
    "weight_norm",
    "with_probabilities",
]


PAPER_GRID: dict[str, Sequence[Any]] = {
    "C": (0.1, 1, 10, 100, 500, 2000, 10000),
    "gamma": ("scale", "auto", 1, 0.1, 0.05, 0.01, 0.005, 0.001, 0.0001),
}
PAPER_LAYERS = (100, 500, 1000, 500, 100)


@dataclass(frozen=True)
class ClassifierOptions:
    """What to train; smaller values make a quick trial run.

    Parameters
    ----------
    grid : mapping, default=PAPER_GRID
        Values of C and gamma that the RBF machine's grid search tries.
    hidden_layers : tuple of int, default=(100, 500, 1000, 500, 100)
        Layers of the network.
    max_iter : int, default=500
        Epochs of the network at most.
    """

    grid: Mapping[str, Sequence[Any]] = field(default_factory=lambda: PAPER_GRID)
    hidden_layers: tuple[int, ...] = PAPER_LAYERS
    max_iter: int = 500

    def digest(self, kind: ClassifierKind) -> str:
        """Return a short word that changes with what matters for a kind of classifier."""
        matters = {
            "logistic-regression": "",
            "rbf-machine": repr(sorted((k, list(v)) for k, v in self.grid.items())),
            "network": repr((self.hidden_layers, self.max_iter)),
        }
        return hashlib.sha256(matters[kind].encode()).hexdigest()[:8]


def make_classifier(kind: ClassifierKind, options: ClassifierOptions) -> Any:
    """Return the untrained classifier; parameters not named are scikit-learn's defaults.

    The network's learning rate and seed are those of the authors' code, which the paper does not
    state.
    """
    if kind == "logistic-regression":
        return LogisticRegression()
    if kind == "rbf-machine":
        grid = {name: list(values) for name, values in options.grid.items()}
        return GridSearchCV(SVC(), grid, cv=5, scoring="accuracy")
    return MLPClassifier(
        options.hidden_layers,
        learning_rate_init=1e-4,
        max_iter=options.max_iter,
        random_state=42,
    )


def settled(fitted: Any) -> Any:
    """Return the model itself: of a grid search, its best one."""
    return getattr(fitted, "best_estimator_", fitted)


def weight_norm(model: Any) -> float:
    """Return what the authors divide scores by: the norm of the (last) weights, 1 for a kernel."""
    if isinstance(model, LogisticRegression):
        return float(np.linalg.norm(model.coef_))
    return float(np.linalg.norm(model.coefs_[-1])) if isinstance(model, MLPClassifier) else 1.0


def with_probabilities(model: Any, X: FloatArray, y: NDArray[np.int64]) -> Any:
    """Return a fitted model that has probabilities.

    The authors' machine is ``SVC(probability=True, random_state=0)``, whose Platt scaling libsvm
    cross-validates with folds of its own; scikit-learn 1.9 deprecates it. Where it is gone,
    `CalibratedClassifierCV` without an ensemble, its successor, does the same with other folds.
    """
    if not isinstance(model, SVC):
        return model
    try:
        platt = clone(model).set_params(probability=True, random_state=0)
    except ValueError:
        return CalibratedClassifierCV(clone(model), ensemble=False).fit(X, y)
    with quiet(FutureWarning):
        return platt.fit(X, y)
