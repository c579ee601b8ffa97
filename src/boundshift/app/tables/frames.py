"""A whole table as a pandas DataFrame, out of a file and into one."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.streaming.sources.batches import (
    arrow,
    check_names,
    convert_options,
    open_table,
    read_batches,
    readable,
)
from boundshift.writing import write_whole

__all__ = ["Kind", "check_writable", "read_frame", "write_frame"]

Kind = Literal["number", "category"]

_ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".jsonl")


def read_frame(path: str | Path, types: Mapping[str, Kind] | None = None) -> Any:
    r"""Read a table.

    Parameters
    ----------
    path : str or Path
        CSV, TSV, Parquet, Feather or JSON lines; "-" is standard input.
    types : mapping from column to {"number", "category"}, default=None
        Columns to read, and what they must hold; None reads all as they are. In text files
        an empty cell, ``?``, ``NA``, ``NaN`` and ``null`` are missing values.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    InvalidInputError
        If the file cannot be read, a column is not there, or has text where numbers must be.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rows.csv"
    ...     _ = path.write_text("age,town\n40,Bonn\n?,Rome\n")
    ...     read_frame(path)["age"].tolist()
    [40.0, nan]
    """
    pa = arrow()
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("pandas", "data") from error
    with open_table(path) as opened:
        kinds = _arrow_types(types)
        if opened.format == "csv":
            table = _read_csv(opened, kinds)
        else:
            batches = list(read_batches(opened, kinds))
            with readable(opened):
                table = pa.Table.from_batches(batches) if batches else pa.table({})
        if table.num_rows == 0:
            raise InvalidInputError(f"The table must have rows, but {opened.name} has none.")
    return _without_decimals(table).to_pandas()


def _without_decimals(table: Any) -> Any:
    """Return decimals as floats, which is what a model computes with."""
    import pyarrow as pa

    for place, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(place, field.name, table.column(place).cast(pa.float64()))
    return table


def _arrow_types(types: Mapping[str, Kind] | None) -> dict[str, Any] | None:
    """Return Arrow's types of the kinds."""
    import pyarrow as pa

    arrow = {"number": pa.float64(), "category": pa.string()}
    return None if types is None else {name: arrow[kind] for name, kind in types.items()}


def _read_csv(opened: Any, kinds: dict[str, Any] | None) -> Any:
    """Read CSV whole, so that the type of a column is found from all its cells."""
    from pyarrow import csv

    check_names(opened.name, opened.header, list(kinds or ()))
    with readable(opened):
        return csv.read_csv(
            opened.stream,
            parse_options=csv.ParseOptions(delimiter=opened.delimiter, newlines_in_values=True),
            convert_options=convert_options(list(kinds or ()), kinds or {}),
        )


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
