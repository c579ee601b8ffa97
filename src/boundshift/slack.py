"""Points given up: what is kept of a class, and how giving up divides over the classes.

The n points of a class nearest to its centre are a window of its sorted scores. One pass of
prefix sums makes count, mean and edges of every window available, for many windows at once.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from boundshift.scores import ClassScores

__all__ = ["Kept", "Path", "ProportionalPath", "SequentialPath", "Windows"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Two distances that differ by less than this share of themselves, or of the class's middle half,
# count as equal, so that rescaled scores give up the same points.
_TIE = 1e-13


class Kept(NamedTuple):
    """What is kept of one class at each of m levels.

    Parameters
    ----------
    n : array
        Number of points kept.
    low, high : arrays
        Both ends of the kept points.
    distance_given_up : array
        Sum of the distances of the points given up from the class centre.
    start, end : arrays
        The window among the sorted scores, the end not included.
    """

    n: FloatArray
    low: FloatArray
    high: FloatArray
    distance_given_up: FloatArray
    start: IntArray
    end: IntArray


class Windows:
    """All windows of one class, whose other class lies above it.

    Parameters
    ----------
    scores : ClassScores
        The class; mirror a class that lies above the other.
    centre : {"median", "mean"}
        Points farthest from here are given up first. Of two equally far points the one that
        faces the other class goes first.
    """

    def __init__(self, scores: ClassScores, centre: Literal["median", "mean"]) -> None:
        self.n = scores.n
        self._values = scores.values
        # Every window holds the point nearest to the centre. Offsets from it and sums from it
        # outwards know nothing of points given up, however far off these are.
        nearest = _nearest(scores.values, getattr(scores, centre))
        self.reference = float(scores.values[nearest])
        self._offset = scores.values - self.reference
        self._centre = getattr(ClassScores(self._offset), centre)
        self._prefix = np.zeros(self.n + 1)
        np.cumsum(self._offset[nearest:], out=self._prefix[nearest + 1 :])
        below = self._prefix[:nearest]
        np.cumsum(self._offset[:nearest][::-1], out=below[::-1])
        np.negative(below, out=below)
        self._middle_half = float(self._offset[(3 * self.n) // 4] - self._offset[self.n // 4])

    def keep(self, given_up: IntArray) -> Kept:
        """Describe the windows left when so many points are given up, in ascending order."""
        start = self._start(given_up)
        n = self.n - given_up
        end = start + n
        low_sum = self._prefix[start] - self._prefix[0]
        high_sum = self._prefix[-1] - self._prefix[end]
        return Kept(
            n.astype(np.float64),
            self._values[start],
            self._values[end - 1],
            (high_sum - low_sum) + self._centre * (start - (self.n - end)),
            start,
            end,
        )

    def offset(self, index: IntArray) -> FloatArray:
        """Return how far points of the sorted scores lie above the reference."""
        return self._offset[index]

    def mean(self, start: IntArray, end: IntArray) -> FloatArray:
        """Return the means of windows of the sorted scores."""
        return self.reference + self.mean_offset(start, end)

    def mean_offset(self, start: IntArray, end: IntArray) -> FloatArray:
        """Return how far the means of windows lie above the reference."""
        total: FloatArray = self._prefix[end] - self._prefix[start]
        return total / (end - start)

    def _start(self, given_up: IntArray) -> IntArray:
        """Return how many of the points given up are low ones, by bisection."""
        low, high = np.zeros_like(given_up), given_up
        if len(given_up) > 2:
            # Low points given up ascend with the levels: the ends bracket all between.
            first, last = self._start(given_up[[0, -1]])
            low, high = np.full_like(given_up, first), np.minimum(given_up, last)
        n = self.n - given_up
        for _ in range(int(np.max(high - low, initial=0)).bit_length()):
            middle = (low + high) // 2
            # The leftmost point goes if the next one on the right is nearer to the centre.
            below = self._offset[middle] - self._centre
            above = self._offset[np.minimum(middle + n, self.n - 1)] - self._centre
            tie = _TIE * (np.abs(below) + np.abs(above) + self._middle_half)
            is_low = (below + above < -tie) & (middle < high)
            low, high = np.where(is_low, middle + 1, low), np.where(is_low, high, middle)
        return low


def _nearest(values: FloatArray, centre: float) -> int:
    """Return the index of the sorted value nearest to the centre."""
    right = min(int(np.searchsorted(values, centre)), len(values) - 1)
    left = max(right - 1, 0)
    return right if values[right] - centre < centre - values[left] else left


class Path(Protocol):
    """Levels of giving up: level 0 keeps everything, each further one keeps less."""

    @property
    def last(self) -> int:
        """Highest level; at least two points of each class are kept there."""

    def given_up(self, level: IntArray) -> IntArray:
        """Return the points given up (negative, positive) at each level, shape (2, m)."""


class ProportionalPath:
    """Level j gives up j points of the larger class and the same share of the smaller.

    The smaller class's share is rounded up. Mirrored problems have mirrored paths.

    Examples
    --------
    >>> path = ProportionalPath((1000, 10))
    >>> path.given_up(np.array([0, 1, 100, 101])).tolist()
    [[0, 1, 100, 101], [0, 1, 1, 2]]
    """

    def __init__(self, n_samples: tuple[int, int]) -> None:
        self._n = n_samples

    @property
    def last(self) -> int:
        """Highest level."""
        return max(max(self._n) - 2, 0)

    def given_up(self, level: IntArray) -> IntArray:
        """Return the points given up (negative, positive) at each level."""
        smaller, larger = sorted(self._n)
        few = np.minimum(-(-level * smaller // larger), max(smaller - 2, 0))
        return np.stack([few, level] if self._n[0] < self._n[1] else [level, few])


class SequentialPath:
    """One point after the other, always from the class that has given up the smaller share.

    Where both shares are equal the class that gave the last point goes on, the negative one at
    the start: the order of the authors' code.

    Examples
    --------
    >>> path = SequentialPath((1000, 10))
    >>> path.given_up(np.array([1, 2, 3, 102, 103])).tolist()
    [[1, 1, 2, 101, 101], [0, 1, 1, 1, 2]]
    """

    def __init__(self, n_samples: tuple[int, int]) -> None:
        negative, positive = n_samples
        first = np.arange(max(negative - 2, 0), dtype=np.int64)
        second = np.arange(max(positive - 2, 0), dtype=np.int64)
        # Shares j/n_negative and k/n_positive over a common denominator.
        share = np.concatenate([first * positive, second * negative])
        if negative == positive:
            is_second_first = second % 2 == 1
        else:
            is_second_first = (second > 0) & (negative < positive)
        turn = np.concatenate([np.zeros_like(first), np.where(is_second_first, -1, 1)])
        from_negative = np.lexsort((turn, share)) < len(first)
        steps = np.stack([from_negative, ~from_negative])
        self._given_up = np.zeros((2, len(share) + 1), dtype=np.int64)
        np.cumsum(steps, axis=1, out=self._given_up[:, 1:])

    @property
    def last(self) -> int:
        """Highest level."""
        return self._given_up.shape[1] - 1

    def given_up(self, level: IntArray) -> IntArray:
        """Return the points given up (negative, positive) at each level."""
        return self._given_up[:, level]
