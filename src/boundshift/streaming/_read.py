"""Which engine reads the data, and reading on this machine.

`read` finds the engine by the name of the data's library, so no library is imported needlessly.
An engine returns a `Source`: it turns the rows into chunks wherever they lie, lets the request of
a pass tally each chunk there, and merges the tallies.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib import import_module
from itertools import zip_longest
from os import PathLike
from typing import Any, Protocol

import numpy as np

from boundshift._validation import as_column
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._chunks import Chunk, ColumnNames, arrow, as_chunk, check_lengths

OnProgress = Callable[[int, int], None]
"""Called with the number of parts read, and of all parts."""

_Part = Callable[[], Iterable[Chunk]]

PEEKED_ROWS = 1 << 16
_ROWS_OF_A_PART = 1 << 20

# Library of a value's type, and the engine that reads it: ``frames.<engine>_columns``.
_ENGINES = {
    "_duckdb": "duckdb",
    "dask": "dask",
    "dask_expr": "dask",
    "duckdb": "duckdb",
    "polars": "polars",
    "pyarrow": "arrow",
    "pyspark": "spark",
}


class Request(Protocol):
    """What to find out in one pass."""

    def tally(self, chunks: Iterable[Chunk]) -> Any:
        """Return what is found in some chunks; findings of different rows have a ``merge``."""


class Source(Protocol):
    """Labelled scores that are read in passes, the same rows in each."""

    @property
    def is_weighted(self) -> bool:
        """Whether rows have weights."""

    def peek(self) -> Iterable[Chunk]:
        """Return a few rows, for a first idea of the scores; there may be none."""

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""


def read(
    data: Any,
    *,
    label: str = "label",
    score: str | tuple[str, ...] = "score",
    weight: str | None = None,
    by: str | None = None,
    element: int = -1,
) -> Source:
    """Return the source of some columns, or of pairs; arguments as in `scan_boundary`."""
    names = ColumnNames(label, score, weight, by)
    engine = _ENGINES.get(library_of(data))
    if engine != "spark" and element != -1:
        raise InvalidInputError(
            f"`element` must be left out but for a Spark frame, got {element!r} with "
            f"{type(data).__name__}. Pass a column of numbers as `score`."
        )
    source: Source
    if engine is not None:
        frames = import_module("boundshift.streaming._frames")
        beside = (element,) if engine == "spark" else ()
        source = getattr(frames, f"{engine}_columns")(data, names, *beside)
    elif _is_path(data) or _is_list_of(data, _is_path):
        arrow()
        source = import_module("boundshift.streaming._files").files_columns(data, names)
    elif callable(data) or (hasattr(data, "__iter__") and not hasattr(data, "columns")):
        source = _chunks_columns(data, names)
    else:
        raise InvalidInputError(
            "`data` must be files, a DuckDB relation, a frame of Polars, Arrow, Dask or Spark, or "
            f"an iterable of pairs, got {type(data).__name__}. For columns in memory use "
            "boundshift.find_boundary."
        )
    return source


def find_source(y_true: object, y_score: object, sample_weight: object = None) -> Source | None:
    """Return the source of labels and scores that are read in passes, None for those in memory."""
    given: dict[str, Any] = {"y_true": y_true, "y_score": y_score}
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    kinds = {_kind_of_array(value) for value in given.values()}
    if kinds == {"memory"}:
        return None
    if kinds == {"memory", "memmap"} or kinds == {"memmap"}:
        return _memmap_arrays(*given.values())
    if len(kinds) > 1:
        names, found = ([f"`{name}`" for name in given], [type(v).__name__ for v in given.values()])
        raise InvalidInputError(
            f"{' and '.join(names)} must be of one kind, got {' and '.join(found)}. Convert one of "
            "them."
        )
    if kinds == {"chunks"}:
        return _chunks_arrays(given)
    if kinds == {"dask"}:
        source: Source = import_module("boundshift.streaming._frames").dask_arrays(given)
        return source
    raise InvalidInputError(
        "`y_true` and `y_score` must be columns of one frame, got a "
        f"{kinds.pop().capitalize()} {type(y_score).__name__}, which does not say which rows "
        "belong together. Use boundshift.streaming.scan_boundary(frame, label=..., score=...)."
    )


def refuse_lazy(scores: object) -> None:
    """Raise for scores that are a column of an engine, and not in memory."""
    kind = _ENGINES.get(library_of(scores), "arrow")
    if kind != "arrow" and not _is_series(kind, scores):
        remedy = (
            "map_blocks(boundary.predict) or map_partitions(boundary.predict)"
            if kind == "dask"
            else "the expression of boundary.to_sql"
        )
        raise InvalidInputError(
            f"`y_score` must be scores in memory, got a {kind.capitalize()} "
            f"{type(scores).__name__}. Label it by {remedy}."
        )


def library_of(value: object) -> str:
    """Return the name of the library that a value's type comes from."""
    return type(value).__module__.partition(".")[0]


