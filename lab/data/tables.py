"""Read comma-separated text with the standard library; pandas is not needed for that."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError

__all__ = ["Table", "read_table"]


@dataclass(frozen=True)
class Table:
    """A header and its rows, still as text."""

    header: list[str]
    rows: list[list[str]]

    def without(self, columns: Iterable[str]) -> Self:
        """Drop columns by name; names that are not there are ignored."""
        dropped = set(columns)
        kept = [i for i, name in enumerate(self.header) if name not in dropped]
        return type(self)(
            [self.header[i] for i in kept], [[row[i] for i in kept] for row in self.rows]
        )

    def complete(self, missing: str = "?") -> Self:
        """Drop the rows that miss a value."""
        return type(self)(self.header, [row for row in self.rows if missing not in row])

    def numbers(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """Turn the named columns, in that order, into a matrix of floats."""
        positions = [self.header.index(name) for name in columns]
        try:
            cells = [[float(row[i]) for i in positions] for row in self.rows]
        except ValueError as error:
            raise InvalidInputError(
                f"Every value of the columns {list(columns)} must be a number: {error}. "
                "Impute or drop missing values first."
            ) from error
        return np.array(cells, dtype=np.float64).reshape(len(self.rows), len(positions))


def read_table(lines: Iterable[str]) -> Table:
    """Parse comma-separated lines, the first of which is the header."""
    rows = [[cell.strip() for cell in row] for row in csv.reader(lines) if row]
    if not rows:
        raise InvalidInputError("A table must start with a header line, got no line at all.")
    return Table(rows[0], rows[1:])
