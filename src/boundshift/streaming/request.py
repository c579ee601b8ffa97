"""What one pass is to find out about every row, and how it is found in a chunk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.scores.log_odds import LogOdds
from boundshift.scores.sample import Binning
from boundshift.streaming.chunk import Chunk, distinct_labels
from boundshift.streaming.grid import Grid, Refinement
from boundshift.streaming.tally import Tally

__all__ = ["OUTSIDE", "ScanRequest"]

FloatArray = NDArray[np.float64]

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
        selected = []
        for start in range(0, len(chunk), _ROWS):
            rows = self._scaled(chunk.take(slice(start, start + _ROWS)))
            if self.refinement is not None:
                selected.append(rows.take(self.refinement.select(rows.scores)))
            if not self.labels:
                for label, scores in self._split(rows, tally):
                    found = tally.of(label)
                    if self.log_odds is not None:
                        scores = found.split_saturated(scores)
                        if not len(scores):
                            continue
                    found.add_moments(scores, self.pivot)
                    if self.grid is not None:
                        found.add_cells(self.grid, scores)
            for i, (label, binning) in enumerate(self.binnings):
                binned = tally.of(label).binned
                binned[i] = binned.get(i, 0.0) + binning.count(rows.scores[rows.mask_of(label)])
        if self.refinement is not None and selected:
            labels = np.concatenate([rows.labels for rows in selected])
            scores = np.concatenate([rows.scores for rows in selected])
            rows = replace(chunk, labels=labels, scores=scores)
            for label in self.labels:
                tally.of(label).add_refined(self.refinement, np.sort(scores[rows.mask_of(label)]))

    def _scaled(self, rows: Chunk) -> Chunk:
        """Return rows with their scores divided by the power of two, or as log-odds."""
        scores = rows.scores.astype(np.float64, copy=False)
        if self.log_odds is not None and self.labels:
            scores = self.log_odds.of(scores)
        elif self.exponent:
            scores = np.ldexp(scores, -self.exponent)
        return replace(rows, scores=scores)

    def _split(self, chunk: Chunk, tally: Tally) -> list[tuple[Any, FloatArray]]:
        """Return the usable scores of each class, and add the others to the faults."""
        seen, missing = distinct_labels(chunk)
        labels = tuple(seen)
        tally.add_fault(chunk, "missing", missing, "y_true")
        if len({*tally.classes, *labels}) > 2:
            tally.add_labels(labels)
            return []
        scores = chunk.scores
        if len(labels) == 1 and not missing:
            parts = [(labels[0], scores)]
        else:
            parts = [(label, scores[chunk.mask_of(label)]) for label in labels]
        parts = [(label, self._finite(s, chunk, tally)) for label, s in parts]
        if self.log_odds is not None:
            parts = [(label, self._probable(s, chunk, tally)) for label, s in parts]
        return [(label, s) for label, s in parts if len(s)]

    def _probable(self, scores: FloatArray, chunk: Chunk, tally: Tally) -> FloatArray:
        """Return the log-odds of scores in [0, 1], and add the others to the faults."""
        assert self.log_odds is not None
        if len(scores) and (scores.min() < 0 or scores.max() > 1):
            outside = (scores < 0) | (scores > 1)
            tally.add_fault(chunk, OUTSIDE, int(np.count_nonzero(outside)))
            scores = scores[~outside]
        return self.log_odds.of(scores)

    def _finite(self, scores: FloatArray, chunk: Chunk, tally: Tally) -> FloatArray:
        """Return the finite scores, and add the others to the faults."""
        with np.errstate(invalid="ignore", over="ignore"):
            if not len(scores) or np.isfinite(scores.min() - scores.max()):
                return scores
        tally.add_fault(chunk, "NaN", int(np.isnan(scores).sum()))
        tally.add_fault(chunk, "infinite", int(np.isinf(scores).sum()))
        return scores[np.isfinite(scores)]
