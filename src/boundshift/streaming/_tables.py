"""Files: as batches of columns whatever their format, as a source of passes, and errors in words.

Text is cut into blocks of whole rows here and not by Arrow's own streaming readers. After a quote
that is never closed, Arrow takes the rest of a CSV file for one cell and says nothing.
"""

from __future__ import annotations

import codecs
import csv
import glob
import io
import os
import re
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, time
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from boundshift._validation import nearest_name
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError
from boundshift.streaming._read import (
    Chunk,
    ColumnNames,
    PartSource,
    Values,
    arrow,
    table_chunk,
)

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
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
_BLOCK = 1 << 22
_ROWS_OF_A_BATCH = 1 << 17
# A longer row is a quote that nobody closed, or no table at all.
_LONGEST_ROW = 1 << 26
MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "None")
"""What spreadsheets, statistics programs and public collections write where a value is missing."""
_SAMPLE = 1 << 16
_DECIMAL_COMMA = re.compile(
    r"[+-]?(0?,\d+|\d{4,},\d+|\d+,(\d{1,2}|\d{4,}))(e[+-]?\d+)?", re.ASCII | re.IGNORECASE
)
_LARGEST_WORKBOOK = 1 << 30
# Arrow's reader of JSON crashes on values nested too deep.
_MOST_BRACKETS = 1000
_JSON_LINE = '{"score": 0.3, "label": 1}'


@dataclass(frozen=True)
class Reading:
    """How to read a file that does not say it itself."""

    encoding: str | None = None
    sheet: str | None = None
    header_row: int | None = None

    def check(self, path: str | Path, kind: str) -> None:
        """Raise if a file of this kind has no use for what is given."""
        if self.encoding is not None and kind not in ("csv", "json"):
            raise InvalidInputError(
                f"--encoding must go with a file of text, got {self.encoding!r} for {path}. Leave "
                "it out."
            )
        for option, value in (("--sheet", self.sheet), ("--header-row", self.header_row)):
            if value is not None and kind != "xlsx":
                raise InvalidInputError(
                    f"{option} must go with an Excel file, got {value!r} for {path}. Leave it out."
                )
        try:
            "".encode(self.encoding or "utf-8")
        except LookupError:
            raise InvalidInputError(
                f"--encoding must be one that Python knows, got {self.encoding!r}. Use utf-8, "
                "utf-16, cp1252 or latin-1, for example."
            ) from None


AS_IT_IS = Reading()
"""Nothing is given: the encoding is found by trial."""


@dataclass(frozen=True)
class OpenTable:
    """An opened table."""

    name: str
    format: Format
    stream: Any = None  # file, ParquetFile or RecordBatchFileReader; of text, after `head`
    head: bytes = b""  # first few megabytes of text, from the first row on
    delimiter: str = ","
    header: tuple[str, ...] = ()  # empty for JSON lines, where every object has its own
    size: int = 0  # bytes of text, rows of Parquet, batches of Feather; 0 if unknown
    encoding: str = ""  # of text; empty for UTF-8
    decoder: Any = None  # of text that is not UTF-8


def column_names(path: str | Path, reading: Reading = AS_IT_IS) -> list[str]:
    """Return the names of a file's columns."""
    with open_table(path, reading) as opened:
        if opened.format != "json":
            return list(opened.header)
        return list(next(read_batches(opened)).schema.names)


@contextmanager
def open_table(path: str | Path, reading: Reading = AS_IT_IS) -> Iterator[OpenTable]:
    """Open a file or standard input, and find out how to read it."""
    pa = arrow()
    if str(path) == "-":
        if sys.stdin is None or sys.stdin.closed:
            raise InvalidInputError(
                "Standard input must be open to be read, and is closed. Name a file, or pipe "
                "the table into the command."
            )
        reading.check("standard input", "csv")
        yield _identify(
            OpenTable("standard input", "csv", sys.stdin.buffer, encoding=reading.encoding or ""),
            is_piped=True,
        )
        return
    path = Path(path)
    if path.suffix.lower() == ".xlsx" and path.is_file():
        reading.check(path, "xlsx")
        text = _workbook_as_csv(path, reading)
        yield _identify(OpenTable(str(path), "csv", io.BytesIO(text), size=len(text)))
        return
    table = OpenTable(str(path), _format_of(path), encoding=reading.encoding or "")
    reading.check(path, table.format)
    with readable(table):
        size = path.stat().st_size
        # Any bytes may name a file, and Arrow takes text for UTF-8.
        file = pa.OSFile(os.fsencode(path))
        if path.suffix.lower() in _COMPRESSED:
            file = pa.CompressedInputStream(file, _COMPRESSED[path.suffix.lower()])
    with file:
        yield _identify(replace(table, stream=file, size=size))


