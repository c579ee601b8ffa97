"""Cross-fitting: each row is scored by models that were trained without it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from boundshift._sklearn_internals import GroupsConsumerMixin, index_parameters, split_rows
from boundshift._typing import (
    IndexArray,
    LabelArray,
    Model,
    Parameters,
    RandomState,
    Rows,
    Splitting,
)
from boundshift.exceptions import InvalidInputError
from boundshift.models._routing import FitParameters
from boundshift.models._scoring import ResponseMethod, Responses, choose_method, read_responses

Split = tuple[IndexArray, IndexArray]

# With fewer rows of the rarest class, the mean of the folds' models is deployed.
MANY_RARE_ROWS = 100
# A tree's scores have few distinct values, the mean of several trees has more. Where to cut those
# shows only if the rows that decide are scored by a mean too, so the folds are repeated.
_FEW_VALUES = 10
_REPEATS = 5
_MOST_ROWS_TO_REPEAT = 10_000


@dataclass(frozen=True)
class Settings:
    """The parameters of a classifier that say how its model is trained."""

    estimator: Model
    cv: Splitting
    ensemble: bool | str
    response_method: ResponseMethod
    random_state: RandomState
    n_jobs: int | None
    holdout: float | None
    is_prefit: bool


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to train on, of sorted `classes`, and how."""

    settings: Settings
    cv: Splitting
    classes: LabelArray
    X: Rows
    y: LabelArray
    params: FitParameters

    @property
    def number(self) -> IndexArray:
        """The number of each row's class."""
        return np.searchsorted(self.classes, self.y)


@dataclass(frozen=True, eq=False)
class CrossFit:
    """Models of folds, the rows that each was tested on, and its responses to them.

    `is_complete` tells whether the models together saw every row, and each saw every class.
    """

    models: list[Model]
    tests: list[IndexArray]
    parts: list[Responses]
    is_complete: bool


def cross_fit(task: Task, estimator: Model, may_repeat: bool) -> CrossFit:
    """Fit models on the parts of a splitter, and read their responses to the other rows."""
    stratified = None
    if isinstance(task.cv, int | np.integer) and not isinstance(task.cv, bool):
        n_most_frequent = int(np.bincount(task.number).max())
        stratified = StratifiedKFold(min(int(task.cv), max(n_most_frequent, 2)))
    splits = find_splits(stratified or task.cv, task.X, task.y, task.params.split)
    _check_splits(task, splits)
    trained = np.concatenate([train for train, _ in splits])
    is_complete = len(np.unique(trained)) == len(task.y) and all(
        len(np.unique(task.number[train])) == len(task.classes) for train, _ in splits
    )
    folds = _fit_folds(task, estimator, splits)
    may_repeat = may_repeat and is_complete and _has_few_values(task, [part for _, part in folds])
    if may_repeat and stratified is not None:
        again = _repeat_splits(task, stratified.n_splits)
        folds += _fit_folds(task, estimator, again)
        splits += again
    models, parts = zip(*folds, strict=True)
    return CrossFit(list(models), [test for _, test in splits], list(parts), is_complete)


def _fit_folds(task: Task, estimator: Model, splits: list[Split]) -> list[tuple[Model, Responses]]:
    jobs = (delayed(_fit_fold)(task, estimator, split) for split in splits)
    return list(Parallel(n_jobs=task.settings.n_jobs)(jobs))


def _fit_fold(task: Task, estimator: Model, split: Split) -> tuple[Model, Responses]:
    """Fit a copy of the estimator on one part and read its responses to the other."""
    train, test = split
    # A kernel has a column for every row that it was computed with.
    rows, labels = split_rows(estimator, task.X, task.y, train)
    left_out, _ = split_rows(estimator, task.X, None, test, train)
    fold = clone(estimator)
    fold.fit(rows, labels, **index_parameters(task.X, task.params.fit, indices=train))
    return fold, read_responses(fold, left_out, task.settings.response_method, task.classes)


def _has_few_values(task: Task, parts: Sequence[Responses]) -> bool:
    """Return whether few rare rows of two classes have few distinct scores."""
    counts = np.bincount(task.number)
    n = len(task.y)
    if len(counts) != 2 or counts.min() >= MANY_RARE_ROWS or n > _MOST_ROWS_TO_REPEAT:
        return False
    method, _ = choose_method(parts, task.settings.response_method)
    n_values = len(np.unique(np.concatenate([part[method] for part in parts])))
    return 1 < n_values <= min(_FEW_VALUES, n / _FEW_VALUES)


