"""Which models work, and how: fitted, compared with `find_boundary`, stored, shifted, exported."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import catboost
import lightgbm
import numpy as np
import onnxruntime
import skops.io
import xgboost
from imblearn.ensemble import BalancedRandomForestClassifier
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import make_pipeline as make_sampling_pipeline
from numpy.typing import NDArray
from scipy.special import expit
from sklearn import discriminant_analysis, ensemble, naive_bayes, svm
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from boundshift import BoundShiftClassifier, InvalidInputError, find_boundary, load, save, to_onnx
from boundshift._multiclass.biases import find_biases
from boundshift._typing import FloatArray
from boundshift.curves import SupportRadius
from boundshift.models._scoring import raw_margin
from boundshift.models._store import own_types
from boundshift.rules import Sum
from lab.experiment import Experiment, Facts, Tables
from lab.markdown import table
from lab.training import Score, cross_fit, last_sums

FOLDS = 2
# Said in full, so that the table does not hang on defaults.
OPTIONS: dict[str, Any] = {"curve": SupportRadius(), "rule": Sum()}
ROWS = 200


class Model(NamedTuple):
    """A model, and an independent way to its scores."""

    untrained: Any
    scores: Callable[[Any, FloatArray], Any]

    def fit(self, X: FloatArray, y: NDArray[Any]) -> Any:
        """Train a copy."""
        return clone(self.untrained).fit(X, y)


def margins(model: Any, X: FloatArray) -> Any:
    return model.decision_function(X)


def log_odds(model: Any, X: FloatArray) -> Any:
    return Probabilities(np.asarray(model.predict_proba(X), dtype=np.float64))


def votes(model: Any, X: FloatArray) -> Any:
    """Return margins, which are log-odds for two classes only."""
    return margins(model, X) if len(model.classes_) == 2 else log_odds(model, X)


class Probabilities(NamedTuple):
    """Probabilities, for which floors are needed."""

    values: FloatArray


def joint(model: Any, X: FloatArray) -> Any:
    return model.predict_joint_log_proba(X)


def logits(model: Any, X: FloatArray) -> Any:
    """Apply a network's layers by hand."""
    found = last_sums(model, X)
    return found[:, 0] if found.shape[1] == 1 else found


# Two learners of an ensemble.
TWO = [("a", LogisticRegression()), ("b", GaussianNB())]
XGB: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1}
LGBM: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1, "verbose": -1}
CAT: dict[str, Any] = {
    "iterations": 8, "verbose": 0, "thread_count": 1, "allow_writing_files": False,
}  # fmt: skip


def xgb_margins(model: Any, X: FloatArray) -> Any:
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    return booster.predict(xgboost.DMatrix(X), output_margin=True)


def lgbm_margins(model: Any, X: FloatArray) -> Any:
    return getattr(model, "booster_", model).predict(X, raw_score=True)


def cat_margins(model: Any, X: FloatArray) -> Any:
    return model.predict(X, prediction_type="RawFormulaVal")


_LISTED: tuple[tuple[Any, Callable[[Any, FloatArray], Any]], ...] = (
    (LogisticRegression(), margins),
    (LinearSVC(random_state=0), margins),
    (svm.SVC(), margins),
    (svm.NuSVC(nu=0.1), margins),
    (SGDClassifier(random_state=0), margins),
    (RidgeClassifier(), margins),
    (Perceptron(random_state=0), margins),
    (discriminant_analysis.LinearDiscriminantAnalysis(), margins),
    (discriminant_analysis.QuadraticDiscriminantAnalysis(), margins),
    (GaussianNB(), joint),
    (naive_bayes.BernoulliNB(), joint),
    (KNeighborsClassifier(), log_odds),
    (MLPClassifier((3,), solver="lbfgs", alpha=9.0, max_iter=2000, random_state=0), logits),
    (DecisionTreeClassifier(max_depth=4, random_state=0), log_odds),
    (ensemble.RandomForestClassifier(10, random_state=0), log_odds),
    (ensemble.ExtraTreesClassifier(10, random_state=0), log_odds),
    (ensemble.BaggingClassifier(n_estimators=4, random_state=0), log_odds),
    (ensemble.AdaBoostClassifier(n_estimators=8), votes),
    (ensemble.GradientBoostingClassifier(n_estimators=8, random_state=0), margins),
    (ensemble.HistGradientBoostingClassifier(max_iter=8), margins),
    (xgboost.XGBClassifier(**XGB), xgb_margins),
    (lightgbm.LGBMClassifier(**LGBM), lgbm_margins),
    (catboost.CatBoostClassifier(depth=3, **CAT), cat_margins),
    (CalibratedClassifierCV(LinearSVC(random_state=0), cv=2), log_odds),
    (ensemble.VotingClassifier(TWO, voting="soft"), log_odds),
    (ensemble.StackingClassifier(TWO, cv=2), margins),
    (GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2), margins),
)
MODELS = {type(untrained).__name__: Model(untrained, scores) for untrained, scores in _LISTED} | {
    "Pipeline: StandardScaler, LogisticRegression": Model(
        make_pipeline(StandardScaler(), LogisticRegression()), margins
    ),
    "Pipeline: StandardScaler, XGBClassifier": Model(
        make_pipeline(StandardScaler(), xgboost.XGBClassifier(**XGB)),
        lambda model, X: xgb_margins(model[-1], model[0].transform(X)),
    ),
    "imbalanced-learn Pipeline: SMOTE, LogisticRegression": Model(
        make_sampling_pipeline(SMOTE(random_state=0), LogisticRegression()), margins
    ),
    "imbalanced-learn BalancedRandomForestClassifier": Model(
        BalancedRandomForestClassifier(10, random_state=0), log_odds
    ),
}


