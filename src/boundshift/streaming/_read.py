"""Labelled rows as chunks of plain arrays, whatever engine holds them, and reading them here.

`read` finds the engine by the name of the data's library, so no library is imported needlessly.
An engine returns a `Source`: it turns the rows into chunks wherever they lie, lets the request of
a pass count each chunk there, and merges the counts.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boundshift._tables import arrow
from boundshift._typing import BoolArray, FloatArray, Label, LabelArray
from boundshift._validation import as_column
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._tally import Counts

if TYPE_CHECKING:
    import pyarrow as pa

    from boundshift.streaming._count import PassRequest

OnProgress = Callable[[int, int], None]
"""Called with the number of parts read, and of all parts."""

Column: TypeAlias = Any
"""A column of a frame: of Arrow, pandas or NumPy, or a list."""

Pair = Sequence[Column]
"""Labels and scores, or these and weights."""

Roles = dict[str, str]
"""Names of the columns of label, score and, where rows have some, weight and group (`by`)."""

ROWS_AT_ONCE = 1 << 18
"""Rows that are read, sorted and counted together. More take more memory."""

# Library of a value's type, and the engine that reads it: ``_frames.<engine>_columns``.
_ENGINES = {
    "_duckdb": "duckdb",
    "dask": "dask",
    "dask_expr": "dask",
    "duckdb": "duckdb",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "arrow",
    "pyspark": "spark",
}


# --- Chunks ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some labelled rows."""

    labels: LabelArray  # as they are, or indices of `names` with -1 where one is missing
    names: tuple[Label, ...] | None
    scores: FloatArray  # NaN where a score is missing
    weights: FloatArray | None
    groups: tuple[LabelArray, tuple[Label, ...]] | None  # indices of names, and these
    location: str  # as errors call it, for example "partition 3"

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, which: slice | BoolArray) -> Chunk:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[which]
        groups = None if self.groups is None else (self.groups[0][which], self.groups[1])
        return replace(
            self,
            labels=self.labels[which],
            scores=self.scores[which],
            weights=weights,
            groups=groups,
        )

    def has(self, label: object) -> BoolArray:
        """Return whether each row has a label."""
        if self.names is None:
            return np.asarray(self.labels == label, dtype=np.bool_)
        code = self.names.index(label) if label in self.names else -2
        return np.asarray(self.labels == code)

    def distinct(self) -> tuple[list[Label], int]:
        """Return the labels that rows have, and the number of rows without one."""
        missing = self.labels != self.labels if self.names is None else self.labels < 0
        found = np.unique(self.labels[~missing]).tolist()
        names = found if self.names is None else [self.names[code] for code in found]
        return names, int(np.count_nonzero(missing))


def as_chunk(columns: Mapping[str, Column], location: str) -> Chunk:
    """Return a chunk of arrays, series or Arrow arrays by their roles."""
    codes, names = _encode(columns["label"])
    scores = _numbers("y_score", columns["score"], location, len(codes))
    weights = columns.get("weight")
    if weights is not None:
        weights = _numbers("sample_weight", weights, location, len(codes))
    groups = encode_groups(columns["by"]) if "by" in columns else None
    return Chunk(codes, names, scores, weights, groups, location)


def table_chunk(rows: pa.Table | pa.RecordBatch, roles: Roles, location: str) -> Chunk:
    """Return columns of an Arrow table or record batch."""
    columns = {role: rows.column(name) for role, name in roles.items()}
    for role in columns.keys() & {"label", "by"}:
        columns[role] = as_labels(columns[role], roles[role], location)
    return as_chunk(columns, location)


def as_labels(column: pa.Array, name: str, where: str) -> pa.Array:
    """Return an Arrow column of labels, bytes as the text that they are; refuse other kinds."""
    pa = arrow()
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        with contextlib.suppress(pa.ArrowInvalid):
            return column.cast(pa.string())
    elif not pa.types.is_nested(kind) and not pa.types.is_fixed_size_binary(kind):
        return column
    raise InvalidInputError(
        f"Column '{name}' of {where} must hold a label in each row, got {kind} values. Choose "
        "the column that says which class a row has."
    )


def _as_arrow(values: Column) -> pa.Array | None:
    """Return an Arrow array as a whole, None for what is none."""
    if not type(values).__module__.startswith("pyarrow."):
        return None
    return values.combine_chunks() if hasattr(values, "combine_chunks") else values


