"""Records on disk: tidy text with one line a record, and compressed arrays."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
import zipfile
from collections.abc import Container, Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from boundshift.writing import write_whole

__all__ = [
    "checksum",
    "read_arrays",
    "read_records",
    "to_json",
    "write_arrays",
    "write_records",
]

Record = TypeVar("Record")


def write_records(
    path: Path,
    kind: type[Any],
    records: Iterable[Any],
    *,
    digits: int,
    without: Container[str] = (),
) -> Path:
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
    without : container of str, default=()
        Fields to leave out.
    """
    names = [name for name in _columns(kind) if name not in without]
    raw = _text(names, records, digits).encode("utf-8")
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
    """Read what :func:`write_records` wrote; a field that was left out has its default."""
    readers: dict[str, Any] = {
        "str": str,
        "int": int,
        "float": float,
        "bool": lambda text: text == "True",
    }
    lines = csv.DictReader(io.StringIO(_raw(path).decode("utf-8")))
    there = set(lines.fieldnames or ())
    known = [f for f in fields(kind) if f.name in there]  # type: ignore[arg-type]
    read = [(f.name, readers[str(f.type)]) for f in known]
    return [kind(**{name: reader(line[name]) for name, reader in read}) for line in lines]


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file of records, as text, however it is compressed."""
    return hashlib.sha256(_raw(path)).hexdigest()


def _raw(path: Path) -> bytes:
    """Return the text of a file of records."""
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def to_json(facts: Any, *, digits: int = 6) -> str:
    """Write facts as JSON, a line for what holds plain values only.

    JSON has no infinity and no NaN, which become null.

    Examples
    --------
    >>> print(to_json({"a": {"b": 1 / 3, "c": float("nan")}, "d": [1, 2]}, digits=3))
    {
    "a": {"b": 0.333, "c": null},
    "d": [1, 2]
    }
    """
    if not _is_deep(facts):
        return json.dumps(_plain(facts, digits))
    if isinstance(facts, dict):
        inner = [f"{json.dumps(key)}: {to_json(v, digits=digits)}" for key, v in facts.items()]
        return "{\n" + ",\n".join(inner) + "\n}"
    return "[\n" + ",\n".join(to_json(each, digits=digits) for each in facts) + "\n]"


def _is_deep(value: Any) -> bool:
    """Say whether a value holds others that hold others."""
    inner = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and any(isinstance(v, dict | list) for v in inner)


def _plain(value: Any, digits: int) -> Any:
    """Return what JSON knows."""
    if isinstance(value, dict):
        return {key: _plain(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, digits) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value


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
