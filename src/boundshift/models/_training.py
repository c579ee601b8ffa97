"""Which model is deployed, and which rows decide about it.

Each way returns the rows that decide, with their scores, and the model that is deployed:

- a model that was trained before `fit` scores rows that it has not seen;
- the model scores its own training rows;
- the models of a cross-validation score the rows that they have not seen;
- the model scores rows held out of all training, which guaranteed floors need.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from boundshift._sklearn_internals import index_parameters, take_rows
from boundshift._typing import (
    BoolArray,
    Label,
    LabelArray,
    Model,
    Rows,
    Splitting,
)
from boundshift._validation import find_distinct, order_labels
from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models._cross_fit import (
    MANY_RARE_ROWS,
    CrossFit,
    Settings,
    Task,
    cross_fit,
    find_splits,
    restrict_splits,
    set_random_states,
)
from boundshift.models._deciding import DecidingRows, Deployed, Origin, Trained
from boundshift.models._fingerprint import explain_training
from boundshift.models._holdout import (
    HoldOut,
    Shortage,
    choose_share,
    find_demands,
    find_units,
    is_guaranteed,
)
from boundshift.models._mean import MeanOfModels, collapse_linear
from boundshift.models._pooling import PooledResponses, read_all, record, weigh_classes
from boundshift.models._routing import FitParameters
from boundshift.models._scoring import (
    Response,
    is_native,
    known_classes,
    read_response,
)
from boundshift.rules import ClassFloors, Rule

_ONE_MODEL = "One model is deployed, trained on all rows that were not held out."


class Claims(NamedTuple):
    """The curve, the rule and the positive class that are asked for."""

    curve: ErrorCurve
    rule: Rule
    pos_label: Label


def train(
    settings: Settings, claims: Claims, X: Rows, y: LabelArray, params: FitParameters
) -> Trained:
    """Train a classifier's model, unless it is trained, and score the rows that decide."""
    labels = _check_classes(y, params.decides)
    task = Task(settings, settings.cv, find_distinct(y, "y"), X, y, params)
    if settings.is_prefit:
        _refuse_holdout(settings, "a model that is trained already")
        return _read_prefit(task, claims)
    if isinstance(settings.cv, str):
        raise InvalidInputError(
            "must be 'prefit', a number of folds, a splitter, pairs of rows or None, got "
            f"{settings.cv!r}. Use cv=5.",
            argument="cv",
        )
    if is_native(settings.estimator):
        raise InvalidInputError(
            f"must be 'prefit' for a {type(settings.estimator).__name__}, which cannot be "
            f"trained again here, got {settings.cv!r}. Pass rows that the model has not seen.",
            argument="cv",
        )
    plan = _plan_hold_out(task, claims, labels)
    if isinstance(plan, HoldOut):
        return _hold_out(task, plan)
    return _train_on_all(task, plan)


def _check_classes(y: LabelArray, decides: BoolArray) -> list[Label]:
    """Return the labels of rows with weight; raise unless there are at least two."""
    classes = find_distinct(y, "y")
    assert_all_finite(classes, input_name="y")
    # Many labels that occur once each would look like a regression target.
    check_classification_targets(np.repeat(classes, 3))
    labels: list[Label] = find_distinct(y[decides], "y").tolist()
    if len(labels) < 2:
        where = "`y`" if decides.all() else "`y` with a `sample_weight` above 0"
        raise InvalidInputError(
            f"{where} must hold at least two classes, got {len(labels)} class(es): "
            f"{labels}. Pass rows of every class that predictions should tell apart."
        )
    return labels


# A model that is trained already.


