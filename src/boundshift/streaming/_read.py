"""Labelled rows as chunks of plain arrays, whatever engine holds them, and reading them here.

`read` finds the engine by the name of the data's library, so no library is imported needlessly.
An engine returns a `Source`: it turns the rows into chunks wherever they lie, lets the request of
a pass tally each chunk there, and merges the tallies.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boundshift._typing import BoolArray, FloatArray
from boundshift._validation import as_column
from boundshift.exceptions import InvalidInputError, MissingExtraError

OnProgress = Callable[[int, int], None]
"""Called with the number of parts read, and of all parts."""

_Part = Callable[[], Iterable["Chunk"]]

PEEKED_ROWS = 1 << 16

# Library of a value's type, and the engine that reads it: ``_frames.<engine>_columns``.
_ENGINES = {
    "_duckdb": "duckdb",
    "dask": "dask",
    "dask_expr": "dask",
    "duckdb": "duckdb",
    "polars": "polars",
    "pyarrow": "arrow",
    "pyspark": "spark",
}


# --- Chunks ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnNames:
    """Which columns are read; with an empty name of scores, labels alone."""

    label: str = "label"
    score: str = "score"
    weight: str | None = None

    @property
    def given(self) -> dict[str, str]:
        """Columns by the argument that names each."""
        left_out = {"label": (), "score": "", "weight": None}
        named = {argument: getattr(self, argument) for argument in left_out}
        return {name: column for name, column in named.items() if column != left_out[name]}

    @property
    def numbers(self) -> dict[str, str]:
        """Columns that must be numbers, and the argument that an error calls them."""
        called = {"score": "y_score", "weight": "sample_weight"}
        return {name: called[kind] for kind, name in self.given.items() if kind in called}

    @property
    def own(self) -> ColumnNames:
        """The same columns named like their arguments, for an engine that renames them."""
        return ColumnNames(**{argument: argument for argument in self.given})

    def check(self, names: Sequence[str], location: str = "") -> None:
        """Raise unless all are names of columns."""
        for argument, column in self.given.items():
            if not isinstance(column, str) or column not in names:
                of = f" of {location}" if location else ""
                raise InvalidInputError(
                    f"`{argument}` must name one of the columns {', '.join(map(repr, names))}{of}, "
                    f"got {column!r}."
                )


@dataclass(frozen=True, eq=False)
class Values:
    """Labels as they are, or as indices of names with -1 where one is missing."""

    array: NDArray[Any]
    names: tuple[Any, ...] | None = None

    def take(self, which: slice | NDArray[Any]) -> Values:
        """Return those of some rows."""
        return Values(self.array[which], self.names)

    def equal(self, wanted: object) -> BoolArray:
        """Return whether each row has a value."""
        if self.names is None:
            return np.asarray(self.array == wanted, dtype=np.bool_)
        codes = [code for code, name in enumerate(self.names) if name == wanted]
        return np.isin(self.array, codes) if len(codes) != 1 else np.asarray(self.array == codes[0])

    def counts(self) -> Counter[Any]:
        """Return how many rows have each value, None where it is missing."""
        array, names = self.array, self.names
        is_missing = np.asarray(array != array if names is None else array < 0, dtype=np.bool_)
        known: Any = array[~is_missing]
        if names is None:
            known, counts = np.unique(known, return_counts=True)
            known = known.tolist()
        else:
            known, counts = names, np.bincount(known, minlength=len(names))
        found: Counter[Any] = Counter()
        for value, n in zip(known, counts.tolist(), strict=True):
            if n:
                found[value] += n
        if missing := int(np.count_nonzero(is_missing)):
            found[None] = missing
        return found


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some labelled rows."""

    labels: Values
    scores: Any  # an array, NaN where a score is missing; None where labels alone are read
    location: str  # as errors call it, for example "partition 3"
    weights: Any = None

    def __len__(self) -> int:
        return len(self.labels.array)

    def take(self, which: slice | NDArray[Any]) -> Chunk:
        """Return some of the rows."""
        return replace(
            self,
            labels=self.labels.take(which),
            scores=self.scores[which],
            weights=None if self.weights is None else self.weights[which],
        )

    def counted(self) -> Chunk:
        """Return the rows whose weight is not 0."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))


def as_chunk(labels: Any, scores: Any, location: str, weights: Any = None) -> Chunk:
    """Return a chunk of arrays, series or Arrow arrays."""
    chunk = Chunk(_values(labels), None, location)
    if scores is not None:
        found = _numbers(scores, location)
        check_lengths(len(chunk), len(found), location)
        chunk = replace(chunk, scores=found)
    if weights is not None:
        found = _numbers(weights, location, "sample_weight")
        remedy = "Pass how often each row counts."
        chunk = replace(chunk, weights=as_column("sample_weight", found, remedy, len(chunk)))
    return chunk


def table_chunk(rows: Any, names: ColumnNames, location: str) -> Chunk:
    """Return columns of an Arrow table or record batch."""
    columns = {kind: rows.column(name) for kind, name in names.given.items()}
    labels = as_labels(columns["label"], names.label, location)
    return as_chunk(labels, columns.get("score"), location, columns.get("weight"))


def arrow() -> Any:
    """Import pyarrow, or name the extra that brings it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("pyarrow", "arrow") from error
    return pa


