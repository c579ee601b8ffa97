"""A file as batches of columns, whatever its format; what is wrong with it is said in words."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from boundshift.exceptions import InvalidInputError, MissingExtraError

__all__ = [
    "FORMATS",
    "Format",
    "OpenTable",
    "arrow",
    "check_names",
    "column_names",
    "convert_options",
    "name_format",
    "open_table",
    "read_batches",
    "readable",
]

Format = Literal["csv", "parquet", "feather", "json"]

FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
    ".arrow": "feather",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
_COMPRESSED = (".gz", ".bz2", ".zst", ".lz4")
_BLOCK = 1 << 22
# What spreadsheets, statistics programs and public collections write where a value is missing.
_MISSING = ["", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "None"]


@dataclass(frozen=True)
class OpenTable:
    """An opened table.

    Parameters
    ----------
    name : str
        As the user knows it.
    format : {"csv", "parquet", "feather", "json"}
        How to read it.
    stream : file, ParquetFile or RecordBatchFileReader
        At its start.
    delimiter : str, default=","
        Between the cells of a CSV file.
    header : tuple of str, default=()
        Names of the columns; empty for JSON lines, where every object has its own.
    size : int, default=0
        Bytes of text, rows of Parquet, batches of Feather; 0 if unknown.
    """

    name: str
    format: Format
    stream: Any
    delimiter: str = ","
    header: tuple[str, ...] = ()
    size: int = 0


def column_names(path: str | Path) -> list[str]:
    r"""Return the names of a file's columns.

    Parameters
    ----------
    path : str or Path
        CSV, TSV, Parquet, Feather or JSON lines; "-" is standard input.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("score;ill\n0.5;yes\n")
    ...     column_names(path)
    ['score', 'ill']
    """
    with open_table(path) as opened:
        if opened.format != "json":
            return list(opened.header)
        return list(next(read_batches(opened)).schema.names)


@contextmanager
def open_table(path: str | Path) -> Iterator[OpenTable]:
    """Open a file or standard input, and find out how to read it."""
    pa = arrow()
    if str(path) == "-":
        raw: Any = io.BufferedReader(sys.stdin.buffer, _BLOCK)
        yield _identify("standard input", raw, _sniffed(raw.peek(1)[:_BLOCK]), 0)
        return
    path = Path(path)
    found = _format_of(path)
    compressed = path.suffix.lower() in _COMPRESSED
    with readable(OpenTable(str(path), found, None)):
        size = path.stat().st_size
        # Parquet and Feather are read from their end, so they need a file that can seek.
        file = pa.OSFile(str(path)) if not compressed else pa.input_stream(str(path))
    with file:
        buffered = io.BufferedReader(file, _BLOCK) if found in ("csv", "json") else file
        yield _identify(str(path), buffered, found, size)


def arrow() -> Any:
    """Import pyarrow, or name the extra that brings it."""
    try:
        import pyarrow as pa
    except ImportError as error:
        raise MissingExtraError("pyarrow", "arrow") from error
    return pa


def _format_of(path: Path) -> Format:
    """Return the format by the file's name."""
    if path.is_dir():
        raise InvalidInputError(f"The table must be a file, got the folder '{path}'.")
    if not path.exists():
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InvalidInputError(f"There is no file '{path}'.{_suggest(path.name, near)}")
    found = name_format(path)
    if found is None:
        raise InvalidInputError(
            f"The file's name must end in one of {', '.join(FORMATS)} (or one of these and "
            f"{', '.join(_COMPRESSED)}), got '{path.name}'. Save the table as CSV."
        )
    return found


def name_format(path: Path) -> Format | None:
    """Return the format that a file's name says, None if none.

    Examples
    --------
    >>> name_format(Path("scores.TSV.gz")), name_format(Path("notes.md"))
    ('csv', None)
    """
    plain = path.with_suffix("") if path.suffix.lower() in _COMPRESSED else path
    return FORMATS.get(plain.suffix.lower())


def _sniffed(head: bytes) -> Format:
    """Return the format of what comes down a pipe."""
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "feather"
    return "json" if head.lstrip()[:1] in (b"{", b"[") else "csv"


