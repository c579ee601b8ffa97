"""Frames: Arrow tables and datasets, DuckDB relations, Polars, Dask and Spark frames.

DuckDB and Polars hand over batches of columns, which NumPy counts in less time than their own
grouping by as many bins takes. Dask counts partitions on its workers and merges there. Spark groups
by itself, in SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from boundshift.exceptions import InvalidInputError
from boundshift.streaming._count import PassRequest
from boundshift.streaming._read import (
    ROWS_AT_ONCE,
    Chunk,
    Column,
    OnProgress,
    PartSource,
    Roles,
    arrow,
    as_chunk,
    check_names,
    not_real_numbers,
    read_once,
    table_chunk,
)
from boundshift.streaming._sql import count_query, counts_of
from boundshift.streaming._tally import Counts

if TYPE_CHECKING:
    import dask.dataframe as dd
    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from dask.delayed import Delayed
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

    def chunks() -> Iterator[Chunk]:
        for i, batch in enumerate(rows.to_batches(columns=list(dict.fromkeys(roles.values())))):
            yield table_chunk(batch, roles, f"batch {i}")

    return PartSource(chunks)


def pandas_columns(frame: pd.DataFrame, roles: Roles) -> PartSource:
    """Return the source of some columns of a frame in memory."""
    _check_columns(getattr(frame, "columns", None), frame, roles)

    def chunks() -> Iterator[Chunk]:
        yield as_chunk({role: frame[name] for role, name in roles.items()}, "the frame")

    return PartSource(chunks)


# --- DuckDB and Polars ----------------------------------------------------------------------------


def duckdb_columns(relation: duckdb.DuckDBPyRelation, roles: Roles) -> PartSource:
    """Return the source of some columns of a relation."""
    from duckdb import SQLExpression

    arrow()
    own = _check_columns(getattr(relation, "columns", None), relation, roles)
    # A ColumnExpression would take a dot or a quote in a name for syntax.
    quoted = {to: '"' + name.replace('"', '""') + '"' for to, name in roles.items()}
    chosen = [SQLExpression(column).alias(to) for to, column in quoted.items()]

    def chunks() -> Iterator[Chunk]:
        rows = relation.select(*chosen)
        # Releases before 2 have another name for it.
        reader = getattr(rows, "to_arrow_reader", None) or rows.fetch_record_batch
        for batch in reader(ROWS_AT_ONCE):
            yield table_chunk(batch, own, "the relation")

    return PartSource(chunks)


def polars_columns(frame: pl.LazyFrame | pl.DataFrame, roles: Roles) -> PartSource:
    """Return the source of some columns of a frame, lazy or in memory."""
    import polars as pl

    is_frame = isinstance(frame, pl.LazyFrame | pl.DataFrame)
    own = _check_columns(frame.lazy().collect_schema() if is_frame else None, frame, roles)
    rows = frame.lazy().select([pl.col(name).alias(to) for to, name in roles.items()])

    def chunks() -> Iterator[Chunk]:
        # In their order, so that every pass sees the same batches.
        batches = rows.collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True)
        for i, batch in enumerate(batches):
            table = batch.to_arrow(compat_level=pl.CompatLevel.oldest())
            yield table_chunk(table, own, f"batch {i}")

    return PartSource(chunks)


# --- Dask -----------------------------------------------------------------------------------------


class DaskSource:
    """Partitions of labels, scores and weights, on whatever scheduler is the current one.

    Each worker counts its partitions, counts are merged in a tree, and those of all rows come back.
    """

    def __init__(self, parts: Sequence[Delayed], roles: Roles) -> None:
        self._parts = parts
        self._roles = roles

    def scan(self, request: PassRequest, on_progress: OnProgress) -> Counts:
        """Read every row once, and return what was asked for."""
        import dask

        read = dask.delayed(_count_partition, pure=False)
        merge = dask.delayed(_merged, pure=False)
        # One node of the graph, so that a worker gets it once and not with every partition.
        shared = dask.delayed(request, pure=False)
        counts = [read(shared, part, self._roles, i) for i, part in enumerate(self._parts)]
        while len(counts) > 1:
            starts = range(0, len(counts), _MERGED_AT_ONCE)
            counts = [merge(counts[start : start + _MERGED_AT_ONCE]) for start in starts]
        (total,) = dask.compute(*counts) or (request.count(()),)
        on_progress(len(self._parts), len(self._parts))
        return total


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


def dask_columns(frame: dd.DataFrame, roles: Roles) -> DaskSource:
    """Return the source of some columns of a frame."""
    _check_columns(getattr(frame, "columns", None), frame, roles)
    return DaskSource(frame[list(dict.fromkeys(roles.values()))].to_delayed(), roles)


# --- Spark ----------------------------------------------------------------------------------------


class SparkSource:
    """Rows of a frame whose columns have the names of their roles; scores are doubles."""

    def __init__(self, frame: DataFrame, roles: Roles) -> None:
        self._frame = frame
        self._roles = roles

    def scan(self, request: PassRequest, on_progress: OnProgress) -> Counts:
        """Read every row once, and return what was asked for; Spark's SQL does all of it."""
        columns = {role: role for role in self._roles}
        query = count_query(request, columns, "{rows}", "spark")
        table = self._frame.sparkSession.sql(query, rows=self._frame).toArrow()
        on_progress(1, 1)
        return counts_of(table, request, "the frame")


def spark_columns(frame: DataFrame, roles: Roles, element: int = -1) -> SparkSource:
    """Return the source of some columns of a frame; of a column of vectors, take one element."""
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
    return SparkSource(frame.select(*columns), own)
