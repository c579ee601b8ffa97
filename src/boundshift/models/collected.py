"""The model to deploy, and the scores of the rows that decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, assert_all_finite, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_method_params, _num_samples, check_is_fitted

from boundshift.curves import ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.models.callbacks import Task
from boundshift.models.collapse import collapse_linear
from boundshift.models.folds import (
    CrossFitted,
    Deciding,
    RowScorer,
    given_splits,
    has_weight,
    is_listed,
    set_random_states,
)
from boundshift.models.holdout import held_share, held_share_of_classes, hold_out, splits_within
from boundshift.models.margins import is_native
from boundshift.models.mean import MeanOfModels
from boundshift.models.response import Response, ResponseMethod, known_classes
from boundshift.models.routing import FitParameters
from boundshift.rules import ClassFloors, Rule
from boundshift.validation import find_distinct, order_labels

__all__ = ["Collected", "Collector"]

# Rows on which a collapsed model is compared with the mean that it stands for.
_CHECKED = 32
# Parts of which rows are kept apart where there are no folds.
_HELD_PARTS = 5
# What callbacks are told where one model is fitted on all rows.
_ALL_ROWS = "all rows"


class Collected(NamedTuple):
    """The model to deploy, the rows that decide, and how to read the model's scores.

    `guide` has rows scored by fold models, where others are kept apart to test what they propose.
    """

    estimator: Any
    classes: NDArray[Any]
    deciding: Deciding
    response: Response
    estimators: list[Any] | None = None
    guide: Deciding | None = None


@dataclass(frozen=True)
class Collector:
    """Trains, unless the model is trained, and scores the rows that decide.

    Its settings are those of BoundShiftClassifier; `task` is what callbacks hear of.
    """

    estimator: Any
    curve: ErrorCurve
    rule: Rule
    cv: Any
    ensemble: bool | Literal["auto"]
    pos_label: Any
    response_method: ResponseMethod
    random_state: Any
    n_jobs: int | None
    task: Task

    def collect(
        self, X: Any, y: NDArray[Any], params: FitParameters, *, is_prefit: bool
    ) -> Collected:
        """Return the model to deploy and the rows that decide."""
        find = self._read_trained if is_prefit else self._train_for_promise
        return find(X, y, params)

    @property
    def _is_out_of_bag(self) -> bool:
        return isinstance(self.cv, str) and self.cv == "oob"

    def _read_trained(self, X: Any, y: NDArray[Any], params: FitParameters) -> Collected:
        """Score the rows with the model as it is."""
        self._refuse_mean("a model that is trained already", "Train it with cv=5 instead")
        labels = _check_labels(find_distinct(y), y, params.fit)
        if not is_native(self.estimator):
            check_is_fitted(self.estimator)
        classes = np.unique(known_classes(self.estimator, labels))
        unknown = np.setdiff1d(labels, classes)
        if len(unknown):
            raise InvalidInputError(
                f"`y` must hold labels that the fitted estimator knows ({classes.tolist()}), "
                f"got {unknown.tolist()} too. Encode the labels as the model was trained on them."
            )
        scorer = RowScorer(classes, self.response_method, params.fit)
        deciding = scorer.by_model(self.estimator, X, y, "held-out")
        return Collected(self.estimator, classes, deciding, deciding.response)

    def _train(
        self, X: Any, y: NDArray[Any], params: FitParameters, labels: NDArray[Any]
    ) -> Collected:
        """Fit the estimator, and score rows by it or by models fitted without them."""
        if is_native(self.estimator):
            raise InvalidInputError(
                f"`cv` must be 'prefit' for a {type(self.estimator).__name__}, which cannot be "
                f"fitted again, got {self.cv!r}. Pass `fit` rows that the model has not seen."
            )
        classes = _check_labels(labels, y, params.fit)
        scorer = RowScorer(classes, self.response_method, params.fit, params.split)
        estimator = set_random_states(clone(self.estimator), self.random_state)
        crossed = None
        if self._is_out_of_bag:
            self._refuse_mean("cv='oob'", "Use cv=5")
            with self.task.part(_ALL_ROWS, 1).run(X, y, estimator):
                deciding = scorer.out_of_bag(estimator, X, y)
            return Collected(estimator, classes, deciding, deciding.response)
        if self.cv is None:
            self._refuse_mean("cv=None", "Use cv=5")
        else:
            crossed = scorer.cross_fit(estimator, X, y, self.cv, self.n_jobs, self.task)
            if crossed is None:
                self._refuse_mean("a class of one row, which no fold can leave out", "Collect more")
            elif self._deploys_mean(crossed):
                return _mean_of(crossed, classes, X)
        fitted = clone(estimator)
        with self.task.part(_ALL_ROWS, 1).run(X, y, fitted):
            fitted.fit(X, y, **_check_method_params(X, params.fit))
        deciding = crossed.deciding if crossed else scorer.by_model(fitted, X, y, "training")
        return Collected(fitted, classes, deciding, deciding.response)

    def _train_for_promise(self, X: Any, y: NDArray[Any], params: FitParameters) -> Collected:
        """Collect as ever, or, where floors shall be promised, keep rows apart that decide."""
        weighs = has_weight(params.fit, len(y))
        labels = find_distinct(y)
        classes, own = (labels, y) if weighs.all() else (np.unique(y[weighs]), y[weighs])
        share = None if self.cv is None else self._share_to_hold_out(classes, own)
        if share is None:
            return self._train(X, y, params, labels)
        number = np.searchsorted(classes, y)
        cv = given_splits(self.cv) if is_listed(self.cv) else self.cv
        if self._is_out_of_bag:
            cv = _HELD_PARTS
        train, held = hold_out(number, share, cv, self.random_state, X, params.split)
        # Its splits are those of the rows that are left to train on.
        inner = replace(self, cv="oob" if self._is_out_of_bag else splits_within(cv, train))
        held = held[weighs[held]]
        fit, split = (_check_method_params(X, p, indices=train) for p in (params.fit, params.split))
        rest = y[train]
        params = FitParameters(fit, split, {})
        found = inner._train(_safe_indexing(X, train), rest, params, np.unique(rest))
        scores = found.response.read(found.estimator, _safe_indexing(X, held), found.classes)
        decided = Deciding(number[held], scores, found.response, "held-out", rows=held)
        return found._replace(deciding=decided, guide=found.deciding)

    def _refuse_mean(self, where: str, cure: str) -> None:
        """Raise if a mean of fold models is asked for where there are no folds."""
        if self.ensemble is True:
            raise InvalidInputError(
                f"`ensemble` must be False or 'auto' with {where}, got True: there are no models "
                f"of folds. {cure}, or ensemble=False."
            )

    def _deploys_mean(self, crossed: CrossFitted) -> bool:
        """Return whether the models of the folds are deployed, and none is fitted on all rows."""
        if get_tags(self.estimator).input_tags.pairwise:
            # Each would want a kernel with the rows of its own training part.
            self._refuse_mean("a precomputed kernel", "Compute it inside the model")
            return False
        return crossed.complete if self.ensemble == "auto" else bool(self.ensemble)

    def _share_to_hold_out(self, classes: NDArray[Any], y: NDArray[Any]) -> float | None:
        """Return the share of rows that a promise needs, None if there is none to be had."""
        rule = self.rule
        labels = classes.tolist()
        floors = rule if isinstance(rule, ClassFloors) and len(labels) > 2 else None
        if (len(labels) != 2 and floors is None) or is_native(self.estimator):
            return None
        if getattr(get_tags(self.estimator).input_tags, "pairwise", False):
            return None  # A kernel has a column for every row that it was computed with.
        counts = {label: int(np.count_nonzero(y == label)) for label in labels}
        if floors is not None:
            floors.check_classes(labels)
            return held_share_of_classes(floors, counts)
        ends = order_labels(labels, self.pos_label, counts=counts, alike=rule.alike)
        return held_share(self.curve, rule, (counts[ends[0]], counts[ends[1]]))


def _check_labels(
    labels: NDArray[Any], y: NDArray[Any], fit_params: Mapping[str, Any]
) -> NDArray[Any]:
    """Return the labels; raise if there are not at least two classes to learn from."""
    assert_all_finite(labels, input_name="y")
    # Labels alone look like numbers to be predicted where they are many and each met once.
    check_classification_targets(np.repeat(labels, 3))
    weighs = has_weight(fit_params, len(y))
    seen = labels if weighs.all() else np.unique(y[weighs])
    if len(seen) < 2:
        where = "`y`" if weighs.all() else "`y` with a `sample_weight` above 0"
        raise InvalidInputError(
            f"{where} must hold at least two classes, got {len(seen)} class(es): "
            f"{seen.tolist()}. Pass rows of every class that predictions should tell apart."
        )
    return labels


def _mean_of(crossed: CrossFitted, classes: NDArray[Any], X: Any) -> Collected:
    """Return the mean of the folds' models as one model."""
    response = crossed.deciding.response
    mean = MeanOfModels(
        crossed.models,
        classes,
        response.method,
        response.floor,
        response.is_log_odds,
        crossed.deciding.factors,
    )
    if response.method == "decision_function":
        one = collapse_linear(crossed.models, crossed.deciding.factors)
        if one is not None and _agree(one, mean, X, response, classes):
            return Collected(one, classes, crossed.deciding, response, crossed.models)
    own = Response("decision_function", is_log_odds=response.is_log_odds)
    return Collected(mean, classes, crossed.deciding, own, crossed.models)


def _agree(one: Any, mean: MeanOfModels, X: Any, response: Response, classes: NDArray[Any]) -> bool:
    """Return whether a collapsed model decides as the mean does, on some of the rows."""
    rows = _safe_indexing(X, np.arange(min(_CHECKED, _num_samples(X))))
    found, expected = response.read(one, rows, classes), mean.decision_function(rows)
    if found.ndim == 2:
        found, expected = (s - s.mean(axis=1, keepdims=True) for s in (found, expected))
    return bool(np.allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max()))
