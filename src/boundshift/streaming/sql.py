"""A request as SQL, for engines that count rows faster than Python could read them.

The rows have two columns: ``code``, the index of a row's label among the two classes, NULL for any
other label, and ``score``; a third, ``weight``, where rows have weights. A `Query` groups them by
a whole number ``key`` and brings back a few aggregates of each group; its `read` turns these into
the tally that the :class:`~boundshift.streaming.request.ScanRequest` would find in the same rows.

The expressions are plain enough for more than one database: a number with an exponent is a double,
and what is cast to a whole number was rounded down before, since some round to the nearest. Only
the table of flags in `filter_for` is written for one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import fsum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boundshift.scores import LogOdds
from boundshift.streaming.binning import Binning
from boundshift.streaming.grid import Grid, Refinement
from boundshift.streaming.request import ScanRequest
from boundshift.streaming.tally import ClassTally, Tally

__all__ = [
    "FAULTY",
    "CellQuery",
    "Columns",
    "Query",
    "SquaresQuery",
    "filter_for",
    "log_odds_of",
    "queries_for",
    "usable",
]

Columns = Mapping[str, NDArray[Any]]
InTable = Callable[[str, NDArray[np.bool_]], str]

# Key of the rows that cannot be used: no label, a third one, or a score that is not finite.
FAULTY = -1
_LARGEST = f"{float(np.finfo(np.float64).max)!r}"


def usable(log_odds: LogOdds | None, is_weighted: bool = False) -> str:
    """Return the condition that a row can be used; of log-odds, those of 0 and 1 are infinite."""
    largest = _LARGEST if log_odds is None else _double(np.inf)
    condition = f"code IS NOT NULL AND abs(score) <= {largest}"
    return f"{condition} AND weight > 0e0 AND weight <= {_LARGEST}" if is_weighted else condition


def _weighted(terms: str, is_weighted: bool) -> str:
    """Return the sum of something over rows, each as often as it counts."""
    return f"sum(weight * ({terms}))" if is_weighted else f"sum({terms})"


def log_odds_of(column: str, log_odds: LogOdds) -> str:
    """Return the log-odds of a column of probabilities, NaN for numbers outside [0, 1].

    Every query of a pass, and every row that Python reads, takes this expression, since two
    libraries' logarithms may differ in their last digit.
    """
    return (
        f"CASE WHEN {column} > 0e0 AND {column} < 1e0 THEN ln({column} / (1e0 - {column})) "
        f"WHEN {column} = 0e0 THEN {_double(log_odds.low)} "
        f"WHEN {column} = 1e0 THEN {_double(log_odds.high)} ELSE {_double(np.nan)} END"
    )


class Query(Protocol):
    """Groups of rows and what to find out about each."""

    @property
    def key(self) -> str:
        """Expression for the number of a row's group."""

    @property
    def aggregates(self) -> dict[str, str]:
        """Expressions for what is found in a group, by name; they may use the key."""

    def read(self, labels: tuple[Any, ...], found: Columns) -> Tally:
        """Return the tally, given the key and the aggregates of all groups as columns."""


def _double(value: float) -> str:
    """Return a double as SQL.

    Examples
    --------
    >>> _double(-0.1)
    '(-1.0000000000000001e-01)'
    """
    if not np.isfinite(value):
        name = "NaN" if np.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"CAST('{name}' AS DOUBLE)"
    return f"({float(value):.16e})"


def _scaled_score(exponent: int) -> str:
    """Return the score divided by a power of two, in two steps since one factor may not fit."""
    half = -exponent // 2
    steps = [2.0**half, 2.0 ** (-exponent - half)] if exponent else []
    return " * ".join(["score", *map(_double, steps)])


def _index(offset: str, scale: float, size: int) -> str:
    """Return an offset times a scale, as a whole number from 0 to size − 1."""
    clipped = f"least(greatest({offset} * {_double(scale)}, 0e0), {_double(size - 0.5)})"
    return f"CAST(floor({clipped}) AS INT)"


