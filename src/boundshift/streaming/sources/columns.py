"""Labels and scores of any library as plain arrays, and clear errors for those that are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.source import ColumnNames
from boundshift.validation import as_column, check_weight_shape

__all__ = [
    "as_chunk",
    "as_groups",
    "check_columns",
    "check_lengths",
    "check_one_dimensional",
    "join_columns",
    "not_real_numbers",
    "only_column",
    "plain_labels",
]

_ONE_COLUMN = "Pass the column of the positive class, for example `proba[:, 1]`."


def check_lengths(labels: int, scores: int, location: str = "") -> None:
    """Raise unless there is one label for each score."""
    if labels != scores:
        where = f" in {location}" if location else ""
        raise InvalidInputError(
            f"`y_true` and `y_score` must have the same length, got {labels} labels and {scores} "
            f"scores{where}. Pass one score for each row."
        )


def check_one_dimensional(**shapes: tuple[int, ...]) -> None:
    """Raise unless every array has one dimension."""
    for name, shape in shapes.items():
        if len(shape) != 1:
            raise InvalidInputError(
                f"`{name}` must be one-dimensional, got shape {shape}. {_ONE_COLUMN}"
            )


def check_columns(names: Sequence[str], wanted: ColumnNames, location: str = "") -> None:
    """Raise unless all that are wanted are names of columns."""
    of = f" of {location}" if location else ""
    score = "scores" if isinstance(wanted.score, tuple) else "score"
    asked: list[tuple[str, object]] = [("label", wanted.label)]
    asked += [(score, column) for column in wanted.scores]
    asked += [("weight", wanted.weight)] if wanted.weight is not None else []
    asked += [("by", wanted.by)] if wanted.by is not None else []
    for argument, column in asked:
        if not isinstance(column, str) or column not in names:
            raise InvalidInputError(
                f"`{argument}` must name one of the columns {', '.join(map(repr, names))}{of}, got "
                f"{column!r}."
            )


def only_column(names: Sequence[str], what: str) -> str:
    """Return the name of the one column that a frame of scores has."""
    if len(names) != 1:
        raise InvalidInputError(
            f"`y_score` must be a {what} with one column, that of the scores, got "
            f"{', '.join(map(repr, names))}. Select the scores first."
        )
    return names[0]


def plain_labels(labels: Sequence[Any]) -> list[Any]:
    """Return labels as values of Python's own, which every library takes."""
    return [label.item() if hasattr(label, "item") else label for label in labels]


def as_chunk(
    labels: Any, scores: Sequence[Any], location: str, weights: Any = None, groups: Any = None
) -> Chunk:
    """Return a chunk of arrays, series or Arrow arrays, nullable ones among them.

    Parameters
    ----------
    labels : column
        One label a row.
    scores : sequence of columns
        One column, or one for each class.
    location : str
        What an error calls these rows.
    weights, groups : column, default=None
        How often each row counts, and its group.
    """
    given = [v for v in (labels, *scores, weights, groups) if v is not None]
    if any(type(v).__module__.partition(".")[0] == "pyarrow" for v in given):
        from boundshift.streaming.sources.arrow_ import arrow_chunk

        return arrow_chunk(labels, scores, location, weights, groups)
    columns = [_as_numbers(column, location) for column in scores]
    y, categories = _as_labels(labels)
    for s in columns:
        check_lengths(len(y), len(s), location)
    chunk = Chunk(y, join_columns(columns), location, categories)
    if weights is not None:
        found = _as_numbers(weights, location, "sample_weight")
        check_weight_shape(found.shape, len(y))
        chunk = replace(chunk, weights=found)
    if groups is not None:
        chunk = replace(chunk, **as_groups(*_as_labels(groups, "by")))
    return chunk


def join_columns(columns: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """Return one column as it is, several as a matrix."""
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def as_groups(groups: np.ndarray[Any, Any], names: Sequence[Any] | None) -> dict[str, Any]:
    """Return groups, as values or as codes with their names, as a chunk has them."""
    if names is None:
        is_missing = np.asarray(groups != groups, dtype=np.bool_)
        known, codes = np.unique(groups[~is_missing], return_inverse=True)
        groups = np.full(len(is_missing), -1, dtype=np.int64)
        groups[~is_missing] = codes
        names = known.tolist()
    return {"groups": groups, "group_names": tuple(names)}


def _as_numbers(scores: Any, location: str, name: str = "y_score") -> np.ndarray[Any, Any]:
    """Return scores, or weights, as an array of numbers, NaN where missing."""
    is_plain = isinstance(getattr(scores, "dtype", None), np.dtype) and scores.dtype.kind in "biuf"
    if hasattr(scores, "to_numpy") and hasattr(scores, "isna") and not is_plain:
        # pandas has several values that mean "missing".
        scores = scores.to_numpy(dtype=np.float64, na_value=np.nan)
    array = as_column(name, scores, _ONE_COLUMN)
    if array.dtype.kind == "O":
        try:
            array = np.array([np.nan if v is None else v for v in array], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise not_real_numbers(f"{error} in {location}", name) from None
    if array.dtype.kind not in "biuf":
        raise not_real_numbers(f"{array.dtype} values in {location}", name)
    return array


def not_real_numbers(what: str, name: str = "y_score") -> InvalidInputError:
    """Return the error for scores, or weights, that are no numbers."""
    cure = {
        "y_score": "Pass the decision function or the probability of the positive class.",
        "sample_weight": "Pass how often each row counts.",
    }
    return InvalidInputError(f"`{name}` must be real numbers, got {what}. {cure[name]}")


def _as_labels(
    labels: Any, name: str = "y_true"
) -> tuple[np.ndarray[Any, Any], tuple[Any, ...] | None]:
    """Return labels as an array, or as codes and the categories for which they stand."""
    if hasattr(labels, "factorize") and getattr(labels.dtype, "kind", "O") not in "biuf":
        return _factorized(labels)
    if hasattr(labels, "factorize") and labels.hasnans:
        return _factorized(labels.astype(object))
    array = as_column(name, labels, "Pass one value for each row.")
    if array.dtype.kind in "biufSU":
        return array, None
    codes: dict[Any, int] = {}
    coded = [-1 if v is None or v != v else codes.setdefault(v, len(codes)) for v in array.tolist()]
    return np.array(coded, dtype=np.int64), tuple(codes)


def _factorized(labels: Any) -> tuple[np.ndarray[Any, Any], tuple[Any, ...]]:
    """Return a pandas column as codes, -1 where missing, and categories."""
    codes, categories = labels.factorize()
    return codes, tuple(categories.tolist())
