"""Counts of labelled scores by class and bin: small, and merged in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift._typing import FloatArray, IntArray, Label, LabelArray
from boundshift.streaming._bins import BIN_BITS, group_of

Column = NDArray[Any]
"""Numbers of rows, sums or scores, one for each bin; or which bins."""

# Bins that wait to be merged with others.
_MOST_WAITING = 1 << 18


@dataclass(frozen=True, eq=False)
class ClassTally:
    """The rows of one class by bin; `low` and `high` are the least and largest score of a bin."""

    bin: IntArray
    rows: IntArray
    weight: FloatArray  # sum of the weights; the number of rows if they have none
    squares: FloatArray  # sum of the squared weights
    mean: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of_sorted(
        cls,
        bins: IntArray,
        scores: FloatArray,
        origin: FloatArray | float = 0.0,
        weights: FloatArray | None = None,
    ) -> ClassTally:
        """Count sorted scores by their bins, which ascend or descend together with the scores.

        Means are taken of distances from an origin, so that a large offset costs no digits.
        """
        first = np.flatnonzero(np.append(True, bins[1:] != bins[:-1]))[: len(bins)]
        rows = np.diff(first, append=len(bins))
        distance = scores - origin
        if weights is None:
            weight = rows.astype(np.float64)
            squares = weight
            total = _sums(distance, first)
        else:
            weight = _sums(weights, first)
            squares = _sums(weights**2, first)
            total = _sums(distance * weights, first)
        low = scores[first]
        high = scores[first + rows - 1]
        start = np.broadcast_to(origin, scores.shape)[first]
        mean = np.clip(start + total / weight, low, high)
        return cls(bins[first], rows, weight, squares, mean, low, high)

    @classmethod
    def joined(cls, parts: Iterable[ClassTally]) -> ClassTally:
        """Merge counts of different rows."""
        parts = list(parts)
        if len(parts) == 1:
            return parts[0]
        order = np.argsort(np.concatenate([part.bin for part in parts]), kind="stable")

        def ordered(name: str) -> Column:
            # One column after the other, for there may be millions of bins.
            return np.concatenate([getattr(part, name) for part in parts])[order]

        bins = ordered("bin")
        first = np.flatnonzero(np.append(True, bins[1:] != bins[:-1]))[: len(bins)]
        low = ordered("low")
        low = np.minimum.reduceat(low, first) if len(first) else low
        high = ordered("high")
        high = np.maximum.reduceat(high, first) if len(first) else high
        weight = ordered("weight")
        total_weight = _sums(weight, first)
        # Distances from the lowest score keep the digits of scores with a large offset.
        distance = ordered("mean") - np.repeat(low, np.diff(first, append=len(bins)))
        beyond = _sums(weight * distance, first) / total_weight
        return cls(
            bins[first],
            _sums(ordered("rows"), first),
            total_weight,
            _sums(ordered("squares"), first),
            np.clip(low + beyond, low, high),
            low,
            high,
        )

    @classmethod
    def empty(cls) -> ClassTally:
        """Return the counts of no rows."""
        return cls.of_sorted(np.empty(0, dtype=np.int64), np.empty(0))

    def columns(self) -> list[Column]:
        """Return the arrays in the order of the fields."""
        return [getattr(self, each.name) for each in fields(self)]

    def take(self, which: Column | slice) -> ClassTally:
        """Return some bins, by a mask, a slice or their numbers."""
        return ClassTally(*(column[which] for column in self.columns()))

    def renumbered(self, numbers: IntArray) -> ClassTally:
        """Return the bins with other numbers of groups above their bits."""
        group = group_of(self.bin)
        return replace(self, bin=self.bin + ((numbers[group] - group) << BIN_BITS))

    def beside(self, *others: ClassTally) -> ClassTally:
        """Return bins beside others, without merging them."""
        columns = zip(*(each.columns() for each in (self, *others)), strict=True)
        return ClassTally(*(np.concatenate(each) for each in columns))

    def __len__(self) -> int:
        return len(self.bin)


def _sums(values: Column, first: IntArray) -> Column:
    return np.add.reduceat(values, first) if len(first) else values[:0]


@dataclass(eq=False)
class Counts:
    """What a pass has counted so far, by label, and the rows that cannot be used.

    A fault has a column, a kind and a location, as in ("y_score", "NaN", "partition 3"). The number
    of a row's group, if rows have one, stands above the bits of its bin.
    """

    is_weighted: bool = False
    faults: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    groups: dict[Label, int] = field(default_factory=dict)
    _parts: dict[Label, list[ClassTally]] = field(default_factory=dict)

    @property
    def labels(self) -> list[Label]:
        """Labels met so far."""
        return list(self._parts)

    def add(self, label: Label, part: ClassTally) -> None:
        """Add rows of a class; a label may be added without rows."""
        parts = self._parts.setdefault(label, [])
        if len(part):
            parts.append(part)
        if len(parts) > 1 and sum(map(len, parts)) > max(_MOST_WAITING, 2 * len(parts[0])):
            parts[:] = [ClassTally.joined(parts)]

    def add_fault(self, column: str, kind: str, location: str, count: int) -> None:
        """Add rows that cannot be used, if there are any."""
        if count:
            self.faults[column, kind, location] += int(count)

    def number_groups(self, codes: LabelArray, names: Sequence[Label]) -> IntArray:
        """Return the number of each row's group, -1 for a code below 0."""
        numbers = np.full(len(names) + 1, -1)
        for code in np.flatnonzero(np.bincount(codes[codes >= 0])).tolist():
            numbers[code] = self.groups.setdefault(names[code], len(self.groups))
        return numbers[codes]

    def merge(self, other: Counts) -> None:
        """Add what was counted in other rows."""
        numbers = self.number_groups(np.arange(len(other.groups)), list(other.groups))
        self.faults.update(other.faults)
        self.is_weighted |= other.is_weighted
        for label, parts in other._parts.items():
            self._parts.setdefault(label, [])
            for part in parts:
                self.add(label, part.renumbered(numbers) if other.groups else part)

    def compact(self) -> Counts:
        """Join the counts of each class."""
        for parts in self._parts.values():
            if len(parts) > 1:
                parts[:] = [ClassTally.joined(parts)]
        return self

    def classes(self) -> Mapping[Label, ClassTally]:
        """Return the counts of each class."""
        return {label: parts[0] for label, parts in self.compact()._parts.items() if parts}
