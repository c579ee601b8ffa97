"""Which model is deployed, and which rows decide about it.

Each way returns the rows that decide, with their scores, and the model that is deployed:

- a model that was trained before `fit` scores rows that it has not seen;
- the model scores its own training rows;
- the models of a cross-validation score the rows that they have not seen;
- the model scores rows held out of all training, which guaranteed floors need.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from boundshift._sklearn_internals import index_parameters, take_rows
from boundshift._typing import (
    BoolArray,
    FloatArray,
    IndexArray,
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
from boundshift.models._mean import MeanOfModels, collapse_linear, mean_scores
from boundshift.models._routing import FitParameters
from boundshift.models._scoring import (
    Response,
    ResponseMethod,
    Responses,
    choose_method,
    is_native,
    known_classes,
    probabilities,
    read_response,
    read_responses,
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
    seen = _check_classes(y, params.decides)
    task = Task(settings, settings.cv, find_distinct(y), X, y, params)
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
    plan = _plan_hold_out(task, claims, seen)
    if isinstance(plan, HoldOut):
        return _hold_out(task, plan)
    return _train_on_all(task, plan)


def _check_classes(y: LabelArray, decides: BoolArray) -> list[Label]:
    """Return the labels of rows with weight; raise unless there are at least two."""
    classes = find_distinct(y)
    assert_all_finite(classes, input_name="y")
    # Many labels that occur once each would look like a regression target.
    check_classification_targets(np.repeat(classes, 3))
    seen: list[Label] = np.unique(y[decides]).tolist()
    if len(seen) < 2:
        where = "`y`" if decides.all() else "`y` with a `sample_weight` above 0"
        raise InvalidInputError(
            f"{where} must hold at least two classes, got {len(seen)} class(es): "
            f"{seen}. Pass rows of every class that predictions should tell apart."
        )
    return seen


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
    if is_guaranteed(claims.curve, claims.rule) or isinstance(claims.rule, ClassFloors):
        units = find_units(task.X, task.number, params.groups)
        decide = units.keep_one(decide, task.number)
        cluster = units.number if units.are_groups else None
        n_copies = units.n_copies
    found = _read_all(task, estimator, decide)
    origin: Origin = "training" if explain_training(estimator, task.X, task.y) else "held-out"
    deciding = _record(task, found, origin, cluster=cluster, n_copies=n_copies)
    why = "The model that was given, trained before fit, is deployed."
    return Trained(deciding, Deployed(estimator, found.response, why))


# Rows held out of all training.


def _plan_hold_out(task: Task, claims: Claims, seen: list[Label]) -> HoldOut | Shortage | None:
    """Draw the rows to hold out; return what is missing for that, None if nothing is guaranteed."""
    settings = task.settings
    is_kernel = get_tags(settings.estimator).input_tags.pairwise
    is_by_class = isinstance(claims.rule, ClassFloors)
    if task.cv is None or is_kernel:
        _refuse_holdout(settings, "cv=None" if task.cv is None else "a precomputed kernel")
        return None
    if not (is_by_class if len(seen) > 2 else is_guaranteed(claims.curve, claims.rule)):
        _refuse_holdout(settings, "a rule that guarantees no floors")
        return None
    decides = task.params.decides
    units = find_units(task.X, task.number, task.params.groups)
    ends = _order_classes(task, claims, seen)
    counts = {label: units.count(decides & (task.y == label)) for label in ends}
    demands = find_demands(claims.curve, claims.rule, counts)
    share = choose_share(demands or [], settings.holdout, units.name)
    if not isinstance(share, float):
        return share
    return HoldOut.draw(units, task.number, decides, share, settings.random_state)


def _order_classes(task: Task, claims: Claims, seen: list[Label]) -> list[Label]:
    """Return the labels, of two classes the negative one first."""
    rule = claims.rule
    if isinstance(rule, ClassFloors):
        rule.check_classes(seen)
        return seen
    sizes = {k: int(np.count_nonzero(task.y[task.params.decides] == k)) for k in seen}
    ends = order_labels(seen, claims.pos_label, counts=sizes, symmetric=rule.symmetric)
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
        class_sizes=_weigh_classes(task),
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
    found = _read_all(task, fitted, np.flatnonzero(task.params.decides))
    deciding = _record(task, found, "training", cluster=task.params.groups)
    return Trained(deciding, Deployed(fitted, found.response, _ONE_MODEL))


def _use_folds(
    task: Task, estimator: Model, shortage: Shortage | None, *, may_average: bool
) -> Trained:
    """Let all rows decide that a fold leaves out, scored by models trained without them."""
    crossed = cross_fit(task, estimator, may_average and bool(task.settings.ensemble))
    asked = task.settings.response_method
    found = PooledResponses.pool(crossed.parts, crossed.tests, task.params.decides, asked)
    deployed = _average(task, crossed, found) if may_average else None
    if deployed is None:
        deployed = Deployed(_fit(task, estimator), found.response, _ONE_MODEL)
    is_mean = isinstance(deployed.estimator, MeanOfModels)
    groups = task.params.groups
    deciding = _record(
        task, found, "out-of-fold", of_mean=is_mean, cluster=groups, shortage=shortage
    )
    return Trained(deciding, deployed)


def _average(task: Task, crossed: CrossFit, found: PooledResponses) -> Deployed | None:
    """Return the mean of the folds' models, None if one model is to be trained on all rows."""
    ensemble = task.settings.ensemble
    is_automatic = isinstance(ensemble, str)
    if not (crossed.is_complete if is_automatic else ensemble):
        return None
    response = found.response
    models = crossed.models
    one = collapse_linear(models) if response.method == "decision_function" else None
    if one is not None:
        why = f"The mean of {len(models)} fold models is deployed: it is one linear model."
        return Deployed(one, response, why, models)
    counts = np.bincount(task.number[found.rows], minlength=len(task.classes))
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


