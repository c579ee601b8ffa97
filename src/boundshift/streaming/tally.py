"""What one pass is to find out about every row, and what it found: a summary that fits a message.

A `ScanRequest` tallies chunks wherever these lie. Tallies of different rows merge in any order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.scores import LogOdds
from boundshift.streaming.cells import Grid, Look
from boundshift.streaming.chunks import Chunk
from boundshift.typing import FloatArray, IntArray

OUTSIDE = "outside [0, 1]"
"""Fault of a score that is held to be a probability and is none."""

# Rows worked on at a time, so that temporary arrays stay small.
_ROWS = 1 << 19
# Faults and labels that are kept for an error message.
_MOST_FAULTS = 8
# Most classes or groups that are told apart.
_MOST_VALUES = 1000


@dataclass(frozen=True, order=True)
class Fault:
    """How many rows of a chunk cannot be used, by which column, and why, such as "NaN"."""

    location: str
    kind: str
    count: int
    column: str = "y_score"


@dataclass(eq=False)
class ClassTally:
    """What was found about one class.

    Parameters
    ----------
    counts, sums : arrays
        Number of rows in each cell, or their weight; and the sum of their scores, weighted.
    rows : array, default=None
        Number of rows in each cell; None where rows have no weights.
    low, high : float
        Least and largest score.
    saturated : pair of (count, rows)
        Exact zeros and ones among probabilities.
    squared_weights : float
        Sum of the squared weights of all rows.
    lows, highs : arrays
        Least and largest score in each range of a look.
    points : list of (values, counts, rows)
        Scores collected, in order.
    """

    counts: Any = 0
    sums: Any = 0.0
    rows: Any = None
    low: float = np.inf
    high: float = -np.inf
    saturated: Any = field(default_factory=lambda: np.zeros((2, 2)))
    squared_weights: float = 0.0
    lows: Any = np.inf
    highs: Any = -np.inf
    points: list[tuple[FloatArray, NDArray[Any], IntArray]] = field(default_factory=list)

    @property
    def cell_rows(self) -> Any:
        """Number of rows in each cell, whether or not they have weights."""
        return self.counts if self.rows is None else self.rows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(np.sum(self.cell_rows) + self.saturated[:, 1].sum())

    def merge(self, other: ClassTally) -> None:
        """Add what was found in other rows."""
        self.counts, self.sums = self.counts + other.counts, self.sums + other.sums
        if other.rows is not None:
            self.rows = other.rows if self.rows is None else self.rows + other.rows
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        self.saturated = self.saturated + other.saturated
        self.squared_weights += other.squared_weights
        self.lows, self.highs = (
            np.minimum(self.lows, other.lows),
            np.maximum(self.highs, other.highs),
        )
        self.points.extend(other.points)

    def distinct_points(self) -> tuple[FloatArray, NDArray[Any], IntArray]:
        """Return the distinct scores collected, in order, their counts and their rows."""
        if not self.points:
            return np.empty(0), np.empty(0), np.empty(0, np.int64)
        return _distinct(*(np.concatenate(part) for part in zip(*self.points, strict=True)))


def _distinct(
    values: FloatArray, counts: NDArray[Any], rows: IntArray
) -> tuple[FloatArray, NDArray[Any], IntArray]:
    """Return distinct scores in order, and the sums of counts and rows at each."""
    known, place = np.unique(values, return_inverse=True)
    return known, np.bincount(place, counts), np.bincount(place, rows).astype(np.int64)


@dataclass(eq=False)
class Tally:
    """What was found in some rows, by label.

    Examples
    --------
    >>> chunks = [Chunk(np.array([0, 1]), np.array([0.5, 2.0]), "first"),
    ...           Chunk(np.array([0, 0]), np.array([0.1, 0.9]), "second")]
    >>> one, other = ScanRequest().tally(chunks[:1]), ScanRequest().tally(chunks[1:])
    >>> one.merge(other)
    >>> one.classes[0].n_rows, one.classes[0].low, one.classes[0].high
    (3, 0.1, 0.9)
    """

    classes: dict[Any, ClassTally] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def of(self, label: object) -> ClassTally:
        """Return what was found about a class, to be added to."""
        return self.classes.setdefault(label, ClassTally())

    def add_fault(self, location: str, kind: str, count: int, column: str = "y_score") -> None:
        """Add rows that cannot be used, if there are any."""
        if count:
            self._add_faults([Fault(location, kind, count, column)])

    def merge(self, other: Tally) -> None:
        """Add what was found in other rows."""
        for label, found in other.classes.items():
            self.of(label).merge(found)
        self._add_faults(other.faults)

    def _add_faults(self, faults: list[Fault]) -> None:
        """Add faults, those of one chunk together, and keep the first few."""
        known = Counter({replace(f, count=0): f.count for f in self.faults})
        known.update({replace(f, count=0): f.count for f in faults})
        self.faults = sorted(replace(f, count=n) for f, n in known.items())[:_MOST_FAULTS]


@dataclass(frozen=True, eq=False)
class ScanRequest:
    """What to find out about every row in one pass.

    The first pass finds the classes and counts their rows in the cells of the grid. Every further
    pass knows the classes, and looks into some ranges of scores.

    Parameters
    ----------
    grid : Grid, default=None
        Cells to count in; None for one cell.
    log_odds : LogOdds, default=None
        Carries scores that are probabilities to their log-odds. In the first pass it does not know
        yet where exact zeros and ones stand; these are counted apart.
    labels : tuple, default=()
        The classes; empty in the first pass.
    look : Look, default=None
        Ranges to look into; None in the first pass.
    """

    grid: Grid = field(default_factory=lambda: Grid(np.array([np.inf])))
    log_odds: LogOdds | None = None
    labels: tuple[Any, ...] = ()
    look: Look | None = None

    def tally(self, chunks: Iterable[Chunk]) -> Tally:
        """Return what is found in some chunks."""
        tally = Tally()
        for chunk in chunks:
            rows = _with_good_weights(chunk, tally)
            for start in range(0, len(rows), _ROWS):
                block = rows.take(slice(start, start + _ROWS))
                if self.look is None:
                    self._count(block, tally)
                else:
                    self._collect(block, self.look, tally)
        return tally

    def _count(self, rows: Chunk, tally: Tally) -> None:
        """Count the rows of each class in the cells of the grid."""
        rows, codes, labels = _coded(rows, tally)
        if not len(rows):
            return
        rows, codes = self._usable(rows, codes, labels, tally)
        if not len(rows):
            return
        scores, weights, size = rows.scores, rows.weights, self.grid.size
        key = self.grid.cells_of(scores)
        key += codes * np.intp(size)
        total, length = len(labels) * size, (len(labels), size)
        counted = np.bincount(key, minlength=total).reshape(length)
        held = counted if weights is None else np.bincount(key, weights, total).reshape(length)
        sums = np.bincount(key, scores if weights is None else scores * weights, total)
        for code, label in enumerate(labels):
            cells = np.flatnonzero(counted[code])
            if not len(cells):
                continue
            found = tally.of(label)
            found.merge(
                ClassTally(
                    held[code],
                    sums.reshape(length)[code],
                    None if weights is None else counted[code],
                    # The extremes of the class are those of its outermost cells.
                    float(scores[key == code * size + cells[0]].min()),
                    float(scores[key == code * size + cells[-1]].max()),
                )
            )

    def _usable(
        self, rows: Chunk, codes: IntArray, labels: list[Any], tally: Tally
    ) -> tuple[Chunk, IntArray]:
        """Return the rows that can be counted, scores as they are decided on; others are faults."""
        scores = rows.scores.astype(np.float64, copy=False)
        low, high = scores.min(), scores.max()
        good: Any = None
        if not (np.isfinite(low) and np.isfinite(high)):
            good = np.isfinite(scores)
            tally.add_fault(rows.location, "NaN", int(np.isnan(scores).sum()))
            tally.add_fault(rows.location, "infinite", int(np.isinf(scores).sum()))
        if self.log_odds is not None:
            inside = (scores >= 0) & (scores <= 1)
            outside = ~inside if good is None else ~inside & good
            tally.add_fault(rows.location, OUTSIDE, int(np.count_nonzero(outside)))
            good = inside
        if rows.weights is not None:
            for code, label in enumerate(labels):
                weights = rows.weights[codes == code]
                tally.of(label).squared_weights += float(weights @ weights)
        rows = replace(rows, scores=scores)
        if good is not None and not good.all():
            rows, codes = rows.take(good), codes[good]
        if self.log_odds is not None:
            found = self.log_odds.of(rows.scores)
            rows, finite = replace(rows, scores=found), np.isfinite(found)
            for code, label in enumerate(labels):
                for side, end in enumerate((-np.inf, np.inf)):
                    own = (codes == code) & (found == end)
                    n = int(np.count_nonzero(own))
                    weight = n if rows.weights is None else rows.weights[own].sum()
                    tally.of(label).saturated[side] += (weight, n)
            if not finite.all():
                rows, codes = rows.take(finite), codes[finite]
        return rows, codes

    def _collect(self, rows: Chunk, look: Look, tally: Tally) -> None:
        """Count rows in the ranges of a look, and collect the scores of some."""
        scores = rows.scores.astype(np.float64, copy=False)
        if self.log_odds is not None:
            scores = self.log_odds.of(scores)
        # Rows that cannot be used, if they came since the first pass, are in none of the ranges.
        with np.errstate(invalid="ignore"):
            cells = self.grid.cells_of(np.nan_to_num(scores))
        near = np.flatnonzero(look.flags[cells])
        rows, scores = rows.take(near), scores[near]
        for label in self.labels:
            own = rows.mask_of(label)
            order = np.argsort(scores[own], kind="stable")
            values = scores[own][order]
            weights = None if rows.weights is None else rows.weights[own][order]
            _look_into(look, values, weights, tally.of(label))


def _look_into(
    look: Look, scores: FloatArray, weights: FloatArray | None, found: ClassTally
) -> None:
    """Add rows of a class, given by their sorted scores, to the ranges of a look."""
    part = np.searchsorted(look.tops, scores, side="left")
    inside = part < len(look.tops)
    inside[inside] = scores[inside] >= look.lows[part[inside]]
    scores, part = scores[inside], part[inside]
    size = len(look.tops)
    rows = np.bincount(part, minlength=size)
    counts: NDArray[Any] = rows
    times: NDArray[Any] = np.ones(len(scores))
    if weights is not None:
        times = weights[inside]
        counts = np.bincount(part, times, size)
    held, lows, highs = rows > 0, np.full(size, np.inf), np.full(size, -np.inf)
    last = np.cumsum(rows)
    lows[held], highs[held] = scores[(last - rows)[held]], scores[last[held] - 1]
    taken = look.collected[part]
    points = _distinct(scores[taken], times[taken], np.ones(int(taken.sum()), np.int64))
    found.merge(
        ClassTally(
            counts,
            np.bincount(part, scores * times, size),
            None if weights is None else rows,
            lows=lows,
            highs=highs,
            points=[points] if len(points[0]) else [],
        )
    )


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


def _coded(rows: Chunk, tally: Tally) -> tuple[Chunk, IntArray, list[Any]]:
    """Return the rows that have a label, the index of each one's label, and the labels."""
    labels = list(tally.classes)[:2]
    masks = [rows.mask_of(label) for label in labels]
    if sum(map(np.count_nonzero, masks)) != len(rows):
        found, missing = rows.distinct_labels()
        tally.add_fault(rows.location, "missing", missing, "y_true")
        for label in found:
            if len(tally.classes) < _MOST_FAULTS:
                tally.of(label)
        labels = list(tally.classes)
        if len(labels) > 2:  # an error lists them
            return rows.take(slice(0)), np.empty(0, np.intp), []
        masks = [rows.mask_of(label) for label in labels]
        known = np.logical_or.reduce(masks) if masks else np.zeros(len(rows), np.bool_)
        if not known.all():
            rows, masks = rows.take(known), [mask[known] for mask in masks]
    codes = masks[1].astype(np.intp) if len(masks) > 1 else np.zeros(len(rows), np.intp)
    return rows, codes, labels


