"""Cells of scores: a grid of equal ones to count in, and chosen ones to look into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.streaming.scratch import scratch

__all__ = ["Grid", "Refinement", "spaced_doubles"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_TABLE = 1 << 16


@dataclass(frozen=True)
class Grid:
    """Cells of equal width, and one more on either side for all that lies beyond.

    Parameters
    ----------
    low, high : float
        Ends of the equal cells.
    inside : int
        Number of equal cells.
    """

    low: float
    high: float
    inside: int

    @property
    def size(self) -> int:
        """Number of all cells."""
        return self.inside + 2

    @property
    def width(self) -> float:
        """Width of a cell."""
        return (self.high - self.low) / self.inside

    @property
    def origin(self) -> float:
        """Lower end of the first cell, were it as wide as the others."""
        return self.low - self.width

    def place(self, offset: FloatArray) -> IntArray:
        """Return the cells of scores, given their offsets from the origin; it never descends."""
        place = np.multiply(offset, 1.0 / self.width, out=scratch.of("place", len(offset)))
        return _whole_places(place, self.size)

    def tops(self) -> FloatArray:
        """Return the largest number that each cell holds: bisection over all doubles."""
        cell = np.arange(self.size - 1)
        nominal = self.origin + (cell + 1) * self.width
        inside, outside = _key(nominal - self.width), _key(nominal + self.width)
        while np.any(outside > inside + 1):
            # The sum of the two may not fit.
            middle = (inside >> 1) + (outside >> 1) + (inside & outside & 1)
            holds = self.place(_number(middle) - self.origin) <= cell
            inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
        return np.append(_number(inside), np.inf)


def _whole_places(place: FloatArray, size: int) -> IntArray:
    """Return places as whole numbers from 0 to size − 1, in room that the next call uses again."""
    np.clip(place, 0.0, size - 0.5, out=place)
    places = scratch.of("whole", len(place), np.int64)
    np.copyto(places, place, casting="unsafe")
    return places


def _key(number: NDArray[Any]) -> IntArray:
    """Return whole numbers in the order of the doubles."""
    bits = number.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def spaced_doubles(low: float, high: float, count: int) -> FloatArray:
    """Return numbers between which there are equally many doubles, about.

    Examples
    --------
    >>> spaced_doubles(1.0, 16.0, 5).tolist()
    [1.0, 2.0, 4.0, 8.0, 16.0]
    """
    ends = _key(np.array([low, high])).tolist()
    step = (ends[1] - ends[0]) // (count - 1)
    return _number(np.array([*(ends[0] + step * i for i in range(count - 1)), ends[1]]))


def _number(key: IntArray) -> FloatArray:
    """Return the doubles of whole numbers."""
    return (key ^ ((key >> 63) & np.int64(2**63 - 1))).view(np.float64)


@dataclass(frozen=True, eq=False)
class Refinement:
    """Cells to look into.

    Parameters
    ----------
    lows, tops : arrays of shape (k,)
        Scores s with low < s ≤ top are counted, cell by cell, in ascending order.
    bases : array of shape (k,)
        Where the sum of a cell is counted from.
    gathered : bool array of shape (k,)
        Whether the scores themselves are collected.
    rows : int, default=0
        Rows that lie in all of them.
    """

    lows: FloatArray
    tops: FloatArray
    bases: FloatArray
    gathered: NDArray[np.bool_]
    rows: int = 0

    def select(self, scores: FloatArray) -> IntArray:
        """Return which scores may lie in one of the cells, by a table of narrow bins."""
        low, scale, wanted = self.table
        place = np.subtract(scores, low, out=scratch.of("place", len(scores)))
        place *= scale
        places = _whole_places(place, len(wanted))
        flags = scratch.of("flags", len(scores), np.bool_)
        return np.flatnonzero(wanted.take(places, out=flags, mode="clip"))

    @cached_property
    def table(self) -> tuple[float, float, NDArray[np.bool_]]:
        """Bins over all cells, one more at either end, and which may hold a wanted score."""
        low, high = float(self.lows[0]), float(self.tops[-1])
        scale = _TABLE / (high - low)
        if not np.isfinite(scale):  # the cells are too narrow to be told apart
            return low, 0.0, np.ones(1, dtype=np.bool_)
        start = low - 1.0 / scale
        first = ((self.lows - start) * scale).astype(np.int64)
        last = ((self.tops - start) * scale).astype(np.int64)
        ends = np.zeros(_TABLE + 3, dtype=np.int64)
        np.add.at(ends, first.clip(0, _TABLE + 1), 1)
        np.add.at(ends, last.clip(0, _TABLE + 1) + 1, -1)
        return start, scale, np.cumsum(ends[:-1]) > 0
