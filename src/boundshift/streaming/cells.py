"""Both classes by cells: what is known, and what to look into next.

A cell is a range of scores. Of most cells only the count and the sum of their scores are known;
of those that decide, the scores themselves. `OpenQuestions` lists what a decision would still have
to know, and `Cells.plan` turns the list into the cells that the next pass looks into.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.binning import Binning
from boundshift.streaming.grid import Grid, Refinement, spaced_doubles
from boundshift.streaming.tally import ClassTally
from boundshift.typing import FloatArray, IntArray

__all__ = ["Cells", "Cuts", "OpenQuestions", "changed_rows"]

Points = tuple[FloatArray, NDArray[Any]]

# Most scores collected, and most cells counted, in one pass, so that a tally fits a message.
_MOST_POINTS = 1 << 21
_MOST_CELLS = 1 << 14


@dataclass(frozen=True, eq=False)
class Cuts:
    """Scores at which cells are to be divided, since the sum of a part of a cell is needed.

    Parameters
    ----------
    at : array of shape (k,)
        The scores.
    margin : float
        How far each of them may still move: scores within this distance are collected.
    width : float
        Width of the widest cell that is divided.
    """

    at: FloatArray
    margin: float
    width: float


@dataclass(eq=False)
class OpenQuestions:
    """What has to be known before the answers are those of the sorted scores.

    Parameters
    ----------
    cells : list of int arrays
        Cells whose scores are needed one by one.
    binnings : list of (class, Binning)
        Nodes at which the scores of a class have to be counted.
    cuts : list of Cuts
        Where cells have to be divided.
    rank_error : float
        Standard error of the estimated scores at the ranks that were asked for.
    width : float
        Width of the cells that a smooth curve takes as points. It asks nothing.
    """

    cells: list[IntArray] = field(default_factory=list)
    binnings: list[tuple[int, Binning]] = field(default_factory=list)
    cuts: list[Cuts] = field(default_factory=list)
    rank_error: float = 0.0
    width: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.cells or self.binnings or self.cuts)


@dataclass(frozen=True, eq=False)
class Cells:
    """Both classes' scores by cells.

    Parameters
    ----------
    tops : array of shape (k,)
        A cell holds the scores above the top of the cell before it, up to its own top.
    bases : array of shape (k,)
        The score from which the sums of a cell are counted.
    counts, sums : arrays of shape (2, k)
        Number of each class's scores, or sum of their weights; and sum of their offsets from the
        base.
    rows : array of shape (2, k)
        Number of each class's rows, which are the counts where no row has a weight.
    lows, highs : arrays of shape (2, k)
        Smallest and largest score of each class; infinite where not known.
    collected : bool array of shape (k,)
        Whether the scores of the cell are among the points.
    points : pair of (values, counts)
        Distinct scores of each class that are known one by one, and how often each occurs.
    low, high : float
        Smallest and largest of all scores.
    """

    tops: FloatArray
    bases: FloatArray
    counts: NDArray[Any]
    sums: FloatArray
    rows: IntArray
    lows: FloatArray
    highs: FloatArray
    collected: NDArray[np.bool_]
    points: tuple[Points, Points]
    low: float
    high: float

    @classmethod
    def from_first_pass(cls, classes: list[ClassTally], grid: Grid | None, pivot: float) -> Cells:
        """Return the cells of the first pass's grid, or one for all scores if it had none."""
        low, high = min(c.low for c in classes), max(c.high for c in classes)
        if grid is None:
            tops, bases = np.array([np.inf]), np.array([pivot])
            counts = np.array([[c.n] for c in classes])
            rows = np.array([[c.n if c.rows is None else c.rows] for c in classes])
            sums = np.array([[c.total[0]] for c in classes])
        else:
            tops = grid.tops()
            bases = grid.origin + grid.width * np.arange(grid.size)
            # A class of exact zeros and ones alone has nothing in the grid.
            counts = np.stack([np.broadcast_to(c.counts, grid.size) for c in classes])
            sums = np.stack([np.broadcast_to(c.sums, grid.size) for c in classes])
            sums = sums - counts * (bases - grid.origin)
            rows = np.stack([np.broadcast_to(c.cell_rows, grid.size) for c in classes])
        unknown = np.full(counts.shape, np.inf)
        empty = np.empty(0), np.empty(0, np.int64)
        no = np.zeros(len(tops), dtype=np.bool_)
        points = empty, empty
        return cls(tops, bases, counts, sums, rows, unknown, -unknown, no, points, low, high)

    def with_saturated(self, classes: list[ClassTally], ends: tuple[float, float]) -> Cells:
        """Return the cells with one for exact zeros, below all others, and one for exact ones."""
        found = self
        for side, end in enumerate(ends):
            counts = np.array([c.saturated[side] for c in classes])
            if counts.any():
                found = found._with_end(end, counts, is_high=side == 1)
        return found

    def _with_end(self, end: float, counts: IntArray, is_high: bool) -> Cells:
        """Return the cells with one more, for rows that all stand beyond the others."""
        cell = int(np.searchsorted(self.tops, end, side="left"))
        # The other rows of the cell in which the new one stands lie on one side of it.
        place = cell + is_high
        top = np.nextafter(end, -np.inf) if is_high else end

        def put(old: NDArray[Any], new: Any) -> NDArray[Any]:
            return np.asarray(np.insert(old, place, new, axis=-1))

        return replace(
            self,
            tops=np.insert(self.tops, cell, top),
            bases=put(self.bases, end),
            counts=put(self.counts, counts),
            sums=put(self.sums, 0.0),
            rows=put(self.rows, counts > 0),
            lows=put(self.lows, np.where(counts > 0, end, np.inf)),
            highs=put(self.highs, np.where(counts > 0, end, -np.inf)),
            collected=put(self.collected, False),
            low=min(self.low, end),
            high=max(self.high, end),
        )

    @cached_property
    def edges(self) -> tuple[FloatArray, FloatArray]:
        """Low ends and tops of all cells, no farther out than the scores."""
        below = np.nextafter(self.low, -np.inf)
        lows = np.clip(np.append(below, self.tops[:-1]), below, self.high)
        return lows, np.clip(self.tops, below, self.high)

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Whether a class has scores in a cell that are not known one by one, shape (2, k)."""
        return np.asarray((self.counts > 0) & ~self.collected & (self.lows != self.highs))

    def plan(
        self, questions: OpenQuestions, share: float = 1.0
    ) -> tuple[IntArray, Refinement] | None:
        """Return the cells to look into, and the parts to count; None if there are none.

        Of the scores that a pass may collect, no more than a share is asked for.
        """
        wanted = np.unique(np.concatenate([np.empty(0, np.int64), *questions.cells]))
        wanted = wanted[self.unknown[:, wanted].any(axis=0)]
        most = int(share * _MOST_POINTS)
        whole = self._refine_whole(wanted, most)
        cut, parts = self._divide_at(questions.cuts, wanted, most)
        tops = np.concatenate([whole.tops, parts.tops])
        if not len(tops):
            return None
        order = np.argsort(tops, kind="stable")
        lows = np.concatenate([whole.lows, parts.lows])[order]
        collected = np.concatenate([whole.collected, parts.collected])[order]
        wanted = np.union1d(wanted, cut)
        rows = int(self.rows[:, wanted].sum())
        return wanted, Refinement(lows, tops[order], lows, collected, rows)

    def _refine_whole(self, wanted: IntArray, most: int) -> Refinement:
        """Return how to look into whole cells: collect the small ones, cut the large ones finer."""
        rows = self.rows[:, wanted].sum(axis=0)
        order = np.argsort(rows, kind="stable")
        small = np.zeros(len(wanted), dtype=np.bool_)
        small[order] = np.cumsum(rows[order]) <= most
        pieces = max(_MOST_CELLS // max(int(np.count_nonzero(~small)), 1), 2)
        lows, tops = self.edges
        part_tops = [
            np.array([tops[i]]) if is_small else _cut_finer(lows[i], tops[i], pieces)
            for i, is_small in zip(wanted, small, strict=True)
        ]
        sizes = np.array([len(part) for part in part_tops], dtype=np.int64)
        new_tops = np.concatenate([np.empty(0), *part_tops])
        parts = _parts_up_to(new_tops, lows[wanted], sizes)
        return replace(parts, collected=np.repeat(small, sizes))

    def _divide_at(
        self, cuts: list[Cuts], wanted: IntArray, most: int
    ) -> tuple[IntArray, Refinement]:
        """Return the cells that cuts divide, other than the wanted ones, and their parts.

        The parts that a cut may still pass are collected.
        """
        starts, ends = _margins(cuts)
        divided = self._meet(starts, ends)
        divided[wanted] = False
        cut = np.flatnonzero(divided)
        lows, tops = self.edges
        at = np.concatenate([starts, ends])
        cell = np.searchsorted(self.tops, at, side="left")
        at = at[divided[cell] & (at > lows[cell]) & (at < tops[cell])]
        new_tops = np.unique(np.concatenate([at, tops[cut]]))
        owner = np.searchsorted(tops[cut], new_tops, side="left")
        parts = _parts_up_to(new_tops, lows[cut], np.bincount(owner, minlength=len(cut)))
        margin = np.searchsorted(starts, parts.lows, side="right") - 1
        collected = (margin >= 0) & (parts.tops <= np.append(ends, -np.inf)[margin])
        share = (parts.tops - parts.lows) / (tops - lows)[cut][owner]
        rows = float((share * self.rows.sum(axis=0)[cut][owner])[collected].sum())
        if rows > most:
            # A cut that turns out to move farther than its margin takes one pass more.
            narrower = [replace(c, margin=c.margin * (most / rows) / 2) for c in cuts]
            return self._divide_at(narrower, wanted, most)
        return cut, replace(parts, collected=collected)

    def _meet(self, starts: FloatArray, ends: FloatArray) -> NDArray[np.bool_]:
        """Return whether each cell has unknown scores and meets one of some ranges."""
        size = len(self.tops) + 1
        first = np.searchsorted(self.tops, starts, side="left")
        last = np.searchsorted(self.tops, ends, side="left")
        steps = np.bincount(first, minlength=size) - np.bincount(last + 1, minlength=size)
        return np.asarray((np.cumsum(steps)[:-1] > 0) & self.unknown.any(axis=0))

    def refined(self, wanted: IntArray, parts: Refinement, classes: list[ClassTally]) -> Cells:
        """Return the cells with some replaced by their parts, given what was found in these."""
        self._check_same_rows(wanted, parts, classes)
        keep = np.ones(len(self.tops), dtype=np.bool_)
        keep[wanted] = False
        tops = np.concatenate([self.tops[keep], parts.tops])
        order = np.argsort(tops, kind="stable")
        size = len(parts.tops)

        def put(old: NDArray[Any], new: object) -> NDArray[Any]:
            """Return old and new cells in order."""
            fresh = np.broadcast_to(np.asarray(new), (*old.shape[:-1], size))
            return np.concatenate([old[..., keep], fresh], axis=-1)[..., order]

        def both(name: str) -> NDArray[Any]:
            """Return what was found about both classes."""
            return np.stack([np.broadcast_to(getattr(c, name), size) for c in classes])

        new_points = [c.distinct_points() for c in classes]
        points = [_merge_points(old, new) for old, new in zip(self.points, new_points, strict=True)]
        # The last cell holds all scores above it, too.
        tops = tops[order]
        tops[-1] = np.inf
        return Cells(
            tops,
            put(self.bases, parts.bases),
            put(self.counts, both("counts")),
            put(self.sums, both("sums")),
            put(self.rows, both("cell_rows")),
            put(self.lows, both("lows")),
            put(self.highs, both("highs")),
            put(self.collected, parts.collected),
            (points[0], points[1]),
            self.low,
            self.high,
        )

    def _check_same_rows(
        self, wanted: IntArray, parts: Refinement, classes: list[ClassTally]
    ) -> None:
        """Raise if the parts of a cell do not hold as many rows as the cell did before."""
        owner = np.searchsorted(self.tops[wanted], parts.tops, side="left")
        for before, found in zip(self.rows[:, wanted], classes, strict=True):
            counts = np.broadcast_to(found.cell_rows, len(owner))
            now = np.bincount(owner, counts, len(wanted)).astype(np.int64)
            differ = np.flatnonzero(before != now)
            if len(differ):
                raise changed_rows(int(before[differ[0]]), int(now[differ[0]]))


def changed_rows(before: float, now: float) -> InvalidInputError:
    """Return the error for rows that are not the same in every pass."""
    return InvalidInputError(
        f"Chunks must be the same in every pass, got {before:.15g} rows in a range of scores in "
        f"one pass and {now:.15g} in the next. Pass a list, or a function that makes the same "
        "chunks again."
    )


def _parts_up_to(tops: FloatArray, lows: FloatArray, sizes: IntArray) -> Refinement:
    """Return the parts of cells by their tops, given each cell's low end and number of parts."""
    new_lows = np.append(-np.inf, tops[:-1])[: len(tops)]
    new_lows[np.cumsum(sizes) - sizes] = lows
    return Refinement(new_lows, tops, new_lows, np.zeros(len(tops), dtype=np.bool_))


