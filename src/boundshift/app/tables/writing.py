"""Tables into files, whole or not at all."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

from boundshift.exceptions import InvalidInputError
from boundshift.writing import write_whole

__all__ = ["check_writable", "write_frame"]

_ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".jsonl")


def check_writable(path: Path) -> None:
    """Raise if no table can be written under such a name."""
    if str(path) != "-" and path.suffix.lower() not in _ENDINGS:
        raise InvalidInputError(
            f"The output's name must end in one of {', '.join(_ENDINGS)}, got '{path.name}'."
        )


def write_frame(frame: Any, path: str | Path) -> None:
    """Write a pandas DataFrame in the format that the file's name says; "-" is standard output.

    Examples
    --------
    >>> import pandas as pd
    >>> write_frame(pd.DataFrame({"score": [0.5], "prediction": ["yes"]}), "-")
    score,prediction
    0.5,yes
    """
    path = Path(path)
    check_writable(path)
    ending = path.suffix.lower()
    if str(path) == "-":
        frame.to_csv(sys.stdout, index=False)
    elif ending in (".parquet", ".feather"):
        buffer = io.BytesIO()
        getattr(frame, f"to_{ending[1:]}")(buffer)
        write_whole(path, buffer.getvalue())
    elif ending == ".jsonl":
        write_whole(path, frame.to_json(orient="records", lines=True, force_ascii=False))
    else:
        write_whole(path, frame.to_csv(index=False, sep="\t" if ending == ".tsv" else ","))