_REMEDY = {
    "y_score": "Pass the decision function or the probability of the positive class.",
    "sample_weight": "Pass the importance of each row.",
}


def not_real_numbers(name: str, what: str) -> InvalidInputError:
    """Return the error for scores, or weights, that are no numbers."""
    return InvalidInputError(f"must be real numbers, got {what}. {_REMEDY[name]}", argument=name)


def _numbers(name: str, values: Column, location: str, n_rows: int) -> FloatArray:
    """Return scores, or weights, as an array of numbers, NaN where missing."""
    if (column := _as_arrow(values)) is not None:
        pa = arrow()
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        kind = column.type
        is_real = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        if not (is_real or pa.types.is_integer(kind) or pa.types.is_null(kind)):
            raise not_real_numbers(name, f"{kind} values in {location}")
        values = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    try:
        if hasattr(values, "isna"):  # pandas has several values that mean "missing".
            values = values.to_numpy(dtype=np.float64, na_value=np.nan)
        array = as_column(name, values, _REMEDY[name], n_rows)
        array = array.astype(np.float64) if array.dtype.kind == "O" else array
    except InvalidInputError:
        raise
    except (TypeError, ValueError) as error:
        raise not_real_numbers(name, f"{error} in {location}") from None
    if array.dtype.kind not in "biuf":
        raise not_real_numbers(name, f"{array.dtype} values in {location}")
    return array


def _encode(labels: Column) -> tuple[LabelArray, tuple[Label, ...] | None]:
    """Return labels and None, or indices of names and these."""
    if (column := _as_arrow(labels)) is not None:
        pa = arrow()
        kind = column.type
        is_number = pa.types.is_primitive(kind) and not pa.types.is_temporal(kind)
        if is_number and not column.null_count:
            return np.asarray(column.to_numpy(zero_copy_only=False)), None
        if not pa.types.is_dictionary(kind):
            column = column.dictionary_encode()
        codes = column.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return np.asarray(codes), tuple(column.dictionary.to_pylist())
    array = as_column("y_true", labels, "Pass one value for each row.")
    if array.dtype.kind in "biufSU":
        return array, None
    if hasattr(labels, "isna"):
        array = labels.to_numpy(dtype=object, na_value=None)
    known: dict[Label, int] = {}
    coded = [-1 if v is None or v != v else known.setdefault(v, len(known)) for v in array.tolist()]
    return np.array(coded, dtype=np.int64), tuple(known)


def encode_groups(groups: Column) -> tuple[LabelArray, tuple[Label, ...]]:
    """Return the index of the name of each row's group, -1 if it is missing, and the names."""
    codes, names = _encode(groups)
    if names is None:
        values, codes = np.unique(codes, return_inverse=True)
        names = tuple(values.tolist())
    is_missing = np.array([name is None or name != name for name in names], dtype=np.bool_)
    return np.where(np.append(is_missing, True)[codes], -1, codes), names


def read_once(data: object, remedy: str) -> InvalidInputError:
    """Return the error for data that is gone after the first pass."""
    return InvalidInputError(
        f"must give the same chunks in every pass, got {type(data).__name__!r}, which can "
        f"be read once. {remedy}",
        argument="data",
    )


# --- Which engine reads ---------------------------------------------------------------------------


Source: TypeAlias = "Callable[[PassRequest, OnProgress], Counts]"
"""Reads every row of some data once, and returns what a pass asks for; the same rows each time."""


def read(
    data: object,
    label: str,
    score: str,
    weight: str | None = None,
    element: int = -1,
    by: str | None = None,
) -> Source:
    """Return the source of some columns, or of pairs; arguments as in `scan_boundary`."""
    engine = _ENGINES.get(type(data).__module__.partition(".")[0])
    if engine != "spark" and element != -1:
        raise InvalidInputError(
            f"must be left out but for a Spark frame, got {element!r} with "
            f"{type(data).__name__}. Pass a column of numbers as `score`.",
            argument="element",
        )
    roles = {"label": label, "score": score}
    roles |= {role: name for role, name in (("weight", weight), ("by", by)) if name is not None}
    source: Source
    if engine is not None:
        frames = import_module("boundshift.streaming._frames")
        beside = (element,) if engine == "spark" else ()
        source = getattr(frames, f"{engine}_columns")(data, roles, *beside)
    elif hasattr(data, "find_boundary"):
        raise InvalidInputError(
            f"must be rows, got {type(data).__name__}, which holds counts. Call its own "
            "methods, such as tally.find_boundary().",
            argument="data",
        )
    elif _is_path(data) or (isinstance(data, list | tuple) and data and all(map(_is_path, data))):
        source = import_module("boundshift.streaming._files").files_columns(data, roles)
    elif callable(data) or (hasattr(data, "__iter__") and not hasattr(data, "columns")):
        source = _pairs(data, roles)
    else:
        raise InvalidInputError(
            "must be files, a DuckDB relation, a frame of pandas, Polars, Arrow, Dask or Spark, or "
            f"an iterable of pairs, got {type(data).__name__}. For columns in memory use "
            "boundshift.find_boundary.",
            argument="data",
        )
    return source


