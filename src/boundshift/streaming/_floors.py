"""Which bins may decide whether floors are met, and where.

Tests of precision and npv run through the gaps in order, from starting places that are numbers of
rows. So the bins that hold a starting place are looked into, whatever the answers are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from boundshift._result.boundary import Boundary
from boundshift._status import Status
from boundshift._typing import BoolArray, IntArray
from boundshift.curves import ErrorCurve
from boundshift.curves._sequence import largest_floor, starting_places
from boundshift.rules import Floors
from boundshift.rules._guarantee import Guarantee
from boundshift.streaming._joint import JointBins

# Rows that are looked into if answers differ and no bin is known to be the reason.
_MORE_ROWS = 1 << 20
# Lower floors that are tried if one is not met, and how close the largest of them is found.
_STEPS = 8
_NEAR = 1e-4


def doubtful_floors(
    bins: JointBins, curve: ErrorCurve, rule: Floors, answers: Sequence[Boundary]
) -> BoolArray:
    """Return the open bins that may decide, given the answers of all arrangements of the rows."""
    best = answers[0]
    doubtful = np.zeros(len(bins.low), dtype=np.bool_)
    if rule.flagged is not None:
        # Fewer flagged rows are no worse separation, so the bin of the budget is looked into.
        doubtful |= bins.beside(best.threshold)
        doubtful |= bins.crossing(rule.flagged, rule.prevalence)
    if curve.delta is not None and rule.prevalence is None:
        is_unmet = any(answer.status is Status.UNMET for answer in answers)
        doubtful |= _starting_bins(bins, rule, curve.delta, is_unmet=is_unmet)
    doubtful &= bins.is_open
    are_alike = all(
        (answer.status, answer.wrong, answer.detail) == (best.status, best.wrong, best.detail)
        for answer in answers
    )
    if not are_alike:
        low = min(answer.plateau[0] for answer in answers)
        high = max(answer.plateau[1] for answer in answers)
        doubtful |= bins.is_open & bins.touching(low, high)
        if not doubtful.any():
            doubtful |= bins.nearest_open(best.threshold, _MORE_ROWS)
    return doubtful


def _starting_bins(bins: JointBins, rule: Floors, delta: float, *, is_unmet: bool) -> BoolArray:
    """Return the bins in which a sequence of tests starts."""
    negatives, positives = bins.rows
    starts = np.zeros(len(bins.low), dtype=np.bool_)
    for guarantee in rule.guarantees(delta):
        if guarantee.rate == "precision":
            n = np.append(0, bins.total_rows[::-1].cumsum())
            wrong = np.append(0, negatives[::-1].cumsum())
        elif guarantee.rate == "npv":
            # A threshold stands on a score, which is not among the rows below it.
            n = np.append(0, np.maximum(bins.total_rows.cumsum() - 1, 0))
            wrong = np.minimum(np.append(0, positives.cumsum()), n)
        else:
            continue
        for floor in _floors_tried(wrong, n, guarantee, is_unmet=is_unmet):
            holding = _holding(n, starting_places(floor, guarantee.delta, int(n[-1])))
            starts |= holding if guarantee.rate == "npv" else holding[::-1]
    return starts


def _holding(n: IntArray, places: Sequence[int]) -> BoolArray:
    """Return the bins in which a number of rows is reached."""
    reached = np.searchsorted(n, places)
    holds = np.zeros(len(n), dtype=np.bool_)
    for beside in (reached - 1, reached):
        holds[np.clip(beside, 0, len(n) - 1)] = True
    return holds[1:]


def _floors_tried(
    wrong: IntArray, n: IntArray, guarantee: Guarantee, *, is_unmet: bool
) -> Iterator[float]:
    """Yield the floor, and lower ones that are tried if it is not met."""
    floor = guarantee.limit
    if floor >= 1.0:
        return
    yield floor
    if not is_unmet:
        return
    largest = largest_floor(wrong, n, floor, guarantee.delta)
    lower = [*np.round(largest * np.arange(1, _STEPS + 1) / _STEPS, 4).tolist(), largest + _NEAR]
    yield from (each for each in lower if 0.0 < each < floor)
