"""From a problem and a seed to the scores of trained models, and what a method sees of them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

from boundshift._typing import FloatArray
from lab.baselines import Retrained
from lab.data.paper import PaperSplit
from lab.experiment import quiet
from lab.records import ScoreCache
from lab.reproduction.decisions import Decision, Sample, Scored, Source
from lab.reproduction.problems import ClassifierKind, Problem, Protocol
from lab.training import Score, cross_fit, decision_scores, fit_quietly, folds_of

SlackKind = Literal["binary", "continuous"]
ModelName = Literal["untouched", "smote", "balanced-weights"]
MODELS: tuple[ModelName, ...] = ("untouched", "smote", "balanced-weights")
_SOURCES: dict[Source, ModelName] = {"smote": "smote", "balanced": "balanced-weights"}
# Raise it when splits, classifiers or what is kept of them change: old files are then ignored.
PROTOCOL_VERSION = 2

PAPER_GRID: dict[str, Sequence[Any]] = {
    "C": (0.1, 1, 10, 100, 500, 2000, 10000),
    "gamma": ("scale", "auto", 1, 0.1, 0.05, 0.01, 0.005, 0.001, 0.0001),
}
PAPER_LAYERS = (100, 500, 1000, 500, 100)


@dataclass(frozen=True)
class ClassifierOptions:
    """Grid of the RBF machine, layers and epochs of the network; smaller for a trial run."""

    grid: Mapping[str, Sequence[Any]] = field(default_factory=lambda: PAPER_GRID)
    hidden_layers: tuple[int, ...] = PAPER_LAYERS
    max_iter: int = 500

    def digest(self, kind: ClassifierKind) -> str:
        """Return a short word that changes with what matters for a kind of classifier."""
        matters = {
            "rbf-machine": repr(sorted((k, list(v)) for k, v in self.grid.items())),
            "network": repr((self.hidden_layers, self.max_iter)),
        }
        return hashlib.sha256(matters.get(kind, "").encode()).hexdigest()[:8]


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


@dataclass(frozen=True)
class FittedScores:
    """All that a decision needs of one trained model.

    Scores are margins: their zero is the model's own boundary. `out_of_fold` is by models of the
    same parameters that have not seen the row. Of the retrained models only the test scores are
    kept, and the other arrays are empty. `unit` is what the authors divide the scores by,
    `seconds` the training with its grid search, `parameters` what the search chose.
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


def collect_scores(
    split: PaperSplit,
    kind: ClassifierKind,
    model: ModelName,
    smote_state: int | np.random.RandomState,
    options: ClassifierOptions,
) -> FittedScores:
    """Train a classifier on a split, in one of three ways, and keep its scores."""
    start = time.perf_counter()
    classifier = make_classifier(kind, options)
    if model != "untouched":
        how: Any = model.removesuffix("-weights")
        classifier = Retrained(classifier, how, smote_state)
    trained = fit_quietly(classifier, split.X_train, split.y_train)
    seconds = time.perf_counter() - start
    fitted = trained if model == "untouched" else trained.estimator_
    best = getattr(fitted, "best_estimator_", fitted)
    names = ("train", "out_of_fold", "train_probability", "test_probability")
    deciding = _deciding(best, split) if model == "untouched" else dict.fromkeys(names, np.empty(0))
    return FittedScores(
        y_train=split.y_train,
        y_test=split.y_test,
        test=decision_scores(best, split.X_test),
        **deciding,
        unit=weight_norm(best),
        seconds=seconds,
        parameters=str(getattr(fitted, "best_params_", "")),
    )


def _deciding(model: Any, split: PaperSplit) -> dict[str, FloatArray]:
    """Return what decisions after training look at, with the parameters already chosen."""
    X = split.X_train
    y = split.y_train
    probable = with_probabilities(model, X, y)

    def fit(rows: FloatArray, labels: NDArray[np.int64]) -> Score:
        fitted = fit_quietly(clone(model), rows, labels)
        return lambda unseen: decision_scores(fitted, unseen)

    return {
        "train": decision_scores(model, X),
        "out_of_fold": cross_fit(fit, X, y)[0],
        "train_probability": probable.predict_proba(X)[:, 1],
        "test_probability": probable.predict_proba(split.X_test)[:, 1],
    }


class Run(NamedTuple):
    """One training."""

    problem: Problem
    protocol: Protocol
    seed: int
    model: ModelName = "untouched"


def train_run(key: str, run: Run, options: ClassifierOptions) -> FittedScores:
    """Train on the split of the seed; `key` names all that changes the scores."""
    problem, protocol, seed, model = run
    split = problem.split(seed, protocol)
    state = problem.smote_state(seed, protocol)
    return collect_scores(split, problem.classifier, model, state, options)


def reproduction_cache(folder: Path) -> ScoreCache:
    return ScoreCache(folder, train_run, ignore=["run", "options"])


def training_of(run: Run, options: ClassifierOptions) -> tuple[str, Run, ClassifierOptions]:
    """Return the arguments of a training, named by protocol, releases and options."""
    problem, protocol, seed, model = run
    release = ".".join(sklearn.__version__.split(".")[:2])
    words = (problem.key, protocol, seed, model, PROTOCOL_VERSION, release)
    return "-".join(map(str, (*words, options.digest(problem.classifier)))), run, options


class FittedSeed:
    """What a method sees of one seed: scores of each model, or the error that stood in the way."""

    def __init__(
        self, models: Mapping[ModelName, FittedScores | Exception], slack: SlackKind
    ) -> None:
        self.models = models
        self.slack = slack

    def scores(self, source: Source) -> FittedScores:
        """Return the scores of the model that a source is about."""
        scores = self.models[_SOURCES.get(source, "untouched")]
        if isinstance(scores, Exception):
            raise scores
        return scores

    @property
    def unit(self) -> float:
        """The weight norm, by which the authors divide: continuous slack has the scores' unit."""
        return self.scores("training").unit

    @property
    def folds(self) -> list[NDArray[np.intp]]:
        """Training rows of each fold of the out-of-fold scores."""
        return folds_of(self.scores("out-of-fold").y_train)

    def sample(self, source: Source) -> Sample:
        """Return the scores to decide on."""
        fitted = self.scores(source)
        deciding = fitted.out_of_fold if source == "out-of-fold" else fitted.train
        return Sample(fitted.y_train, deciding)

    def probabilities(self, source: Scored) -> NDArray[np.float64]:
        """Return probabilities of the positive class for the training rows."""
        return self.scores(source).train_probability

    def at_probability(self, probability: float) -> Decision:
        """Return the decision that predicts positive above a probability."""
        return Decision(probability, probability=True)

    def predict(
        self, source: Source, decision: Decision
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return labels of the test rows, and whether each is predicted positive."""
        fitted = self.scores(source)
        return fitted.y_test, fitted.tested(decision.probability) > decision.threshold

    def training_seconds(self, source: Source) -> float:
        """Return the time of the training, grid search included."""
        return self.scores(source).seconds
