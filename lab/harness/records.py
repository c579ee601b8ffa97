"""Tidy files: one line a record, one column a field of its class."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from boundshift.writing import write_whole

__all__ = ["read_records", "write_records"]

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
    names = [field.name for field in fields(kind)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for record in records:
        writer.writerow([_written(getattr(record, name), digits) for name in names])
    raw = text.getvalue().encode("utf-8")
    # Without a time in it, the same records give the same file.
    return write_whole(path, gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)


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
