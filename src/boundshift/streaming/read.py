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

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.streaming.chunks import Chunk, ColumnNames, as_chunk, check_lengths
from boundshift.validation import as_column

OnProgress = Callable[[int, int], None]
"""Called with the number of parts read, and of all parts."""

PEEKED_ROWS = 1 << 16
_ROWS_OF_A_PART = 1 << 20

# Library of a value's type, and the engine that reads it.
_ENGINES = {
    "_duckdb": "duckdb",
    "dask": "dask",
    "dask_expr": "dask",
    "duckdb": "duckdb",
    "polars": "polars",
    "pyarrow": "arrow",
    "pyspark": "spark",
}
# Module of an engine, the library that it needs, and the extra that brings it. A module offers
# `<engine>_columns(data, names)`, `<engine>_arrays(y_true, y_score, sample_weight)` and, for lazy
# columns, `<engine>_predict(column, threshold, labels)`.
_MODULES = {
    "arrow": ("frames", "pyarrow", "arrow"),
    "chunks": ("read", "", ""),
    "dask": ("on_dask", "dask", "dask"),
    "duckdb": ("frames", "pyarrow", "duckdb"),
    "files": ("files", "pyarrow", "arrow"),
    "memmap": ("read", "", ""),
    "polars": ("frames", "pyarrow", "polars"),
    "spark": ("on_spark", "pyspark", "spark"),
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
    """Return the source of some columns, or of pairs; arguments as in `scan_boundary`.

    Examples
    --------
    >>> read([([0, 1], [0.5, 0.7])], label="y")
    Traceback (most recent call last):
    boundshift.exceptions.InvalidInputError: `label` must be left out for pairs of labels and ...
    """
    names = ColumnNames(label, score, weight, by)
    engine = _engine_of_columns(data)
    source: Source
    if engine == "spark":
        source = _load(engine, "columns")(data, names, element)
    elif element != -1:
        raise InvalidInputError(
            f"`element` must be left out but for a Spark frame, got {element!r} with "
            f"{type(data).__name__}. Pass a column of numbers as `score`."
        )
    else:
        source = _load(engine, "columns")(data, names)
    return source


def find_source(y_true: object, y_score: object, sample_weight: object = None) -> Source | None:
    """Return the source of labels and scores that are read in passes, None for those in memory.

    Examples
    --------
    >>> find_source([0, 1], [0.5, 0.7]) is None
    True
    """
    given = {"y_true": y_true, "y_score": y_score}
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    engines = {_engine_of_array(value) for value in given.values()}
    if engines <= {None, "arrow"} and None in engines:
        return None
    if engines == {None, "memmap"}:
        engines = {"memmap"}
    if len(engines) > 1:
        kinds = [type(value).__name__ for value in given.values()]
        raise InvalidInputError(
            f"{' and '.join(f'`{name}`' for name in given)} must be of one kind, got "
            f"{' and '.join(kinds)}. Convert one of them."
        )
    source: Source = _load(str(engines.pop()), "arrays")(*given.values())
    return source


def find_predictor(column: object) -> Callable[..., Any] | None:
    """Return the function that labels a lazy column of scores, None for scores in memory."""
    engine = _ENGINES.get(library_of(column))
    if engine in (None, "arrow") or _is_series(engine, column):
        return None
    predictor: Callable[..., Any] = _load(str(engine), "predict")
    return predictor


def _load(engine: str, what: str) -> Any:
    """Import a function of an engine; if its library is missing, say which extra brings it."""
    module, library, extra = _MODULES[engine]
    try:
        return getattr(import_module(f"boundshift.streaming.{module}"), f"{engine}_{what}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != library:
            raise
        raise MissingExtraError(library, extra) from error


def library_of(value: object) -> str:
    """Return the name of the library that a value's type comes from."""
    return type(value).__module__.partition(".")[0]


def _engine_of_columns(data: Any) -> str:
    """Return the engine that reads files, a frame, a table or pairs."""
    library = library_of(data)
    if library in _ENGINES:
        return _ENGINES[library]
    if isinstance(data, str | PathLike) or _is_list_of(
        data, lambda v: isinstance(v, str | PathLike)
    ):
        return "files"
    if callable(data) or (hasattr(data, "__iter__") and not hasattr(data, "columns")):
        return "chunks"
    raise InvalidInputError(
        "`data` must be files, a DuckDB relation, a frame of Polars, Arrow, Dask or Spark, or an "
        "iterable of pairs, got "
        f"{type(data).__name__}. For columns in memory use boundshift.find_boundary."
    )


def _engine_of_array(value: object) -> str | None:
    """Return the engine that reads labels or scores, None if they are in memory."""
    engine = _ENGINES.get(library_of(value))
    if engine is not None:
        return None if _is_series(engine, value) else engine
    if isinstance(value, np.memmap) and value.ndim == 1:
        return "memmap"
    is_chunks = callable(value) or (isinstance(value, Iterable) and not isinstance(value, Sized))
    # To NumPy arrays of one length would be the rows of a matrix, but a matrix is no column.
    is_list = _is_list_of(value, lambda part: getattr(part, "ndim", 0) == 1)
    return "chunks" if (is_chunks and not hasattr(value, "__array__")) or is_list else None


def _is_path(value: object) -> bool:
    return isinstance(value, str | PathLike)


def _is_series(engine: str | None, value: object) -> bool:
    """Return whether a value is a series of Polars, which holds its rows."""
    return engine == "polars" and hasattr(value, "__array__")


def _is_list_of(value: object, holds: Callable[[object], bool]) -> bool:
    """Return whether a value is a list of values that all meet a condition."""
    return isinstance(value, list | tuple) and bool(value) and all(map(holds, value))


# --- Reading on this machine ----------------------------------------------------------------------


class PartSource:
    """Parts that can be read one without the other, in any order and on any thread.

    Parameters
    ----------
    parts : sequence of callables
        Each returns the chunks of one part.
    is_weighted : bool, default=False
        Whether rows have weights.
    beginnings : sequence of callables, default=None
        Each returns the first rows of a part, if that takes less than to read it.
    """

    def __init__(
        self,
        parts: Sequence[Callable[[], Iterable[Chunk]]],
        is_weighted: bool = False,
        beginnings: Sequence[Callable[[], Iterable[Chunk]]] | None = None,
    ) -> None:
        self._parts, self.is_weighted = parts, is_weighted
        self._beginnings = parts if beginnings is None else beginnings

    def peek(self) -> list[Chunk]:
        """Return rows from the first, the middle and the last part."""
        last = len(self._parts) - 1
        which = sorted({0, last // 2, last}) if last >= 0 else []
        first = (next(iter(self._beginnings[i]()), None) for i in which)
        return [chunk.take(slice(PEEKED_ROWS)) for chunk in first if chunk is not None]

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        tasks = (lambda part=part: request.tally(part()) for part in self._parts)
        return _merge_in_order(tasks, request.tally(()), len(self._parts), on_progress)


def source_of_rows(
    n: int, rows: Callable[[slice, str], Chunk], is_weighted: bool = False
) -> PartSource:
    """Return the source of n rows of which any slice can be read, a million rows a part.

    Parameters
    ----------
    n : int
        Number of rows.
    rows : callable
        From a slice of the rows, and what an error calls them, to their chunk.
    is_weighted : bool, default=False
        Whether rows have weights.
    """

    def part(start: int) -> list[Chunk]:
        stop = min(start + _ROWS_OF_A_PART, n)
        return [rows(slice(start, stop), f"rows {start} to {stop - 1}")]

    starts = range(0, n, _ROWS_OF_A_PART)
    return PartSource([partial(part, start) for start in starts], is_weighted)


class ChunkSource:
    """Chunks that can only be read one after the other.

    Parameters
    ----------
    chunks : callable
        Returns an iterator over all chunks, the same ones each time.
    is_weighted : bool, default=False
        Whether rows have weights.
    """

    def __init__(self, chunks: Callable[[], Iterator[Chunk]], is_weighted: bool = False) -> None:
        self._chunks, self.is_weighted = chunks, is_weighted

    def peek(self) -> list[Chunk]:
        """Return rows of the first chunk that has any."""
        first = next((chunk for chunk in self._chunks() if len(chunk)), None)
        return [] if first is None else [first.take(slice(PEEKED_ROWS))]

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, and return what was asked for."""
        tasks = (lambda chunk=chunk: request.tally([chunk]) for chunk in self._chunks())
        return _merge_in_order(tasks, request.tally(()), 0, on_progress)


def _merge_in_order(
    tasks: Iterable[Callable[[], Any]], tally: Any, total: int, on_progress: OnProgress
) -> Any:
    """Run tasks on all cores, a few ahead of the merging, and merge their tallies in order."""
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    waiting: deque[Future[Any]] = deque()
    done = 0

    def merge_first() -> None:
        nonlocal done
        tally.merge(waiting.popleft().result())
        done += 1
        on_progress(done, max(total, done))

    with ThreadPoolExecutor(workers) as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(task))
                if len(waiting) > 2 * (workers or 1):
                    merge_first()
            while waiting:
                merge_first()
        finally:
            for future in waiting:
                future.cancel()
    return tally


# --- Memory maps, and iterables of chunks ---------------------------------------------------------


def memmap_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> PartSource:
    """Return the source of arrays, some of which may be in memory."""
    remedy = "Pass one value for each row."
    y, s = as_column("y_true", y_true, remedy), as_column("y_score", y_score, remedy)
    check_lengths(len(y), len(s))
    w = None if sample_weight is None else as_column("sample_weight", sample_weight, remedy, len(s))

    def rows(which: slice, location: str) -> Chunk:
        return as_chunk(y[which], (s[which],), location, None if w is None else w[which])

    return source_of_rows(len(s), rows, is_weighted=w is not None)


def chunks_arrays(y_true: Any, y_score: Any, sample_weight: Any = None) -> ChunkSource:
    """Return the source of chunks of labels, chunks of scores, and chunks of weights if any."""
    given = {"y_true": y_true, "y_score": y_score}
    if sample_weight is not None:
        given["sample_weight"] = sample_weight
    for name, value in given.items():
        _refuse_iterator(name, value)

    def chunks() -> Iterator[Chunk]:
        rows = zip_longest(*map(_iterate, given.values()), fillvalue=())
        for i, (labels, scores, *weights) in enumerate(rows):
            yield as_chunk(labels, (scores,), f"chunk {i}", *weights)

    return ChunkSource(chunks, is_weighted=sample_weight is not None)


def chunks_columns(pairs: Any, names: ColumnNames) -> ChunkSource:
    """Return the source of pairs (labels, scores), or of triples with weights or groups.

    Parameters
    ----------
    pairs : iterable, or function that makes one
        With several columns of scores, each pair has a matrix of them.
    names : ColumnNames
        Whether the third of a triple are groups; else they are weights.
    """
    _refuse_names(names)
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

    return ChunkSource(chunks, is_weighted=items == 3 and not has_groups)


def _refuse_names(names: ColumnNames) -> None:
    """Raise if a column is named for pairs, which have none."""
    for name in ("label", "score", "weight", "by"):
        column = getattr(names, name)
        if column not in (name, None) and not isinstance(column, tuple):
            raise InvalidInputError(
                f"`{name}` must be left out for pairs of labels and scores, which have no "
                f"columns, got {column!r}."
            )
    if names.weight is not None:
        raise InvalidInputError(
            "`weight` must be left out for pairs of labels and scores, which have no columns, got "
            f"{names.weight!r}. Pass triples (labels, scores, weights)."
        )


def _iterate(chunks: Any) -> Iterable[Any]:
    """Return all chunks, from the first on."""
    iterable: Iterable[Any] = chunks() if callable(chunks) else chunks
    return iterable


def _refuse_iterator(name: str, chunks: object) -> None:
    """Raise for an iterator, which can be read once only."""
    if isinstance(chunks, Iterator):
        raise InvalidInputError(
            f"`{name}` must give the same chunks in every pass, got "
            f"{type(chunks).__name__!r}, which can be read once. Pass a list, or a function that "
            "makes the chunks again, for example `lambda: read_chunks(path)`."
        )
