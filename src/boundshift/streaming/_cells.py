"""Cells of scores: the grid of the first pass, what is known of both classes, what to look into.

The first pass counts the rows of each class in the cells of a `Grid`. A smooth curve takes each
cell as one weighted point. A curve that counts rows asks for the scores of the cells that decide:
`CellScores` notes which cells an answer came from, `Cells.plan` turns these into the `Look` of the
next pass, and `Cells.refined` puts what it found in their place.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._scores import LARGEST_SCORE, LogOdds, Scores
from boundshift._typing import FloatArray, IntArray
from boundshift.exceptions import InvalidInputError

# Cells of the tails: this many while the distance from the core doubles, for so many doublings.
_PER_OCTAVE, _OCTAVES = 64, 44
# Most scores collected, and most cells counted, in one look, so that a tally fits a message.
_MOST_POINTS = 1 << 21
_MOST_PARTS = 1 << 14
# A cell with this share of its class, or of both, may hide an atom.
_HEAVY = 1e-3
# Share of the rows whose cells are no wider than the resolution.
_TYPICAL = 0.99


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells that hold every score: equal ones where most scores lie, growing ones in the tails.

    The equal cells have a power of two as width. So the cell of a score takes a product and a
    rounding, both exact, and the same score is in the same cell in every pass. The first and the
    last cell hold infinite log-odds only.
    """

    tops: FloatArray  # largest score of each cell; the last is infinite
    scale: float = 1.0  # one over the width of the equal cells
    first: float = 0.0  # top of the first equal cell, in widths
    start: int = 0  # index of the first equal cell
    inner: int = 0  # number of equal cells

    @classmethod
    def around(cls, scores: FloatArray, cells: int) -> Grid:
        """Return a grid with at most this number of equal cells, given some of the scores."""
        low, high = np.quantile(scores, [0.01, 0.99]) if len(scores) else (0.0, 1.0)
        margin = (high - low) / 3
        low, high = float(low - margin), float(high + margin)
        # Neighbouring doubles cannot be told apart by narrower cells.
        width = max((high - low) / cells, float(np.spacing(max(abs(low), abs(high)))), 1e-290)
        scale = float(np.exp2(-np.ceil(np.log2(width))))
        first, last = np.ceil(low * scale), np.ceil(high * scale) + 1
        core = np.arange(first, last + 1) / scale
        growth = (core[-1] - core[0] + 1 / scale) * np.expm1(
            np.log(2) * np.arange(_OCTAVES * _PER_OCTAVE, -1, -1) / _PER_OCTAVE
        )
        tops = np.concatenate([core[0] - 1 / scale - growth, core, core[-1] + growth])
        beyond = 10 * LARGEST_SCORE
        tops = np.unique(np.append(tops[np.abs(tops) < beyond], [-beyond, beyond, np.inf]))
        return cls(tops, scale, float(first), int(np.searchsorted(tops, core[0])), len(core))

    def cells_of(self, scores: FloatArray) -> IntArray:
        """Return the cell of each score; none may be NaN."""
        with np.errstate(over="ignore", invalid="ignore"):
            place = scores * self.scale
            np.ceil(place, out=place)
            place -= self.first
            cell = place.astype(np.intp)  # of a number too large, an extreme one
        # A negative number is a large one without its sign.
        tail = np.flatnonzero(cell.view(np.uintp) >= self.inner)
        cell += self.start
        cell[tail] = np.searchsorted(self.tops, scores[tail], side="left")
        return cell


@dataclass(frozen=True, eq=False)
class Look:
    """Ranges of scores to look into: rows are counted in all, and collected in some.

    Ranges are in ascending order and share no score.
    """

    lows: FloatArray
    tops: FloatArray
    collected: NDArray[np.bool_]  # whether the scores of the range are collected
    flags: NDArray[np.bool_]  # whether each cell of the grid holds one of the ranges


@dataclass(eq=False)
class Questions:
    """The cells whose scores a decision needs one by one."""

    cells: list[IntArray] = field(default_factory=list)
    width: float = 0.0  # of the cells that a smooth curve took as points; it needs no scores


