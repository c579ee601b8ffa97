"""The only place that distrusts input: everything behind it may assume clean arrays."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError

__all__ = [
    "as_choice",
    "as_fallback",
    "as_pair",
    "as_positive",
    "as_scores",
    "as_share",
    "order_labels",
    "split_by_label",
]

_MORE_THAN_TWO = (
    "Use BoundShiftClassifier, which shifts one bias per class, or call find_boundary once per "
    "class with `y_true == label`."
)

_NOT_COMPARABLE = (
    "`y_true` must hold labels of one kind without missing values, got some that cannot "
    "be compared ({}). Drop the rows without a label."
)


def as_choice(name: str, value: object, choices: Sequence[object]) -> Any:
    """Return `value` if it is one of `choices`."""
    if any(value is choice or value == choice for choice in choices):
        return value
    allowed = ", ".join(repr(choice) for choice in choices)
    raise InvalidInputError(f"`{name}` must be one of {allowed}, got {value!r}.")


def as_positive(name: str, value: object, cure: str = "", *, zero: bool = False) -> float:
    """Return `value` as a finite float above zero (or at least zero)."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
        if np.isfinite(number) and (number > 0 or (zero and number == 0)):
            return number
    rule = "a finite number of at least 0" if zero else "a positive finite number"
    raise InvalidInputError(f"`{name}` must be {rule}, got {value!r}. {cure}".rstrip())


def as_share(name: str, value: object, cure: str = "Use 0.95, for example.") -> float:
    """Return `value` as a float strictly between 0 and 1."""
    number = as_positive(name, value, cure)
    if number >= 1:
        raise InvalidInputError(f"`{name}` must be between 0 and 1, got {value!r}. {cure}")
    return number


def as_pair(name: str, value: object, cure: str = "") -> tuple[float, float]:
    """Return one positive number, or one per class, as (negative, positive)."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, numbers.Real):
        number = as_positive(name, value, cure)
        return number, number
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        return as_positive(name, value[0], cure), as_positive(name, value[1], cure)
    raise InvalidInputError(
        f"`{name}` must be one positive number or a pair (negative, positive), "
        f"got {value!r}. {cure}".rstrip()
    )


def as_fallback(value: object) -> Any:
    """Return "edges", "means", or a finite float."""
    if isinstance(value, str) and value in ("edges", "means"):
        return value
    if (
        isinstance(value, numbers.Real)
        and not isinstance(value, bool)
        and np.isfinite(float(value))
    ):
        return float(value)
    raise InvalidInputError(
        f"`fallback` must be 'edges', 'means' or a finite number, got {value!r}. "
        "Use fallback='edges' for the middle between what is kept of the classes."
    )


def as_scores(y_score: ArrayLike) -> NDArray[np.float64]:
    """Return scores as a one-dimensional float64 array; finiteness is checked after sorting."""
    cure = "Pass the column of the positive class, for example `proba[:, 1]`."
    scores = _one_dimensional("y_score", y_score, cure)
    reason = ""
    if scores.dtype.kind in "biufO":
        try:
            return scores.astype(np.float64, copy=False)
        except (TypeError, ValueError) as error:
            reason = f" ({error})"
    raise InvalidInputError(
        f"`y_score` must be real numbers, got {scores.dtype} values{reason}. "
        "Pass the decision function or the probability of the positive class."
    )


def split_by_label(
    y_true: ArrayLike, scores: NDArray[np.float64], pos_label: object = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[Any, Any]]:
    """Split scores by class.

    Returns
    -------
    negative, positive : arrays
        Fresh, writable copies.
    labels : tuple
        The two labels, (negative, positive).
    """
    labels_seen = _one_dimensional("y_true", y_true, "Pass one label for each row.")
    if len(labels_seen) != len(scores):
        raise InvalidInputError(
            f"`y_true` and `y_score` must have the same length, got {len(labels_seen)} labels and "
            f"{len(scores)} scores. Pass one score for each row."
        )
    if len(scores) == 0:
        raise InvalidInputError(
            "`y_true` must not be empty, got 0 rows. Pass rows of both classes."
        )
    is_positive, labels = _positive_mask(labels_seen, pos_label)
    positive = scores[is_positive]
    np.logical_not(is_positive, out=is_positive)
    return scores[is_positive], positive, labels


def _positive_mask(y: NDArray[Any], pos_label: object) -> tuple[NDArray[np.bool_], tuple[Any, Any]]:
    """Return which rows are positive, and the labels (negative, positive)."""
    labels = _two_labels(y)
    low, high = order_labels(labels.tolist(), pos_label)
    positive = labels[labels.tolist().index(high)]
    return np.asarray(y == positive, dtype=np.bool_), (low, high)


def order_labels(labels: list[Any], pos_label: object = None) -> tuple[Any, Any]:
    """Return two distinct labels as (negative, positive); raise unless there are two."""
    try:
        labels = sorted(labels)
    except TypeError as error:
        raise InvalidInputError(_NOT_COMPARABLE.format(error)) from None
    if not labels:
        raise InvalidInputError(
            "`y_true` must not be empty, got 0 rows. Pass rows of both classes."
        )
    if len(labels) == 1:
        raise InvalidInputError(
            f"`y_true` must hold two classes, got only {labels[0]!r}. "
            "Pass rows of both classes: a boundary needs something on either side."
        )
    if len(labels) > 2:
        shown = ", ".join(repr(label) for label in labels[:5])
        raise InvalidInputError(
            f"`y_true` must hold two classes, got {len(labels)}: {shown}"
            f"{', …' if len(labels) > 5 else ''}. {_MORE_THAN_TWO}"
        )
    low, high = labels
    if pos_label is None or pos_label == high:
        return low, high
    if pos_label == low:
        return high, low
    raise InvalidInputError(
        f"`pos_label` must be one of the labels {low!r} and {high!r}, got {pos_label!r}. "
        "Use pos_label=None to take the greater label."
    )


def _two_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return the two labels in sorted order, without sorting a numeric array."""
    if y.dtype.kind in "biuf":
        low, high = y.min(), y.max()
        is_two = np.count_nonzero(y == low) + np.count_nonzero(y == high) == len(y)
        if is_two and low != high:
            return np.array([low, high])
    try:
        missing = int(np.count_nonzero(y != y))
        labels = np.unique(y)
    except TypeError as error:
        raise InvalidInputError(_NOT_COMPARABLE.format(error)) from None
    if missing:
        raise InvalidInputError(
            f"`y_true` must hold a label for each row, got {missing} missing (NaN or NaT) among "
            f"{len(y)}. Drop the rows without a label."
        )
    return labels


def _one_dimensional(name: str, values: ArrayLike, cure: str) -> NDArray[Any]:
    """Return an array with one dimension; a single column counts as one."""
    masked = int(np.ma.getmaskarray(values).sum()) if np.ma.isMaskedArray(values) else 0
    if masked:
        raise InvalidInputError(
            f"`{name}` must hold a value for each row, got {masked} masked ones. "
            "Drop those rows from `y_true` and `y_score`."
        )
    array = np.asarray(values)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise InvalidInputError(
            f"`{name}` must be one-dimensional, got shape {array.shape} "
            f"({type(values).__name__}). {cure}"
        )
    return array