def _read_prefit(task: Task, claims: Claims) -> Trained:
    """Score rows by a model that was trained elsewhere."""
    estimator = task.settings.estimator
    _refuse_mean(task.settings, "a model that is trained already")
    if not is_native(estimator):
        check_is_fitted(estimator)
    classes = np.unique(known_classes(estimator, task.classes))
    unknown = np.setdiff1d(task.classes, classes)
    if len(unknown):
        raise InvalidInputError(
            f"must hold labels that the fitted estimator knows ({classes.tolist()}), "
            f"got {unknown.tolist()} too. Encode the labels as the model was trained on them.",
            argument="y",
        )
    task = replace(task, classes=classes)
    params = task.params
    cluster = params.groups
    decide = np.flatnonzero(params.decides)
    n_copies = 0
    if is_guaranteed(claims.curve, claims.rule):
        units = find_units(task.X, task.number, params.groups)
        decide = units.keep_one(decide, task.number)
        cluster = units.number if units.are_groups else None
        n_copies = units.n_copies
    pooled = read_all(task, estimator, decide)
    origin: Origin = "training" if explain_training(estimator, task.X, task.y) else "held-out"
    deciding = record(task, pooled, origin, cluster=cluster, n_copies=n_copies)
    why = "The model that was given, trained before fit, is deployed."
    return Trained(deciding, Deployed(estimator, pooled.response, why))


# Rows held out of all training.


def _plan_hold_out(task: Task, claims: Claims, labels: list[Label]) -> HoldOut | Shortage | None:
    """Draw the rows to hold out; return what is missing for that, None if nothing is guaranteed."""
    settings = task.settings
    is_kernel = get_tags(settings.estimator).input_tags.pairwise
    is_by_class = isinstance(claims.rule, ClassFloors)
    if task.cv is None or is_kernel:
        _refuse_holdout(settings, "cv=None" if task.cv is None else "a precomputed kernel")
        return None
    if not (is_by_class if len(labels) > 2 else is_guaranteed(claims.curve, claims.rule)):
        _refuse_holdout(settings, "a rule that guarantees no floors")
        return None
    decides = task.params.decides
    units = find_units(task.X, task.number, task.params.groups)
    ends = _order_classes(task, claims, labels)
    counts = {label: units.count(decides & (task.y == label)) for label in ends}
    demands = find_demands(claims.curve, claims.rule, counts)
    share = choose_share(demands or [], settings.holdout, units.name)
    if not isinstance(share, float):
        return share
    return HoldOut.draw(units, task.number, decides, share, settings.random_state)


def _order_classes(task: Task, claims: Claims, labels: list[Label]) -> list[Label]:
    """Return the labels, of two classes the negative one first."""
    rule = claims.rule
    if isinstance(rule, ClassFloors):
        rule.check_classes(labels)
        return labels
    sizes = {k: int(np.count_nonzero(task.y[task.params.decides] == k)) for k in labels}
    ends = order_labels(labels, claims.pos_label, counts=sizes, symmetric=rule.symmetric)
    return list(ends)


def _hold_out(task: Task, plan: HoldOut) -> Trained:
    """Train on some rows, and let those held out decide."""
    params = task.params
    fit = index_parameters(task.X, params.fit, indices=plan.train)
    split = index_parameters(task.X, params.split, indices=plan.train)
    inner = Task(
        task.settings,
        _restrict_cv(task, plan),
        task.classes,
        take_rows(task.X, plan.train),
        task.y[plan.train],
        FitParameters(fit, split, None, None, params.decides[plan.train]),
    )
    guide, deployed = _train_on_all(inner, None)
    rows = take_rows(task.X, plan.decide)
    if guide.are_probabilities:
        scores = read_response(deployed.estimator, rows, "predict_proba", task.classes)
    else:
        scores = deployed.response.read(deployed.estimator, rows, task.classes)
    deciding = DecidingRows(
        y=task.number[plan.decide],
        scores=scores,
        origin="held-out",
        classes=task.classes,
        rows=plan.decide,
        class_sizes=weigh_classes(task),
        cluster=plan.cluster,
        n_copies=plan.n_copies,
        hold_out=plan,
        guide=guide,
    )
    return Trained(deciding, deployed)


def _restrict_cv(task: Task, plan: HoldOut) -> Splitting:
    """Return how the rows to train on are split: as all rows would be."""
    if isinstance(task.cv, int | np.integer):
        return task.cv
    splits = find_splits(task.cv, task.X, task.y, task.params.split)
    return restrict_splits(splits, plan.train, len(task.y))


# Training rows, or rows left out of folds.


