"""Points given up: what is kept of a class, and how giving up divides over the classes.

The n points of a class nearest to its centre are a window of its sorted scores. One pass of
prefix sums makes count, mean and edges of every window available, for many windows at once.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from boundshift.scores.sample import OrderedScores
from boundshift.typing import FloatArray, IntArray

__all__ = ["Bracket", "Case", "Kept", "Path", "ProportionalPath", "SequentialPath", "Windows"]


# Two distances that differ by less than this share of themselves, or of the class's middle half,
# count as equal, so that rescaled scores give up the same points.
_TIE = 1e-13
# Points by which a share of all points may be missed where points are whole.
_ROUND = 4


class Kept(NamedTuple):
    """What is kept of one class at each of m levels.

    Parameters
    ----------
    n : array
        Number of points kept.
    low, high : arrays
        Both ends of the kept points.
    start, end : arrays
        The window among the sorted scores, the end not included.
    """

    n: FloatArray
    low: FloatArray
    high: FloatArray
    start: IntArray
    end: IntArray

    def every_other(self, first: int) -> Kept:
        """Return every other level, from the first or the second."""
        n, low, high, start, end = (values[first::2] for values in self)
        return Kept(n, low, high, start, end)  # type: ignore[arg-type]


class Bracket(NamedTuple):
    """Ranks between which windows start, and between which they end, the ends not included."""

    first: IntArray
    last: IntArray
    first_end: IntArray
    last_end: IntArray


class Case(NamedTuple):
    """A class at its best or its worst, for windows that are not known to the last point.

    Parameters
    ----------
    facing, low : arrays
        How far the ends of the kept points lie above the reference: the one that faces the other
        class, and the other one.
    mean : array
        How far the mean does; the best is the farthest from the other class.
    inner_mean : array
        The same from the other side, for the radius: the best is the nearest to the other class.
    distance_given_up : array
        Sum of the distances of the points given up from the class centre.
    """

    facing: FloatArray
    mean: FloatArray
    inner_mean: FloatArray
    low: FloatArray
    distance_given_up: FloatArray


class Windows:
    """All windows of one class, whose other class lies above it.

    Parameters
    ----------
    scores : OrderedScores
        The class; mirror a class that lies above the other.
    centre : {"median", "mean"}
        Points farthest from here are given up first. Of two equally far points the one that
        faces the other class goes first.
    """

    def __init__(self, scores: OrderedScores, centre: Literal["median", "mean"]) -> None:
        self.n = scores.n
        self._scores = scores
        # Every window holds the point nearest to the centre. Offsets from it and sums from it
        # outwards know nothing of points given up, however far off these are.
        nearest = _nearest(scores, getattr(scores, centre))
        self.reference = float(scores.at(nearest))
        self._centre = self._centre_offset(centre)
        self._sums = scores.sums_from(nearest)
        # Points given up in ascending order, and how many of them are low ones, as far as asked.
        self._known = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)

    def keep(self, given_up: IntArray) -> Kept:
        """Describe the windows left when so many points are given up, in ascending order."""
        start = self._start(given_up)
        n = self.n - given_up
        end = start + n
        return Kept(
            n.astype(np.float64),
            self._scores.at(start),
            self._scores.at(end - 1),
            start,
            end,
        )

    def offset(self, index: IntArray) -> FloatArray:
        """Return how far points of the sorted scores lie above the reference."""
        return self._scores.at(index) - self.reference

    def mean(self, start: IntArray, end: IntArray) -> FloatArray:
        """Return the means of windows of the sorted scores."""
        return self.reference + self.mean_offset(start, end)

    def mean_offset(self, start: IntArray, end: IntArray) -> FloatArray:
        """Return how far the means of windows lie above the reference."""
        total: FloatArray = self._sums(end) - self._sums(start)
        return total / (end - start)

    @cached_property
    def exact(self) -> bool:
        """Whether every score is known."""
        return self._scores.exact

    @cached_property
    def _middle_half(self) -> float:
        """Width of the middle half of the scores."""
        quarters = self.offset(np.array([self.n // 4, (3 * self.n) // 4]))
        return float(quarters[1] - quarters[0])

    def _centre_offset(self, centre: Literal["median", "mean"]) -> float:
        """Return how far the centre lies above the reference."""
        if centre == "mean":
            return self._scores.mean_from(self.reference)
        low, high = self.offset(np.array([(self.n - 1) // 2, self.n // 2]))
        return float(low + (high - low) / 2)

    def bracket(self, given_up: IntArray) -> Bracket:
        """Return between which ranks the windows start and end, as far as scores are known."""
        first, last = self._bracket(given_up)
        n = self.n - given_up
        return Bracket(first, last, first + n, last + n)

    def best_case(self, outer: Bracket, inner: Bracket) -> Case:
        """Return what no window between an outer and an inner one can undercut."""
        ranks, values = self._scores.cell_ranks, self._scores.between
        start, end = ranks(outer.first)[0], ranks(outer.last_end)[1]
        return Case(
            values(inner.first_end - 1)[0] - self.reference,
            self._mean_or(start, ranks(inner.first_end)[0], values(outer.first)[0]),
            self._mean_or(ranks(inner.last)[1], end, values(outer.last_end - 1)[1]),
            values(inner.last)[1] - self.reference,
            self.distance_given_up(start, end),
        )

    def worst_case(self, window: Bracket) -> Case:
        """Return what no window in a bracket can exceed."""
        ranks, values = self._scores.cell_ranks, self._scores.between
        (start, late_start), (early_end, end) = (
            (ranks(window.first)[0], ranks(window.last)[1]),
            (ranks(window.first_end)[0], ranks(window.last_end)[1]),
        )
        return Case(
            values(window.last_end - 1)[1] - self.reference,
            self._mean_or(late_start, end, values(window.last_end - 1)[1]),
            self._mean_or(start, early_end, values(window.first)[0]),
            values(window.first)[0] - self.reference,
            self.distance_given_up(late_start, np.maximum(early_end, late_start)),
        )

    def _mean_or(self, start: IntArray, end: IntArray, value: FloatArray) -> FloatArray:
        """Return how far the means of windows lie above the reference, a value for empty ones."""
        held = end > start
        total = self._sums(np.where(held, end, start)) - self._sums(start)
        return np.where(held, total / np.maximum(end - start, 1), value - self.reference)

    def distance_given_up(self, start: IntArray, end: IntArray) -> FloatArray:
        """Return the sum of the distances from the centre of all points outside of windows."""
        first, last = self._sums(np.array([0, self.n]))
        low_sum = self._sums(start) - first
        high_sum = last - self._sums(end)
        return np.asarray((high_sum - low_sum) + self._centre * (start - (self.n - end)))

    def _bracket(self, given_up: IntArray) -> tuple[IntArray, IntArray]:
        """Return between which numbers the low points given up lie, in ascending order."""
        return self._certainly_low(given_up, True), self._certainly_low(given_up, False)

    def _certainly_low(self, given_up: IntArray, certainly: bool) -> IntArray:
        """Return how many of the points given up are low ones for sure, or possibly."""
        low, high = np.zeros_like(given_up), given_up
        if len(given_up) > 2:
            first, last = self._certainly_low(given_up[[0, -1]], certainly)
            low, high = np.full_like(given_up, first), np.minimum(given_up, last)
        n = self.n - given_up
        side, sign = (1, -1) if certainly else (0, 1)
        for _ in range(int(np.max(high - low, initial=0)).bit_length()):
            middle = (low + high) // 2
            after = np.minimum(middle + n, self.n - 1)
            below = self._scores.between(middle)[side] - self.reference - self._centre
            above = self._scores.between(after)[side] - self.reference - self._centre
            tie = 4 * _TIE * (np.abs(below) + np.abs(above) + self._middle_half)
            is_low = (below + above < sign * tie) & (middle < high)
            low, high = np.where(is_low, middle + 1, low), np.where(is_low, high, middle)
        return low

    def _start(self, given_up: IntArray) -> IntArray:
        """Return how many of the points given up are low ones, by bisection."""
        if not self.exact:
            return self._bisect(given_up, *self._bracket(given_up))
        if len(given_up) > 2:
            self._start(given_up[[0, -1]])  # The ends bracket all between.
        low, high = self._bracket_by_known(given_up)
        if np.array_equal(low, high):
            return low
        start = self._bisect(given_up, low, high)
        points = np.concatenate([self._known[0], given_up])
        order = np.argsort(points, kind="stable")
        self._known = points[order], np.concatenate([self._known[1], start])[order]
        return start

    def _bracket_by_known(self, given_up: IntArray) -> tuple[IntArray, IntArray]:
        """Return between which numbers the low points given up lie, by those known of others.

        Where one more point is given up, low ones and high ones are as many as before or one more.
        """
        points, starts = self._known
        before = np.searchsorted(points, given_up, side="right") - 1
        low = starts[before]
        high = low + (given_up - points[before])
        after = np.searchsorted(points, given_up)
        is_last = after == len(points)
        after[is_last] = 0
        top = np.where(is_last, high, starts[after])
        least = np.where(is_last, low, top - (points[after] - given_up))
        return np.maximum(low, least), np.minimum(high, top)

    def _bisect(self, given_up: IntArray, low: IntArray, high: IntArray) -> IntArray:
        """Return how many of the points given up are low ones, between two numbers."""
        n = self.n - given_up
        for _ in range(int(np.max(high - low, initial=0)).bit_length()):
            middle = (low + high) // 2
            # The leftmost point goes if the next one on the right is nearer to the centre.
            below = self.offset(middle) - self._centre
            above = self.offset(np.minimum(middle + n, self.n - 1)) - self._centre
            tie = _TIE * (np.abs(below) + np.abs(above) + self._middle_half)
            is_low = (below + above < -tie) & (middle < high)
            low, high = np.where(is_low, middle + 1, low), np.where(is_low, high, middle)
        return low


def _nearest(scores: OrderedScores, centre: float) -> int:
    """Return the rank of the score nearest to the centre."""
    right = min(int(scores.count_below(centre)), scores.n - 1)
    left = max(right - 1, 0)
    below, above = scores.at([left, right])
    return right if above - centre < centre - below else left


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
        few = np.minimum(-(-_times(level, smaller) // larger), max(smaller - 2, 0))
        few = few.astype(np.int64)
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
        self._n = n_samples
        self._most = max(n_samples[0] - 2, 0), max(n_samples[1] - 2, 0)

    @property
    def last(self) -> int:
        """Highest level."""
        return sum(self._most)

    def given_up(self, level: IntArray) -> IntArray:
        """Return the points given up (negative, positive) at each level."""
        low, high = np.maximum(level - self._most[1], 0), np.minimum(level, self._most[0])
        # The j-th negative point goes after j points of its own class and at most two more of the
        # other than its share, unless that class has no more to give.
        share = (level * (self._n[0] / sum(self._n))).astype(np.int64)
        low, high = (
            np.minimum(np.maximum(low, share - _ROUND), high),
            np.minimum(np.maximum(low, share + _ROUND), high),
        )
        # The negative points given up are those whose turn comes before the level.
        for _ in range(int(np.max(high - low, initial=0)).bit_length()):
            middle = (low + high) // 2
            is_before = (middle + self._positive_before(middle) < level) & (middle < high)
            low, high = np.where(is_before, middle + 1, low), np.where(is_before, high, middle)
        return np.stack([low, level - low])

    def _positive_before(self, j: IntArray) -> IntArray:
        """Return how many positive points go before the j-th negative one, counted from 0."""
        negative, positive = self._n
        share = _times(j, positive)
        few = -(-share // negative)
        tie = share % negative == 0
        first = few % 2 == 1 if negative == positive else (few > 0) & (negative < positive)
        before: IntArray = np.minimum(few + (tie & first), self._most[1]).astype(np.int64)
        return before


def _times(level: IntArray, n: int) -> NDArray[Any]:
    """Return products of whole numbers, in Python's own where they may not fit."""
    fits = int(np.max(level, initial=0)) * n < 2**63
    return (level if fits else level.astype(object)) * n
