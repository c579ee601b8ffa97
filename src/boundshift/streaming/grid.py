"""Cells of scores: a grid of equal ones to count in, and chosen ones to look into."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.streaming.scratch import scratch
from boundshift.typing import FloatArray, IntArray

__all__ = ["Grid", "Refinement", "spaced_doubles"]


# Bins of the table by which scores outside the cells of a refinement are passed over.
_BINS = 1 << 16


@dataclass(frozen=True)
class Grid:
    """Cells of equal width, and one more on either side for all scores beyond them.

    Parameters
    ----------
    low, high : float
        Ends of the range that is divided into equal cells.
    inner : int
        Number of equal cells.
    """

    low: float
    high: float
    inner: int

    @property
    def size(self) -> int:
        """Number of all cells, the two outer ones among them."""
        return self.inner + 2

    @property
    def width(self) -> float:
        """Width of a cell."""
        return (self.high - self.low) / self.inner

    @property
    def origin(self) -> float:
        """Lower end of the first cell, were it as wide as the others."""
        return self.low - self.width

    def cells_of(self, offset: FloatArray) -> IntArray:
        """Return the cell of each score, given its offset from the origin.

        A higher score never has a lower cell, whatever the rounding. The next call overwrites
        the answer.
        """
        cells = scratch.get("indices", len(offset), np.int64)
        self.put_cells(offset, cells)
        return cells

    def put_cells(
        self, offset: FloatArray, out: IntArray, ends: tuple[float, float] | None = None
    ) -> None:
        """Write the cell of each score, given the offsets and, if known, the ends of these."""
        scale = 1.0 / self.width
        position = np.multiply(offset, scale, out=scratch.get("position", len(offset)))
        if ends is None or ends[0] * scale < 0.0 or ends[1] * scale > self.size - 0.5:
            np.clip(position, 0.0, self.size - 0.5, out=position)
        np.copyto(out, position, casting="unsafe")

    def tops(self) -> FloatArray:
        """Return the largest number that each cell holds, found by bisection over all doubles."""
        cell = np.arange(self.size - 1)
        nominal = self.origin + (cell + 1) * self.width
        inside, outside = _ordered_bits(nominal - self.width), _ordered_bits(nominal + self.width)
        while np.any(outside > inside + 1):
            # The middle of the two, whose sum may not fit into 64 bits.
            middle = (inside >> 1) + (outside >> 1) + (inside & outside & 1)
            holds = self.cells_of(_doubles_of(middle) - self.origin) <= cell
            inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
        return np.append(_doubles_of(inside), np.inf)


def _as_indices(position: FloatArray, size: int) -> IntArray:
    """Return positions, which are overwritten, as whole numbers from 0 to size − 1."""
    np.clip(position, 0.0, size - 0.5, out=position)
    indices = scratch.get("indices", len(position), np.int64)
    np.copyto(indices, position, casting="unsafe")
    return indices


def _ordered_bits(doubles: NDArray[Any]) -> IntArray:
    """Return a whole number for each double, so that neighbouring doubles have successive ones."""
    bits = doubles.view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def spaced_doubles(low: float, high: float, count: int) -> FloatArray:
    """Return numbers between which there are about equally many doubles.

    Examples
    --------
    >>> spaced_doubles(1.0, 16.0, 5).tolist()
    [1.0, 2.0, 4.0, 8.0, 16.0]
    """
    ends = _ordered_bits(np.array([low, high])).tolist()
    step = (ends[1] - ends[0]) // (count - 1)
    return _doubles_of(np.array([*(ends[0] + step * i for i in range(count - 1)), ends[1]]))


def _doubles_of(ordered: IntArray) -> FloatArray:
    """Return the doubles for which ordered whole numbers stand."""
    return (ordered ^ ((ordered >> 63) & np.int64(2**63 - 1))).view(np.float64)


@dataclass(frozen=True, eq=False)
class Refinement:
    """Cells to look into: all are counted, and the scores of some are collected one by one.

    Parameters
    ----------
    lows, tops : arrays of shape (k,)
        Ends of the cells, in ascending order; a cell holds the scores s with low < s ≤ top.
    bases : array of shape (k,)
        The score from which the sum of a cell is counted.
    collected : bool array of shape (k,)
        Whether the scores of the cell are collected.
    rows : int, default=0
        Number of rows in all cells together.
    """

    lows: FloatArray
    tops: FloatArray
    bases: FloatArray
    collected: NDArray[np.bool_]
    rows: int = 0

    def select(self, scores: FloatArray) -> IntArray:
        """Return the indices of the scores that may lie in one of the cells."""
        start, scale, wanted = self.table
        position = np.subtract(scores, start, out=scratch.get("position", len(scores)))
        position *= scale
        bins = _as_indices(position, len(wanted))
        flags = scratch.get("flags", len(scores), np.bool_)
        return np.flatnonzero(wanted.take(bins, out=flags, mode="clip"))

    @cached_property
    def table(self) -> tuple[float, float, NDArray[np.bool_]]:
        """Start and scale of narrow bins over all cells, and whether each bin meets a cell.

        One more bin at either end stands for all scores beyond the cells. These end in the middle
        of a bin, so that no rounding takes all scores beyond them for some of theirs.
        """
        low, high = float(self.lows[0]), float(self.tops[-1])
        scale = _BINS / (high - low)
        if not np.isfinite(scale):  # The cells are too narrow to be told apart.
            return low, 0.0, np.ones(1, dtype=np.bool_)
        start = low - 1.5 / scale
        first = ((self.lows - start) * scale).astype(np.int64)
        last = ((self.tops - start) * scale).astype(np.int64)
        ends = np.zeros(_BINS + 4, dtype=np.int64)
        np.add.at(ends, first.clip(0, _BINS + 2), 1)
        np.add.at(ends, last.clip(0, _BINS + 2) + 1, -1)
        return start, scale, np.cumsum(ends[:-1]) > 0
