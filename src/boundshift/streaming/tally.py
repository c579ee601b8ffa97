"""What was found in some rows: a summary that fits a message.

Tallies of different rows merge in any order: counts and extremes exactly, sums in two doubles.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.streaming.chunk import Chunk, Fault
from boundshift.streaming.counter import CellCounter
from boundshift.streaming.grid import Refinement
from boundshift.streaming.scratch import scratch
from boundshift.typing import FloatArray

__all__ = ["ClassTally", "Tally", "add_exactly", "extremes"]


# Faults and labels that are kept for an error message.
_MOST_FAULTS = 8


def add_exactly(total: tuple[float, float], more: tuple[float, float]) -> tuple[float, float]:
    """Add two numbers of two doubles each: what the first cannot hold, the second keeps.

    Examples
    --------
    >>> add_exactly((1e16, 0.0), (1.0, 0.0))
    (1e+16, 1.0)
    """
    high = total[0] + more[0]
    part = high - total[0]
    low = (total[0] - (high - part)) + (more[0] - part) + total[1] + more[1]
    return high + low, low - ((high + low) - high)


def extremes(scores: FloatArray) -> tuple[float, float]:
    """Return the smallest and the largest score, NaN if one of them is; (0, 0) of none.

    Examples
    --------
    >>> extremes(np.array([2.0, 1.0]))
    (1.0, 2.0)
    """
    return (float(scores.min()), float(scores.max())) if len(scores) else (0.0, 0.0)


@dataclass(eq=False)
class ClassTally:
    """What was found about one class.

    Parameters
    ----------
    n : int or float
        Number of rows; where rows have weights, the sum of these. So are all counts but `rows`.
    low, high : float
        Smallest and largest score.
    total : pair of float
        Sum of the offsets from the request's pivot, in two doubles.
    squares : float
        Sum of squared deviations from the mean.
    squared_weights, weighted_rows : float, int
        Sum of squared weights, and number of rows with weights; 0 where rows have none.
    saturated : pair of int
        Exact zeros and ones among probabilities, which have no log-odds of their own; none of
        them is counted elsewhere.
    counts, sums : arrays
        Number of rows in each cell, and the sum of their offsets: from the origin of a grid, or
        from the base of a cell of a refinement.
    rows : array, default=None
        Number of rows in each cell, where rows have weights.
    lows, highs : arrays
        Smallest and largest score in each cell of a refinement.
    points : list of arrays (values, counts)
        Distinct scores collected, and how often each occurs; None if each occurs once.
    binned : dict from int to array
        Counts at the nodes of the request's binnings, by their index.
    """

    n: Any = 0
    low: float = np.inf
    high: float = -np.inf
    total: tuple[float, float] = (0.0, 0.0)
    squares: float = 0.0
    squared_weights: float = 0.0
    weighted_rows: int = 0
    saturated: tuple[Any, Any] = (0, 0)
    counts: Any = 0
    sums: Any = 0.0
    rows: Any = None
    lows: Any = np.inf
    highs: Any = -np.inf
    points: list[tuple[FloatArray, NDArray[Any] | None]] = field(default_factory=list)
    binned: dict[int, Any] = field(default_factory=dict)

    def add_moments(
        self,
        scores: FloatArray,
        pivot: float,
        ends: tuple[float, float],
        weights: FloatArray | None = None,
    ) -> None:
        """Add rows, whose extremes are known, to count, extremes, sum and squares."""
        # Scores that overflow here are far larger than those peeked at; the pass is repeated with
        # another exponent.
        with np.errstate(over="ignore", invalid="ignore"):
            n = len(scores) if weights is None else float(weights.sum())
            offset = np.subtract(scores, pivot, out=scratch.get("offset", len(scores)))
            total = float(offset.sum() if weights is None else (offset * weights).sum())
            offset -= total / n
            # Not a dot product, whose library may start threads of its own in each of ours.
            np.multiply(offset, offset, out=offset)
            if weights is not None:
                offset *= weights
            squares = float(offset.sum())
            self._merge_moments(ClassTally(n, *ends, (total, 0.0), squares))

    def add_cells(self, counter: CellCounter) -> None:
        """Add what was counted in the cells of a grid."""
        if counter.is_weighted:
            self.add_rows(counter.rows)
        self.counts = counter.counts + self.counts
        self.sums = counter.sums + self.sums

    def add_rows(self, rows: Any) -> None:
        """Add numbers of rows with weights."""
        self.rows = rows if self.rows is None else self.rows + rows

    @property
    def cell_rows(self) -> Any:
        """Number of rows in each cell, whether or not they have weights."""
        return self.counts if self.rows is None else self.rows

    def add_refined(
        self, refinement: Refinement, scores: FloatArray, weights: FloatArray | None = None
    ) -> None:
        """Add rows, given by their sorted scores, to the cells of a refinement."""
        start = np.searchsorted(scores, refinement.lows, side="right")
        end = np.searchsorted(scores, refinement.tops, side="right")
        held = end > start
        lows, highs = np.full(len(start), np.inf), np.full(len(start), -np.inf)
        lows[held], highs[held] = scores[start[held]], scores[end[held] - 1]
        counts = end - start
        cell = np.repeat(np.arange(len(start)), counts)
        inside = np.arange(len(cell)) + np.repeat(start - np.cumsum(counts) + counts, counts)
        scores = scores[inside]
        offset = scores - refinement.bases[cell]
        if weights is None:
            self.counts = self.counts + counts
        else:
            self.add_rows(counts)
            weights = weights[inside]
            self.counts = self.counts + np.bincount(cell, weights, len(start))
            offset *= weights
        self.sums = self.sums + np.bincount(cell, offset, len(start))
        self.lows, self.highs = np.minimum(self.lows, lows), np.maximum(self.highs, highs)
        if np.any(held & refinement.collected):
            wanted = refinement.collected[cell]
            self.points.append(
                _distinct(scores[wanted], None if weights is None else weights[wanted])
            )

    def split_saturated(self, rows: Chunk) -> Chunk:
        """Count infinite log-odds, those of exact zeros and ones, and return the others."""
        scores, weights = rows.scores, rows.weights
        if np.isfinite(extremes(scores)).all():
            return rows
        sides = scores == -np.inf, scores == np.inf
        found = [
            int(np.count_nonzero(side)) if weights is None else float(weights[side].sum())
            for side in sides
        ]
        self.saturated = self.saturated[0] + found[0], self.saturated[1] + found[1]
        return rows.take(~(sides[0] | sides[1]))

    def settle_saturated(self, ends: tuple[float, float], pivot: float) -> None:
        """Count exact zeros and ones among the moments, once it is known where they stand."""
        for count, end in zip(self.saturated, ends, strict=True):
            if count:
                total = (count * (end - pivot), 0.0)
                self._merge_moments(ClassTally(n=count, low=end, high=end, total=total))

    def _merge_moments(self, other: ClassTally) -> None:
        """Add count, extremes, sum and squares of other rows."""
        if self.n and other.n:
            apart = other.total[0] / other.n - self.total[0] / self.n
            apart += other.total[1] / other.n - self.total[1] / self.n
            self.squares += apart * apart * (self.n / (self.n + other.n)) * other.n
        self.squares += other.squares
        self.n += other.n
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.total = add_exactly(self.total, other.total)

    def merge(self, other: ClassTally) -> None:
        """Add what was found in other rows."""
        self._merge_moments(other)
        self.saturated = (
            self.saturated[0] + other.saturated[0],
            self.saturated[1] + other.saturated[1],
        )
        self.counts, self.sums = self.counts + other.counts, self.sums + other.sums
        self.squared_weights += other.squared_weights
        self.weighted_rows += other.weighted_rows
        if other.rows is not None:
            self.add_rows(other.rows)
        self.lows, self.highs = (
            np.minimum(self.lows, other.lows),
            np.maximum(self.highs, other.highs),
        )
        self.points.extend(other.points)
        for i, counts in other.binned.items():
            self.binned[i] = self.binned.get(i, 0.0) + counts

    def distinct_points(self) -> tuple[FloatArray, NDArray[Any]]:
        """Return the distinct scores collected, in order, and how often each occurs."""
        if not self.points:
            return np.empty(0), np.empty(0, np.int64)
        values = np.concatenate([v for v, _ in self.points])
        if all(c is None for _, c in self.points):
            values.sort()
            values, times = _distinct(values, None)
            return values, np.ones(len(values), np.int64) if times is None else times
        counts = np.concatenate([np.ones(len(v)) if c is None else c for v, c in self.points])
        order = np.argsort(values, kind="stable")
        values, times = _distinct(values[order], counts[order])
        assert times is not None
        return values, times.astype(np.int64) if self.rows is None else times


def _distinct(
    scores: FloatArray, weights: NDArray[Any] | None
) -> tuple[FloatArray, NDArray[Any] | None]:
    """Return the distinct ones of sorted scores, and how often each occurs; None for once each."""
    is_first = np.append(True, scores[1:] != scores[:-1])[: len(scores)]
    if is_first.all():
        return scores, weights
    first = np.flatnonzero(is_first)
    if weights is None:
        return scores[first], np.diff(first, append=len(scores))
    return scores[first], np.add.reduceat(weights, first)


@dataclass(eq=False)
class Tally:
    """What was found in some rows, by label; tallies of different rows merge in any order.

    Examples
    --------
    >>> from boundshift.streaming.request import ScanRequest
    >>> chunks = [Chunk(np.array([0, 1]), np.array([0.5, 2.0]), "first"),
    ...           Chunk(np.array([0, 0]), np.array([0.1, 0.9]), "second")]
    >>> one, other = ScanRequest().tally(chunks[:1]), ScanRequest().tally(chunks[1:])
    >>> one.merge(other)
    >>> one.classes[0].n, one.classes[0].low, one.classes[0].high
    (3, 0.1, 0.9)
    """

    classes: dict[Any, ClassTally] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def of(self, label: object) -> ClassTally:
        """Return what was found about a class, to be added to."""
        if label not in self.classes:
            self.classes[label] = ClassTally()
        return self.classes[label]

    def add_labels(self, labels: tuple[Any, ...]) -> None:
        """Keep a few labels, of which there are too many, for an error message."""
        for label in labels:
            if len(self.classes) < _MOST_FAULTS:
                self.of(label)

    def add_fault(self, chunk: Chunk, kind: str, count: int, column: str = "y_score") -> None:
        """Add rows of a chunk that cannot be used, if there are any."""
        if count:
            self._add_faults([Fault(chunk.location, kind, count, column)])

    def add_weight_fault(self, weight: float, count: int) -> None:
        """Add weights that are no frequencies, the first of them by its value."""
        self._add_faults([Fault("", f"{weight:g}", count, "sample_weight")])

    def merge(self, other: Tally) -> None:
        """Add what was found in other rows."""
        for label, found in other.classes.items():
            self.of(label).merge(found)
        self._add_faults(other.faults)

    def _add_faults(self, faults: list[Fault]) -> None:
        """Add faults, those of one chunk together, and keep the first few."""
        known = {(f.location, f.kind, f.column): f for f in self.faults}
        for f in faults:
            key = (f.location, f.kind, f.column)
            count = f.count + (known[key].count if key in known else 0)
            known[key] = Fault(f.location, f.kind, count, f.column)
        self.faults = sorted(known.values())[:_MOST_FAULTS]
