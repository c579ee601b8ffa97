"""Rows scored by models that were fitted without them: the parts of a cross-fitting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _check_method_params

from boundshift.models.response import ResponseMethod, read_response

__all__ = ["class_indices", "has_weight", "one_response_a_row", "score_fold", "seeded"]

FloatArray = NDArray[np.float64]


def score_fold(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    train: NDArray[np.intp],
    test: NDArray[np.intp],
    fit_params: dict[str, Any],
    method: ResponseMethod,
    classes: NDArray[Any],
) -> FloatArray:
    """Fit a copy of the estimator on one part and score the other."""
    params = _check_method_params(X, fit_params, indices=train)
    fold = clone(estimator).fit(_safe_indexing(X, train), y[train], **params)
    return read_response(fold, _safe_indexing(X, test), method, classes)


def class_indices(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return each label's place among the classes; two need no search."""
    if len(classes) == 2:
        return np.asarray(y == classes[1]).astype(np.intp)
    return np.searchsorted(classes, y)


def has_weight(fit_params: dict[str, Any], n_rows: int) -> NDArray[np.bool_]:
    """Return which rows decide: those without weight do not."""
    weight = fit_params.get("sample_weight")
    return np.ones(n_rows, dtype=np.bool_) if weight is None else np.asarray(weight) > 0


def one_response_a_row(
    tests: list[NDArray[np.intp]], parts: list[FloatArray]
) -> tuple[NDArray[np.intp], FloatArray]:
    """Average the responses of rows that were left out more than once: no row counts twice."""
    raw = np.concatenate(parts)
    rows, place, times = np.unique(np.concatenate(tests), return_inverse=True, return_counts=True)
    total = np.zeros((len(rows), *raw.shape[1:]))
    np.add.at(total, place, raw)
    return rows, (total.T / times).T


def seeded(estimator: Any, random_state: Any) -> Any:
    """Set every random state that is None, if there is a seed to do it with."""
    if random_state is not None:
        random = check_random_state(random_state)
        for name, value in sorted(estimator.get_params(deep=True).items()):
            if value is None and (name == "random_state" or name.endswith("__random_state")):
                estimator.set_params(**{name: int(random.randint(2**31 - 1))})
    return estimator
