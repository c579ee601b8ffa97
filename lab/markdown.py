"""Tables and pages in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lab.statistics import Mean

_BLOCK = re.compile(r"<!-- ([^/\n]+?) -->\n(.*?)<!-- /\1 -->", re.DOTALL)


def fill(page: str, blocks: Mapping[str, object], absent: str | None = None) -> str:
    r"""Replace what stands between ``<!-- name -->`` and ``<!-- /name -->``.

    A block that is not given becomes `absent`; if that is None it stays as it is, and a page with
    none of the blocks raises ValueError.

    Examples
    --------
    >>> print(fill("<!-- a -->\nold\n<!-- /a -->", {"a": "new", "b": "not here"}))
    <!-- a -->
    new
    <!-- /a -->
    """
    if absent is None and not {name for name, _ in _BLOCK.findall(page)} & set(blocks):
        raise ValueError(f"The page has none of the blocks {', '.join(blocks)}.")

    def replaced(match: re.Match[str]) -> str:
        name, old = match.groups()
        new = blocks.get(name, old if absent is None else absent)
        return f"<!-- {name} -->\n{str(new).rstrip()}\n<!-- /{name} -->"

    return _BLOCK.sub(replaced, page)


def table(header: str, rows: Iterable[Sequence[object]]) -> str:
    """Return a table; numbers stand to the right, floats have three decimals.

    Examples
    --------
    >>> print(table("name | value", [["a", 1.5], ["b", 2]]))
    | name | value |
    | --- | ---: |
    | a | 1.500 |
    | b | 2 |
    """
    body = [list(row) for row in rows]
    titles = header.split(" | ")
    right = [all(_is_number(row[i]) for row in body) for i in range(len(titles))]
    lines = [titles, ["---:" if is_right else "---" for is_right in right]]
    return _join([*lines, *([_plain(value) for value in row] for row in body)])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) or value == "–"


def _plain(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float | np.floating) else str(value)


def _join(lines: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


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
Line = tuple[Cell, ...]


@dataclass(frozen=True)
class Table:
    """A caption, the titles of the columns, and lines under section titles."""

    caption: str
    header: tuple[str, ...]
    sections: Mapping[str, Sequence[Line]]

    def __str__(self) -> str:
        """Return Markdown, with section titles in italics.

        Examples
        --------
        >>> print(Table("Caption.", ("Method", "F1"), {"": [("SMOTE", Number(0.5))]}))
        Caption.
        <BLANKLINE>
        | Method | F1 |
        |:--|--:|
        | SMOTE | .500 |
        <BLANKLINE>
        """
        width = len(self.header)
        lines = [self.caption, "", _join([self.header]), "|:--" + "|--:" * (width - 1) + "|"]
        for title, section in self.sections.items():
            if title:
                lines.append(f"| *{title}* |" + " |" * (width - 1))
            lines += [_join([tuple(map(_cell, line))]) for line in section]
        return "\n".join(lines) + "\n"


def p_value(p: float) -> str:
    """Write the result of a test.

    Examples
    --------
    >>> p_value(0.0004), p_value(0.0312)
    ('<.001', '.031')
    """
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    bold = "**{}**" if cell.best else "{}"
    if isinstance(cell, Estimate):
        return f"{bold.format(share(cell.value.mean))} ± {share(cell.value.sd, 2)}"
    if cell.value is None:
        return bold.format("")
    return bold.format(share(cell.value, cell.digits, signed=cell.signed).replace("-", "−"))


def share(value: float, digits: int = 3, *, signed: bool = False) -> str:
    """Round a share and leave out the zero before the point, as the paper does."""
    if value != value:
        return "–"
    text = f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}"
    return text.replace("0.", ".", 1) if abs(float(text)) < 1 else text
