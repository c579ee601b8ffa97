"""Tables as plain records, and the one writer of Markdown."""

from __future__ import annotations

from dataclasses import dataclass

from lab.harness.statistics import Mean

__all__ = ["Cell", "Estimate", "Number", "Section", "Table", "p_value", "to_markdown"]


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


def to_markdown(table: Table) -> str:
    """Write a table as Markdown, with section titles in italics.

    Examples
    --------
    >>> section = Section("", (("SMOTE", Number(0.5)),))
    >>> print(to_markdown(Table("t", "Caption.", ("Method", "F1"), (section,))))
    Caption.
    <BLANKLINE>
    | Method | F1 |
    |:--|--:|
    | SMOTE | .500 |
    <BLANKLINE>
    """
    width = len(table.header)
    lines = [table.caption, "", f"| {' | '.join(table.header)} |", "|:--" + "|--:" * (width - 1)]
    lines[-1] += "|"
    for section in table.sections:
        if section.title:
            lines.append(f"| *{section.title}* |" + " |" * (width - 1))
        lines += [f"| {' | '.join(map(_cell, line))} |" for line in section.lines]
    return "\n".join(lines) + "\n"


def _cell(cell: Cell) -> str:
    """Write a cell; the best of a column is bold."""
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    bold = "**{}**" if cell.best else "{}"
    if isinstance(cell, Estimate):
        return f"{bold.format(_share(cell.value.mean))} ± {_share(cell.value.sd, 2)}"
    if cell.value is None:
        return bold.format("")
    text = _share(cell.value, cell.digits, signed=cell.signed)
    return bold.format(text.replace("-", "−"))


def _share(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Round a share and leave out the zero before the point, as the paper does."""
    if value != value:
        return "–"
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text
