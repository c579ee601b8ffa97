"""Files of columns larger than memory: Parquet, Feather, CSV, TSV, JSON lines."""

from __future__ import annotations

import contextlib
import glob
import os
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
from boundshift.streaming.chunks import Chunk, ColumnNames, table_chunk
from boundshift.streaming.read import PEEKED_ROWS, OnProgress, PartSource
from boundshift.streaming.tables import (
    FORMATS,
    OpenTable,
    column_names,
    feather_batch,
    is_compressed,
    name_format,
    open_table,
    read_batches,
    readable,
)

_MOST_LABELS = 1000

# Yields the rows of a part, or its first ones if told how many are enough.
_Reader = Callable[[int | None], Iterable[Chunk]]

Files = str | PathLike[str] | Iterable[str | PathLike[str]]


def files_columns(
    files: Files, names: ColumnNames, positive: Collection[Any] | None = None
) -> PartSource:
    """Return the source of some columns of files.

    Parameters
    ----------
    files : path, glob, folder, or several of them
        Files that all have the columns.
    names : ColumnNames
        Which columns.
    positive : collection of labels, default=None
        If given, these labels become the class True and all others the class False; labels of CSV
        and TSV are then taken as text, as `count_labels` counts them.
    """
    readers: list[_Reader] = []
    for path in find_files(files):
        known = _state_of(path)
        own = _readers_of(path, names, as_text=positive is not None)
        readers.extend(partial(_unchanged, read, path, known) for read in own)
    if positive is not None:
        readers = [partial(_against_rest, read, positive) for read in readers]
    return PartSource(
        [partial(read, None) for read in readers],
        names.weight is not None,
        [partial(read, PEEKED_ROWS) for read in readers],
    )


def _state_of(path: Path) -> tuple[int, int, int]:
    """Return what changes when a file is written to: its number, its size and its time."""
    facts = path.stat()
    return facts.st_ino, facts.st_size, facts.st_mtime_ns


def _unchanged(
    read: _Reader, path: Path, known: tuple[int, int, int], most: int | None
) -> Iterator[Chunk]:
    """Read a part of a file that must not change from the first pass to the last."""
    with readable(OpenTable(path.name, name_format(path) or "csv", None)):
        yield from read(most)
    if _state_of(path) != known:
        raise InvalidInputError(
            f"`data` must stay as it is while it is read in passes, and {path.name!r} was written "
            "to meanwhile. Read it again when nothing writes to it, or a copy of it."
        )


def _against_rest(read: _Reader, positive: Collection[Any], most: int | None) -> Iterator[Chunk]:
    """Read a part as some labels against the rest."""
    for chunk in read(most):
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
    column = as_labels(column, label, path.name)
    is_float = pa.types.is_floating(column.type)
    if column.null_count or (is_float and pc.any(pc.is_nan(column)).as_py()):
        raise InvalidInputError(
            f"Every row must have a label, but column '{label}' of {path.name} lacks some. "
            "Drop those rows."
        )
    values, counts = (field.to_pylist() for field in pc.value_counts(column).flatten())
    return dict(zip(values, counts, strict=True))


def as_labels(column: Any, name: str, where: str) -> Any:
    """Return a column of labels, bytes as the text that they are; raise if they are no labels."""
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
    """Return the files of a name, a folder or a glob; in folders only those that are data."""
    path = Path(name)
    if path.is_dir():
        found = (p for p in path.rglob("*") if p.is_file() and name_format(p))
        return sorted(p for p in found if not _is_aside(p.relative_to(path).parts, ""))
    if path.exists():
        return [path]
    matches = (Path(p) for p in glob.glob(name, recursive=True))  # noqa: PTH207
    return sorted(p for p in matches if p.is_file() and not _is_aside(p.parts, name))


def _is_aside(parts: Iterable[str], wanted: str) -> bool:
    """Return whether a file stands aside from the data, as Spark and Arrow have it.

    Names that begin with . or _ are checkpoints, logs and work under way, but for _column=value,
    which is a partition, and for what the user wrote out.
    """
    spelled = Path(wanted).parts
    return any(
        part.startswith((".", "_"))
        and not (part.startswith("_") and "=" in part)
        and part not in (".", "..", *spelled)
        and not any(s.startswith(part[0]) for s in spelled if s not in (".", ".."))
        for part in parts
    )


def _readers_of(path: Path, names: ColumnNames, as_text: bool) -> list[_Reader]:
    """Return readers of the parts of a file that can be read one without the other."""
    with open_table(path) as opened:
        names.check(opened.header or column_names(path), path.name)
        if is_compressed(path):
            return [partial(_blocks, path, names, as_text)]
        if opened.format == "parquet":
            metadata = opened.stream.metadata
            groups = range(metadata.num_row_groups)
            return [partial(_row_group, path, metadata, i, names) for i in groups]
        if opened.format == "feather":
            return [partial(_record_batch, path, i, names) for i in range(opened.size)]
    # Text has to be read from its start.
    return [partial(_blocks, path, names, as_text)]


def _row_group(
    path: Path, metadata: Any, i: int, names: ColumnNames, most: int | None
) -> list[Chunk]:
    """Read a row group of a Parquet file, or its first rows."""
    mapped, columns = pa.memory_map(os.fsencode(path)), _distinct(names)
    with (
        readable(OpenTable(path.name, "parquet", None)),
        pa.parquet.ParquetFile(mapped, metadata=metadata) as file,
    ):
        if most is None:
            rows = file.read_row_group(i, columns=columns, use_threads=False)
        else:
            first = file.iter_batches(most, row_groups=[i], columns=columns, use_threads=False)
            rows = next(first, None)
    return [] if rows is None else [_chunk(path, rows, names, f"row group {i}")]


def _distinct(names: ColumnNames) -> list[str]:
    """Return the columns, each once."""
    return list(dict.fromkeys(names.all))


def _chunk(path: Path, rows: Any, names: ColumnNames, part: str) -> Chunk:
    """Return a part of a file as a chunk."""
    labels = as_labels(rows.column(names.label), names.label, path.name)
    return table_chunk(rows, names, f"{path.name}, {part}", labels)


def _record_batch(path: Path, i: int, names: ColumnNames, most: int | None) -> list[Chunk]:
    """Read a record batch of a Feather file, which is whole or not at all."""
    with readable(OpenTable(path.name, "feather", None)):
        file = pa.ipc.open_file(pa.memory_map(os.fsencode(path)))
        batch = feather_batch(file, i, _distinct(names))
    return [_chunk(path, batch, names, f"batch {i}")]


def _blocks(path: Path, names: ColumnNames, as_text: bool, most: int | None) -> Iterator[Chunk]:
    """Read a file of text, a block at a time; nobody has to read on."""
    with open_table(path) as opened:
        text = _text_type(opened) if as_text else None
        types = {name: text for name in (names.by, names.label) if name is not None}
        types |= {name: pa.float64() for name in names.numbers}
        for i, batch in enumerate(read_batches(opened, types)):
            yield _chunk(path, batch, names, f"block {i}")