def _margins(cuts: list[Cuts]) -> tuple[FloatArray, FloatArray]:
    """Return both ends of the margins around all cuts, in order; margins that meet are one."""
    starts = np.concatenate([np.empty(0), *[c.at - c.margin for c in cuts]])
    ends = np.concatenate([np.empty(0), *[c.at + c.margin for c in cuts]])
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], np.maximum.accumulate(ends[order])
    is_new = np.append(True, starts[1:] > ends[:-1])[: len(starts)]
    is_last = np.append(is_new[1:], True)[: len(starts)]
    return starts[is_new], ends[is_last]


def _cut_finer(low: float, top: float, pieces: int) -> FloatArray:
    """Return the tops of a cell's parts, half of them of equal width and half of equal doubles.

    Where one score is far larger than the rest, parts of equal width leave all others in one.
    """
    half = max(pieces // 2, 2)
    tops = np.concatenate([np.linspace(low, top, half + 1), spaced_doubles(low, top, half + 1)])
    tops = np.unique(tops)
    return np.append(tops[(tops > low) & (tops < top)], top)


def _merge_points(one: Points, other: Points) -> Points:
    """Return the distinct scores of two lots, which share none, in order."""
    if not len(one[0]) or not len(other[0]):
        return one if len(one[0]) else other
    values = np.concatenate([one[0], other[0]])
    order = np.argsort(values, kind="stable")
    return values[order], np.concatenate([one[1], other[1]])[order]
