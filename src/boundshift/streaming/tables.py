"""A file as batches of columns, whatever its format, and errors in words.

CSV is cut into blocks of whole rows here and not by Arrow's own streaming reader: after a quote
that is never closed, that reader takes the rest of the file for one cell and says nothing.
"""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.streaming.workbook import as_csv, is_workbook

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
# A longer row is a quote that nobody closed, or no table at all.
_LONGEST_ROW = 1 << 26
_UNPACKED_RATIO = 100
MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "-nan", "NULL", "null", "None")
"""What spreadsheets, statistics programs and public collections write where a value is missing."""
# Arrow's reader of JSON follows nested values without a limit of its own, to the end of the stack.
_DEEPEST = 64
_OTHER_JSON = re.compile(rb"(?:\A|\n)[ \t\r]*([^{\s].{0,20})")
_GZIP, _ZSTD, _BZIP = b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


class TextStream:
    """Bytes whose beginning can be looked at before they are read.

    Arrow's own threads never see it: a thread that asks Python for bytes while Python ends would
    abort the process.

    Parameters
    ----------
    raw : file
        Open for reading; a pipe may hand out less than it is asked for.
    """

    def __init__(self, raw: Any) -> None:
        self.raw = raw
        self._head = b""

    def peek(self) -> bytes:
        """Return the first few megabytes that are still to be read, or all if there are fewer."""
        while len(self._head) < _BLOCK and (more := self.raw.read(_BLOCK - len(self._head))):
            self._head += more
        return self._head

    def read(self, size: int = -1) -> bytes:
        """Read up to that many bytes, all of them if negative."""
        head = self._head
        if size < 0:
            self._head = b""
            return head + bytes(self.raw.read())
        if head:
            self._head = head[size:]
            return head[:size]
        return bytes(self.raw.read(size))


@dataclass(frozen=True)
class OpenTable:
    """An opened table.

    Parameters
    ----------
    name : str
        As the user knows it.
    format : {"csv", "parquet", "feather", "json"}
        How to read it.
    stream : TextStream, ParquetFile or RecordBatchFileReader
        At its first row.
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
        CSV, TSV, Parquet, Feather, JSON lines or Excel; "-" is standard input.

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
        if sys.stdin is None or sys.stdin.closed:
            raise InvalidInputError(
                "Standard input must be open to be read, and is closed. Name a file, or pipe "
                "the table into the command."
            )
        piped = TextStream(sys.stdin.buffer)
        with readable(OpenTable("standard input", "csv", None)):
            found = _sniffed(piped.peek())
        yield _identify("standard input", piped, found, 0)
        return
    path = Path(path)
    if is_workbook(path) and path.is_file():
        with readable(OpenTable(str(path), "csv", None)):
            text = as_csv(path)
        yield _identify(str(path), TextStream(io.BytesIO(text)), "csv", len(text))
        return
    found = _format_of(path)
    compressed = is_compressed(path)
    with readable(OpenTable(str(path), found, None)):
        size = path.stat().st_size
        # Parquet and Feather are read from their end, so they need a file that can seek.
        # Any bytes may name a file, and Arrow takes text for UTF-8.
        file = pa.OSFile(os.fsencode(path))
        if compressed:
            file = pa.CompressedInputStream(file, _COMPRESSED[path.suffix.lower()])
    with file:
        is_text = compressed or found in ("csv", "json")
        yield _identify(str(path), TextStream(file) if is_text else file, found, size)


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
            f"{', '.join(_COMPRESSED)}) or be .xlsx, got '{path.name}'. Save the table as CSV."
        )
    return found


def is_compressed(path: Path) -> bool:
    """Return whether a file's name says that it has to be decompressed."""
    return path.suffix.lower() in _COMPRESSED


def name_format(path: Path) -> Format | None:
    """Return the format that a file's name says, None if none.

    Examples
    --------
    >>> name_format(Path("scores.TSV.gz")), name_format(Path("notes.md"))
    ('csv', None)
    """
    plain = path.with_suffix("") if is_compressed(path) else path
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
        head = stream.peek()
        _check_text(name, head)
        if not head.strip():
            raise InvalidInputError(f"The table must have rows, but {name} is empty.")
        if found == "json":
            return opened
        head = head.removeprefix(b"\xef\xbb\xbf")
        stream.read(len(stream.peek()) - len(head.lstrip(b"\r\n")))
        head = stream.peek()
        line = stream.read(_end_of_header(head, _newline_of(head))).decode("utf-8")
    delimiter = max(",;\t|", key=re.sub(r'"[^"]*"', "", line).count)
    return replace(opened, delimiter=delimiter, header=_header(name, line, delimiter))


def _check_text(name: str, head: bytes) -> None:
    """Raise if bytes are compressed, or of an encoding that has two bytes a letter."""
    for magic, kind, ending in (
        (_GZIP, "gzip", ".gz"),
        (_ZSTD, "zstd", ".zst"),
        (_BZIP, "bzip2", ".bz2"),
    ):
        if head.startswith(magic):
            raise InvalidInputError(
                f"{name} must be text, and is compressed with {kind}. Let its name end in "
                f"{ending}, or decompress it first."
            )
    if head.startswith(_UTF16) or head[:200].count(0) > len(head[:200]) // 3:
        raise InvalidInputError(
            f"{name} must be UTF-8 text, and is UTF-16 or binary. Save it as UTF-8, for example "
            "with: iconv -f utf-16 -t utf-8 old.csv > new.csv"
        )


