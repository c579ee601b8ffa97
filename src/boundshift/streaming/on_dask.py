"""Dask: arrays, series and frames, on whatever scheduler is the current one.

Each worker turns its partitions into tallies, these are merged in a tree, and one comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import dask
import numpy as np
from dask.callbacks import Callback

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunks import (
    Chunk,
    ColumnNames,
    as_chunk,
    check_lengths,
    check_one_dimensional,
)
from boundshift.streaming.read import OnProgress, Request
from boundshift.validation import as_known_scores, check_weight_shape

# Tallies merged by one task.
_MERGED_AT_ONCE = 16
_PEEKED_ROWS = 1 << 14


class DaskSource:
    """Partitions of labels and scores.

    Parameters
    ----------
    parts : sequence of Delayed
        Each a pair (labels, scores), a triple with weights, or a frame with such columns.
    names : ColumnNames
        Which columns there are; in a frame they stand in this order.
    columns : sequence of frames or series, default=()
        The same rows as one frame or as series, if that is where they come from: Dask then reads
        and counts a partition in one task, and no partition waits in memory.
    """

    def __init__(
        self, parts: Sequence[Any], names: ColumnNames, columns: Sequence[Any] = ()
    ) -> None:
        self._parts, self._names, self._columns = parts, names, columns
        self.is_weighted = names.weight is not None

    def peek(self) -> list[Chunk]:
        """Return rows of the first and the last partition."""
        last = len(self._parts) - 1
        ends = [i for i in sorted({0, last}) if i >= 0]
        some_rows = dask.delayed(_some_rows, pure=False)
        return list(dask.compute(*[some_rows(self._parts[i], self._names, i) for i in ends]))

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        # One node of the graph, so that a worker gets it once and not with every partition.
        shared = dask.delayed(request, pure=False)
        merge = dask.delayed(_merge, pure=False)
        tallies = self._tallies(shared)
        while len(tallies) > 1:
            starts = range(0, len(tallies), _MERGED_AT_ONCE)
            tallies = [merge(tallies[i : i + _MERGED_AT_ONCE]) for i in starts]
        total = len(self._parts)
        on_progress(0, total)
        tally = _compute(tallies[0], total, on_progress) if tallies else request.tally(())
        on_progress(total, total)
        return tally

    def _tallies(self, request: Any) -> list[Any]:
        """Return the delayed tallies of all partitions, given the delayed request."""
        if self._columns:
            first, *rest = self._columns
            found = first.map_partitions(
                _read_columns,
                *rest,
                self._names,
                request,
                meta=first._meta,
                enforce_metadata=False,
                align_dataframes=False,
            )
            return list(found.to_delayed())
        read = dask.delayed(_read, pure=False)
        return [read(request, part, self._names, i) for i, part in enumerate(self._parts)]


def _compute(tally: Any, total: int, on_progress: OnProgress) -> Any:
    """Compute the tally of all partitions, and report as many of them as tasks are done."""
    lock, reported = Lock(), 0

    def report(done: int, tasks: int) -> None:
        nonlocal reported
        with lock:
            reached = total * done // max(tasks, 1)
            if reported < reached < total:
                reported = reached
                on_progress(reached, total)

    client = getattr(dask.base.get_scheduler(), "__self__", None)
    if client is not None and hasattr(client, "cluster"):
        return _compute_on_cluster(client, tally, report)

    def after_task(_key: Any, _result: Any, _graph: Any, state: Any, _worker: Any) -> None:
        left = sum(len(state[name]) for name in ("ready", "waiting", "running"))
        report(len(state["finished"]), len(state["finished"]) + left)

    with Callback(posttask=after_task):
        (found,) = dask.compute(tally)
    return found


def _compute_on_cluster(client: Any, tally: Any, report: Callable[[int, int], None]) -> Any:
    """Compute a tally on a cluster, whose scheduler tells how many tasks are done."""
    from distributed.diagnostics.progressbar import ProgressBar

    class Bar(ProgressBar):
        def _draw_bar(self, remaining: int, all: int, **_: Any) -> None:
            report(all - remaining, all)

    future = client.compute(tally)
    client.sync(Bar([future], interval="200ms").listen)
    return future.result()


def _chunk(part: Any, names: ColumnNames, i: int) -> Chunk:
    """Return a partition as a chunk."""
    if hasattr(part, "columns"):
        part = [part.iloc[:, k] for k in range(part.shape[1])]
    stop = 1 + len(names.scores)
    kinds = [kind for kind in ("weight", "by") if getattr(names, kind) is not None]
    beside = dict(zip(kinds, part[stop:], strict=True))
    return as_chunk(part[0], part[1:stop], f"partition {i}", beside.get("weight"), beside.get("by"))


def _some_rows(part: Any, names: ColumnNames, i: int) -> Chunk:
    """Return some rows of a partition, spread over it."""
    chunk = _chunk(part, names, i)
    return chunk.take(slice(None, None, max(len(chunk) // _PEEKED_ROWS, 1)))


def _read(request: Request, part: Any, names: ColumnNames, i: int) -> Any:
    """Return what is found in a partition."""
    return request.tally([_chunk(part, names, i)])


def _read_columns(*given: Any, partition_info: dict[str, Any] | None = None) -> Any:
    """Return what is found in a partition, given as a frame or as series."""
    *parts, names, request = given
    number = partition_info["number"] if partition_info else 0
    return _read(request, parts if len(parts) > 1 else parts[0], names, number)


def _merge(tallies: list[Any]) -> Any:
    """Merge tallies into a new one; a task must not change what it was given."""
    total = type(tallies[0])()
    for tally in tallies:
        total.merge(tally)
    return total


def dask_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> DaskSource:
    """Return the source of arrays, or of series."""
    given = {"y_true": y_true, "y_score": y_score}
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    if not all(hasattr(v, "chunks") and hasattr(v, "to_delayed") for v in given.values()):
        return _from_series(given)
    check_one_dimensional(**{name: value.shape for name, value in given.items()})
    for name, value in given.items():
        if value.chunks != y_score.chunks:
            if np.isnan([*value.shape, *y_score.shape]).any():
                _check_partitions(name, len(value.chunks[0]), len(y_score.chunks[0]))
            elif name == "sample_weight":
                check_weight_shape(value.shape, len(y_score))
            else:
                check_lengths(len(value), len(y_score))
            given[name] = value.rechunk(y_score.chunks)
    columns = [v.to_delayed() for v in dask.optimize(*given.values())]
    together = dask.delayed(_together, pure=False)
    parts = [together(*part) for part in zip(*columns, strict=True)]
    return DaskSource(parts, _names_of(given))


def _together(*columns: Any) -> tuple[Any, ...]:
    """Return columns as one value."""
    return columns


def _names_of(given: dict[str, Any]) -> ColumnNames:
    """Return which columns were given as arrays or series."""
    return ColumnNames(weight="weight" if "sample_weight" in given else None)


def _from_series(given: dict[str, Any]) -> DaskSource:
    """Return the source of series."""
    for name, value in given.items():
        if getattr(value, "ndim", 0) != 1 or not hasattr(value, "npartitions"):
            raise InvalidInputError(
                f"`{name}` must be a Dask array or series like its partner, got "
                f"{type(value).__name__}. Pick a column, or use boundshift.streaming.scan_boundary "
                "with column names."
            )
    if any(hasattr(value, "chunks") for value in given.values()):
        return dask_arrays(
            *(v if hasattr(v, "chunks") else v.to_dask_array() for v in given.values())
        )
    for name, value in given.items():
        _check_partitions(name, value.npartitions, given["y_score"].npartitions)
    together = dask.delayed(_together, pure=False)
    parts = zip(*(value.to_delayed() for value in given.values()), strict=True)
    delayed = [together(*part) for part in parts]
    return DaskSource(delayed, _names_of(given), list(given.values()))


def _check_partitions(name: str, own: int, scores: int) -> None:
    """Raise unless a column has as many partitions as the scores."""
    if own != scores:
        raise InvalidInputError(
            f"`{name}` and `y_score` must have the same partitions, got {own} and {scores}. "
            "Repartition one of them like the other."
        )


def dask_columns(frame: Any, names: ColumnNames) -> DaskSource:
    """Return the source of some columns of a frame."""
    if not hasattr(frame, "columns") or frame.ndim != 2:
        raise InvalidInputError(
            f"`data` must be a frame, got a Dask {type(frame).__name__}. "
            "Pass labels and scores to boundshift.find_boundary."
        )
    names.check([str(name) for name in frame.columns])
    frame = frame[names.all]
    return DaskSource(frame.to_delayed(), names, [frame])


def dask_predict(column: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the labels of an array or series of scores, as lazily as these are."""
    kind = np.array(labels).dtype
    if hasattr(column, "chunks"):
        return column.map_blocks(_label, threshold, labels, dtype=kind)
    meta = column._meta.astype(object if kind.kind in "OUS" else kind)
    return column.map_partitions(_label_series, threshold, labels, meta=meta)


def _label(scores: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the label of each score."""
    return np.array(labels)[(as_known_scores(scores) > threshold).astype(np.intp)]


def _label_series(scores: Any, threshold: float, labels: tuple[Any, Any]) -> Any:
    """Return the label of each score, with its index."""
    values = _label(scores.to_numpy(dtype=np.float64, na_value=np.nan), threshold, labels)
    values = values.astype(object) if values.dtype.kind in "OUS" else values
    return type(scores)(values, index=scores.index, name=scores.name)