# From responses to rows that decide.


@dataclass(frozen=True, eq=False)
class PooledResponses:
    """Responses of all models to the rows that decide, below each other.

    `rows` are the places of the rows, each once, and `first` and `place` where they are among the
    responses and the other way round. `part` numbers the model of each response. Two classes are
    decided on the models' own probabilities, if there are any.
    """

    response: Response
    raw: FloatArray
    own_probabilities: FloatArray | None
    rows: IndexArray
    first: IndexArray
    place: IndexArray
    part: IndexArray

    @classmethod
    def pool(
        cls,
        parts: list[Responses],
        tests: list[IndexArray],
        decides: BoolArray,
        asked: ResponseMethod,
    ) -> PooledResponses:
        """Pool the responses of each model to its test part."""
        method, is_log_odds = choose_method(parts, asked)
        every = np.concatenate(tests)
        is_used = decides[every]
        every = every[is_used]
        is_tested = np.zeros(len(decides), dtype=np.bool_)
        is_tested[every] = True
        rows = np.flatnonzero(is_tested)
        place = (np.cumsum(is_tested) - 1)[every]
        first = np.empty(len(rows), dtype=np.intp)
        first[place[::-1]] = np.arange(len(place))[::-1]
        raw = np.concatenate([part[method] for part in parts])[is_used]
        own = None
        may_be_own = asked in ("auto", "predict_proba")
        if may_be_own and all(_has_two_probabilities(part) for part in parts):
            own = np.concatenate([part["predict_proba"] for part in parts])[is_used]
        number = np.repeat(np.arange(len(tests)), [len(test) for test in tests])[is_used]
        response = Response.learn(method, raw, is_log_odds=is_log_odds)
        return cls(response, raw, own, rows, first, place, number)

    @property
    def is_repeated(self) -> bool:
        """Whether a row has several responses."""
        return len(self.rows) < len(self.place)

    def scores(self, *, of_mean: bool) -> FloatArray:
        """Return one score for each row: no row counts twice.

        The mean of models has no probability of exactly 0 or 1, so the rows that decide about it
        must not have one either.
        """
        response = self.response
        own = self.own_probabilities
        if self.is_repeated:
            is_log_odds = response.is_log_odds
            means = mean_scores(response.scores(self.raw), self.place, is_log_odds=is_log_odds)
            scores = means if own is None else probabilities(means)
        else:
            scores = response.scores(self.raw)[self.first] if own is None else own[self.first]
        has_ends = own is not None and response.floor is not None and bool((scores == 0).any())
        return probabilities(response.scores(scores)) if of_mean and has_ends else scores


def _has_two_probabilities(part: Responses) -> bool:
    return "predict_proba" in part and part["predict_proba"].shape[1] == 2


def _read_all(task: Task, model: Model, decide: IndexArray) -> PooledResponses:
    """Read one model's responses to the rows that decide."""
    asked = task.settings.response_method
    part = read_responses(model, task.X, asked, task.classes)
    decides = np.zeros(len(task.y), dtype=np.bool_)
    decides[decide] = True
    return PooledResponses.pool([part], [np.arange(len(task.y))], decides, asked)


def _record(
    task: Task,
    found: PooledResponses,
    origin: Origin,
    *,
    of_mean: bool = False,
    cluster: LabelArray | None = None,
    n_copies: int = 0,
    shortage: Shortage | None = None,
) -> DecidingRows:
    rows = found.rows
    params = task.params
    return DecidingRows(
        y=task.number[rows],
        scores=found.scores(of_mean=of_mean),
        origin=origin,
        classes=task.classes,
        rows=rows,
        class_sizes=_weigh_classes(task),
        weights=None if params.weights is None else params.weights[rows],
        costs=None if params.costs is None else params.costs[rows],
        cluster=None if cluster is None else cluster[rows],
        fold=None if found.is_repeated else found.part[found.first],
        n_copies=n_copies,
        hold_out=shortage,
    )


def _weigh_classes(task: Task) -> FloatArray:
    """Return the weight of each class's rows that may decide."""
    decides = task.params.decides
    weights = task.params.weights
    used = None if weights is None else weights[decides]
    return np.bincount(task.number[decides], used, len(task.classes)).astype(np.float64)
