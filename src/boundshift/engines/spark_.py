"""Spark: frames, read batch by batch where they lie with ``mapInArrow``."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from math import ceil
from typing import Any

import pyarrow as pa
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType

from boundshift.chunks import Chunk
from boundshift.engines.arrow_ import arrow_chunk
from boundshift.engines.columns import check_columns
from boundshift.exceptions import InvalidInputError
from boundshift.summary import Look, Tally

__all__ = ["SparkSource", "from_arrays", "from_frame", "predict"]

Show = Callable[[int, int], None]
Batches = Iterable[pa.RecordBatch]

# Tallies that the driver takes at once; more are merged on the workers first.
_FAN = 32
_PEEKED = 1 << 13
# Rows of a chunk.
_ROWS = 1 << 19
_SCHEMA = "tally binary"


class SparkSource:
    """Rows of a frame whose first column is the label and the second the score."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def peek(self) -> list[Chunk]:
        """Return the first few rows."""
        table = self._frame.limit(_PEEKED).toArrow()
        return [arrow_chunk(table.column(0), table.column(1), "the first rows")]

    def run(self, look: Look, show: Show) -> Tally:
        """Look at every row."""
        show(0, 1)
        tallies = self._frame.mapInArrow(_reader(look), _SCHEMA)
        parts = tallies.rdd.getNumPartitions() if hasattr(tallies, "_jdf") else 1
        if parts > _FAN:
            tallies = tallies.repartition(ceil(parts / _FAN)).mapInArrow(_merger, _SCHEMA)
        total = _merged(row.tally for row in tallies.collect())
        show(1, 1)
        return total


def _reader(look: Look) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function from a partition's batches to its tally."""

    def read(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        place = f"partition {context.partitionId() if context else 0}"
        yield _message(look.read(_chunks(batches, place)))

    return read


def _chunks(batches: Batches, place: str) -> Iterator[Chunk]:
    """Put Spark's small batches together: each chunk costs as much as some thousand rows."""
    waiting: list[Any] = []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) >= _ROWS:
            yield _chunk(waiting, place)
            waiting = []
    if waiting:
        yield _chunk(waiting, place)


def _chunk(batches: list[Any], place: str) -> Chunk:
    """Return some batches as one chunk."""
    table = pa.Table.from_batches(batches)
    return arrow_chunk(table.column(0), table.column(1), place)


def _merger(batches: Iterator[Any]) -> Iterator[Any]:
    """Merge the tallies of some partitions."""
    yield _message(_merged(t for batch in batches for t in batch.column(0).to_pylist()))


def _merged(messages: Iterable[bytes]) -> Tally:
    """Merge tallies from our own workers, which came by the session's own channel."""
    total = Tally()
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
        "itself. Use boundshift.engines.find_boundary(frame, label=..., score=...)."
    )


def from_frame(frame: Any, label: str, score: str, element: int = -1) -> SparkSource:
    """Return the source of two columns of a frame; one of vectors gives one element of each."""
    check_columns(frame.columns, label, score)
    return SparkSource(frame.select(_column(label), _score(frame, score, element)))


def _column(name: str) -> Any:
    """Return a column by its whole name."""
    return F.col("`" + name.replace("`", "``") + "`")


def _score(frame: Any, name: str, element: int) -> Any:
    """Return the column of scores."""
    kind, column = frame.schema[name].dataType, _column(name)
    if kind.typeName() == "vectorudt":
        from pyspark.ml.functions import vector_to_array

        column = vector_to_array(column)
    elif not isinstance(kind, ArrayType):
        return column
    # Spark counts elements from 1, and from the end as Python does.
    return F.element_at(column, element + 1 if element >= 0 else element).alias(name)


def predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the column of the labels of a column of scores."""
    # To Spark NaN is above every number.
    above = (column > F.lit(float(threshold))) & ~F.isnan(column)
    return F.when(above, F.lit(labels[1])).otherwise(F.lit(labels[0]))
