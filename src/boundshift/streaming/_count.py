"""What one pass counts, and how it counts chunks of rows with NumPy.

The scores of a class are sorted, so that each bin is a run of them. Sorting is quick, needs no
range, and leaves exactly the bins that hold rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift._validation import LARGEST_SCORE
from boundshift.streaming._bins import BIN_BITS, bins_of
from boundshift.streaming._read import ROWS_AT_ONCE, Chunk
from boundshift.streaming._tally import ClassTally, Counts

# Labels that are counted; more than two are an error that names some of them.
_MOST_LABELS = 8


@dataclass(frozen=True, eq=False)
class Ranges:
    """Ranges of scores to look into, in ascending order, which share no score.

    With `origins`, the distances from these are binned; without, every score is a bin.
    """

    lows: FloatArray
    highs: FloatArray
    origins: FloatArray | None = None

    def find(self, scores: FloatArray) -> tuple[IntArray, BoolArray]:
        """Return the range of each score, and whether the score lies in it."""
        index = np.minimum(np.searchsorted(self.highs, scores), len(self.highs) - 1)
        return index, (scores >= self.lows[index]) & (scores <= self.highs[index])


@dataclass(frozen=True, eq=False)
class PassRequest:
    """What to count in one pass: all rows, or those in some ranges of scores.

    A bin that holds a cut is counted in two parts, up to the cut and above it.
    """

    ranges: Ranges | None = None
    cuts: tuple[float, ...] = ()

    def count(self, chunks: Iterable[Chunk]) -> Counts:
        """Count chunks of rows."""
        counts = Counts()
        waiting: dict[object, list[Chunk]] = {}
        n_waiting = 0
        for chunk in chunks:
            counts.is_weighted |= chunk.weights is not None
            for start in range(0, len(chunk), ROWS_AT_ONCE):
                rows = self._usable(chunk.take(slice(start, start + ROWS_AT_ONCE)), counts)
                for label, is_own in _classes_of(rows, counts):
                    waiting.setdefault(label, []).append(rows.take(is_own))
                n_waiting += len(rows)
                if n_waiting >= ROWS_AT_ONCE:
                    self._flush(waiting, counts)
                    n_waiting = 0
        self._flush(waiting, counts)
        return counts

    def _flush(self, waiting: dict[object, list[Chunk]], counts: Counts) -> None:
        """Count the rows that wait, by label, and clear them."""
        for label, parts in waiting.items():
            scores = np.concatenate([part.scores for part in parts])
            weights = None
            if parts[0].weights is not None:
                weights = np.concatenate([part.weights for part in parts])
            groups = [counts.number_groups(*part.groups) for part in parts if part.groups]
            if groups:
                tally = _tally_groups(scores, np.concatenate(groups))
            else:
                tally = self._tally_class(scores, weights)
            counts.add(label, tally)
        waiting.clear()

    def _usable(self, rows: Chunk, counts: Counts) -> Chunk:
        """Return the rows to be counted, and note those that cannot be used."""
        rows = _with_usable_weights(rows, counts)
        scores = rows.scores.astype(np.float64, copy=False)
        # A magnitude that is NaN is at most nothing.
        is_usable = np.abs(scores) <= LARGEST_SCORE
        if not is_usable.all():
            is_missing = np.isnan(scores)
            infinite = ~is_usable & ~is_missing
            counts.add_fault("y_score", "NaN", rows.location, is_missing.sum())
            counts.add_fault("y_score", "infinite or larger", rows.location, infinite.sum())
        if rows.groups is not None:
            has_group = rows.groups[0] >= 0
            counts.add_fault("by", "missing", rows.location, int(np.count_nonzero(~has_group)))
            is_usable &= has_group
        if self.ranges is not None:
            is_usable &= self.ranges.find(scores)[1]
        rows = replace(rows, scores=scores)
        return rows if is_usable.all() else rows.take(is_usable)

    def _tally_class(self, scores: FloatArray, weights: FloatArray | None) -> ClassTally:
        if weights is None:
            scores.sort()
        else:
            order = np.argsort(scores, kind="stable")
            scores = scores[order]
            weights = weights[order]
        if self.ranges is None:
            bins = bins_of(scores)
            for cut in self.cuts:
                bins[np.searchsorted(scores, cut, side="right") :] += 1 << BIN_BITS
            return ClassTally.of_sorted(bins, scores, weights=weights)
        if self.ranges.origins is None:
            # The bits of a double as an integer, the same for both zeros.
            bins = (scores + 0.0).view(np.int64)
            return ClassTally.of_sorted(bins, scores, weights=weights)
        index, _ = self.ranges.find(scores)
        origin = self.ranges.origins[index]
        bins = (index << BIN_BITS) + bins_of(scores - origin)
        return ClassTally.of_sorted(bins, scores, origin, weights)


def _tally_groups(scores: FloatArray, groups: IntArray) -> ClassTally:
    order = np.lexsort((scores, groups))
    scores = scores[order]
    return ClassTally.of_sorted((groups[order] << BIN_BITS) + bins_of(scores), scores)


def _classes_of(rows: Chunk, counts: Counts) -> list[tuple[object, BoolArray]]:
    """Return which rows have each label, and note rows without a label."""
    masks = [rows.has(label) for label in counts.labels]
    if sum(map(np.count_nonzero, masks)) != len(rows):
        present, missing = rows.distinct()
        counts.add_fault("y_true", "missing", rows.location, missing)
        for label in present[:_MOST_LABELS] if len(counts.labels) <= 2 else ():
            counts.add(label, ClassTally.empty())
        masks = [rows.has(label) for label in counts.labels]
    return list(zip(counts.labels, masks, strict=True))


def _with_usable_weights(chunk: Chunk, counts: Counts) -> Chunk:
    """Return the rows whose weight is above 0; weights below are faults."""
    if chunk.weights is None:
        return chunk
    weights = chunk.weights.astype(np.float64, copy=False)
    is_usable = np.isfinite(weights) & (weights >= 0)
    unusable = weights[~is_usable]
    if len(unusable):
        counts.add_fault("sample_weight", f"{unusable[0]:g}", chunk.location, len(unusable))
    return replace(chunk, weights=weights).take(is_usable & (weights > 0))