def _kind_of_array(value: object) -> str:
    """Return the engine that reads labels or scores, or "memory", "memmap" or "chunks"."""
    engine = _ENGINES.get(library_of(value))
    if engine == "arrow" or _is_series(engine, value):
        return "memory"
    if engine is not None:
        return engine
    if isinstance(value, np.memmap) and value.ndim == 1:
        return "memmap"
    is_chunks = callable(value) or (isinstance(value, Iterable) and not isinstance(value, Sized))
    # To NumPy arrays of one length would be the rows of a matrix, but a matrix is no column.
    is_list = _is_list_of(value, lambda part: getattr(part, "ndim", 0) == 1)
    return "chunks" if (is_chunks and not hasattr(value, "__array__")) or is_list else "memory"


def _is_path(value: object) -> bool:
    return isinstance(value, str | PathLike)


def _is_series(engine: str | None, value: object) -> bool:
    """Return whether a value is a series of Polars, which holds its rows."""
    return engine == "polars" and hasattr(value, "__array__")


def _is_list_of(value: object, holds: Callable[[object], bool]) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(holds, value))


# --- Reading on this machine ----------------------------------------------------------------------


class PartSource:
    """Parts that are read on this machine, on all cores.

    Each of the parts is a function that returns its chunks. One function, instead of a sequence,
    returns all chunks, the same each time and one after the other.
    """

    def __init__(self, parts: Sequence[_Part] | _Part, is_weighted: bool = False) -> None:
        self._parts, self.is_weighted = parts, is_weighted

    def peek(self) -> list[Chunk]:
        """Return rows of the first, the middle and the last part, or of the first chunk."""
        if callable(self._parts):
            first = [next((chunk for chunk in self._parts() if len(chunk)), None)]
        else:
            last = len(self._parts) - 1
            which = sorted({0, last // 2, last}) if last >= 0 else []
            first = [next(iter(self._parts[i]()), None) for i in which]
        return [chunk.take(slice(PEEKED_ROWS)) for chunk in first if chunk is not None]

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, a few parts ahead of the merging, and merge tallies in order."""
        parts: Iterable[Any] = self._parts() if callable(self._parts) else self._parts
        total, tally = 0 if callable(self._parts) else len(self._parts), request.tally(())
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        waiting: deque[Future[Any]] = deque()
        done = 0

        def read_part(part: Chunk | _Part) -> Any:
            return request.tally(part() if callable(part) else [part])

        def merge_first() -> None:
            nonlocal done
            tally.merge(waiting.popleft().result())
            done += 1
            on_progress(done, max(total, done))

        with ThreadPoolExecutor(cores) as pool:
            try:
                for part in parts:
                    waiting.append(pool.submit(read_part, part))
                    if len(waiting) > 2 * (cores or 1):
                        merge_first()
                while waiting:
                    merge_first()
            finally:
                for future in waiting:
                    future.cancel()
        return tally


def source_of_rows(
    n: int, rows: Callable[[slice, str], Chunk], is_weighted: bool = False
) -> PartSource:
    """Return the source of n rows, given their chunk by a slice and what an error calls it."""

    def part(start: int) -> list[Chunk]:
        stop = min(start + _ROWS_OF_A_PART, n)
        return [rows(slice(start, stop), f"rows {start} to {stop - 1}")]

    return PartSource([partial(part, start) for start in range(0, n, _ROWS_OF_A_PART)], is_weighted)


# --- Memory maps, and iterables of chunks ---------------------------------------------------------


def _memmap_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> PartSource:
    """Return the source of arrays, some of which may be in memory."""
    remedy = "Pass one value for each row."
    y, s = as_column("y_true", y_true, remedy), as_column("y_score", y_score, remedy)
    check_lengths(len(y), len(s))
    w = None if sample_weight is None else as_column("sample_weight", sample_weight, remedy, len(s))

    def rows(which: slice, location: str) -> Chunk:
        return as_chunk(y[which], (s[which],), location, None if w is None else w[which])

    return source_of_rows(len(s), rows, is_weighted=w is not None)


def _chunks_arrays(given: dict[str, Any]) -> PartSource:
    """Return the source of chunks of labels, chunks of scores, and chunks of weights if any."""
    for name, value in given.items():
        _refuse_iterator(name, value)
    columns = given.values()
    together = lambda: zip_longest(*map(_iterate, columns), fillvalue=())  # noqa: E731
    return _chunks_columns(together, ColumnNames())


def _chunks_columns(pairs: Any, names: ColumnNames) -> PartSource:
    """Return the source of pairs (labels, scores), or of triples with weights or groups.

    With several columns of scores, each pair has a matrix of them. If `names` has groups, the
    third of a triple are these; else they are weights.
    """
    for name in ("label", "score", "weight", "by"):
        column = getattr(names, name)
        is_default = column is None or isinstance(column, tuple)
        if not is_default and (column != name or name == "weight"):
            remedy = " Pass triples (labels, scores, weights)." if name == "weight" else ""
            raise InvalidInputError(
                f"`{name}` must be left out for pairs of labels and scores, which have no "
                f"columns, got {column!r}.{remedy}"
            )
    _refuse_iterator("data", pairs)
    has_groups, several = names.by is not None, isinstance(names.score, tuple)
    first = next(iter(_iterate(pairs)), ())
    items = len(first) if first else 2
    n_columns = np.shape(first[1])[-1] if first and several and np.ndim(first[1]) else 0
    if items != 3 if has_groups else items not in (2, 3):
        kind = "triples (labels, scores, groups)" if has_groups else "pairs (labels, scores)"
        raise InvalidInputError(f"`data` must be {kind}, got {items} items in one.")

    def chunks() -> Iterator[Chunk]:
        for i, (labels, scores, *more) in enumerate(_iterate(pairs)):
            if len(more) != items - 2:
                raise InvalidInputError(
                    f"`data` must have as many items in each chunk, got {items} in the first and "
                    f"{2 + len(more)} in chunk {i}."
                )
            columns = (scores,)
            if several:
                matrix = np.asanyarray(scores)  # a mask stays, and is refused
                if matrix.ndim != 2 or matrix.shape[1] != n_columns:
                    raise InvalidInputError(
                        f"Scores must be matrices with {n_columns} columns, one for each class, "
                        f"got the shape {matrix.shape}."
                    )
                columns = tuple(matrix.T)
            beside = {"groups" if has_groups else "weights": more[0]} if more else {}
            yield as_chunk(labels, columns, f"chunk {i}", **beside)

    return PartSource(chunks, items == 3 and not has_groups)


def _iterate(chunks: Any) -> Iterable[Any]:
    iterable: Iterable[Any] = chunks() if callable(chunks) else chunks
    return iterable


def _refuse_iterator(name: str, chunks: object) -> None:
    if isinstance(chunks, Iterator):
        raise InvalidInputError(
            f"`{name}` must give the same chunks in every pass, got "
            f"{type(chunks).__name__!r}, which can be read once. Pass a list, or a function that "
            "makes the chunks again, for example `lambda: read_chunks(path)`."
        )