def as_labels(column: Any, name: str, where: str) -> Any:
    """Return an Arrow column of labels, bytes as the text that they are; refuse other kinds."""
    pa, kind = arrow(), column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        with contextlib.suppress(pa.ArrowInvalid):
            return column.cast(pa.string())
    elif not pa.types.is_nested(kind) and not pa.types.is_fixed_size_binary(kind):
        return column
    raise InvalidInputError(
        f"Column '{name}' of {where} must hold a label in each row, got {kind} values. Choose "
        "the column that says which class a row has."
    )


def _numbers(scores: Any, location: str, name: str = "y_score") -> FloatArray:
    """Return scores, or weights, as an array of numbers, NaN where missing."""
    if type(scores).__module__.startswith("pyarrow."):
        pa, scores = arrow(), _whole(scores)
        kinds, kind = pa.types, scores.type
        if kinds.is_dictionary(kind):
            return _numbers(scores.dictionary_decode(), location, name)
        is_plain = kinds.is_floating(kind) or kinds.is_integer(kind)
        if not (is_plain or kinds.is_decimal(kind) or kinds.is_null(kind)):
            raise not_real_numbers(f"{kind} values in {location}", name)
        if scores.null_count or not is_plain:
            scores = scores.cast(pa.float64(), safe=False)
        return np.asarray(scores.to_numpy(zero_copy_only=False))
    is_plain = isinstance(getattr(scores, "dtype", None), np.dtype) and scores.dtype.kind in "biuf"
    try:
        if hasattr(scores, "to_numpy") and hasattr(scores, "isna") and not is_plain:
            # pandas has several values that mean "missing".
            scores = scores.to_numpy(dtype=np.float64, na_value=np.nan)
        remedy = "Pass the column of the positive class, for example `proba[:, 1]`."
        array = as_column(name, scores, remedy)
        if array.dtype.kind == "O":
            array = np.array([np.nan if v is None else v for v in array], dtype=np.float64)
    except InvalidInputError:
        raise
    except (TypeError, ValueError) as error:
        raise not_real_numbers(f"{error} in {location}", name) from None
    if array.dtype.kind not in "biuf":
        raise not_real_numbers(f"{array.dtype} values in {location}", name)
    return array


def _values(labels: Any) -> Values:
    if type(labels).__module__.startswith("pyarrow."):
        pa, labels = arrow(), _whole(labels)
        kinds, kind = pa.types, labels.type
        is_number = kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)
        if is_number and not labels.null_count:
            return Values(np.asarray(labels.to_numpy(zero_copy_only=False)))
        if not kinds.is_dictionary(kind):
            labels = labels.dictionary_encode()
        codes = labels.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return Values(np.asarray(codes), tuple(labels.dictionary.to_pylist()))
    is_series = hasattr(labels, "factorize")
    if is_series and (getattr(labels.dtype, "kind", "O") not in "biuf" or labels.hasnans):
        codes, categories = labels.astype(object).factorize()
        return Values(codes, tuple(categories.tolist()))
    array = as_column("y_true", labels, "Pass one value for each row.")
    if array.dtype.kind in "biufSU":
        return Values(array)
    known: dict[Any, int] = {}
    coded = [-1 if v is None or v != v else known.setdefault(v, len(known)) for v in array.tolist()]
    return Values(np.array(coded, dtype=np.int64), tuple(known))


def _whole(array: Any) -> Any:
    """Return an array, or a chunked array, as one array."""
    pa = arrow()
    if not isinstance(array, pa.ChunkedArray):
        return array
    if array.num_chunks == 1:
        return array.chunk(0)
    return pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)


def read_once(data: object, remedy: str) -> InvalidInputError:
    """Return the error for data that is gone after the first pass."""
    return InvalidInputError(
        f"`data` must give the same chunks in every pass, got {type(data).__name__!r}, which can "
        f"be read once. {remedy}"
    )


