"""Labels and scores of any library as chunks of plain arrays, and errors for those that are not.

A chunk is the unit in which data bigger than memory is read.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift._typing import FloatArray
from boundshift._validation import as_column, check_weight_shape
from boundshift.exceptions import InvalidInputError, MissingExtraError


@dataclass(frozen=True)
class ColumnNames:
    """Which columns are read: labels, scores (a tuple for one per class), weights, groups."""

    label: str = "label"
    score: str | tuple[str, ...] = "score"
    weight: str | None = None
    by: str | None = None

    @property
    def scores(self) -> tuple[str, ...]:
        """All columns of scores."""
        return self.score if isinstance(self.score, tuple) else (self.score,)

    @property
    def all(self) -> list[str]:
        """All columns: labels, scores, weights, groups."""
        return [name for _, name in self._asked]

    @property
    def numbers(self) -> dict[str, str]:
        """Columns that must be numbers, and the argument that an error calls them."""
        found = dict.fromkeys(self.scores, "y_score")
        return found if self.weight is None else found | {self.weight: "sample_weight"}

    @property
    def numbered(self) -> ColumnNames:
        """The same columns under names of our own, for an engine that renames them."""
        several = isinstance(self.score, tuple)
        return ColumnNames(
            "label",
            tuple(f"score_{i}" for i in range(len(self.scores))) if several else "score",
            None if self.weight is None else "weight",
            None if self.by is None else "by",
        )

    @property
    def _asked(self) -> list[tuple[str, str]]:
        """Columns with the argument that named them."""
        score = "scores" if isinstance(self.score, tuple) else "score"
        beside = [("weight", self.weight), ("by", self.by)]
        asked = [("label", self.label), *((score, name) for name in self.scores)]
        return asked + [(argument, name) for argument, name in beside if name is not None]

    def check(self, names: Sequence[str], location: str = "") -> None:
        """Raise unless all are names of columns."""
        for argument, column in self._asked:
            if not isinstance(column, str) or column not in names:
                of = f" of {location}" if location else ""
                raise InvalidInputError(
                    f"`{argument}` must name one of the columns {', '.join(map(repr, names))}{of}, "
                    f"got {column!r}."
                )


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some labelled rows.

    With `categories`, `labels` are indices into them, and -1 is a missing label; `groups` and
    `group_names` alike.
    """

    labels: NDArray[Any]
    scores: NDArray[Any]  # one per row, or a column for each class; NaN where missing
    location: str  # as errors call it, for example "partition 3"
    categories: tuple[Any, ...] | None = None
    weights: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    group_names: tuple[Any, ...] | None = None

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, which: slice | NDArray[Any]) -> Chunk:
        """Return some of the rows."""
        columns = ("labels", "scores", "weights", "groups")
        given = {name: getattr(self, name) for name in columns}
        return replace(self, **{name: v[which] for name, v in given.items() if v is not None})

    def counted(self) -> Chunk:
        """Return the rows whose weight is not 0."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))

    def mask_of(self, label: object) -> NDArray[np.bool_]:
        """Return whether each row has a label."""
        return _equal(self.labels, self.categories, label)

    def of_group(self, name: object) -> Chunk:
        """Return the rows of a group."""
        return self.take(np.flatnonzero(_equal(self.groups, self.group_names, name)))

    def label_counts(self) -> Counter[Any]:
        """Return how many rows have each label, None where it is missing."""
        return _count(self.labels, self.categories)

    def group_counts(self) -> Counter[Any]:
        """Return how many rows each group has, None where it is missing."""
        return _count(self.groups, self.group_names)


def _equal(values: Any, names: tuple[Any, ...] | None, wanted: object) -> NDArray[np.bool_]:
    if names is None:
        return np.asarray(values == wanted, dtype=np.bool_)
    codes = [code for code, name in enumerate(names) if name == wanted]
    return np.isin(values, codes) if len(codes) != 1 else np.asarray(values == codes[0])


def _count(values: Any, names: tuple[Any, ...] | None) -> Counter[Any]:
    is_missing = np.asarray(values != values if names is None else values < 0, dtype=np.bool_)
    known: Any = values[~is_missing]
    if names is None:
        known, counts = np.unique(known, return_counts=True)
        known = known.tolist()
    else:
        known, counts = names, np.bincount(known, minlength=len(names))
    found: Counter[Any] = Counter()
    for value, n in zip(known, counts.tolist(), strict=True):
        if n:
            found[value] += n
    if missing := int(np.count_nonzero(is_missing)):
        found[None] = missing
    return found


def as_chunk(
    labels: Any, scores: Sequence[Any], location: str, weights: Any = None, groups: Any = None
) -> Chunk:
    """Return a chunk of arrays, series or Arrow arrays; `scores` has a column, or one per class."""
    columns = [_numbers(column, location) for column in scores]
    y, categories = _values(labels, "y_true")
    for s in columns:
        check_lengths(len(y), len(s), location)
    joined = columns[0] if len(columns) == 1 else np.column_stack([np.empty((len(y), 0)), *columns])
    chunk = Chunk(y, joined, location, categories)
    if weights is not None:
        found = _numbers(weights, location, "sample_weight")
        check_weight_shape(found.shape, len(y))
        chunk = replace(chunk, weights=found)
    if groups is not None:
        values, names = _values(groups, "by")
        chunk = replace(chunk, groups=values, group_names=names)
    return chunk


def table_chunk(rows: Any, names: ColumnNames, location: str) -> Chunk:
    """Return columns of an Arrow table or record batch."""
    return as_chunk(
        as_labels(rows.column(names.label), names.label, location),
        [rows.column(name) for name in names.scores],
        location,
        None if names.weight is None else rows.column(names.weight),
        None if names.by is None else rows.column(names.by),
    )


def arrow() -> Any:
    """Import pyarrow, or name the extra that brings it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("pyarrow", "arrow") from error
    return pa


