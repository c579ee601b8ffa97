"""Frames: Arrow tables and datasets, DuckDB relations, Polars, Dask and Spark frames.

DuckDB and Polars hand over batches of columns, which NumPy counts in less time than their own
grouping by as many bins takes. Dask counts partitions on its workers and merges there. Spark groups
by itself, in SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from boundshift._tables import arrow, check_names
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._count import PassRequest
from boundshift.streaming._read import (
    ROWS_AT_ONCE,
    Column,
    OnProgress,
    PartSource,
    Roles,
    Source,
    as_chunk,
    not_real_numbers,
    read_once,
    table_chunk,
)
from boundshift.streaming._sql import count_query, counts_of, quote_name
from boundshift.streaming._tally import Counts

if TYPE_CHECKING:
    import dask.dataframe as dd
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyarrow import dataset
    from pyspark.sql import DataFrame

# Dask's counts that one task merges.
_MERGED_AT_ONCE = 16


def _check_columns(names: Iterable[str] | None, data: object, roles: Roles) -> Roles:
    """Raise unless data has its columns; return the roles once columns are renamed after them."""
    if names is None:
        raise InvalidInputError(
            f"must be a frame or relation, got {type(data).__name__}. Pass labels and "
            "scores in memory to boundshift.find_boundary.",
            argument="data",
        )
    check_names("`data`", list(map(str, names)), roles.values())
    return {role: role for role in roles}


def arrow_columns(table: pa.Table | pa.RecordBatch | dataset.Dataset, roles: Roles) -> PartSource:
    """Return the source of some columns of a table, a record batch or a dataset."""
    if hasattr(table, "read_next_batch"):
        raise read_once(table, "Pass a table, or the dataset or files behind it.")
    _check_columns(table.schema.names if hasattr(table, "schema") else None, table, roles)
    from pyarrow import dataset

    rows = table if hasattr(table, "get_fragments") else dataset.dataset(table)
    names = list(dict.fromkeys(roles.values()))
    return _batches(lambda: rows.to_batches(columns=names), roles)


def pandas_columns(frame: pd.DataFrame, roles: Roles) -> PartSource:
    """Return the source of some columns of a frame in memory."""
    _check_columns(getattr(frame, "columns", None), frame, roles)
    columns = {role: frame[name] for role, name in roles.items()}
    return PartSource(lambda: [as_chunk(columns, "the frame")])


def duckdb_columns(relation: duckdb.DuckDBPyRelation, roles: Roles) -> PartSource:
    """Return the source of some columns of a relation."""
    from duckdb import SQLExpression

    arrow()
    own = _check_columns(getattr(relation, "columns", None), relation, roles)
    # A ColumnExpression would take a dot or a quote in a name for syntax.
    chosen = [SQLExpression(quote_name(name, "duckdb")).alias(role) for role, name in roles.items()]

    def batches() -> pa.RecordBatchReader:
        rows = relation.select(*chosen)
        # Releases before 2 have another name for it.
        reader = getattr(rows, "to_arrow_reader", None) or rows.fetch_record_batch
        return reader(ROWS_AT_ONCE)

    return _batches(batches, own)


def polars_columns(frame: pl.LazyFrame | pl.DataFrame, roles: Roles) -> PartSource:
    """Return the source of some columns of a frame, lazy or in memory."""
    import polars as pl

    is_frame = isinstance(frame, pl.LazyFrame | pl.DataFrame)
    own = _check_columns(frame.lazy().collect_schema() if is_frame else None, frame, roles)
    rows = frame.lazy().select([pl.col(name).alias(to) for to, name in roles.items()])

    def batches() -> Iterator[pa.Table]:
        # In their order, so that every pass sees the same batches.
        for batch in rows.collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True):
            yield batch.to_arrow(compat_level=pl.CompatLevel.oldest())

    return _batches(batches, own)


def _batches(
    batches: Callable[[], Iterable[pa.RecordBatch | pa.Table]], roles: Roles
) -> PartSource:
    return PartSource(
        lambda: (table_chunk(rows, roles, f"batch {i}") for i, rows in enumerate(batches()))
    )


# --- Dask -----------------------------------------------------------------------------------------


def _count_partition(
    request: PassRequest, part: Mapping[str, Column], roles: Roles, i: int
) -> Counts:
    columns = {role: part[name] for role, name in roles.items()}
    return request.count([as_chunk(columns, f"partition {i}")])


def _merged(parts: Iterable[Counts]) -> Counts:
    """Merge counts into new ones; a task must not change what it was given."""
    total = Counts()
    for part in parts:
        total.merge(part)
    return total.compact()


def dask_columns(frame: dd.DataFrame, roles: Roles) -> Source:
    """Return the source of some columns of a frame, on whatever scheduler is the current one.

    Each worker counts its partitions, counts are merged in a tree, and those of all rows come back.
    """
    _check_columns(getattr(frame, "columns", None), frame, roles)
    parts = frame[list(dict.fromkeys(roles.values()))].to_delayed()

    def scan(request: PassRequest, on_progress: OnProgress) -> Counts:
        import dask

        read = dask.delayed(_count_partition, pure=False)
        merge = dask.delayed(_merged, pure=False)
        # One node of the graph, so that a worker gets it once and not with every partition.
        shared = dask.delayed(request, pure=False)
        counts = [read(shared, part, roles, i) for i, part in enumerate(parts)]
        while len(counts) > 1:
            starts = range(0, len(counts), _MERGED_AT_ONCE)
            counts = [merge(counts[start : start + _MERGED_AT_ONCE]) for start in starts]
        (total,) = dask.compute(*counts) or (request.count(()),)
        on_progress(len(parts), len(parts))
        return total

    return scan


# --- Spark ----------------------------------------------------------------------------------------


def spark_columns(frame: DataFrame, roles: Roles, element: int = -1) -> Source:
    """Return the source of some columns of a frame, which Spark's SQL counts.

    Of a column of vectors, one element is the score.
    """
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import ArrayType, NumericType

    own = _check_columns(getattr(frame, "columns", None), frame, roles)
    columns = []
    for role, name in roles.items():
        kind = frame.schema[name].dataType
        column = F.col("`" + name.replace("`", "``") + "`")
        if role in ("score", "weight"):
            inner = kind.elementType if isinstance(kind, ArrayType) else None
            is_vector = kind.typeName() == "vectorudt"
            if role == "score" and (is_vector or isinstance(inner, NumericType)):
                if is_vector:
                    from pyspark.ml.functions import vector_to_array

                    column = vector_to_array(column)
                # Spark counts elements from 1, and from the end as Python does.
                column = F.element_at(column, element + 1 if element >= 0 else element)
            elif not isinstance(kind, NumericType):
                called = {"score": "y_score", "weight": "sample_weight"}[role]
                raise not_real_numbers(called, f"{kind.simpleString()} values in column {name!r}")
            column = column.cast("double")
        columns.append(column.alias(role))
    rows = frame.select(*columns)

    def scan(request: PassRequest, on_progress: OnProgress) -> Counts:
        query = count_query(request, own, "{rows}", "spark")
        table = frame.sparkSession.sql(query, rows=rows).toArrow()
        on_progress(1, 1)
        return counts_of(table, request, "the frame")

    return scan
