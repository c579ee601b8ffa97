"""Further passes: the scores in some bins, one by one or in finer bins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count

import numpy as np

from boundshift._typing import BoolArray, IntArray
from boundshift._validation import bad_weights
from boundshift.exceptions import InvalidInputError
from boundshift.streaming import _bins
from boundshift.streaming._count import PassRequest, Ranges
from boundshift.streaming._joint import JointBins
from boundshift.streaming._read import Source
from boundshift.streaming._tally import ClassTally, Counts

Progress = Callable[[str, int, int], None]
"""Called with the name of the pass, the number of parts read, and of all parts."""

# Rows whose scores are counted one by one in one pass; of more, finer bins are counted.
_MOST_SCORES = 1 << 21
# Ranges of one pass. Bins between two ranges are looked into as well, to have fewer.
_MOST_RANGES = 64
# Faults that an error lists.
_MOST_FAULTS = 8


class Passes:
    """Passes over a source, which names each of them to whoever wants to know of progress."""

    def __init__(self, source: Source, progress: Progress | None = None) -> None:
        self._source = source
        self._progress = progress
        self._numbers = count(1)

    def count(self, request: PassRequest) -> Counts:
        """Read every row once, and refuse rows that cannot be used."""
        name = f"pass {next(self._numbers)}"
        on_progress = partial(self._progress, name) if self._progress else _ignore
        counts = self._source(request, on_progress)
        check_faults(counts)
        return counts

    def look_into(self, bins: JointBins, wanted: BoolArray) -> JointBins:
        """Replace some bins by their scores, or by finer bins if they hold very many rows."""
        first, last = _runs(wanted, bins)
        is_inside = _inside(first, last, len(wanted))
        origins = None
        if bins.total_rows[is_inside].sum() > _MOST_SCORES:
            first, last = _heaviest_runs(wanted, bins)
            is_inside = _inside(first, last, len(wanted))
            origins = np.array([bins.mean_between(i, j) for i, j in zip(first, last, strict=True)])
        ranges = Ranges(bins.low[first], bins.high[last], origins)
        counts = self.count(PassRequest(ranges)).classes()
        seen = [counts.get(label, ClassTally.empty()) for label in bins.labels]
        for before, now in zip(bins.classes(is_inside), seen, strict=True):
            _check_same(before, now, ranges)
        kept = bins.classes(~is_inside)
        joined = [old.beside(new) for old, new in zip(kept, seen, strict=True)]
        return JointBins.of_classes(bins.labels, (joined[0], joined[1]), bins.is_weighted)


def _ignore(done: int, total: int) -> None:
    """Take a note of progress that nobody asked for."""


def _runs(wanted: BoolArray, bins: JointBins) -> tuple[IntArray, IntArray]:
    """Return the first and the last bin of runs that hold all bins wanted, and few others."""
    index = np.flatnonzero(wanted)
    rows_before = np.append(0, np.cumsum(bins.total_rows))
    rows_between = rows_before[index[1:]] - rows_before[index[:-1] + 1]
    most_breaks = np.sort(np.argsort(rows_between, kind="stable")[::-1][: _MOST_RANGES - 1])
    breaks = most_breaks[rows_between[most_breaks] > 0]
    return index[np.append(0, breaks + 1)], index[np.append(breaks, len(index) - 1)]


def _heaviest_runs(wanted: BoolArray, bins: JointBins) -> tuple[IntArray, IntArray]:
    """Return runs of bins wanted, those with the most rows if there are many.

    A run is so short that bins around its mean are finer than its own.
    """
    index = np.flatnonzero(wanted)
    longest = max(_bins.PARTS // 4, 1)
    is_first = np.append(True, np.diff(index) > 1)
    start_of_run = np.maximum.accumulate(np.where(is_first, np.arange(len(index)), 0))
    is_first |= (np.arange(len(index)) - start_of_run) % longest == 0
    first = np.flatnonzero(is_first)
    last = np.append(first[1:], len(index)) - 1
    rows = np.add.reduceat(bins.total_rows[index], first)
    heaviest = np.sort(np.argsort(rows, kind="stable")[::-1][:_MOST_RANGES])
    return index[first[heaviest]], index[last[heaviest]]


def _inside(first: IntArray, last: IntArray, size: int) -> BoolArray:
    """Return which bins are in some runs."""
    is_inside = np.zeros(size, dtype=np.bool_)
    for start, end in zip(first, last, strict=True):
        is_inside[start : end + 1] = True
    return is_inside


def _check_same(before: ClassTally, now: ClassTally, ranges: Ranges) -> None:
    """Raise unless each range holds as many rows as before, and the same extremes.

    Numbers alone would often agree although the rows were drawn anew.
    """
    first, second = (
        ClassTally.joined([replace(tally, bin=ranges.find(tally.low)[0]), ClassTally.empty()])
        for tally in (before, now)
    )
    names = ("bin", "rows", "low", "high")
    if not all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names):
        raise InvalidInputError(
            f"Chunks must be the same in every pass, got {_describe(first)} in one pass and "
            f"{_describe(second)} in the next. Pass a list, or a function that makes the same "
            "chunks again; persist a frame whose rows are drawn at random."
        )


def _describe(tally: ClassTally) -> str:
    if not len(tally):
        return "0 rows"
    return f"{tally.rows.sum()} rows from {tally.low.min()} to {tally.high.max()}"


def check_unweighted(is_weighted: bool) -> None:
    """Raise for rows with weights, of which nothing is guaranteed."""
    if is_weighted:
        raise InvalidInputError(
            "must be without weights for a certificate or a zone, whose guarantees count rows, "
            "got some with weights. Leave the weights out.",
            argument="data",
        )


def check_faults(counts: Counts) -> None:
    """Raise unless every row can be used."""
    if counts.is_weighted and not counts.labels and not counts.faults:
        raise bad_weights("0 for every row")
    of_column: dict[str, list[tuple[str, str, int]]] = {}
    for (column, kind, location), number in sorted(counts.faults.items()):
        of_column.setdefault(column, []).append((kind, location, number))
    if "sample_weight" in of_column:
        faults = of_column["sample_weight"]
        others = sum(number for _, _, number in faults) - 1
        raise bad_weights(f"{faults[0][0]} and {others} more like it")
    for column, rule, remedy in _RULES:
        faults = of_column.get(column, [])
        shown = faults[:_MOST_FAULTS]
        listed = ", ".join(f"{number} {kind} in {place}" for kind, place, number in shown)
        if faults[_MOST_FAULTS:]:
            listed += f" and others in {len(faults) - _MOST_FAULTS} more places"
        if faults:
            raise InvalidInputError(f"must {rule}, got {listed}. {remedy}", argument=column)


_RULES = (
    ("y_true", "hold a label for each row", "Drop the rows without a label."),
    (
        "by",
        "name the group of each row",
        "Drop those rows, or give them a group of their own.",
    ),
    (
        "y_score",
        "be finite and at most 1e+290 in magnitude",
        "Drop those rows, or clip infinite scores to the largest finite one.",
    ),
)
