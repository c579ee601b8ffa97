"""Spark: frames, counted by Spark's own aggregates where they lie.

Python reads only the rows around the boundary, and rows that cannot be used: on the workers, by
``mapInArrow``, where they are many.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from math import ceil
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DoubleType, FloatType, NumericType

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk, distinct_labels
from boundshift.streaming.request import ScanRequest
from boundshift.streaming.source import OnProgress
from boundshift.streaming.sources.arrow_ import arrow_chunk
from boundshift.streaming.sources.columns import check_columns, not_real_numbers
from boundshift.streaming.sql import FAULTY, USABLE, Query, filter_for, queries_for
from boundshift.streaming.tally import Tally

__all__ = ["SparkSource", "from_arrays", "from_columns", "predict"]

Batches = Iterable[pa.RecordBatch]

# Tallies that the driver merges at once; if there are more, the workers merge some of them first.
_MERGED_AT_ONCE = 32
_PEEKED_ROWS = 1 << 13
# Up to so many rows are read by the driver: starting Python on the workers would cost more.
_MOST_COLLECTED = 1 << 22
_ROWS_OF_A_CHUNK = 1 << 19
_SCHEMA = "tally binary"


class SparkSource:
    """Rows of a frame with the columns ``label`` and ``score``, the latter numbers."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def peek(self) -> list[Chunk]:
        """Return the first few rows, and some of the second class if it is not among them."""
        return self._peeked

    @cached_property
    def _peeked(self) -> list[Chunk]:
        """The rows peeked at."""
        first = _first_rows(self._frame)
        labels = distinct_labels(first)[0] if len(first) else []
        if len(labels) != 1:
            return [first]
        label = F.col("label")
        is_other = label != F.lit(labels[0])
        if isinstance(self._frame.schema["label"].dataType, DoubleType | FloatType):
            is_other &= ~F.isnan(label)
        return [first, _first_rows(self._frame.where(is_other))]

    @cached_property
    def _labels(self) -> tuple[Any, ...]:
        """The labels of the rows peeked at, two at most."""
        seen = [
            label for chunk in self._peeked if len(chunk) for label in distinct_labels(chunk)[0]
        ]
        return tuple(dict.fromkeys(seen))[:2]

    def scan(self, request: ScanRequest, on_progress: OnProgress) -> Tally:
        """Read every row once, and return what was asked for."""
        labels = request.labels or self._labels
        code = F.lit(None).cast("int")
        for i, label in reversed(list(enumerate(labels))):
            code = F.when(F.col("label") == F.lit(label), i).otherwise(code)
        rows = self._frame.withColumn("code", code)
        jobs = [partial(_answer, rows, labels, query) for query in queries_for(request)]
        if request.refinement is not None:
            jobs.append(partial(_refine, rows, labels, request))
        total = Tally()
        # All at once, so that Spark counts for one job while another is planned or collected.
        with ThreadPoolExecutor(max(len(jobs), 1)) as pool:
            for done, tally in enumerate(pool.map(lambda job: job(), jobs)):
                on_progress(done, len(jobs))
                total.merge(tally)
        on_progress(len(jobs), len(jobs))
        return total


def _answer(rows: Any, labels: tuple[Any, ...], query: Query) -> Tally:
    """Return what a query finds, and what is wrong with rows that it could not use."""
    aggregates = [F.expr(sql).alias(name) for name, sql in query.aggregates.items()]
    keyed = rows.select("code", "score", F.expr(query.key).alias("key"))
    table = keyed.groupBy("key").agg(*aggregates).toArrow()
    found = {name: table[name].to_numpy() for name in table.column_names}
    tally = query.read(labels, found)
    if FAULTY in found["key"]:
        # Numbered before the rest is dropped, so that rows keep the number of their partition.
        numbered = rows.withColumn("partition", F.spark_partition_id())
        faulty = numbered.where(f"NOT coalesce({USABLE}, FALSE)")
        tally.merge(_tally_on_workers(faulty.select("label", "score", "partition"), ScanRequest()))
    return tally


def _refine(rows: Any, labels: tuple[Any, ...], request: ScanRequest) -> Tally:
    """Return what Python finds in the rows of the refinement's cells."""
    assert request.refinement is not None
    near = rows.where(filter_for(request.refinement, request.exponent)).select("code", "score")
    is_small = request.refinement.rows <= _MOST_COLLECTED
    by_code = (_tally_here if is_small else _tally_on_workers)(near, request.refinement_by_code())
    return Tally({labels[i]: found for i, found in by_code.classes.items()})