def _is_path(value: object) -> bool:
    return isinstance(value, str | PathLike)


# --- Reading on this machine ----------------------------------------------------------------------

Part = Callable[[], Iterable[Chunk]]


class PartSource:
    """Parts that are read on this machine, on all cores.

    Each of the parts is a function that returns its chunks. One function, instead of a sequence,
    returns all chunks, the same each time and one after the other.
    """

    def __init__(self, parts: Sequence[Part] | Part) -> None:
        self._parts = parts

    def __call__(self, request: PassRequest, on_progress: OnProgress) -> Counts:
        """Read every row once, a few runs ahead of the merging, and merge counts in order."""
        from joblib import cpu_count

        cores = cpu_count()
        runs, total = self._runs(4 * cores)
        counts = request.count(())
        waiting: deque[Future[Counts]] = deque()
        done = 0

        def merge_first() -> None:
            nonlocal done
            counts.merge(waiting.popleft().result())
            done += 1
            on_progress(done, max(total, done))

        with ThreadPoolExecutor(cores) as pool:
            try:
                for run in runs:
                    waiting.append(pool.submit(request.count, run))
                    if len(waiting) > 2 * cores:
                        merge_first()
                while waiting:
                    merge_first()
            finally:
                pool.shutdown(cancel_futures=True)
        return counts

    def _runs(self, number: int) -> tuple[Iterable[Iterable[Chunk]], int]:
        """Return runs of chunks that are counted together, and how many if that is known.

        Longer runs leave less to merge.
        """
        if callable(self._parts):
            return _gather(self._parts()), 0
        size = max(len(self._parts) // number, 1)
        starts = range(0, len(self._parts), size)
        cuts = [self._parts[start : start + size] for start in starts]
        return (chain.from_iterable(part() for part in run) for run in cuts), len(cuts)


def _gather(chunks: Iterable[Chunk]) -> Iterator[list[Chunk]]:
    run: list[Chunk] = []
    for chunk in chunks:
        run.append(chunk)
        if sum(map(len, run)) >= ROWS_AT_ONCE:
            yield run
            run = []
    yield run


def _pairs(pairs: Iterable[Pair] | Callable[[], Iterable[Pair]], roles: Roles) -> PartSource:
    """Return the source of pairs (labels, scores), or of triples with weights."""
    for role, column in roles.items():
        if column != role or role in ("weight", "by"):
            raise InvalidInputError(
                f"must be left out for pairs of labels and scores, which have no "
                f"columns, got {column!r}. Weights come as triples (labels, scores, weights).",
                argument=role,
            )
    if isinstance(pairs, Iterator):
        remedy = "Pass a list, or a function that makes them again: `lambda: read_chunks(path)`."
        raise read_once(pairs, remedy)

    def chunks() -> Iterator[Chunk]:
        n_items = 0
        for i, chunk in enumerate(pairs() if callable(pairs) else pairs):
            if hasattr(chunk, "columns"):
                raise InvalidInputError(
                    f"must be pairs (labels, scores), got a {type(chunk).__name__} as chunk "
                    f"{i}. Use ((f['label'], f['score']) for f in frames), in a function that "
                    "makes them again.",
                    argument="data",
                )
            n_items = n_items or len(chunk)
            if len(chunk) != n_items or n_items not in (2, 3):
                raise InvalidInputError(
                    "must be pairs (labels, scores), or triples with weights, got "
                    f"{n_items} items in the first and {len(chunk)} in chunk {i}.",
                    argument="data",
                )
            columns = dict(zip(("label", "score", "weight"), chunk, strict=False))
            yield as_chunk(columns, f"chunk {i}")

    return PartSource(chunks)
