"""Deciding from data that is read in passes: decide, look into what was uncertain, decide again.

The first pass brings each class's count, extremes and moments, and counts its scores in a grid of
cells. A decision on these is an estimate, and lists the cells that it rests on; the next pass
looks into those cells. A decision that rests only on scores that are known one by one is the
decision of the sorted scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.scores.log_odds import SCALES, LogOdds, Scale, have_odds, not_probabilities
from boundshift.scores.sample import Binning, ScoreSample
from boundshift.scores.weighted import no_weights, not_frequencies
from boundshift.streaming.cell_scores import CellScores, WeightedCellScores
from boundshift.streaming.cells import Cells, OpenQuestions, changed_rows
from boundshift.streaming.chunk import Chunk, Fault
from boundshift.streaming.grid import Grid
from boundshift.streaming.request import OUTSIDE, ScanRequest
from boundshift.streaming.source import Progress, Source
from boundshift.streaming.tally import ClassTally, Tally
from boundshift.validation import as_choice, order_labels

__all__ = ["PassRecord", "decide_in_passes"]

Result = TypeVar("Result")

# Cells of the first pass.
_CELLS = 1 << 15
_MOST_PASSES = 40
# Sums of squares of at most 2**40 scores below this magnitude cannot overflow or vanish.
_SAFE_EXPONENT = 400
# A median that is a smaller share of the largest score cannot be told from 0 in a grid.
_LEAST_SHARE = 1e-100
# Sums of the same weights in another order differ by less, of their size.
_SAME_WEIGHT = 1e-9
# A cell of fewer doubles is too narrow to be told from its neighbours.
_LEAST_DOUBLES = 8


@dataclass(frozen=True)
class PassRecord:
    """How many passes a decision took, and what they left open.

    Parameters
    ----------
    passes : int
        Number of passes over the data.
    resolution : float
        Width of the widest range of scores that the decision rests on and whose scores are not
        known one by one; 0 if there is none, and the decision is exact.
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
    scale: Scale = "raw",
) -> tuple[Result, PassRecord]:
    """Return the decision on the scores of a source, and how many passes it took.

    Parameters
    ----------
    source : Source
        Where the rows come from.
    decide : callable
        From a sample to the decision.
    pos_label : label, default=None
        The positive class; None takes the greater label.
    alike : bool, default=True
        Whether the decision treats both classes alike; if not, words as labels need a `pos_label`.
    max_passes : int, default=None
        Most passes; with fewer than it takes the decision is an estimate, and the record says how
        coarse. None for as many as it takes to be exact, but 40 at most.
    progress : callable, default=None
        Called with the name of the pass, the number of parts read, and of all parts.
    scale : {"auto", "probability", "raw"}, default="raw"
        As in `find_boundary`. If the rows peeked at are probabilities, the first pass takes all
        for such; if it meets others, or hard labels, it is made again with the scores as they are.
    """
    as_choice("scale", scale, SCALES)
    most = _MOST_PASSES if max_passes is None else max_passes
    scan = _Scan(source, pos_label, alike, progress, scale)
    scan.first_pass()
    while True:
        questions = OpenQuestions()
        is_last = scan.passes >= most
        try:
            sample = scan.sample(questions)
            _check_sizes(sample)
            with np.errstate(over="ignore", invalid="ignore"):  # of estimates that are refused
                result = decide(sample)
        except InvalidInputError:
            # What an estimate finds wrong, the scores themselves may not.
            if not questions or is_last:
                raise
        else:
            if not questions or is_last:
                return result, PassRecord(scan.passes, scan.resolution(questions))
        scan.next_pass(questions)


