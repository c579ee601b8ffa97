"""Spark: frames, whose first pass is one groupBy of Spark's own.

Rows in the tails of the grid, rows that cannot be used, and those of every further pass are read
by Python on the workers (``mapInArrow``): there the whole first pass would take four times as long
as the groupBy.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, DoubleType, FloatType, NumericType

from boundshift.exceptions import InvalidInputError
from boundshift.scores import LogOdds
from boundshift.streaming.cells import Look
from boundshift.streaming.chunks import (
    Chunk,
    ColumnNames,
    not_real_numbers,
    plain_labels,
    table_chunk,
)
from boundshift.streaming.read import PEEKED_ROWS, OnProgress, Request
from boundshift.streaming.tally import ScanRequest, Tally

# Seconds between two looks at how many tasks are done.
_SECONDS_BETWEEN = 0.2
# Up to so many rows are read by the driver: starting Python on the workers would cost more.
_MOST_COLLECTED = 1 << 20
# More ranges than these are not listed in a query; Python passes over the rows between them.
_MOST_RANGES = 64
_SCHEMA = "tally binary"


class SparkSource:
    """Rows of a frame with the columns that `names` says; scores and weights are doubles."""

    def __init__(self, frame: Any, names: ColumnNames) -> None:
        self._frame, self._names = frame, names
        self.is_weighted = names.weight is not None
        self._peeked: list[Chunk] | None = None

    def peek(self) -> list[Chunk]:
        """Return the first few rows, and some of the second class if it is not among them."""
        if self._peeked is None:
            first = self._first_rows(self._frame)
            labels = first.distinct_labels()[0] if len(first) else []
            self._peeked = [first]
            if len(labels) == 1:
                label = F.col("label")
                others = self._frame.where(label != F.lit(labels[0]))
                if isinstance(others.schema["label"].dataType, DoubleType | FloatType):
                    others = others.where(~F.isnan(label))
                self._peeked.append(self._first_rows(others))
        return self._peeked

    def _first_rows(self, frame: Any) -> Chunk:
        return table_chunk(frame.limit(PEEKED_ROWS).toArrow(), self._names, "the first rows")

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        return _watched(self._frame.sparkSession, lambda: self._read(request), on_progress)

    def _read(self, request: Request) -> Any:
        if isinstance(request, ScanRequest) and request.look is not None:
            return self._collect(request, request.look)
        labels = [
            label for chunk in self.peek() if len(chunk) for label in chunk.distinct_labels()[0]
        ]
        labels = list(dict.fromkeys(labels))[:2]
        if isinstance(request, ScanRequest) and request.grid.inner and labels:
            return self._count(request, labels)
        numbered = self._frame.withColumn("partition", F.spark_partition_id())
        return _tally_on_workers(numbered, self._names, request)

    def _count(self, request: ScanRequest, labels: list[Any]) -> Tally:
        """Return the counts of the grid's equal cells by Spark, and the rest by Python."""
        grid, code = request.grid, F.lit(None).cast("int")
        for i, label in enumerate(labels):
            code = F.when(F.col("label") == F.lit(label), i).otherwise(code)
        score = F.expr(_score(request.log_odds))
        # Numbered before the rest is dropped, so that rows keep the number of their partition.
        rows = self._frame.withColumn("partition", F.spark_partition_id())
        rows = rows.withColumn("own", score).withColumn("code", code)
        # Compared before they are rounded: of an infinite number Spark has no ceiling.
        widths = f"own * {_double(grid.scale)}"
        core = f"{_double(grid.first - 1)} AND {widths} <= {_double(grid.first + grid.inner - 1)}"
        usable = f"code IS NOT NULL AND {widths} > {core}"
        place = f"ceil({widths}) - {_double(grid.first)}"
        if self.is_weighted:
            usable += f" AND weight > 0e0 AND weight <= {_double(np.finfo(np.float64).max)}"
        key = f"CASE WHEN {usable} THEN code * {grid.inner} + CAST({place} AS INT) ELSE -1 END"
        found = {"n": "count(*)", "total": "sum(own)", "low": "min(own)", "high": "max(own)"}
        if self.is_weighted:
            found |= {"total": "sum(weight * own)", "weight": "sum(weight)"}
            found |= {"squares": "sum(weight * weight)"}
        keyed = rows.withColumn("key", F.expr(key))
        aggregates = [F.expr(sql).alias(name) for name, sql in found.items()]
        table = keyed.groupBy("key").agg(*aggregates).toArrow()
        cells = {name: table[name].to_numpy() for name in table.column_names}
        tally = Tally()
        for i, label in enumerate(labels):
            own = (cells["key"] >= 0) & (cells["key"] // grid.inner == i)
            if own.any():
                _add_cells(tally, label, request, {k: v[own] for k, v in cells.items()})
        if -1 in cells["key"]:
            rest = keyed.where("key = -1").select(*self._names.all, "partition")
            tally.merge(_tally_on_workers(rest, self._names, request))
        return tally

    def _collect(self, request: ScanRequest, look: Look) -> Tally:
        """Return what Python finds in the rows of a look's ranges."""
        score = _score(request.log_odds)
        rows = self._frame.withColumn("score", F.expr(score))
        lows, tops = look.lows, look.tops
        if len(lows) > _MOST_RANGES:
            lows, tops = lows[:1], tops[-1:]
        ranges = (
            f"score BETWEEN {_double(low)} AND {_double(top)}"
            for low, top in zip(lows, tops, strict=True)
        )
        rows = rows.where(" OR ".join(ranges))
        request = replace(request, log_odds=None)
        if look.rows <= _MOST_COLLECTED and len(look.lows) <= _MOST_RANGES:
            batches = rows.toArrow().to_batches()
            return request.tally(table_chunk(b, self._names, "some rows") for b in batches)
        found: Tally = _tally_on_workers(rows, self._names, request)
        return found


def _double(value: float) -> str:
    """Return a double as SQL.

    Examples
    --------
    >>> _double(-0.1)
    '(-1.0000000000000001e-01)'
    """
    if not np.isfinite(value):
        name = "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"CAST('{name}' AS DOUBLE)"
    return f"({float(value):.16e})"


def _score(log_odds: LogOdds | None) -> str:
    """Return the score as it is decided on: as given, or as log-odds.

    All queries take this expression, since two libraries' logarithms may differ in the last digit.
    """
    if log_odds is None:
        return "score"
    return (
        "CASE WHEN score > 0e0 AND score < 1e0 THEN ln(score / (1e0 - score)) "
        f"WHEN score = 0e0 THEN {_double(log_odds.low)} "
        f"WHEN score = 1e0 THEN {_double(log_odds.high)} ELSE {_double(np.nan)} END"
    )


def _add_cells(tally: Tally, label: Any, request: ScanRequest, found: dict[str, Any]) -> None:
    """Add the equal cells of a class, as Spark counted them."""
    grid, own = request.grid, tally.of(label)
    cell = grid.start + found["key"] % grid.inner
    own.counts, own.sums = np.zeros(grid.size, np.int64), np.zeros(grid.size)
    own.counts[cell], own.sums[cell] = found["n"], found["total"]
    own.low, own.high = float(found["low"].min()), float(found["high"].max())
    if "weight" in found:
        own.rows, own.counts = own.counts, np.zeros(grid.size)
        own.counts[cell] = found["weight"]
        own.squared_weights = float(found["squares"].sum())


def _tally_on_workers(rows: Any, names: ColumnNames, request: Any) -> Any:
    """Return what is found in rows that the workers read."""
    total = request.tally(())
    # Pickles are safe here: they come from our own workers, by the session's own channel.
    for row in rows.mapInArrow(_reader(names, request), _SCHEMA).toLocalIterator():
        total.merge(pickle.loads(row.tally))
    return total


def _reader(names: ColumnNames, request: Request) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function from the batches of a partition to its tally."""

    def chunks(batches: Iterable[pa.RecordBatch]) -> Iterator[Chunk]:
        for batch in batches:
            where = "a partition"
            if len(batch) and "partition" in batch.schema.names:
                where = f"partition {batch.column('partition')[0].as_py()}"
            yield table_chunk(batch, names, where)

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        message = pickle.dumps(request.tally(chunks(batches)))
        yield pa.RecordBatch.from_arrays([pa.array([message], pa.binary())], ["tally"])

    return read


def _watched(session: Any, job: Callable[[], Any], on_progress: OnProgress) -> Any:
    """Run a job, and report how many of its tasks are done, where Spark tells."""
    group = f"boundshift-{uuid4()}"
    # A session of Spark Connect has no context, and so no tracker.
    context: Any = getattr(session, "_sc", None)
    seen = (0, 0)

    def run() -> Any:
        if context is not None:
            context.setJobGroup(group, "boundshift reads scores")
        return job()

    def count_tasks() -> tuple[int, int]:
        tracker = context.statusTracker()
        jobs = [tracker.getJobInfo(number) for number in tracker.getJobIdsForGroup(group)]
        stages = [
            tracker.getStageInfo(stage) for known in jobs if known for stage in known.stageIds
        ]
        known = [(s.numCompletedTasks, s.numTasks) for s in stages if s is not None]
        done, total = (sum(column) for column in zip(*[(0, 0), *known], strict=True))
        # A stage that Spark has forgotten is done.
        return max(seen[0], done), max(seen[1], total)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run)
        while not wait([running], _SECONDS_BETWEEN).done:
            if context is not None:
                seen = count_tasks()
                on_progress(*seen)
        found = running.result()
    total = max(count_tasks()[1] if context is not None else 1, 1)
    on_progress(total, total)
    return found


def spark_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> SparkSource:
    """Refuse columns, which mean nothing without their frame."""
    raise InvalidInputError(
        f"`y_score` must be scores, got a Spark {type(y_score).__name__}, which holds none by "
        "itself. Use boundshift.streaming.scan_boundary(frame, label=..., score=...)."
    )


def spark_columns(frame: Any, names: ColumnNames, element: int = -1) -> SparkSource:
    """Return the source of some columns of a frame; of a column of vectors, take one element."""
    names.check(frame.columns)
    own, chosen = names.numbered, []
    for name, to in zip(names.all, own.all, strict=True):
        column = _column(name)
        if to in own.numbers:
            column = _number(frame, name, element, own.numbers[to]).cast("double")
        chosen.append(column.alias(to))
    rows = frame.select(*chosen)
    if own.weight is not None:
        rows = rows.where("weight IS NULL OR weight <> 0")
    return SparkSource(rows, own)


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


def spark_predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the column of the labels of a column of scores, null where there is no score."""
    cut = F.lit(float(threshold))
    negative, positive = (F.lit(label) for label in plain_labels(labels))
    # To Spark NaN is above every number.
    known = F.when(F.isnan(column), F.lit(None))
    return known.when(column > cut, positive).when(column <= cut, negative)
