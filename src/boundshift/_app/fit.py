"""From a prepared table to a shifted, certified and compared model."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedGroupKFold, train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from boundshift._app.cli import Show
from boundshift._app.columns import Columns
from boundshift._app.importance import Importance, measure_importance
from boundshift._app.prepare import PreparedTable, prepare_table
from boundshift._app.scores import resampled_interval
from boundshift._boundary import choose_claims, decide
from boundshift._classifier import BoundShiftClassifier
from boundshift._guarantees.certificate import Certificate
from boundshift._guarantees.certify import certify
from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift._words import METRICS_COMPARED
from boundshift.curves import Empirical, ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.models._holdout import counts_groups, is_guaranteed
from boundshift.report._evidence import MOST_LEVELS, RowDetails, own_probability
from boundshift.rules import GMean, Rule, Sum

if TYPE_CHECKING:
    import pandas as pd

Metrics = dict[str, str | float]
"""A method by name, with its metrics and its threshold."""


class Model(NamedTuple):
    """What a model is called in full, what trains it, and how long many rows take beside others."""

    title: str
    estimator: ClassifierMixin
    duration: int


_MODELS = {
    "logistic": Model("logistic regression", LogisticRegression(max_iter=1000), 1),
    "svm": Model("support vector machine", SVC(), 40),
    "forest": Model("random forest", RandomForestClassifier(), 12),
    "boosting": Model("gradient boosting", HistGradientBoostingClassifier(), 4),
    "mlp": Model("neural network", MLPClassifier(early_stopping=True, n_iter_no_change=20), 8),
}
DEFAULT_MODELS = "logistic,forest,boosting"
_MOST_CATEGORIES = 30
TEST_SHARE = 0.3
_MANY_ROWS = 5_000


@dataclass(frozen=True, eq=False)
class FittedTable:
    """A model learned from a table, and what is known of it."""

    prepared: PreparedTable
    model: BoundShiftClassifier
    name: str  # what the model is called
    certificate: Certificate  # of the test rows
    comparison: list[Metrics]  # methods on the test rows, ours first
    deciding: ScoreSample  # scores of the rows that chose the boundary
    judged: tuple[NDArray[Any], FloatArray]  # labels and scores of the test rows
    details: RowDetails  # of the same rows in the same order: probabilities, groups, ids
    interval: tuple[float, float] | None  # bootstrap interval of the threshold; None: many rows
    importance: dict[str, Importance]  # of each feature, by the goal, on the test rows
    remarks: tuple[str, ...]  # what the page says of rows and of the choice of the model
    models: list[Metrics]  # those tried, the chosen one first

    @property
    def boundary(self) -> Boundary:
        return self.model.boundary_

    @property
    def columns(self) -> Columns:
        return self.prepared.columns

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about the table and the model."""
        return *self.prepared.notes, *self.remarks


def fit_table(
    frame: pd.DataFrame,
    target: str,
    *,
    model: str = "logistic",
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    **preparation: Any,
) -> FittedTable:
    """Prepare a table with the arguments of `prepare_table`, and train on it."""
    symmetric = choose_claims(curve, rule)[1].symmetric
    prepared = prepare_table(frame, target, symmetric=symmetric, **preparation)
    return train_table(
        prepared, model=model, curve=curve, rule=rule, confidence=confidence, seed=seed
    )


