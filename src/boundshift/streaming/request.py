"""What one pass is to find out about every row, and how it is found in a chunk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from boundshift.scores.log_odds import LogOdds
from boundshift.scores.sample import Binning
from boundshift.streaming.chunk import Chunk, distinct_labels
from boundshift.streaming.grid import Grid, Refinement
from boundshift.streaming.tally import Tally
from boundshift.typing import FloatArray

__all__ = ["OUTSIDE", "ScanRequest"]


OUTSIDE = "outside [0, 1]"
"""Fault of a score that is held to be a probability and is none."""

# Rows worked on at a time, so that they stay in the cache of a core.
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
        for chunk in chunks:
            self._add_chunk(chunk, tally)
        return tally

    def _add_chunk(self, chunk: Chunk, tally: Tally) -> None:
        """Add what is found in a chunk, a few rows at a time."""
        chunk = self._with_good_weights(chunk, tally)
        selected = []
        for start in range(0, len(chunk), _ROWS):
            rows = self._scaled(chunk.take(slice(start, start + _ROWS)))
            if self.refinement is not None:
                selected.append(rows.take(self.refinement.select(rows.scores)))
            if not self.labels:
                for label, scores, weights in self._split(rows, tally):
                    found = tally.of(label)
                    if weights is not None:
                        found.squared_weights += float((weights * weights).sum())
                        found.weighted_rows += len(weights)
                    if self.log_odds is not None:
                        scores, weights = found.split_saturated(scores, weights)
                        if not len(scores):
                            continue
                    found.add_moments(scores, self.pivot, weights)
                    if self.grid is not None:
                        found.add_cells(self.grid, scores, weights)
                    elif weights is not None:
                        found.add_rows(len(scores))
            for i, (label, binning) in enumerate(self.binnings):
                binned, own = tally.of(label).binned, rows.of(label)
                binned[i] = binned.get(i, 0.0) + binning.count(own.scores, own.weights)
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

    def _split(self, chunk: Chunk, tally: Tally) -> list[tuple[Any, FloatArray, FloatArray | None]]:
        """Return the usable scores of each class and their weights; the others are faults."""
        seen, missing = distinct_labels(chunk)
        labels = tuple(seen)
        tally.add_fault(chunk, "missing", missing, "y_true")
        if len({*tally.classes, *labels}) > 2:
            tally.add_labels(labels)
            return []
        if len(labels) == 1 and not missing:
            parts = [(labels[0], chunk)]
        else:
            parts = [(label, chunk.of(label)) for label in labels]
        parts = [(label, self._finite(rows, tally)) for label, rows in parts]
        if self.log_odds is not None:
            parts = [(label, self._probable(rows, tally)) for label, rows in parts]
        return [(label, rows.scores, rows.weights) for label, rows in parts if len(rows)]

    def _probable(self, rows: Chunk, tally: Tally) -> Chunk:
        """Return the log-odds of scores in [0, 1], and add the others to the faults."""
        assert self.log_odds is not None
        scores = rows.scores
        if len(scores) and (scores.min() < 0 or scores.max() > 1):
            outside = (scores < 0) | (scores > 1)
            tally.add_fault(rows, OUTSIDE, int(np.count_nonzero(outside)))
            rows = rows.take(~outside)
        return replace(rows, scores=self.log_odds.of(rows.scores))

    def _finite(self, rows: Chunk, tally: Tally) -> Chunk:
        """Return the rows with finite scores, and add the others to the faults."""
        scores = rows.scores
        with np.errstate(invalid="ignore", over="ignore"):
            if not len(scores) or np.isfinite(scores.min() - scores.max()):
                return rows
        tally.add_fault(rows, "NaN", int(np.isnan(scores).sum()))
        tally.add_fault(rows, "infinite", int(np.isinf(scores).sum()))
        return rows.take(np.isfinite(scores))


def _together(chunks: list[Chunk]) -> Chunk:
    """Return the rows of some parts of one chunk as one."""
    weights = [c.weights for c in chunks if c.weights is not None]
    return replace(
        chunks[0],
        labels=np.concatenate([c.labels for c in chunks]),
        scores=np.concatenate([c.scores for c in chunks]),
        weights=np.concatenate(weights) if weights else None,
    )