def _objective(y: NDArray[Any], two: str, many: str) -> dict[str, Any]:
    n = len(np.unique(y))
    return {"objective": many, "num_class": n} if n > 2 else {"objective": two}


def _xgboost_booster(X: FloatArray, y: NDArray[Any]) -> Any:
    params = {"nthread": 1, **_objective(y, "binary:logistic", "multi:softprob")}
    return xgboost.train(params, xgboost.DMatrix(X, y), num_boost_round=8)


def _lightgbm_booster(X: FloatArray, y: NDArray[Any]) -> Any:
    params = {"verbose": -1, "num_threads": 1, **_objective(y, "binary", "multiclass")}
    return lightgbm.train(params, lightgbm.Dataset(X, y), num_boost_round=8)


def _catboost_native(X: FloatArray, y: NDArray[Any]) -> Any:
    loss = "MultiClass" if len(np.unique(y)) > 2 else "Logloss"
    return catboost.CatBoost({"loss_function": loss, **CAT}).fit(X, y)


# Trained before they come here, and never again: how to train one, and its scores.
NATIVE: dict[str, tuple[Callable[..., Any], Callable[[Any, FloatArray], Any]]] = {
    "XGBoost Booster": (_xgboost_booster, xgb_margins),
    "LightGBM Booster": (_lightgbm_booster, lgbm_margins),
    "CatBoost": (_catboost_native, cat_margins),
}


@cache
def draw(n_classes: int) -> tuple[FloatArray, NDArray[np.int64]]:
    """Draw rows to train on, then as many to decide on, then as many to predict."""
    weights = [0.8] if n_classes == 2 else [0.6, 0.25]
    X, y = make_classification(
        3 * ROWS, n_features=5, n_informative=5, n_redundant=0, n_classes=n_classes,
        n_clusters_per_class=1, weights=weights, class_sep=1.5, flip_y=0.02, random_state=4,
    )  # fmt: skip
    return X, y


def floored(p: FloatArray) -> FloatArray:
    """Return log-probabilities, zeros as half the smallest positive one of their class."""
    floors = np.array([column[column > 0].min() / 2 for column in p.T])
    return np.asarray(np.log(np.maximum(p, floors)))


def expected_shift(y: NDArray[Any], found: Any) -> FloatArray:
    """Decide on scores with `find_boundary` alone: a threshold, or one bias per class."""
    scores = floored(found.values) if isinstance(found, Probabilities) else np.asarray(found)
    if scores.ndim == 1:
        return np.array([find_boundary(y, scores.astype(np.float64), **OPTIONS).threshold])
    return find_biases(y, scores.astype(np.float64), **OPTIONS, strategy="pairwise").biases


def read(scores: Callable[[Any, FloatArray], Any], model: Any, X: FloatArray) -> Any:
    """Return a trained model's probability of the second of two classes, else its scores."""
    if hasattr(model, "predict_proba"):
        p = np.asarray(model.predict_proba(X), dtype=np.float64)
        if p.shape[1] == 2:
            return p[:, 1]
    return scores(model, X)


def shifter(model: Any, cv: Any) -> BoundShiftClassifier:
    return BoundShiftClassifier(model, cv=cv, multi_class="pairwise", **OPTIONS)


def shift_of(clf: BoundShiftClassifier) -> FloatArray:
    return np.array([clf.threshold_]) if len(clf.classes_) == 2 else clf.biases_


def out_of_fold(model: Model, X: FloatArray, y: NDArray[Any]) -> Any:
    odds = isinstance(model.scores(model.fit(X, y), X[:1]), Probabilities)

    def fit(rows: FloatArray, labels: NDArray[Any]) -> Score:
        trained = model.fit(rows, labels)
        if odds:
            return lambda rows: np.asarray(model.scores(trained, rows).values)
        return lambda rows: np.asarray(read(model.scores, trained, rows))

    raw, _ = cross_fit(fit, X, y, FOLDS)
    if odds and raw.shape[1] == 2:  # A mean of models is deployed, which has no exact 0 or 1.
        log_p = floored(raw)
        return expit(log_p[:, 1] - log_p[:, 0])
    return Probabilities(raw) if odds else raw


