"""Frames: Arrow tables and datasets, DuckDB relations, Polars, Dask and Spark frames.

Every engine hands over batches of columns that NumPy counts, which takes less time than DuckDB's or
Polars' own grouping by as many cells. Dask and Spark count on their workers and merge there.
"""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from boundshift.exceptions import InvalidInputError
from boundshift.streaming._read import (
    PEEKED_ROWS,
    Chunk,
    ColumnNames,
    OnProgress,
    PartSource,
    Request,
    arrow,
    as_chunk,
    not_real_numbers,
    read_once,
    table_chunk,
)

_ROWS_OF_A_BATCH = 1 << 20
# Dask's tallies that one task merges, and Spark's tasks that merge tallies.
_MERGED_AT_ONCE = 16
_MERGERS = 8


def _no_frame(data: object, library: str) -> InvalidInputError:
    return InvalidInputError(
        f"`data` must be a frame or relation, got a {library} {type(data).__name__}. Pass labels "
        "and scores in memory to boundshift.find_boundary."
    )


def arrow_columns(table: Any, names: ColumnNames) -> PartSource:
    """Return the source of some columns of a table, a record batch or a dataset."""
    if not hasattr(table, "schema"):
        raise _no_frame(table, "Arrow")
    if hasattr(table, "read_next_batch"):
        raise read_once(table, "Pass a table, or the dataset or files behind it.")
    names.check(table.schema.names)

    def chunks() -> Iterator[Chunk]:
        columns = list(dict.fromkeys(names.given.values()))
        for i, batch in enumerate(table.to_batches(columns=columns)):
            yield table_chunk(batch, names, f"batch {i}")

    if hasattr(table, "get_fragments"):
        return PartSource(chunks, names.weight is not None)

    def part(start: int) -> list[Chunk]:
        rows = table.slice(start, _ROWS_OF_A_BATCH)
        return [table_chunk(rows, names, f"rows {start} to {start + len(rows) - 1}")]

    starts = range(0, table.num_rows, _ROWS_OF_A_BATCH)
    return PartSource([partial(part, start) for start in starts], names.weight is not None)


# --- DuckDB and Polars ----------------------------------------------------------------------------


def duckdb_columns(relation: Any, names: ColumnNames) -> PartSource:
    """Return the source of some columns of a relation."""
    from duckdb import SQLExpression

    pa = arrow()
    if not hasattr(relation, "columns"):
        raise _no_frame(relation, "DuckDB")
    names.check(relation.columns)
    # A ColumnExpression would take a dot or a quote in a name for syntax.
    quoted = {to: '"' + name.replace('"', '""') + '"' for to, name in names.given.items()}
    chosen = [SQLExpression(column).alias(to) for to, column in quoted.items()]

    def chunks() -> Iterator[Chunk]:
        rows = relation.select(*chosen)
        # Releases before 2 have another name for it.
        reader = getattr(rows, "to_arrow_reader", None) or rows.fetch_record_batch
        waiting: list[Any] = []
        # A row group that a filter thinned out is a small batch, and each costs as much as some
        # thousand rows.
        for batch in reader(_ROWS_OF_A_BATCH):
            waiting.append(batch)
            if sum(map(len, waiting)) >= _ROWS_OF_A_BATCH:
                yield table_chunk(pa.Table.from_batches(waiting), names.own, "the relation")
                waiting = []
        if waiting:
            yield table_chunk(pa.Table.from_batches(waiting), names.own, "the relation")

    return PartSource(chunks, names.weight is not None)


def polars_columns(frame: Any, names: ColumnNames) -> PartSource:
    """Return the source of some columns of a frame, lazy or in memory."""
    import polars as pl

    arrow()
    if not isinstance(frame, pl.LazyFrame | pl.DataFrame):
        raise _no_frame(frame, "Polars")
    names.check(frame.lazy().collect_schema().names())
    rows = frame.lazy().select([pl.col(name).alias(to) for to, name in names.given.items()])

    def chunks() -> Iterator[Chunk]:
        # In their order, so that every pass sees the same batches.
        batches = rows.collect_batches(chunk_size=_ROWS_OF_A_BATCH, maintain_order=True)
        for i, batch in enumerate(batches):
            table = batch.to_arrow(compat_level=pl.CompatLevel.oldest())
            yield table_chunk(table, names.own, f"batch {i}")

    return PartSource(chunks, names.weight is not None)


# --- Dask -----------------------------------------------------------------------------------------


class DaskSource:
    """Partitions of labels, scores and weights, on whatever scheduler is the current one.

    Each worker turns its partitions into tallies, these are merged in a tree, and one comes back.
    """

    def __init__(self, parts: Sequence[Any], is_weighted: bool = False) -> None:
        self._parts, self.is_weighted = parts, is_weighted

    def peek(self) -> list[Chunk]:
        """Return rows of the first and the last partition, spread over it."""
        import dask

        some_rows = dask.delayed(_some_rows, pure=False)
        ends = sorted({0, len(self._parts) - 1}) if self._parts else []
        return list(dask.compute(*[some_rows(self._parts[i], i) for i in ends]))

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        import dask

        read, merge = (dask.delayed(task, pure=False) for task in (_read_partition, _merged))
        # One node of the graph, so that a worker gets it once and not with every partition.
        shared = dask.delayed(request, pure=False)
        tallies = [read(shared, part, i) for i, part in enumerate(self._parts)]
        while len(tallies) > 1:
            starts = range(0, len(tallies), _MERGED_AT_ONCE)
            tallies = [merge(tallies[i : i + _MERGED_AT_ONCE]) for i in starts]
        found = dask.compute(*tallies)
        on_progress(len(self._parts), len(self._parts))
        return found[0] if found else request.tally(())


