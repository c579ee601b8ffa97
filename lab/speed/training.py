"""Measure what training and predicting with a shifted model cost, as ratios taken in one run.

Training is raced with scikit-learn's TunedThresholdClassifierCV, on the same model and the same
folds, and prediction by the mean of five models with one of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any

from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from boundshift import BoundaryWarning, BoundShiftClassifier
from lab.experiment import Experiment, Facts
from lab.speed.speed import SEED, Contenders, Row, judged_table, race, rows_of

FOLDS = 5
LINEAR = "logistic regression"


def draw(n_rows: int, seed: int = SEED) -> tuple[Any, Any]:
    X, y = make_classification(
        n_rows, n_features=20, n_informative=8, weights=[0.95], flip_y=0.01, random_state=seed
    )
    return X, y


def races(quick: bool) -> Iterator[Row]:
    """Yield every figure; with few rows, a loose goal only catches accidents."""
    rows, trees, repeats = (400, 5, 1) if quick else (5_000, 100, 2)
    predicted = 1_000 if quick else 100_000
    models = {
        LINEAR: LogisticRegression(max_iter=1000),
        "forest": RandomForestClassifier(trees, random_state=SEED),
        "boosting": HistGradientBoostingClassifier(max_iter=5 if quick else 100, random_state=SEED),
    }
    folds = StratifiedKFold(FOLDS)
    X, y = draw(rows)

    def goal_of(goal: str) -> str:
        return "<= 1000" if quick else goal

    def tuned(model: Any) -> Any:
        return TunedThresholdClassifierCV(clone(model), cv=folds, scoring="balanced_accuracy")

    for name, model in models.items():
        where = f"{name}, {rows_of(rows)}"
        shifted = BoundShiftClassifier(clone(model), cv=folds)
        runs: Contenders = {
            "tuned": partial(tuned(model).fit, X, y),
            "shifted": partial(shifted.fit, X, y),
        }
        best = race(runs, repeats)
        title = f"times the training of TunedThresholdClassifierCV: {where}"
        yield Row.judge(title, best["shifted"] / best["tuned"], goal_of("<= 0.9"))

    fresh = draw(predicted, SEED + 1)[0]
    for name, model in models.items():
        one = clone(model).fit(X, y)
        shifted = BoundShiftClassifier(clone(model), cv=FOLDS).fit(X, y)
        where = f"{name}, {rows_of(predicted)}"
        runs = {"one": partial(one.predict, fresh), "mean": partial(shifted.predict, fresh)}
        # A linear model predicts in milliseconds, of which the best of a few is not the least.
        best = race(runs, repeats * (10 if name == LINEAR else 1))
        goal = "<= 1.05" if name == LINEAR else f"<= {FOLDS * 1.1:g}"
        yield Row.judge(
            f"times one model's prediction: {where}", best["mean"] / best["one"], goal_of(goal)
        )


def collect(quick: bool) -> Facts:
    # The boundary may say that nothing is gained.
    warnings.simplefilter("ignore", Warning if quick else BoundaryWarning)
    BoundShiftClassifier(LogisticRegression()).fit(*draw(500))  # warm
    return {"rows": [asdict(row) for row in races(quick)]}


EXPERIMENT = Experiment(
    collect,
    lambda facts: {"training": judged_table(facts)},
    home="docs/evidence/speed_and_scale.md",
)
