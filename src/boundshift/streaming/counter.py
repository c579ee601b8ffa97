"""Counting rows by the number of a cell, many rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.streaming.scratch import scratch
from boundshift.typing import FloatArray, IntArray

__all__ = ["CellCounter"]

# Rows that are counted at a time: every time costs as much as there are cells.
_ROWS = 1 << 18


class CellCounter:
    """Number of rows in each of many cells, and the sum of a value over them.

    Rows wait in memory of the thread until they are many, so a thread has one counter of a name at
    a time, and `finish` has to be called in the end.

    Parameters
    ----------
    name : str
        What the memory is called.
    size : int
        Number of cells.
    is_weighted : bool, default=False
        Whether rows have weights.

    Examples
    --------
    >>> counter = CellCounter("example", 3)
    >>> cells, values = counter.reserve(2)
    >>> cells[:], values[:] = [0, 2], [0.5, 4.0]
    >>> counter.finish()
    >>> counter.counts.tolist(), counter.sums.tolist()
    ([1, 0, 1], [0.5, 0.0, 4.0])
    """

    def __init__(self, name: str, size: int, is_weighted: bool = False) -> None:
        self._name, self._size, self._waiting = name, size, 0
        self.is_weighted = is_weighted
        self.rows: NDArray[Any] = np.zeros(size, np.int64)
        self.sums = np.zeros(size)
        self._weights = np.zeros(size)

    @property
    def counts(self) -> NDArray[Any]:
        """Number of rows in each cell, or the sum of their weights."""
        return self._weights if self.is_weighted else self.rows

    def reserve(self, n: int, weights: FloatArray | None = None) -> tuple[IntArray, FloatArray]:
        """Return memory for the cells and the values of n more rows, to be written at once.

        Values are written as they are; those of rows with weights are to be multiplied by them.
        """
        if self._waiting and self._waiting + n > _ROWS:
            self.finish()
        start, self._waiting = self._waiting, self._waiting + n
        cells, values, waiting = self._buffers()
        if weights is not None:
            waiting[start:] = weights
        return cells[start:], values[start:]

    def _buffers(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the memory of the rows that wait."""
        n = self._waiting
        room = max(n, _ROWS)
        return (
            scratch.get(f"{self._name} cells", room, np.int64)[:n],
            scratch.get(f"{self._name} values", room)[:n],
            scratch.get(f"{self._name} weights", room)[:n] if self.is_weighted else np.empty(0),
        )

    def finish(self) -> None:
        """Count the rows that wait."""
        cells, values, weights = self._buffers()
        if not len(cells):
            return
        self.rows += np.bincount(cells, minlength=self._size)
        self.sums += np.bincount(cells, values, self._size)
        if self.is_weighted:
            self._weights += np.bincount(cells, weights, self._size)
        self._waiting = 0