def _partition_chunk(part: Any, i: int) -> Chunk:
    labels, scores, *weights = (part.iloc[:, k] for k in range(part.shape[1]))
    return as_chunk(labels, scores, f"partition {i}", *weights)


def _some_rows(part: Any, i: int) -> Chunk:
    chunk = _partition_chunk(part, i)
    return chunk.take(slice(None, None, max(4 * len(chunk) // PEEKED_ROWS, 1)))


def _read_partition(request: Request, part: Any, i: int) -> Any:
    return request.tally([_partition_chunk(part, i)])


def _merged(tallies: Iterable[Any]) -> Any:
    """Merge tallies into a new one; a task must not change what it was given."""
    first, *rest = tallies
    total = type(first)()
    for tally in (first, *rest):
        total.merge(tally)
    return total


def dask_columns(frame: Any, names: ColumnNames) -> DaskSource:
    """Return the source of some columns of a frame."""
    if not hasattr(frame, "columns") or frame.ndim != 2:
        raise _no_frame(frame, "Dask")
    names.check([str(name) for name in frame.columns])
    rows = frame[list(names.given.values())]
    return DaskSource(rows.to_delayed(), names.weight is not None)


# --- Spark ----------------------------------------------------------------------------------------


class SparkSource:
    """Rows of a frame with the columns that `names` says; scores and weights are doubles."""

    def __init__(self, frame: Any, names: ColumnNames) -> None:
        self._frame, self._names = frame, names
        self.is_weighted = names.weight is not None

    def peek(self) -> list[Chunk]:
        """Return the first few rows."""
        rows = self._frame.limit(PEEKED_ROWS).toArrow()
        return [table_chunk(rows, self._names, "the first rows")]

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        from pyspark.sql import functions as F  # noqa: N812

        rows = self._frame.withColumn("partition", F.spark_partition_id())
        found = rows.mapInArrow(_tally_on_worker(self._names, request), "tally binary")
        found = found.repartition(_MERGERS).mapInArrow(_merge_on_worker, "tally binary")
        total = request.tally(())
        for tally in _unpacked(found.toArrow().to_batches()):
            total.merge(tally)
        on_progress(1, 1)
        return total


def _tally_on_worker(
    names: ColumnNames, request: Request
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function from the batches of a partition to its tally."""

    def chunks(batches: Iterable[Any]) -> Iterator[Chunk]:
        for batch in batches:
            if len(batch):
                number = batch.column("partition")[0].as_py()
                yield table_chunk(batch, names, f"partition {number}")

    def tally(batches: Iterator[Any]) -> Iterator[Any]:
        yield _packed(request.tally(chunks(batches)))

    return tally


def _merge_on_worker(batches: Iterator[Any]) -> Iterator[Any]:
    for first in (tallies := _unpacked(batches)):
        yield _packed(_merged([first, *tallies]))


def _packed(tally: Any) -> Any:
    import pyarrow as pa

    message = zlib.compress(pickle.dumps(tally), level=1)
    return pa.RecordBatch.from_arrays([pa.array([message], pa.binary())], ["tally"])


def _unpacked(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield tallies; their pickles come from our own workers, by the session's own channel."""
    for batch in batches:
        for message in batch.column("tally"):
            yield pickle.loads(zlib.decompress(message.as_py()))


def spark_columns(frame: Any, names: ColumnNames, element: int = -1) -> SparkSource:
    """Return the source of some columns of a frame; of a column of vectors, take one element."""
    if not hasattr(frame, "columns"):
        raise _no_frame(frame, "Spark")
    names.check(frame.columns)
    rows = frame.select(
        *(
            _spark_column(frame, name, element, names.numbers.get(name)).alias(to)
            for to, name in names.given.items()
        )
    )
    return SparkSource(rows, names.own)


def _spark_column(frame: Any, name: str, element: int, number: str | None) -> Any:
    """Return a column by its whole name; scores and weights as numbers."""
    from pyspark.sql import functions as F  # noqa: N812
    from pyspark.sql.types import ArrayType, NumericType

    kind, column = frame.schema[name].dataType, F.col("`" + name.replace("`", "``") + "`")
    if number is None:
        return column
    if not isinstance(kind, NumericType):
        if number == "y_score" and kind.typeName() == "vectorudt":
            from pyspark.ml.functions import vector_to_array

            column = vector_to_array(column)
        elif not (
            number == "y_score"
            and isinstance(kind, ArrayType)
            and isinstance(kind.elementType, NumericType)
        ):
            raise not_real_numbers(f"{kind.simpleString()} values in column {name!r}", number)
        # Spark counts elements from 1, and from the end as Python does.
        column = F.element_at(column, element + 1 if element >= 0 else element)
    return column.cast("double")
