"""Deciding from data that is read in passes: decide, find what is missing, look, decide again.

The first pass brings counts, extremes, moments and a grid of cells. A decision on these is an
estimate, and takes note of the cells that it rests on; the next pass looks into those cells. A
decision that rests only on scores that are known one by one is the decision of the sorted scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.scores.sample import Binning, ScoreSample, scale_exponent
from boundshift.streaming.cell_scores import CellScores
from boundshift.streaming.cells import Cells, Needs, changed_rows
from boundshift.streaming.chunk import Chunk, Fault
from boundshift.streaming.grid import Grid
from boundshift.streaming.request import Look
from boundshift.streaming.source import Source
from boundshift.streaming.tally import Tally
from boundshift.validation import order_labels

__all__ = ["Resolved", "decide_in_passes"]

Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]

_CELLS = 1 << 15
_MOST_PASSES = 40
# Doubles that a cell has to hold.
_LEAST_WIDTH = 8


@dataclass(frozen=True)
class Resolved:
    """How a decision was reached.

    Parameters
    ----------
    passes : int
        Passes over the data.
    resolution : float
        Width of the widest range of scores that the decision rests on and that was not looked
        into, in units of the scores; 0 if there is none, and the decision is exact.
    """

    passes: int
    resolution: float


def decide_in_passes(
    source: Source,
    decide: Callable[[ScoreSample], Result],
    *,
    pos_label: object = None,
    alike: bool = True,
    max_passes: int | None = None,
    progress: Progress | None = None,
) -> tuple[Result, Resolved]:
    """Return the decision on the scores of a source, and how it was reached.

    Parameters
    ----------
    source : Source
        Where the rows are.
    decide : callable
        From a sample to the decision.
    pos_label : label, default=None
        The positive class; None takes the greater label.
    alike : bool, default=True
        Whether the decision treats both classes alike; if not, words as labels need a `pos_label`.
    max_passes : int, default=None
        Most passes; with fewer than needed the decision is an estimate that says its resolution.
        None for as many as it takes to be exact, but 40 at most.
    progress : callable, default=None
        Called with the name of the pass, chunks done, and all chunks.
    """
    most = _MOST_PASSES if max_passes is None else max_passes
    passes = _Passes(source, pos_label, alike, progress)
    passes.first()
    while True:
        needs = Needs()
        try:
            result = decide(passes.sample(needs))
        except InvalidInputError:
            # What an estimate finds wrong, the scores themselves may not.
            if not needs or passes.count >= most:
                raise
        else:
            if not needs or passes.count >= most:
                return result, Resolved(passes.count, passes.resolution(needs))
        passes.further(needs)


class _Passes:
    """What is known after some passes."""

    def __init__(
        self, source: Source, pos_label: object, alike: bool, progress: Progress | None
    ) -> None:
        self.count = 0
        self._source, self._progress = source, progress
        self._pos_label, self._alike = pos_label, alike
        self._binned: tuple[dict[Binning, Any], dict[Binning, Any]] = ({}, {})

    def first(self, exponent: int | None = None) -> None:
        """Find the classes, their moments and the cells."""
        look = _first_look(self._source.peek(), exponent)
        tally = self._run(look)
        _check_faults(tally.faults)
        self.labels = order_labels(tally.classes, self._pos_label, alike=self._alike)
        found = [tally.classes[label] for label in self.labels]
        largest = max(max(abs(c.low), abs(c.high)) for c in found)
        exponent = scale_exponent(float(np.ldexp(largest, look.exponent)))
        if exponent != look.exponent:
            # The rows peeked at were of another size than the rest.
            return self.first(exponent)
        self._look, self._moments = look, found
        self._cells = Cells.start(found, look.grid, look.pivot)

    def sample(self, needs: Needs) -> ScoreSample:
        """Return what is known as a sample, which takes note of what it lacks."""
        negative, positive = (
            CellScores(self._cells, i, self._moments[i], self._look.pivot, needs, self._binned[i])
            for i in (0, 1)
        )
        return ScoreSample(negative, positive, self._look.exponent, self.labels)

    def further(self, needs: Needs) -> None:
        """Look into what is needed."""
        plan = self._cells.plan(needs)
        binnings = tuple(dict.fromkeys(needs.binnings))
        look = replace(
            self._look,
            labels=self.labels,
            grid=None,
            refinement=plan[1] if plan else None,
            binnings=tuple((self.labels[i], binning) for i, binning in binnings),
        )
        tally = self._run(look)
        found = [tally.of(label) for label in self.labels]
        if plan is not None:
            self._cells = self._cells.refined(*plan, found)
        for i, (which, binning) in enumerate(binnings):
            counts = found[which].binned.get(i, np.zeros(binning.size))
            if round(counts.sum()) != self._moments[which].n:
                raise changed_rows(self._moments[which].n, round(counts.sum()))
            self._binned[which][binning] = counts

    def resolution(self, needs: Needs) -> float:
        """Return the width of the widest cell that is still needed."""
        lows, tops = self._cells.edges
        widths = [float((tops - lows)[cells].max()) for cells in needs.cells]
        widths += [binning.cell for _, binning in needs.binnings]
        widths += [cuts.width for cuts in needs.cuts]
        return float(np.ldexp(max(widths, default=0.0), self._look.exponent))

    def _run(self, look: Look) -> Tally:
        """Run a pass."""
        self.count += 1
        name = f"pass {self.count}"

        def show(done: int, total: int) -> None:
            if self._progress is not None:
                self._progress(name, done, total)

        return self._source.run(look, show)


def _first_look(chunks: Iterable[Chunk], exponent: int | None) -> Look:
    """Return the first look: a grid somewhat wider than the rows peeked at."""
    scores = [chunk.scores.astype(np.float64) for chunk in chunks]
    peeked = np.concatenate([*scores, np.empty(0)])
    peeked = peeked[np.isfinite(peeked)]
    if not len(peeked):
        return Look(exponent=exponent or 0)
    if exponent is None:
        # Only known to be needed against overflow; tiny scores may have larger ones beside them.
        exponent = max(scale_exponent(float(np.abs(peeked).max())), 0)
    peeked = np.ldexp(peeked, -exponent)
    low, high = float(peeked.min()), float(peeked.max())
    margin = (high - low) / 16
    grid = Grid(low - margin, high + margin, _CELLS)
    # Cells must be told apart where the scores are, far from 0 as well.
    is_wide = grid.width > _LEAST_WIDTH * np.spacing(max(abs(grid.low), abs(grid.high)))
    is_wide = bool(is_wide and np.isfinite(1 / grid.width))
    return Look(exponent=exponent, pivot=float(np.median(peeked)), grid=grid if is_wide else None)


def _check_faults(faults: list[Fault]) -> None:
    """Raise if a chunk holds values that cannot be used."""
    if not faults:
        return
    shown = ", ".join(f"{f.count} {f.what} in {f.place}" for f in faults)
    column = faults[0].column
    if column == "y_true":
        raise InvalidInputError(
            f"`y_true` must hold a label for each row, got {shown}. Drop the rows without a label."
        )
    raise InvalidInputError(
        f"`y_score` must be finite, got {shown}. "
        "Drop those rows, or clip infinite scores to the largest finite one."
    )
