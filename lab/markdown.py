"""Tables and pages in Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.statistics import Mean

_BLOCK = re.compile(r"<!-- ([^/\n]+?) -->\n(.*?)<!-- /\1 -->", re.DOTALL)
# A figure, maybe with its interval, a count of several or a share; or none.
_NUMBER = re.compile(r"–?|[−<]?[\d.]+%?(/[\d.]+)*( \([\d.]+ to [\d.]+\))?")


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


Cell = str | int | float | Estimate | Number | None
Line = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """A caption, the titles of the columns, and lines under section titles."""

    caption: str
    header: Sequence[str]
    sections: Mapping[str, Sequence[Line]]

    def __str__(self) -> str:
        """Return Markdown: section titles in italics, columns of numbers to the right."""
        lines = [line for section in self.sections.values() for line in section]
        columns = range(len(self.header))
        sides = ("--:" if all(_is_number(line[i]) for line in lines) else ":--" for i in columns)
        written = [f"| {' | '.join(self.header)} |", f"|{'|'.join(sides)}|"]
        for title, section in self.sections.items():
            written += [f"| *{title}* |" + " |" * (len(self.header) - 1)] if title else []
            written += [f"| {' | '.join(map(_cell, line))} |" for line in section]
        text = "\n".join(written)
        return f"{self.caption}\n\n{text}\n" if self.caption else text


def table(header: str, rows: Iterable[Line]) -> str:
    """Return a table without a caption; the titles stand between bars.

    Examples
    --------
    >>> print(table("name | value", [["a", 1.5], ["b", 2]]))
    | name | value |
    |:--|--:|
    | a | 1.500 |
    | b | 2 |
    """
    return str(Table("", header.split(" | "), {"": [*rows]}))


Column = str | Callable[[Any], Cell]


def columns(rows: Iterable[Mapping[str, Any]], spec: Mapping[str, Column]) -> str:
    """Return a table of records, given each column's title and its key, or a function of a record.

    Examples
    --------
    >>> rows = [{"n": 5, "kept": 0.95, "passes": True}]
    >>> print(columns(rows, {"rows": "n", "lost": lambda row: 1 - row["kept"], "passes": "passes"}))
    | rows | lost | passes |
    |--:|--:|:--|
    | 5 | 0.050 | yes |
    """
    lines = [
        [row[column] if isinstance(column, str) else column(row) for column in spec.values()]
        for row in rows
    ]
    return str(Table("", [*spec], {"": lines}))


def p_value(p: float) -> str:
    """Write the result of a test.

    Examples
    --------
    >>> p_value(0.0004), p_value(0.0312)
    ('<.001', '.031')
    """
    return "<.001" if p < 0.001 else f"{p:.3f}".removeprefix("0")


def _is_number(cell: Cell) -> bool:
    if isinstance(cell, str):
        return bool(_NUMBER.fullmatch(cell))
    return not isinstance(cell, bool)


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if not isinstance(cell, Estimate | Number):
        return f"{cell:.3f}" if isinstance(cell, float) else str(cell)
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
