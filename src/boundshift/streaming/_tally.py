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
from boundshift.streaming._cells import Grid, Look, distinct_points
from boundshift.streaming._read import Chunk

# Rows worked on at a time: their temporary arrays stay in the cache.
_ROWS = 1 << 15
_ROWS_OF_A_LOOK = 1 << 20
# Labels that are kept for an error message.
_MOST_LABELS = 8


@dataclass(eq=False)
class ClassTally:
    """What was found about one class.

    By cell or range, `totals` has the number of rows, their weight, and their sum of weighted
    scores. `lows` and `highs` are the finite extremes: of the class in the first pass, of each
    range in a look. `points` has the scores collected, the weight of each, and its number of rows.
    """

    totals: Any = 0.0
    lows: Any = np.inf
    highs: Any = -np.inf
    points: list[FloatArray] = field(default_factory=list)

    def merge(self, other: ClassTally) -> None:
        """Add what was found in other rows."""
        self.totals = self.totals + other.totals
        self.lows = np.minimum(self.lows, other.lows)
        self.highs = np.maximum(self.highs, other.highs)
        self.points.extend(other.points)


@dataclass(eq=False)
class Tally:
    """What was found in some rows, by label, and how many rows cannot be used.

    A fault has a column, a kind and a location, as in ("y_score", "NaN", "partition 3").
    """

    classes: dict[Any, ClassTally] = field(default_factory=dict)
    faults: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def of(self, label: object) -> ClassTally:
        """Return what was found about a class, to be added to."""
        return self.classes.setdefault(label, ClassTally())

    def add_fault(self, column: str, kind: str, location: str, count: int) -> None:
        """Add rows that cannot be used, if there are any."""
        if count:
            self.faults[column, kind, location] += int(count)

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
        tally, is_weighted = Tally(), False
        totals = np.zeros((3, 2, len(self.grid.tops)))
        step = _ROWS if self.look is None else _ROWS_OF_A_LOOK
        for chunk in chunks:
            rows = _with_good_weights(chunk, tally)
            is_weighted |= rows.weights is not None
            for start in range(0, len(rows), step):
                block = rows.take(slice(start, start + step))
                if self.look is None:
                    self._count(block, tally, totals.reshape(3, -1))
                else:
                    self._collect(block, self.look, tally)
        if self.look is None:
            for found, own in zip(tally.classes.values(), totals.swapaxes(0, 1), strict=False):
                found.totals = own if is_weighted else own[[0, 0, 2]]
        return tally

    def _count(self, rows: Chunk, tally: Tally, totals: FloatArray) -> None:
        """Add the rows of a block to the totals of the cells, of one class after the other."""
        rows, is_second = self._usable(rows, tally)
        if not len(rows):
            return
        scores, weights = self._scores_of(rows), rows.weights
        key = self.grid.cells_of(scores)
        key += is_second * np.intp(len(self.grid.tops))
        np.add.at(totals[0], key, 1.0)
        with np.errstate(over="ignore"):  # refused by the magnitude of the extremes
            np.add.at(totals[2], key, scores if weights is None else scores * weights)
        if weights is not None:
            np.add.at(totals[1], key, weights)
        for found, is_own in zip(tally.classes.values(), (~is_second, is_second), strict=False):
            beyond = scores[is_own & ((scores < found.lows) | (scores > found.highs))]
            beyond = beyond[np.isfinite(beyond)]
            found.lows = min(found.lows, beyond.min(initial=np.inf))
            found.highs = max(found.highs, beyond.max(initial=-np.inf))

    def _scores_of(self, rows: Chunk) -> FloatArray:
        scores: FloatArray = rows.scores.astype(np.float64, copy=False)
        return scores if self.log_odds is None else self.log_odds.of(scores)

    def _usable(self, rows: Chunk, tally: Tally) -> tuple[Chunk, BoolArray]:
        """Return the rows that can be counted, and which have the second label; note the faults."""
        masks = [rows.has(label) for label in list(tally.classes)[:2]]
        if sum(map(np.count_nonzero, masks)) != len(rows):
            found, missing = rows.distinct()
            tally.add_fault("y_true", "missing", rows.location, missing)
            for label in found[:_MOST_LABELS] if len(tally.classes) <= 2 else ():
                tally.of(label)
            masks = [rows.has(label) for label in list(tally.classes)[:2]]
        masks += [np.zeros(len(rows), np.bool_)] * (2 - len(masks))
        scores = rows.scores
        good = np.isfinite(scores) if self.log_odds is None else (scores >= 0) & (scores <= 1)
        if not good.all():
            outside = ~good & np.isfinite(scores)
            tally.add_fault("y_score", "NaN", rows.location, np.isnan(scores).sum())
            tally.add_fault("y_score", "infinite", rows.location, np.isinf(scores).sum())
            tally.add_fault("probability", "outside [0, 1]", rows.location, outside.sum())
        good &= masks[0] | masks[1]
        return (rows, masks[1]) if good.all() else (rows.take(good), masks[1][good])

    def _collect(self, rows: Chunk, look: Look, tally: Tally) -> None:
        """Count rows in the ranges of a look, and collect the scores of some."""
        # Rows that cannot be used, if they came since the first pass, are in no range.
        cells = self.grid.cells_of(np.nan_to_num(self._scores_of(rows)))
        rows = rows.take(look.flags[cells])
        scores = self._scores_of(rows)
        for label in self.labels:
            own = rows.has(label)
            weights = np.ones(len(rows)) if rows.weights is None else rows.weights
            tally.of(label).merge(_look_into(look, scores[own], weights[own]))


def _look_into(look: Look, scores: FloatArray, weights: FloatArray) -> ClassTally:
    size = len(look.tops)
    part = np.minimum(np.searchsorted(look.tops, scores), size - 1)
    inside = (scores >= look.lows[part]) & (scores <= look.tops[part])
    part, scores, weights = part[inside], scores[inside], weights[inside]
    rows = np.ones(len(part))
    totals = [np.bincount(part, each, size) for each in (rows, weights, weights * scores)]
    lows, highs = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(lows, part, scores)
    np.maximum.at(highs, part, scores)
    points = np.stack([scores, weights, rows])[:, look.collected[part]]
    return ClassTally(np.stack(totals), lows, highs, points=[distinct_points([points])])


def _with_good_weights(chunk: Chunk, tally: Tally) -> Chunk:
    """Return the rows that count, and add weights that are no frequencies to the faults."""
    if chunk.weights is None:
        return chunk
    weights = chunk.weights.astype(np.float64, copy=False)
    good = np.isfinite(weights) & (weights >= 0)
    for first in weights[~good][:1]:
        tally.add_fault("sample_weight", f"{first:g}", "", int((~good).sum()))
    return replace(chunk, weights=weights).take(good & (weights > 0))
