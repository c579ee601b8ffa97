"""Polars: lazy frames, whose query Polars streams in batches, and frames in memory.

Batches are counted by Python and not by Polars's own grouping, which takes longer for as many
groups as there are cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.source import ColumnNames
from boundshift.streaming.sources.columns import (
    as_groups,
    check_columns,
    join_columns,
    not_real_numbers,
    only_column,
    plain_labels,
)
from boundshift.streaming.sources.local import ChunkSource, PartSource, from_rows

__all__ = ["from_arrays", "from_columns", "predict"]

_ROWS_OF_A_BATCH = 1 << 20


def from_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> ChunkSource:
    """Refuse expressions and lazy frames, of which two need not belong together."""
    raise InvalidInputError(
        f"`y_true` and `y_score` must be columns of one frame, got a Polars "
        f"{type(y_score).__name__}. Use "
        "boundshift.streaming.scan_boundary(lazy_frame, label=..., score=...)."
    )


def from_columns(frame: Any, names: ColumnNames) -> ChunkSource | PartSource:
    """Return the source of some columns of a frame, lazy or in memory."""
    if not isinstance(frame, pl.LazyFrame | pl.DataFrame):
        raise InvalidInputError(
            f"`data` must be a frame, got a Polars {type(frame).__name__}. "
            "Pass labels and scores to boundshift.find_boundary."
        )
    schema = frame.lazy().collect_schema()
    check_columns(schema.names(), names)
    for name, of in names.numbers:
        kind = schema[name]
        if not kind.is_numeric() and kind != pl.Null:
            raise not_real_numbers(f"{str(kind).lower()} values in column {name!r}", of)
    plain = names.numbered
    # Two may be one column, which a frame cannot hold twice under one name.
    chosen = frame.select(
        pl.col(name).alias(own) for name, own in zip(names.all, plain.all, strict=True)
    )
    is_weighted = names.weight is not None
    if isinstance(chosen, pl.DataFrame):
        return from_rows(
            len(chosen), lambda rows, where: _chunk(chosen[rows], plain, where), is_weighted
        )

    def chunks() -> Iterator[Chunk]:
        # In their order, so that every pass sees the same batches.
        batches = chosen.collect_batches(chunk_size=_ROWS_OF_A_BATCH, maintain_order=True)
        for i, batch in enumerate(batches):
            yield _chunk(batch, plain, f"batch {i}")

    return ChunkSource(chunks, is_weighted)


def _chunk(rows: pl.DataFrame, names: ColumnNames, location: str) -> Chunk:
    """Return some rows as a chunk."""
    labels, categories = _labels(rows[names.label])
    scores = join_columns([_numbers(rows[name]) for name in names.scores])
    chunk = Chunk(labels, scores, location, categories)
    if names.weight is not None:
        chunk = replace(chunk, weights=_numbers(rows[names.weight]))
    if names.by is not None:
        chunk = replace(chunk, **as_groups(*_labels(rows[names.by])))
    return chunk


def _numbers(column: pl.Series) -> np.ndarray[Any, Any]:
    """Return numbers as an array, NaN where missing."""
    return np.asarray(column.cast(pl.Float64).to_numpy())


def _labels(labels: pl.Series) -> tuple[np.ndarray[Any, Any], tuple[Any, ...] | None]:
    """Return labels as numbers, or as codes and the categories for which they stand."""
    if (labels.dtype.is_numeric() or labels.dtype == pl.Boolean) and not labels.null_count():
        return labels.to_numpy(), None
    known = labels.drop_nulls().unique(maintain_order=True)
    codes = labels.replace_strict(known, np.arange(len(known)), default=-1, return_dtype=pl.Int64)
    return codes.fill_null(-1).to_numpy(), tuple(known.to_list())


def predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the labels of an expression of scores, or of a lazy frame with one column."""
    if isinstance(column, pl.LazyFrame):
        name = only_column(column.collect_schema().names(), "lazy frame")
        return column.select(predict(pl.col(name), threshold, labels))
    negative, positive = (pl.lit(label) for label in plain_labels(labels))
    score = column.cast(pl.Float64)
    # To Polars NaN is above every number.
    is_known = score.is_not_nan()
    found = pl.when(is_known & (score > threshold)).then(positive)
    found = found.when(is_known & (score <= threshold)).then(negative)
    name = column.meta.output_name(raise_if_undetermined=False)
    return found if name is None else found.alias(name)
