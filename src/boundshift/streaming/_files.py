"""Files of columns larger than memory: Parquet, Feather, CSV, TSV, JSON lines."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from boundshift.exceptions import InvalidInputError
from boundshift.streaming._chunks import Chunk, ColumnNames, table_chunk
from boundshift.streaming._read import PartSource
from boundshift.streaming._tables import (
    AS_IT_IS,
    FORMATS,
    OpenTable,
    Reading,
    column_names,
    feather_batch,
    name_format,
    open_table,
    read_batches,
    readable,
)

# Yields the rows of a part of a file.
_Reader = Callable[[], Iterable[Chunk]]

Files = str | PathLike[str] | Iterable[str | PathLike[str]]


def files_columns(
    files: Files,
    names: ColumnNames,
    positive: Collection[Any] | None = None,
    *,
    as_text: bool = False,
    reading: Reading = AS_IT_IS,
) -> PartSource:
    """Return the source of some columns of files.

    If `positive` is given, these labels become the class True and all others the class False.
    With `as_text`, labels and groups of CSV and TSV are taken as text.
    """
    readers = [
        partial(_read_part, path, _state_of(path), read, positive)
        for path in find_files(files)
        for read in _readers_of(path, names, as_text, reading)
    ]
    return PartSource(readers, names.weight is not None)


def _state_of(path: Path) -> tuple[int, int, int]:
    facts = path.stat()
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _read_part(
    path: Path,
    known: tuple[int, int, int],
    read: _Reader,
    positive: Collection[Any] | None,
) -> Iterator[Chunk]:
    """Read a part of a file that must not change from the first pass to the last."""
    with readable(OpenTable(path.name, name_format(path) or "csv")):
        for chunk in read():
            if positive is not None:
                is_positive = np.logical_or.reduce([chunk.mask_of(label) for label in positive])
                chunk = replace(chunk, labels=is_positive, categories=None)
            yield chunk
    if _state_of(path) != known:
        raise InvalidInputError(
            f"`data` must stay as it is while it is read in passes, and {path.name!r} was written "
            "to meanwhile. Read it again when nothing writes to it, or a copy of it."
        )


def are_text(files: Files) -> bool:
    """Return whether all files are CSV or TSV, whose values have no types."""
    return all(name_format(path) == "csv" for path in find_files(files))


def find_files(files: Files) -> list[Path]:
    """Return the files of paths, globs and folders, in order."""
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
                f"`data` must be files that end in {', '.join(FORMATS)}, text also compressed, got "
                f"{path.name!r}."
            )
    return found


def _expand(name: str) -> list[Path]:
    """Return the files of a name, a folder or a glob.

    In folders and globs, names that begin with . or _ are checkpoints, logs and work under way, as
    Spark and Arrow have it, but for _column=value, which is a partition.
    """
    path = Path(name)
    if path.is_dir():
        found = [p for p in path.rglob("*") if name_format(p)]
        root = path
    elif path.exists():
        return [path]
    else:
        found = [Path(p) for p in glob.glob(name, recursive=True)]  # noqa: PTH207
        # Folders before the first wildcard were written out by the user.
        root = Path(name[: min(map(name.find, filter(name.__contains__, "*?[")), default=0)]).parent

    def is_aside(part: str) -> bool:
        return part.startswith((".", "_")) and not (part.startswith("_") and "=" in part)

    return sorted(
        p for p in found if p.is_file() and not any(map(is_aside, p.relative_to(root).parts))
    )


def _readers_of(path: Path, names: ColumnNames, as_text: bool, reading: Reading) -> list[_Reader]:
    """Return readers of the parts of a file that can be read one without the other."""
    with open_table(path, reading) as opened:
        names.check(opened.header or column_names(path, reading), path.name)
        if opened.format == "parquet":
            metadata = opened.stream.metadata
            groups = range(metadata.num_row_groups)
            return [partial(_row_group, path, metadata, i, names) for i in groups]
        if opened.format == "feather":
            return [partial(_record_batch, path, i, names) for i in range(opened.size)]
    # Text has to be read from its start.
    return [partial(_blocks, path, names, as_text, reading)]


def _row_group(path: Path, metadata: Any, i: int, names: ColumnNames) -> Iterator[Chunk]:
    columns = list(dict.fromkeys(names.all))
    with pa.parquet.ParquetFile(pa.memory_map(os.fsencode(path)), metadata=metadata) as file:
        rows = file.read_row_group(i, columns=columns, use_threads=False)
    yield table_chunk(rows, names, f"{path.name}, row group {i}")


def _record_batch(path: Path, i: int, names: ColumnNames) -> Iterator[Chunk]:
    file = pa.ipc.open_file(pa.memory_map(os.fsencode(path)))
    batch = feather_batch(file, i, dict.fromkeys(names.all))
    yield table_chunk(batch, names, f"{path.name}, batch {i}")


def _blocks(path: Path, names: ColumnNames, as_text: bool, reading: Reading) -> Iterator[Chunk]:
    with open_table(path, reading) as opened:
        text = pa.string() if as_text and opened.format == "csv" else None
        types = {name: text for name in (names.by, names.label) if name is not None}
        types |= {name: pa.float64() for name in names.numbers}
        for i, batch in enumerate(read_batches(opened, types)):
            yield table_chunk(batch, names, f"{path.name}, block {i}")
