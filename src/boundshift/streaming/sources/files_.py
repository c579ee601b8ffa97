"""Files of columns larger than memory: Parquet, Feather, CSV, TSV, JSON lines."""

from __future__ import annotations

import glob
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
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
    """Return the source of two columns of files.

    Parameters
    ----------
    files : path, glob, folder, or several of them
        Files that all have the two columns.
    label, score : str
        Names of the columns.
    positive : collection of labels, default=None
        If given, these labels become the class True and all others the class False; labels of CSV
        and TSV are then taken as text, as `count_labels` counts them.
    """
    parts: list[Part] = []
    for path in find_files(files):
        parts.extend(_parts_of(path, label, score, as_text=positive is not None))
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
    """Return how often each label occurs; raise if one is missing."""
    is_float = pa.types.is_floating(column.type)
    if column.null_count or (is_float and pc.any(pc.is_nan(column)).as_py()):
        raise InvalidInputError(
            f"Every row must have a label, but column '{label}' of {path.name} lacks some. "
            "Drop those rows."
        )
    values, counts = (field.to_pylist() for field in pc.value_counts(column).flatten())
    return dict(zip(values, counts, strict=True))


def _text_type(opened: OpenTable) -> Any:
    """Return the type by which labels of a CSV file are taken as text; others have their own."""
    return pa.string() if opened.format == "csv" else None


def are_text(files: Files) -> bool:
    """Return whether all files are CSV or TSV, whose values have no types."""
    return all(name_format(path) == "csv" for path in find_files(files))


def find_files(files: Files) -> list[Path]:
    """Return the files of paths, globs and folders, in order.

    Raises
    ------
    InvalidInputError
        If a name matches no file, or the format of a file is not known.
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


def _parts_of(path: Path, label: str, score: str, as_text: bool) -> list[Part]:
    """Return the parts of a file that can be read one without the other."""
    with open_table(path) as opened:
        check_columns(opened.header or column_names(path), label, score, path.name)
        if opened.format == "parquet":
            metadata = opened.stream.metadata
            groups = range(metadata.num_row_groups)
            return [partial(_row_group, path, metadata, i, label, score) for i in groups]
        if opened.format == "feather":
            return [partial(_record_batch, path, i, label, score) for i in range(opened.size)]
    # Text has to be read from its start.
    return [partial(_blocks, path, label, score, as_text)]


def _row_group(path: Path, metadata: Any, i: int, label: str, score: str) -> list[Chunk]:
    """Read a row group of a Parquet file."""
    with pa.parquet.ParquetFile(path, metadata=metadata, memory_map=True) as file:
        table = file.read_row_group(i, columns=[label, score], use_threads=False)
    return [arrow_chunk(table[label], table[score], f"{path.name}, row group {i}")]


def _record_batch(path: Path, i: int, label: str, score: str) -> list[Chunk]:
    """Read a record batch of a Feather file."""
    batch = pa.ipc.open_file(pa.memory_map(str(path))).get_batch(i)
    return [arrow_chunk(batch[label], batch[score], f"{path.name}, batch {i}")]


def _blocks(path: Path, label: str, score: str, as_text: bool) -> Iterator[Chunk]:
    """Read a file of text, a block at a time."""
    with open_table(path) as opened:
        types = {label: _text_type(opened) if as_text else None, score: pa.float64()}
        for i, batch in enumerate(read_batches(opened, types)):
            yield arrow_chunk(batch.column(label), batch.column(score), f"{path.name}, block {i}")
