"""Dask: arrays, series and frames, on whatever scheduler is the current one.

A partition becomes a tally where it lies, tallies merge in a tree, and one comes back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask
import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.request import Look
from boundshift.streaming.source import Show
from boundshift.streaming.sources.columns import (
    as_chunk,
    check_columns,
    check_lengths,
    check_one_dimensional,
)
from boundshift.streaming.tally import Tally

__all__ = ["DaskSource", "from_arrays", "from_frame", "predict"]


# Tallies merged by one task.
_FAN = 16
_PEEKED = 1 << 14


class DaskSource:
    """Partitions of labels and scores.

    Parameters
    ----------
    parts : sequence of Delayed
        Each a pair (labels, scores), or a frame with these two columns.
    columns : sequence of frames or series, default=()
        The same as a frame or two series, if it is that: Dask then reads a partition and looks at
        it in one task, and no partition waits in memory.
    """

    def __init__(self, parts: Sequence[Any], columns: Sequence[Any] = ()) -> None:
        self._parts, self._columns = parts, columns

    def peek(self) -> list[Chunk]:
        """Return rows of the first and the last partition."""
        last = len(self._parts) - 1
        ends = {i: self._parts[i] for i in sorted({0, last}) if i >= 0}
        head = dask.delayed(_head, pure=False)
        return list(dask.compute(*[head(part, i) for i, part in ends.items()]))

    def run(self, look: Look, show: Show) -> Tally:
        """Look at every row."""
        # One node of the graph, so that a worker gets it once and not with every partition.
        shared = dask.delayed(look, pure=False)
        merge = dask.delayed(_merge, pure=False)
        tallies = self._tallies(shared)
        while len(tallies) > 1:
            tallies = [merge(tallies[i : i + _FAN]) for i in range(0, len(tallies), _FAN)]
        show(0, len(self._parts))
        (tally,) = dask.compute(*tallies) if tallies else (Tally(),)
        show(len(self._parts), len(self._parts))
        return tally

    def _tallies(self, look: Any) -> list[Any]:
        """Return what a look, itself delayed, finds in each partition."""
        if self._columns:
            first, *rest = self._columns
            found = first.map_partitions(
                _read_columns,
                *rest,
                look,
                meta=first._meta,
                enforce_metadata=False,
                align_dataframes=False,
            )
            return list(found.to_delayed())
        read = dask.delayed(_read, pure=False)
        return [read(look, part, i) for i, part in enumerate(self._parts)]


def _chunk(part: Any, i: int) -> Chunk:
    """Return a partition as a chunk."""
    if hasattr(part, "columns"):
        part = part.iloc[:, 0], part.iloc[:, 1]
    return as_chunk(part[0], part[1], f"partition {i}")


def _head(part: Any, i: int) -> Chunk:
    """Return some rows of a partition, spread over it."""
    chunk = _chunk(part, i)
    rows = slice(None, None, max(len(chunk) // _PEEKED, 1))
    return Chunk(chunk.labels[rows], chunk.scores[rows], chunk.place, chunk.names)


def _read(look: Look, part: Any, i: int) -> Tally:
    """Look at a partition."""
    return look.read([_chunk(part, i)])


def _read_columns(*given: Any, partition_info: dict[str, Any] | None = None) -> Tally:
    """Look at a partition, given as a frame or as two series."""
    *parts, look = given
    number = partition_info["number"] if partition_info else 0
    return _read(look, parts if len(parts) == 2 else parts[0], number)


def _merge(tallies: list[Tally]) -> Tally:
    """Merge tallies into a new one; a task must not change what it was given."""
    total = Tally()
    for tally in tallies:
        total.merge(tally)
    return total


def from_arrays(y_true: Any, y_score: Any) -> DaskSource:
    """Return the source of two arrays, or of two series."""
    is_array = [hasattr(v, "chunks") and hasattr(v, "to_delayed") for v in (y_true, y_score)]
    if is_array != [True, True]:
        return _from_series(y_true, y_score)
    check_one_dimensional(y_score=y_score.shape, y_true=y_true.shape)
    if y_true.chunks != y_score.chunks:
        if np.isnan([*y_true.shape, *y_score.shape]).any():
            _check_partitions(len(y_true.chunks[0]), len(y_score.chunks[0]))
        else:
            check_lengths(len(y_true), len(y_score))
            y_true = y_true.rechunk(y_score.chunks)
    y, s = dask.optimize(y_true, y_score)
    pair = dask.delayed(_pair, pure=False)
    return DaskSource([pair(a, b) for a, b in zip(y.to_delayed(), s.to_delayed(), strict=True)])


def _pair(labels: Any, scores: Any) -> tuple[Any, Any]:
    """Return two parts as one."""
    return labels, scores


def _from_series(y_true: Any, y_score: Any) -> DaskSource:
    """Return the source of two series."""
    for name, value in (("y_true", y_true), ("y_score", y_score)):
        if getattr(value, "ndim", 0) != 1 or not hasattr(value, "npartitions"):
            raise InvalidInputError(
                f"`{name}` must be a Dask array or series like its partner, got "
                f"{type(value).__name__}. Pick a column, or use boundshift.streaming.scan_boundary "
                "with column names."
            )
    if hasattr(y_true, "chunks") or hasattr(y_score, "chunks"):
        y_true, y_score = (
            v if hasattr(v, "chunks") else v.to_dask_array() for v in (y_true, y_score)
        )
        return from_arrays(y_true, y_score)
    _check_partitions(y_true.npartitions, y_score.npartitions)
    pair = dask.delayed(_pair, pure=False)
    parts = zip(y_true.to_delayed(), y_score.to_delayed(), strict=True)
    return DaskSource([pair(a, b) for a, b in parts], [y_true, y_score])


def _check_partitions(labels: int, scores: int) -> None:
    """Raise unless both have as many partitions."""
    if labels != scores:
        raise InvalidInputError(
            f"`y_true` and `y_score` must have the same partitions, got {labels} and {scores}. "
            "Repartition one of them like the other."
        )


def from_frame(frame: Any, label: str, score: str) -> DaskSource:
    """Return the source of two columns of a frame."""
    if not hasattr(frame, "columns") or frame.ndim != 2:
        raise InvalidInputError(
            f"`data` must be a frame, got a Dask {type(frame).__name__}. "
            "Pass labels and scores to boundshift.find_boundary."
        )
    check_columns([str(name) for name in frame.columns], label, score)
    frame = frame[[label, score]]
    return DaskSource(frame.to_delayed(), [frame])


def predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the labels of an array or series of scores, as lazily as these are."""
    kind = np.array(labels).dtype
    if hasattr(column, "chunks"):
        return column.map_blocks(_label, threshold, labels, dtype=kind)
    meta = column._meta.astype(object if kind.kind in "OUS" else kind)
    return column.map_partitions(_label_series, threshold, labels, meta=meta)


def _label(scores: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the label of each score."""
    return np.array(labels)[(np.asarray(scores, dtype=np.float64) > threshold).astype(np.intp)]


def _label_series(scores: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the label of each score, with its index."""
    values = _label(scores.to_numpy(dtype=np.float64, na_value=np.nan), threshold, labels)
    values = values.astype(object) if values.dtype.kind in "OUS" else values
    return type(scores)(values, index=scores.index, name=scores.name)
