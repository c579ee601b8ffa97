"""What one pass is to find out about every row, and what it found: a summary that fits a message.

A request tallies chunks wherever these lie. Tallies of different rows merge in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from boundshift._scores import LogOdds
from boundshift._typing import BoolArray, FloatArray
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._cells import Grid, Look
from boundshift.streaming._read import Chunk

OUTSIDE = "outside [0, 1]"
"""Fault of a score that is held to be a probability and is none."""

# Rows worked on at a time: their temporary arrays stay in the cache.
_ROWS = 1 << 15
# Labels that are kept for an error message.
_MOST_LABELS = 8
# Most labels that are counted.
_MOST_VALUES = 1000


@dataclass(eq=False)
class ClassTally:
    """What was found about one class.

    By cell or range, `totals` has the number of rows, their weight, and their sum of weighted
    scores. `lows` and `highs` are the finite extremes: of the class in the first pass, of each
    range in a look. `points` has the scores collected, the weight of each, and its number of rows.
    """

    totals: Any = ()
    lows: Any = np.inf
    highs: Any = -np.inf
    squared_weights: float = 0.0
    points: list[FloatArray] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(np.sum(self.totals[0])) if len(self.totals) else 0

    def merge(self, other: ClassTally) -> None:
        """Add what was found in other rows."""
        if len(other.totals):
            if not len(self.totals):
                self.totals = np.zeros((3, len(other.totals[0])))
            for total, more in zip(self.totals, other.totals, strict=True):
                total += more
        self.lows = np.minimum(self.lows, other.lows)
        self.highs = np.maximum(self.highs, other.highs)
        self.squared_weights += other.squared_weights
        self.points.extend(other.points)

    def distinct_points(self) -> FloatArray:
        """Return the distinct scores collected, in order, with their weights and rows."""
        return _distinct(np.concatenate([np.empty((3, 0)), *self.points], axis=1))


def _distinct(points: FloatArray) -> FloatArray:
    """Return distinct scores in order, with the sums of weights and rows at each."""
    values, place = np.unique(points[0], return_inverse=True)
    return np.stack([values, *(np.bincount(place, part, len(values)) for part in points[1:])])


@dataclass(eq=False)
class Tally:
    """What was found in some rows, by label, and how many rows cannot be used.

    A fault has a column, a location and a kind, as in ("y_score", "partition 3", "NaN").
    """

    classes: dict[Any, ClassTally] = field(default_factory=dict)
    faults: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def of(self, label: object) -> ClassTally:
        """Return what was found about a class, to be added to."""
        return self.classes.setdefault(label, ClassTally())

    def add_fault(self, location: str, kind: str, count: int, column: str = "y_score") -> None:
        """Add rows that cannot be used, if there are any."""
        if count:
            self.faults[column, location, kind] += count

    def merge(self, other: Tally) -> None:
        """Add what was found in other rows."""
        for label, found in other.classes.items():
            self.of(label).merge(found)
        self.faults.update(other.faults)


@dataclass(frozen=True, eq=False)
class ScanRequest:
    """What to find out about every row in one pass.

    The first pass finds the classes and counts their rows in the cells of the grid. Every further
    pass knows the classes, and looks into some ranges of scores. In the first pass, `log_odds` does
    not know yet where exact zeros and ones stand; these are in the outermost cells.
    """

    grid: Grid
    log_odds: LogOdds | None = None
    labels: tuple[Any, ...] = ()
    look: Look | None = None

    def tally(self, chunks: Iterable[Chunk]) -> Tally:
        """Return what is found in some chunks."""
        tally, size = Tally(), self.grid.size
        totals, is_weighted = np.zeros((2, 2 * size)), False
        for chunk in chunks:
            rows = _with_good_weights(chunk, tally)
            if rows.weights is not None and not is_weighted:
                totals, is_weighted = np.zeros((3, 2 * size)), True
            if self.look is None:
                for start in range(0, len(rows), _ROWS):
                    self._count(rows.take(slice(start, start + _ROWS)), tally, totals)
            else:
                self._collect(rows, self.look, tally)
        for code, label in enumerate(list(tally.classes)[:2] if self.look is None else ()):
            own = totals[:, code * size : (code + 1) * size]
            tally.classes[label].totals = own if is_weighted else own[[0, 0, 1]]
        return tally

    def _count(self, rows: Chunk, tally: Tally, totals: FloatArray) -> None:
        """Add the rows of a block to the totals of the cells, of one class after the other."""
        rows, is_second = _with_labels(rows, tally)
        rows, scores, is_second = self._usable(rows, is_second, tally)
        if not len(rows):
            return
        key = self.grid.cells_of(scores)
        key += is_second * np.intp(self.grid.size)
        weights = rows.weights
        np.add.at(totals[0], key, 1.0)
        with np.errstate(over="ignore"):  # refused by the magnitude of the extremes
            np.add.at(totals[-1], key, scores if weights is None else scores * weights)
        if weights is not None:
            np.add.at(totals[1], key, weights)
        low, high = scores.min(), scores.max()
        for found, is_second_class in zip(tally.classes.values(), (False, True), strict=False):
            if weights is not None:
                own = weights[is_second == is_second_class]
                found.squared_weights += float(np.square(own).sum())
            if low < found.lows or high > found.highs:
                own = scores[is_second == is_second_class]
                own = own if self.log_odds is None else own[np.isfinite(own)]
                found.lows = min(found.lows, own.min(initial=np.inf))
                found.highs = max(found.highs, own.max(initial=-np.inf))

    def _usable(
        self, rows: Chunk, is_second: BoolArray, tally: Tally
    ) -> tuple[Chunk, FloatArray, BoolArray]:
        """Return the rows that can be counted, and their scores or log-odds; others are faults."""
        scores = rows.scores.astype(np.float64, copy=False)
        good = None
        if len(scores) and not (np.isfinite(scores.min()) and np.isfinite(scores.max())):
            good = np.isfinite(scores)
            tally.add_fault(rows.location, "NaN", int(np.isnan(scores).sum()))
            tally.add_fault(rows.location, "infinite", int(np.isinf(scores).sum()))
        if self.log_odds is not None:
            inside = (scores >= 0) & (scores <= 1)
            outside = ~inside if good is None else ~inside & good
            tally.add_fault(rows.location, OUTSIDE, int(np.count_nonzero(outside)))
            good = inside
        if good is not None and not good.all():
            rows, scores, is_second = rows.take(good), scores[good], is_second[good]
        return rows, scores if self.log_odds is None else self.log_odds.of(scores), is_second

    def _collect(self, rows: Chunk, look: Look, tally: Tally) -> None:
        """Count rows in the ranges of a look, and collect the scores of some."""

        def scores_of(part: Chunk) -> FloatArray:
            scores: FloatArray = part.scores.astype(np.float64, copy=False)
            return scores if self.log_odds is None else self.log_odds.of(scores)

        near = []
        for start in range(0, len(rows), _ROWS):
            # Rows that cannot be used, if they came since the first pass, are in no range.
            scores = np.nan_to_num(scores_of(rows.take(slice(start, start + _ROWS))))
            near.append(start + np.flatnonzero(look.flags[self.grid.cells_of(scores)]))
        rows = rows.take(np.concatenate([np.empty(0, np.intp), *near]))
        scores = scores_of(rows)
        for label in self.labels:
            own = rows.labels.equal(label)
            weights = np.ones(len(rows)) if rows.weights is None else rows.weights
            tally.of(label).merge(_look_into(look, scores[own], weights[own]))


def _look_into(look: Look, scores: FloatArray, weights: FloatArray) -> ClassTally:
    order = np.argsort(scores, kind="stable")
    scores, weights = scores[order], weights[order]
    part = np.searchsorted(look.tops, scores, side="left")
    inside = part < len(look.tops)
    inside[inside] = scores[inside] >= look.lows[part[inside]]
    scores, weights, part = scores[inside], weights[inside], part[inside]
    size = len(look.tops)
    rows = np.bincount(part, minlength=size)
    sums = [np.bincount(part, times, size) for times in (weights, weights * scores)]
    held, lows, highs = rows > 0, np.full(size, np.inf), np.full(size, -np.inf)
    last = np.cumsum(rows)
    lows[held], highs[held] = scores[(last - rows)[held]], scores[last[held] - 1]
    taken = look.collected[part]
    points = _distinct(np.stack([scores, weights, np.ones(len(scores))])[:, taken])
    return ClassTally((rows, *sums), lows, highs, points=[points])


def _with_good_weights(chunk: Chunk, tally: Tally) -> Chunk:
    """Return the rows that count, and add weights that are no frequencies to the faults."""
    if chunk.weights is None:
        return chunk
    weights = chunk.weights.astype(np.float64, copy=False)
    good = np.isfinite(weights) & (weights >= 0)
    if not good.all():
        bad = weights[~good]
        tally.add_fault("", f"{bad[0]:g}", len(bad), "sample_weight")
        chunk, weights = chunk.take(good), weights[good]
    return replace(chunk, weights=weights).counted()


def _with_labels(rows: Chunk, tally: Tally) -> tuple[Chunk, BoolArray]:
    """Return the rows with one of the two labels, and which have the second; none for others."""
    masks = [rows.labels.equal(label) for label in list(tally.classes)[:2]]
    if sum(map(np.count_nonzero, masks)) != len(rows):
        found = rows.labels.counts()
        tally.add_fault(rows.location, "missing", found.pop(None, 0), "y_true")
        if len(tally.classes) <= 2:
            for label in list(found)[:_MOST_LABELS]:
                tally.of(label)
        masks = [rows.labels.equal(label) for label in list(tally.classes)[:2]]
        known = np.logical_or.reduce([np.zeros(len(rows), np.bool_), *masks])
        rows, masks = rows.take(known), [mask[known] for mask in masks]
    return rows, masks[1] if len(masks) > 1 else np.zeros(len(rows), np.bool_)


@dataclass(eq=False)
class ValueTally:
    """How many rows have each label; None is a missing one."""

    counts: Counter[Any] = field(default_factory=Counter)

    def merge(self, other: ValueTally) -> None:
        """Add what was found in other rows."""
        self.counts.update(other.counts)
        if len(self.counts) > _MOST_VALUES:
            raise InvalidInputError(
                f"A column of classes must have at most {_MOST_VALUES} different values, got more. "
                "Choose the column that names the class of a row."
            )


class ValueCounts:
    """The request to count the rows of each label."""

    def tally(self, chunks: Iterable[Chunk]) -> ValueTally:
        """Return what is found in some chunks."""
        total = ValueTally()
        for chunk in chunks:
            total.merge(ValueTally(chunk.counted().labels.counts()))
        return total