class _Scan:
    """What is known of a source after some passes."""

    def __init__(
        self,
        source: Source,
        pos_label: object,
        alike: bool,
        progress: Progress | None,
        scale: Scale,
    ) -> None:
        self.passes = 0
        self._scale: Scale = scale
        self._source, self._progress = source, progress
        self._pos_label, self._alike = pos_label, alike
        self._binned: tuple[dict[Binning, Any], dict[Binning, Any]] = ({}, {})

    def first_pass(self, exponent: int | None = None) -> None:
        """Find the classes, their moments and the counts of the cells."""
        request = _first_request(self._source.peek(), exponent, self._scale)
        tally = self._pass(request)
        outside = [f for f in tally.faults if f.kind == OUTSIDE]
        if outside and self._scale == "probability":
            raise not_probabilities(_list_faults(outside))
        if outside:
            return self._first_pass_as_given()
        _check_faults(tally.faults)
        if not tally.classes and self._source.is_weighted:
            raise no_weights()
        self.labels = order_labels(tally.classes, self._pos_label, alike=self._alike)
        found = [tally.classes[label] for label in self.labels]
        if request.log_odds is not None:
            return self._settle_log_odds(request, found)
        largest = max(max(abs(c.low), abs(c.high)) for c in found)
        exponent = scale_exponent(float(np.ldexp(largest, request.exponent)))
        if exponent != request.exponent:
            # The scores peeked at are of another order of magnitude than the rest.
            return self.first_pass(exponent)
        self._request, self._moments = request, found
        self._cells = Cells.from_first_pass(found, request.grid, request.pivot)

    def _first_pass_as_given(self) -> None:
        """Make the first pass again, with scores as they are."""
        self._scale = "raw"
        self.first_pass()

    def _settle_log_odds(self, request: ScanRequest, found: list[ClassTally]) -> None:
        """Put exact zeros and ones beyond all other log-odds, now that these are known."""
        least, most = min(c.low for c in found), max(c.high for c in found)
        zeros, ones = (sum(c.saturated[side] for c in found) for side in (0, 1))
        if not have_odds(least, most, saturated=bool(zeros or ones)):
            return self._first_pass_as_given()
        log_odds = LogOdds.of_extremes(least, most, zeros=zeros > 0, ones=ones > 0)
        ends = log_odds.low, log_odds.high
        cells = Cells.from_first_pass(found, request.grid, request.pivot)
        self._cells = cells.with_saturated(found, ends)
        for c in found:
            c.settle_saturated(ends, request.pivot)
        self._request, self._moments = replace(request, log_odds=log_odds), found

    def sample(self, questions: OpenQuestions) -> ScoreSample:
        """Return what is known as a sample, which adds to the questions what it only estimates."""
        kind = WeightedCellScores if self._source.is_weighted else CellScores
        negative, positive = (
            kind(self._cells, i, moments, self._request.pivot, questions, self._binned[i])
            for i, moments in enumerate(self._moments)
        )
        request = self._request
        return ScoreSample(negative, positive, request.exponent, self.labels, request.log_odds)

    def next_pass(self, questions: OpenQuestions) -> None:
        """Find the answers to questions."""
        plan = self._cells.plan(questions)
        binnings = tuple(dict.fromkeys(questions.binnings))
        request = replace(
            self._request,
            labels=self.labels,
            grid=None,
            refinement=plan[1] if plan else None,
            binnings=tuple((self.labels[i], binning) for i, binning in binnings),
        )
        tally = self._pass(request)
        found = [tally.of(label) for label in self.labels]
        if plan is not None:
            self._cells = self._cells.refined(*plan, found)
        for i, (which, binning) in enumerate(binnings):
            counts = found[which].binned.get(i, np.zeros(binning.size))
            before, now = self._moments[which].n, float(counts.sum())
            if abs(now - before) > (_SAME_WEIGHT * before if self._source.is_weighted else 0.5):
                raise changed_rows(before, now)
            self._binned[which][binning] = counts

    def resolution(self, questions: OpenQuestions) -> float:
        """Return the width of the widest cell that is still in question."""
        lows, tops = self._cells.edges
        widths = [float((tops - lows)[cells].max()) for cells in questions.cells]
        widths += [binning.cell for _, binning in questions.binnings]
        widths += [cuts.width for cuts in questions.cuts]
        widest = max(widths, default=0.0)
        if self._request.log_odds is not None:
            return widest / 4  # no probability changes faster with its log-odds
        return float(np.ldexp(widest, self._request.exponent))

    def _pass(self, request: ScanRequest) -> Tally:
        """Read all rows once."""
        self.passes += 1
        name = f"pass {self.passes}"

        def on_progress(done: int, total: int) -> None:
            if self._progress is not None:
                self._progress(name, done, total)

        return self._source.scan(request, on_progress)


