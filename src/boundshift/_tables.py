"""Files of tables: CSV and Parquet as batches of columns, and errors in words.

Text is cut into blocks of whole rows here and not by Arrow's own streaming reader. After a quote
that is never closed, Arrow takes the rest of a CSV file for one cell and says nothing.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from boundshift._validation import nearest_name
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import pyarrow as pa

    ArrowTable: TypeAlias = pa.Table
    Batches: TypeAlias = Iterable[pa.RecordBatch]
    Types: TypeAlias = Mapping[str, pa.DataType | None]

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "None")
"""What spreadsheets, statistics programs and public collections write where a value is missing."""
_BLOCK = 1 << 22
_GZIP = b"\x1f\x8b"
# A longer row is a quote that nobody closed, or no table at all.
_LONGEST_ROW = 1 << 26
# A comma before three digits may stand between thousands, and decides nothing.
_DECIMAL_COMMA = r"(?i)^\s*[+-]?(0?,\d+|\d{4,},\d+|\d+,(\d{1,2}|\d{4,}))(e[+-]?\d+|\s*%)?\s*$"
_PERCENT = r"\s*%\s*$"


def arrow() -> ModuleType:
    """Import pyarrow, or name the extra that brings it."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise MissingExtraError("pyarrow", "arrow") from error


def check_names(where: str, names: Sequence[str], wanted: Iterable[str]) -> None:
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


@dataclass(frozen=True)
class OpenTable:
    """An opened table: text or Parquet."""

    name: str
    format: str  # csv or parquet
    header: tuple[str, ...] = ()
    stream: Any = None  # ParquetFile, or a file of text after `head`
    encoding: str = ""
    decoder: Any = None
    head: str = ""  # first few megabytes of text, from the first row on
    delimiter: str = ","


@contextmanager
def open_table(path: Path, encoding: str = "") -> Iterator[OpenTable]:
    """Open a file of text or Parquet, and find out how to read it."""
    kind = name_format(path)
    if kind is None:
        raise unknown_ending(path)
    table = OpenTable(str(path), kind, encoding=encoding)
    with readable(table):
        # Any bytes may name a file, and Arrow takes text for UTF-8.
        stream = arrow().OSFile(os.fsencode(path))
        if path.suffix.lower() == ".gz":
            stream = arrow().CompressedInputStream(stream, "gzip")
    with stream:
        yield with_header(replace(table, stream=stream))


def with_header(table: OpenTable) -> OpenTable:
    """Return a table whose stream of bytes was opened, with the names of its columns."""
    with readable(table):
        if table.format == "parquet":
            from pyarrow import parquet

            file = parquet.ParquetFile(table.stream)
            table = replace(table, stream=file, header=tuple(file.schema_arrow.names))
        else:
            table = _read_header(table)
    repeated = [name for name, count in Counter(table.header).items() if count > 1]
    if repeated:
        raise InvalidInputError(
            f"Column names must differ, but {table.name} has '{repeated[0]}' more than once. "
            "Rename one."
        )
    return table


def name_format(path: Path) -> str | None:
    """Return the format that a file's name says, None if none; only text may be compressed."""
    name = path.name.lower()
    if name.removesuffix(".gz").endswith((".csv", ".tsv", ".txt")):
        return "csv"
    return "parquet" if name.endswith((".parquet", ".pq")) else None


def unknown_ending(path: Path) -> InvalidInputError:
    return InvalidInputError(
        "A file's name must end in .csv, .tsv, .txt (also with .gz), .parquet, .pq or, on the "
        f"command line, .xlsx, got '{path.name}'. Write Parquet, or CSV."
    )


def _read_header(table: OpenTable) -> OpenTable:
    """Return a table of text with its names, its delimiter and its first rows."""
    start = table.stream.read(_BLOCK)
    if start.startswith(_GZIP):
        raise InvalidInputError(
            f"{table.name} must be text, and is compressed. Let its name end in .gz."
        )
    has_mark = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if b"\0" in start[:200] and not has_mark and not table.encoding:
        raise _binary(table)
    encoding = table.encoding or _find_encoding(table.name, start)
    decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(), True)
    head = decoder.decode(start).removeprefix("\ufeff").lstrip("\n")
    if "\0" in head[:200]:
        raise _binary(table)
    if not head.strip():
        raise InvalidInputError(f"The table must have rows, but {table.name} is empty.")
    first = re.match(_row_pattern(",;\t|"), head + "\n")
    if first is None:
        raise _open_quote(table, head)
    delimiter = max(",;\t|", key=re.sub(r'"[^"]*"', "", first[0]).count)
    names = _read_names(table, first[0], delimiter)
    return replace(
        table,
        header=tuple(names),
        encoding=encoding,
        decoder=decoder,
        head=head[first.end() :],
        delimiter=delimiter,
    )


