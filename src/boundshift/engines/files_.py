"""Files of columns larger than memory: Parquet, Feather, CSV, TSV, JSON lines."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet

from boundshift.chunks import Chunk
from boundshift.engines.arrow_ import arrow_chunk
from boundshift.engines.columns import check_columns
from boundshift.engines.local import Part, PartSource
from boundshift.exceptions import InvalidInputError

__all__ = ["find_files", "from_columns"]

Files = str | PathLike[str] | Iterable[str | PathLike[str]]


def from_columns(files: Files, label: str, score: str) -> PartSource:
    """Return the source of two columns of files, by names, globs or folders.

    Parameters
    ----------
    files : path, glob, folder, or several of them
        All with the same columns.
    label, score : str
        The columns.
    """
    parts: list[Part] = []
    for path in find_files(files):
        parts.extend(_READERS[_suffix(path)](path, label, score))
    return PartSource(parts)


def find_files(files: Files) -> list[Path]:
    """Return the files that are meant, in order.

    Raises
    ------
    InvalidInputError
        If there are none, or one is of a kind that is not read.
    """
    names = [files] if isinstance(files, str | PathLike) else list(files)
    found = [path for name in names for path in _expand(fspath(name))]
    if not found:
        raise InvalidInputError(
            f"`data` must name files, got {', '.join(map(repr, map(str, names)))}, which matches "
            "none. Check the folder and the ending."
        )
    for path in found:
        if _suffix(path) not in _READERS:
            raise InvalidInputError(
                f"`data` must be files that end in {', '.join(_READERS)}, got {path.name!r}."
            )
    return found


def _expand(name: str) -> list[Path]:
    """Return the files of a name, a folder or a glob."""
    path = Path(name)
    if path.is_dir():
        return sorted(p for p in path.rglob("*") if p.is_file() and _suffix(p) in _READERS)
    if path.exists():
        return [path]
    return sorted(Path(p) for p in glob.glob(name, recursive=True) if Path(p).is_file())  # noqa: PTH207


def _suffix(path: Path) -> str:
    """Return the ending that says the kind; compressed text has two."""
    suffixes = [s.lower() for s in path.suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _parquet_parts(path: Path, label: str, score: str) -> list[Part]:
    """Return a part for each row group."""
    with _readable(path):
        file = pa.parquet.ParquetFile(path)
    check_columns(file.schema_arrow.names, label, score)
    return [
        partial(_row_group, path, file.metadata, i, label, score)
        for i in range(file.metadata.num_row_groups)
    ]


def _row_group(path: Path, metadata: Any, i: int, label: str, score: str) -> list[Chunk]:
    """Read a row group."""
    with pa.parquet.ParquetFile(path, metadata=metadata, memory_map=True) as file:
        table = file.read_row_group(i, columns=[label, score], use_threads=False)
    return [arrow_chunk(table[label], table[score], f"{path.name}, row group {i}")]


def _feather_parts(path: Path, label: str, score: str) -> list[Part]:
    """Return a part for each record batch."""
    with _readable(path):
        file = pa.ipc.open_file(pa.memory_map(str(path)))
    check_columns(file.schema.names, label, score)
    return [partial(_batch, path, i, label, score) for i in range(file.num_record_batches)]


def _batch(path: Path, i: int, label: str, score: str) -> list[Chunk]:
    """Read a record batch."""
    batch = pa.ipc.open_file(pa.memory_map(str(path))).get_batch(i)
    return [arrow_chunk(batch[label], batch[score], f"{path.name}, batch {i}")]


def _text_parts(
    open_batches: Callable[[Path, list[str] | None], Any], path: Path, label: str, score: str
) -> list[Part]:
    """Return one part for a file of text, which has to be read from its start."""
    with _readable(path):
        names = open_batches(path, None).schema.names
    check_columns(names, label, score)
    return [partial(_text, open_batches, path, label, score)]


def _text(
    open_batches: Callable[[Path, list[str] | None], Any], path: Path, label: str, score: str
) -> Iterator[Chunk]:
    """Read a file of text, a block at a time."""
    with _readable(path):
        for i, batch in enumerate(open_batches(path, [label, score])):
            yield arrow_chunk(batch.column(label), batch.column(score), f"{path.name}, block {i}")


def _open_csv(path: Path, columns: list[str] | None, delimiter: str = ",") -> Any:
    """Open a file of separated values."""
    return pa.csv.open_csv(
        path,
        read_options=pa.csv.ReadOptions(use_threads=False, block_size=1 << 24),
        parse_options=pa.csv.ParseOptions(delimiter=delimiter),
        convert_options=pa.csv.ConvertOptions(include_columns=columns),
    )


class _Lines:
    """Batches of a file of JSON lines."""

    def __init__(self, path: Path, columns: list[str] | None) -> None:
        self._dataset = pa.dataset.dataset(path, format="json")
        self._columns = columns
        self.schema = self._dataset.schema

    def __iter__(self) -> Iterator[Any]:
        return iter(self._dataset.to_batches(columns=self._columns, use_threads=False))


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


_Reader = Callable[[Path, str, str], list[Part]]
_READERS: dict[str, _Reader] = {
    ".parquet": _parquet_parts,
    ".feather": _feather_parts,
    ".arrow": _feather_parts,
    ".csv": partial(_text_parts, _open_csv),
    ".tsv": partial(_text_parts, partial(_open_csv, delimiter="\t")),
    ".jsonl": partial(_text_parts, _Lines),
    ".ndjson": partial(_text_parts, _Lines),
}
