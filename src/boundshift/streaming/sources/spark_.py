"""Spark: frames, counted by Spark's own aggregates where they lie.

Python reads only the rows around the boundary, and rows that cannot be used: on the workers, by
``mapInArrow``, where they are many.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from math import ceil
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DoubleType, FloatType, NumericType

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.request import ScanRequest
from boundshift.streaming.source import ColumnNames, OnProgress
from boundshift.streaming.sources.arrow_ import table_chunk
from boundshift.streaming.sources.columns import check_columns, not_real_numbers, plain_labels
from boundshift.streaming.sources.queried import (
    PEEKED_ROWS,
    Job,
    QuerySource,
    batches_to_chunks,
)
from boundshift.streaming.sql import Columns, Query, filter_for, log_odds_of, usable
from boundshift.streaming.tally import Tally
from boundshift.streaming.view import Group, Pair, View

__all__ = ["SparkSource", "from_arrays", "from_columns", "predict"]

# Tallies that the driver merges at once; if there are more, the workers merge some of them first.
_MERGED_AT_ONCE = 32
# Up to so many rows are read by the driver: starting Python on the workers would cost more.
_MOST_COLLECTED = 1 << 22
# Seconds between two looks at how many tasks are done.
_SECONDS_BETWEEN = 0.2
_SCHEMA = "tally binary"


class SparkSource(QuerySource):
    """Rows of a frame with the columns that `names` says; scores and weights are doubles."""

    def __init__(self, frame: Any, names: ColumnNames) -> None:
        self._frame, self.names = frame, names

    def through(self, view: View) -> SparkSource:
        """Return the rows of a view."""
        rows, score, label = self._frame, F.col("score"), F.col("label")
        if isinstance(view, Group):
            rows = rows.where(F.col("by") == F.lit(view.name))
        elif isinstance(view, Pair):
            first, second = (F.col(self.names.scores[i]) for i in view.columns)
            score = (second - first).alias("score")
            rows = rows.where((label == F.lit(view.labels[0])) | (label == F.lit(view.labels[1])))
        weight = [F.col("weight")] if self.is_weighted else []
        return SparkSource(
            rows.select(label, score, *weight), ColumnNames(weight=self.names.weight)
        )

    def count_values(self, column: str) -> Columns:
        """Return the distinct values of a column, as ``value``, and how many rows have each."""
        counted = self._frame.groupBy(F.col(column).alias("value")).agg(F.expr("count(*) AS n"))
        table = counted.toArrow()
        return {name: table[name].to_numpy() for name in table.column_names}

    def first_rows(self, other_than: Sequence[Any] = ()) -> Chunk:
        """Return the first few rows, or the first with another label than some."""
        frame, label = self._frame, F.col("label")
        for known in other_than:
            frame = frame.where(label != F.lit(known))
        if other_than and isinstance(frame.schema["label"].dataType, DoubleType | FloatType):
            frame = frame.where(~F.isnan(label))
        table = frame.limit(PEEKED_ROWS).toArrow()
        return table_chunk(table, self.names, "the first rows")

    def _coded(self, labels: tuple[Any, ...]) -> Any:
        """Return the rows with the codes of their labels."""
        code = F.lit(None).cast("int")
        for i, label in reversed(list(enumerate(labels))):
            code = F.when(F.col("label") == F.lit(label), i).otherwise(code)
        rows = self._frame.withColumn("code", code).withColumn("given", F.col("score"))
        if self.log_odds is not None:
            rows = rows.withColumn("score", F.expr(log_odds_of("given", self.log_odds)))
        return rows

    def group(self, labels: tuple[Any, ...], query: Query) -> Columns:
        """Return the key and the aggregates of all groups of a query."""
        aggregates = [F.expr(sql).alias(name) for name, sql in query.aggregates.items()]
        used = ("code", "score", "weight") if self.is_weighted else ("code", "score")
        keyed = self._coded(labels).select(*used, F.expr(query.key).alias("key"))
        table = keyed.groupBy("key").agg(*aggregates).toArrow()
        return {name: table[name].to_numpy() for name in table.column_names}

    def read_faulty(self, labels: tuple[Any, ...]) -> Tally:
        """Return what is found in the rows that no query can use."""
        # Numbered before the rest is dropped, so that rows keep the number of their partition.
        numbered = self._coded(labels).withColumn("partition", F.spark_partition_id())
        condition = usable(self.log_odds, self.is_weighted)
        names = replace(self.names, score="given")
        faulty = numbered.where(f"NOT coalesce({condition}, FALSE)")
        faulty = faulty.select(*names.all, "partition")
        return _tally_on_workers(faulty, names, ScanRequest(log_odds=self.log_odds))

    def read_near(self, labels: tuple[Any, ...], request: ScanRequest) -> Tally:
        """Return what is found in the rows of the refinement's cells, by codes."""
        assert request.refinement is not None
        near = self._coded(labels).where(
            filter_for(request.refinement, request.exponent, _in_table)
        )
        is_small = request.refinement.rows <= _MOST_COLLECTED
        read = _tally_here if is_small else _tally_on_workers
        names = replace(self.names, label="code")
        return read(near.select(*names.all), names, request.refinement_by_code())

    def run(self, jobs: Sequence[Job], on_progress: OnProgress) -> list[Tally]:
        """Run jobs all at once, so that Spark counts for one while another is planned."""
        tracker = _TaskTracker(self._frame.sparkSession)
        with ThreadPoolExecutor(max(len(jobs), 1)) as pool:
            waiting = {pool.submit(tracker.run, job): job for job in jobs}
            running = set(waiting)
            while running:
                on_progress(*tracker.count(len(waiting) - len(running), len(waiting)))
                running = wait(running, _SECONDS_BETWEEN, FIRST_COMPLETED).not_done
            found = [future.result() for future in waiting]
        on_progress(*tracker.all_done(len(jobs)))
        return found


