"""The one sheet of an Excel file as the text of a CSV file, and a table as such a sheet."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Sequence
from datetime import datetime, time
from pathlib import Path
from typing import Any

from boundshift.exceptions import InvalidInputError, MissingExtraError

__all__ = ["as_csv", "as_workbook", "is_workbook"]

# A workbook is a ZIP archive; one that would unpack to more than this is no table of a person.
_LARGEST = 1 << 30
_MOST_ROWS = 1 << 20  # of a sheet, its header among them


def is_workbook(path: Path) -> bool:
    """Return whether a file's name is that of an Excel file."""
    return path.suffix.lower() == ".xlsx"


def as_csv(path: Path) -> bytes:
    """Return the cells of a workbook's only filled sheet, numbers to their last digit."""
    openpyxl = _openpyxl()
    _check_size(path)
    try:
        # Formulas count with the values that were computed when the file was saved.
        book = openpyxl.load_workbook(path, read_only=True, data_only=True)
        filled = {sheet.title: rows for sheet in book.worksheets if (rows := _rows(sheet))}
        book.close()
    except (InvalidInputError, MemoryError):
        raise
    except Exception as error:  # Damage shows itself in any part: archive, deflate, XML, styles.
        raise InvalidInputError(
            f"{path} must be a whole Excel file, and is not: {error}. Save it again, or as CSV."
        ) from error
    if len(filled) > 1:
        raise InvalidInputError(
            f"An Excel file must have one sheet with cells, and {path} has {len(filled)}: "
            f"{', '.join(map(repr, filled))}. Save the one you mean as a file of its own."
        )
    text = io.StringIO(newline="")
    for rows in filled.values():
        width = max(i + 1 for i, cell in enumerate(rows[0]) if cell)
        long = next((row for row in rows if any(row[width:])), None)
        if long is not None:
            raise InvalidInputError(
                f"The first row of {path} must name the columns, and names {width} while a row "
                f"has more cells, as {next(filter(None, long[width:]))!r}. Name every column."
            )
        padded = ((*row[:width], *[""] * (width - len(row))) for row in rows)
        csv.writer(text, lineterminator="\n").writerows(padded)
    return text.getvalue().encode()


def as_workbook(header: Sequence[str], rows: Sequence[Sequence[Any]], path: Path) -> bytes:
    """Return a workbook with one sheet; text that looks like a formula stays text."""
    openpyxl = _openpyxl()
    from openpyxl.cell import WriteOnlyCell

    if len(rows) >= _MOST_ROWS:
        raise InvalidInputError(
            f"A sheet must have fewer than {_MOST_ROWS:,} rows, got {len(rows):,} for {path}. "
            "Write CSV or Parquet."
        )
    plain = [[_plain(value, path) for value in row] for row in (header, *rows)]
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in plain:
        cells = [WriteOnlyCell(sheet, value) for value in row]
        for cell in cells:
            cell.data_type = "s" if cell.data_type == "f" else cell.data_type
        sheet.append(cells)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _plain(value: Any, path: Path) -> Any:
    """Return a value that a cell can hold, or refuse it."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, datetime) and value.tzinfo is None:
        return value
    if ILLEGAL_CHARACTERS_RE.search(str(value)):
        raise InvalidInputError(
            f"Cells of an Excel file must have no control characters, got {value!r} for {path}. "
            "Write CSV or Parquet."
        )
    return str(value)


def _openpyxl() -> Any:
    """Import openpyxl, or name the extra that brings it."""
    try:
        import openpyxl
    except ImportError:
        raise MissingExtraError("openpyxl", "cli") from None
    return openpyxl


def _check_size(path: Path) -> None:
    """Raise if a workbook is no archive, or would unpack to more than a person's table."""
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except zipfile.BadZipFile as error:
        raise InvalidInputError(
            f"{path} must be a whole Excel file, and is not: {error}. Save it again, or as CSV."
        ) from error
    if size > _LARGEST:
        raise InvalidInputError(
            f"An Excel file must unpack to at most {_LARGEST >> 30} GB, and {path} has "
            f"{size / (1 << 30):.1f}. Save it as CSV."
        )


def _rows(sheet: Any) -> list[list[str]]:
    """Return the rows of a sheet that have a cell, as text."""
    sheet.reset_dimensions()  # The size that a file declares for its sheet may be wrong.
    rows = ([_text(cell) for cell in row] for row in sheet.iter_rows(values_only=True))
    return [row for row in rows if any(row)]


def _text(cell: Any) -> str:
    """Return a cell as it would stand in a CSV file."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return str(cell.date() if cell.time() == time() else cell)
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    return repr(cell) if isinstance(cell, float) else str(cell)