def check_lengths(labels: int, scores: int, location: str = "") -> None:
    """Raise unless there is one label for each score."""
    if labels != scores:
        where = f" in {location}" if location else ""
        raise InvalidInputError(
            f"`y_true` and `y_score` must have the same length, got {labels} labels and {scores} "
            f"scores{where}. Pass one score for each row."
        )


def not_real_numbers(what: str, name: str = "y_score") -> InvalidInputError:
    """Return the error for scores, or weights, that are no numbers."""
    remedy = {
        "y_score": "Pass the decision function or the probability of the positive class.",
        "sample_weight": "Pass how often each row counts.",
    }
    return InvalidInputError(f"`{name}` must be real numbers, got {what}. {remedy[name]}")


# --- Which engine reads ---------------------------------------------------------------------------


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


def read(data: Any, names: ColumnNames, element: int = -1) -> Source:
    """Return the source of some columns, or of pairs; arguments as in `scan_boundary`."""
    engine = _ENGINES.get(type(data).__module__.partition(".")[0])
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
    elif _is_path(data) or (isinstance(data, list | tuple) and data and all(map(_is_path, data))):
        source = import_module("boundshift.streaming._tables").files_columns(data, names)
    elif callable(data) or (hasattr(data, "__iter__") and not hasattr(data, "columns")):
        source = _pairs(data, names)
    else:
        raise InvalidInputError(
            "`data` must be files, a DuckDB relation, a frame of Polars, Arrow, Dask or Spark, or "
            f"an iterable of pairs, got {type(data).__name__}. For columns in memory use "
            "boundshift.find_boundary."
        )
    return source


def _is_path(value: object) -> bool:
    return isinstance(value, str | PathLike)


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
        parts = [self._parts] if callable(self._parts) else self._parts
        which = sorted({0, (len(parts) - 1) // 2, len(parts) - 1}) if parts else []
        first = [next((chunk for chunk in parts[i]() if len(chunk)), None) for i in which]
        return [chunk.take(slice(PEEKED_ROWS)) for chunk in first if chunk is not None]

    def scan(self, request: Request, on_progress: OnProgress) -> Any:
        """Read every row once, a few runs ahead of the merging, and merge tallies in order.

        A run of parts has one tally, since a new one costs as much as many rows.
        """
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        cores, total, done, tally = cores or 1, 0, 0, request.tally(())
        runs: Iterable[list[Any]]
        if callable(self._parts):
            runs = ([chunk] for chunk in self._parts())
        else:
            total = len(self._parts)
            size = max(total // (4 * cores), 1)
            runs = [list(self._parts[i : i + size]) for i in range(0, total, size)]
        waiting: deque[tuple[int, Future[Any]]] = deque()

        def read_run(run: list[Chunk | _Part]) -> Any:
            return request.tally(c for part in run for c in (part() if callable(part) else [part]))

        def merge_first() -> None:
            nonlocal done
            parts, found = waiting.popleft()
            tally.merge(found.result())
            done += parts
            on_progress(done, max(total, done))

        with ThreadPoolExecutor(cores) as pool:
            try:
                for run in runs:
                    waiting.append((len(run), pool.submit(read_run, run)))
                    if len(waiting) > 2 * cores:
                        merge_first()
                while waiting:
                    merge_first()
            finally:
                for _, future in waiting:
                    future.cancel()
        return tally


def _pairs(pairs: Any, names: ColumnNames) -> PartSource:
    """Return the source of pairs (labels, scores), or of triples with weights."""
    for name, column in names.given.items():
        if column != name or name == "weight":
            remedy = " Pass triples (labels, scores, weights)." if name == "weight" else ""
            raise InvalidInputError(
                f"`{name}` must be left out for pairs of labels and scores, which have no "
                f"columns, got {column!r}.{remedy}"
            )
    if isinstance(pairs, Iterator):
        remedy = "Pass a list, or a function that makes them again: `lambda: read_chunks(path)`."
        raise read_once(pairs, remedy)
    n_items = 2

    def each() -> Iterable[Any]:
        given: Iterable[Any] = pairs() if callable(pairs) else pairs
        return given

    for first in each():
        n_items = len(first)
        break
    if n_items not in (2, 3):
        raise InvalidInputError(
            f"`data` must be pairs (labels, scores), or triples with weights, got {n_items} items "
            "in one."
        )

    def chunks() -> Iterator[Chunk]:
        for i, (labels, scores, *more) in enumerate(each()):
            if len(more) != n_items - 2:
                raise InvalidInputError(
                    f"`data` must have as many items in each chunk, got {n_items} in the first "
                    f"and {2 + len(more)} in chunk {i}."
                )
            yield as_chunk(labels, scores, f"chunk {i}", *more)

    return PartSource(chunks, n_items == 3)