class _TaskTracker:
    """How many tasks of our jobs are done; how many jobs, where Spark does not tell.

    Parameters
    ----------
    session : SparkSession
        A session of Spark Connect has no context, and so no tracker.
    """

    def __init__(self, session: Any) -> None:
        self._group = f"boundshift-{uuid4()}"
        self._context = getattr(session, "_sc", None)
        self._seen = 0, 0

    def run(self, job: Job) -> Tally:
        """Run a job in a thread of its own, in the group that is watched."""
        if self._context is not None:
            self._context.setJobGroup(self._group, "boundshift reads scores")
        return job()

    def count(self, done: int, total: int) -> tuple[int, int]:
        """Return the number of tasks done and of all tasks; of jobs, if tasks are not known."""
        if self._context is None:
            return done, total
        tracker, counts = self._context.statusTracker(), [(0, 0)]
        for number in tracker.getJobIdsForGroup(self._group):
            job = tracker.getJobInfo(number)
            stages = [tracker.getStageInfo(stage) for stage in job.stageIds] if job else []
            counts += [(s.numCompletedTasks, s.numTasks) for s in stages if s is not None]
        done, total = (sum(column) for column in zip(*counts, strict=True))
        # A stage that Spark has forgotten is done.
        self._seen = max(self._seen[0], done), max(self._seen[1], total)
        return self._seen

    def all_done(self, jobs: int) -> tuple[int, int]:
        """Return the numbers at the end, of jobs too that were done before anyone looked."""
        _, total = self.count(jobs, jobs)
        return (total, total) if total else (jobs, jobs)


def _in_table(index: str, table: NDArray[np.bool_]) -> str:
    """Return the condition that a flag is set; 64 to a number, which is faster than a list."""
    packed = np.packbits(table, bitorder="little")
    words = np.append(packed, np.zeros(-len(packed) % 8, np.uint8)).view("<i8")
    # The smallest number of 64 bits has no positive counterpart that could be written with a minus.
    listed = ", ".join(f"{w}L" if w > -(2**63) else "(-1L - 9223372036854775807L)" for w in words)
    return f"getbit(element_at(array({listed}), shiftright({index}, 6) + 1), {index} & 63) = 1"