def _repeat_splits(task: Task, n_splits: int) -> list[Split]:
    """Return further folds, each time in another order of the rows."""
    seed = task.settings.random_state
    random = check_random_state(0 if seed is None else seed)
    splits: list[Split] = []
    for _ in range(_REPEATS - 1):
        seed = random.randint(2**31 - 1)
        again = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
        splits += find_splits(again, task.X, task.y, {})
    return splits


# Splits and seeds.


def find_splits(cv: Splitting, X: Rows, y: LabelArray, params: Parameters) -> list[Split]:
    """Return the splits of a `cv`: a number of folds, a splitter, or pairs of rows or masks."""
    splits_groups = isinstance(cv, GroupsConsumerMixin)
    groups: LabelArray | None = params.get("groups")
    try:
        with warnings.catch_warnings():
            # A class with fewer rows than folds is missing from some test parts, which is fine.
            warnings.filterwarnings("ignore", message="The least populated class")
            # Groups that are split in spite of it are refused below.
            warnings.filterwarnings("ignore", message="The groups parameter is ignored")
            pairs = list(check_cv(cv, y, classifier=True).split(X, y, **params))
        splits = [_as_places(pair, len(y)) for pair in pairs]
    except (IndexError, TypeError) as error:
        raise InvalidInputError(
            "must be an int, a splitter or pairs of row numbers (train, test), got "
            f"{str(cv)[:100]} ({error}). Use cv=5.",
            argument="cv",
        ) from None
    except ValueError:
        if groups is not None or not splits_groups:
            raise
        raise InvalidInputError(
            f"must be given with cv={type(cv).__name__}, which splits by them, got none. "
            "Pass fit(X, y, groups=...), or use cv=5.",
            argument="groups",
        ) from None
    if groups is not None and not splits_groups:
        _check_groups_together(splits, groups)
    if not splits:
        raise InvalidInputError(
            "must give at least one split, got none. A generator gives its splits only "
            "once: pass list(splits), or an int.",
            argument="cv",
        )
    return splits


def _as_places(pair: tuple[ArrayLike, ArrayLike], n_rows: int) -> Split:
    """Return the places of the rows in both parts of a split, which may be masks."""
    train, test = pair
    every = np.arange(n_rows)
    return np.atleast_1d(every[np.asarray(train)]), np.atleast_1d(every[np.asarray(test)])


def _check_groups_together(splits: list[Split], groups: LabelArray) -> None:
    if any({*groups[train].tolist()} & {*groups[test].tolist()} for train, test in splits):
        raise InvalidInputError(
            "must keep groups together where `groups` are given, got rows of one "
            "group on both sides of a split. Use StratifiedGroupKFold(5).",
            argument="cv",
        )


def _check_splits(task: Task, splits: list[Split]) -> None:
    """Raise unless every part trains on both classes, and tests rows that it has not seen."""
    for k, (train, test) in enumerate(splits, start=1):
        n_shared = len(np.intersect1d(train, test))
        labels = np.unique(task.y[train[task.params.decides[train]]]).tolist()
        if n_shared or len(labels) < 2:
            raise InvalidInputError(
                "must train on rows of at least two classes and test other rows, got "
                f"{n_shared} row(s) in both of part {k} of {len(splits)}, which trains on "
                f"{labels}. Use an int or StratifiedKFold, or cv=None for training rows.",
                argument="cv",
            )


def restrict_splits(splits: list[Split], kept: IndexArray, n_rows: int) -> list[Split]:
    """Return the same splits among the rows that are kept, by their new places."""
    place = np.full(n_rows, -1)
    place[kept] = np.arange(len(kept))
    restricted = []
    for train, test in splits:
        new_train = place[train]
        new_test = place[test]
        restricted.append((new_train[new_train >= 0], new_test[new_test >= 0]))
    return [split for split in restricted if all(len(part) for part in split)]


def set_random_states(estimator: Model, random_state: RandomState) -> Model:
    """Set every random state of an estimator that is None, unless `random_state` is None."""
    if random_state is None:
        return estimator
    random = check_random_state(random_state)
    for name, value in sorted(estimator.get_params(deep=True).items()):
        if value is None and name.rpartition("__")[2] == "random_state":
            estimator.set_params(**{name: int(random.randint(2**31 - 1))})
    return estimator