def _train_on_all(task: Task, shortage: Shortage | None) -> Trained:
    """Train the model that is deployed on all rows, and score them by folds if that is possible."""
    settings = task.settings
    estimator = set_random_states(clone(settings.estimator), settings.random_state)
    if task.cv is None:
        _refuse_mean(settings, "cv=None")
        return _use_training_rows(task, estimator)
    counts = np.bincount(task.number)
    why = ""
    if len(counts) == 2 and counts.min() == 1:
        why = "a class of one row, which no fold can leave out"
    elif get_tags(settings.estimator).input_tags.pairwise:
        # Each model would want a kernel with the rows of its own training part.
        why = "a precomputed kernel"
    _refuse_mean(settings, why)
    return _use_folds(task, estimator, shortage, may_average=not why)


def _use_training_rows(task: Task, estimator: Model) -> Trained:
    """Let the training rows decide, scored by the model that has seen them."""
    fitted = _fit(task, estimator)
    pooled = read_all(task, fitted, np.flatnonzero(task.params.decides))
    deciding = record(task, pooled, "training", cluster=task.params.groups)
    return Trained(deciding, Deployed(fitted, pooled.response, _ONE_MODEL))


def _use_folds(
    task: Task, estimator: Model, shortage: Shortage | None, *, may_average: bool
) -> Trained:
    """Let all rows decide that a fold leaves out, scored by models trained without them."""
    crossed = cross_fit(task, estimator, may_average and bool(task.settings.ensemble))
    method = task.settings.response_method
    pooled = PooledResponses.pool(crossed.parts, crossed.tests, task.params.decides, method)
    deployed = _average(task, crossed, pooled) if may_average else None
    if deployed is None:
        deployed = Deployed(_fit(task, estimator), pooled.response, _ONE_MODEL)
    is_mean = isinstance(deployed.estimator, MeanOfModels)
    groups = task.params.groups
    deciding = record(
        task, pooled, "out-of-fold", of_mean=is_mean, cluster=groups, shortage=shortage
    )
    return Trained(deciding, deployed)


def _average(task: Task, crossed: CrossFit, pooled: PooledResponses) -> Deployed | None:
    """Return the mean of the folds' models, None if one model is to be trained on all rows."""
    ensemble = task.settings.ensemble
    is_automatic = isinstance(ensemble, str)
    if not (crossed.is_complete if is_automatic else ensemble):
        return None
    response = pooled.response
    models = crossed.models
    one = collapse_linear(models) if response.method == "decision_function" else None
    if one is not None:
        why = f"The mean of {len(models)} fold models is deployed: it is one linear model."
        return Deployed(one, response, why, models)
    counts = np.bincount(task.number[pooled.rows], minlength=len(task.classes))
    if is_automatic and counts.min() >= MANY_RARE_ROWS:
        return None
    mean = MeanOfModels(models, task.classes, response.method, response.floor, response.is_log_odds)
    by_margin = Response("decision_function", is_log_odds=response.is_log_odds)
    because = "ensemble=True"
    if is_automatic:
        because = f"the rarest class has fewer than {MANY_RARE_ROWS} rows"
    why = f"The mean of {len(models)} fold models is deployed: {because}."
    return Deployed(mean, by_margin, why, models)


def _fit(task: Task, estimator: Model) -> Model:
    """Return a copy of the estimator, fitted on all rows."""
    fitted = clone(estimator)
    fitted.fit(task.X, task.y, **index_parameters(task.X, task.params.fit))
    return fitted


def _refuse_mean(settings: Settings, where: str) -> None:
    if where and settings.ensemble not in (False, "auto"):
        raise InvalidInputError(
            f"must be False or 'auto' with {where}, got True: there are no models "
            "of folds. Use cv=5, or ensemble=False.",
            argument="ensemble",
        )


def _refuse_holdout(settings: Settings, where: str) -> None:
    if settings.holdout is not None:
        raise InvalidInputError(
            f"must be None with {where}, got {settings.holdout!r}: no rows are held out. "
            "Use it with cv=5 and rule=Floors(recall=0.9), for example.",
            argument="holdout",
        )