def train_table(
    prepared: PreparedTable,
    *,
    model: str = DEFAULT_MODELS,
    curve: str | ErrorCurve | None = None,
    rule: str | Rule | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Show = lambda what, done, total: None,
) -> FittedTable:
    """Split, train, choose, shift, certify and compare.

    Three rows in ten, of each class, are set aside first; they decide nothing and certify the
    result. Scores of rows left out of training decide, as in cross-validation; of several models
    these scores choose the one with the least loss of the rule, before the test rows are looked at.
    If ids repeat, rows of one id stay together in every split, and rates that are bounded are
    averages over ids.
    """
    claims, chosen = choose_claims(curve, rule)
    remarks = list(prepared.remarks)
    is_split = is_guaranteed(claims, chosen) and not counts_groups(claims, chosen)
    if prepared.ids is not None and is_split:
        curve = Empirical()
        remarks.append(
            "The floors are estimated, not guaranteed: if ids repeat, only floors of recall and "
            "specificity can be guaranteed, with the default curve."
        )
    split = split_rows(prepared.y, seed, prepared.together)
    tried = _train_models(prepared.take(split.learn), model, curve, rule, seed, progress)
    names = sorted(tried, key=lambda name: _loss(tried[name]))
    shifted = tried[names[0]]
    decided = shifted.deciding_sample_
    positive = prepared.labels[1]
    deciding = ScoreSample.from_rows(decided.y == positive, decided.scores, prepared.labels)
    judge = prepared.take(split.judge)
    if len(names) > 1:
        remarks.append(
            f"The model is the {names[0]}, which has the least loss of {len(names)} models on the "
            "training rows, before the test rows were used. The others: "
            f"{', '.join(names[1:])}. Use --model to fix the model."
        )
    interval = None
    if prepared.ids is None:
        progress("resample the threshold", 0, 1)
        interval = resampled_interval(deciding, curve, rule, shifted.boundary_.scale)
        progress("resample the threshold", 1, 1)
    scores = shifted.positive_scores(judge.X)
    return FittedTable(
        prepared=prepared,
        model=shifted,
        name=names[0],
        certificate=certify(
            judge.y_labels, scores, shifted.boundary_, confidence, cluster=judge.ids
        ),
        comparison=[
            _compare(name, judge.y, scores > threshold, threshold)
            for name, threshold in _other_thresholds(shifted, deciding).items()
        ],
        deciding=deciding,
        judged=(judge.y_labels, scores),
        details=_describe_rows(judge, shifted),
        interval=interval,
        importance=measure_importance(
            shifted, judge.X, judge.y == 1, clusters=judge.ids, progress=progress
        ),
        remarks=tuple(remarks),
        models=[_compare_model(name, tried[name], judge) for name in names],
    )


def _describe_rows(judge: PreparedTable, model: BoundShiftClassifier) -> RowDetails:
    """Return the model's own probabilities, the groups and the ids of rows."""
    groups = judge.groups or _few_categories(judge.X[judge.columns.categories])
    return RowDetails(own_probability(model, judge.X), groups, cluster=judge.ids)


def _train_models(
    learn: PreparedTable,
    model: str,
    curve: str | ErrorCurve | None,
    rule: str | Rule | None,
    seed: int,
    progress: Show,
) -> dict[str, BoundShiftClassifier]:
    """Train each model, by what it is called in full."""
    asked = read_models(model)
    total = sum(_MODELS[name].duration for name in asked)
    what = f"train {len(asked)} models" if len(asked) > 1 else f"train: {_MODELS[model].title}"
    done = 0
    tried = {}
    # The fast ones first: the time left is estimated from what is done.
    for name in sorted(asked, key=lambda name: _MODELS[name].duration):
        progress(what, done, total)
        estimator = clone(_MODELS[name].estimator)
        if len(learn.y) > _MANY_ROWS and isinstance(estimator, RandomForestClassifier):
            # Half of so many rows for each tree is about as good and twice as fast.
            estimator.set_params(n_jobs=-1, max_samples=0.5)
        shifted = BoundShiftClassifier(
            with_preparation(estimator, learn.columns),
            curve=curve,
            rule=rule,
            cv=5 if learn.ids is None else StratifiedGroupKFold(5),
            pos_label=learn.labels[1],
            random_state=seed,
            chosen_among=len(asked),
        )
        groups = {} if learn.ids is None else {"groups": learn.ids}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            tried[_MODELS[name].title] = shifted.fit(learn.X, learn.y_labels, **groups)
        done += _MODELS[name].duration
    progress(what, total, total)
    return tried


