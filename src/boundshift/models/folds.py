"""The rows that decide, scored by a model as it is or by models fitted without them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from boundshift.exceptions import InvalidInputError
from boundshift.models.bags import fit_with_bags
from boundshift.models.callbacks import NOBODY_LISTENS, Task
from boundshift.models.mean import mean_scores
from boundshift.models.response import (
    Method,
    Response,
    ResponseMethod,
    choose_method,
    class_columns,
    read_responses,
)
from boundshift.models.scales import find_factors
from boundshift.scores.weighted import as_weights
from boundshift.typing import FloatArray, IndexArray

__all__ = [
    "CrossFitted",
    "Deciding",
    "RowScorer",
    "as_random_state",
    "find_weights",
    "given_splits",
    "has_weight",
    "is_listed",
    "set_random_states",
]

Origin = Literal["held-out", "out-of-fold", "training"]
Split = tuple[IndexArray, IndexArray]

_BAG_PARTS = 5
_WEIGHT = "sample_weight"


class Deciding(NamedTuple):
    """The rows that decide: their classes by number, their scores, and where these come from.

    `parts` numbers the test part that each row was left out with, None where nothing was left out;
    `factors` put the scores of the folds' models on one scale, None where they are. `rows` are
    their numbers among those given, `weights` how often each counts, `costs` what is lost if it is
    decided wrongly.
    """

    y: IndexArray
    scores: FloatArray
    response: Response
    origin: Origin
    parts: IndexArray | None = None
    factors: tuple[float, ...] | None = None
    rows: IndexArray | None = None
    weights: FloatArray | None = None
    costs: FloatArray | None = None

    def weighed(self, weights: FloatArray | None, costs: FloatArray | None) -> Deciding:
        """Return the rows with what is known of each row given; those without weight are out."""
        assert self.rows is not None
        found = self if costs is None else self._replace(costs=costs[self.rows])
        if weights is None:
            return found
        mine = weights[self.rows]
        used = mine > 0
        return found._replace(
            y=self.y[used],
            scores=self.scores[used],
            parts=None if self.parts is None else self.parts[used],
            rows=self.rows[used],
            weights=mine[used],
        )


class CrossFitted(NamedTuple):
    """The models of all folds, and the rows that they decide by.

    `complete` tells whether the models together saw every row, and each saw every class.
    """

    models: list[Any]
    deciding: Deciding
    complete: bool


@dataclass(frozen=True)
class RowScorer:
    """Scores the rows that decide, of sorted classes, by the `response_method` that was asked for.

    Folds are fitted with `fit_params`; the splitter gets `split_params`.
    """

    classes: NDArray[Any]
    asked: ResponseMethod
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    split_params: Mapping[str, Any] = field(default_factory=dict)

    def by_model(self, model: Any, X: Any, y: NDArray[Any], origin: Origin) -> Deciding:
        """Score rows by one fitted model."""
        part = read_responses(model, X, self.asked, self.classes)
        method, is_log_odds = choose_method([part], self.asked)
        decides = has_weight(self.fit_params, len(y))
        chosen = part[method][decides]
        response = Response.learn(method, chosen, is_log_odds=is_log_odds)
        numbers, rows = self._numbers(y[decides]), np.flatnonzero(decides)
        return Deciding(numbers, response.scores(chosen), response, origin, rows=rows)

    def out_of_bag(self, estimator: Any, X: Any, y: NDArray[Any]) -> Deciding:
        """Fit a bagging ensemble, and score each row by the members that did not see it."""
        if self.asked not in ("auto", "predict_proba"):
            raise InvalidInputError(
                "`response_method` must be 'auto' or 'predict_proba' with cv='oob', got "
                f"{self.asked!r}: bags vote with probabilities. Use cv=5."
            )
        found = fit_with_bags(estimator, X, y, self.fit_params)
        found = found[:, np.argsort(class_columns(estimator, self.classes))]
        decides = has_weight(self.fit_params, len(y)) & ~np.isnan(found).any(axis=1)
        numbers = self._numbers(y[decides])
        if len(self._labels_among(numbers)) < 2:
            raise InvalidInputError(
                "Out-of-bag scores must be there for rows of at least two classes, got "
                f"{np.count_nonzero(decides)} row(s) with one. Use more members "
                "(n_estimators=100), or cv=5."
            )
        response = Response.learn("predict_proba", found[decides], is_log_odds=True)
        # Parts for the question whether the shift helps rows that did not choose it.
        parts = np.empty(len(numbers), dtype=np.intp)
        for k in np.unique(numbers):
            of_class = numbers == k
            parts[of_class] = np.arange(np.count_nonzero(of_class)) % _BAG_PARTS
        scores, rows = response.scores(found[decides]), np.flatnonzero(decides)
        return Deciding(numbers, scores, response, "out-of-fold", parts, rows=rows)

    def cross_fit(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        cv: Any,
        n_jobs: int | None,
        task: Task = NOBODY_LISTENS,
    ) -> CrossFitted | None:
        """Score rows by models fitted without them, or return None if that cannot be."""
        numbers = self._numbers(y)
        counts = np.bincount(numbers)
        if len(counts) == 2 and counts.min() == 1:
            return None  # The only row of a class cannot be left out.
        if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
            cv = StratifiedKFold(min(int(cv), max(int(counts.max()), 2)))
        with warnings.catch_warnings():
            # A class with fewer rows than folds is missing from some test parts, which is fine.
            warnings.filterwarnings("ignore", message="The least populated class")
            splits = given_splits(
                cv
                if is_listed(cv)
                else list(check_cv(cv, y, classifier=True).split(X, y, **self.split_params))
            )
        complete = self._check_splits(numbers, splits)
        folds = task.part("folds", 0, len(splits))
        # Made beforehand: a task must not change while another process is handed its copy.
        tasks = [folds.part("fold", number) for number in range(len(splits))]
        with folds.run(X, y):
            fitted = Parallel(n_jobs=n_jobs)(
                delayed(self._fit_and_score)(estimator, X, y, *split, fold)
                for split, fold in zip(splits, tasks, strict=True)
            )
        models, parts = map(list, zip(*fitted, strict=True))
        deciding = self._settle(y, [test for _, test in splits], parts)
        return CrossFitted(models, deciding, complete)

    def _fit_and_score(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        train: IndexArray,
        test: IndexArray,
        task: Task,
    ) -> tuple[Any, dict[Method, FloatArray]]:
        """Fit a copy of the estimator on one part and read its responses to the other."""
        params = _check_method_params(X, self.fit_params, indices=train)
        # A kernel has a column for every row that it was computed with.
        rows, labels = _safe_split(estimator, X, y, train)
        left_out, _ = _safe_split(estimator, X, None, test, train)
        fold = clone(estimator)
        with task.run(rows, labels, fold):
            fold.fit(rows, labels, **params)
        return fold, read_responses(fold, left_out, self.asked, self.classes)

    def _settle(
        self, y: NDArray[Any], tests: Sequence[IndexArray], parts: list[dict[Method, FloatArray]]
    ) -> Deciding:
        """Turn the responses of all folds, to rows with weight, into scores of each row once."""
        method, is_log_odds = choose_method(parts, self.asked)
        weighs = has_weight(self.fit_params, len(y))
        chosen = [part[method] for part in parts]
        if not weighs.all():
            decides = [weighs[test] for test in tests]
            chosen = [part[d] for part, d in zip(chosen, decides, strict=True)]
            tests = [test[d] for test, d in zip(tests, decides, strict=True)]
        response = Response.learn(method, np.concatenate(chosen), is_log_odds=is_log_odds)
        own = [response.scores(part) for part in chosen]
        factors = find_factors(own)
        if factors is not None:
            own = [part * factor for part, factor in zip(own, factors, strict=True)]
        rows, scores, numbers = _average_repeats(tests, own, is_log_odds)
        numbered = self._numbers(y[rows])
        return Deciding(numbered, scores, response, "out-of-fold", numbers, factors, rows)

    def _numbers(self, y: NDArray[Any]) -> IndexArray:
        """Return each label's place among the classes; two need no search."""
        if len(self.classes) == 2:
            return np.asarray(y == self.classes[1]).astype(np.intp)
        return np.searchsorted(self.classes, y)

    def _labels_among(self, numbers: IndexArray) -> NDArray[Any]:
        """Return the labels of the classes that rows belong to."""
        if len(self.classes) == 2:  # which need no counting
            present = np.array([not numbers.all(), numbers.any()])
        else:
            present = np.bincount(numbers, minlength=len(self.classes)) > 0
        labels: NDArray[Any] = self.classes[present]
        return labels

    def _check_splits(self, numbers: IndexArray, splits: list[Split]) -> bool:
        """Raise unless every part trains on both classes, and tests rows that it has not seen.

        Returns whether all parts together train on every row, and each on every class.
        """
        weighs = has_weight(self.fit_params, len(numbers))
        all_weigh = bool(weighs.all())
        ever_seen = np.zeros(len(numbers), dtype=np.bool_)
        sees_all_classes = True
        for number, (train, test) in enumerate(splits, start=1):
            of = f"part {number} of {len(splits)}"
            is_seen = np.zeros(len(numbers), dtype=np.bool_)
            is_seen[train] = True
            if is_seen[test].any():
                raise InvalidInputError(
                    "`cv` must leave the rows of a test part out of its training part, got "
                    f"{np.count_nonzero(is_seen[test])} row(s) in both of {of}. Use an int or a "
                    "splitter, or cv=None to decide on training rows."
                )
            ever_seen |= is_seen
            of_train = numbers[train]
            seen = self._labels_among(of_train if all_weigh else numbers[is_seen & weighs])
            known = seen if all_weigh else self._labels_among(of_train)
            sees_all_classes &= len(known) == len(self.classes)
            if len(self.classes) == 2 and len(seen) < 2:
                raise InvalidInputError(
                    "`cv` must leave rows of both classes in every training part, got only "
                    f"{seen.tolist()} in {of}. "
                    "Use an int or StratifiedKFold, which keep the classes' shares."
                )
        tested = np.concatenate([test for _, test in splits])
        left_out = self._labels_among(numbers[tested if all_weigh else tested[weighs[tested]]])
        if len(left_out) < 2:
            raise InvalidInputError(
                "`cv` must leave out rows of at least two classes in all, got "
                f"{left_out.tolist()}. Use an int or StratifiedKFold, which keep the classes' "
                "shares."
            )
        return sees_all_classes and bool(ever_seen.all())