def _binary(table: OpenTable) -> InvalidInputError:
    return InvalidInputError(
        f"{table.name} must be a table of text, and is not: it is binary, as pictures and archives "
        "are. Name the file of the table, or, if it is text in UTF-16, its encoding with "
        "--encoding."
    )


def _read_names(table: OpenTable, row: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(row, newline=""), delimiter=delimiter))
    except csv.Error as error:  # a cell that is longer than csv reads
        most = csv.field_size_limit()
        raise InvalidInputError(
            f"The first row of {table.name} must name the columns, each in at most {most:,} "
            f"characters, and cannot be read so ({error}). Close its quotes, or add a row of names."
        ) from error


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
        f"{name} is not UTF-8 text and is read as {encoding}. If letters look wrong, save it "
        "as UTF-8 or, on the command line, name its encoding with --encoding.",
        BoundaryWarning,
        stacklevel=2,
    )
    return encoding


# --- Batches --------------------------------------------------------------------------------------


def read_batches(
    table: OpenTable, types: Types, *, words: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield record batches of columns with the Arrow type each is to have.

    None as a type leaves it to the file. With `words`, cells of CSV are handed on as they are
    written, "NA" and empty ones, too.
    """
    pa = arrow()
    with readable(table):
        check_names(table.name, table.header, types)
        batches: Batches = (
            _csv_batches(table, types, words)
            if table.format == "csv"
            else table.stream.iter_batches(columns=list(types))
        )
        for batch in batches:
            columns = []
            for name, kind in types.items():
                column = batch.column(name)
                try:
                    columns.append(column if kind is None else column.cast(kind))
                except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                    raise InvalidInputError(
                        f"Column '{name}' of {table.name} must hold numbers, got {column.type} "
                        f"values ({_first_line(error)}). Choose another column."
                    ) from error
            yield pa.record_batch(columns, names=list(types))


def _csv_batches(table: OpenTable, types: Types, words: bool) -> Iterator[pa.RecordBatch]:
    """Yield the batches of a CSV file; a type that is not given is that of the first block."""
    from pyarrow import compute
    from pyarrow import csv as arrow_csv

    pa = arrow()
    decimal = "."
    percents: list[str] = []
    known = {name: kind for name, kind in types.items() if kind is not None}
    numbers = [name for name, kind in known.items() if pa.types.is_floating(kind)]

    def read(block: bytes, kinds: Types) -> ArrowTable:
        return arrow_csv.read_csv(
            pa.BufferReader(block),
            arrow_csv.ReadOptions(column_names=list(table.header), block_size=len(block) + 1),
            arrow_csv.ParseOptions(delimiter=table.delimiter, newlines_in_values=True),
            arrow_csv.ConvertOptions(
                include_columns=list(types),
                column_types=kinds,
                null_values=list(MISSING),
                strings_can_be_null=not words,
                decimal_point=decimal,
            ),
        )

    is_read = False
    for block in map(str.encode, _blocks(table)):
        try:
            found = read(block, known)
        except pa.ArrowInvalid:
            cells = read(block, known | dict.fromkeys(numbers, pa.string()))
            commas = [compute.match_substring_regex(cells[n], _DECIMAL_COMMA) for n in numbers]
            if not is_read:
                percents = [name for name in numbers if _are_percents(cells[name])]
                _note_percents(percents, table.name)
            if any(compute.any(column).as_py() for column in commas):
                decimal = ","
            known |= dict.fromkeys(percents, pa.string())
            found = read(block, known)
        inferred = {field.name: field.type for field in found.schema}
        known |= {name: kind for name, kind in inferred.items() if not pa.types.is_null(kind)}
        is_read = True
        for name in percents:
            place = found.schema.get_field_index(name)
            found = found.set_column(place, name, _as_shares(found[name], decimal))
        yield from found.to_batches()


def _note_percents(names: Iterable[str], table: str) -> None:
    for name in names:
        warnings.warn(
            f"Column '{name}' of {table} is in percent and is read as shares: 50% is 0.5.",
            BoundaryWarning,
            stacklevel=3,
        )


def _are_percents(cells: pa.ChunkedArray) -> bool:
    """Return whether there are cells, and each ends with a percent sign."""
    from pyarrow import compute

    signs = compute.match_substring_regex(cells.drop_null(), _PERCENT)
    return len(signs) > 0 and bool(compute.all(signs).as_py())


def _as_shares(cells: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Return 50% as 50e-2, a text that Arrow reads as a number."""
    from pyarrow import compute

    shares = compute.replace_substring_regex(compute.utf8_trim_whitespace(cells), _PERCENT, "e-2")
    return compute.replace_substring(shares, decimal, ".")


def _blocks(table: OpenTable) -> Iterator[str]:
    """Yield the rest of a text in blocks of whole rows; quotes may enclose a line's end."""
    rows = re.compile(f"(?:{_row_pattern(table.delimiter)})*+")
    rest = table.head
    more = True
    while more:
        block = table.stream.read(_BLOCK)
        more = bool(block)
        rest += table.decoder.decode(block, final=not more) + ("" if more else "\n")
        found = rows.match(rest) if '"' in rest else None
        cut = found.end() if found else rest.rfind("\n") + 1
        if rest[:cut].strip():
            yield rest[:cut]
        rest = rest[cut:]
        if len(rest) > _LONGEST_ROW or (rest and not more):
            raise _open_quote(table, rest)


def _row_pattern(delimiters: str) -> str:
    """Return the expression of a whole row of CSV.

    A quote opens a cell only at its start; elsewhere it is a letter like others, as in 6'2".
    """
    letter = f"[^{re.escape(delimiters)}\n]"
    cell = f'(?:"(?:[^"]++|"")*+"{letter}*+|(?!"){letter}*+)'
    return f"(?:{cell}[{re.escape(delimiters)}])*+{cell}\n"


def _open_quote(table: OpenTable, rest: str) -> InvalidInputError:
    return InvalidInputError(
        f"Every quote of a CSV file must be closed, and one of {table.name} is not, after "
        f"{rest[:40]!r}. Write the table again."
    )


# --- Errors ---------------------------------------------------------------------------------------


@contextmanager
def readable(table: OpenTable) -> Iterator[None]:
    """Turn what goes wrong while reading into the rule, the value and the remedy."""
    try:
        yield
    except UnicodeError as error:
        raise InvalidInputError(
            f"{table.name} must be {table.encoding or 'UTF-8, UTF-16 or cp1252'} text, and holds "
            "bytes that are not. Save it as UTF-8 or, on the command line, name its encoding, as "
            "--encoding latin-1."
        ) from error
    except arrow().ArrowException as error:
        raise InvalidInputError(_explain(table, str(error))) from error
    except OSError as error:
        reason = error.strerror or _first_line(error)
        raise InvalidInputError(f"{table.name} cannot be read: {reason}.") from error


def _explain(table: OpenTable, message: str) -> str:
    number = re.search(r"column #(\d+).*: CSV conversion error to double.*'(.*)'", message)
    if number:
        return (
            f"Column '{table.header[int(number[1])]}' of {table.name} must hold numbers, got "
            f"'{number[2]}'. Choose another column, write a decimal point, write % in every cell "
            "or in none, or drop those rows."
        )
    uneven = re.search(r"Expected (\d+) columns, got (\d+)(?:: (.*))?", message)
    if uneven:
        row = f" ('{uneven[3][:60]}')" if uneven[3] else ""
        return (
            f"Every row of {table.name} must have {uneven[1]} cells, as the header has; a row "
            f"has {uneven[2]}{row}. Quote cells that contain '{table.delimiter}'."
        )
    kind = "CSV" if table.format == "csv" else "Parquet"
    return (
        f"{table.name} must be a whole {kind} file, and is not: {_first_line(message)}. "
        "Write or copy it again."
    )


def _first_line(error: object) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
