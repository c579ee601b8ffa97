r"""Tests of a precision or an NPV at every threshold, in order, and their joint guarantee.

Of the m rows above an order statistic of all scores, the number of positives is binomial with the
precision there as its probability. So each number m of flagged rows has a p-value for "the
precision is below the floor". The numbers are tested from few rows to many by the fallback
procedure. A few starting places, fixed by the rows, the floor and the confidence, have an equal
part of :math:`\delta` each. A test that passes hands its level on to the next number of rows, which
adds it to its own. A test that fails loses its level.

All boundaries that pass hold together with probability :math:`1 - \delta`, whatever the classes
look like. Call a boundary bad if its precision p(t) is below the floor, and cut the line at the
ends of the intervals of bad boundaries. At each of these ends p(t) is the floor, so of the rows
between two of them the share of positives is the floor too, and given how many rows lie in each
interval, the positives in each are binomial with the floor. An order statistic inside a bad
interval adds rows with a share below the floor. So its count of positives is at most, in
distribution, binomial with the floor, and its p-value uniform, given the numbers of rows in the
intervals. These numbers alone say which boundaries are bad, and so to which bad boundary, the
first at or after it, each starting place can at most have handed its part. The levels of the bad
boundaries, before any of them passes, add up to :math:`\delta` at most, and so does the probability
that one passes.

This is for scores without ties. Ties leave fewer numbers of rows to test, and the order as it is.

References
----------
Wiens and Dmitrienko (2005). The fallback procedure for evaluating a single family of hypotheses.
Journal of Biopharmaceutical Statistics 15, 929-942.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.special import bdtr

from boundshift._typing import BoolArray, IntArray
from boundshift.rules._guarantee import Guarantee

# Precision of the largest floor that passes.
_NEAR = 1e-4


def start_of(floor: float, delta: float, most: int) -> int:
    """Return the number of rows at which a sequence of tests starts.

    It depends only on the floor, the confidence and the number of rows. It is the least number at
    which an observed share halfway between the floor and 1 would pass, if that is at most half of
    the rows; else the least number at which a share of 1 would pass.
    """
    least = _rows_needed(floor, delta)
    for first in range(least, most // 2 + 1, 1024):
        n = np.arange(first, min(first + 1024, most // 2 + 1))
        enough = bdtr(np.floor(n * (1.0 - floor) / 2), n, 1.0 - floor) <= delta
        if enough.any():
            return int(n[np.argmax(enough)])
    return least


def _rows_needed(floor: float, delta: float) -> int:
    """Return the least number of rows that pass a floor if none is wrong."""
    return int(Guarantee("precision", floor, delta).rows_needed)


def starting_places(floor: float, delta: float, most: int) -> list[int]:
    """Return the numbers of rows at which tests start, each with an equal part of delta.

    Each is three times the one before it, up to half of all rows; lab/docs/defaults.md says how
    both were chosen.
    """
    places = [start_of(floor, delta, most)]
    while places[-1] * 3 <= most / 2:
        places.append(places[-1] * 3)
    # A start must be able to pass with its own part of delta alone.
    least = _rows_needed(floor, delta / len(places))
    return [max(place, least) for place in places]


def pass_in_order(
    wrong: IntArray,
    n: IntArray,
    floor: float,
    delta: float,
    places: Sequence[int] | None = None,
) -> BoolArray:
    """Return the boundaries at which the share right meets the floor, jointly with 1 − delta.

    `wrong` of `n` rows are on the wrong side at each boundary; n must not fall. `places` are the
    numbers of rows at which tests start; None takes `starting_places`.
    """
    level = np.zeros(len(n))
    if floor >= 1.0:
        return level > 0
    if places is None:
        places = starting_places(floor, delta, int(n.max(initial=0)))
    at = 0.0
    for start, end in pairwise([*np.searchsorted(n, places), len(n)]):
        at += delta / len(places)
        # The p-value of this few errors under a share at the floor.
        unlikely = bdtr(wrong[start:end], n[start:end], 1.0 - floor) <= at
        stop = end if unlikely.all() else start + int(np.argmin(unlikely))
        level[start:stop] = at
        if stop < end:
            at = 0.0
    return level > 0


def largest_floor(wrong: IntArray, n: IntArray, floor: float, delta: float) -> float:
    """Return the largest floor up to this one that some boundary passes, to 1e-4; else 0."""

    def fails(steps: int) -> bool:
        lower = steps * _NEAR
        places = starting_places(lower, delta, int(n.max(initial=0)))
        # Some boundary passes if and only if the first after a starting place does.
        starts = np.unique(np.searchsorted(n, places))
        starts = starts[starts < len(n)]
        return not pass_in_order(wrong[starts], n[starts], lower, delta, places).any()

    return round(bisect_left(range(1, math.ceil(floor / _NEAR)), True, key=fails) * _NEAR, 4)