def _format_of(path: Path) -> Format:
    if path.is_dir():
        raise InvalidInputError(f"The table must be a file, got the folder '{path}'.")
    if not path.exists():
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InvalidInputError(f"There is no file '{path}'.{nearest_name(path.name, near)}")
    found = name_format(path)
    if found is None:
        raise InvalidInputError(
            f"The file's name must end in one of {', '.join(FORMATS)} (text also followed by one "
            f"of {', '.join(_COMPRESSED)}) or be .xlsx, got '{path.name}'. Save the table as CSV."
        )
    return found


def name_format(path: Path) -> Format | None:
    """Return the format that a file's name says, None if none; only text may be compressed."""
    if path.suffix.lower() not in _COMPRESSED:
        return FORMATS.get(path.suffix.lower())
    inside = FORMATS.get(path.with_suffix("").suffix.lower())
    return inside if inside in ("csv", "json") else None


def _identify(table: OpenTable, *, is_piped: bool = False) -> OpenTable:
    """Return the table with its header and delimiter; what comes down a pipe says its format."""
    if table.format in ("parquet", "feather"):
        return _identify_binary(table)
    with readable(table):
        head = _read_head(table.stream)
        table, head = _as_utf8(table, head)
        if is_piped:
            table = replace(table, format="json" if head.lstrip()[:1] in (b"{", b"[") else "csv")
        if not head.strip():
            raise InvalidInputError(f"The table must have rows, but {table.name} is empty.")
        if table.format == "json":
            if not head.lstrip().startswith(b"{"):  # Arrow would crash
                raise InvalidInputError(
                    f"Every line of {table.name} must be one flat JSON object, as in {_JSON_LINE}, "
                    f"got {head.lstrip()[:20].decode('utf-8', 'replace')!r}. Write one object a "
                    "line."
                )
            return replace(table, head=head)
        head = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
        first = re.match(_row_pattern(b",;\t|", _newline_of(head)), head)
        stop = first.end() if first else len(head)
        line = head[:stop].decode()
    delimiter = max(",;\t|", key=re.sub(r'"[^"]*"', "", line).count)
    try:
        names = next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter), [""])
    except csv.Error as error:
        raise InvalidInputError(
            f"The first row of {table.name} must name the columns, and cannot be read: {error}. "
            "Save the table as CSV again."
        ) from error
    header = _check_distinct(table.name, names)
    return replace(table, head=head[stop:], delimiter=delimiter, header=header)


def _read_head(stream: Any) -> bytes:
    """Return the first few megabytes, or all; a pipe may hand out less than it is asked for."""
    head = b""
    while len(head) < _BLOCK and (more := stream.read(_BLOCK - len(head))):
        head += more
    return head


def _as_utf8(table: OpenTable, head: bytes) -> tuple[OpenTable, bytes]:
    """Return a table of text that is read as UTF-8, and the head."""
    encoding = table.encoding or _find_encoding(table.name, head)
    if encoding != "utf-8":
        decoder = codecs.getincrementaldecoder(encoding)()
        table, head = (
            replace(table, encoding=encoding, decoder=decoder),
            decoder.decode(head).encode(),
        )
    if b"\0" in head[:200]:
        raise InvalidInputError(
            f"{table.name} must be text, and is binary, compressed or not {encoding}. Name its "
            "encoding with --encoding, let its name end in .gz if it is compressed so, or save the "
            "table as UTF-8."
        )
    return table, head


def _find_encoding(name: str, text: bytes) -> str:
    """Return the encoding of some text, with a note if it is not UTF-8."""
    encoding = "utf-16" if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "cp1252"
    if encoding == "cp1252":
        try:
            codecs.getincrementaldecoder("utf-8")().decode(text)  # The last letter may be cut.
            return "utf-8"
        except UnicodeDecodeError:
            text.decode(encoding)
    warnings.warn(
        f"{name} is not UTF-8 text and is read as {encoding}. If letters look wrong, name its "
        "encoding with --encoding.",
        BoundaryWarning,
        stacklevel=2,
    )
    return encoding


