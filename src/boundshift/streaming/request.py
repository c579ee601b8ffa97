"""What one pass is to find out about every row, and how it is found in a chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boundshift.scores import LogOdds
from boundshift.streaming.binning import Binning
from boundshift.streaming.chunk import Chunk, distinct_labels
from boundshift.streaming.counter import CellCounter
from boundshift.streaming.grid import Grid, Refinement
from boundshift.streaming.tally import Tally, extremes

__all__ = ["OUTSIDE", "ScanRequest"]


OUTSIDE = "outside [0, 1]"
"""Fault of a score that is held to be a probability and is none."""

# Rows worked on at a time: fewer stay in the cache of a core, but threads then wait for each other.
_ROWS = 1 << 18


@dataclass(frozen=True, eq=False)
class ScanRequest:
    """What to find out about every row in one pass.

    The first pass finds the classes, their moments and, with a grid, the counts of its cells.
    Every further pass knows the classes; it looks into some cells and counts at some nodes.

    Parameters
    ----------
    exponent : int, default=0
        Scores are divided by this power of two.
    labels : tuple, default=()
        The classes; empty in the first pass, which finds them.
    pivot : float, default=0
        A score near the others, from which sums are counted so that they keep their digits.
    grid : Grid, default=None
        Cells to count in.
    refinement : Refinement, default=None
        Cells to look into.
    binnings : tuple of (label, Binning), default=()
        Nodes at which to count the scores of a class.
    log_odds : LogOdds, default=None
        Carries scores that are probabilities to their log-odds. In the first pass it does not know
        yet where exact zeros and ones stand; these are counted apart.
    """

    exponent: int = 0
    labels: tuple[Any, ...] = ()
    pivot: float = 0.0
    grid: Grid | None = None
    refinement: Refinement | None = None
    binnings: tuple[tuple[Any, Binning], ...] = ()
    log_odds: LogOdds | None = None

    def refinement_by_code(self) -> ScanRequest:
        """Return the request for the refinement alone, for rows whose labels are 0 and 1.

        Their scores are log-odds already, where the request asks for these.
        """
        return replace(self, labels=tuple(range(len(self.labels))), binnings=(), log_odds=None)

    def tally(self, chunks: Iterable[Chunk]) -> Tally:
        """Return what is found in some chunks."""
        tally = Tally()
        add = self._answer if self.labels else self._explore
        counters: dict[Any, CellCounter] = {}
        for chunk in chunks:
            add(self._with_good_weights(chunk, tally), tally, counters)
        for key, counter in counters.items():
            counter.finish()
            if self.labels:
                label, binning = self.binnings[key]
                tally.of(label).binned[key] = binning.spread(counter.counts, counter.sums)
            else:
                tally.of(key).add_cells(counter)
        return tally

    def _blocks(self, chunk: Chunk) -> Iterator[Chunk]:
        """Yield a few rows at a time, their scores divided by the power of two or as log-odds."""
        for start in range(0, len(chunk), _ROWS):
            yield self._scaled(chunk.take(slice(start, start + _ROWS)))

    def _explore(self, chunk: Chunk, tally: Tally, counters: dict[Any, CellCounter]) -> None:
        """Add the moments of the classes of a chunk, and count their scores in the grid."""
        for rows in self._blocks(chunk):
            for label, own in self._split(rows, tally):
                own, ends = self._usable(own, tally)
                if not len(own):
                    continue
                found, weights = tally.of(label), own.weights
                if weights is not None:
                    found.squared_weights += float((weights * weights).sum())
                    found.weighted_rows += len(weights)
                if self.log_odds is not None:
                    own = found.split_saturated(own)
                    if not len(own):
                        continue
                    ends, weights = extremes(own.scores), own.weights
                found.add_moments(own.scores, self.pivot, ends, weights)
                if self.grid is not None:
                    counter = _counter_for(counters, label, self.grid.size, weights is not None)
                    _put_in_grid(self.grid, counter, own, ends)
                elif weights is not None:
                    found.add_rows(len(own))

    def _answer(self, chunk: Chunk, tally: Tally, counters: dict[Any, CellCounter]) -> None:
        """Count the scores of a chunk at nodes, and look into the cells of the refinement."""
        selected = []
        for rows in self._blocks(chunk):
            if self.refinement is not None:
                selected.append(rows.take(self.refinement.select(rows.scores)))
            for i, (label, binning) in enumerate(self.binnings):
                own = rows.of(label)
                counter = _counter_for(counters, i, binning.size, own.weights is not None)
                _put_at_nodes(binning, counter, own)
        if self.refinement is not None and selected:
            rows = _together(selected)
            for label in self.labels:
                own = rows.of(label)
                if own.weights is None:
                    tally.of(label).add_refined(self.refinement, np.sort(own.scores))
                else:
                    own = own.take(np.argsort(own.scores, kind="stable"))
                    tally.of(label).add_refined(self.refinement, own.scores, own.weights)

    def _with_good_weights(self, chunk: Chunk, tally: Tally) -> Chunk:
        """Return the rows that count, and add weights that are no frequencies to the faults."""
        if chunk.weights is None:
            return chunk
        weights = chunk.weights.astype(np.float64, copy=False)
        good = np.isfinite(weights) & (weights >= 0)
        if not good.all():
            bad = weights[~good]
            tally.add_weight_fault(float(bad[0]), len(bad))
            chunk, weights = chunk.take(good), weights[good]
        return replace(chunk, weights=weights).counted()

    def _scaled(self, rows: Chunk) -> Chunk:
        """Return rows with their scores divided by the power of two, or as log-odds."""
        scores = rows.scores.astype(np.float64, copy=False)
        if self.log_odds is not None and self.labels:
            scores = self.log_odds.of(scores)
        elif self.exponent:
            scores = np.ldexp(scores, -self.exponent)
        return replace(rows, scores=scores)

    def _split(self, rows: Chunk, tally: Tally) -> list[tuple[Any, Chunk]]:
        """Return the rows of each class, and add those without a label to the faults."""
        known = rows.split(tuple(tally.classes))
        if known is not None:
            return known
        labels, missing = distinct_labels(rows)
        tally.add_fault(rows, "missing", missing, "y_true")
        if len({*tally.classes, *labels}) > 2:
            tally.add_labels(tuple(labels))
            return []
        return [(label, rows.of(label)) for label in labels]

    def _usable(self, rows: Chunk, tally: Tally) -> tuple[Chunk, tuple[float, float]]:
        """Return the rows of a class that can be used, and their extremes; others are faults."""
        ends = extremes(rows.scores)
        if not np.isfinite(ends[1] - ends[0]):
            finite = np.isfinite(rows.scores)
            tally.add_fault(rows, "NaN", int(np.isnan(rows.scores).sum()))
            tally.add_fault(rows, "infinite", int(np.isinf(rows.scores).sum()))
            rows = rows.take(finite)
            ends = extremes(rows.scores)
        if self.log_odds is not None:
            rows = self._probable(rows, ends, tally)
        return rows, ends

    def _probable(self, rows: Chunk, ends: tuple[float, float], tally: Tally) -> Chunk:
        """Return the log-odds of scores in [0, 1], and add the others to the faults."""
        assert self.log_odds is not None
        if ends[0] < 0 or ends[1] > 1:
            outside = (rows.scores < 0) | (rows.scores > 1)
            tally.add_fault(rows, OUTSIDE, int(np.count_nonzero(outside)))
            rows = rows.take(~outside)
        return replace(rows, scores=self.log_odds.of(rows.scores))


def _counter_for(
    counters: dict[Any, CellCounter], key: Any, size: int, is_weighted: bool
) -> CellCounter:
    """Return the counter of a class or a binning, made when its first rows come."""
    if key not in counters:
        counters[key] = CellCounter(f"counter {len(counters)}", size, is_weighted)
    return counters[key]


def _put_in_grid(grid: Grid, counter: CellCounter, rows: Chunk, ends: tuple[float, float]) -> None:
    """Count scores, whose extremes are known, in the cells of a grid."""
    cells, offset = counter.reserve(len(rows), rows.weights)
    np.subtract(rows.scores, grid.origin, out=offset)
    grid.put_cells(offset, cells, (ends[0] - grid.origin, ends[1] - grid.origin))
    if rows.weights is not None:
        offset *= rows.weights


def _put_at_nodes(binning: Binning, counter: CellCounter, rows: Chunk) -> None:
    """Count scores at the nodes of a binning."""
    nodes, share = counter.reserve(len(rows), rows.weights)
    if binning.sign > 0:
        np.subtract(rows.scores, binning.low, out=share)
    else:
        np.subtract(-binning.low, rows.scores, out=share)
    binning.put_nodes(share, nodes)
    if rows.weights is not None:
        share *= rows.weights


def _together(chunks: list[Chunk]) -> Chunk:
    """Return the rows of some parts of one chunk as one."""
    weights = [c.weights for c in chunks if c.weights is not None]
    return replace(
        chunks[0],
        labels=np.concatenate([c.labels for c in chunks]),
        scores=np.concatenate([c.scores for c in chunks]),
        weights=np.concatenate(weights) if weights else None,
    )
