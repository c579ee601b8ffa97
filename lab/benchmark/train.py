"""From a data set, a model and a seed to the scores that every method decides on.

Training is the only step that takes time, so what it gives is kept in a cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from boundshift import BoundShiftClassifier
from boundshift._typing import FloatArray, IntArray
from lab.baselines import Retrained
from lab.benchmark.data import load_rows, split
from lab.experiment import quiet
from lab.training import folds_of

Response = Literal["probability", "raw"]
MODELS: dict[str, Callable[[int], Any]] = {
    "logistic regression": lambda seed: LogisticRegression(max_iter=1000),
    "random forest": lambda seed: RandomForestClassifier(random_state=seed),
    "histogram boosting": lambda seed: HistGradientBoostingClassifier(random_state=seed),
    "k-nearest neighbours": lambda seed: KNeighborsClassifier(),
    "decision tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "naive Bayes": lambda seed: GaussianNB(),
    "LightGBM": lambda seed: LGBMClassifier(random_state=seed, n_jobs=1, verbose=-1),
    "RBF SVM": lambda seed: SVC(),
}
"""Name → model with the settings of its library; none is tuned."""


_METHODS: dict[Response, str] = {"probability": "predict_proba", "raw": "decision_function"}


class Fit(NamedTuple):
    """One training: data set, model, rare rows kept (0 for all) and seed of the split."""

    dataset: str
    model: str
    rare: int
    seed: int


@dataclass(frozen=True)
class Scored:
    """Scores of one kind by a model trained as usual.

    `out_of_fold` are of the training rows, each by the model that left out its fold; `train` and
    `test` by the model trained on all training rows.
    """

    out_of_fold: FloatArray
    train: FloatArray
    test: FloatArray


@dataclass(frozen=True)
class Trained:
    """What methods see of one training.

    `plain` has scores by what scikit-learn calls the response: probabilities, margins, or both.
    `deciding` and `deployed` are the scores that boundshift's classifier decides on and gives for
    the test rows; both are of the first kind in `plain`. `ours` are its labels of the test rows.
    `retrained` has the labels of models trained otherwise, or the reason why there are none.
    """

    y_train: IntArray
    y_test: IntArray
    folds: list[NDArray[np.intp]]
    plain: dict[Response, Scored]
    deciding: FloatArray
    deployed: FloatArray
    ours: NDArray[np.bool_]
    retrained: dict[str, NDArray[np.bool_] | str]

    @property
    def scale(self) -> Response:
        """Return the kind of score that scikit-learn's tuner looks at by default."""
        return "probability" if "probability" in self.plain else "raw"

    @property
    def share(self) -> float:
        """Return the prevalence of the training rows."""
        return float(self.y_train.mean())


def prepared(classifier: Any) -> Pipeline:
    """Return the classifier behind median imputation and scaling."""
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    return Pipeline([*make_pipeline(imputer, StandardScaler()).steps, ("model", classifier)])


def train(fit: Fit) -> Trained:
    """Train a model in every way that a method may ask for."""
    parts = split(load_rows(fit.dataset), fit.seed, fit.rare)
    X, y = parts.train
    X_test = parts.test.X
    estimator = prepared(MODELS[fit.model](fit.seed))
    folds = folds_of(y)
    with quiet(Warning):
        ours = BoundShiftClassifier(estimator).fit(X, y)
        whole = clone(estimator).fit(X, y)
        fold_models = [
            clone(estimator).fit(np.delete(X, rows, axis=0), np.delete(y, rows)) for rows in folds
        ]
        retrained = {
            kind: _retrain(MODELS[fit.model](fit.seed), kind, parts.train, X_test, fit.seed)
            for kind in ("smote", "balanced")
        }
        plain: dict[Response, Scored] = {}
        for response, name in _METHODS.items():
            if not hasattr(whole, name):
                continue
            out_of_fold = np.empty(len(y))
            for model, rows in zip(fold_models, folds, strict=True):
                out_of_fold[rows] = _scores(model, name, X[rows])
            plain[response] = Scored(
                out_of_fold, _scores(whole, name, X), _scores(whole, name, X_test)
            )
        return Trained(
            y_train=y,
            y_test=parts.test.y,
            folds=folds,
            plain=plain,
            deciding=ours.deciding_sample_.scores,
            deployed=ours.positive_scores(X_test),
            ours=np.asarray(ours.predict(X_test) == 1),
            retrained=retrained,
        )


def _scores(model: Any, name: str, X: FloatArray) -> FloatArray:
    scores = np.asarray(getattr(model, name)(X), dtype=np.float64)
    return scores[:, 1] if scores.ndim == 2 else scores


def _retrain(
    classifier: Any, kind: Any, rows: Any, X_test: FloatArray, seed: int
) -> NDArray[np.bool_] | str:
    try:
        model = prepared(Retrained(classifier, kind, seed)).fit(*rows)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    X_test = model[:-1].transform(X_test)
    return np.asarray(model[-1].estimator_.predict(X_test) == 1)
