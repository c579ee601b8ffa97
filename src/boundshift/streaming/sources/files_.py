"""Files of columns larger than memory: Parquet, Feather, CSV, TSV, JSON lines."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.source import OnProgress
from boundshift.streaming.sources.arrow_ import arrow_chunk
from boundshift.streaming.sources.batches import (
    FORMATS,
    Format,
    OpenTable,
    column_names,
    name_format,
    open_table,
    read_batches,
)
from boundshift.streaming.sources.columns import check_columns
from boundshift.streaming.sources.local import Part, PartSource

__all__ = ["are_text", "count_labels", "find_files", "from_columns"]

_MOST_LABELS = 1000

Files = str | PathLike[str] | Iterable[str | PathLike[str]]


def from_columns(
    files: Files, label: str, score: str, positive: Collection[Any] | None = None
) -> PartSource:
    """Return the source of two columns of files, by names, globs or folders.

    Parameters
    ----------
    files : path, glob, folder, or several of them
        All with the same columns.
    label, score : str
        The columns.
    positive : collection of labels, default=None
        If given, these are the class True and all others False; labels of CSV and TSV are then
        taken as text, as `count_labels` counts them.
    """
    parts: list[Part] = []
    for path in find_files(files):
        reader = _READERS[name_format(path) or "csv"]
        parts.extend(reader(path, label, score, positive is not None))
    if positive is not None:
        parts = [partial(_against_rest, part, positive) for part in parts]
    return PartSource(parts)


def _against_rest(part: Part, positive: Collection[Any]) -> Iterator[Chunk]:
    """Read a part as some labels against the rest."""
    for chunk in part():
        is_positive = np.logical_or.reduce([chunk.mask_of(label) for label in positive])
        yield replace(chunk, labels=is_positive, categories=None)


def count_labels(files: Files, label: str, on_progress: OnProgress | None = None) -> dict[Any, int]:
    """Return how many rows have each label; those of CSV and TSV are taken as text.

    Raises
    ------
    InvalidInputError
        If a row has no label, or there are more than 1000 different ones.
    """
    counts: Counter[Any] = Counter()
    paths = find_files(files)
    for i, path in enumerate(paths):
        with open_table(path) as opened:
            for batch in read_batches(opened, {label: _text_type(opened)}):
                counts.update(_counted(path, label, batch.column(label)))
                if len(counts) > _MOST_LABELS:
                    raise InvalidInputError(
                        f"Labels must be of two classes, but column '{label}' of {path.name} has "
                        f"more than {_MOST_LABELS} different values. Choose the column that says "
                        "which class a row has."
                    )
        if on_progress is not None:
            on_progress(i + 1, len(paths))
    return dict(counts)


def _counted(path: Path, label: str, column: Any) -> dict[Any, int]:
    """Return how often each label is met; raise if one is missing."""
    is_float = pa.types.is_floating(column.type)
    if column.null_count or (is_float and pc.any(pc.is_nan(column)).as_py()):
        raise InvalidInputError(
            f"Every row must have a label, but column '{label}' of {path.name} lacks some. "
            "Drop those rows."
        )
    values, counts = (field.to_pylist() for field in pc.value_counts(column).flatten())
    return dict(zip(values, counts, strict=True))


def _text_type(opened: OpenTable) -> Any:
    """Return the type in which labels are taken as text: CSV has none of its own."""
    return pa.string() if opened.format == "csv" else None


def are_text(files: Files) -> bool:
    """Return whether all files are CSV or TSV, whose values have no types."""
    return all(name_format(path) == "csv" for path in find_files(files))


def find_files(files: Files) -> list[Path]:
    """Return the files that are meant, in order.

    Raises
    ------
    InvalidInputError
        If there are none, or one is of a kind that is not read.
    """
    names = [files] if isinstance(files, str | PathLike) else list(files)
    found: list[Path] = []
    for name in [fspath(name) for name in names]:
        paths = _expand(name)
        if not paths:
            raise InvalidInputError(
                f"`data` must name files, got {name!r}, which matches none. Check the folder and "
                "the ending."
            )
        found += paths
    for path in found:
        if name_format(path) is None:
            raise InvalidInputError(
                f"`data` must be files that end in {', '.join(FORMATS)}, got {path.name!r}."
            )
    return found


def _expand(name: str) -> list[Path]:
    """Return the files of a name, a folder or a glob."""
    path = Path(name)
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file() and name_format(p))
    if path.exists():
        return [path]
    return sorted(Path(p) for p in glob.glob(name, recursive=True) if Path(p).is_file())  # noqa: PTH207


def _parquet_parts(path: Path, label: str, score: str, as_text: bool) -> list[Part]:
    """Return a part for each row group; its labels have a type of their own."""
    with _readable(path):
        file = pa.parquet.ParquetFile(path)
    check_columns(file.schema_arrow.names, label, score, path.name)
    return [
        partial(_row_group, path, file.metadata, i, label, score)
        for i in range(file.metadata.num_row_groups)
    ]


def _row_group(path: Path, metadata: Any, i: int, label: str, score: str) -> list[Chunk]:
    """Read a row group."""
    with pa.parquet.ParquetFile(path, metadata=metadata, memory_map=True) as file:
        table = file.read_row_group(i, columns=[label, score], use_threads=False)
    return [arrow_chunk(table[label], table[score], f"{path.name}, row group {i}")]


def _feather_parts(path: Path, label: str, score: str, as_text: bool) -> list[Part]:
    """Return a part for each record batch; its labels have a type of their own."""
    with _readable(path):
        file = pa.ipc.open_file(pa.memory_map(str(path)))
    check_columns(file.schema.names, label, score, path.name)
    return [partial(_batch, path, i, label, score) for i in range(file.num_record_batches)]


def _batch(path: Path, i: int, label: str, score: str) -> list[Chunk]:
    """Read a record batch."""
    batch = pa.ipc.open_file(pa.memory_map(str(path))).get_batch(i)
    return [arrow_chunk(batch[label], batch[score], f"{path.name}, batch {i}")]


def _stream_parts(path: Path, label: str, score: str, as_text: bool) -> list[Part]:
    """Return one part for a file of text, which has to be read from its start."""
    check_columns(column_names(path), label, score, path.name)
    return [partial(_stream, path, label, score, as_text)]


def _stream(path: Path, label: str, score: str, as_text: bool) -> Iterator[Chunk]:
    """Read a file of text, a block at a time."""
    with open_table(path) as opened:
        types = {label: _text_type(opened) if as_text else None, score: pa.float64()}
        for i, batch in enumerate(read_batches(opened, types)):
            yield arrow_chunk(batch.column(label), batch.column(score), f"{path.name}, block {i}")


class _readable:  # noqa: N801
    """Turns what a reader says of a file into an error that names the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, pa.ArrowException | OSError):
            raise InvalidInputError(
                f"`data` must be files that can be read, got {self._path.name!r} ({error})."
            ) from error


_READERS: dict[Format, Callable[[Path, str, str, bool], list[Part]]] = {
    "parquet": _parquet_parts,
    "feather": _feather_parts,
    "csv": _stream_parts,
    "json": _stream_parts,
}