def find_weights(fit_params: Mapping[str, Any], n_rows: int) -> FloatArray | None:
    """Return the weights among the parameters of a fit, those of a pipeline's step too."""
    given = {
        name: as_weights(value, n_rows)
        for name, value in fit_params.items()
        if (name == _WEIGHT or name.endswith(f"__{_WEIGHT}")) and value is not None
    }
    weights = list(given.values())
    if any(not np.array_equal(other, weights[0]) for other in weights[1:]):
        raise InvalidInputError(
            "`sample_weight` must be the same for all steps, since it counts in the decision too, "
            f"got different ones as {' and '.join(given)}. Pass one of them."
        )
    return weights[0] if weights else None


def has_weight(fit_params: Mapping[str, Any], n_rows: int) -> NDArray[np.bool_]:
    """Return which rows decide: those without weight do not."""
    weights = find_weights(fit_params, n_rows)
    return np.ones(n_rows, dtype=np.bool_) if weights is None else weights > 0


def is_listed(cv: Any) -> bool:
    """Return whether a `cv` gives its splits one by one, as neither a number nor a splitter."""
    return isinstance(cv, Iterable) and not isinstance(cv, str) and not hasattr(cv, "split")


def given_splits(splits: Any) -> list[Split]:
    """Return splits as pairs of row numbers, which masks may stand for; raise if there is none.

    Examples
    --------
    >>> given_splits([([True, False], [False, True])])
    [(array([0]), array([1]))]
    """
    try:
        found = [(_as_rows(train), _as_rows(test)) for train, test in splits]
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            "`cv` must be an int, a splitter or pairs of row numbers (train, test), got "
            f"{str(splits)[:100]} ({error}). Use cv=5."
        ) from None
    if not found:
        raise InvalidInputError(
            "`cv` must give at least one split, got none. A generator gives its splits only "
            "once: pass list(splits), or an int."
        )
    return found