def agrees(clf: BoundShiftClassifier, y: NDArray[Any], found: Any) -> bool:
    return bool(np.allclose(shift_of(clf), expected_shift(y, found), rtol=1e-6, atol=1e-6))


def survives(clf: BoundShiftClassifier, X: FloatArray) -> tuple[bool, tuple[str, ...]]:
    """Return whether copies by pickle and skops decide alike, and which types skops asks for."""
    with tempfile.TemporaryDirectory() as folder:
        path = save(clf, Path(folder) / "model.skops")
        foreign = tuple(sorted({*skops.io.get_untrusted_types(file=path)} - own_types()))
        copies = [pickle.loads(pickle.dumps(clf)), load(path, trusted=foreign)]
    ours = clf.predict(X)
    return all(np.array_equal(copy.predict(X), ours) for copy in copies), foreign


def labels_of(clf: BoundShiftClassifier, moved: Any, X: FloatArray) -> NDArray[Any]:
    """Return what a model with the shift inside predicts by itself."""
    if hasattr(moved, "predict_proba") or hasattr(moved, "decision_function"):
        return np.asarray(moved.predict(X)).ravel()
    raw = raw_margin(moved, X)
    chosen = (raw > 0).astype(int) if raw.ndim == 1 else raw.argmax(axis=1)
    labels: NDArray[Any] = clf.classes_[chosen]
    return labels


def carries(clf: BoundShiftClassifier, X: FloatArray) -> bool | None:
    """Return whether the model with the shift inside predicts alike; None if it cannot be."""
    try:
        moved = clf.shifted_estimator()
    except InvalidInputError:
        return None
    return bool(np.array_equal(labels_of(clf, moved, X), clf.predict(X)))


def exports(clf: BoundShiftClassifier, X: FloatArray) -> bool | None:
    """Return whether onnxruntime predicts alike; None if the model cannot be converted."""
    try:
        model = to_onnx(clf, X)
    except InvalidInputError:
        return None
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    return bool(np.array_equal(session.run(None, {"X": X})[0], clf.predict(X)))


def examine(name: str, n_classes: int) -> list[Any]:
    """Try a model with two or three classes in every way; return the cells of the table."""
    X, y = draw(n_classes)
    deciding = slice(ROWS, 2 * ROWS)
    fresh = X[2 * ROWS :]
    if name in NATIVE:
        train, scores = NATIVE[name]
        trained = train(X[:ROWS], y[:ROWS])
        crossed = None
    else:
        scores = MODELS[name].scores
        trained = MODELS[name].fit(X[:ROWS], y[:ROWS])
        crossed = cross_fitted(MODELS[name], X[:ROWS], y[:ROWS], fresh)
    clf = shifter(trained, "prefit").fit(X[deciding], y[deciding])
    agreed = agrees(clf, y[deciding], read(scores, trained, X[deciding]))
    same, trusted = survives(clf, fresh)
    on_probabilities = n_classes == 2 and clf.boundary_.scale == "probability"
    response = "predict_proba" if on_probabilities else str(clf._response.method)
    prefit = agreed and same and clf.estimator_ is trained
    return [response, prefit, crossed, carries(clf, fresh), exports(clf, fresh), trusted]


def cross_fitted(model: Model, X: FloatArray, y: NDArray[Any], fresh: FloatArray) -> bool:
    """Return whether folds decide as they should, and a clone fitted again decides alike."""
    # A number of folds would be repeated where a model has few distinct scores.
    clf = shifter(model.untrained, StratifiedKFold(FOLDS)).fit(X, y)
    again = clone(clf).fit(X, y)
    repeated = np.allclose(shift_of(again), shift_of(clf), rtol=1e-9, atol=1e-9)
    decided = agrees(clf, y, out_of_fold(model, X, y))
    return decided and repeated and survives(clf, fresh)[0]


def as_row(name: str) -> list[str]:
    mark = {True: "yes", False: "NO", None: "–"}
    two = examine(name, 2)
    many = examine(name, 3)
    pairs = zip(two[:-1], many[:-1], strict=True)
    cells = [", ".join(dict.fromkeys(mark.get(cell, cell) for cell in pair)) for pair in pairs]
    trusted = ", ".join(f"`{t}`" for t in sorted({*two[-1], *many[-1]})) or "none"
    return [name, *cells, trusted]


def tables(facts: Facts) -> Tables:
    head = "model | scores | prefit | cross-fitted | own intercept | ONNX | types to trust"
    return {"matrix": table(head, facts["rows"])}


def collect(quick: bool) -> Facts:
    return {"rows": [as_row(n) for n in (["LogisticRegression"] if quick else [*MODELS, *NATIVE])]}


EXPERIMENT = Experiment(collect, tables, home="docs/reference/supported_models.md", is_stored=False)