def scale_exponent(largest: float) -> int:
    """Return the power of two to divide by: 0 unless the scores are huge or tiny.

    All of it, unlike in memory, since places in a grid are products of scores and its width.
    """
    exponent = int(np.frexp(largest)[1])
    return exponent if abs(exponent) > _SAFE_EXPONENT else 0


def _first_request(
    chunks: Iterable[Chunk], exponent: int | None, scale: Scale = "raw"
) -> ScanRequest:
    """Return the first request: a grid somewhat wider than the range of the rows peeked at."""
    scores = [chunk.counted().scores.astype(np.float64) for chunk in chunks]
    peeked = np.concatenate([*scores, np.empty(0)])
    peeked = peeked[np.isfinite(peeked)]
    log_odds = None
    are_probable = len(peeked) > 0 and peeked.min() >= 0 and peeked.max() <= 1
    if scale == "probability" or (scale == "auto" and are_probable):
        log_odds, exponent = LogOdds(), 0
        peeked = log_odds.of(peeked)
        peeked = peeked[np.isfinite(peeked)]
    if not len(peeked):
        return ScanRequest(exponent=exponent or 0, log_odds=log_odds)
    if exponent is None:
        # Only against overflow: scores that look tiny here may have larger ones among the rest.
        exponent = max(scale_exponent(float(np.abs(peeked).max())), 0)
    peeked = np.ldexp(peeked, -exponent)
    low, high = float(peeked.min()), float(peeked.max())
    margin = (high - low) / 16
    grid = Grid(low - margin, high + margin, _CELLS)
    # Cells must be told apart where the scores are, far from 0 as well.
    is_wide = grid.width > _LEAST_DOUBLES * np.spacing(max(abs(grid.low), abs(grid.high)))
    is_wide = bool(is_wide and np.isfinite(1 / grid.width))
    pivot = float(np.median(peeked))
    used = grid if is_wide else None
    return ScanRequest(exponent=exponent, pivot=pivot, grid=used, log_odds=log_odds)


def _check_sizes(sample: ScoreSample) -> None:
    """Raise if a few scores are so much larger than the rest that no grid holds both."""
    if sample.exponent <= 0:
        return
    classes = (sample.negative, sample.positive)
    largest = max(max(abs(c.minimum), abs(c.maximum)) for c in classes)
    typical = max(abs(c.median) for c in classes)
    if typical < _LEAST_SHARE * largest:
        raise InvalidInputError(
            "`y_score` must be of one size where it is read in passes, got scores up to "
            f"{sample.to_units(largest):.3g} beside a median of {sample.to_units(typical):.3g}. "
            "Drop the rows whose score is a stand-in for a missing or an infinite one."
        )


def _list_faults(faults: list[Fault]) -> str:
    """Return how many rows are faulty in which way, and where."""
    return ", ".join(f"{f.count} {f.kind} in {f.location}" for f in faults)


def _check_faults(faults: list[Fault]) -> None:
    """Raise if some rows cannot be used."""
    if not faults:
        return
    shown = _list_faults(faults)
    column = faults[0].column
    if column == "sample_weight":
        raise not_frequencies(faults[0].kind, sum(f.count for f in faults if f.column == column))
    if column == "y_true":
        raise InvalidInputError(
            f"`y_true` must hold a label for each row, got {shown}. Drop the rows without a label."
        )
    raise InvalidInputError(
        f"`y_score` must be finite, got {shown}. "
        "Drop those rows, or clip infinite scores to the largest finite one."
    )