def _header(name: str, line: str, delimiter: str) -> tuple[str, ...]:
    """Return the names of the columns; none may be there twice."""
    try:
        header = next(csv.reader(io.StringIO(line, newline=""), delimiter=delimiter), [""])
    except csv.Error as error:
        raise InvalidInputError(
            f"The first row of {name} must name the columns, and cannot be read: {error}. "
            "Save the table as CSV again."
        ) from error
    return _check_distinct(name, header)


def _check_distinct(name: str, header: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns if they differ."""
    repeated = [column for column, count in Counter(header).items() if count > 1]
    if repeated:
        raise InvalidInputError(
            f"Column names must differ, but {name} has '{repeated[0]}' more than once. Rename one."
        )
    return tuple(header)


def _newline_of(head: bytes) -> bytes:
    """Return what ends a row: a carriage return alone only if there is nothing else."""
    return b"\n" if b"\n" in head or b"\r" not in head else b"\r"


def _end_of_header(text: bytes, newline: bytes) -> int:
    """Return where the first row ends, before it is known what stands between its cells."""
    stop = text.find(newline)
    if stop >= 0 and b'"' not in text[:stop]:
        return stop + 1
    ends, _ = _row_ends(text, newline, b",;\t|")
    return int(ends[0]) if len(ends) else len(text)


def _row_ends(text: bytes, newline: bytes, delimiters: bytes) -> tuple[NDArray[np.intp], bool]:
    """Return where rows end, and whether the last cell is quoted and not closed.

    A quote opens a cell only at its start; elsewhere it is a letter like others, as in 6'2".
    """
    letters = np.frombuffer(text, dtype=np.uint8)
    places = np.flatnonzero(letters == newline[0])
    quotes = np.flatnonzero(letters == ord('"'))
    if _are_paired(letters, quotes, delimiters):
        inside = np.searchsorted(quotes, places) % 2 == 1
        return places[~inside] + 1, len(quotes) % 2 == 1
    signs = re.escape(delimiters)
    cells = list(re.finditer(rb'(?<![^%b\r\n])"(?:[^"]++|"")*+("?)' % signs, text))
    starts = np.array([cell.start() for cell in cells], dtype=np.intp)
    stops = np.array([cell.end() for cell in cells], dtype=np.intp)
    inside = np.searchsorted(starts, places) > np.searchsorted(stops, places, side="right")
    return places[~inside] + 1, bool(cells) and not cells[-1][1]


def _are_paired(letters: NDArray[np.uint8], quotes: NDArray[np.intp], delimiters: bytes) -> bool:
    """Return whether every second quote opens a cell, or is the second of two in one."""
    around = np.frombuffer(delimiters + b'\r\n"', dtype=np.uint8)
    before = letters[np.maximum(quotes[::2] - 1, 0)]
    after = letters[np.minimum(quotes[1::2] + 1, len(letters) - 1)]
    return bool(np.isin(before, around).all() and np.isin(after, around).all())


def _identify_binary(table: OpenTable) -> OpenTable:
    """Return the table with the reader of its format, which knows names and sizes."""
    pa = arrow()
    stream = table.stream
    with readable(table):
        if isinstance(stream, TextStream):
            stream = pa.BufferReader(_unpacked(table))
        if table.format == "parquet":
            from pyarrow import parquet

            file = parquet.ParquetFile(stream)
            names, size = file.schema_arrow.names, file.metadata.num_rows
        else:
            file = pa.ipc.open_file(stream)
            names, size = file.schema.names, file.num_record_batches
        header = _check_distinct(table.name, names)
    return replace(table, stream=file, header=header, size=size)


def _unpacked(table: OpenTable) -> bytes:
    """Return the bytes of a compressed file of columns, which are compressed inside already."""
    most = max(_UNPACKED_RATIO * table.size, _LONGEST_ROW) if table.size else -1
    parts: list[bytes] = []
    length = 0
    while part := table.stream.read(_BLOCK):
        parts.append(part)
        length += len(part)
        if 0 <= most < length:
            raise InvalidInputError(
                f"{table.name} must unpack to at most {_UNPACKED_RATIO} times its size, and is "
                "larger. It is damaged, or made to exhaust memory: decompress it by hand."
            )
    return b"".join(parts)


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


def read_batches(
    table: OpenTable, types: Mapping[str, Any] | None = None, *, words: bool = False
) -> Iterator[Any]:
    """Yield record batches of all columns, or of some with the Arrow type each is to have.

    Parameters
    ----------
    table : OpenTable
        From :func:`open_table`.
    types : mapping from str to Arrow type or None, default=None
        Columns to read; None as a type leaves it to the file.
    words : bool, default=False
        Whether cells of CSV are handed on as they are written, "NA" and empty ones, too.
    """
    with readable(table):
        for batch in _all_batches(table, types, words):
            if types is not None:
                check_names(table.name, batch.schema.names, list(types))
                batch = _cast(table, batch.select(list(types)), types)
            yield batch


def _all_batches(table: OpenTable, types: Mapping[str, Any] | None, words: bool) -> Iterator[Any]:
    """Yield record batches in the file's own types; CSV has none of its own."""
    if table.format == "csv":
        return _csv_batches(table, types, words)
    if table.format == "json":
        return _json_batches(table)
    check_names(table.name, table.header, list(types or ()))
    reader = table.stream
    if table.format == "parquet":
        return iter(reader.iter_batches(columns=None if types is None else list(types)))
    return (feather_batch(reader, i, types) for i in range(reader.num_record_batches))


def feather_batch(reader: Any, number: int, columns: Iterable[str] | None = None) -> Any:
    """Return a batch of Feather, all or some columns, if offsets and codes stay within it.

    Arrow believes what a file says of itself, and would read beyond its memory.
    """
    batch = reader.get_batch(number)
    if columns is not None:
        batch = batch.select(list(columns))
    batch.validate(full=True)
    return batch


def _csv_batches(table: OpenTable, types: Mapping[str, Any] | None, words: bool) -> Iterator[Any]:
    """Yield the batches of a CSV file; a type that is not given is that of the first block."""
    from pyarrow import csv as arrow_csv

    wanted = list(types or ())
    check_names(table.name, table.header, wanted)
    known = {name: kind for name, kind in (types or {}).items() if kind is not None}
    parse = arrow_csv.ParseOptions(delimiter=table.delimiter, newlines_in_values=True)
    for block in _blocks(table, quoted=True):
        read = arrow_csv.read_csv(
            arrow().BufferReader(block),
            arrow_csv.ReadOptions(column_names=list(table.header), block_size=len(block) + 1),
            parse,
            arrow_csv.ConvertOptions(
                include_columns=wanted,
                column_types=known,
                null_values=list(MISSING),
                strings_can_be_null=not words,
            ),
        )
        known = {
            field.name: field.type
            for field in read.schema
            if field.name in known or not arrow().types.is_null(field.type)
        }
        yield from read.to_batches()


def _blocks(table: OpenTable, *, quoted: bool) -> Iterator[bytes]:
    """Yield the rest of a text in blocks of whole rows; quotes may enclose a line's end."""
    newline, delimiter = _newline_of(table.stream.peek()), table.delimiter.encode()
    rest, is_open = b"", False
    while block := table.stream.read(_BLOCK):
        rest += block
        if not quoted or b'"' not in rest:
            cut, is_open = rest.rfind(newline) + 1, False
        else:
            ends, is_open = _row_ends(rest, newline, delimiter)
            cut = int(ends[-1]) if len(ends) else 0
        if cut:
            yield rest[:cut]
        rest = rest[cut:]
        if len(rest) > _LONGEST_ROW:
            raise InvalidInputError(
                f"A row of {table.name} must have at most {_LONGEST_ROW >> 20} MB, and one has "
                "more. A quote may not be closed: check the last rows."
            )
    if is_open:
        raise InvalidInputError(
            f"Every quote of a CSV file must be closed, and one of {table.name} is not, before "
            f"{rest[:40].decode('utf-8', 'replace')!r}. Write the table again."
        )
    if rest.strip():
        yield rest


def _json_batches(table: OpenTable) -> Iterator[Any]:
    """Yield the batches of a file with one JSON object a line."""
    from pyarrow import json as arrow_json

    for block in _blocks(table, quoted=False):
        other = _OTHER_JSON.search(block)
        if other:
            raise InvalidInputError(
                f'Every line of {table.name} must be one JSON object, as in {{"score": 0.3, '
                f'"label": 1}}, and one begins with {other[1].decode("utf-8", "replace")!r}. '
                "Write one object a line."
            )
        if _depth(block) > _DEEPEST:
            raise InvalidInputError(
                f"Every line of {table.name} must be one flat JSON object, and one is nested "
                f"more than {_DEEPEST} deep. Write numbers and words beside each other."
            )
        options = arrow_json.ReadOptions(block_size=len(block) + 1)
        yield from arrow_json.read_json(arrow().BufferReader(block), options).to_batches()


def _depth(block: bytes) -> int:
    """Return how deep values are nested in lines of JSON; at least that, where it is little."""
    rough = _nesting(block)
    if rough <= _DEEPEST:
        return rough
    bare = re.sub(rb'"(?:[^"\\\n]|\\.)*"', b"", block)
    return max(map(_nesting, bare.splitlines()), default=0)


def _nesting(text: bytes) -> int:
    """Return how many brackets are open at once."""
    letters = np.frombuffer(text, dtype=np.uint8)
    opens = (letters == ord("{")) | (letters == ord("["))
    closes = (letters == ord("}")) | (letters == ord("]"))
    return int(np.cumsum(opens.astype(np.int8) - closes, dtype=np.int64).max(initial=0))


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
