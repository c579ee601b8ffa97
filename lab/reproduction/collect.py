"""From a split to the scores of a trained model: the only step that takes time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from boundshift.rivals import BalancedWeights, SMOTEClassifier
from boundshift.typing import FloatArray
from lab.data import PaperSplit
from lab.harness.training import decision_scores, fit_quietly
from lab.reproduction.classifiers import (
    ClassifierOptions,
    make_classifier,
    settled,
    weight_norm,
    with_probabilities,
)
from lab.reproduction.problems import ClassifierKind

__all__ = ["MODELS", "FittedScores", "ModelName", "collect_scores", "folds_of"]

ModelName = Literal["untouched", "smote", "balanced-weights"]
MODELS: tuple[ModelName, ...] = ("untouched", "smote", "balanced-weights")

_FOLDS = 5


@dataclass(frozen=True)
class FittedScores:
    """All that a decision needs of one trained model.

    Scores are margins: their zero is the model's own boundary. Of the retrained models only the
    test scores are kept, and the other arrays are empty.

    Parameters
    ----------
    y_train, y_test : ndarray of int
        Labels 0 and 1.
    train, test, out_of_fold : ndarray
        Scores of the training rows, the test rows, and of the training rows by models of the same
        parameters that have not seen them.
    train_probability, test_probability : ndarray
        Probabilities of the positive class.
    unit : float
        What the authors divide the scores by.
    seconds : float
        Time of the training, grid search included.
    parameters : str
        What the grid search chose.
    """

    y_train: NDArray[np.int64]
    y_test: NDArray[np.int64]
    test: FloatArray
    train: FloatArray
    out_of_fold: FloatArray
    train_probability: FloatArray
    test_probability: FloatArray
    unit: float
    seconds: float
    parameters: str

    def tested(self, probability: bool) -> FloatArray:
        """Return scores of the test rows, or their probabilities."""
        return self.test_probability if probability else self.test


def folds_of(y: NDArray[np.int64]) -> list[NDArray[np.intp]]:
    """Return the training rows of each fold of the out-of-fold scores."""
    return [unseen for _, unseen in StratifiedKFold(_FOLDS).split(y, y)]


def collect_scores(
    split: PaperSplit,
    kind: ClassifierKind,
    model: ModelName,
    smote_state: int | np.random.RandomState,
    options: ClassifierOptions,
) -> FittedScores:
    """Train a classifier on a split and keep its scores.

    Parameters
    ----------
    split : PaperSplit
        Training and test rows.
    kind : {"logistic-regression", "rbf-machine", "network"}
        What to train.
    model : {"untouched", "smote", "balanced-weights"}
        What to do about the imbalance while training.
    smote_state : int or RandomState
        SMOTE's source of randomness.
    options : ClassifierOptions
        Grid and network.
    """
    start = time.perf_counter()
    classifier = _wrapped(model, make_classifier(kind, options), smote_state)
    trained = fit_quietly(classifier, split.X_train, split.y_train)
    seconds = time.perf_counter() - start
    fitted = trained if model == "untouched" else trained.estimator_
    deciding = _deciding(settled(fitted), split) if model == "untouched" else _NOTHING
    return FittedScores(
        y_train=split.y_train,
        y_test=split.y_test,
        test=decision_scores(settled(fitted), split.X_test),
        **deciding,
        unit=weight_norm(settled(fitted)),
        seconds=seconds,
        parameters=str(getattr(fitted, "best_params_", "")),
    )


def _wrapped(model: ModelName, classifier: Any, smote_state: int | np.random.RandomState) -> Any:
    """Return the classifier, or one of the rivals that train around it."""
    if model == "smote":
        return SMOTEClassifier(classifier, random_state=smote_state)
    return BalancedWeights(classifier) if model == "balanced-weights" else classifier


_EMPTY = np.empty(0)
_NOTHING: dict[str, FloatArray] = dict.fromkeys(
    ("train", "out_of_fold", "train_probability", "test_probability"), _EMPTY
)


def _deciding(model: Any, split: PaperSplit) -> dict[str, FloatArray]:
    """Return what decisions after training look at."""
    X, y = split.X_train, split.y_train
    probable = with_probabilities(model, X, y)
    return {
        "train": decision_scores(model, X),
        "out_of_fold": _out_of_fold(model, X, y),
        "train_probability": probable.predict_proba(X)[:, 1],
        "test_probability": probable.predict_proba(split.X_test)[:, 1],
    }


def _out_of_fold(model: Any, X: FloatArray, y: NDArray[np.int64]) -> FloatArray:
    """Score every row by a model that has not seen it, with the parameters already chosen."""
    scores = np.empty(len(y))
    for unseen in folds_of(y):
        seen = np.setdiff1d(np.arange(len(y)), unseen)
        scores[unseen] = decision_scores(fit_quietly(clone(model), X[seen], y[seen]), X[unseen])
    return scores