def read_models(names: str) -> list[str]:
    """Return the models of the option `--model`, or raise."""
    asked = list(dict.fromkeys(name.strip() for name in names.split(",")))
    for name in asked:
        if name not in _MODELS:
            raise InvalidInputError(
                f"The model must be one of {', '.join(_MODELS)}, or several with commas, got "
                f"'{name}'. For a model of your own, give its scores to `boundshift threshold`, or "
                "wrap it in Python."
            )
    return asked


def _loss(model: BoundShiftClassifier) -> float:
    """Return the rule's loss on the rows that decided; of a capacity, the share missed."""
    boundary = model.boundary_
    rule = model.boundary_.rule
    if [*rule.asked] == ["flagged"]:
        return boundary.wrong[1] / boundary.n_samples[1]
    return boundary.loss


def _compare_model(name: str, model: BoundShiftClassifier, judge: PreparedTable) -> Metrics:
    flagged = model.predict(judge.X) == judge.labels[1]
    return _compare(name, judge.y, flagged, model.threshold_) | {"loss": _loss(model)}


def _other_thresholds(model: BoundShiftClassifier, deciding: ScoreSample) -> dict[str, float]:
    """Return where ours and other methods that only move the threshold put it."""
    own = model.own_threshold_
    return {
        "boundshift": model.boundary_.threshold,
        **({} if own is None else {"untouched": own}),
        "tuned threshold, balanced accuracy": decide(deciding, Empirical(), Sum()).threshold,
        "tuned threshold, G-mean": decide(deciding, Empirical(), GMean()).threshold,
    }


def _compare(method: str, y: IntArray, flagged: BoolArray, threshold: float) -> Metrics:
    metrics = binary_metrics(y == 1, flagged, pos_label=True)
    return {"method": method} | {n: metrics[n] for n in METRICS_COMPARED} | {"threshold": threshold}


def _few_categories(words: pd.DataFrame) -> dict[str, NDArray[Any]]:
    found = {name: np.asarray(words[name], dtype=object) for name in words}
    return {name: v for name, v in found.items() if len(set(map(str, v))) <= MOST_LEVELS}


class Split(NamedTuple):
    """Rows to learn from, and rows to be judged on."""

    learn: IntArray
    judge: IntArray


def split_rows(y: IntArray, seed: int, together: IntArray) -> Split:
    """Return training and test rows, stratified; a row goes where the first of its own goes."""
    rows = np.arange(len(y))
    drawn = train_test_split(rows, test_size=TEST_SHARE, stratify=y, random_state=seed)
    is_test = np.isin(together, drawn[1])
    rows = np.concatenate(drawn)
    train = rows[~is_test[rows]]
    test = rows[is_test[rows]]
    if min(len(np.unique(y[part])) for part in (train, test)) < 2:
        raise InvalidInputError(
            "Each class must have rows to learn from and others to be judged on, but only "
            f"{len(np.unique(together))} of {len(y)} rows differ in their features or ids. Collect "
            "other rows, or use another --seed."
        )
    return Split(train, test)


def with_preparation(model: ClassifierMixin, columns: Columns) -> Pipeline:
    """Return an untrained model behind its preparation.

    A missing number becomes the median, and an indicator column says so; a missing category is a
    category. The 30 most frequent categories of a column count; the others, and those not seen in
    training, count as one.
    """
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist",
        max_categories=_MOST_CATEGORIES,
        sparse_output=False,
    )
    categories = make_pipeline(SimpleImputer(strategy="constant", fill_value="missing"), encoder)
    prepared = ColumnTransformer(
        [("numbers", numbers, columns.numbers), ("categories", categories, columns.categories)]
    )
    return Pipeline([("columns", prepared), ("classifier", clone(model))])
