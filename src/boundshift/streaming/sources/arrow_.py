"""Arrow: arrays and record batches, with nulls, decimals, strings and dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.source import ColumnNames
from boundshift.streaming.sources.columns import (
    as_groups,
    check_columns,
    check_lengths,
    join_columns,
    not_real_numbers,
)
from boundshift.streaming.sources.local import PartSource, from_rows
from boundshift.validation import check_weight_shape

__all__ = ["arrow_chunk", "from_arrays", "from_columns", "table_chunk"]


def from_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> PartSource:
    """Return the source of Arrow arrays."""
    given = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
    for name, value in given.items():
        if value is not None and not isinstance(value, pa.Array | pa.ChunkedArray):
            raise InvalidInputError(
                f"`{name}` must be an Arrow array, got {type(value).__name__}. Pick a column, or "
                "use boundshift.streaming.scan_boundary with column names."
            )
    check_lengths(len(y_true), len(y_score))
    if sample_weight is not None:
        check_weight_shape((len(sample_weight),), len(y_score))

    def read(rows: slice, location: str) -> Chunk:
        weights = None if sample_weight is None else sample_weight[rows]
        return arrow_chunk(y_true[rows], (y_score[rows],), location, weights)

    return from_rows(len(y_score), read, is_weighted=sample_weight is not None)


def from_columns(table: Any, names: ColumnNames) -> PartSource:
    """Return the source of some columns of a table or a record batch."""
    check_columns(table.schema.names, names)

    def read(rows: slice, location: str) -> Chunk:
        part = table.slice(rows.start, rows.stop - rows.start)
        return table_chunk(part, names, location)

    return from_rows(table.num_rows, read, is_weighted=names.weight is not None)


def table_chunk(rows: Any, names: ColumnNames, location: str, labels: Any = None) -> Chunk:
    """Return columns of a table or a record batch as a chunk; labels may come from elsewhere."""
    return arrow_chunk(
        rows.column(names.label) if labels is None else labels,
        [rows.column(name) for name in names.scores],
        location,
        None if names.weight is None else rows.column(names.weight),
        None if names.by is None else rows.column(names.by),
    )


def arrow_chunk(
    labels: Any, scores: Sequence[Any], location: str, weights: Any = None, groups: Any = None
) -> Chunk:
    """Return Arrow arrays as a chunk; arguments as in `as_chunk`."""
    for column in scores:
        check_lengths(len(labels), len(column), location)
    codes, categories = _labels(_whole(labels))
    numbers = [_numbers(_whole(column), location) for column in scores]
    chunk = Chunk(codes, join_columns(numbers), location, categories)
    if weights is not None:
        check_weight_shape((len(weights),), len(codes))
        found = _numbers(_whole(weights), location, "sample_weight")
        chunk = replace(chunk, weights=found)
    if groups is not None:
        chunk = replace(chunk, **as_groups(*_labels(_whole(groups))))
    return chunk


def _whole(array: Any) -> Any:
    """Return an array, or a chunked array, as one array."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def _numbers(scores: Any, location: str, name: str = "y_score") -> np.ndarray[Any, Any]:
    """Return scores, or weights, as an array of numbers, NaN where null."""
    kind = scores.type
    if pa.types.is_dictionary(kind):
        scores, kind = scores.dictionary_decode(), kind.value_type
    if pa.types.is_null(kind):
        return np.full(len(scores), np.nan)
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        raise not_real_numbers(f"{kind} values in {location}", name)
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind) or scores.null_count:
        scores = pc.cast(scores, pa.float64(), safe=False)
    return np.asarray(scores.to_numpy(zero_copy_only=False))


def _labels(labels: Any) -> tuple[np.ndarray[Any, Any], tuple[Any, ...] | None]:
    """Return labels as numbers, or as codes and the categories for which they stand."""
    kind = labels.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if (is_number or pa.types.is_boolean(kind)) and not labels.null_count:
        return np.asarray(labels.to_numpy(zero_copy_only=False)), None
    if not pa.types.is_dictionary(kind):
        labels = labels.dictionary_encode()
    codes = pc.fill_null(labels.indices.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    return np.asarray(codes), tuple(labels.dictionary.to_pylist())