def _as_rows(part: Any) -> IndexArray:
    """Return row numbers, which a mask may stand for."""
    part = np.asarray(part)
    if part.ndim != 1 or (part.dtype.kind not in "biu" and part.size):
        raise TypeError(f"{part.dtype} of shape {part.shape} are no row numbers")
    return np.flatnonzero(part) if part.dtype == np.bool_ else part.astype(np.intp, copy=False)


def _average_repeats(
    tests: Sequence[IndexArray], parts: list[FloatArray], is_log_odds: bool
) -> tuple[IndexArray, FloatArray, IndexArray]:
    """Average the scores of rows that were left out more than once: no row counts twice.

    Returns rows, their scores, and the first part that each was left out with.
    """
    together = np.concatenate(tests)
    number = np.repeat(np.arange(len(tests)), [len(test) for test in tests])
    scores = np.concatenate(parts)
    is_counted = together.min(initial=0) >= 0  # -1 may stand for the last row
    times = np.bincount(together) if is_counted else np.array([2])
    if times.max(initial=0) <= 1:  # Each row once, as in most splits, needs no sorting.
        rows = np.flatnonzero(times)
        in_order = np.empty((len(times), *scores.shape[1:])), np.empty(len(times), dtype=np.intp)
        for ordered, values in zip(in_order, (scores, number), strict=True):
            ordered[together] = values
        if len(rows) == len(times):
            return rows, *in_order
        return rows, in_order[0][rows], in_order[1][rows]
    rows, first, place = np.unique(together, return_index=True, return_inverse=True)
    repeats = []
    order = np.argsort(place, kind="stable")
    sorted_place = place[order]
    starts = np.searchsorted(sorted_place, np.arange(len(rows)))
    turn = np.arange(len(place)) - starts[sorted_place]
    for k in range(int(turn.max()) + 1):
        at = turn == k
        repeat = np.full((len(rows), *scores.shape[1:]), np.nan)
        repeat[sorted_place[at]] = scores[order[at]]
        repeats.append(repeat)
    if scores.ndim == 1:
        return rows, np.nanmean(repeats, axis=0), number[first]
    return rows, mean_scores(repeats, is_log_odds=is_log_odds), number[first]


def as_random_state(random_state: Any) -> np.random.RandomState:
    """Return scikit-learn's generator of random numbers out of a seed."""
    try:
        random: np.random.RandomState = check_random_state(random_state)
    except (ValueError, OverflowError):
        raise InvalidInputError(
            "`random_state` must be a whole number from 0 to 2**32 - 1, a RandomState or None, "
            f"got {random_state!r}. Use random_state=0."
        ) from None
    return random


def set_random_states(estimator: Any, random_state: Any) -> Any:
    """Set every random state that is None, if there is a seed to do it with."""
    if random_state is None:
        return estimator
    if isinstance(random_state, np.random.Generator):
        raise InvalidInputError(
            "`random_state` must be an int, a RandomState or None, as scikit-learn's are, got a "
            "Generator. Draw an int from it: int(rng.integers(2**31))."
        )
    random = as_random_state(random_state)
    for name, value in sorted(estimator.get_params(deep=True).items()):
        if value is None and (name == "random_state" or name.endswith("__random_state")):
            estimator.set_params(**{name: int(random.randint(2**31 - 1))})
    return estimator
