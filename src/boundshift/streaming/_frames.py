"""Frames: Arrow tables and datasets, DuckDB relations, Polars, Dask and Spark frames.

Every engine hands over batches of columns that NumPy counts, which takes less time than DuckDB's or
Polars' own grouping by as many cells. Dask and Spark count on their workers and merge there.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from boundshift.exceptions import InvalidInputError
from boundshift.streaming._read import (
    PEEKED_ROWS,
    Chunk,
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

_ROWS_OF_A_BATCH = 1 << 20
# Dask's tallies that one task merges, and Spark's tasks that merge tallies.
_MERGED_AT_ONCE = 16
_MERGERS = 8


def _check_columns(names: Any, data: object, roles: Roles) -> Roles:
    """Raise unless data has its columns; return the roles once columns are renamed after them."""
    if names is None:
        raise InvalidInputError(
            f"`data` must be a frame or relation, got {type(data).__name__}. Pass labels and "
            "scores in memory to boundshift.find_boundary."
        )
    check_names("`data`", list(map(str, names)), roles.values())
    return {role: role for role in roles}


def arrow_columns(table: Any, roles: Roles) -> PartSource:
    """Return the source of some columns of a table, a record batch or a dataset."""
    if hasattr(table, "read_next_batch"):
        raise read_once(table, "Pass a table, or the dataset or files behind it.")
    _check_columns(table.schema.names if hasattr(table, "schema") else None, table, roles)
    from pyarrow import dataset

    rows = table if hasattr(table, "get_fragments") else dataset.dataset(table)

    def chunks() -> Iterator[Chunk]:
        for i, batch in enumerate(rows.to_batches(columns=list(dict.fromkeys(roles.values())))):
            yield table_chunk(batch, roles, f"batch {i}")

    return PartSource(chunks, "weight" in roles)


# --- DuckDB and Polars ----------------------------------------------------------------------------


def duckdb_columns(relation: Any, roles: Roles) -> PartSource:
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
        for batch in reader(_ROWS_OF_A_BATCH):
            yield table_chunk(batch, own, "the relation")

    return PartSource(chunks, "weight" in roles)


def polars_columns(frame: Any, roles: Roles) -> PartSource:
    """Return the source of some columns of a frame, lazy or in memory."""
    import polars as pl

    is_frame = isinstance(frame, pl.LazyFrame | pl.DataFrame)
    own = _check_columns(frame.lazy().collect_schema() if is_frame else None, frame, roles)
    rows = frame.lazy().select([pl.col(name).alias(to) for to, name in roles.items()])

    def chunks() -> Iterator[Chunk]:
        # In their order, so that every pass sees the same batches.
        batches = rows.collect_batches(chunk_size=_ROWS_OF_A_BATCH, maintain_order=True)
        for i, batch in enumerate(batches):
            table = batch.to_arrow(compat_level=pl.CompatLevel.oldest())
            yield table_chunk(table, own, f"batch {i}")

    return PartSource(chunks, "weight" in roles)


# --- Dask -----------------------------------------------------------------------------------------


class DaskSource:
    """Partitions of labels, scores and weights, on whatever scheduler is the current one.

    Each worker turns its partitions into tallies, these are merged in a tree, and one comes back.
    """

    def __init__(self, parts: Sequence[Any], roles: Roles) -> None:
        self._parts, self._roles, self.is_weighted = parts, roles, "weight" in roles

    def peek(self) -> list[Chunk]:
        """Return rows of the first and the last partition, spread over it."""
        import dask

        def some_rows(part: Any, i: int) -> Chunk:
            chunk = _partition_chunk(part, self._roles, i)
            return chunk.take(slice(None, None, max(4 * len(chunk) // PEEKED_ROWS, 1)))

        ends = sorted({0, len(self._parts) - 1}) if self._parts else []
        return list(dask.compute(*[dask.delayed(some_rows)(self._parts[i], i) for i in ends]))

    def scan(self, request: Any, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        import dask

        read, merge = (dask.delayed(task, pure=False) for task in (_read_partition, _merged))
        # One node of the graph, so that a worker gets it once and not with every partition.
        shared = dask.delayed(request, pure=False)
        tallies = [read(shared, part, self._roles, i) for i, part in enumerate(self._parts)]
        while len(tallies) > 1:
            starts = range(0, len(tallies), _MERGED_AT_ONCE)
            tallies = [merge(tallies[i : i + _MERGED_AT_ONCE]) for i in starts]
        found = dask.compute(*tallies)
        on_progress(len(self._parts), len(self._parts))
        return found[0] if found else request.tally(())


def _partition_chunk(part: Any, roles: Roles, i: int) -> Chunk:
    return as_chunk(*(part[name] for name in roles.values()), location=f"partition {i}")


def _read_partition(request: Any, part: Any, roles: Roles, i: int) -> Any:
    return request.tally([_partition_chunk(part, roles, i)])


def _merged(tallies: Iterable[Any]) -> Any:
    """Merge tallies into a new one; a task must not change what it was given."""
    first, *rest = tallies
    total = type(first)()
    for tally in (first, *rest):
        total.merge(tally)
    return total


def dask_columns(frame: Any, roles: Roles) -> DaskSource:
    """Return the source of some columns of a frame."""
    _check_columns(getattr(frame, "columns", None), frame, roles)
    return DaskSource(frame[list(dict.fromkeys(roles.values()))].to_delayed(), roles)


# --- Spark ----------------------------------------------------------------------------------------


class SparkSource:
    """Rows of a frame whose columns have the names of their roles; scores are doubles."""

    def __init__(self, frame: Any, roles: Roles) -> None:
        self._frame, self._roles, self.is_weighted = frame, roles, "weight" in roles

    def peek(self) -> list[Chunk]:
        """Return the first few rows."""
        rows = self._frame.limit(PEEKED_ROWS).toArrow()
        return [table_chunk(rows, self._roles, "the first rows")]

    def scan(self, request: Any, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        from pyspark.sql import functions as F  # noqa: N812

        rows = self._frame.withColumn("partition", F.spark_partition_id())
        found = rows.mapInArrow(partial(_tally_on_worker, self._roles, request), "tally binary")
        found = found.repartition(_MERGERS).mapInArrow(_merge_on_worker, "tally binary")
        total = _merged([request.tally(()), *_unpacked(found.toArrow().to_batches())])
        on_progress(1, 1)
        return total


def _tally_on_worker(roles: Roles, request: Any, batches: Iterable[Any]) -> Iterator[Any]:
    """Yield the tally of a partition."""
    filled = (batch for batch in batches if len(batch))
    yield _packed(
        request.tally(
            table_chunk(batch, roles, f"partition {batch.column('partition')[0]}")
            for batch in filled
        )
    )


def _merge_on_worker(batches: Iterator[Any]) -> Iterator[Any]:
    for first in (tallies := _unpacked(batches)):
        yield _packed(_merged([first, *tallies]))


def _packed(tally: Any) -> Any:
    message = arrow().array([zlib.compress(pickle.dumps(tally), level=1)])
    return arrow().record_batch([message], names=["tally"])


def _unpacked(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield tallies; their pickles come from our own workers, by the session's own channel."""
    for batch in batches:
        for message in batch.column("tally"):
            yield pickle.loads(zlib.decompress(message.as_py()))


def spark_columns(frame: Any, roles: Roles, element: int = -1) -> SparkSource:
    """Return the source of some columns of a frame; of a column of vectors, take one element."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import ArrayType, NumericType

    own = _check_columns(getattr(frame, "columns", None), frame, roles)
    columns = []
    for role, name in roles.items():
        kind, column = frame.schema[name].dataType, F.col("`" + name.replace("`", "``") + "`")
        if role != "label":
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
