"""The bins of both classes side by side, and samples that agree with what is known of them.

The number of rows beyond a threshold between two bins is exact. How the rows of both classes lie
inside a bin is not known, so it is arranged in several ways, and what is the same for all of them
is true of the rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from boundshift._scores import ATOM_ROWS, ATOM_SHARE, Scores, ScoreSample
from boundshift._search import middle_of_gap
from boundshift._typing import BoolArray, FloatArray, IntArray, Label
from boundshift.exceptions import InvalidInputError
from boundshift.rules._binary import frequencies
from boundshift.streaming._bins import REFINED_BIN
from boundshift.streaming._tally import ClassTally

Order = Callable[[dict[Label, int]], tuple[Label, Label]]
"""From labels, with their numbers of rows, to the negative and the positive one."""

# Rounding errors of sums of weights, relative to all of them.
_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class WeightedBins(Scores):
    """Bins of weighted rows as entries, and how much a row weighs.

    The mean weight has each row count by its weight: the sum of squares over the sum of weights.
    """

    row_weight: float = 1.0

    @cached_property
    def effective_n(self) -> float:
        """Number of equally weighted rows that would estimate a mean as precisely."""
        return float(self.n / self.row_weight)


@dataclass(frozen=True, eq=False)
class JointBins:
    """Bins in ascending order, which share no score; the arrays of a class have NaN if it has none.

    All arrays but `low` and `high` have the shape (2, number of bins).
    """

    labels: tuple[Label, Label]
    is_weighted: bool
    low: FloatArray  # of both classes
    high: FloatArray
    rows: IntArray
    weight: FloatArray
    squares: FloatArray  # sums of the squared weights
    mean: FloatArray
    class_low: FloatArray
    class_high: FloatArray

    @classmethod
    def of_labelled(
        cls, classes: Mapping[Label, ClassTally], order: Order, is_weighted: bool
    ) -> JointBins:
        """Put the bins of two labels side by side, the negative class first."""
        rows = {label: int(tally.rows.sum()) for label, tally in classes.items()}
        if len(rows) == 1:
            raise InvalidInputError(
                f"must hold two classes, got only {next(iter(rows))!r} in "
                f"{sum(rows.values()):,} rows. Check the column of labels, or pass the rows of one "
                "class in memory, to boundshift.certify for example.",
                argument="data",
            )
        labels = order(rows)
        return cls.of_classes(labels, (classes[labels[0]], classes[labels[1]]), is_weighted)

    @classmethod
    def of_classes(
        cls, labels: tuple[Label, Label], classes: tuple[ClassTally, ClassTally], is_weighted: bool
    ) -> JointBins:
        """Put the bins of two classes side by side; bins that overlap become one."""
        low = np.concatenate([tally.low for tally in classes])
        high = np.concatenate([tally.high for tally in classes])
        order = np.argsort(low, kind="stable")
        reached = np.maximum.accumulate(high[order])
        is_new = np.append(True, low[order][1:] > reached[:-1])[: len(order)]
        bin_in_order = np.cumsum(is_new) - 1
        joint = np.empty(len(order), dtype=np.int64)
        joint[order] = bin_in_order
        size = int(bin_in_order[-1]) + 1 if len(order) else 0
        parts = np.split(joint, [len(classes[0])])
        rows = np.zeros((2, size), dtype=np.int64)
        weight = np.zeros((2, size))
        squares = np.zeros((2, size))
        beyond = np.zeros((2, size))
        class_low = np.full((2, size), np.inf)
        class_high = np.full((2, size), -np.inf)
        for i, (tally, part) in enumerate(zip(classes, parts, strict=True)):
            np.add.at(rows[i], part, tally.rows)
            np.add.at(weight[i], part, tally.weight)
            np.add.at(squares[i], part, tally.squares)
            np.minimum.at(class_low[i], part, tally.low)
            np.maximum.at(class_high[i], part, tally.high)
            np.add.at(beyond[i], part, tally.weight * (tally.mean - class_low[i][part]))
        class_low[rows == 0] = np.nan
        class_high[rows == 0] = np.nan
        with np.errstate(invalid="ignore"):
            mean = np.clip(class_low + beyond / weight, class_low, class_high)
        return cls(
            labels=labels,
            is_weighted=is_weighted,
            low=np.fmin(*class_low),
            high=np.fmax(*class_high),
            rows=rows,
            weight=weight,
            squares=squares,
            mean=mean,
            class_low=class_low,
            class_high=class_high,
        )

    @cached_property
    def is_open(self) -> BoolArray:
        """Whether some scores of each bin are not known."""
        known_rows = 1 if self.is_weighted else 2
        with np.errstate(invalid="ignore"):
            is_unknown = (self.rows > known_rows) & (self.class_low < self.class_high)
        return np.asarray(is_unknown.any(axis=0))

    @property
    def total_rows(self) -> IntArray:
        """Rows of both classes in each bin."""
        return np.asarray(self.rows.sum(axis=0))

    def may_hide_atoms(self) -> BoolArray:
        """Return which open bins hold so much of a class, or of both, that a score may repeat."""
        is_heavy = np.zeros(len(self.low), dtype=np.bool_)
        for rows in (*self.rows, self.total_rows):
            # Two of the rows are the ends of the bin, which differ.
            is_heavy |= rows - 1 >= max(ATOM_ROWS, ATOM_SHARE * rows.sum())
        return is_heavy & self.is_open & (self.total_rows > ATOM_ROWS)

    @cached_property
    def atoms(self) -> FloatArray:
        """The known scores that repeat and are a thousandth of a class or of both."""
        ends = np.stack([self.class_low, self.class_high])
        # Rows at each end; a bin of one score has all of them at its low end.
        is_wide = self.class_low < self.class_high
        rows = np.stack([np.where(is_wide, 1, self.rows), np.where(is_wide, 1, 0)])
        is_point = rows > 0
        values, place = np.unique(ends[is_point], return_inverse=True)
        owner = np.broadcast_to(np.array([[0], [1]]), rows.shape)[is_point]
        is_atom = np.zeros(len(values), dtype=np.bool_)
        for chosen in (owner == 0, owner == 1, owner >= 0):
            amount = np.bincount(place[chosen], rows[is_point][chosen], len(values))
            total = self.rows.sum(axis=1)[np.unique(owner[chosen])].sum()
            is_atom |= amount >= max(ATOM_ROWS, ATOM_SHARE * total * (1.0 - _SLACK))
        return np.asarray(values[is_atom])

    @property
    def n_samples(self) -> tuple[int, int]:
        """Rows of both classes, or the sums of their weights."""
        negative, positive = (self.weight if self.is_weighted else self.rows).sum(axis=1).tolist()
        return negative, positive

    # --- Which bins -------------------------------------------------------------------------------

    def holding(self, threshold: float) -> BoolArray:
        """Return the open bin whose rows a threshold parts, if there is one."""
        return np.asarray(self.is_open & (self.low <= threshold) & (threshold < self.high))

    def touching(self, low: float, high: float) -> BoolArray:
        """Return the bins that hold more than the ends of an interval."""
        return np.asarray((self.low < high) & (self.high > low))

    def beside(self, threshold: float) -> BoolArray:
        """Return the bins just below and just above a threshold."""
        k = int(np.searchsorted(self.high, threshold, side="right"))
        is_beside = np.zeros(len(self.low), dtype=np.bool_)
        is_beside[max(k - 1, 0) : k + 1] = True
        return is_beside

    def are_inside(self, thresholds: FloatArray) -> BoolArray:
        """Return which thresholds part the rows of an open bin."""
        place = np.minimum(np.searchsorted(self.high, thresholds, side="right"), len(self.low) - 1)
        is_between_ends = (self.low[place] <= thresholds) & (thresholds < self.high[place])
        return np.asarray(self.is_open[place] & is_between_ends)

    def check_between(self, thresholds: FloatArray) -> None:
        """Raise if a threshold parts the rows of an open bin, which cannot be counted then."""
        is_inside = self.are_inside(thresholds)
        if is_inside.any():
            first = float(thresholds[is_inside][0])
            rows = int(self.total_rows[self.holding(first)][0])
            raise InvalidInputError(
                f"must stand between two bins of a tally, got {first!r} inside one "
                f"with {rows:,} rows. Count with Tally.of(..., at=[{first!r}]), or use the "
                "threshold of tally.find_boundary().",
                argument="threshold",
            )

    def move_out(self, threshold: float, *, upwards: bool) -> float:
        """Return a threshold, moved into the gap beside an open bin if it parts its rows."""
        inside = np.flatnonzero(self.holding(threshold))
        if not len(inside):
            return threshold
        k = int(inside[0]) + upwards
        low = self.high[k - 1] if k else -np.inf
        high = self.low[k] if k < len(self.low) else np.inf
        if np.isinf(low):
            return float(np.nextafter(high, low))
        return float(low) if np.isinf(high) else middle_of_gap(float(low), float(high))

    def nearest_open(self, threshold: float, most_rows: int) -> BoolArray:
        """Return the open bins nearest to a threshold, at least one and up to a number of rows."""
        index = np.flatnonzero(self.is_open)
        distance = np.abs(self.mean_of_both()[index] - threshold)
        index = index[np.argsort(distance, kind="stable")]
        rows = np.cumsum(self.total_rows[index])
        is_near = np.zeros(len(self.low), dtype=np.bool_)
        is_near[index[: max(int(np.searchsorted(rows, most_rows)), 1)]] = True
        return is_near

    def crossing(self, cap: float, prevalence: float | None) -> BoolArray:
        """Return the bin inside which the share of rows above passes a cap."""
        share = self.weight / self.weight.sum(axis=1, keepdims=True)
        first, second = frequencies(prevalence, self.n_samples)
        of_bin = (first * share[0] + second * share[1]) / (first + second)
        from_bin = np.cumsum(of_bin[::-1])[::-1]
        return np.asarray((from_bin >= cap - _SLACK) & (from_bin - of_bin <= cap + _SLACK))

    def holding_medians(self) -> BoolArray:
        """Return the open bins that hold the median of a class."""
        return np.asarray(self.is_open & self._median_bins().any(axis=0))

    def holding_both_medians(self) -> BoolArray:
        """Return the open bins that hold the medians of both classes, whose order is not known."""
        return np.asarray(self.is_open & self._median_bins().all(axis=0))

    def _median_bins(self) -> BoolArray:
        reached = np.cumsum(self.weight, axis=1)
        half = reached[:, -1:] / 2
        # Two rows in the middle may lie in different bins.
        return np.asarray(
            (reached >= half * (1 - _SLACK)) & (reached - self.weight <= half * (1 + _SLACK))
        )

    def count_wrong(self, threshold: float) -> tuple[int, int]:
        """Return the negative rows above a threshold and the positive ones up to it.

        The threshold must not part an open bin.
        """
        above, below = self.sample().count_wrong(np.array([threshold]))
        return above[0].item(), below[0].item()

    def typical_width(self) -> float:
        """Return the distance between the tenth and the ninetieth hundredth of the rows."""
        reached = np.cumsum(self.total_rows) / max(self.total_rows.sum(), 1)
        low, high = np.searchsorted(reached, [0.1, 0.9])
        return float(self.high[high] - self.low[low])

    def mean_of_both(self) -> FloatArray:
        """Return the mean of the rows of each bin."""
        beyond = np.nansum(self.weight * (self.mean - self.low), axis=0)
        return np.asarray(self.low + beyond / self.weight.sum(axis=0))

    def mean_between(self, first: int, last: int) -> float:
        """Return the mean of the rows of some bins."""
        weight = self.weight.sum(axis=0)[first : last + 1]
        beyond = self.mean_of_both()[first : last + 1] - self.low[first]
        return float(self.low[first] + (weight @ beyond) / weight.sum())

    def classes(self, chosen: BoolArray) -> tuple[ClassTally, ClassTally]:
        """Return some bins by class."""
        negative, positive = (self._class_tally(i, chosen & (self.rows[i] > 0)) for i in (0, 1))
        return negative, positive

    def _class_tally(self, i: int, chosen: BoolArray) -> ClassTally:
        return ClassTally(
            bin=np.full(np.count_nonzero(chosen), REFINED_BIN),
            rows=self.rows[i][chosen],
            weight=self.weight[i][chosen],
            squares=self.squares[i][chosen],
            mean=self.mean[i][chosen],
            low=self.class_low[i][chosen],
            high=self.class_high[i][chosen],
        )

    # --- Samples ----------------------------------------------------------------------------------

    def sample(self, at_ends: BoolArray | None = None) -> ScoreSample:
        """Return the least and the largest score of every bin, and the mean of those between.

        `at_ends`, of the shape of `rows`, names bins whose rows all stand at the ends instead, with
        the same mean.
        """
        if at_ends is None:
            at_ends = np.zeros(self.rows.shape, dtype=np.bool_)
        points = [
            self._points(i, self.class_low[i], self.class_high[i], at_ends[i]) for i in (0, 1)
        ]
        return ScoreSample(points[0], points[1], self.labels, given_atoms=self.atoms)

    def at_ends(self, threshold: float) -> list[BoolArray]:
        """Return which bins have rows at their ends: the open ones of a class on either side."""
        masks = []
        for is_side in (self.high <= threshold, self.high > threshold):
            for i in (0, 1):
                mask = np.zeros(self.rows.shape, dtype=np.bool_)
                mask[i] = self.is_open & is_side
                masks.append(mask)
        return masks

    def well_separated(self) -> ScoreSample:
        """Return a sample in which the negative rows of a bin all lie below the positive ones."""
        is_mixed = self.is_open & (self.rows > 0).all(axis=0)
        return self._arranged(is_mixed, self.low, self.high)

    def badly_separated(self) -> ScoreSample:
        """Return a sample in which the negative rows of a bin lie above the positive ones."""
        return self._arranged(self.is_open, self.high, self.low)

    def tied(self) -> ScoreSample:
        """Return all rows of each open bin at one score."""
        return self._arranged(self.is_open, self.high, self.high)

    def _arranged(
        self, is_moved: BoolArray, negative_at: FloatArray, positive_at: FloatArray
    ) -> ScoreSample:
        """Return the rows of some bins at one score for each class, others as they are."""
        at_ends = np.zeros(len(self.low), dtype=np.bool_)
        points = []
        for i, place in enumerate((negative_at, positive_at)):
            low = np.where(is_moved, place, self.class_low[i])
            high = np.where(is_moved, place, self.class_high[i])
            points.append(self._points(i, low, high, at_ends))
        return ScoreSample(points[0], points[1], self.labels, given_atoms=self.atoms)

    def _points(self, i: int, low: FloatArray, high: FloatArray, at_ends: BoolArray) -> Scores:
        """Return the rows of a class at the ends of its bins, and at a point between."""
        is_held = self.rows[i] > 0
        rows = self.rows[i][is_held]
        weight = self.weight[i][is_held]
        low = low[is_held]
        high = high[is_held]
        beyond = np.clip(self.mean[i][is_held], low, high) - low
        width = high - low
        is_wide = width > 0
        # All rows at the ends, with their mean: this is known of two rows.
        at_high = weight * np.divide(beyond, width, out=np.zeros(len(width)), where=is_wide)
        if not self.is_weighted:
            at_high = np.where(is_wide, np.clip(np.round(at_high), 1, rows - 1), 0.0)
        at_low = weight - at_high
        is_between = is_wide & (rows > 2) & ~at_ends[is_held]
        if self.is_weighted:
            # The weights of the least and the largest score are not known. Only those of the class
            # must be among its scores.
            is_between[[0, -1]] = False
            between = low + beyond
            at_low[is_between] = 0.0
        else:
            between = low + np.clip((weight * beyond - width) / np.maximum(rows - 2, 1), 0.0, width)
            at_low[is_between] = 1.0
        at_high[is_between] = at_low[is_between]
        at_mean = np.where(is_between, weight - 2 * at_low, 0.0)
        values = np.stack([low, np.minimum(between, high), high], axis=1).ravel()
        counts = np.stack([at_low, at_mean, at_high], axis=1).ravel()
        if not self.is_weighted:
            counts = np.round(counts).astype(np.int64)
        is_filled = counts > 0
        values = values[is_filled]
        counts = counts[is_filled]
        if not self.is_weighted:
            return Scores(values, counts)
        squares = self.squares[i][is_held]
        return WeightedBins(values, counts, float(squares.sum() / weight.sum()))
