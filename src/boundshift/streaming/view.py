"""Several problems in one pass: views of the same rows, and what is asked of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.request import ScanRequest
from boundshift.streaming.tally import Tally

__all__ = [
    "Everyone",
    "Group",
    "JointRequest",
    "JointTally",
    "Pair",
    "ValueCounts",
    "ValueTally",
    "View",
]

# Most classes or groups that are told apart.
_MOST_VALUES = 1000


class View(Protocol):
    """Some of the rows, with one score each."""

    def rows(self, chunk: Chunk) -> Chunk:
        """Return those rows of a chunk."""


@dataclass(frozen=True)
class Pair:
    """The rows of two classes, with the second's score minus the first's.

    Parameters
    ----------
    labels : pair of labels
        The classes.
    columns : pair of int
        Their columns of scores.
    """

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
        own = chunk.take(np.flatnonzero(np.isin(chunk.groups, codes)))
        return replace(own, groups=None)


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
    """What to find out in one pass about several views of the rows.

    Parameters
    ----------
    parts : tuple of (int, View, ScanRequest)
        The number of a problem, its view, and what is asked of it.
    """

    parts: tuple[tuple[int, View, ScanRequest], ...]

    def tally(self, chunks: Iterable[Chunk]) -> JointTally:
        """Return what is found in some chunks."""
        total = JointTally()
        for chunk in chunks:
            found = {
                number: request.tally([rows])
                for number, view, request in self.parts
                if len(rows := view.rows(chunk))
            }
            total.merge(JointTally(found))
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
    """The request to count how many rows have each label or belong to each group.

    Parameters
    ----------
    column : {"label", "by"}
        Which of the two.
    """

    column: str

    def tally(self, chunks: Iterable[Chunk]) -> ValueTally:
        """Return what is found in some chunks; a missing value counts as None."""
        total = ValueTally()
        for chunk in chunks:
            total.merge(ValueTally(Counter(self._count(chunk.counted()))))
        return total

    def _count(self, chunk: Chunk) -> dict[Any, int]:
        """Return the counts of a chunk."""
        values, names = chunk.labels, chunk.categories
        if self.column == "by":
            assert chunk.groups is not None
            values, names = chunk.groups, chunk.group_names
        if names is None:
            is_missing = np.asarray(values != values, dtype=np.bool_)
            known, counts = np.unique(values[~is_missing], return_counts=True)
            found = dict(zip(known.tolist(), counts.tolist(), strict=True))
            missing = int(np.count_nonzero(is_missing))
        else:
            by_code = np.bincount(values[values >= 0], minlength=len(names)).tolist()
            found = {name: count for name, count in zip(names, by_code, strict=True) if count}
            missing = int(np.count_nonzero(values < 0))
        return found | ({None: missing} if missing else {})