@dataclass(frozen=True)
class CellQuery:
    """The request of the first pass: moments of each class, and its counts by cells.

    Parameters
    ----------
    request : ScanRequest
        With a grid, or without one where the range of the scores is not known.
    is_weighted : bool, default=False
        Whether rows have weights. The squares are then left to a `SquaresQuery`.
    """

    request: ScanRequest
    is_weighted: bool = False

    @property
    def _grid(self) -> Grid:
        """The grid of the request, or one with all scores in one cell."""
        return self.request.grid or Grid(self.request.pivot - 1.0, self.request.pivot, 1)

    @property
    def _size(self) -> int:
        """Cells of a class: those of the grid, and one each for exact zeros and ones."""
        return self._grid.size + (0 if self.request.log_odds is None else 2)

    @property
    def _cell(self) -> str:
        """Expression for the cell of a row."""
        size = self._grid.size
        inside = "1"
        if self.request.grid is not None:
            inside = _index(self._offset, 1.0 / self._grid.width, size)
        if self.request.log_odds is None:
            return inside
        return (
            f"CASE WHEN score = {_double(-np.inf)} THEN {size} "
            f"WHEN score = {_double(np.inf)} THEN {size + 1} ELSE {inside} END"
        )

    @property
    def _pivot_cell(self) -> int:
        """Cell of the pivot; where most scores lie in one cell, it is this one."""
        offset = np.array([self.request.pivot - self._grid.origin])
        return 1 if self.request.grid is None else int(self._grid.cells_of(offset)[0])

    @property
    def _offset(self) -> str:
        """Expression for the offset of a score from the origin of the grid."""
        return f"({_scaled_score(self.request.exponent)} - {_double(self._grid.origin)})"

    @property
    def key(self) -> str:
        """Class and cell."""
        condition = usable(self.request.log_odds, self.is_weighted)
        return f"CASE WHEN {condition} THEN code * {self._size} + {self._cell} ELSE {FAULTY} END"

    @property
    def aggregates(self) -> dict[str, str]:
        """Count, sum and squares of offsets from a score in or near the cell, and extremes."""
        grid, score = self._grid, _scaled_score(self.request.exponent)
        cell = f"key % {self._size}"
        inside = (
            f"(CASE WHEN {cell} = {self._pivot_cell} THEN {score} - {_double(self.request.pivot)} "
            f"ELSE {self._offset} - ({cell}) * {_double(grid.width)} END)"
        )
        if self.request.log_odds is not None:
            # Rows of exact zeros and ones are only counted: infinite sums are errors to some.
            inside = f"(CASE WHEN {cell} >= {grid.size} THEN 0e0 ELSE {inside} END)"
        found = {
            "n": "count(*)",
            "total": _weighted(inside, self.is_weighted),
            "low": f"min({score})",
            "high": f"max({score})",
        }
        if self.is_weighted:
            sums = {"n": "sum(weight)", "weights": "sum(weight * weight)", "rows": "count(*)"}
            return found | sums
        # A difference of sums would lose a class that is far narrower than a cell.
        return found | {"squares": f"var_pop({inside}) * count(*)"}

    def read(self, labels: tuple[Any, ...], found: Columns) -> Tally:
        """Return the tally of the rows that can be used."""
        tally, size = Tally(), self._size
        for code, label in enumerate(labels):
            own = (found["key"] >= 0) & (found["key"] // size == code)
            if np.any(own):
                columns = {name: values[own] for name, values in found.items()}
                self._add(tally.of(label), columns)
        return tally

    def _add(self, to: ClassTally, found: Columns) -> None:
        """Put the cells of a class together."""
        grid, pivot = self._grid, self.request.pivot
        cell, n = found["key"] % self._size, found["n"]
        if self.is_weighted:
            to.squared_weights = float(found["weights"].sum())
            to.weighted_rows = int(found["rows"].sum())
        if self.request.log_odds is not None:
            zeros, ones = (n[cell == grid.size + i].sum().item() for i in (0, 1))
            to.saturated = zeros, ones
            inside = cell < grid.size
            found, cell, n = {k: v[inside] for k, v in found.items()}, cell[inside], n[inside]
            if not len(n):
                return
        from_pivot = (grid.origin - pivot) + cell * grid.width
        from_pivot[cell == self._pivot_cell] = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            mean = found["total"] / n
            offset = from_pivot + mean
            to.n = n.sum().item()
            to.low, to.high = float(found["low"].min()), float(found["high"].max())
            high = fsum(n * offset) if np.all(np.isfinite(offset)) else float(np.inf)
            to.total = high, 0.0
            if not self.is_weighted:
                within = found["squares"].sum()
                to.squares = float(within + (n * (offset - high / to.n) ** 2).sum())
        if self.is_weighted:
            to.rows = int(found["rows"].sum())
        if self.request.grid is not None:
            to.counts, to.sums = np.zeros(grid.size, n.dtype), np.zeros(grid.size)
            to.counts[cell] = n
            if self.is_weighted:
                to.rows = np.zeros(grid.size, np.int64)
                to.rows[cell] = found["rows"]
            to.sums[cell] = found["total"] + n * (from_pivot + (pivot - grid.origin))


@dataclass(frozen=True)
class SquaresQuery:
    """The squared deviations of rows with weights, once the mean of each class is known.

    The means are offsets from the pivot of the first pass, whose request it is.
    """

    request: ScanRequest
    means: tuple[float, ...]

    @property
    def key(self) -> str:
        """Class; exact zeros and ones among probabilities are not counted here."""
        condition = f"{usable(None, True)}"
        return f"CASE WHEN {condition} THEN code ELSE {FAULTY} END"

    @property
    def aggregates(self) -> dict[str, str]:
        """Sum of squares, and the sum that tells how far the mean was off."""
        whens = " ".join(f"WHEN key = {i} THEN {_double(m)}" for i, m in enumerate(self.means))
        score = f"({_scaled_score(self.request.exponent)} - {_double(self.request.pivot)})"
        # Of rows that cannot be used, which may be infinite, nothing is summed.
        away = f"(CASE WHEN key < 0 THEN 0e0 ELSE {score} - (CASE {whens} END) END)"
        return {
            "squares": _weighted(f"{away} * {away}", True),
            "off": _weighted(away, True),
            "n": "sum(weight)",
        }

    def read(self, labels: tuple[Any, ...], found: Columns) -> Tally:
        """Return the squares of each class."""
        tally = Tally()
        for code, squares, off, n in zip(
            *(found[name].tolist() for name in ("key", "squares", "off", "n")), strict=True
        ):
            if code >= 0:
                tally.of(labels[code]).squares = max(squares - off * off / n, 0.0)
        return tally


@dataclass(frozen=True)
class BinningQuery:
    """The counts at the nodes of at most one binning of each class.

    Parameters
    ----------
    exponent : int
        Scores are divided by this power of two.
    binnings : dict from int to (int, Binning)
        By class: the index of a binning in the request, and the binning.
    is_weighted : bool, default=False
        Whether rows have weights.
    """

    exponent: int
    binnings: dict[int, tuple[int, Binning]]
    is_weighted: bool = False

    def _case(self, of: str) -> str:
        """Return the number of the node below a score, or the distance from it in cells."""
        cases, start = [], 0
        for code, (_, b) in self.binnings.items():
            score = _scaled_score(self.exponent)
            score = score if b.sign > 0 else f"-({score})"
            clipped = f"least(greatest({score}, {_double(b.low)}), {_double(b.high)})"
            at = f"(({clipped} - {_double(b.low)}) / {_double(b.cell)})"
            value = (
                f"{start} + CAST(floor({at}) AS INT)" if of == "key" else f"{at} - (key - {start})"
            )
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
        return {
            "n": "sum(weight)" if self.is_weighted else "count(*)",
            "shares": _weighted(self._case("share"), self.is_weighted),
        }

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


def queries_for(request: ScanRequest, is_weighted: bool = False) -> list[Query]:
    """Return the queries that answer a request, but for its refinement."""
    if not request.labels:
        return [CellQuery(request, is_weighted)]
    # A query takes one binning of each class.
    rounds: list[dict[int, tuple[int, Binning]]] = []
    for i, (label, binning) in enumerate(request.binnings):
        code = request.labels.index(label)
        free = next((r for r in rounds if code not in r), None)
        if free is None:
            rounds.append(free := {})
        free[code] = i, binning
    return [BinningQuery(request.exponent, r, is_weighted) for r in rounds]


def filter_for(refinement: Refinement, exponent: int, in_table: InTable) -> str:
    """Return the condition that a row may lie in one of the refinement's cells.

    Parameters
    ----------
    refinement : Refinement
        The cells.
    exponent : int
        Scores are divided by this power of two.
    in_table : callable
        From the expression for an index, and flags, to the condition that its flag is set.
    """
    start, scale, wanted = refinement.table
    score = _scaled_score(exponent)
    low, high = _double(refinement.lows[0]), _double(refinement.tops[-1])
    within = f"{score} > {low} AND {score} <= {high}"
    if np.all(wanted):
        return within
    bin_of = _index(f"({score} - {_double(start)})", scale, len(wanted))
    return f"{within} AND {in_table(bin_of, wanted)}"