def _identify(name: str, stream: Any, found: Format, size: int) -> OpenTable:
    """Return the table with its header and delimiter."""
    opened = OpenTable(name, found, stream, size=size)
    if found in ("parquet", "feather"):
        return _identify_binary(opened)
    with readable(opened):
        head = stream.peek(_BLOCK)[:_BLOCK]
        if not head.strip():
            raise InvalidInputError(f"The table must have rows, but {name} is empty.")
        if found == "json":
            return opened
        line = head.partition(b"\n")[0].rstrip(b"\r").decode("utf-8-sig")
    delimiter = max(",;\t|", key=line.count)
    header = next(csv.reader([line], delimiter=delimiter))
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        raise InvalidInputError(
            f"Column names must differ, but {name} has '{repeated[0]}' more than once. Rename one."
        )
    return replace(opened, delimiter=delimiter, header=tuple(header))


def _identify_binary(table: OpenTable) -> OpenTable:
    """Return the table with the reader of its format, which knows names and sizes."""
    pa = arrow()
    stream = table.stream
    with readable(table):
        if isinstance(stream, io.BufferedReader):
            stream = pa.BufferReader(stream.read())
        if table.format == "parquet":
            from pyarrow import parquet

            file = parquet.ParquetFile(stream)
            names, size = file.schema_arrow.names, file.metadata.num_rows
        else:
            file = pa.ipc.open_file(stream)
            names, size = file.schema.names, file.num_record_batches
    return replace(table, stream=file, header=tuple(names), size=size)


