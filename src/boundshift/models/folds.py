"""The rows that decide, scored by a model as it is or by models fitted without them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from boundshift.exceptions import InvalidInputError
from boundshift.models.response import (
    Method,
    Response,
    ResponseMethod,
    choose_method,
    read_responses,
)

__all__ = ["Deciding", "RowScorer", "has_weight", "set_random_states"]

FloatArray = NDArray[np.float64]
Origin = Literal["held-out", "out-of-fold", "training"]


class Deciding(NamedTuple):
    """The rows that decide: their classes by number, their scores, and where these come from."""

    y: NDArray[np.intp]
    scores: FloatArray
    response: Response
    origin: Origin


@dataclass(frozen=True)
class RowScorer:
    """Scores the rows that decide.

    Parameters
    ----------
    classes : array
        All labels, sorted.
    asked : str or callable
        The `response_method`.
    fit_params, split_params : dict
        For the fits of folds, and for the splitter.
    """

    classes: NDArray[Any]
    asked: ResponseMethod
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    split_params: Mapping[str, Any] = field(default_factory=dict)

    def by_model(self, model: Any, X: Any, y: NDArray[Any], origin: Origin) -> Deciding:
        """Score rows by one fitted model."""
        part = read_responses(model, X, self.asked, self.classes)
        return self._settle(y, np.arange(len(y)), part, *choose_method([part], self.asked), origin)

    def out_of_fold(
        self, estimator: Any, X: Any, y: NDArray[Any], cv: Any, n_jobs: int | None
    ) -> Deciding | None:
        """Score rows by models fitted without them, or return None if that cannot be."""
        counts = np.bincount(self._numbers(y))
        if len(counts) == 2 and counts.min() == 1:
            return None  # The only row of a class cannot be left out.
        if isinstance(cv, int | np.integer) and not isinstance(cv, bool):
            cv = min(int(cv), max(int(counts.max()), 2))
        with warnings.catch_warnings():
            # A class with fewer rows than folds is missing from some test parts, which is fine.
            warnings.filterwarnings("ignore", message="The least populated class")
            splits = list(check_cv(cv, y, classifier=True).split(X, y, **self.split_params))
        self._check_splits(y, splits)
        parts = Parallel(n_jobs=n_jobs)(
            delayed(self._fit_and_score)(estimator, X, y, train, test) for train, test in splits
        )
        method, is_log_odds = choose_method(parts, self.asked)
        rows, mean = _average_repeats([test for _, test in splits], [p[method] for p in parts])
        return self._settle(y, rows, {method: mean}, method, is_log_odds, "out-of-fold")

    def _fit_and_score(
        self,
        estimator: Any,
        X: Any,
        y: NDArray[Any],
        train: NDArray[np.intp],
        test: NDArray[np.intp],
    ) -> dict[Method, FloatArray]:
        """Fit a copy of the estimator on one part and read its responses to the other."""
        params = _check_method_params(X, self.fit_params, indices=train)
        fold = clone(estimator).fit(_safe_indexing(X, train), y[train], **params)
        return read_responses(fold, _safe_indexing(X, test), self.asked, self.classes)

    def _settle(
        self,
        y: NDArray[Any],
        rows: NDArray[np.intp],
        responses: Mapping[Method, FloatArray],
        method: Method,
        is_log_odds: bool,
        origin: Origin,
    ) -> Deciding:
        """Turn the chosen responses of rows with weight into scores."""
        decides = has_weight(self.fit_params, len(y))[rows]
        chosen = responses[method][decides]
        response = Response.learn(method, chosen, is_log_odds=is_log_odds)
        return Deciding(self._numbers(y[rows[decides]]), response.scores(chosen), response, origin)

    def _numbers(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return each label's place among the classes; two need no search."""
        if len(self.classes) == 2:
            return np.asarray(y == self.classes[1]).astype(np.intp)
        return np.searchsorted(self.classes, y)

    def _check_splits(self, y: NDArray[Any], splits: list[Any]) -> None:
        """Raise if a fold would train a two-class model on one class."""
        for number, (train, _) in enumerate(splits, start=1):
            seen = np.unique(y[train])
            if len(self.classes) == 2 and len(seen) < 2:
                raise InvalidInputError(
                    "`cv` must leave rows of both classes in every training part, got only "
                    f"{seen.tolist()} in part {number} of {len(splits)}. "
                    "Use an int or StratifiedKFold, which keep the classes' shares."
                )


def has_weight(fit_params: Mapping[str, Any], n_rows: int) -> NDArray[np.bool_]:
    """Return which rows decide: those without weight do not."""
    weight = fit_params.get("sample_weight")
    return np.ones(n_rows, dtype=np.bool_) if weight is None else np.asarray(weight) > 0


def _average_repeats(
    tests: list[NDArray[np.intp]], parts: list[FloatArray]
) -> tuple[NDArray[np.intp], FloatArray]:
    """Average the responses of rows that were left out more than once: no row counts twice."""
    responses = np.concatenate(parts)
    rows, place, times = np.unique(np.concatenate(tests), return_inverse=True, return_counts=True)
    total = np.zeros((len(rows), *responses.shape[1:]))
    np.add.at(total, place, responses)
    return rows, (total.T / times).T


def set_random_states(estimator: Any, random_state: Any) -> Any:
    """Set every random state that is None, if there is a seed to do it with."""
    if random_state is not None:
        random = check_random_state(random_state)
        for name, value in sorted(estimator.get_params(deep=True).items()):
            if value is None and (name == "random_state" or name.endswith("__random_state")):
                estimator.set_params(**{name: int(random.randint(2**31 - 1))})
    return estimator