def _tally_here(rows: Any, names: ColumnNames, request: ScanRequest) -> Tally:
    """Return what is found in a few rows, read by the driver."""
    return request.tally(_chunks(rows.toArrow().to_batches(), names))


def _tally_on_workers(rows: Any, names: ColumnNames, request: ScanRequest) -> Tally:
    """Return what is found in many rows, read by the workers."""
    tallies = rows.mapInArrow(_reader(names, request), _SCHEMA)
    parts = tallies.rdd.getNumPartitions() if hasattr(tallies, "_jdf") else 1
    if parts > _MERGED_AT_ONCE:
        tallies = tallies.repartition(ceil(parts / _MERGED_AT_ONCE)).mapInArrow(_merger, _SCHEMA)
    return _merged(row.tally for row in tallies.collect())


def _reader(names: ColumnNames, request: ScanRequest) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function from the batches of a partition to its tally."""

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        yield _message(request.tally(_chunks(batches, names)))

    return read


def _chunks(batches: Iterable[pa.RecordBatch], names: ColumnNames) -> Iterator[Chunk]:
    """Return batches as chunks; a column "partition", if any, has the number of the partition."""
    return batches_to_chunks(iter(batches), names, _partition)


def _partition(rows: pa.Table) -> str:
    """Return what an error calls some rows."""
    if "partition" not in rows.column_names:
        return "a partition"
    return f"partition {rows.column('partition')[0].as_py()}"


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


def from_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> SparkSource:
    """Refuse columns, which mean nothing without their frame."""
    raise InvalidInputError(
        f"`y_score` must be scores, got a Spark {type(y_score).__name__}, which holds none by "
        "itself. Use boundshift.streaming.scan_boundary(frame, label=..., score=...)."
    )


def from_columns(frame: Any, names: ColumnNames, element: int = -1) -> SparkSource:
    """Return the source of some columns of a frame; of a column of vectors, take one element."""
    check_columns(frame.columns, names)
    plain, kinds = names.numbered, dict(names.numbers)
    numbers = {own for own, _ in plain.numbers}
    chosen = []
    for name, own in zip(names.all, plain.all, strict=True):
        column = _column(name)
        if own in numbers:
            column = _number(frame, name, element, kinds[name]).cast("double")
        chosen.append(column.alias(own))
    rows = frame.select(*chosen)
    if plain.weight is not None:
        rows = rows.where("weight IS NULL OR weight <> 0")
    return SparkSource(rows, plain)


def _column(name: str) -> Any:
    """Return a column by its whole name."""
    return F.col("`" + name.replace("`", "``") + "`")


def _number(frame: Any, name: str, element: int, of: str) -> Any:
    """Return a column of scores or weights."""
    kind, column = frame.schema[name].dataType, _column(name)
    if isinstance(kind, NumericType):
        return column
    is_score = of == "y_score"
    if is_score and kind.typeName() == "vectorudt":
        from pyspark.ml.functions import vector_to_array

        column = vector_to_array(column)
    elif not (
        is_score and isinstance(kind, ArrayType) and isinstance(kind.elementType, NumericType)
    ):
        raise not_real_numbers(f"{kind.simpleString()} values in column {name!r}", of)
    # Spark counts elements from 1, and from the end as Python does.
    return F.element_at(column, element + 1 if element >= 0 else element)


def predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the column of the labels of a column of scores, null where there is no score."""
    cut = F.lit(float(threshold))
    negative, positive = (F.lit(label) for label in plain_labels(labels))
    # To Spark NaN is above every number.
    known = F.when(F.isnan(column), F.lit(None))
    return known.when(column > cut, positive).when(column <= cut, negative)
