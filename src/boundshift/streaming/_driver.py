"""Deciding from data that is read in passes: decide, look into what was uncertain, decide again.

The first pass counts each class's rows in the cells of a grid. A smooth curve decides on these
cells as weighted points. A decision on counts is an estimate at first, and lists the cells that it
rests on; the next pass looks into those. A decision that asks for no cell is the decision of the
sorted scores. This ends, since each look leaves smaller cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from boundshift._scores import (
    LARGEST_SCORE,
    SCALES,
    LogOdds,
    Scale,
    Scores,
    ScoreSample,
    check_magnitude,
    not_probabilities,
)
from boundshift._validation import as_choice, no_weights, not_frequencies, order_labels
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.streaming._cells import Cells, CellScores, Grid, Questions
from boundshift.streaming._read import Chunk, Source
from boundshift.streaming._tally import (
    OUTSIDE,
    ClassTally,
    JointRequest,
    ScanRequest,
    Tally,
    View,
    all_rows,
)

Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]
"""Called with the name of the pass, the number of parts read, and of all parts."""

# Most equal cells of the first pass; each of many problems that are read together has fewer, and a
# part of the scores that a pass collects.
_CELLS, _LEAST_CELLS, _MOST_SHARING = 1 << 17, 1 << 11, 16
# Share of a cell's width by which a smooth curve's boundary may move, since the mean of a cell
# stands for its rows. Empirical: mixed scales and flat optima can exceed it.
_SMOOTH = 1 / 16
# Faults that an error lists.
_MOST_FAULTS = 8


def decide_in_passes(
    source: Source,
    decide: Callable[[ScoreSample], Result],
    *,
    pos_label: object = None,
    symmetric: bool = True,
    progress: Progress | bool | None = None,
    scale: Scale = "raw",
) -> tuple[Result, float]:
    """Return the decision on the scores of a source, and its resolution.

    The resolution is how far the boundary may lie from that of the sorted scores; 0 if the decision
    is exact. A smooth curve takes cells as points, and may be off by a sixteenth of a cell's width.

    `symmetric` says whether the decision is so in the classes; if not, words as labels need a
    `pos_label`. If the rows peeked at are probabilities, the first pass takes all for such; if it
    meets others, or hard labels, it is made again with the raw scores.
    """
    scan = Scan(source.peek(), source.is_weighted, pos_label, symmetric, scale)
    return decide_together(source, [(scan, all_rows)], lambda found: decide(found[0]), progress)


def decide_together(
    source: Source,
    problems: Sequence[tuple[Scan, View]],
    decide: Callable[[list[ScoreSample]], Result],
    progress: Progress | bool | None = None,
) -> tuple[Result, float]:
    """Return a decision on several problems that are read in the same passes, and its resolution.

    A problem is a new `Scan`, and the view of its rows.
    """
    scans, passes = [scan for scan, _ in problems], 0
    with show_progress(progress) as show:

        def read(requests: dict[int, ScanRequest]) -> dict[int, Tally]:
            nonlocal passes
            passes += 1
            name = f"pass {passes}"
            parts = tuple((i, problems[i][1], request) for i, request in requests.items())
            on_progress = (lambda *done: show(name, *done)) if show else lambda *_: None
            found: dict[int, Tally] = source.scan(JointRequest(parts), on_progress).parts
            return found

        waiting = list(range(len(scans)))
        while waiting:
            tallies = read({i: scans[i].first_request() for i in waiting})
            waiting = [i for i in waiting if not scans[i].take_first(tallies[i])]
        while True:
            questions = [Questions() for _ in scans]
            samples = [scan.sample(asked) for scan, asked in zip(scans, questions, strict=True)]
            try:
                with np.errstate(over="ignore", invalid="ignore"):  # of estimates that are refused
                    result = decide(samples)
            except InvalidInputError:
                # What an estimate finds wrong, the scores themselves may not.
                if not any(questions):
                    raise
            asked_of = {i: asked for i, asked in enumerate(questions) if asked}
            if not asked_of:
                widths = [scan.resolution(q) for scan, q in zip(scans, questions, strict=True)]
                return result, max(widths)
            tallies = read({i: scans[i].next_request(q) for i, q in asked_of.items()})
            for i in asked_of:
                scans[i].take_next(tallies[i])


class Scan:
    """What is known of a problem after some passes.

    The rows `peeked` at give a first idea of the scores. With `common`, the problem is a part of
    the rows of that one, and takes its classes and scale. As many problems as `together` says are
    read in one pass, and share its memory.
    """

    def __init__(
        self,
        peeked: Iterable[Chunk],
        is_weighted: bool = False,
        pos_label: object = None,
        symmetric: bool = True,
        scale: Scale = "raw",
        common: Scan | None = None,
        together: int = 1,
    ) -> None:
        as_choice("scale", scale, SCALES)
        scores = [chunk.counted().scores.astype(np.float64) for chunk in peeked]
        found = np.concatenate([*scores, np.empty(0)])
        self._peeked = found[np.abs(found) <= LARGEST_SCORE]
        self._cell_count = max(_CELLS // together, _LEAST_CELLS)
        self._share = 1 / min(together, _MOST_SHARING)
        self._is_weighted, self._common, self._scale = is_weighted, common, scale
        self._pos_label, self._symmetric = pos_label, symmetric
        self._is_settled = False
        self.labels: tuple[Any, Any] = (None, None)

    def first_request(self) -> ScanRequest:
        """Return what finds the classes and the counts of the cells."""
        if self._common is not None:
            return self._common.first_request()
        peeked, log_odds = self._peeked, None
        are_probable = len(peeked) > 0 and peeked.min() >= 0 and peeked.max() <= 1
        if self._scale == "probability" or (self._scale == "auto" and are_probable):
            log_odds = LogOdds()
            peeked = log_odds.of(peeked)
            peeked = peeked[np.isfinite(peeked)]
        self._request = ScanRequest(Grid.around(peeked, self._cell_count), log_odds)
        return self._request

    def take_first(self, tally: Tally) -> bool:
        """Learn from the first pass; return whether it was one, or has to be made again."""
        if self._common is None:
            self._is_settled = self._settle(tally)
        elif self._common._is_settled:
            self.labels, self._request = self._common.labels, self._common._request
            # A part of the rows may lack a class.
            self._found = [tally.of(label) for label in self.labels]
            self._is_settled = True
        if self._is_settled:
            request = self._request
            self._cells = Cells.from_grid(request.grid, self._found, request.log_odds)
        return self._is_settled

    def _settle(self, tally: Tally) -> bool:
        """Learn from the first pass, unless it has to be made again with raw scores."""
        request = self._request
        outside = Counter({fault: n for fault, n in tally.faults.items() if fault[2] == OUTSIDE})
        if outside and self._scale == "probability":
            raise not_probabilities(_list_faults(outside))
        if outside:
            self._scale = "raw"
            return False
        _check_faults(tally.faults)
        if not tally.classes and self._is_weighted:
            raise no_weights()
        self.labels = order_labels(tally.classes, self._pos_label, symmetric=self._symmetric)
        self._found = [tally.classes[label] for label in self.labels]
        least, most = min(c.lows for c in self._found), max(c.highs for c in self._found)
        if request.log_odds is None:
            check_magnitude(max(abs(least), abs(most)))
            return True
        zeros, ones = sum(c.totals[0][[0, -1]] for c in self._found) > 0
        log_odds = LogOdds.of_extremes(least, most, zeros=bool(zeros), ones=bool(ones))
        if log_odds is None:
            self._scale = "raw"
            return False
        self._request = replace(request, log_odds=log_odds)
        return True

    def sample(self, questions: Questions) -> ScoreSample:
        """Return what is known as a sample, which adds to the questions what it only estimates."""
        negative, positive = (
            CellScores.of_class(
                self._cells,
                i,
                self._extremes(c),
                questions,
                (c.n_rows, c.squared_weights) if self._is_weighted else None,
            )
            if c.n_rows
            else Scores(np.empty(0))
            for i, c in enumerate(self._found)
        )
        return ScoreSample(negative, positive, self.labels, self._request.log_odds)

    def _extremes(self, found: ClassTally) -> tuple[float, float]:
        """Return the least and the largest score of a class, or its log-odds."""
        ends = [float(found.lows), float(found.highs)]
        if (log_odds := self._request.log_odds) is not None:
            both = ((0, log_odds.low), (-1, log_odds.high))
            ends += [value for cell, value in both if found.totals[0][cell]]
        finite = [end for end in ends if np.isfinite(end)]
        return min(finite), max(finite)

    def next_request(self, questions: Questions) -> ScanRequest:
        """Return what finds the answers to questions."""
        self._plan = self._cells.plan(questions, self._request.grid, self._share)
        return replace(self._request, labels=self.labels, look=self._plan[1])

    def take_next(self, tally: Tally) -> None:
        """Learn the answers."""
        self._cells = self._cells.refined(*self._plan, [tally.of(label) for label in self.labels])

    def resolution(self, questions: Questions) -> float:
        """Return how far the boundary may lie from that of the sorted scores."""
        moved = questions.width * _SMOOTH
        # No probability changes faster with its log-odds than by a quarter.
        return moved if self._request.log_odds is None else moved / 4


def _list_faults(faults: Counter[tuple[str, str, str]]) -> str:
    """Return how many rows are faulty in which way, and where."""
    first = sorted(faults.items())[:_MOST_FAULTS]
    return ", ".join(f"{n} {kind} in {location}" for (_, location, kind), n in first)


def _check_faults(faults: Counter[tuple[str, str, str]]) -> None:
    for column in ("sample_weight", "y_true", "y_score"):
        own = Counter({fault: n for fault, n in faults.items() if fault[0] == column})
        if own and column == "sample_weight":
            raise not_frequencies(min(own)[2], own.total())
        if own and column == "y_true":
            raise InvalidInputError(
                f"`y_true` must hold a label for each row, got {_list_faults(own)}. Drop the rows "
                "without a label."
            )
        if own:
            raise InvalidInputError(
                f"`y_score` must be finite, got {_list_faults(own)}. Drop those rows, or clip "
                "infinite scores to the largest finite one."
            )


# --- Progress bars --------------------------------------------------------------------------------


@contextmanager
def show_progress(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """Yield what a pass calls: the function given, one that draws bars for True, or None."""
    if progress is True:
        with draw_bars() as show:
            yield show
    elif progress is None or progress is False or callable(progress):
        yield progress or None
    else:
        raise InvalidInputError(
            "`progress` must be True, None or a function of a name, the parts read and all parts, "
            f"got {progress!r}. Use True for a bar on the error stream."
        )


@contextmanager
def draw_bars(*, only_in_terminal: bool = False) -> Iterator[Progress]:
    """Yield a function that draws a bar for each pass on the error stream, or in a notebook.

    With `only_in_terminal` there is none elsewhere, and none is left when all is done.
    """
    try:
        from rich import progress as bars
        from rich.console import Console
    except ImportError as error:
        raise MissingExtraError("rich", "cli") from error
    console = Console(stderr=True)
    with bars.Progress(
        bars.TextColumn("{task.description:<9}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        console=console,
        disable=only_in_terminal and not console.is_terminal,
        transient=only_in_terminal,
    ) as drawn:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = drawn.add_task(what)
            drawn.update(tasks[what], completed=done, total=total)

        yield show
