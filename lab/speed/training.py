"""Measure what training and predicting with a shifted model cost, as ratios taken in one run.

Training is raced with scikit-learn's TunedThresholdClassifierCV, on the same model and the same
folds; out-of-bag scores of a forest with that tuner and with five folds of ours, and beside it what
they cost in G-mean on other rows; and prediction by the mean of five models with one of them. As in
:mod:`lab.speed.speed`, contenders take turns and each counts with its best time.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from boundshift import BoundaryWarning, BoundShiftClassifier
from boundshift.metrics import binary_metrics
from lab.experiment import Experiment, Facts
from lab.speed.speed import SEED, Row, Stopwatch, page, rows_of

FOLDS = 5
# Rows that G-means are measured on, in times of those trained on.
FRESH = 4


@dataclass(frozen=True)
class Plan:
    """How large the problems are, and how often each contender runs."""

    rows: int
    trees: int
    repeats: int
    quality_seeds: int
    predicted: int
    judged: bool


FULL = Plan(5_000, 100, 2, 8, 100_000, judged=True)
QUICK = Plan(600, 5, 1, 2, 2_000, judged=False)


def draw(n_rows: int, seed: int = SEED) -> tuple[Any, Any]:
    """Draw a problem of 20 features of which 5% of the rows are positive."""
    X, y = make_classification(
        n_rows, n_features=20, n_informative=8, weights=[0.95], flip_y=0.01, random_state=seed
    )
    return X, y


def models(plan: Plan) -> dict[str, Any]:
    """Return the models that are raced, by the names of their rows."""
    return {
        "logistic regression": LogisticRegression(max_iter=1000),
        "forest": RandomForestClassifier(plan.trees, random_state=SEED),
        "boosting": HistGradientBoostingClassifier(random_state=SEED),
    }


def goal_of(plan: Plan, goal: str) -> str:
    """Return the goal; with few rows a loose one only catches accidents."""
    return goal if plan.judged else "<= 1000"


def against_tuned_threshold(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race scikit-learn's tuned threshold, which fits each fold and then all rows."""
    X, y = draw(plan.rows)
    folds = StratifiedKFold(FOLDS)
    rows = []
    for name, model in models(plan).items():
        tuned = TunedThresholdClassifierCV(clone(model), cv=folds, scoring="balanced_accuracy")
        shifted = BoundShiftClassifier(clone(model), cv=folds)
        best = watch.race(
            f"training, {name}, {rows_of(plan.rows)}",
            {"tuned": partial(tuned.fit, X, y), "shifted": partial(shifted.fit, X, y)},
            plan.repeats,
        )
        ratio = best["shifted"] / best["tuned"]
        title = f"times the training of TunedThresholdClassifierCV: {name}, {rows_of(plan.rows)}"
        rows.append(Row.judge(title, ratio, goal_of(plan, "<= 0.9")))
    return rows


def out_of_bag(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race out-of-bag scores of a forest with folds, and compare G-means on other rows."""
    forest = models(plan)["forest"]
    X, y = draw(plan.rows)
    folds = StratifiedKFold(FOLDS)
    ways = {"oob": "oob", "folds": folds}
    contenders: dict[str, Callable[[], object]] = {
        name: partial(BoundShiftClassifier(clone(forest), cv=cv).fit, X, y)
        for name, cv in ways.items()
    }
    tuned = TunedThresholdClassifierCV(clone(forest), cv=folds, scoring="balanced_accuracy")
    contenders["tuned"] = partial(tuned.fit, X, y)
    title = f"{plan.trees} trees, {rows_of(plan.rows)}"
    best = watch.race(f"out of bag, {title}", contenders, plan.repeats)
    name = f"times the training of TunedThresholdClassifierCV: cv='oob', {title}"
    rows = [Row.judge(name, best["oob"] / best["tuned"], goal_of(plan, "<= 0.25"))]
    name = f"times the training of cv={FOLDS}: cv='oob', {title}"
    rows.append(Row.judge(name, best["oob"] / best["folds"], goal_of(plan, "< 1")))
    lost = []
    for seed in range(plan.quality_seeds):
        X, y = draw((1 + FRESH) * plan.rows, seed)
        train, test = slice(None, plan.rows), slice(plan.rows, None)
        found = {}
        for way, cv in ways.items():
            shifted = BoundShiftClassifier(clone(forest), cv=cv).fit(X[train], y[train])
            metrics = binary_metrics(y[test], shifted.predict(X[test]), pos_label=1)
            found[way] = metrics["g_mean"]
        lost.append(found["folds"] - found["oob"])
    name = f"G-mean lost to cv={FOLDS} by cv='oob', mean of {plan.quality_seeds} seeds: {title}"
    return [*rows, Row.judge(name, float(np.mean(lost)), "<= 0.005" if plan.judged else "<= 1")]


def prediction(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race the mean of five models with one; linear ones are one model, others are five."""
    X, y = draw(plan.rows)
    fresh = draw(plan.predicted, SEED + 1)[0]
    rows = []
    for name, model in models(plan).items():
        one = clone(model).fit(X, y)
        shifted = BoundShiftClassifier(clone(model), cv=FOLDS).fit(X, y)
        best = watch.race(
            f"predict, {name}, {rows_of(plan.predicted)}",
            {"one": partial(one.predict, fresh), "mean": partial(shifted.predict, fresh)},
            # A linear model predicts in milliseconds, of which the best of a few is not the least.
            plan.repeats * (10 if name == "logistic regression" else 1),
        )
        goal = "<= 1.05" if name == "logistic regression" else f"<= {FOLDS * 1.1:g}"
        title = f"times one model's prediction: {name}, {rows_of(plan.predicted)}"
        rows.append(Row.judge(title, best["mean"] / best["one"], goal_of(plan, goal)))
    return rows


def collect(quick: bool) -> Facts:
    # The boundary may say that nothing is gained; few trees leave rows without an out-of-bag score.
    warnings.simplefilter("ignore", Warning if quick else BoundaryWarning)
    plan, watch = QUICK if quick else FULL, Stopwatch()
    BoundShiftClassifier(LogisticRegression()).fit(*draw(500))  # warm
    races = (against_tuned_threshold, out_of_bag, prediction)
    rows = [asdict(row) for race in races for row in race(plan, watch)]
    return {"rows": rows, "seconds": watch.seconds}


EXPERIMENT = Experiment(collect, page, home="README.md", block="training")
