"""Arrow: arrays and record batches, with nulls, decimals, strings and dictionaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.sources.columns import check_columns, check_lengths, not_real_numbers
from boundshift.streaming.sources.local import PartSource, from_rows

__all__ = ["arrow_chunk", "from_arrays", "from_columns"]


def from_arrays(y_true: Any, y_score: Any) -> PartSource:
    """Return the source of two Arrow arrays."""
    for name, value in (("y_true", y_true), ("y_score", y_score)):
        if not isinstance(value, pa.Array | pa.ChunkedArray):
            raise InvalidInputError(
                f"`{name}` must be an Arrow array, got {type(value).__name__}. Pick a column, or "
                "use boundshift.streaming.scan_boundary with column names."
            )
    check_lengths(len(y_true), len(y_score))
    return from_rows(
        len(y_score),
        lambda rows, location: arrow_chunk(y_true[rows], y_score[rows], location),
    )


def from_columns(table: Any, label: str, score: str) -> PartSource:
    """Return the source of two columns of a table or a record batch."""
    check_columns(table.schema.names, label, score)
    return from_arrays(table.column(label), table.column(score))


def arrow_chunk(labels: Any, scores: Any, location: str) -> Chunk:
    """Return two Arrow arrays as a chunk."""
    check_lengths(len(labels), len(scores), location)
    codes, categories = _labels(_whole(labels))
    return Chunk(codes, _numbers(_whole(scores), location), location, categories)


def _whole(array: Any) -> Any:
    """Return an array, or a chunked array, as one array."""
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def _numbers(scores: Any, location: str) -> np.ndarray[Any, Any]:
    """Return scores as an array of numbers, NaN where null."""
    kind = scores.type
    if pa.types.is_dictionary(kind):
        scores, kind = scores.dictionary_decode(), kind.value_type
    if pa.types.is_null(kind):
        return np.full(len(scores), np.nan)
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        raise not_real_numbers(f"{kind} values in {location}")
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