# --- Several problems in one pass -----------------------------------------------------------------


class View(Protocol):
    """Some of the rows, with one score each."""

    def rows(self, chunk: Chunk) -> Chunk:
        """Return those rows of a chunk."""


@dataclass(frozen=True)
class Pair:
    """The rows of two classes, with the second's score minus the first's, given their columns."""

    labels: tuple[Any, Any]
    columns: tuple[int, int]

    def rows(self, chunk: Chunk) -> Chunk:
        """Return the rows of both classes."""
        mask = chunk.mask_of(self.labels[0]) | chunk.mask_of(self.labels[1])
        own = chunk.take(np.flatnonzero(mask))
        first, second = (own.scores[:, i].astype(np.float64) for i in self.columns)
        with np.errstate(invalid="ignore", over="ignore"):
            return replace(own, scores=second - first)


@dataclass(frozen=True)
class Everyone:
    """All rows of data that has groups."""

    def rows(self, chunk: Chunk) -> Chunk:
        """Return all rows."""
        return replace(chunk, groups=None)


@dataclass(frozen=True)
class Group:
    """The rows of the group of this name."""

    name: Any

    def rows(self, chunk: Chunk) -> Chunk:
        """Return the rows of the group."""
        assert chunk.groups is not None
        codes = [i for i, name in enumerate(chunk.group_names) if name == self.name]
        return replace(chunk.take(np.flatnonzero(np.isin(chunk.groups, codes))), groups=None)