@dataclass(frozen=True, eq=False)
class Cells:
    """Both classes' rows by ranges of scores, in ascending order; a known score is a range of one.

    For each class, `totals` has the number of rows, their weight, and their sum of weighted scores.
    """

    lows: FloatArray
    tops: FloatArray
    totals: FloatArray  # of shape (2, 3, number of ranges)

    @classmethod
    def from_grid(cls, grid: Grid, classes: list[Any], log_odds: LogOdds | None) -> Cells:
        """Return the cells of the first pass that hold rows, no wider than the scores.

        Exact zeros and ones of probabilities stand beyond all other log-odds.
        """
        totals = np.stack([c.totals for c in classes])
        least, most = min(c.lows for c in classes), max(c.highs for c in classes)
        lows = np.clip(np.nextafter(np.append(-np.inf, grid.tops[:-1]), np.inf), least, most)
        tops = np.clip(grid.tops, least, most)
        if log_odds is not None:
            for cell, value in ((0, log_odds.low), (-1, log_odds.high)):
                weight = totals[:, 1, cell]
                totals[:, 2, cell] = np.where(weight > 0, value, 0.0) * weight
                lows[cell] = tops[cell] = value
        held = totals[:, 0].any(axis=0)
        return cls(lows[held], tops[held], totals[:, :, held])

    def plan(self, questions: Questions, grid: Grid) -> tuple[IntArray, Look]:
        """Return the cells to look into, and how: collect the small ones, cut the large ones."""
        wanted = np.unique(np.concatenate(questions.cells))
        rows = self.totals[:, 0, wanted].sum(axis=0)
        order = np.argsort(rows, kind="stable")
        small = np.zeros(len(wanted), dtype=np.bool_)
        small[order] = np.cumsum(rows[order]) <= _MOST_POINTS
        pieces = max(_MOST_PARTS // max(int(np.count_nonzero(~small)), 1), 2)
        tops = [
            np.array([self.tops[i]]) if is_small else _cut(self.lows[i], self.tops[i], pieces)
            for i, is_small in zip(wanted, small, strict=True)
        ]
        sizes = np.array([len(part) for part in tops])
        joined = np.concatenate(tops)
        lows = np.nextafter(np.append(-np.inf, joined[:-1]), np.inf)
        lows[np.cumsum(sizes) - sizes] = self.lows[wanted]
        flags = np.zeros(len(grid.tops), dtype=np.bool_)
        first, last = grid.cells_of(self.lows[wanted]), grid.cells_of(self.tops[wanted])
        for i, j in zip(first, last, strict=True):
            flags[i : j + 1] = True
        return wanted, Look(lows, joined, np.repeat(small, sizes), flags)

    def refined(self, wanted: IntArray, look: Look, classes: list[Any]) -> Cells:
        """Return the cells with the wanted ones replaced by what a look found in them."""
        shape = 3, len(look.tops)
        totals = np.stack([np.broadcast_to(c.totals, shape) for c in classes])
        owner = np.searchsorted(self.tops[wanted], look.tops, side="left")
        for before, found in zip(self.totals[:, 0, wanted], totals[:, 0], strict=True):
            now = np.bincount(owner, found, len(wanted))
            if (before != now).any():
                i = int(np.argmax(before != now))
                raise InvalidInputError(
                    f"Chunks must be the same in every pass, got {before[i]:.15g} rows in a range "
                    f"of scores in one pass and {now[i]:.15g} in the next. Pass a list, or a "
                    "function that makes the same chunks again."
                )
        kept = np.ones(len(self.tops), dtype=np.bool_)
        kept[wanted] = False
        # What is not collected is known to be no wider than its least and largest score.
        parts = ~look.collected & totals[:, 0].any(axis=0)
        lows = np.min([np.broadcast_to(c.lows, len(look.tops)) for c in classes], axis=0)
        highs = np.max([np.broadcast_to(c.highs, len(look.tops)) for c in classes], axis=0)
        points = [distinct_points(c.points) for c in classes]
        values = np.unique(np.concatenate([value for value, _, _ in points]))
        known = np.zeros((2, 3, len(values)))
        for own, (value, weight, row) in zip(known, points, strict=True):
            own[:, np.searchsorted(values, value)] = row, weight, weight * value
        lows = np.concatenate([self.lows[kept], lows[parts], values])
        tops = np.concatenate([self.tops[kept], highs[parts], values])
        totals = np.concatenate([self.totals[:, :, kept], totals[:, :, parts], known], axis=2)
        order = np.argsort(tops, kind="stable")
        return Cells(lows[order], tops[order], totals[:, :, order])


def distinct_points(points: list[FloatArray]) -> FloatArray:
    """Return distinct scores in order, with the sums of weights and rows at each."""
    joined = np.concatenate([np.empty((3, 0)), *points], axis=1)
    values, place = np.unique(joined[0], return_inverse=True)
    return np.stack([values, *(np.bincount(place, part, len(values)) for part in joined[1:])])


def _cut(low: float, top: float, pieces: int) -> FloatArray:
    """Return the tops of a cell's parts: half of them equal, half of them shrinking towards 0.

    Where one score is far larger than the rest, parts of equal width leave all others in one.
    """
    half = max(pieces // 2, 2)
    shrinking = max(abs(low), abs(top)) * np.exp2(-np.arange(half) * (1000 / half))
    tops = np.concatenate([np.linspace(low, top, half + 1), -shrinking, shrinking])
    return np.append(np.unique(tops[(tops >= low) & (tops < top)]), top)


@dataclass(eq=False)
class CellScores(Scores):
    """The scores of one class by cells: an answer from inside a cell is an estimate, and asks.

    If nothing was asked, the answers were those of the sorted scores. The `value` of an entry is
    the mean of its cell.
    """

    count: NDArray[Any] = field()
    ends: tuple[FloatArray, FloatArray] = field()
    cell: IntArray  # index in `Cells`
    heavy: NDArray[np.bool_]
    questions: Questions

    @classmethod
    def of_class(
        cls,
        cells: Cells,
        which: int,
        extremes: tuple[float, float],
        questions: Questions,
        is_weighted: bool,
    ) -> CellScores:
        """Return what is known of one class, whose least and largest score are given."""
        rows, weight, sums = cells.totals[which]
        held = np.flatnonzero(rows)
        both = cells.totals[:, 1].sum(axis=0)
        count = weight[held] if is_weighted else weight[held].astype(np.int64)
        low, top = np.clip(cells.lows[held], *extremes), np.clip(cells.tops[held], *extremes)
        value = np.clip(sums[held] / count, low, top)
        heavy = count >= max(2.0, _HEAVY * count.sum())
        heavy |= both[held] >= max(2.0, _HEAVY * both.sum())
        return cls(value, count, (low, top), held, heavy & (low < top), questions)

    @property
    def positions(self) -> FloatArray:
        """Known scores, and the largest that the cells of unknown ones may hold."""
        return self.ends[1]

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1, in a cell as if they were evenly spread."""
        place = np.asarray(rank) + self._rounding
        place = place if self.is_weighted else np.floor(place) + 0.5
        entry = np.searchsorted(self._before, place, side="right") - 1
        entry = np.minimum(entry, len(self.value) - 1)
        low, top = self.ends[0][entry], self.ends[1][entry]
        share = np.clip((place - self._before[entry]) / self.count[entry], 0.0, 1.0)
        found = np.where(low < top, low * (1 - share) + top * share, top)
        if self.is_weighted:
            self._ask(entry)
            return found
        is_first, is_last = place < 1, place > self.n - 1
        self._ask(entry[~is_first & ~is_last])
        return np.where(is_first, self.minimum, np.where(is_last, self.maximum, found))

    def count_at_most(self, t: ArrayLike) -> Any:
        """Return the count of the scores ≤ t, for every t."""
        return self._count_to(t, "right")

    def count_below(self, t: ArrayLike) -> Any:
        """Return the count of the scores < t, for every t."""
        return self._count_to(t, "left")

    def _count_to(self, t: ArrayLike, side: Any) -> Any:
        t = np.asarray(t, dtype=np.float64)
        low, top = self.ends
        entry = np.searchsorted(top, t, side=side)
        count = self._before[entry]
        holder = np.minimum(entry, len(top) - 1)
        is_above = t >= low[holder] if side == "right" else t > low[holder]
        inside = (entry < len(top)) & is_above & (low[holder] < top[holder])
        if not np.any(inside):
            return count
        asked = holder[inside]
        # The decision may move to a neighbour once the cell is known.
        self._ask(np.clip(np.concatenate([asked - 1, asked, asked + 1]), 0, len(top) - 1))
        width = np.where(inside, top[holder] - low[holder], 1.0)
        share = np.where(inside, t - low[holder], 0.0) / width
        part = (share.clip(0, 1) * self.count[holder]).astype(count.dtype)
        return np.where(inside, count + part, count)

    def between(self, low: float, high: float) -> FloatArray:
        """Return the least and the largest score strictly between two, or an empty array."""
        first, last = int(self.count_at_most(low)), int(self.count_below(high)) - 1
        return self.at(np.array([first, last] if first <= last else [], dtype=np.int64))

    def request_exact(self, positions: FloatArray) -> None:
        """Ask for the scores around some positions, since they decide."""
        entry = np.searchsorted(self.ends[1], positions, side="left")
        self._ask(entry[entry < len(self.value)])

    def points(self) -> tuple[FloatArray, NDArray[Any]]:
        """Return the known scores and their counts, and ask for cells that may hide an atom.

        Cells of one value become known, others are divided until none of their parts is heavy.
        """
        self._ask(np.flatnonzero(self.heavy))
        known = self.ends[0] == self.ends[1]
        return self.value[known], self.count[known]

    def as_points(self) -> Scores:
        """Return each cell as its mean, counted as often as it has rows."""
        width = self.ends[1] - self.ends[0]
        order = np.argsort(width)
        rows = np.cumsum(self.count[order])
        typical = float(width[order][np.searchsorted(rows, _TYPICAL * rows[-1])])
        self.questions.width = max(self.questions.width, typical)
        return Scores(np.maximum.accumulate(self.value), self.count)

    def mirrored(self) -> Scores:
        """Return the scores with their sign changed."""
        low, top = self.ends
        backward = {name: getattr(self, name)[::-1] for name in ("count", "cell", "heavy")}
        return replace(self, value=-self.value[::-1], ends=(-top[::-1], -low[::-1]), **backward)

    def _ask(self, entry: IntArray) -> None:
        """Ask for the scores of the cells of some entries, where they are not known."""
        entry = np.unique(entry)
        entry = entry[self.ends[0][entry] < self.ends[1][entry]]
        if len(entry):
            self.questions.cells.append(self.cell[entry])
