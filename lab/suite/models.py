"""The five models of the suite: small, with settings that are not tuned to any method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from boundshift.typing import FloatArray
from lab.harness.training import decision_scores, fit_quietly
from lab.suite.data import Rows

__all__ = ["MODELS", "Model", "ScoreKind"]

ScoreKind = Literal["log-odds", "margin", "probability"]

_SEARCH_FOLDS = 3


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

    @property
    def identity(self) -> str:
        """All that changes the fitted scores."""
        return f"{self.make.__name__} {dict(self.settings)} {dict(self.grid)}"

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
        search = GridSearchCV(pipeline, grid, cv=_SEARCH_FOLDS, scoring="accuracy", refit=False)
        search.fit(rows.X, rows.y)
        return {name.removeprefix("model__"): v for name, v in search.best_params_.items()}

    def fit(
        self,
        rows: Rows,
        seed: int,
        chosen: Mapping[str, Any],
        wrap: Callable[[Any], Any] | None = None,
    ) -> Callable[[FloatArray], FloatArray]:
        """Train on prepared rows, under a rival if one is given, and return what scores rows."""
        classifier = self.classifier(seed, chosen)
        pipeline = prepared(classifier if wrap is None else wrap(classifier))
        fit_quietly(pipeline, rows.X, rows.y)
        fitted = pipeline[-1] if wrap is None else pipeline[-1].estimator_

        def score(X: FloatArray) -> FloatArray:
            return self._scores(fitted, pipeline[:-1].transform(X))

        return score

    def _scores(self, fitted: Any, X: FloatArray) -> FloatArray:
        if self.kind != "probability":
            return decision_scores(fitted, X)
        # A sum over trees has last digits that depend on its order, and would break ties.
        return np.asarray(np.round(fitted.predict_proba(X)[:, 1], 12))


def prepared(classifier: Any) -> Pipeline:
    """Return the classifier behind median imputation and scaling."""
    steps = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    ).steps
    return Pipeline([*steps, ("model", classifier)])


MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        Model(
            "logistic",
            "Logistic regression",
            "log-odds",
            LogisticRegression,
            {"max_iter": 1000},
            seeded=False,
        ),
        Model(
            "svm",
            "RBF SVM",
            "margin",
            SVC,
            {"cache_size": 300},
            {"C": (1, 10, 100), "gamma": ("scale", 0.1, 0.01)},
            seeded=False,
        ),
        Model(
            "mlp",
            "MLP",
            "log-odds",
            MLPClassifier,
            {"hidden_layer_sizes": (50,)},
        ),
        Model("forest", "Random forest", "probability", RandomForestClassifier),
        Model("boosting", "Gradient boosting", "log-odds", HistGradientBoostingClassifier),
    )
}
"""Name → model, in the order of the tables."""
