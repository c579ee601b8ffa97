"""Deciding from data that is read in passes: decide, look into what was uncertain, decide again.

The first pass brings each class's count, extremes and moments, and counts its scores in a grid of
cells. A decision on these is an estimate, and lists the cells that it rests on; the next pass
looks into those cells. A decision that rests only on scores that are known one by one is the
decision of the sorted scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.scores import (
    SCALES,
    LogOdds,
    Scale,
    Scores,
    ScoreSample,
    have_odds,
    not_probabilities,
)
from boundshift.streaming.bars import show_progress
from boundshift.streaming.binning import Binning
from boundshift.streaming.cell_scores import CellScores, WeightedCellScores
from boundshift.streaming.cells import Cells, OpenQuestions, changed_rows
from boundshift.streaming.chunk import Chunk, Fault
from boundshift.streaming.grid import Grid
from boundshift.streaming.request import OUTSIDE, ScanRequest
from boundshift.streaming.source import OnProgress, Progress, Source
from boundshift.streaming.tally import ClassTally, Tally
from boundshift.validation import as_choice, no_weights, not_frequencies, order_labels

__all__ = ["PassRecord", "Requests", "Scan", "decide_in_passes", "decide_together"]

Result = TypeVar("Result")
Requests = list[tuple[int, ScanRequest]]

# Cells of the first pass.
_CELLS = 1 << 15
# Cells, and part of the scores that a pass collects, of each of many problems read together.
_LEAST_CELLS, _MOST_SHARING = 1 << 10, 16
_MOST_PASSES = 40
# Sums of squares of at most 2**40 scores below this magnitude cannot overflow or vanish.
_SAFE_EXPONENT = 400
# A median that is a smaller share of the largest score cannot be told from 0 in a grid.
_LEAST_SHARE = 1e-100
# Sums of the same weights in another order differ by less, of their size.
_SAME_WEIGHT = 1e-9
# A cell of fewer doubles is too narrow to be told from its neighbours.
_LEAST_DOUBLES = 8


class PassRecord(NamedTuple):
    """How many passes over the data a decision took, and what they left open.

    `resolution` is the width of the widest range of scores that the decision rests on and whose
    scores are not known one by one; 0 if there is none, and the decision is exact.
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
    progress: Progress | bool | None = None,
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
    progress : callable or bool, default=None
        Called with the name of the pass, the number of parts read, and of all parts. True draws a
        bar for each pass.
    scale : {"auto", "probability", "raw"}, default="raw"
        As in `find_boundary`. If the rows peeked at are probabilities, the first pass takes all
        for such; if it meets others, or hard labels, it is made again with the scores as they are.
    """
    scan = Scan(source.peek(), source.is_weighted, pos_label, alike, scale)

    def read(requests: Requests, on_progress: OnProgress) -> list[Tally]:
        return [source.scan(request, on_progress) for _, request in requests]

    def decide_one(samples: list[ScoreSample]) -> Result:
        return decide(samples[0])

    return decide_together([scan], read, decide_one, max_passes=max_passes, progress=progress)


def decide_together(
    scans: Sequence[Scan],
    read: Callable[[Requests, OnProgress], list[Tally]],
    decide: Callable[[list[ScoreSample]], Result],
    *,
    max_passes: int | None = None,
    progress: Progress | bool | None = None,
) -> tuple[Result, PassRecord]:
    """Return a decision that rests on several problems, which are read in the same passes.

    Parameters
    ----------
    scans : sequence of Scan
        What is known of each problem; nothing yet.
    read : callable
        From requests, each with the number of its problem, to what one pass finds for each.
    decide : callable
        From the samples of all problems to the decision.
    max_passes, progress
        As in `decide_in_passes`.
    """
    most = _MOST_PASSES if max_passes is None else max_passes
    with show_progress(progress) as show:
        return _decide_together(scans, read, decide, most, show)


def _decide_together(
    scans: Sequence[Scan],
    read: Callable[[Requests, OnProgress], list[Tally]],
    decide: Callable[[list[ScoreSample]], Result],
    most: int,
    show: Progress | None,
) -> tuple[Result, PassRecord]:
    """Read and decide until no question is open, or after the most passes."""
    passes = 0

    def read_all(requests: Requests) -> list[Tally]:
        nonlocal passes
        passes += 1
        name = f"pass {passes}"
        return read(requests, lambda *done: show(name, *done) if show else None)

    waiting = list(range(len(scans)))
    while waiting:
        tallies = read_all([(i, scans[i].first_request()) for i in waiting])
        settled = [scans[i].take_first(tally) for i, tally in zip(waiting, tallies, strict=True)]
        waiting = [i for i, is_settled in zip(waiting, settled, strict=True) if not is_settled]
    while True:
        questions = [OpenQuestions() for _ in scans]
        is_last = passes >= most
        try:
            samples = [scan.sample(open_) for scan, open_ in zip(scans, questions, strict=True)]
            for sample in samples:
                _check_sizes(sample)
            with np.errstate(over="ignore", invalid="ignore"):  # of estimates that are refused
                result = decide(samples)
        except InvalidInputError:
            # What an estimate finds wrong, the scores themselves may not.
            if not any(questions) or is_last:
                raise
        else:
            if not any(questions) or is_last:
                widths = [scan.resolution(q) for scan, q in zip(scans, questions, strict=True)]
                return result, PassRecord(passes, max(widths, default=0.0))
        asked = [i for i, open_ in enumerate(questions) if open_]
        tallies = read_all([(i, scans[i].next_request(questions[i])) for i in asked])
        for i, tally in zip(asked, tallies, strict=True):
            scans[i].take_next(tally)


class Scan:
    """What is known of a problem after some passes.

    Parameters
    ----------
    peeked : iterable of Chunk
        Some of its rows, for a first idea of the range of the scores.
    is_weighted : bool
        Whether rows have weights.
    pos_label, alike, scale
        As in `decide_in_passes`.
    common : Scan, default=None
        If given, the problem is a part of the rows of another one, read in the same first pass,
        and has its classes, its units and its scale.
    together : int, default=1
        How many problems are read in one pass, and share its memory.
    """

    def __init__(
        self,
        peeked: Iterable[Chunk],
        is_weighted: bool = False,
        pos_label: object = None,
        alike: bool = True,
        scale: Scale = "raw",
        common: Scan | None = None,
        together: int = 1,
    ) -> None:
        as_choice("scale", scale, SCALES)
        self._cell_count = max(_CELLS // together, _LEAST_CELLS)
        self._share = 1 / min(together, _MOST_SHARING)
        self._peeked, self._is_weighted, self._common = list(peeked), is_weighted, common
        self._scale: Scale = scale
        self._exponent: int | None = None
        self._pos_label, self._alike = pos_label, alike
        self._is_settled = False
        self._binned: tuple[dict[Binning, Any], dict[Binning, Any]] = ({}, {})

    def first_request(self) -> ScanRequest:
        """Return what finds the classes, their moments and the counts of the cells."""
        if self._common is not None:
            return self._common.first_request()
        self._request = _first_request(self._peeked, self._exponent, self._scale, self._cell_count)
        return self._request

    def take_first(self, tally: Tally) -> bool:
        """Learn from the first pass; return whether it was one, or has to be made again."""
        if self._common is not None:
            return self._common._is_settled and self._take_part(self._common, tally)
        self._is_settled = self._settle(tally)
        return self._is_settled

    def _settle(self, tally: Tally) -> bool:
        """Learn from the first pass, unless another power of two or scale has to be tried."""
        request = self._request
        outside = [f for f in tally.faults if f.kind == OUTSIDE]
        if outside and self._scale == "probability":
            raise not_probabilities(_list_faults(outside))
        if outside:
            self._scale = "raw"
            return False
        _check_faults(tally.faults)
        if not tally.classes and self._is_weighted:
            raise no_weights()
        self.labels = order_labels(tally.classes, self._pos_label, alike=self._alike)
        found = [tally.classes[label] for label in self.labels]
        if request.log_odds is not None:
            least, most = min(c.low for c in found), max(c.high for c in found)
            zeros, ones = (sum(c.saturated[side] for c in found) for side in (0, 1))
            if not have_odds(least, most, saturated=bool(zeros or ones)):
                self._scale = "raw"
                return False
            log_odds = LogOdds.of_extremes(least, most, zeros=zeros > 0, ones=ones > 0)
            self._put_in_cells(replace(request, log_odds=log_odds), found)
            return True
        largest = max(max(abs(c.low), abs(c.high)) for c in found)
        self._exponent = scale_exponent(float(np.ldexp(largest, request.exponent)))
        if self._exponent != request.exponent:
            # The scores peeked at are of another order of magnitude than the rest.
            return False
        self._put_in_cells(request, found)
        return True

    def _take_part(self, common: Scan, tally: Tally) -> bool:
        """Learn from the first pass over a part of the rows, which may lack a class."""
        self.labels = common.labels
        self._put_in_cells(common._request, [tally.of(label) for label in self.labels])
        return True

    def _put_in_cells(self, request: ScanRequest, found: list[ClassTally]) -> None:
        """Keep moments and cells; exact zeros and ones stand beyond all other log-odds."""
        self._request, self._moments = request, found
        self._cells = Cells.from_first_pass(found, request.grid, request.pivot)
        if request.log_odds is not None:
            ends = request.log_odds.low, request.log_odds.high
            self._cells = self._cells.with_saturated(found, ends)
            for c in found:
                c.settle_saturated(ends, request.pivot)

    @property
    def has_both_classes(self) -> bool:
        """Whether there are rows of either class."""
        return all(c.n for c in self._moments)

    def sample(self, questions: OpenQuestions) -> ScoreSample:
        """Return what is known as a sample, which adds to the questions what it only estimates."""
        negative, positive = (self._class_scores(i, questions) for i in (0, 1))
        request = self._request
        return ScoreSample(negative, positive, request.exponent, self.labels, request.log_odds)

    def _class_scores(self, i: int, questions: OpenQuestions) -> Any:
        """Return what is known of a class; of one without rows, that it has none."""
        moments = self._moments[i]
        if not moments.n:
            return Scores(np.empty(0))
        kind = WeightedCellScores if self._is_weighted else CellScores
        pivot, binned = self._request.pivot, self._binned[i]
        return kind(self._cells, i, moments, pivot, questions, binned)

    def next_request(self, questions: OpenQuestions) -> ScanRequest:
        """Return what finds the answers to questions."""
        self._plan = self._cells.plan(questions, self._share)
        self._asked = tuple(dict.fromkeys(questions.binnings))
        return replace(
            self._request,
            labels=self.labels,
            grid=None,
            refinement=self._plan[1] if self._plan else None,
            binnings=tuple((self.labels[i], binning) for i, binning in self._asked),
        )

    def take_next(self, tally: Tally) -> None:
        """Learn the answers."""
        found = [tally.of(label) for label in self.labels]
        if self._plan is not None:
            self._cells = self._cells.refined(*self._plan, found)
        for i, (which, binning) in enumerate(self._asked):
            counts = found[which].binned.get(i, np.zeros(binning.size))
            before, now = self._moments[which].n, float(counts.sum())
            if abs(now - before) > (_SAME_WEIGHT * before if self._is_weighted else 0.5):
                raise changed_rows(before, now)
            self._binned[which][binning] = counts

    def resolution(self, questions: OpenQuestions) -> float:
        """Return the width of the widest cell that is still in question."""
        lows, tops = self._cells.edges
        widths = [float((tops - lows)[cells].max()) for cells in questions.cells]
        widths += [binning.cell for _, binning in questions.binnings]
        widths += [cuts.width for cuts in questions.cuts]
        widest = max(widths, default=questions.width)
        if self._request.log_odds is not None:
            return widest / 4  # no probability changes faster with its log-odds
        return float(np.ldexp(widest, self._request.exponent))


def scale_exponent(largest: float) -> int:
    """Return the power of two to divide by: 0 unless the scores are huge or tiny.

    All of it, unlike in memory, since places in a grid are products of scores and its width.
    """
    exponent = int(np.frexp(largest)[1])
    return exponent if abs(exponent) > _SAFE_EXPONENT else 0


def _first_request(
    chunks: Iterable[Chunk], exponent: int | None, scale: Scale = "raw", cells: int = _CELLS
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
    grid = Grid(low - margin, high + margin, cells)
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
    classes = [c for c in (sample.negative, sample.positive) if c.n]
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
