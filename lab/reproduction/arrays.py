"""Records of arrays on disk."""

from __future__ import annotations

import io
import zipfile
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from boundshift.writing import write_whole

__all__ = ["read_arrays", "write_arrays"]

Record = TypeVar("Record")


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
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    try:
        with path.open("rb") as file, np.load(file) as stored:
            found = {name: stored[name] for name in names}
        return kind(**{name: v if v.ndim else v.item() for name, v in found.items()})
    except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile):
        return None
