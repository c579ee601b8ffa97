"""Both classes by cells: what is known, and what to look into next.

A cell is a range of scores, known by its count and its sum; in those that decide, the scores
themselves are known. `Needs` lists what a decision lacked, and `Cells.plan` turns it into the look
of the next pass.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.scores.sample import Binning
from boundshift.streaming.grid import Grid, Refinement, spaced_doubles
from boundshift.streaming.tally import ClassTally

__all__ = ["Cells", "Cuts", "Needs", "changed_rows"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Points = tuple[FloatArray, IntArray]

# Scores collected, and cells counted, in one pass: what a message may hold.
_MOST_POINTS = 1 << 21
_MOST_CELLS = 1 << 14


@dataclass(frozen=True, eq=False)
class Cuts:
    """Scores at which cells are to be divided, since sums over a part of a cell are needed.

    Parameters
    ----------
    at : array of shape (k,)
        The scores.
    doubt : float
        How far off each of them may be: all that lie nearer are collected.
    width : float
        Width of the widest cell that one of them divides.
    """

    at: FloatArray
    doubt: float
    width: float


@dataclass(eq=False)
class Needs:
    """What has to be looked at before the answers are those of the sorted scores.

    Parameters
    ----------
    cells : list of int arrays
        Cells whose scores matter.
    binnings : list of (class, Binning)
        Nodes to count at.
    cuts : list of Cuts
        Where to divide cells.
    doubt : float
        Standard error of the scores at ranks that were asked for.
    """

    cells: list[IntArray] = field(default_factory=list)
    binnings: list[tuple[int, Binning]] = field(default_factory=list)
    cuts: list[Cuts] = field(default_factory=list)
    doubt: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.cells or self.binnings or self.cuts)


@dataclass(frozen=True, eq=False)
class Cells:
    """Both classes' scores by cells.

    Parameters
    ----------
    tops : array of shape (k,)
        A cell holds the scores above the top of the cell before it, up to its own.
    bases : array of shape (k,)
        Where its sums are counted from.
    counts, sums : arrays of shape (2, k)
        Scores of each class, and the sums of their offsets from the base.
    lows, highs : arrays of shape (2, k)
        Extremes; infinite where not known.
    gathered : bool array of shape (k,)
        Whether the scores of the cell are among the points.
    points : pair of (values, counts)
        Distinct scores of each class that are known one by one.
    low, high : float
        Extremes of all scores.
    """

    tops: FloatArray
    bases: FloatArray
    counts: IntArray
    sums: FloatArray
    lows: FloatArray
    highs: FloatArray
    gathered: NDArray[np.bool_]
    points: tuple[Points, Points]
    low: float
    high: float

    @classmethod
    def start(cls, classes: list[ClassTally], grid: Grid | None, pivot: float) -> Cells:
        """Return what the first pass has found: the cells of its grid, or all scores in one."""
        low, high = min(c.low for c in classes), max(c.high for c in classes)
        if grid is None:
            tops, bases = np.array([np.inf]), np.array([pivot])
            counts = np.array([[c.n] for c in classes])
            sums = np.array([[c.total[0]] for c in classes])
        else:
            tops = grid.tops()
            bases = grid.origin + grid.width * np.arange(grid.size)
            counts = np.stack([c.counts for c in classes])
            sums = np.stack([c.sums for c in classes]) - counts * (bases - grid.origin)
        unknown = np.full(counts.shape, np.inf)
        empty = np.empty(0), np.empty(0, np.int64)
        no = np.zeros(len(tops), dtype=np.bool_)
        return cls(tops, bases, counts, sums, unknown, -unknown, no, (empty, empty), low, high)

    @cached_property
    def edges(self) -> tuple[FloatArray, FloatArray]:
        """Both ends of each cell, as far as there are scores."""
        below = np.nextafter(self.low, -np.inf)
        lows = np.clip(np.append(below, self.tops[:-1]), below, self.high)
        return lows, np.clip(self.tops, below, self.high)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Whether a class has scores in a cell that are not known, shape (2, k)."""
        return np.asarray((self.counts > 0) & ~self.gathered & (self.lows != self.highs))

    def plan(self, needs: Needs) -> tuple[IntArray, Refinement] | None:
        """Return the cells to look into and how; None if there are none."""
        found = [np.empty(0, np.int64), *needs.cells]
        wanted = np.unique(np.concatenate(found))
        wanted = wanted[self.unknown[:, wanted].any(axis=0)]
        whole = self._whole(wanted)
        cut, parts = self._divided(needs.cuts, wanted)
        tops = np.concatenate([whole.tops, parts.tops])
        if not len(tops):
            return None
        order = np.argsort(tops, kind="stable")
        lows = np.concatenate([whole.lows, parts.lows])[order]
        gathered = np.concatenate([whole.gathered, parts.gathered])[order]
        wanted = np.union1d(wanted, cut)
        rows = int(self.counts[:, wanted].sum())
        return wanted, Refinement(lows, tops[order], lows, gathered, rows)

    def _whole(self, wanted: IntArray) -> Refinement:
        """Return how to look into whole cells: small ones one by one, large ones by parts."""
        rows = self.counts[:, wanted].sum(axis=0)
        order = np.argsort(rows, kind="stable")
        small = np.zeros(len(wanted), dtype=np.bool_)
        small[order] = np.cumsum(rows[order]) <= _MOST_POINTS
        pieces = max(_MOST_CELLS // max(int(np.count_nonzero(~small)), 1), 2)
        lows, tops = self.edges
        parts = [
            np.array([tops[i]]) if is_small else _cut(lows[i], tops[i], pieces)
            for i, is_small in zip(wanted, small, strict=True)
        ]
        sizes = np.array([len(p) for p in parts], dtype=np.int64)
        new_tops = np.concatenate([np.empty(0), *parts])
        return replace(_parts(lows[wanted], new_tops, sizes), gathered=np.repeat(small, sizes))

    def _divided(self, cuts: list[Cuts], wanted: IntArray) -> tuple[IntArray, Refinement]:
        """Return the cells that are divided, and their parts: those in doubt are collected."""
        starts, ends = _windows(cuts)
        touched = self._touched(starts, ends)
        touched[wanted] = False
        cut = np.flatnonzero(touched)
        lows, tops = self.edges
        at = np.concatenate([starts, ends])
        cell = np.searchsorted(self.tops, at, side="left")
        at = at[touched[cell] & (at > lows[cell]) & (at < tops[cell])]
        new_tops = np.unique(np.concatenate([at, tops[cut]]))
        owner = np.searchsorted(tops[cut], new_tops, side="left")
        parts = _parts(lows[cut], new_tops, np.bincount(owner, minlength=len(cut)))
        window = np.searchsorted(starts, parts.lows, side="right") - 1
        in_doubt = (window >= 0) & (parts.tops <= np.append(ends, -np.inf)[window])
        share = (parts.tops - parts.lows) / (tops - lows)[cut][owner]
        rows = float((share * self.counts.sum(axis=0)[cut][owner])[in_doubt].sum())
        if rows > _MOST_POINTS:
            # A cut that turns out to be farther off takes one pass more.
            less = [replace(c, doubt=c.doubt * (_MOST_POINTS / rows) / 2) for c in cuts]
            return self._divided(less, wanted)
        return cut, replace(parts, gathered=in_doubt)

    def _touched(self, starts: FloatArray, ends: FloatArray) -> NDArray[np.bool_]:
        """Return which cells of unknown scores some ranges meet."""
        size = len(self.tops) + 1
        first = np.searchsorted(self.tops, starts, side="left")
        last = np.searchsorted(self.tops, ends, side="left")
        steps = np.bincount(first, minlength=size) - np.bincount(last + 1, minlength=size)
        return np.asarray((np.cumsum(steps)[:-1] > 0) & self.unknown.any(axis=0))

    def refined(self, wanted: IntArray, how: Refinement, classes: list[ClassTally]) -> Cells:
        """Return the cells after a look into some of them."""
        self._check_same_rows(wanted, how, classes)
        keep = np.ones(len(self.tops), dtype=np.bool_)
        keep[wanted] = False
        tops = np.concatenate([self.tops[keep], how.tops])
        order = np.argsort(tops, kind="stable")
        size = len(how.tops)

        def put(old: NDArray[Any], new: object) -> NDArray[Any]:
            """Return old and new cells in order."""
            fresh = np.broadcast_to(np.asarray(new), (*old.shape[:-1], size))
            return np.concatenate([old[..., keep], fresh], axis=-1)[..., order]

        def both(name: str) -> NDArray[Any]:
            """Return what was found about both classes."""
            return np.stack([np.broadcast_to(getattr(c, name), size) for c in classes])

        new_points = [c.collected() for c in classes]
        points = [_merge(old, new) for old, new in zip(self.points, new_points, strict=True)]
        # The last top stands for all above it.
        tops = tops[order]
        tops[-1] = np.inf
        return Cells(
            tops,
            put(self.bases, how.bases),
            put(self.counts, both("counts")),
            put(self.sums, both("sums")),
            put(self.lows, both("lows")),
            put(self.highs, both("highs")),
            put(self.gathered, how.gathered),
            (points[0], points[1]),
            self.low,
            self.high,
        )

    def _check_same_rows(
        self, wanted: IntArray, how: Refinement, classes: list[ClassTally]
    ) -> None:
        """Raise if a cell does not hold the rows that it held before."""
        owner = np.searchsorted(self.tops[wanted], how.tops, side="left")
        for before, found in zip(self.counts[:, wanted], classes, strict=True):
            counts = np.broadcast_to(found.counts, len(owner))
            now = np.bincount(owner, counts, len(wanted)).astype(np.int64)
            differ = np.flatnonzero(before != now)
            if len(differ):
                raise changed_rows(int(before[differ[0]]), int(now[differ[0]]))


def changed_rows(before: int, now: int) -> InvalidInputError:
    """Return the error for rows that are not the same in every pass."""
    return InvalidInputError(
        f"Chunks must be the same in every pass, got {before} rows in a range of scores in one "
        f"pass and {now} in the next. Pass a list, or a function that makes the same chunks again."
    )


def _parts(lows: FloatArray, tops: FloatArray, sizes: IntArray) -> Refinement:
    """Return the parts of cells, none collected, by their tops, given each cell's low end."""
    new_lows = np.append(-np.inf, tops[:-1])[: len(tops)]
    new_lows[np.cumsum(sizes) - sizes] = lows
    return Refinement(new_lows, tops, new_lows, np.zeros(len(tops), dtype=np.bool_))


def _windows(cuts: list[Cuts]) -> tuple[FloatArray, FloatArray]:
    """Return the ranges of doubt around all cuts, in order, those that meet as one."""
    starts = np.concatenate([np.empty(0), *[c.at - c.doubt for c in cuts]])
    ends = np.concatenate([np.empty(0), *[c.at + c.doubt for c in cuts]])
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    is_new = np.append(True, starts[1:] > ends[:-1])[: len(starts)]
    is_last = np.append(is_new[1:], True)[: len(starts)]
    return starts[is_new], ends[is_last]


def _cut(low: float, top: float, pieces: int) -> FloatArray:
    """Return the tops of parts, half of them of equal width and half by the order of doubles.

    Where one score is far larger than the rest, all others are in one part of equal width.
    """
    half = max(pieces // 2, 2)
    tops = np.concatenate([np.linspace(low, top, half + 1), spaced_doubles(low, top, half + 1)])
    tops = np.unique(tops)
    return np.append(tops[(tops > low) & (tops < top)], top)


def _merge(one: Points, other: Points) -> Points:
    """Return distinct scores of two lots that share none, in order."""
    values = np.concatenate([one[0], other[0]])
    order = np.argsort(values, kind="stable")
    return values[order], np.concatenate([one[1], other[1]])[order]
