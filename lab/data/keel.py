"""Raw classification files as KEEL and UCI publish them: text in, numbers out."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError

_MISSING = frozenset({"?", "<null>", ""})
_ATTRIBUTE = re.compile(
    r"@attribute\s+(\S+?)\s*(\{.*\}|(?:real|integer|numeric)\b.*)$", re.IGNORECASE
)


@dataclass(frozen=True)
class Column:
    """One feature as text; `categories` is None for a number."""

    name: str
    cells: list[str]
    categories: list[str] | None


@dataclass(frozen=True)
class RawTable:
    """Features and labels as text."""

    columns: list[Column]
    labels: list[str]


def read_keel(lines: Iterable[str]) -> RawTable:
    """Parse KEEL's dialect of ARFF; the last attribute is the label.

    Lines that start with ``%`` are comments, header lines start with ``@``, and whatever follows
    is data.
    """
    header: list[tuple[str, list[str] | None]] = []
    rows: list[list[str]] = []
    for line in map(str.strip, lines):
        if not line or line.startswith("%"):
            continue
        if not line.startswith("@"):
            rows.append(_cells(line, ","))
        elif line.lower().startswith("@attribute"):
            header.append(_attribute(line))
    _check_width(rows, len(header))
    columns = [
        Column(name, list(cells), categories)
        for (name, categories), cells in zip(header, zip(*rows, strict=True), strict=True)
    ]
    return RawTable(columns[:-1], columns[-1].cells)


def read_plain(
    lines: Iterable[str],
    *,
    delimiter: str | None = ",",
    label: int = -1,
    skip: Sequence[int] = (),
) -> RawTable:
    """Parse text without a header; a column with any word in it is categorical.

    `delimiter` None means white space, `label` is the position of the label, `skip` are positions
    of identifiers, which are no features.
    """
    rows = [_cells(line, delimiter) for line in map(str.strip, lines) if line]
    _check_width(rows, len(rows[0]) if rows else 0)
    cells = [list(column) for column in zip(*rows, strict=True)]
    label %= len(cells)
    columns = [
        Column(f"x{i}", column, None if _is_numeric(column) else sorted(set(column) - _MISSING))
        for i, column in enumerate(cells)
        if i != label and i not in skip
    ]
    return RawTable(columns, cells[label])


def encode(
    columns: Sequence[Column], *, keep_missing: bool = False
) -> tuple[NDArray[np.float64], list[str]]:
    """Turn text into a matrix of numbers, the same one every time.

    - A feature that misses more than half of its values is dropped.
    - Other missing values become the median of a number, the most frequent category otherwise
      (the first one in the file's order if several are); with `keep_missing` they become NaN.
    - A category becomes one 0/1 column per value that occurs, in the file's order; one column is
      enough for two values.
    - A column that never varies is dropped.
    """
    blocks: list[NDArray[np.float64]] = []
    names: list[str] = []
    for column in columns:
        missing = np.array([cell in _MISSING for cell in column.cells])
        if 2 * missing.sum() > len(missing):
            continue
        block, block_names = (
            _encode_number(column, missing)
            if column.categories is None
            else _encode_category(column, missing)
        )
        varies = np.ptp(block, axis=0) > 0
        if keep_missing:
            block[missing] = np.nan
        blocks.append(block[:, varies])
        names += [name for name, keep in zip(block_names, varies, strict=True) if keep]
    return np.hstack(blocks), names


def _encode_number(
    column: Column, missing: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], list[str]]:
    """Fill the gaps with the median."""
    cells = ["nan" if gap else cell for cell, gap in zip(column.cells, missing, strict=True)]
    values = np.array(cells, dtype=np.float64)
    values[missing] = np.median(values[~missing])
    return values[:, np.newaxis], [column.name]


def _encode_category(
    column: Column, missing: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], list[str]]:
    """Fill the gaps with the most frequent category, then one column per category."""
    cells = np.array(column.cells, dtype=np.str_)
    present = set(cells[~missing].tolist())
    declared = [value for value in column.categories or [] if value in present]
    # A header may forget a value that its rows hold.
    categories = declared + sorted(present.difference(declared))
    counts = [int((cells == value).sum()) for value in categories]
    cells = np.where(missing, categories[int(np.argmax(counts))], cells)
    shown = categories[1:] if len(categories) == 2 else categories
    block = np.column_stack([(cells == value).astype(np.float64) for value in shown])
    return block, [f"{column.name}={value}" for value in shown]


def _attribute(line: str) -> tuple[str, list[str] | None]:
    """Read the name of an attribute and its categories, None for a number."""
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise InvalidInputError(
            f"An attribute must be a number or a set in braces, got the line {line!r}."
        )
    name, domain = match.groups()
    if not domain.startswith("{"):
        return name, None
    return name, _cells(domain.strip("{} "), ",")


def _cells(line: str, delimiter: str | None) -> list[str]:
    """Split a line and strip its cells."""
    cells = line.split(delimiter)
    return cells if delimiter is None else [cell.strip() for cell in cells]


def _check_width(rows: Sequence[Sequence[str]], width: int) -> None:
    """Refuse a file without rows, and rows of another length than the first or the header."""
    if not rows:
        raise InvalidInputError("A data file must hold at least one row, got none.")
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise InvalidInputError(
                f"Every row must have {width} values, row {number} has {len(row)}."
            )


def _is_numeric(cells: Iterable[str]) -> bool:
    """Say whether every value that is there is a number."""
    try:
        for cell in set(cells) - _MISSING:
            float(cell)
    except ValueError:
        return False
    return True
