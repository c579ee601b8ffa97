r"""Tests of a share in a fixed order, from several starting places, that hold together.

Of the m rows above an order statistic of all scores, the number of positives is binomial with the
precision there as its probability. So each number m of flagged rows has a p-value for "the
precision is below the floor". The numbers are tested from few rows to many by the fallback
procedure: a few starting places, fixed by the rows, the floor and the confidence, have an equal
part of :math:`\delta` each; a test that passes hands its level on to the next number of rows, where
it is added to what that one has of its own; a test that fails loses its level.

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
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from boundshift.typing import IntArray

__all__ = ["largest_floor", "pass_in_order", "start_of", "starting_places"]

# How near a floor that could be promised comes to the largest one.
_NEAR = 1e-4


def start_of(floor: float, delta: float, most: int) -> int:
    """Return the number of rows at which a sequence of tests starts.

    It depends on nothing but the floor, the confidence and the rows there are: the least number
    at which an observed share halfway between the floor and 1 would do, or the least at which any
    would do, if there are not twice as many rows.

    Examples
    --------
    >>> start_of(0.5, 0.05, 1000), start_of(0.9, 0.05, 1000), start_of(0.5, 0.05, 20)
    (11, 76, 5)
    """
    least = _least(floor, delta)
    for first in range(least, most // 2 + 1, 1024):
        n = np.arange(first, min(first + 1024, most // 2 + 1))
        enough = bdtr(np.floor(n * (1.0 - floor) / 2), n, 1.0 - floor) <= delta
        if enough.any():
            return int(n[np.argmax(enough)])
    return least


def _least(floor: float, delta: float) -> int:
    """Return the least number of rows that show a floor if all are on the right side."""
    return math.ceil(math.log(delta) / math.log(floor) - 1e-9)


def starting_places(
    floor: float, delta: float, most: int, ratio: int = 3, most_share: float = 0.5
) -> list[int]:
    """Return the numbers of rows at which tests start, each with an equal part of delta.

    Each has `ratio` times the rows of the one before it, and the last one at most `most_share` of
    all rows; both were chosen by ``python -m lab.evidence.starting_places``.

    Examples
    --------
    >>> starting_places(0.5, 0.05, 50), starting_places(0.5, 0.05, 1000)
    ([11], [11, 33, 99, 297])
    """
    first = start_of(floor, delta, most)
    places = [first]
    while places[-1] * ratio <= most_share * most:
        places.append(places[-1] * ratio)
    # With its part of delta alone, too, a place must be one at which something can be shown.
    least = _least(floor, delta / len(places))
    return [max(place, least) for place in places]


def pass_in_order(
    wrong: IntArray,
    n: IntArray,
    floor: float,
    delta: float,
    places: Sequence[int] | None = None,
) -> NDArray[np.bool_]:
    """Return where the share right among n rows is at least the floor, all with 1 − delta together.

    Parameters
    ----------
    wrong, n : arrays of int
        Rows on the wrong side and rows in all, at each boundary; n must not fall.
    floor : float
        Least share of rows on the right side.
    delta : float
        Probability with which one of the boundaries that pass may miss the floor.
    places : sequence of int, default=None
        Numbers of rows at which tests start; None takes `starting_places`.

    Examples
    --------
    Of 300 rows the first two are wrong, and all others right:

    >>> n = np.arange(301)
    >>> passed = pass_in_order(np.minimum(n, 2), n, 0.8, 0.05)
    >>> np.flatnonzero(passed)[[0, -1]]
    array([ 90, 300])
    """
    passed = np.zeros(len(n), dtype=np.bool_)
    if floor >= 1.0:
        return passed
    if places is None:
        places = starting_places(floor, delta, int(n.max(initial=0)))
    level = 0.0
    for start, end in pairwise([*np.searchsorted(n, places), len(n)]):
        level += delta / len(places)
        # So few wrong ones, or fewer, are unlikely under every share below the floor.
        unlikely = bdtr(wrong[start:end], n[start:end], 1.0 - floor) <= level
        stop = end if unlikely.all() else start + int(np.argmin(unlikely))
        passed[start:stop] = True
        if stop < end:
            level = 0.0
    return passed


def largest_floor(wrong: IntArray, n: IntArray, floor: float, delta: float) -> float:
    """Return a floor up to this one that some boundary passes, the largest but for 1e-4; else 0.

    Examples
    --------
    >>> n = np.arange(101)
    >>> largest_floor(n // 10, n, 0.9, 0.05)
    0.7999
    """
    low, high = 0, math.ceil(floor / _NEAR)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (
            (middle, high) if _any_passes(wrong, n, middle * _NEAR, delta) else (low, middle)
        )
    return round(low * _NEAR, 4)


def _any_passes(wrong: IntArray, n: IntArray, floor: float, delta: float) -> bool:
    """Return whether any boundary passes: whether one of the starting places does."""
    places = starting_places(floor, delta, int(n.max(initial=0)))
    # Places that ties put on one boundary have their levels together.
    starts, together = np.unique(np.searchsorted(n, places), return_counts=True)
    starts, together = starts[starts < len(n)], together[starts < len(n)]
    levels = together * (delta / len(places))
    return bool((bdtr(wrong[starts], n[starts], 1.0 - floor) <= levels).any())
