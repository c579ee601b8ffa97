"""Opening the tables that the command line is given: files, standard input and Excel sheets."""

from __future__ import annotations

import codecs
import csv
import io
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, time
from pathlib import Path

from boundshift import _tables
from boundshift._tables import OpenTable, name_format, readable, with_header
from boundshift._validation import nearest_name
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError


@dataclass(frozen=True)
class Reading:
    """How to read a file that does not say it itself."""

    encoding: str | None = None
    sheet: str | None = None
    header_row: int | None = None

    def check(self, name: str, kind: str | None) -> None:
        """Raise if a file of this kind has no use for what is given."""
        for option, value, wanted, what in (
            ("--encoding", self.encoding, "csv", "a file of text"),
            ("--sheet", self.sheet, "xlsx", "an Excel file"),
            ("--header-row", self.header_row, "xlsx", "an Excel file"),
        ):
            if value is not None and kind != wanted:
                raise InvalidInputError(
                    f"{option} must go with {what}, got {value!r} for {name}. Leave it out."
                )
        try:
            codecs.lookup(self.encoding or "utf-8")
        except LookupError:
            raise InvalidInputError(
                f"--encoding must be one that Python knows, got {self.encoding!r}. Use utf-8, "
                "utf-16, cp1252 or latin-1, for example."
            ) from None


AS_IT_IS = Reading()
"""Nothing is given: the encoding is found by trial."""


def column_names(path: str | Path, reading: Reading = AS_IT_IS) -> list[str]:
    """Return the names of a file's columns."""
    with open_table(path, reading) as opened:
        return list(opened.header)


@contextmanager
def open_table(path: str | Path, reading: Reading = AS_IT_IS) -> Iterator[OpenTable]:
    """Open a file or standard input, and find out how to read it."""
    path = Path(path)
    encoding = reading.encoding or ""
    if str(path) == "-":
        reading.check("standard input", "csv")
        stream = sys.stdin.buffer
        yield with_header(OpenTable("standard input", "csv", stream=stream, encoding=encoding))
        return
    _check_exists(path)
    is_workbook = path.suffix.lower() == ".xlsx"
    reading.check(str(path), "xlsx" if is_workbook else name_format(path))
    if is_workbook:
        table = OpenTable(str(path), "csv")
        with readable(table):
            text = _workbook_as_csv(path, reading)
        yield with_header(replace(table, stream=io.BytesIO(text.encode())))
        return
    with _tables.open_table(path, encoding) as opened:
        yield opened


def _check_exists(path: Path) -> None:
    if path.is_dir():
        raise InvalidInputError(f"The table must be a file, got the folder '{path}'.")
    if not path.exists():
        near = [p.name for p in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InvalidInputError(f"There is no file '{path}'.{nearest_name(path.name, near)}")


# --- Excel ----------------------------------------------------------------------------------------


def _workbook_as_csv(path: Path, reading: Reading) -> str:
    """Return a sheet's cells, named or the only one filled, numbers to their last digit."""
    sheets = {}
    try:
        from openpyxl import load_workbook

        with path.open("rb") as file:
            # Formulas count with the values that were computed when the file was saved.
            for sheet in load_workbook(file, read_only=True, data_only=True).worksheets:
                sheet.reset_dimensions()
                rows = [[_cell_text(cell) for cell in row] for row in sheet.values]
                if any(map(any, rows)):
                    sheets[sheet.title] = rows
    except ImportError:
        raise MissingExtraError("openpyxl", "cli") from None
    except Exception as error:  # Damage shows itself in any part: archive, deflate, XML, styles.
        raise InvalidInputError(
            f"{path} must be a whole Excel file, and is not: {error}. Save it again, or as CSV."
        ) from error
    if not sheets and reading.sheet is None:
        return ""
    if reading.sheet not in sheets and (reading.sheet is not None or len(sheets) > 1):
        raise InvalidInputError(
            "--sheet must name the sheet of an Excel file with several, got "
            f"{reading.sheet or 'none'} for {path}. Use --sheet with one of "
            f"{', '.join(map(repr, sheets))}."
        )
    rows = sheets[reading.sheet or next(iter(sheets))]
    first = _find_header(path, rows) if reading.header_row is None else reading.header_row
    if not 1 <= first <= len(rows) or (reading.header_row and not any(rows[first - 1])):
        raise InvalidInputError(
            f"--header-row must be the number of a row with cells, from 1 to {len(rows)}, got "
            f"{first}. Count from the top of the sheet."
        )
    rows = [row for row in rows[first - 1 :] if any(row)]
    width = max(i + 1 for i, cell in enumerate(rows[0]) if cell)
    stray = [cell for row in rows for cell in row[width:] if cell]
    if stray:
        raise InvalidInputError(
            f"The first row of {path} must name the columns, and names {width} while a row "
            f"has more cells, as {stray[0]!r}. Name every column, or the row of names with "
            "--header-row N."
        )
    text = io.StringIO()
    csv.writer(text).writerows(row[:width] + [""] * (width - len(row)) for row in rows)
    return text.getvalue()


def _find_header(path: Path, rows: Sequence[Sequence[str]]) -> int:
    """Return the number of the row of names: the first, or the first wide one below a title."""
    n_filled = [sum(map(bool, row)) for row in rows[:20]]
    widest = n_filled.index(max(n_filled))
    has_title = widest > 0 and max(n_filled[:widest]) == 1 and n_filled[widest] > 1
    has_numbers = any(name[:1].isdigit() for name in rows[widest])
    if not has_title or has_numbers:
        return 1
    warnings.warn(
        f"Row {widest + 1} of {path} is taken for the names of the columns, since one cell alone "
        "stands above. Name another row with --header-row.",
        BoundaryWarning,
        stacklevel=2,
    )
    return widest + 1


def _cell_text(cell: object) -> str:
    from openpyxl.cell.cell import ERROR_CODES

    if cell is None or cell in ERROR_CODES:
        return ""
    if isinstance(cell, datetime):
        return str(cell.date() if cell.time() == time() else cell)
    return str(cell).removesuffix(".0") if isinstance(cell, float) else str(cell)