def _check_distinct(name: str, header: Sequence[str]) -> tuple[str, ...]:
    repeated = [column for column, count in Counter(header).items() if count > 1]
    if repeated:
        raise InvalidInputError(
            f"Column names must differ, but {name} has '{repeated[0]}' more than once. Rename one."
        )
    return tuple(header)


def _identify_binary(table: OpenTable) -> OpenTable:
    """Return the table with the reader of its format, which knows names and sizes."""
    with readable(table):
        if table.format == "parquet":
            from pyarrow import parquet

            file = parquet.ParquetFile(table.stream)
            names, size = file.schema_arrow.names, file.metadata.num_rows
        else:
            file = arrow().ipc.open_file(table.stream)
            names, size = file.schema.names, file.num_record_batches
        header = _check_distinct(table.name, names)
    return replace(table, stream=file, header=header, size=size)


def check_names(where: str, names: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise if a wanted column is not there, and name the nearest that is."""
    missing = [column for column in wanted if column not in names]
    if not missing:
        return
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    lacks = ", ".join(f"'{column}'" for column in missing[:8])
    many = "s" if len(missing) > 1 else ""
    raise InvalidInputError(
        f"{where} has no column{many} {lacks}.{nearest_name(missing[0], names)} "
        f"Its columns are: {shown}."
    )


# --- Batches --------------------------------------------------------------------------------------


def read_batches(
    table: OpenTable, types: Mapping[str, Any] | None = None, *, words: bool = False
) -> Iterator[Any]:
    """Yield record batches of all columns, or of some with the Arrow type each is to have.

    None as a type leaves it to the file. With `words`, cells of CSV are handed on as they are
    written, "NA" and empty ones, too.
    """
    with readable(table):
        if table.format != "json":
            check_names(table.name, table.header, list(types or ()))
        batches: Iterable[Any]
        if table.format == "csv":
            batches = _csv_batches(table, types or {}, words)
        elif table.format == "json":
            batches = _json_batches(table)
        elif table.format == "parquet":
            batches = table.stream.iter_batches(columns=None if types is None else list(types))
        else:
            batches = (feather_batch(table.stream, i, types) for i in range(table.size))
        for batch in batches:
            if types is not None:
                check_names(table.name, batch.schema.names, list(types))
                batch = _cast(table, batch.select(list(types)), types)
            yield batch


def feather_batch(reader: Any, number: int, columns: Iterable[str] | None = None) -> Any:
    """Return a batch of Feather, all or some columns, if offsets and codes stay within it.

    Arrow believes what a file says of itself, and would read beyond its memory.
    """
    batch = reader.get_batch(number)
    if columns is not None:
        batch = batch.select(list(columns))
    batch.validate(full=True)
    return batch


def _csv_batches(table: OpenTable, types: Mapping[str, Any], words: bool) -> Iterator[Any]:
    """Yield the batches of a CSV file; a type that is not given is that of the first block."""
    from pyarrow import csv as arrow_csv

    known = {name: kind for name, kind in types.items() if kind is not None}
    decimal = ""
    for block in _blocks(table):
        decimal = decimal or _decimal_sign(table, block, known)
        read = arrow_csv.read_csv(
            arrow().BufferReader(block),
            arrow_csv.ReadOptions(column_names=list(table.header), block_size=len(block) + 1),
            arrow_csv.ParseOptions(delimiter=table.delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                include_columns=list(types),
                column_types=known,
                null_values=list(MISSING),
                strings_can_be_null=not words,
                decimal_point=decimal,
            ),
        )
        found = {field.name: field.type for field in read.schema}
        known |= {name: kind for name, kind in found.items() if not arrow().types.is_null(kind)}
        yield from read.to_batches()


def _decimal_sign(table: OpenTable, block: bytes, types: Mapping[str, Any]) -> str:
    """Return the decimal sign of the columns to be read as numbers, by the first rows.

    A comma before three digits may stand between thousands, and decides nothing.
    """
    wanted = [name for name, kind in types.items() if arrow().types.is_floating(kind)]
    if not wanted or b"," not in block:
        return "."
    lines = io.StringIO(block[:_SAMPLE].decode("utf-8", "replace"), newline="")
    try:
        rows = list(csv.DictReader(lines, table.header, delimiter=table.delimiter))
    except csv.Error:
        return "."
    whole = rows if len(block) <= _SAMPLE else rows[:-1]  # The last cell may be cut.
    cells = [str(row.get(name)).strip() for row in whole for name in wanted]
    return "," if any(map(_DECIMAL_COMMA.fullmatch, cells)) else "."


def _json_batches(table: OpenTable) -> Iterator[Any]:
    from pyarrow import json as arrow_json

    for block in _blocks(table):
        if max(line.count(b"[") + line.count(b"{") for line in block.split(b"\n")) > _MOST_BRACKETS:
            raise InvalidInputError(
                f"Every line of {table.name} must be one flat JSON object, as in {_JSON_LINE}, and "
                f"one has more than {_MOST_BRACKETS} brackets, so it is nested. Write numbers and "
                "words beside each other."
            )
        options = arrow_json.ReadOptions(block_size=len(block) + 1)
        yield from arrow_json.read_json(arrow().BufferReader(block), options).to_batches()


def _blocks(table: OpenTable) -> Iterator[bytes]:
    """Yield the rest of a text in blocks of whole rows; quotes of CSV may enclose a line's end."""
    newline, rest = _newline_of(table.head), table.head
    rows = re.compile(b"(?:%b)*+" % _row_pattern(table.delimiter.encode(), newline))

    def end_of_rows(text: bytes) -> int:
        if table.format == "json" or b'"' not in text:
            return text.rfind(newline) + 1
        found = rows.match(text)
        return found.end() if found else 0

    while True:
        if cut := end_of_rows(rest):
            yield rest[:cut]
            rest = rest[cut:]
        if len(rest) > _LONGEST_ROW:
            raise InvalidInputError(
                f"A row of {table.name} must have at most {_LONGEST_ROW >> 20} MB, and one has "
                "more. A quote may not be closed: check the last rows."
            )
        block = table.stream.read(_BLOCK)
        if table.decoder is not None:
            block = table.decoder.decode(block, final=not block).encode()
        if not block:
            break
        rest += block
    if rest.strip():
        if not end_of_rows(rest + newline):
            raise InvalidInputError(
                f"Every quote of a CSV file must be closed, and one of {table.name} is not, before "
                f"{rest[:40].decode('utf-8', 'replace')!r}. Write the table again."
            )
        yield rest


def _newline_of(head: bytes) -> bytes:
    """Return what ends a row: a carriage return alone only if there is nothing else."""
    return b"\n" if b"\n" in head or b"\r" not in head else b"\r"


def _row_pattern(delimiters: bytes, newline: bytes) -> bytes:
    """Return the expression of a whole row of CSV.

    A quote opens a cell only at its start; elsewhere it is a letter like others, as in 6'2".
    """
    letter = b"[^%b%b]" % (re.escape(delimiters), newline)
    cell = b'(?:"(?:[^"]++|"")*+"%b*+|(?!")%b*+)' % (letter, letter)
    return b"(?:%b[%b])*+%b%b" % (cell, re.escape(delimiters), cell, newline)


def _cast(table: OpenTable, batch: Any, types: Mapping[str, Any]) -> Any:
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


# --- Excel ----------------------------------------------------------------------------------------


def _workbook_as_csv(path: Path, reading: Reading) -> bytes:
    """Return a sheet's cells, named or the only one filled, numbers to their last digit."""
    try:
        import pandas as pd

        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
        if size > _LARGEST_WORKBOOK:
            raise ValueError(f"it would unpack to {size / (1 << 30):.1f} GB")
        # Formulas count with the values that were computed when the file was saved.
        sheets = pd.read_excel(path, sheet_name=None, header=None, dtype=object, na_filter=False)
    except ImportError:
        raise MissingExtraError("openpyxl", "cli") from None
    except MemoryError:
        raise
    except Exception as error:  # Damage shows itself in any part: archive, deflate, XML, styles.
        raise InvalidInputError(
            f"{path} must be a whole Excel file, and is not: {error}. Save it again, or as CSV."
        ) from error
    texts = {name: sheet.map(_cell_text) for name, sheet in sheets.items()}
    filled = {name: text for name, text in texts.items() if (text != "").any(axis=None)}
    if reading.sheet is not None:
        if reading.sheet not in filled:
            raise InvalidInputError(
                f"--sheet must name a sheet of {path} that has cells, got {reading.sheet!r}. Use "
                f"one of {', '.join(map(repr, filled))}."
            )
        filled = {reading.sheet: filled[reading.sheet]}
    if len(filled) > 1:
        raise InvalidInputError(
            f"An Excel file must have one sheet with cells, and {path} has {len(filled)}: "
            f"{', '.join(map(repr, filled))}. Choose one with --sheet NAME."
        )
    if not filled:
        return b""
    (text,) = filled.values()
    first = _find_header(path, text) if reading.header_row is None else reading.header_row
    if not 1 <= first <= len(text) or (reading.header_row and not any(text.iloc[first - 1])):
        raise InvalidInputError(
            f"--header-row must be the number of a row with cells, from 1 to {len(text)}, got "
            f"{first}. Count from the top of the sheet."
        )
    rows = text.iloc[first - 1 :]
    rows = rows[(rows != "").any(axis=1)]
    width = max(i + 1 for i, cell in enumerate(rows.iloc[0]) if cell)
    stray = [cell for row in rows.iloc[:, width:].to_numpy() for cell in row if cell]
    if stray:
        raise InvalidInputError(
            f"The first row of {path} must name the columns, and names {width} while a row "
            f"has more cells, as {stray[0]!r}. Name every column, or the row of names with "
            "--header-row N."
        )
    written: str = rows.iloc[:, :width].to_csv(header=False, index=False, lineterminator="\n")
    return written.encode()


def _find_header(path: Path, text: Any) -> int:
    """Return the number of the row of names: the first, or the first wide one below a title."""
    widths: list[int] = (text.head(20) != "").sum(axis=1).tolist()
    first = widths.index(max(widths)) + 1
    names = text.iloc[first - 1]
    is_title = max(widths[: first - 1], default=0) == 1 < widths[first - 1]
    if not is_title or any(name[:1].isdigit() for name in names):
        return 1
    warnings.warn(
        f"Row {first} of {path} is taken for the names of the columns, since one cell alone stands "
        "above. Name another row with --header-row.",
        BoundaryWarning,
        stacklevel=2,
    )
    return first


def _cell_text(cell: Any) -> str:
    if isinstance(cell, datetime):
        return str(cell.date() if cell.time() == time() else cell)
    return repr(cell) if isinstance(cell, float) else str(cell)


# --- Errors ---------------------------------------------------------------------------------------


@contextmanager
def readable(table: OpenTable) -> Iterator[None]:
    """Turn what goes wrong while reading into the rule, the value and the remedy."""
    pa = arrow()
    try:
        yield
    except UnicodeError as error:
        raise InvalidInputError(_explain(table, "UTF-8")) from error
    except pa.ArrowException as error:
        raise InvalidInputError(_explain(table, str(error))) from error
    except OSError as error:
        reason = error.strerror or _first_line(error)
        raise InvalidInputError(f"{table.name} cannot be read: {reason}.") from error


def _explain(table: OpenTable, message: str) -> str:
    if "invalid UTF8" in message or "UTF-8" in message:
        return (
            f"{table.name} must be {table.encoding or 'UTF-8, UTF-16 or cp1252'} text, and holds "
            "bytes that are not. Name its encoding, as --encoding latin-1, or save it as UTF-8."
        )
    if "Empty CSV file" in message:
        return f"The table must have rows, but {table.name} is empty."
    number = re.search(r"column #(\d+).*: CSV conversion error to double.*'(.*)'", message)
    if number:
        place = int(number[1])
        name = table.header[place] if place < len(table.header) else number[1]
        return (
            f"Column '{name}' of {table.name} must hold numbers, got '{number[2]}'. Choose "
            "another column, write a decimal point, or drop those rows."
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
            f"Every line of {table.name} must be one flat JSON object, as in {_JSON_LINE}: "
            f"{_first_line(message)}."
        )
    kind = {"csv": "CSV", "parquet": "Parquet", "feather": "Feather"}[table.format]
    return (
        f"{table.name} must be a whole {kind} file, and is not: {_first_line(message)}. "
        "Write or copy it again."
    )


def _first_line(error: object) -> str:
    """Return the first line of a message without its final stop."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


# --- A source of passes ---------------------------------------------------------------------------

Files = str | PathLike[str] | Sequence[str | PathLike[str]]


def files_columns(
    files: Files,
    names: ColumnNames,
    positive: Collection[Any] | None = None,
    *,
    as_text: bool = False,
    reading: Reading = AS_IT_IS,
) -> PartSource:
    """Return the source of some columns of files.

    If `positive` is given, these labels become the class True and all others the class False.
    With `as_text`, labels of CSV and TSV are taken as text.
    """
    arrow()
    parts = [
        partial(_read_part, path, read, positive)
        for path in find_files(files)
        for read in _readers_of(path, names, as_text, reading)
    ]
    return PartSource(parts, names.weight is not None)


def _read_part(
    path: Path, read: Callable[[], Iterable[Chunk]], positive: Collection[Any] | None
) -> Iterator[Chunk]:
    with readable(OpenTable(path.name, name_format(path) or "csv")):
        for chunk in read():
            if positive is not None:
                is_positive = np.logical_or.reduce([chunk.labels.equal(name) for name in positive])
                chunk = replace(chunk, labels=Values(is_positive))
            yield chunk


def are_text(files: Files) -> bool:
    """Return whether all files are CSV or TSV, whose values have no types."""
    return all(name_format(path) == "csv" for path in find_files(files))


def find_files(files: Files) -> list[Path]:
    """Return the files of paths, globs and folders, in order."""
    found: list[Path] = []
    for name in [files] if isinstance(files, str | PathLike) else files:
        paths = _expand(os.fspath(name))
        if not paths:
            raise InvalidInputError(
                f"`data` must name files, got {os.fspath(name)!r}, which matches none. Check the "
                "folder and the ending."
            )
        found += paths
    for path in found:
        if name_format(path) is None:
            raise InvalidInputError(
                f"`data` must be files that end in {', '.join(FORMATS)}, text also compressed, got "
                f"{path.name!r}."
            )
    return found


def _expand(name: str) -> list[Path]:
    """Return the files of a name, a folder or a glob.

    In folders and globs, names that begin with . or _ are checkpoints, logs and work under way, as
    Spark and Arrow have it.
    """
    path = Path(name)
    if path.is_dir():
        found, root = [p for p in path.rglob("*") if name_format(p)], path
    elif path.exists():
        return [path]
    else:
        found = [Path(p) for p in glob.glob(name, recursive=True)]  # noqa: PTH207
        # Folders before the first wildcard were written out by the user.
        root = Path(name[: min(map(name.find, filter(name.__contains__, "*?[")), default=0)]).parent
    inside = {p: p.relative_to(root).parts for p in found if p.is_file()}
    return sorted(p for p, parts in inside.items() if not any(s[0] in "._" for s in parts))


def _readers_of(
    path: Path, names: ColumnNames, as_text: bool, reading: Reading
) -> list[Callable[[], Iterator[Chunk]]]:
    """Return readers of the parts of a file that can be read one without the other."""
    with open_table(path, reading) as opened:
        names.check(opened.header or column_names(path, reading), path.name)
        if opened.format == "parquet":
            metadata = opened.stream.metadata
            groups = range(metadata.num_row_groups)
            return [partial(_row_group, path, metadata, i, names) for i in groups]
        if opened.format == "feather":
            return [partial(_record_batch, path, i, names) for i in range(opened.size)]
    # Text has to be read from its start.
    return [partial(_text, path, names, as_text, reading)]


def _row_group(path: Path, metadata: Any, i: int, names: ColumnNames) -> Iterator[Chunk]:
    from pyarrow import parquet

    columns = list(dict.fromkeys(names.given.values()))
    with parquet.ParquetFile(arrow().memory_map(os.fsencode(path)), metadata=metadata) as file:
        for batch in file.iter_batches(_ROWS_OF_A_BATCH, [i], columns, use_threads=False):
            yield table_chunk(batch, names, f"{path.name}, row group {i}")


def _record_batch(path: Path, i: int, names: ColumnNames) -> Iterator[Chunk]:
    file = arrow().ipc.open_file(arrow().memory_map(os.fsencode(path)))
    batch = feather_batch(file, i, dict.fromkeys(names.given.values()))
    yield table_chunk(batch, names, f"{path.name}, batch {i}")


def _text(path: Path, names: ColumnNames, as_text: bool, reading: Reading) -> Iterator[Chunk]:
    pa = arrow()
    with open_table(path, reading) as opened:
        text = pa.string() if as_text and opened.format == "csv" else None
        types = {names.label: text} | dict.fromkeys(names.numbers, pa.float64())
        for i, batch in enumerate(read_batches(opened, types)):
            yield table_chunk(batch, names, f"{path.name}, block {i}")