def _first_rows(frame: Any) -> Chunk:
    """Return the first few rows."""
    table = frame.limit(_PEEKED_ROWS).toArrow()
    return arrow_chunk(table.column(0), table.column(1), "the first rows")


def _tally_here(rows: Any, request: ScanRequest) -> Tally:
    """Return what is found in a few rows, read by the driver."""
    return request.tally(_chunks(rows.toArrow().to_batches()))


def _tally_on_workers(rows: Any, request: ScanRequest) -> Tally:
    """Return what is found in many rows, read by the workers."""
    tallies = rows.mapInArrow(_reader(request), _SCHEMA)
    parts = tallies.rdd.getNumPartitions() if hasattr(tallies, "_jdf") else 1
    if parts > _MERGED_AT_ONCE:
        tallies = tallies.repartition(ceil(parts / _MERGED_AT_ONCE)).mapInArrow(_merger, _SCHEMA)
    return _merged(row.tally for row in tallies.collect())


def _reader(request: ScanRequest) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function from the batches of a partition to its tally."""

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        yield _message(request.tally(_chunks(batches)))

    return read


def _chunks(batches: Batches) -> Iterator[Chunk]:
    """Put Spark's small batches together: a chunk costs as much as some thousand of its rows."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _ROWS_OF_A_CHUNK:
            yield _chunk(waiting)
            waiting = []
    if waiting:
        yield _chunk(waiting)


def _chunk(batches: list[Any]) -> Chunk:
    """Return some batches as one chunk; a third column, if any, has the number of the partition."""
    table = pa.Table.from_batches(batches)
    named = table.num_columns > 2 and len(table) > 0
    location = f"partition {table.column(2)[0].as_py()}" if named else "a partition"
    return arrow_chunk(table.column(0), table.column(1), location)


def _merger(batches: Iterator[Any]) -> Iterator[Any]:
    """Merge the tallies of some partitions."""
    yield _message(_merged(t for batch in batches for t in batch.column(0).to_pylist()))


def _merged(messages: Iterable[bytes]) -> Tally:
    """Merge the tallies of some messages."""
    total = Tally()
    # Pickles are safe here: they come from our own workers, by the session's own channel.
    for message in messages:
        total.merge(pickle.loads(message))
    return total


def _message(tally: Tally) -> Any:
    """Return a tally as a batch of one row."""
    return pa.RecordBatch.from_arrays([pa.array([pickle.dumps(tally)], pa.binary())], ["tally"])


def from_arrays(y_true: Any, y_score: Any) -> SparkSource:
    """Refuse columns, which mean nothing without their frame."""
    raise InvalidInputError(
        f"`y_score` must be scores, got a Spark {type(y_score).__name__}, which holds none by "
        "itself. Use boundshift.streaming.scan_boundary(frame, label=..., score=...)."
    )


def from_columns(frame: Any, label: str, score: str, element: int = -1) -> SparkSource:
    """Return the source of two columns of a frame; of a column of vectors, take one element."""
    check_columns(frame.columns, label, score)
    numbers = _score(frame, score, element).cast("double").alias("score")
    return SparkSource(frame.select(_column(label).alias("label"), numbers))


def _column(name: str) -> Any:
    """Return a column by its whole name."""
    return F.col("`" + name.replace("`", "``") + "`")


def _score(frame: Any, name: str, element: int) -> Any:
    """Return the column of scores."""
    kind, column = frame.schema[name].dataType, _column(name)
    if isinstance(kind, NumericType):
        return column
    if kind.typeName() == "vectorudt":
        from pyspark.ml.functions import vector_to_array

        column = vector_to_array(column)
    elif not (isinstance(kind, ArrayType) and isinstance(kind.elementType, NumericType)):
        raise not_real_numbers(f"{kind.simpleString()} values in column {name!r}")
    # Spark counts elements from 1, and from the end as Python does.
    return F.element_at(column, element + 1 if element >= 0 else element)


def predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the column of the labels of a column of scores, null where there is no score."""
    cut = F.lit(float(threshold))
    plain = [label.item() if hasattr(label, "item") else label for label in labels]
    negative, positive = (F.lit(label) for label in plain)
    # To Spark NaN is above every number.
    known = F.when(F.isnan(column), F.lit(None))
    return known.when(column > cut, positive).when(column <= cut, negative)
