"""A whole table as a pandas DataFrame, out of a file and into one."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.streaming.sources.batches import (
    arrow,
    check_names,
    open_table,
    read_batches,
    readable,
)
from boundshift.streaming.sources.workbook import as_workbook
from boundshift.writing import is_special, write_whole

__all__ = ["check_writable", "read_frame", "write_frame"]

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".jsonl", ".xlsx")


def read_frame(
    path: str | Path, columns: Sequence[str] | None = None, optional: Sequence[str] = ()
) -> Any:
    """Read a table as it is written: cells of text files as text, others in their own types.

    Parameters
    ----------
    path : str or Path
        CSV, TSV, Parquet, Feather, JSON lines or Excel; "-" is standard input.
    columns : sequence of str, default=None
        Columns to read; None reads all. What text means is found by
        :func:`~boundshift.app.tables.find_spelling` and read by
        :func:`~boundshift.app.tables.read_cells`.
    optional : sequence of str, default=()
        Columns to read besides, first, where the table has them.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InvalidInputError
        If the file cannot be read, or a column is not there.
    """
    pa = arrow()
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("pandas", "data") from error
    with open_table(path) as opened:
        if columns is not None:
            there = [name for name in optional if name in opened.header]
            columns = list(dict.fromkeys([*there, *columns]))
        # Objects of JSON have names of their own, known when all of them are read.
        every = opened.format == "json" and bool(optional)
        types = None if columns is None or every else dict.fromkeys(columns)
        if opened.format == "csv":
            check_names(opened.name, opened.header, list(columns or ()))
            types = dict.fromkeys(opened.header if columns is None else columns, pa.string())
        batches = [pa.Table.from_batches([b]) for b in read_batches(opened, types, words=True)]
        with readable(opened):
            table = pa.concat_tables(batches, promote_options="permissive") if batches else None
        if table is not None and every and columns is not None:
            there = [name for name in optional if name in table.column_names]
            columns = list(dict.fromkeys([*there, *columns]))
            check_names(opened.name, table.column_names, columns)
            table = table.select(columns)
        if table is None or table.num_rows == 0:
            raise InvalidInputError(f"The table must have rows, but {opened.name} has none.")
        with readable(opened):
            return _without_decimals(table).to_pandas()


def _without_decimals(table: Any) -> Any:
    """Return decimals as floats, which is what a model computes with."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.float64()))
    return table


def check_writable(path: Path) -> None:
    """Raise if no table can be written under such a name."""
    if str(path) != "-" and path.suffix.lower() not in _ENDINGS and not is_special(path):
        raise InvalidInputError(
            f"The output's name must end in one of {', '.join(_ENDINGS)}, got '{path.name}'."
        )


def write_frame(frame: Any, path: str | Path, *, new: bool = False) -> None:
    """Write a pandas DataFrame in the format that the file's name says; "-" is standard output.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    path : str or Path
        Where to.
    new : bool, default=False
        Whether a file that is there is an error.

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
        text = frame.to_csv(index=False)
        # A pipe gets every letter as it is; a terminal would obey some of them.
        sys.stdout.write(_UNSEEN.sub("\ufffd", text) if sys.stdout.isatty() else text)
    elif ending in (".parquet", ".feather"):
        buffer = io.BytesIO()
        getattr(frame, f"to_{ending[1:]}")(buffer)
        write_whole(path, buffer.getvalue(), new=new)
    elif ending == ".xlsx":
        plain = frame.astype(object).where(frame.notna(), None)
        write_whole(path, as_workbook(list(frame.columns), plain.values.tolist(), path), new=new)
    elif ending == ".jsonl":
        text = frame.to_json(orient="records", lines=True, force_ascii=False)
        write_whole(path, text, new=new)
    else:
        text = frame.to_csv(index=False, sep="\t" if ending == ".tsv" else ",")
        write_whole(path, text, new=new)
