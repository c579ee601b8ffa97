"""Deciding from data that is read in passes: decide, look into what was uncertain, decide again.

The first pass counts each class's rows in the cells of a grid. A smooth curve decides on these
cells as weighted points. A decision on counts is an estimate at first, and lists the cells that it
rests on; the next pass looks into those. A decision that asks for no cell is the decision of the
sorted scores. This ends, since each look leaves smaller cells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, TypeVar

import numpy as np

from boundshift._scores import (
    LARGEST_SCORE,
    SCALES,
    LogOdds,
    Scale,
    ScoreSample,
    check_finite,
    not_probabilities,
)
from boundshift._typing import FloatArray
from boundshift._validation import as_choice, bad_weights, order_labels
from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.streaming._cells import Cells, CellScores, Grid, Questions
from boundshift.streaming._read import Source
from boundshift.streaming._tally import ClassTally, ScanRequest

Result = TypeVar("Result")
Progress = Callable[[str, int, int], None]
"""Called with the name of the pass, the number of parts read, and of all parts."""

# Most equal cells of the first pass.
_CELLS = 1 << 17
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
    order: Callable[[dict[Any, int]], tuple[Any, Any]] | None = None,
    progress: Progress | bool | None = None,
    scale: Scale = "raw",
) -> tuple[Result, float]:
    """Return the decision on the scores of a source, and its resolution.

    The resolution is how far the boundary may lie from that of the sorted scores; 0 if the decision
    is exact. A smooth curve takes cells as points, and may be off by a sixteenth of a cell's width.

    `symmetric` says whether the decision is so in the classes; if not, words as labels need a
    `pos_label`. Instead of these two, `order` may say which of two labels, given with their rows,
    is negative and which positive. If the rows peeked at are probabilities, the first pass takes
    all for such; if it meets others, or hard labels, it is made again with the raw scores.
    """
    as_choice("scale", scale, SCALES)
    quiet: Any = progress or (lambda *_: None)
    with draw_bars() if progress is True else nullcontext(quiet) as show:
        numbers = count(1)

        def read(request: ScanRequest) -> Any:
            return source.scan(request, partial(show, f"pass {next(numbers)}"))

        peeked = np.concatenate([np.empty(0), *(chunk.scores for chunk in source.peek())])
        peeked = peeked[np.abs(peeked) <= LARGEST_SCORE]
        request = None
        while request is None:
            first = _first_request(peeked, scale)
            tally = read(first)
            _check_faults(tally.faults, scale)
            scale = "raw"
            if tally.faults:
                continue
            if not tally.classes and source.is_weighted:
                raise bad_weights("0 for every row")
            if order is not None and len(tally.classes) <= 2:
                labels = order({k: int(c.totals[0].sum()) for k, c in tally.classes.items()})
            else:
                labels = order_labels(tally.classes, pos_label, symmetric=symmetric)
            classes = [tally.classes[label] for label in labels]
            request = _settled(replace(first, labels=labels), classes)
        cells = Cells.from_grid(request.grid, classes, request.log_odds)
        while True:
            questions = Questions()
            negative, positive = (
                CellScores.of_class(
                    cells, i, _extremes(c, request.log_odds), questions, source.is_weighted
                )
                for i, c in enumerate(classes)
            )
            try:
                with np.errstate(over="ignore", invalid="ignore"):  # of estimates that are refused
                    result = decide(ScoreSample(negative, positive, labels, request.log_odds))
            except InvalidInputError:
                # What an estimate finds wrong, the scores themselves may not.
                if not questions.cells:
                    raise
            if not questions.cells:
                moved = questions.width * _SMOOTH
                # No probability changes faster with its log-odds than by a quarter.
                return result, moved if request.log_odds is None else moved / 4
            wanted, look = cells.plan(questions, request.grid)
            tally = read(replace(request, look=look))
            cells = cells.refined(wanted, look, [tally.of(label) for label in labels])


def _first_request(peeked: FloatArray, scale: Scale) -> ScanRequest:
    """Return what finds the classes and the counts of the cells, given a few of the scores."""
    are_probable = len(peeked) > 0 and peeked.min() >= 0 and peeked.max() <= 1
    log_odds = None
    if scale == "probability" or (scale == "auto" and are_probable):
        log_odds = LogOdds()
        peeked = log_odds.of(peeked)
        peeked = peeked[np.isfinite(peeked)]
    return ScanRequest(Grid.around(peeked, _CELLS), log_odds)


def _settled(request: ScanRequest, classes: list[ClassTally]) -> ScanRequest | None:
    """Return the request on the log-odds that the first pass found, None if there are none."""
    least, most = min(c.lows for c in classes), max(c.highs for c in classes)
    if request.log_odds is None:
        check_finite(np.array([least, most]))
        return request
    zeros, ones = sum(c.totals[0][[0, -1]] for c in classes) > 0
    log_odds = LogOdds.of_extremes(least, most, zeros=bool(zeros), ones=bool(ones))
    return None if log_odds is None else replace(request, log_odds=log_odds)


def _extremes(found: ClassTally, log_odds: LogOdds | None) -> tuple[float, float]:
    """Return the least and the largest score of a class, or its log-odds."""
    ends = [float(found.lows), float(found.highs)]
    if log_odds is not None:
        both = ((0, log_odds.low), (-1, log_odds.high))
        ends += [value for cell, value in both if found.totals[0][cell]]
    finite = [end for end in ends if np.isfinite(end)]
    return min(finite), max(finite)


def _check_faults(faults: Counter[tuple[str, str, str]], scale: Scale) -> None:
    """Raise unless every row can be used; probabilities may turn out to be none."""
    for column in ("sample_weight", "y_true", "y_score", "probability"):
        own = sorted((*fault[1:], n) for fault, n in faults.items() if fault[0] == column)
        listed = ", ".join(f"{n} {kind} in {location}" for kind, location, n in own[:_MOST_FAULTS])
        if own and column == "sample_weight":
            more = sum(n for _, _, n in own) - 1
            raise bad_weights(f"{own[0][0]} and {more} more like it")
        if own and column == "y_true":
            raise InvalidInputError(
                f"`y_true` must hold a label for each row, got {listed}. Drop the rows without a "
                "label."
            )
        if own and column == "y_score":
            raise InvalidInputError(
                f"`y_score` must be finite, got {listed}. Drop those rows, or clip infinite scores "
                "to the largest finite one."
            )
        if own and scale == "probability":
            raise not_probabilities(listed)


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
    is_hidden = only_in_terminal and not console.is_terminal
    with bars.Progress(console=console, disable=is_hidden, transient=only_in_terminal) as drawn:
        tasks: dict[str, Any] = {}

        def show(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = drawn.add_task(what)
            drawn.update(tasks[what], completed=done, total=total)

        yield show