@dataclass(eq=False)
class JointTally:
    """What one pass found in each of several views."""

    parts: dict[int, Tally] = field(default_factory=dict)

    def merge(self, other: JointTally) -> None:
        """Add what was found in other rows."""
        for number, tally in other.parts.items():
            self.parts.setdefault(number, Tally()).merge(tally)


@dataclass(frozen=True, eq=False)
class JointRequest:
    """What to find out about several views: the number of each problem, its view, its request."""

    parts: tuple[tuple[int, View, ScanRequest], ...]

    def tally(self, chunks: Iterable[Chunk]) -> JointTally:
        """Return what is found in some chunks."""
        total = JointTally()
        for chunk in chunks:
            for number, view, request in self.parts:
                if len(rows := view.rows(chunk)):
                    total.merge(JointTally({number: request.tally([rows])}))
        return total


@dataclass(eq=False)
class ValueTally:
    """How many rows have each value."""

    counts: Counter[Any] = field(default_factory=Counter)

    def merge(self, other: ValueTally) -> None:
        """Add what was found in other rows."""
        self.counts.update(other.counts)
        if len(self.counts) > _MOST_VALUES:
            raise InvalidInputError(
                f"A column of classes or groups must have at most {_MOST_VALUES} different "
                "values, got more. Choose the column that names the class or the group of a row."
            )


@dataclass(frozen=True)
class ValueCounts:
    """The request to count the rows of each label ("label") or of each group ("by")."""

    column: str

    def tally(self, chunks: Iterable[Chunk]) -> ValueTally:
        """Return what is found in some chunks; a missing value counts as None."""
        total = ValueTally()
        for chunk in chunks:
            rows = chunk.counted()
            values: Any = rows.groups if self.column == "by" else rows.labels
            names = rows.group_names if self.column == "by" else rows.categories
            if names is None:
                is_missing = np.asarray(values != values, dtype=np.bool_)
                known, counts = np.unique(values[~is_missing], return_counts=True)
                found = Counter(dict(zip(known.tolist(), counts.tolist(), strict=True)))
            else:
                is_missing = values < 0
                by_code = np.bincount(values[~is_missing], minlength=len(names)).tolist()
                found = Counter({v: n for v, n in zip(names, by_code, strict=True) if n})
            if missing := int(np.count_nonzero(is_missing)):
                found[None] = missing
            total.merge(ValueTally(found))
        return total
