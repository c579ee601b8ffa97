"""What one pass is to find out about every row, and how it is found in a chunk."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.scores.sample import Binning
from boundshift.streaming.chunk import Chunk, distinct_labels
from boundshift.streaming.grid import Grid, Refinement
from boundshift.streaming.tally import Tally

__all__ = ["Look"]

FloatArray = NDArray[np.float64]

# Rows read at a time: what stays near a core.
_ROWS = 1 << 18


@dataclass(frozen=True, eq=False)
class Look:
    """What to find out about every row in one pass.

    Parameters
    ----------
    exponent : int, default=0
        Scores are divided by this power of two.
    labels : tuple, default=()
        The classes; none in the first pass, which finds them.
    pivot : float, default=0
        Where sums are counted from.
    grid : Grid, default=None
        Cells to count in.
    refinement : Refinement, default=None
        Cells to look into.
    binnings : tuple of (label, Binning), default=()
        Nodes to count at.
    """

    exponent: int = 0
    labels: tuple[Any, ...] = ()
    pivot: float = 0.0
    grid: Grid | None = None
    refinement: Refinement | None = None
    binnings: tuple[tuple[Any, Binning], ...] = ()

    def with_codes(self) -> Look:
        """Return the look into cells alone, at rows whose labels are 0 and 1 for the two."""
        return replace(self, labels=tuple(range(len(self.labels))), binnings=())

    def read(self, chunks: Iterable[Chunk]) -> Tally:
        """Return what is found in some chunks."""
        tally = Tally()
        for chunk in chunks:
            self._read_chunk(chunk, tally)
        return tally

    def _read_chunk(self, chunk: Chunk, tally: Tally) -> None:
        """Add what is found in a chunk, a few rows at a time."""
        kept = []
        for start in range(0, len(chunk), _ROWS):
            rows = self._scaled(chunk.rows(start, start + _ROWS))
            if self.refinement is not None:
                kept.append(rows.take(self.refinement.select(rows.scores)))
            if not self.labels:
                for label, scores in self._split(rows, tally):
                    found = tally.of(label)
                    found.add_moments(scores, self.pivot)
                    if self.grid is not None:
                        found.add_cells(self.grid, scores)
            for i, (label, binning) in enumerate(self.binnings):
                binned = tally.of(label).binned
                binned[i] = binned.get(i, 0.0) + binning.count(rows.scores[rows.where(label)])
        if self.refinement is not None and kept:
            labels, scores = (
                np.concatenate([getattr(rows, name) for rows in kept])
                for name in ("labels", "scores")
            )
            rows = Chunk(labels, scores, chunk.place, chunk.names)
            for label in self.labels:
                tally.of(label).refine(self.refinement, np.sort(scores[rows.where(label)]))

    def _scaled(self, rows: Chunk) -> Chunk:
        """Return rows with scores in the units of this look."""
        scores = rows.scores.astype(np.float64, copy=False)
        if self.exponent:
            scores = np.ldexp(scores, -self.exponent)
        return replace(rows, scores=scores)

    def _split(self, chunk: Chunk, tally: Tally) -> list[tuple[Any, FloatArray]]:
        """Return the scores of each class; take note of values that cannot be used."""
        seen, missing = distinct_labels(chunk)
        labels = tuple(seen)
        tally.fault(chunk, "missing", missing, "y_true")
        if len({*tally.classes, *labels}) > 2:
            tally.name(labels)
            return []
        scores = chunk.scores
        if len(labels) == 1 and not missing:
            parts = [(labels[0], scores)]
        else:
            parts = [(label, scores[chunk.where(label)]) for label in labels]
        parts = [(label, self._finite(s, chunk, tally)) for label, s in parts]
        return [(label, s) for label, s in parts if len(s)]

    def _finite(self, scores: FloatArray, chunk: Chunk, tally: Tally) -> FloatArray:
        """Return the finite scores; take note of the others."""
        with np.errstate(invalid="ignore", over="ignore"):
            if not len(scores) or np.isfinite(scores.min() - scores.max()):
                return scores
        tally.fault(chunk, "NaN", int(np.isnan(scores).sum()))
        tally.fault(chunk, "infinite", int(np.isinf(scores).sum()))
        return scores[np.isfinite(scores)]