def as_labels(column: Any, name: str, where: str) -> Any:
    """Return an Arrow column of labels, bytes as the text that they are; refuse other kinds."""
    pa, kind = arrow(), column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        with contextlib.suppress(pa.ArrowInvalid):
            return column.cast(pa.string())
    elif not pa.types.is_nested(kind) and not pa.types.is_fixed_size_binary(kind):
        return column
    raise InvalidInputError(
        f"Column '{name}' of {where} must hold a label in each row, got {kind} values. Choose "
        "the column that says which class a row has."
    )


def _numbers(scores: Any, location: str, name: str = "y_score") -> FloatArray:
    """Return scores, or weights, as an array of numbers, NaN where missing."""
    if type(scores).__module__.startswith("pyarrow."):
        pa, scores = arrow(), _whole(scores)
        kinds = pa.types
        if kinds.is_dictionary(scores.type):
            scores = scores.dictionary_decode()
        kind = scores.type
        if kinds.is_decimal(kind) or kinds.is_float16(kind) or kinds.is_null(kind):
            scores = scores.cast(pa.float64(), safe=False)
        elif not (kinds.is_floating(kind) or kinds.is_integer(kind)):
            raise not_real_numbers(f"{kind} values in {location}", name)
        elif scores.null_count:
            scores = scores.cast(pa.float64(), safe=False)
        return np.asarray(scores.to_numpy(zero_copy_only=False))
    is_plain = isinstance(getattr(scores, "dtype", None), np.dtype) and scores.dtype.kind in "biuf"
    try:
        if hasattr(scores, "to_numpy") and hasattr(scores, "isna") and not is_plain:
            # pandas has several values that mean "missing".
            scores = scores.to_numpy(dtype=np.float64, na_value=np.nan)
        remedy = "Pass the column of the positive class, for example `proba[:, 1]`."
        array = as_column(name, scores, remedy)
        if array.dtype.kind == "O":
            array = np.array([np.nan if v is None else v for v in array], dtype=np.float64)
    except InvalidInputError:
        raise
    except (TypeError, ValueError) as error:
        raise not_real_numbers(f"{error} in {location}", name) from None
    if array.dtype.kind not in "biuf":
        raise not_real_numbers(f"{array.dtype} values in {location}", name)
    return array


def _values(labels: Any, name: str) -> tuple[NDArray[Any], tuple[Any, ...] | None]:
    """Return labels as an array, or as codes and the categories for which they stand."""
    if type(labels).__module__.startswith("pyarrow."):
        pa, labels = arrow(), _whole(labels)
        kinds, kind = pa.types, labels.type
        is_number = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)
        if is_number and not labels.null_count:
            return np.asarray(labels.to_numpy(zero_copy_only=False)), None
        if not kinds.is_dictionary(kind):
            labels = labels.dictionary_encode()
        codes = labels.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return np.asarray(codes), tuple(labels.dictionary.to_pylist())
    is_series = hasattr(labels, "factorize")
    if is_series and (getattr(labels.dtype, "kind", "O") not in "biuf" or labels.hasnans):
        codes, categories = labels.astype(object).factorize()
        return codes, tuple(categories.tolist())
    array = as_column(name, labels, "Pass one value for each row.")
    if array.dtype.kind in "biufSU":
        return array, None
    known: dict[Any, int] = {}
    coded = [-1 if v is None or v != v else known.setdefault(v, len(known)) for v in array.tolist()]
    return np.array(coded, dtype=np.int64), tuple(known)


def _whole(array: Any) -> Any:
    """Return an array, or a chunked array, as one array."""
    pa = arrow()
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def check_lengths(labels: int, scores: int, location: str = "") -> None:
    """Raise unless there is one label for each score."""
    if labels != scores:
        where = f" in {location}" if location else ""
        raise InvalidInputError(
            f"`y_true` and `y_score` must have the same length, got {labels} labels and {scores} "
            f"scores{where}. Pass one score for each row."
        )


def not_real_numbers(what: str, name: str = "y_score") -> InvalidInputError:
    """Return the error for scores, or weights, that are no numbers."""
    remedy = {
        "y_score": "Pass the decision function or the probability of the positive class.",
        "sample_weight": "Pass how often each row counts.",
    }
    return InvalidInputError(f"`{name}` must be real numbers, got {what}. {remedy[name]}")
