"""Arrow tables, DuckDB relations and Polars frames: their engine hands over Arrow batches.

Batches are counted by NumPy and not by the engine's own grouping, which takes longer for as many
groups as there are cells. A relation is a query that has not run yet:
``connection.sql("SELECT …")``, ``connection.table("scores")``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunks import (
    Chunk,
    ColumnNames,
    as_chunk,
    check_lengths,
    not_real_numbers,
    only_column,
    plain_labels,
    table_chunk,
)
from boundshift.streaming.read import ChunkSource, PartSource, source_of_rows
from boundshift.validation import check_weight_shape

_ROWS_OF_A_BATCH = 1 << 20
_WHOLE = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_DUCKDB_NUMBERS = {*_WHOLE, *(f"u{kind}" for kind in _WHOLE), "float", "double", "decimal"}


def arrow_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> PartSource:
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

    def rows(which: slice, location: str) -> Chunk:
        weights = None if sample_weight is None else sample_weight[which]
        return as_chunk(y_true[which], (y_score[which],), location, weights)

    return source_of_rows(len(y_score), rows, is_weighted=sample_weight is not None)


def arrow_columns(table: Any, names: ColumnNames) -> PartSource:
    """Return the source of some columns of a table or a record batch."""
    names.check(table.schema.names)

    def rows(which: slice, location: str) -> Chunk:
        return table_chunk(table.slice(which.start, which.stop - which.start), names, location)

    return source_of_rows(table.num_rows, rows, is_weighted=names.weight is not None)


def _batches_to_chunks(batches: Any, names: ColumnNames, location: str) -> Iterator[Chunk]:
    """Yield batches as chunks, small ones together: each costs as much as some thousand rows."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _ROWS_OF_A_BATCH:
            yield table_chunk(pa.Table.from_batches(waiting), names, location)
            waiting = []
    if waiting:
        yield table_chunk(pa.Table.from_batches(waiting), names, location)


# --- DuckDB ---------------------------------------------------------------------------------------


def duckdb_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> ChunkSource:
    """Refuse relations and expressions: two do not say which rows belong together."""
    raise InvalidInputError(
        f"`y_true` and `y_score` must be columns of one relation, got a DuckDB "
        f"{type(y_score).__name__} for each. Use "
        "boundshift.streaming.scan_boundary(relation, label=..., score=...)."
    )


def duckdb_columns(relation: Any, names: ColumnNames) -> ChunkSource:
    """Return the source of some columns of a relation."""
    if not hasattr(relation, "columns"):
        raise InvalidInputError(
            f"`data` must be a relation, got a DuckDB {type(relation).__name__}. "
            'Use connection.sql("SELECT ...") or connection.table("scores").'
        )
    names.check(relation.columns)
    for name, of in names.numbers.items():
        kind = relation.types[relation.columns.index(name)]
        if kind.id not in _DUCKDB_NUMBERS:
            raise not_real_numbers(f"{str(kind).lower()} values in column {name!r}", of)
    own = names.numbered
    chosen = [
        (_duckdb_column(name).cast("DOUBLE") if to in own.numbers else _duckdb_column(name)).alias(
            to
        )
        for name, to in zip(names.all, own.all, strict=True)
    ]

    def chunks() -> Iterator[Chunk]:
        rows = relation.select(*chosen)
        # Releases before 2 have another name for it.
        reader = getattr(rows, "to_arrow_reader", None) or rows.fetch_record_batch
        return _batches_to_chunks(reader(_ROWS_OF_A_BATCH), own, "the relation")

    return ChunkSource(chunks, own.weight is not None)


def _duckdb_column(name: str) -> Any:
    """Return a column by its whole name; a ColumnExpression takes a dot or a quote for syntax."""
    from duckdb import SQLExpression

    return SQLExpression('"' + name.replace('"', '""') + '"')


def duckdb_predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the labels of an expression of scores, or of a relation with one column."""
    from duckdb import CaseExpression, ConstantExpression, FunctionExpression

    if hasattr(column, "columns"):
        name = only_column(column.columns, "relation")
        return column.select(duckdb_predict(_duckdb_column(name), threshold, labels).alias(name))
    cut, score = ConstantExpression(float(threshold)), column.cast("DOUBLE")
    negative, positive = (ConstantExpression(label) for label in plain_labels(labels))
    # To DuckDB NaN is above every number.
    known = CaseExpression(FunctionExpression("isnan", score), ConstantExpression(None))
    return known.when(score > cut, positive).when(score <= cut, negative)


# --- Polars ---------------------------------------------------------------------------------------


def polars_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> ChunkSource:
    """Refuse expressions and lazy frames: two need not belong together."""
    raise InvalidInputError(
        f"`y_true` and `y_score` must be columns of one frame, got a Polars "
        f"{type(y_score).__name__}. Use "
        "boundshift.streaming.scan_boundary(lazy_frame, label=..., score=...)."
    )


def polars_columns(frame: Any, names: ColumnNames) -> ChunkSource | PartSource:
    """Return the source of some columns of a frame, lazy or in memory."""
    import polars as pl

    if not isinstance(frame, pl.LazyFrame | pl.DataFrame):
        raise InvalidInputError(
            f"`data` must be a frame, got a Polars {type(frame).__name__}. "
            "Pass labels and scores to boundshift.find_boundary."
        )
    schema = frame.lazy().collect_schema()
    names.check(schema.names())
    for name, of in names.numbers.items():
        kind = schema[name]
        if not kind.is_numeric() and kind != pl.Null:
            raise not_real_numbers(f"{str(kind).lower()} values in column {name!r}", of)
    own = names.numbered
    # Two may be one column, which a frame cannot hold twice under one name.
    chosen = frame.select(
        pl.col(name).cast(pl.Float64).alias(to) if to in own.numbers else pl.col(name).alias(to)
        for name, to in zip(names.all, own.all, strict=True)
    )

    def chunk(rows: pl.DataFrame, location: str) -> Chunk:
        return table_chunk(rows.to_arrow(compat_level=pl.CompatLevel.oldest()), own, location)

    is_weighted = own.weight is not None
    if isinstance(chosen, pl.DataFrame):
        return source_of_rows(
            len(chosen), lambda rows, where: chunk(chosen[rows], where), is_weighted
        )

    def chunks() -> Iterator[Chunk]:
        # In their order, so that every pass sees the same batches.
        batches = chosen.collect_batches(chunk_size=_ROWS_OF_A_BATCH, maintain_order=True)
        for i, batch in enumerate(batches):
            yield chunk(batch, f"batch {i}")

    return ChunkSource(chunks, is_weighted)


def polars_predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the labels of an expression of scores, or of a lazy frame with one column."""
    import polars as pl

    if isinstance(column, pl.LazyFrame):
        name = only_column(column.collect_schema().names(), "lazy frame")
        return column.select(polars_predict(pl.col(name), threshold, labels))
    negative, positive = (pl.lit(label) for label in plain_labels(labels))
    score = column.cast(pl.Float64)
    # To Polars NaN is above every number.
    is_known = score.is_not_nan()
    found = pl.when(is_known & (score > threshold)).then(positive)
    found = found.when(is_known & (score <= threshold)).then(negative)
    name = column.meta.output_name(raise_if_undetermined=False)
    return found if name is None else found.alias(name)
