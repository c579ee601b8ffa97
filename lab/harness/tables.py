"""Tables as plain records: what stands in each cell, not how it looks."""

from __future__ import annotations

from dataclasses import dataclass

from lab.harness.statistics import Mean

__all__ = ["Cell", "Estimate", "Number", "Section", "Table", "p_value"]


@dataclass(frozen=True)
class Estimate:
    """A mean with its standard deviation; the best of its column is marked."""

    value: Mean
    best: bool = False


@dataclass(frozen=True)
class Number:
    """A number, mostly a share or a difference of shares; None leaves the cell empty."""

    value: float | None
    signed: bool = False
    digits: int = 3
    best: bool = False


Cell = str | Estimate | Number


@dataclass(frozen=True)
class Section:
    """Lines of a table under a title of their own."""

    title: str
    lines: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Table:
    """A table.

    Parameters
    ----------
    name : str
        Name of the file and the label.
    caption : str
        What the table shows.
    header : tuple of str
        Titles of the columns.
    sections : tuple of Section
        The lines.
    """

    name: str
    caption: str
    header: tuple[str, ...]
    sections: tuple[Section, ...]


def p_value(p: float) -> str:
    """Write the result of a test.

    Examples
    --------
    >>> p_value(0.0004), p_value(0.0312)
    ('<.001', '.031')
    """
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
