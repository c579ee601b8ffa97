"""Records on disk: tidy text with one line a record, and compressed arrays."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from boundshift.writing import write_whole

__all__ = ["read_arrays", "read_records", "write_arrays", "write_records"]

Record = TypeVar("Record")


def write_records(path: Path, kind: type[Any], records: Iterable[Any], *, digits: int) -> Path:
    """Write records as comma-separated text, compressed if the name ends in ``.gz``.

    Parameters
    ----------
    path : Path
        Where to.
    kind : type
        A dataclass of strings, whole numbers, floats and booleans.
    records : iterable
        What.
    digits : int
        Digits of floats; 17 lose nothing.
    """
    raw = _text(_columns(kind), records, digits).encode("utf-8")
    # Without a time in it, the same records give the same file.
    return write_whole(path, gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)


def _columns(kind: type[Any]) -> list[str]:
    """Return the names of a record's fields."""
    return [field.name for field in fields(kind)]


def _text(names: list[str], records: Iterable[Any], digits: int) -> str:
    """Return records as comma-separated text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for record in records:
        writer.writerow([_written(getattr(record, name), digits) for name in names])
    return text.getvalue()


def _written(value: object, digits: int) -> str:
    """Write one value."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """Read what :func:`write_records` wrote."""
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if path.suffix == ".gz" else raw).decode("utf-8")
    readers: dict[str, Any] = {
        "str": str,
        "int": int,
        "float": float,
        "bool": lambda text: text == "True",
    }
    read = [(f.name, readers[str(f.type)]) for f in fields(kind)]  # type: ignore[arg-type]
    lines = csv.DictReader(io.StringIO(text))
    return [kind(**{name: reader(line[name]) for name, reader in read}) for line in lines]


def write_arrays(path: Path, record: Any) -> None:
    """Write a dataclass of arrays, numbers and strings as one compressed file.

    Parameters
    ----------
    path : Path
        Where to.
    record : dataclass
        What.
    """
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **asdict(record))
    write_whole(path, buffer.getvalue())


def read_arrays(path: Path, kind: type[Record]) -> Record | None:
    """Read what :func:`write_arrays` wrote; None where there is nothing, or a broken file."""
    try:
        with path.open("rb") as file, np.load(file) as stored:
            found = {name: stored[name] for name in _columns(kind)}
        return kind(**{name: v if v.ndim else v.item() for name, v in found.items()})
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile):
        return None
