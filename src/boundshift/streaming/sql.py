"""A look as SQL, for engines that count rows where they lie faster than Python reads them.

The rows have two columns: ``code``, the place of a row's label among the two classes, NULL for
any other, and ``score``. A `Query` groups them by a whole number ``key`` and brings back a few
aggregates of each group; its `read` turns these into the tally that
`boundshift.streaming.tally.Look` finds in the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boundshift.scores.sample import Binning
from boundshift.streaming.grid import Grid, Refinement
from boundshift.streaming.request import Look
from boundshift.streaming.tally import ClassTally, Tally

__all__ = ["BinningQuery", "CellQuery", "Query", "filter_for"]

Columns = Mapping[str, NDArray[Any]]

# Rows that cannot be used: no label, a third one, or a score that is not finite.
FAULTY = -1
USABLE = f"code IS NOT NULL AND abs(score) <= {float(np.finfo(np.float64).max)!r}D"


class Query(Protocol):
    """Groups of rows and what to find out about each."""

    @property
    def key(self) -> str:
        """Expression that is equal for the rows of a group."""

    @property
    def aggregates(self) -> dict[str, str]:
        """Expressions of what is found, by name; they may use the key."""

    def read(self, labels: tuple[Any, ...], found: Columns) -> Tally:
        """Return the tally, given ``key`` and all aggregates as columns."""


def number(value: float) -> str:
    """Return a double as SQL.

    Examples
    --------
    >>> number(-0.1)
    '(-0.1D)'
    """
    return f"({float(value)!r}D)"


def scaled(exponent: int) -> str:
    """Return the score over a power of two, in two steps where one does not fit."""
    half = -exponent // 2
    steps = [2.0**half, 2.0 ** (-exponent - half)] if exponent else []
    return " * ".join(["score", *map(number, steps)])


def place(offset: str, scale: float, size: int) -> str:
    """Return the whole number from 0 to size − 1 below an offset times a scale."""
    clipped = f"least(greatest({offset} * {number(scale)}, 0D), {number(size - 0.5)})"
    return f"CAST({clipped} AS INT)"


@dataclass(frozen=True)
class CellQuery:
    """The first look: moments of each class, and its scores by cells.

    Parameters
    ----------
    look : Look
        With a grid, or without where no range is known.
    """

    look: Look

    @property
    def _grid(self) -> Grid:
        """The cells; one for everything if there is no range."""
        return self.look.grid or Grid(self.look.pivot - 1.0, self.look.pivot, 1)

    @property
    def _cell(self) -> str:
        """Cell of a row."""
        if self.look.grid is None:
            return "1"
        return place(self._offset, 1.0 / self._grid.width, self._grid.size)

    @property
    def _middle(self) -> int:
        """Cell of the pivot: where all scores but a few lie in one cell, it is close to them."""
        offset = np.array([self.look.pivot - self._grid.origin])
        return 1 if self.look.grid is None else int(self._grid.place(offset)[0])

    @property
    def _offset(self) -> str:
        """Offset of a score from the origin of the cells."""
        return f"({scaled(self.look.exponent)} - {number(self._grid.origin)})"

    @property
    def key(self) -> str:
        """Class and cell."""
        return f"CASE WHEN {USABLE} THEN code * {self._grid.size} + {self._cell} ELSE {FAULTY} END"

    @property
    def aggregates(self) -> dict[str, str]:
        """Count, sum and squares of offsets from a score in or near the cell, and extremes."""
        grid, score = self._grid, scaled(self.look.exponent)
        cell = f"key % {grid.size}"
        inside = (
            f"(CASE WHEN {cell} = {self._middle} THEN {score} - {number(self.look.pivot)} "
            f"ELSE {self._offset} - ({cell}) * {number(grid.width)} END)"
        )
        return {
            "n": "count(*)",
            "total": f"sum({inside})",
            # A difference of sums would lose a class that is far narrower than a cell.
            "squares": f"var_pop({inside}) * count(*)",
            "low": f"min({score})",
            "high": f"max({score})",
        }

    def read(self, labels: tuple[Any, ...], found: Columns) -> Tally:
        """Return the tally of the rows that can be used."""
        tally, size = Tally(), self._grid.size
        for code, label in enumerate(labels):
            own = (found["key"] >= 0) & (found["key"] // size == code)
            if np.any(own):
                columns = {name: values[own] for name, values in found.items()}
                self._add(tally.of(label), columns)
        return tally

    def _add(self, to: ClassTally, found: Columns) -> None:
        """Put the cells of a class together."""
        grid, pivot = self._grid, self.look.pivot
        cell, n = found["key"] % grid.size, found["n"]
        from_pivot = (grid.origin - pivot) + cell * grid.width
        from_pivot[cell == self._middle] = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            mean = found["total"] / n
            offset = from_pivot + mean
            to.n = int(n.sum())
            to.low, to.high = float(found["low"].min()), float(found["high"].max())
            high = fsum(n * offset) if np.all(np.isfinite(offset)) else float(np.inf)
            to.total = high, 0.0
            to.squares = float(found["squares"].sum() + (n * (offset - high / to.n) ** 2).sum())
        if self.look.grid is not None:
            to.counts, to.sums = np.zeros(grid.size, np.int64), np.zeros(grid.size)
            to.counts[cell] = n
            to.sums[cell] = found["total"] + n * (from_pivot + (pivot - grid.origin))


@dataclass(frozen=True)
class BinningQuery:
    """Counts at the nodes of at most one binning of each class.

    Parameters
    ----------
    exponent : int
        Scores are divided by this power of two.
    binnings : dict from int to (int, Binning)
        By class: which of the look's binnings it is, and its nodes.
    """

    exponent: int
    binnings: dict[int, tuple[int, Binning]]

    def _case(self, of: str) -> str:
        """Return the node below a score, or the distance from it, by class."""
        cases, start = [], 0
        for code, (_, b) in self.binnings.items():
            score = scaled(self.exponent) if b.sign > 0 else f"-({scaled(self.exponent)})"
            clipped = f"least(greatest({score}, {number(b.low)}), {number(b.high)})"
            at = f"(({clipped} - {number(b.low)}) / {number(b.cell)})"
            value = f"{start} + CAST({at} AS INT)" if of == "key" else f"{at} - (key - {start})"
            cases.append((code, value))
            start += b.size
        whens = " ".join(f"WHEN code = {code} THEN {value}" for code, value in cases)
        return f"CASE {whens} END"

    @property
    def key(self) -> str:
        """Class and node."""
        return f"coalesce({self._case('key')}, {FAULTY})"

    @property
    def aggregates(self) -> dict[str, str]:
        """Count, and sum of the distances from the node in cells."""
        return {"n": "count(*)", "shares": f"sum({self._case('share')})"}

    def read(self, labels: tuple[Any, ...], found: Columns) -> Tally:
        """Return the counts at the nodes."""
        tally, start = Tally(), 0
        for code, (i, b) in self.binnings.items():
            own = (found["key"] >= start) & (found["key"] < start + b.size)
            node = found["key"][own] - start
            counts = np.bincount(node, found["n"][own], b.size)
            shares = np.bincount(node, found["shares"][own], b.size)
            tally.of(labels[code]).binned[i] = b.spread(counts, shares)
            start += b.size
        return tally


def queries_for(look: Look) -> list[Query]:
    """Return the queries that answer a look, but for its refinement."""
    if not look.labels:
        return [CellQuery(look)]
    rounds: list[dict[int, tuple[int, Binning]]] = []
    for i, (label, binning) in enumerate(look.binnings):
        code = look.labels.index(label)
        free = next((r for r in rounds if code not in r), None)
        if free is None:
            rounds.append(free := {})
        free[code] = i, binning
    return [BinningQuery(look.exponent, r) for r in rounds]


def filter_for(refinement: Refinement, exponent: int) -> str:
    """Return the condition that rows which may lie in a cell to look into fulfil."""
    start, scale, wanted = refinement.table
    score = scaled(exponent)
    low, high = number(refinement.lows[0]), number(refinement.tops[-1])
    within = f"{score} > {low} AND {score} <= {high}"
    if np.all(wanted):
        return within
    bin_of = place(f"({score} - {number(start)})", scale, len(wanted))
    return f"{within} AND {_in_table(bin_of, wanted)}"


def _in_table(index: str, table: NDArray[np.bool_]) -> str:
    """Return the condition that a flag is set, 64 flags in a number: faster than a long list."""
    packed = np.packbits(table, bitorder="little")
    words = np.append(packed, np.zeros(-len(packed) % 8, np.uint8)).view("<i8")
    # The least number cannot be written as minus another one.
    listed = ", ".join(f"{w}L" if w > -(2**63) else "(-1L - 9223372036854775807L)" for w in words)
    return f"getbit(element_at(array({listed}), shiftright({index}, 6) + 1), {index} & 63) = 1"
