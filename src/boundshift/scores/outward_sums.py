"""Sums of sorted scores from one of them outwards, for any rank, in a fraction of their space."""

from __future__ import annotations

import numpy as np

from boundshift.typing import FloatArray, IntArray

__all__ = ["OutwardSums"]

# Every so many scores a sum is stored; up to one score fewer is added to it when it is asked for.
_APART = 4
# Scores summed at a time: few enough to stay in the processor's cache.
_CHUNK = 1 << 14


class OutwardSums:
    """Sums of the distances from a score to its neighbours up to any rank, above and below it.

    A sum knows nothing of scores beyond it, however far off.

    Parameters
    ----------
    values : array of shape (n,)
        Sorted.
    rank : int
        Of the score from which distances are taken.

    Examples
    --------
    >>> sums = OutwardSums(np.array([0.0, 3.0, 4.0, 6.0, 9.0]), 2)
    >>> sums(np.arange(6)).tolist()
    [5.0, 1.0, 0.0, 0.0, 2.0, 7.0]
    """

    def __init__(self, values: FloatArray, rank: int) -> None:
        self._values, self._rank = values, rank
        self._reference = values[rank]
        below, above = rank // _APART + 1, (len(values) - rank) // _APART + 1
        self._stored = np.zeros(below + above)
        self._above = below  # where the sums above begin
        self._add_up(values[:rank][::-1], self._stored[1:below])
        self._add_up(values[rank:], self._stored[below + 1 :])

    def _add_up(self, values: FloatArray, stored: FloatArray) -> None:
        """Store every so many-th of the sums of distances from the reference."""
        step = _CHUNK // _APART
        for first in range(0, len(stored), step):
            last = min(first + step, len(stored))
            part = np.abs(values[first * _APART : last * _APART] - self._reference)
            sums = stored[first:last]
            for k in range(_APART):
                sums += part[k::_APART]
        np.cumsum(stored, out=stored)

    def __call__(self, rank: IntArray) -> FloatArray:
        """Return the sums of the distances between the reference and each rank."""
        rank = np.asarray(rank)
        is_below = rank < self._rank
        place, more = np.divmod(np.abs(rank - self._rank), _APART)
        sums = self._stored[np.where(is_below, place, place + self._above)]
        side = np.where(is_below, -1, 1)
        following = self._rank - is_below + side * (place * _APART)
        for number in range(int(more.max(initial=0))):
            # The reference adds nothing to a sum that is complete.
            value = self._values[np.where(number < more, following, self._rank)]
            sums = sums + np.abs(value - self._reference)
            following = following + side
        return np.asarray(sums)
