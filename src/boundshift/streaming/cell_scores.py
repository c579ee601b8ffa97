"""One class of a summary, answering as sorted scores do.

Every question that curves, rules and certificates ask of sorted scores has an answer here. An
answer from inside a cell whose scores are not known is an estimate, and the cell goes on the list
of `boundshift.streaming.cells.Needs`. With an empty list the answers were those of the sorted
scores.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.scores.sample import Binning, OrderedScores, SumTo
from boundshift.streaming.cells import Cells, Cuts, Needs
from boundshift.streaming.tally import ClassTally

__all__ = ["CellScores"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Nodes for whose counts it is enough to look into the cells that they cut.
_FEW_NODES = 1 << 11
# By how many errors of a rank a node may move when the ranks that it rests on are known.
_DOUBT = 1


class CellScores:
    """One class of a summary; it answers as sorted scores do.

    Parameters
    ----------
    cells : Cells
        What is known.
    which : {0, 1}
        The class.
    moments : ClassTally
        Its count, extremes and sums.
    pivot : float
        Where its sum is counted from.
    needs : Needs
        Where to note what is missing.
    binned : dict from Binning to array
        Counts at nodes that are known.
    """

    def __init__(
        self,
        cells: Cells,
        which: int,
        moments: ClassTally,
        pivot: float,
        needs: Needs,
        binned: dict[Binning, FloatArray],
    ) -> None:
        self.n = moments.n
        self.minimum, self.maximum = moments.low, moments.high
        self._moments, self._pivot = moments, pivot
        self._which, self._needs, self._binned = which, needs, binned
        self._lay_out(cells)

    def _lay_out(self, cells: Cells) -> None:
        """Put known scores and cells of unknown ones into one order."""
        which = self._which
        unknown = cells.unknown[which]
        alike = (cells.counts[which] > 0) & ~cells.gathered & ~unknown
        lows, tops = cells.edges
        cell = np.concatenate([np.flatnonzero(unknown), np.flatnonzero(alike)])
        values, counts = cells.points[which]
        value = np.concatenate([tops[unknown], cells.lows[which][alike], values])
        order = np.argsort(value, kind="stable")
        self._value = value[order]
        self._count = np.concatenate([cells.counts[which][cell], counts])[order]
        self._rank = np.concatenate([[0], np.cumsum(self._count)])
        low = np.concatenate([lows[unknown], value[np.count_nonzero(unknown) :]])
        self._edge = low[order]
        self._low = np.clip(self._edge, self.minimum, self.maximum)
        self._high = np.clip(self._value, self.minimum, self.maximum)
        # Sums from the value for known scores, from the base for cells.
        base = np.concatenate([cells.bases[unknown], value[np.count_nonzero(unknown) :]])
        self._base = base[order]
        rest = np.zeros(len(value) - np.count_nonzero(unknown))
        self._sum = np.concatenate([cells.sums[which][unknown], rest])[order]
        name = np.concatenate([np.flatnonzero(unknown), np.full(len(rest), -1)])
        self._cell = name[order]

    @property
    def mean(self) -> float:
        """Mean."""
        return self._pivot + self.mean_from(self._pivot)

    def mean_from(self, reference: float) -> float:
        """Return how far the mean lies above a score, to its own digits."""
        high, low = self._moments.total
        return (self._pivot - reference) + (high / self.n + low / self.n)

    @cached_property
    def median(self) -> float:
        """Middle score, or the mean of the two middle ones."""
        low, high = self.at([(self.n - 1) // 2, self.n // 2])
        return float(low + (high - low) / 2)

    @property
    def std(self) -> float:
        """Standard deviation with n − 1 degrees of freedom; 0 for a single score."""
        if self.n == 1 or self.minimum == self.maximum:
            return 0.0
        return float(np.sqrt(self._moments.squares / (self.n - 1)))

    @property
    def positions(self) -> FloatArray:
        """Known scores and the tops of all other cells."""
        return self._value

    @property
    def bottoms(self) -> FloatArray:
        """Known scores and the smallest numbers that all other cells may hold."""
        return np.where(self._cell >= 0, np.nextafter(self._edge, np.inf), self._value)

    def request_exact(self, positions: FloatArray) -> None:
        """Take note that the scores around these positions decide."""
        place = np.searchsorted(self._value, positions, side="left")
        self._note(place[place < len(self._value)])

    def count_at_most(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores ≤ t, for every t."""
        return self._count_to(t, "right")

    def count_below(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores < t, for every t."""
        return self._count_to(t, "left")

    def _count_to(self, t: ArrayLike, side: str) -> NDArray[np.intp]:
        """Count scores up to t, with those at t (right) or without (left)."""
        t = np.asarray(t, dtype=np.float64)
        place = np.searchsorted(self._value, t, side=side)  # type: ignore[call-overload]
        count = self._rank[place]
        next_one = np.minimum(place, len(self._value) - 1)
        is_right = side == "right"
        edge = self._edge[next_one]
        inside = (place < len(self._value)) & (self._cell[next_one] >= 0)
        inside &= (t > edge) if is_right else (t > np.nextafter(edge, np.inf))
        inside &= (t >= self.minimum) & (t < self.maximum if is_right else t <= self.maximum)
        if np.any(inside):
            self._note(next_one[inside], around=True)
            width = np.where(inside, (self._high - self._low)[next_one], 1.0).clip(1e-300)
            share = np.where(inside, t - self._low[next_one], 0.0) / width
            part = (share.clip(0, 1) * self._count[next_one]).astype(np.int64)
            count = np.where(inside, count + part, count)
        beyond = t >= self.maximum if is_right else t > self.maximum
        return np.asarray(np.where(beyond, self.n, np.where(t < self.minimum, 0, count)))

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1; those of a cell as if evenly spread."""
        rank = np.asarray(rank, dtype=np.int64)
        place = np.searchsorted(self._rank, rank, side="right") - 1
        value = self._value[place]
        inside = (self._cell[place] >= 0) & (rank > 0) & (rank < self.n - 1)
        if np.any(inside):
            self._note_ranks(np.atleast_1d(place)[np.atleast_1d(inside)])
            share = (rank - self._rank[place] + 0.5) / self._count[place]
            value = np.where(
                inside, self._low[place] * (1 - share) + self._high[place] * share, value
            )
        value = np.where(rank == 0, self.minimum, value)
        return np.asarray(np.where(rank == self.n - 1, self.maximum, value))

    def _note_ranks(self, place: IntArray) -> None:
        """Take note that scores at ranks in these cells are needed, and how far off they may be."""
        self._note(place)
        width = self._high[place] - self._low[place]
        doubt = float((width / np.sqrt(self._count[place])).max())
        self._needs.doubt = max(self._needs.doubt, doubt)

    @property
    def exact(self) -> bool:
        """Whether every score is known."""
        return bool(np.all(self._cell < 0))

    def between(self, rank: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return numbers between which the scores at ranks lie, equal where they are known."""
        place = np.searchsorted(self._rank, rank, side="right") - 1
        low = np.where(rank == self.n - 1, self.maximum, self._low[place])
        high = np.where(rank == 0, self.minimum, self._high[place])
        return low, high

    def cell_ranks(self, rank: IntArray) -> tuple[IntArray, IntArray]:
        """Return the nearest ranks, down and up, at which sums of the scores before are known."""
        place = np.minimum(np.searchsorted(self._rank, rank, side="right") - 1, len(self._cell) - 1)
        inside = (self._cell[place] >= 0) & (rank > self._rank[place]) & (rank < self.n)
        down, up = self._rank[place], self._rank[place + 1]
        return np.where(inside, down, rank), np.where(inside, up, rank)

    def sums_from(self, rank: int) -> SumTo:
        """Return the function from ranks to sums of offsets from the score at `rank`."""
        reference = float(self.at(rank))
        start = int(np.searchsorted(self._rank, rank, side="right")) - 1
        whole = self._sum + self._count * (self._base - reference)
        to = np.zeros(len(whole) + 1)
        np.cumsum(whole[start:], out=to[start + 1 :])
        to[:start] = -np.cumsum(whole[:start][::-1])[::-1]
        # Up to the score at `rank`, which may stand in the middle of its cell.
        ahead = self._part(np.array([rank - self._rank[start]]), np.array([start]), reference)[0]

        def sum_to(rank: IntArray) -> FloatArray:
            rank = np.asarray(rank, dtype=np.int64)
            place = np.minimum(np.searchsorted(self._rank, rank, side="right") - 1, len(whole) - 1)
            taken = rank - self._rank[place]
            inside = (self._cell[place] >= 0) & (taken > 0) & (taken < self._count[place])
            self._note(place[inside])
            return np.asarray(to[place] + self._part(taken, place, reference) - ahead)

        return sum_to

    def _part(self, taken: IntArray, place: IntArray, reference: float) -> FloatArray:
        """Return the sum of the first few offsets of each cell, as if evenly spread."""
        count = self._count[place]
        mean = self._sum[place] / count + (self._base[place] - reference)
        spread = np.where(self._cell[place] >= 0, self._high[place] - self._low[place], 0.0)
        return np.asarray(taken * mean - taken * (count - taken) / (2 * count) * spread)

    def binned(self, binning: Binning) -> FloatArray:
        """Return how much of the scores counts at each node."""
        if binning in self._binned:
            return self._binned[binning]
        if binning.size > _FEW_NODES:
            self._needs.binnings.append((self._which, binning))
        else:
            self._note_cuts(binning.nodes)
        # Between two nodes a score counts in proportion, so the mean stands for a whole cell.
        from_low = binning.sign * self._base - binning.low
        return binning.count_offsets(
            from_low + binning.sign * (self._sum / self._count), self._count
        )

    def _note_cuts(self, nodes: FloatArray) -> None:
        """Take note that cells which hold a node have to be divided there."""
        next_one = np.searchsorted(nodes, np.nextafter(self._low, np.inf), side="right")
        node = nodes[np.minimum(next_one, len(nodes) - 1)]
        divided = (self._cell >= 0) & (node > self._low) & (node < self._high)
        if np.any(divided):
            width = float((self._high - self._low)[divided].max())
            self._needs.cuts.append(Cuts(nodes, _DOUBT * self._needs.doubt, width))

    def mirrored(self) -> OrderedScores:
        """Return the scores with their sign changed."""
        return _Mirrored(self)

    def _note(self, place: IntArray, around: bool = False) -> None:
        """Put cells on the list of what is needed, and their neighbours where asked to."""
        place = np.atleast_1d(place)
        cell = np.unique(self._cell[place])
        cell = cell[cell >= 0]
        if len(cell):
            self._needs.cells.append(cell)
        if around and len(cell):
            near = np.concatenate(
                [np.maximum(place - 1, 0), np.minimum(place + 1, len(self._cell) - 1)]
            )
            self._note(near)


class _Mirrored:
    """Scores with their sign changed."""

    def __init__(self, scores: CellScores) -> None:
        self._scores = scores
        self.n = scores.n
        self.minimum, self.maximum = -scores.maximum, -scores.minimum

    @property
    def mean(self) -> float:
        """Mean."""
        return -self._scores.mean

    @property
    def median(self) -> float:
        """Middle score, or the mean of the two middle ones."""
        return -self._scores.median

    @property
    def std(self) -> float:
        """Standard deviation."""
        return self._scores.std

    @property
    def positions(self) -> FloatArray:
        """Known scores and the tops of all other cells."""
        return -self._scores.bottoms[::-1]

    def request_exact(self, positions: FloatArray) -> None:
        """Take note that the scores around these positions decide."""
        self._scores.request_exact(-positions)

    def count_at_most(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores ≤ t, for every t."""
        return np.asarray(self.n - self._scores.count_below(-np.asarray(t, dtype=np.float64)))

    def count_below(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores < t, for every t."""
        return np.asarray(self.n - self._scores.count_at_most(-np.asarray(t, dtype=np.float64)))

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1."""
        return -self._scores.at(self.n - 1 - np.asarray(rank, dtype=np.int64))

    @property
    def exact(self) -> bool:
        """Whether every score is known."""
        return self._scores.exact

    def between(self, rank: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return numbers between which the scores at ranks lie, equal where they are known."""
        low, high = self._scores.between(self.n - 1 - rank)
        return -high, -low

    def cell_ranks(self, rank: IntArray) -> tuple[IntArray, IntArray]:
        """Return the nearest ranks, down and up, at which sums of the scores before are known."""
        down, up = self._scores.cell_ranks(self.n - rank)
        return self.n - up, self.n - down

    def mean_from(self, reference: float) -> float:
        """Return how far the mean lies above a score, to its own digits."""
        return -self._scores.mean_from(-reference)

    def sums_from(self, rank: int) -> SumTo:
        """Return the function from ranks to sums of offsets from the score at `rank`."""
        mirrored = self._scores.sums_from(self.n - 1 - rank)
        own = mirrored(np.array([self.n - rank]))[0]
        return lambda r: mirrored(self.n - np.asarray(r, dtype=np.int64)) - own

    def binned(self, binning: Binning) -> FloatArray:
        """Return how much of the scores counts at each node."""
        return self._scores.binned(binning.mirrored())

    def mirrored(self) -> OrderedScores:
        """Return the scores as they were."""
        return self._scores
