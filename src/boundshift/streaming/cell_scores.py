"""One class of scores that are known by cells, answering as sorted scores do.

Every question that curves, rules and certificates ask of sorted scores has an answer here. An
answer from inside a cell whose scores are not known is an estimate, and the cell goes on the list
of `boundshift.streaming.cells.OpenQuestions`. If the list stays empty, the answers were those of
the sorted scores.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.scores import Scores
from boundshift.streaming.binning import Binning
from boundshift.streaming.cells import Cells, Cuts, OpenQuestions
from boundshift.streaming.tally import ClassTally
from boundshift.typing import FloatArray, IntArray

__all__ = ["CellScores", "WeightedCellScores"]


# Up to so many nodes it is enough to divide the cells in which they lie; more are counted at.
_FEW_NODES = 1 << 10
# A cell with this share of its class, or of both, may hide an atom.
_HEAVY = 1e-3
# A rank that a rounding error puts just below the next score belongs to that one.
RANK_ROUNDING = 1e-9
# Share of the rows whose cells are no wider than the resolution.
_TYPICAL = 0.99


class CellScores:
    """The scores of one class by cells; it answers what `Scores` answers.

    Parameters
    ----------
    cells : Cells
        What is known of both classes.
    which : {0, 1}
        The class.
    moments : ClassTally
        Its count, extremes, sum and squares.
    pivot : float
        The score from which its sum is counted.
    questions : OpenQuestions
        The list to which answers from inside a cell are added.
    binned : dict from Binning to array
        Counts at nodes that are already known.
    """

    is_weighted = False

    def __init__(
        self,
        cells: Cells,
        which: int,
        moments: ClassTally,
        pivot: float,
        questions: OpenQuestions,
        binned: dict[Binning, FloatArray],
    ) -> None:
        self.n = moments.n
        self.minimum, self.maximum = moments.low, moments.high
        self._moments, self._pivot = moments, pivot
        self._which, self._questions, self._binned = which, questions, binned
        self._lay_out(cells)

    def _lay_out(self, cells: Cells) -> None:
        """Put known scores, and cells of unknown ones, into one ascending order of entries."""
        which = self._which
        count = cells.counts[which]
        unknown = cells.unknown[which]
        one_value = (count > 0) & ~cells.collected & ~unknown
        known, times = cells.points[which]
        if np.any(one_value):
            known = np.concatenate([cells.lows[which][one_value], known])
            order = np.argsort(known, kind="stable")
            known, times = known[order], np.append(count[one_value], times)[order]
        lows, tops = (edge[unknown] for edge in cells.edges)
        # An entry stands at its score, or at the top of its cell, ahead of a score that is there.
        self._place = np.searchsorted(known, tops, side="left") + np.arange(len(tops))
        self._is_known = np.ones(len(known) + len(tops), dtype=np.bool_)
        self._is_known[self._place] = False
        self._cells, self._unknown, self._known = cells, np.flatnonzero(unknown), known
        self._value, self._edge = self._in_order(tops, known), self._in_order(lows, known)
        self._count = self._in_order(count[unknown], times)
        self._rank = np.concatenate([[0], np.cumsum(self._count)])
        # The cell that an entry stands for; -1 for known scores.
        self._cell = self._in_order(self._unknown, -1)

    def _in_order(self, of_cells: NDArray[Any], of_known: Any) -> NDArray[Any]:
        """Return what holds for the cells, and for the known scores, by entries."""
        entries = np.empty(len(self._is_known), dtype=np.result_type(of_cells, of_known))
        entries[self._is_known], entries[self._place] = of_known, of_cells
        return entries

    @cached_property
    def _low(self) -> FloatArray:
        """Low end of each entry, no farther out than the scores."""
        return np.asarray(np.clip(self._edge, self.minimum, self.maximum))

    @cached_property
    def _high(self) -> FloatArray:
        """High end of each entry, no farther out than the scores."""
        return np.asarray(np.clip(self._value, self.minimum, self.maximum))

    @cached_property
    def _base(self) -> FloatArray:
        """What the sum of an entry is counted from: the score itself, or the base of the cell."""
        return self._in_order(self._cells.bases[self._unknown], self._known)

    @cached_property
    def _sum(self) -> FloatArray:
        """Sum of the offsets from the base of an entry."""
        return self._in_order(self._cells.sums[self._which][self._unknown], 0.0)

    @property
    def mean(self) -> float:
        """Mean."""
        return self._pivot + self.mean_from(self._pivot)

    def mean_from(self, reference: float) -> float:
        """Return how far the mean lies above a score; a large offset costs it no digits."""
        high, low = self._moments.total
        return float((self._pivot - reference) + (high / self.n + low / self.n))

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
        """Known scores, and the tops of the cells of unknown ones."""
        return self._value

    @property
    def lowest_positions(self) -> FloatArray:
        """Known scores, and the smallest numbers that the cells of unknown ones may hold."""
        return np.where(self._cell >= 0, np.nextafter(self._edge, np.inf), self._value)

    def request_exact(self, positions: FloatArray) -> None:
        """Ask for the scores around some positions, since they decide."""
        entry = np.searchsorted(self._value, positions, side="left")
        self._ask_for_scores(entry[entry < len(self._value)])

    def count_at_most(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores ≤ t, for every t."""
        return self._count_to(t, "right")

    def count_below(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the number of scores < t, for every t."""
        return self._count_to(t, "left")

    def _count_to(self, t: ArrayLike, side: str) -> NDArray[np.intp]:
        """Return the number of scores up to t, those at t included (right) or not (left)."""
        t = np.asarray(t, dtype=np.float64)
        entry = np.searchsorted(self._value, t, side=side)  # type: ignore[call-overload]
        count = self._rank[entry]
        holder = np.minimum(entry, len(self._value) - 1)
        is_right = side == "right"
        edge = self._edge[holder]
        inside = (entry < len(self._value)) & (self._cell[holder] >= 0)
        inside &= (t > edge) if is_right else (t > np.nextafter(edge, np.inf))
        inside &= (t >= self.minimum) & (t < self.maximum if is_right else t <= self.maximum)
        if np.any(inside):
            self._ask_for_scores(holder[inside], around=True)
            width = np.where(inside, (self._high - self._low)[holder], 1.0).clip(1e-300)
            share = np.where(inside, t - self._low[holder], 0.0) / width
            part = (share.clip(0, 1) * self._count[holder]).astype(self._count.dtype)
            count = np.where(inside, count + part, count)
        beyond = t >= self.maximum if is_right else t > self.maximum
        return np.asarray(np.where(beyond, self.n, np.where(t < self.minimum, 0, count)))

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1, in a cell as if they were evenly spread."""
        rank = np.asarray(rank, dtype=np.int64)
        entry = self._entry_at(rank)
        value = self._value[entry]
        inside = (self._cell[entry] >= 0) & (rank > 0) & (rank < self.n - 1)
        if np.any(inside):
            self._ask_for_ranks(np.atleast_1d(entry)[np.atleast_1d(inside)])
            share = (rank - self._rank[entry] + 0.5) / self._count[entry]
            value = np.where(
                inside, self._low[entry] * (1 - share) + self._high[entry] * share, value
            )
        value = np.where(rank == 0, self.minimum, value)
        return np.asarray(np.where(rank == self.n - 1, self.maximum, value))

    def _entry_at(self, rank: NDArray[Any]) -> IntArray:
        """Return the entry that holds each rank; rank n counts as the last."""
        entry = np.searchsorted(self._rank, rank, side="right") - 1
        return np.minimum(entry, len(self._cell) - 1)

    def _ask_for_ranks(self, entry: IntArray) -> None:
        """Ask for the scores at ranks in some entries, and keep how far off the estimates are."""
        self._ask_for_scores(entry)
        width = self._high[entry] - self._low[entry]
        error = float((width / np.sqrt(self._count[entry])).max())
        self._questions.rank_error = max(self._questions.rank_error, error)

    @property
    def exact(self) -> bool:
        """Whether every score is known."""
        return bool(np.all(self._cell < 0))

    def between(self, low: float, high: float) -> FloatArray:
        """Return the least and the largest score strictly between two, or an empty array."""
        first, last = int(self.count_at_most(low)), int(self.count_below(high)) - 1
        return self.at(np.array([first, last] if first <= last else [], dtype=np.int64))

    def binned(self, low: float, high: float, cell: float, sign: int = 1) -> FloatArray:
        """Return how much of the scores counts at each node."""
        binning = Binning(low, high, cell, sign)
        if binning in self._binned:
            return self._binned[binning]
        if binning.size > _FEW_NODES:
            self._questions.binnings.append((self._which, binning))
        else:
            self._ask_for_cuts(binning.nodes)
        # Between two nodes a score counts in proportion, so the mean stands for a whole cell.
        from_low = binning.sign * self._base - binning.low
        return binning.count_offsets(
            from_low + binning.sign * (self._sum / self._count), self._count
        )

    def points(self) -> tuple[FloatArray, FloatArray]:
        """Return the scores that are known one by one, and their counts.

        Cells that may hide an atom are asked for: of one value they become known, others are
        divided until none of their parts is heavy.
        """
        both = self._cells.counts.sum(axis=0)
        heavy = self._count >= max(2.0, _HEAVY * self.n)
        heavy |= both[self._cell] >= max(2.0, _HEAVY * both.sum())
        self._ask_for_scores(np.flatnonzero((self._cell >= 0) & heavy))
        return self._value[self._is_known], self._count[self._is_known].astype(np.float64)

    def as_points(self) -> Scores:
        """Return each cell as its mean, counted as often as it has rows."""
        inside = self._cell >= 0
        if np.any(inside):
            width = (self._high - self._low)[inside]
            order = np.argsort(width)
            rows = np.cumsum(self._count[inside][order])
            typical = float(width[order][np.searchsorted(rows, _TYPICAL * rows[-1])])
            self._questions.width = max(self._questions.width, typical)
        mean = np.clip(self._base + self._sum / self._count, self._low, self._high)
        return Scores(np.maximum.accumulate(mean), self._count.astype(np.float64))

    def without(self, atoms: FloatArray) -> Scores | None:
        """Return the rest of the scores, each cell as its mean."""
        return self.as_points().without(atoms)

    def _ask_for_cuts(self, nodes: FloatArray) -> None:
        """Ask for cells to be divided where a node lies in them."""
        above = np.searchsorted(nodes, np.nextafter(self._low, np.inf), side="right")
        node = nodes[np.minimum(above, len(nodes) - 1)]
        divided = (self._cell >= 0) & (node > self._low) & (node < self._high)
        if np.any(divided):
            width = float((self._high - self._low)[divided].max())
            self._questions.cuts.append(Cuts(nodes, self._questions.rank_error, width))

    def mirrored(self) -> Any:
        """Return the scores with their sign changed."""
        return _MirroredCellScores(self)

    def _ask_for_scores(self, entry: IntArray, around: bool = False) -> None:
        """Ask for the scores of the cells of some entries, and of their neighbours if asked to."""
        entry = np.atleast_1d(entry)
        cell = np.unique(self._cell[entry])
        cell = cell[cell >= 0]
        if len(cell):
            self._questions.cells.append(cell)
        if around and len(cell):
            near = np.concatenate(
                [np.maximum(entry - 1, 0), np.minimum(entry + 1, len(self._cell) - 1)]
            )
            self._ask_for_scores(near)


class WeightedCellScores(CellScores):
    """The scores of one class by cells, each met as often as its weight says.

    It answers as `Scores` with weights does.
    """

    is_weighted = True

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._moments.weighted_rows

    @property
    def effective(self) -> float:
        """Rows of equal weight that would be as certain: Kish's number."""
        return float(self.n**2 / self._moments.squared_weights)

    @cached_property
    def median(self) -> float:
        """Score with half of the weight on either side, or the mean of two that share it."""
        entry = np.array(middle_places(self._rank))
        low, high = self._values_in(entry, np.full(2, self.n / 2))
        return float(low + (high - low) / 2)

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1, each score having as many as its weight."""
        place = np.asarray(rank, dtype=np.float64) + RANK_ROUNDING
        return self._values_in(self._entry_at(place), place)

    def at_from_top(self, rank: ArrayLike) -> FloatArray:
        """Return the same for ranks that are counted from the largest score down."""
        place = self._rank[-1] - np.asarray(rank, dtype=np.float64) - RANK_ROUNDING
        entry = np.searchsorted(self._rank, place, side="left") - 1
        return self._values_in(np.clip(entry, 0, len(self._cell) - 1), place)

    def _values_in(self, entry: IntArray, place: FloatArray) -> FloatArray:
        """Return the scores at places in the order of weights, as if a cell were evenly filled."""
        value = self._value[entry]
        inside = self._cell[entry] >= 0
        if np.any(inside):
            self._ask_for_ranks(np.atleast_1d(entry)[np.atleast_1d(inside)])
            share = ((place - self._rank[entry]) / self._count[entry]).clip(0, 1)
            between = self._low[entry] * (1 - share) + self._high[entry] * share
            value = np.where(inside, between, value)
        return np.asarray(value)

    def mirrored(self) -> Any:
        """Return the scores with their sign changed."""
        return _MirroredWeightedCellScores(self)


def middle_places(total: FloatArray) -> tuple[int, int]:
    """Return the places of the two middle scores, given the weight before each and of all.

    Examples
    --------
    >>> middle_places(np.array([0.0, 1.0, 2.0, 4.0]))
    (1, 2)
    """
    # Sums of weights that are half of all but for a rounding error are half of all.
    half, rounding = total[-1] / 2, 1e-12 * total[-1]
    first = np.searchsorted(total[1:], half - rounding, side="left")
    last = np.searchsorted(total[1:], half + rounding, side="right")
    return int(first), int(min(last, len(total) - 2))


class _MirroredCellScores:
    """The scores of one class by cells, with their sign changed."""

    is_weighted = False

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
        """Known scores, and the tops of the cells of unknown ones."""
        return -self._scores.lowest_positions[::-1]

    def request_exact(self, positions: FloatArray) -> None:
        """Ask for the scores around some positions, since they decide."""
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

    def mean_from(self, reference: float) -> float:
        """Return how far the mean lies above a score; a large offset costs it no digits."""
        return -self._scores.mean_from(-reference)

    def binned(self, low: float, high: float, cell: float) -> FloatArray:
        """Return how much of the scores counts at each node."""
        return self._scores.binned(low, high, cell, -1)

    def points(self) -> tuple[FloatArray, FloatArray]:
        """Return the scores that are known one by one, and their counts."""
        values, counts = self._scores.points()
        return -values[::-1], counts[::-1]

    def as_points(self) -> Scores:
        """Return each cell as its mean, counted as often as it has rows."""
        return self._scores.as_points().mirrored()

    def without(self, atoms: FloatArray) -> Scores | None:
        """Return the rest of the scores, each cell as its mean."""
        return self.as_points().without(atoms)

    def mirrored(self) -> Any:
        """Return the scores as they were."""
        return self._scores


class _MirroredWeightedCellScores(_MirroredCellScores):
    """The same where rows have weights."""

    is_weighted = True

    def __init__(self, scores: WeightedCellScores) -> None:
        super().__init__(scores)
        self._weighted = scores
        self.n_rows, self.effective = scores.n_rows, scores.effective

    def at(self, rank: ArrayLike) -> FloatArray:
        """Return the scores at ranks from 0 to n − 1."""
        return -self._weighted.at_from_top(rank)