def check_names(where: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise if a wanted column is not there, and name the nearest that is.

    Examples
    --------
    >>> check_names("The table", ["age", "Glucose"], ["glucose"])
    Traceback (most recent call last):
    boundshift.exceptions.InvalidInputError: The table has no column 'glucose'. Did you mean ...
    """
    missing = [column for column in wanted if column not in names]
    if not missing:
        return
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    lacks = ", ".join(f"'{column}'" for column in missing[:8])
    many = "s" if len(missing) > 1 else ""
    raise InvalidInputError(
        f"{where} has no column{many} {lacks}.{_suggest(missing[0], names)} "
        f"Its columns are: {shown}."
    )


def _suggest(name: str, known: Sequence[str]) -> str:
    """Return a question with the nearest known name, or nothing."""
    folded = {other.casefold(): other for other in known}
    near = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return f" Did you mean '{folded[near[0]]}'?" if near else ""


def read_batches(table: OpenTable, types: Mapping[str, Any] | None = None) -> Iterator[Any]:
    """Yield record batches of all columns, or of some with the Arrow type each is to have.

    Parameters
    ----------
    table : OpenTable
        From :func:`open_table`.
    types : mapping from str to Arrow type or None, default=None
        Columns to read; None as a type leaves it to the file.
    """
    with readable(table):
        for batch in _all_batches(table, types):
            if types is not None:
                check_names(table.name, batch.schema.names, list(types))
                batch = _cast(table, batch.select(list(types)), types)
            yield batch


def _all_batches(table: OpenTable, types: Mapping[str, Any] | None = None) -> Iterator[Any]:
    """Yield record batches in the file's own types; CSV has none of its own."""
    if table.format == "csv":
        return _csv_batches(table, types)
    if table.format == "json":
        return _json_batches(table)
    check_names(table.name, table.header, list(types or ()))
    reader = table.stream
    if table.format == "parquet":
        return iter(reader.iter_batches(columns=None if types is None else list(types)))
    return (reader.get_batch(i) for i in range(reader.num_record_batches))


def _csv_batches(table: OpenTable, types: Mapping[str, Any] | None) -> Iterator[Any]:
    """Yield the batches of a CSV file."""
    from pyarrow import csv as arrow_csv

    wanted = list(types or ())
    check_names(table.name, table.header, wanted)
    return iter(
        arrow_csv.open_csv(
            table.stream,
            arrow_csv.ReadOptions(block_size=_BLOCK),
            arrow_csv.ParseOptions(delimiter=table.delimiter, newlines_in_values=True),
            convert_options(wanted, types or {}),
        )
    )


def convert_options(wanted: Sequence[str], types: Mapping[str, Any]) -> Any:
    """Return how cells of a CSV file become values."""
    from pyarrow import csv as arrow_csv

    return arrow_csv.ConvertOptions(
        include_columns=list(wanted),
        column_types={name: kind for name, kind in types.items() if kind is not None},
        null_values=_MISSING,
        strings_can_be_null=True,
    )


def _json_batches(table: OpenTable) -> Iterator[Any]:
    """Yield the batches of a file with one JSON object a line."""
    from pyarrow import json as arrow_json

    rest = b""
    while block := table.stream.read(_BLOCK):
        whole, newline, rest = (rest + block).rpartition(b"\n")
        if newline:
            yield from arrow_json.read_json(io.BytesIO(whole + newline)).to_batches()
    if rest.strip():
        yield from arrow_json.read_json(io.BytesIO(rest)).to_batches()


def _cast(table: OpenTable, batch: Any, types: Mapping[str, Any]) -> Any:
    """Return the batch with the types asked for."""
    pa = arrow()
    columns = []
    for name, kind in types.items():
        column = batch.column(name)
        if kind is not None and column.type != kind:
            try:
                column = column.cast(kind)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                raise InvalidInputError(
                    f"Column '{name}' of {table.name} must hold numbers, got {column.type} "
                    f"values ({_first_line(error)}). Choose another column."
                ) from error
        columns.append(column)
    return pa.record_batch(columns, names=list(types))


@contextmanager
def readable(table: OpenTable) -> Iterator[None]:
    """Turn what goes wrong while reading into the rule, the value and the cure."""
    pa = arrow()
    try:
        yield
    except UnicodeDecodeError as error:
        raise InvalidInputError(_not_utf8(table)) from error
    except pa.ArrowException as error:
        raise InvalidInputError(_explain(table, str(error))) from error
    except OSError as error:
        reason = error.strerror or _first_line(error)
        raise InvalidInputError(f"{table.name} cannot be read: {reason}.") from error


def _explain(table: OpenTable, message: str) -> str:
    """Return what an error of the reader means."""
    if "invalid UTF8" in message or "UTF-8" in message:
        return _not_utf8(table)
    if "Empty CSV file" in message:
        return f"The table must have rows, but {table.name} is empty."
    number = re.search(r"column #(\d+).*: CSV conversion error to double.*'(.*)'", message)
    if number:
        return (
            f"{_column(table, int(number[1]))} must hold numbers, got '{number[2]}'. "
            "Choose another column, or drop those rows."
        )
    uneven = re.search(r"Expected (\d+) columns, got (\d+)(?:: (.*))?", message)
    if uneven:
        row = f" ('{uneven[3][:60]}')" if uneven[3] else ""
        return (
            f"Every row of {table.name} must have {uneven[1]} cells, as the header has; a row "
            f"has {uneven[2]}{row}. Quote cells that contain '{table.delimiter}'."
        )
    if table.format == "json":
        return (
            f'Every line of {table.name} must be one JSON object, as in {{"score": 0.3, '
            f'"label": 1}}: {_first_line(message)}.'
        )
    kind = {"csv": "CSV", "parquet": "Parquet", "feather": "Feather"}[table.format]
    return (
        f"{table.name} must be a whole {kind} file, and is not: {_first_line(message)}. "
        "Write or copy it again."
    )


def _column(table: OpenTable, number: int) -> str:
    """Return a column's name in words."""
    name = table.header[number] if number < len(table.header) else str(number)
    return f"Column '{name}' of {table.name}"


def _not_utf8(table: OpenTable) -> str:
    """Say that the text has another encoding."""
    return (
        f"{table.name} must be UTF-8 text, and holds bytes that are not. Save it as UTF-8, for "
        "example with: iconv -f latin1 -t utf-8 old.csv > new.csv"
    )


def _first_line(error: object) -> str:
    """Return the first line of a message without its final stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
