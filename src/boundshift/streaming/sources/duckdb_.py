"""DuckDB: relations, read by DuckDB in batches, so whatever it reads needs nothing else.

A relation is a query that has not run yet: ``connection.sql("SELECT …")``,
``connection.table("scores")``, ``connection.read_parquet("scores/*.parquet")``. Batches are counted
by Python and not by a GROUP BY, which takes longer for as many groups as there are cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duckdb import (
    CaseExpression,
    ColumnExpression,
    ConstantExpression,
    FunctionExpression,
    SQLExpression,
)

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.source import ColumnNames
from boundshift.streaming.sources.columns import (
    check_columns,
    not_real_numbers,
    only_column,
    plain_labels,
)
from boundshift.streaming.sources.local import ChunkSource
from boundshift.streaming.sources.queried import (
    batches_to_chunks,
)

__all__ = ["from_arrays", "from_columns", "predict"]

_WHOLE = ("tinyint", "smallint", "integer", "bigint", "hugeint")
_NUMBERS = {*_WHOLE, *(f"u{kind}" for kind in _WHOLE), "float", "double", "decimal"}
_ROWS_OF_A_BATCH = 1 << 20


def _chunks(relation: Any, names: ColumnNames) -> Iterator[Chunk]:
    """Return some columns as chunks."""
    chosen = relation.select(*map(ColumnExpression, names.all))
    # Releases before 2 have another name for it.
    read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_record_batch
    return batches_to_chunks(read(_ROWS_OF_A_BATCH), names, lambda _: "the relation")


def from_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> ChunkSource:
    """Refuse relations and expressions, of which two do not say which rows belong together."""
    raise InvalidInputError(
        f"`y_true` and `y_score` must be columns of one relation, got a DuckDB "
        f"{type(y_score).__name__} for each. Use "
        "boundshift.streaming.scan_boundary(relation, label=..., score=...)."
    )


def from_columns(relation: Any, names: ColumnNames) -> ChunkSource:
    """Return the source of some columns of a relation."""
    if not hasattr(relation, "columns"):
        raise InvalidInputError(
            f"`data` must be a relation, got a DuckDB {type(relation).__name__}. "
            'Use connection.sql("SELECT ...") or connection.table("scores").'
        )
    check_columns(relation.columns, names)
    for name, of in names.numbers:
        kind = relation.types[relation.columns.index(name)]
        if kind.id not in _NUMBERS:
            raise not_real_numbers(f"{str(kind).lower()} values in column {name!r}", of)
    plain = names.numbered
    numbers = {own for own, _ in plain.numbers}
    chosen = []
    for name, own in zip(names.all, plain.all, strict=True):
        column = _column(name).cast("DOUBLE") if own in numbers else _column(name)
        chosen.append(column.alias(own))
    rows = relation.select(*chosen)
    if plain.weight is not None:
        rows = rows.filter("weight IS NULL OR weight <> 0")
    return ChunkSource(lambda: _chunks(rows, plain), plain.weight is not None)


def _column(name: str) -> Any:
    """Return a column by its whole name; a ColumnExpression takes a dot or a quote for syntax."""
    return SQLExpression('"' + name.replace('"', '""') + '"')


def predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the labels of an expression of scores, or of a relation with one column."""
    if hasattr(column, "columns"):
        name = only_column(column.columns, "relation")
        return column.select(predict(_column(name), threshold, labels).alias(name))
    cut, score = ConstantExpression(float(threshold)), column.cast("DOUBLE")
    negative, positive = (ConstantExpression(label) for label in plain_labels(labels))
    # To DuckDB NaN is above every number.
    known = CaseExpression(FunctionExpression("isnan", score), ConstantExpression(None))
    return known.when(score > cut, positive).when(score <= cut, negative)
