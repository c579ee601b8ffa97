r"""A summary of labelled scores that fits a message: what one look at the rows brings back.

A `Look` says what to find out, a `Tally` holds what was found in some rows, and tallies of
different rows merge in any order. Counts and extremes merge exactly, sums in two doubles. The
first look counts scores in equal cells, further ones count or collect those of the few cells
that decide.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.scores.sample import Binning
from boundshift.streaming.chunk import Chunk, Fault, distinct_labels

__all__ = ["ClassTally", "Grid", "Look", "Refinement", "Tally", "add_exactly", "spaced_doubles"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Rows read at a time: what stays near a core.
_ROWS = 1 << 18
_MOST_FAULTS = 8
_TABLE = 1 << 16


class _Room(threading.local):
    """Room for some rows, kept by each thread: fresh memory costs more than the arithmetic."""

    def __init__(self) -> None:
        self._rooms: dict[str, NDArray[Any]] = {}

    def of(self, name: str, n: int, kind: type = np.float64) -> NDArray[Any]:
        """Return room for n values of a kind, the same for each name."""
        room = self._rooms.get(name)
        if room is None or len(room) < n:
            room = self._rooms[name] = np.empty(n, kind)
        return room[:n]


_room = _Room()


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
        place = np.multiply(offset, 1.0 / self.width, out=_room.of("place", len(offset)))
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
    places = _room.of("whole", len(place), np.int64)
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
        place = np.subtract(scores, low, out=_room.of("place", len(scores)))
        place *= scale
        places = _whole_places(place, len(wanted))
        flags = _room.of("flags", len(scores), np.bool_)
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


@dataclass(frozen=True, eq=False)
class Look:
    """What to find out about every row in one pass.

    Parameters
    ----------
    exponent : int, default=0
        Scores are divided by this power of two.
    labels : tuple, default=()
        The classes; none in the first pass, which finds them.
    pivot : float, default=0
        Where sums are counted from.
    grid : Grid, default=None
        Cells to count in.
    refinement : Refinement, default=None
        Cells to look into.
    binnings : tuple of (label, Binning), default=()
        Nodes to count at.
    """

    exponent: int = 0
    labels: tuple[Any, ...] = ()
    pivot: float = 0.0
    grid: Grid | None = None
    refinement: Refinement | None = None
    binnings: tuple[tuple[Any, Binning], ...] = ()

    def with_codes(self) -> Look:
        """Return the look into cells alone, at rows whose labels are 0 and 1 for the two."""
        return replace(self, labels=tuple(range(len(self.labels))), binnings=())

    def read(self, chunks: Iterable[Chunk]) -> Tally:
        """Return what is found in some chunks."""
        tally = Tally()
        for chunk in chunks:
            self._read_chunk(chunk, tally)
        return tally

    def _read_chunk(self, chunk: Chunk, tally: Tally) -> None:
        """Add what is found in a chunk, a few rows at a time."""
        kept = []
        for start in range(0, len(chunk), _ROWS):
            rows = self._scaled(chunk.rows(start, start + _ROWS))
            if self.refinement is not None:
                kept.append(rows.take(self.refinement.select(rows.scores)))
            if not self.labels:
                for label, scores in self._split(rows, tally):
                    found = tally.of(label)
                    found.add_moments(scores, self.pivot)
                    if self.grid is not None:
                        found.add_cells(self.grid, scores)
            for i, (label, binning) in enumerate(self.binnings):
                binned = tally.of(label).binned
                binned[i] = binned.get(i, 0.0) + binning.count(rows.scores[rows.where(label)])
        if self.refinement is not None and kept:
            labels, scores = (
                np.concatenate([getattr(rows, name) for rows in kept])
                for name in ("labels", "scores")
            )
            rows = Chunk(labels, scores, chunk.place, chunk.names)
            for label in self.labels:
                tally.of(label).refine(self.refinement, np.sort(scores[rows.where(label)]))

    def _scaled(self, rows: Chunk) -> Chunk:
        """Return rows with scores in the units of this look."""
        scores = rows.scores.astype(np.float64, copy=False)
        if self.exponent:
            scores = np.ldexp(scores, -self.exponent)
        return replace(rows, scores=scores)

    def _split(self, chunk: Chunk, tally: Tally) -> list[tuple[Any, FloatArray]]:
        """Return the scores of each class; take note of values that cannot be used."""
        seen, missing = distinct_labels(chunk)
        labels = tuple(seen)
        tally.fault(chunk, "missing", missing, "y_true")
        if len({*tally.classes, *labels}) > 2:
            tally.name(labels)
            return []
        scores = chunk.scores
        if len(labels) == 1 and not missing:
            parts = [(labels[0], scores)]
        else:
            parts = [(label, scores[chunk.where(label)]) for label in labels]
        parts = [(label, self._finite(s, chunk, tally)) for label, s in parts]
        return [(label, s) for label, s in parts if len(s)]

    def _finite(self, scores: FloatArray, chunk: Chunk, tally: Tally) -> FloatArray:
        """Return the finite scores; take note of the others."""
        with np.errstate(invalid="ignore", over="ignore"):
            if not len(scores) or np.isfinite(scores.min() - scores.max()):
                return scores
        tally.fault(chunk, "NaN", int(np.isnan(scores).sum()))
        tally.fault(chunk, "infinite", int(np.isinf(scores).sum()))
        return scores[np.isfinite(scores)]


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


@dataclass(eq=False)
class ClassTally:
    """What was found about one class.

    Parameters
    ----------
    n : int
        Rows.
    low, high : float
        Extremes.
    total : pair of float
        Sum of the offsets from the pivot, in two doubles.
    squares : float
        Sum of squared deviations from the mean.
    counts, sums : arrays
        Rows of each cell, and the sum of their offsets from the cell's base.
    lows, highs : arrays
        Extremes of each cell.
    points : list of arrays (values, counts)
        Distinct scores collected, and how often each was met; None if each was met once.
    binned : dict from int to array
        Counts at the nodes of each binning.
    """

    n: int = 0
    low: float = np.inf
    high: float = -np.inf
    total: tuple[float, float] = (0.0, 0.0)
    squares: float = 0.0
    counts: Any = 0
    sums: Any = 0.0
    lows: Any = np.inf
    highs: Any = -np.inf
    points: list[tuple[FloatArray, IntArray | None]] = field(default_factory=list)
    binned: dict[int, Any] = field(default_factory=dict)

    def add_moments(self, scores: FloatArray, pivot: float) -> None:
        """Add rows to count, extremes, sum and squares."""
        # Scores of another size than those peeked at overflow here, and are looked at again.
        with np.errstate(over="ignore", invalid="ignore"):
            self._add_moments(scores, pivot)

    def _add_moments(self, scores: FloatArray, pivot: float) -> None:
        """Add rows to count, extremes, sum and squares."""
        offset = np.subtract(scores, pivot, out=_room.of("offset", len(scores)))
        total = float(offset.sum())
        offset -= total / len(scores)
        # Not a dot product, whose library may start threads of its own in each of ours.
        np.multiply(offset, offset, out=offset)
        self._merge_moments(
            ClassTally(
                n=len(scores),
                low=float(scores.min()),
                high=float(scores.max()),
                total=(total, 0.0),
                squares=float(offset.sum()),
            )
        )

    def add_cells(self, grid: Grid, scores: FloatArray) -> None:
        """Add rows to the cells of a grid."""
        offset = np.subtract(scores, grid.origin, out=_room.of("offset", len(scores)))
        place = grid.place(offset)
        counts, sums = (
            np.bincount(place, minlength=grid.size),
            np.bincount(place, offset, grid.size),
        )
        counts += self.counts
        sums += self.sums
        self.counts, self.sums = counts, sums

    def refine(self, refinement: Refinement, scores: FloatArray) -> None:
        """Add sorted rows to the cells of a refinement."""
        start = np.searchsorted(scores, refinement.lows, side="right")
        end = np.searchsorted(scores, refinement.tops, side="right")
        held = end > start
        lows, highs = np.full(len(start), np.inf), np.full(len(start), -np.inf)
        lows[held], highs[held] = scores[start[held]], scores[end[held] - 1]
        counts = end - start
        cell = np.repeat(np.arange(len(start)), counts)
        scores = scores[
            np.arange(len(cell)) + np.repeat(start - np.cumsum(counts) + counts, counts)
        ]
        self.counts = self.counts + counts
        self.sums = self.sums + np.bincount(cell, scores - refinement.bases[cell], len(start))
        self.lows, self.highs = np.minimum(self.lows, lows), np.maximum(self.highs, highs)
        if np.any(held & refinement.gathered):
            self.points.append(_distinct(scores[refinement.gathered[cell]]))

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
        self.counts, self.sums = self.counts + other.counts, self.sums + other.sums
        self.lows, self.highs = (
            np.minimum(self.lows, other.lows),
            np.maximum(self.highs, other.highs),
        )
        self.points.extend(other.points)
        for i, counts in other.binned.items():
            self.binned[i] = self.binned.get(i, 0.0) + counts

    def collected(self) -> tuple[FloatArray, IntArray]:
        """Return all distinct scores collected, in order, and how often each was met."""
        if not self.points:
            return np.empty(0), np.empty(0, np.int64)
        values = np.concatenate([v for v, _ in self.points])
        counts = np.concatenate([np.ones(len(v)) if c is None else c for v, c in self.points])
        distinct, place = np.unique(values, return_inverse=True)
        return distinct, np.bincount(place, counts, len(distinct)).astype(np.int64)


def _distinct(scores: FloatArray) -> tuple[FloatArray, IntArray | None]:
    """Return distinct scores and how often each is met; no counts where there are no ties."""
    values, counts = np.unique(scores, return_counts=True)
    return values, None if len(values) == len(scores) else counts


@dataclass(eq=False)
class Tally:
    """What was found in some rows, by label; tallies of different rows merge in any order.

    Examples
    --------
    >>> chunks = [Chunk(np.array([0, 1]), np.array([0.5, 2.0]), "first"),
    ...           Chunk(np.array([0, 0]), np.array([0.1, 0.9]), "second")]
    >>> one, other = Look().read(chunks[:1]), Look().read(chunks[1:])
    >>> one.merge(other)
    >>> one.classes[0].n, one.classes[0].low, one.classes[0].high
    (3, 0.1, 0.9)
    """

    classes: dict[Any, ClassTally] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def of(self, label: object) -> ClassTally:
        """Return what was found about a class."""
        if label not in self.classes:
            self.classes[label] = ClassTally()
        return self.classes[label]

    def name(self, labels: tuple[Any, ...]) -> None:
        """Take note of a few labels where there are too many, and of nothing else."""
        for label in labels:
            if len(self.classes) < _MOST_FAULTS:
                self.of(label)

    def fault(self, chunk: Chunk, what: str, count: int, column: str = "y_score") -> None:
        """Take note of values of a chunk that cannot be used."""
        if count:
            self._add_faults([Fault(chunk.place, what, count, column)])

    def merge(self, other: Tally) -> None:
        """Add what was found in other rows."""
        for label, found in other.classes.items():
            self.of(label).merge(found)
        self._add_faults(other.faults)

    def _add_faults(self, faults: list[Fault]) -> None:
        """Add faults, those of one chunk together, and keep the first few."""
        known = {(f.place, f.what, f.column): f for f in self.faults}
        for f in faults:
            key = (f.place, f.what, f.column)
            count = f.count + (known[key].count if key in known else 0)
            known[key] = Fault(f.place, f.what, count, f.column)
        self.faults = sorted(known.values())[:_MOST_FAULTS]
