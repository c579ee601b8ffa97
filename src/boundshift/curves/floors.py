r"""Boundaries that meet floors, the tests that promise them, and the message where none does.

`pass_in_order` tests a share in a fixed order from several starting places; its tests hold jointly.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr

from boundshift.curves.uniform import clopper_pearson, uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.rules.binary import frequencies
from boundshift.rules.floors import Floors, missed_by, reached_rates
from boundshift.scores import ScoreSample
from boundshift.search import Found
from boundshift.typing import FloatArray, IntArray

Bound = Callable[[ArrayLike, int], FloatArray]
BoundAt = Callable[[ArrayLike, int, float], FloatArray]

Mask = NDArray[np.bool_]
Test = tuple[Mask, Callable[[], FloatArray]]

# A rounding error must not break a floor.
_ROUNDING = 1e-12
# Counts of a class above which a bound is computed for some of them.
_MANY = 8192
# Lower floors that are tried where one is not met.
_STEPS = 8
# How near a floor that could be promised comes to the largest one.
_NEAR = 1e-4


class Promised(NamedTuple):
    """A boundary and the shortfall of each floor there; empty if all are met."""

    found: Found
    unmet: dict[str, float]


@dataclass(frozen=True)
class _Gaps:
    """Every gap between neighbouring scores; the boundary stands on its lower end.

    Parameters
    ----------
    low, high : arrays
        Ends of the gaps, in descending order: each flags more rows than the one before it.
    alarms, misses : arrays
        Rows on the wrong side, of the negative and the positive class.
    n_samples : tuple of int
        Rows of each class.
    """

    low: FloatArray
    high: FloatArray
    alarms: IntArray
    misses: IntArray
    n_samples: tuple[int, int]

    @classmethod
    def of(cls, sample: ScoreSample) -> _Gaps:
        """Return the gaps of a sample, whose scores must all be known."""
        if not (sample.negative.exact and sample.positive.exact):
            raise InvalidInputError(
                "`Floors` with precision, npv or flagged must have all scores in memory, got data "
                "that is read in passes. Use recall and specificity, or a sample of the rows."
            )
        values = np.unique(np.concatenate([sample.negative.positions, sample.positive.positions]))
        beyond = (sample.spread or abs(float(values[0])) or 1.0) / sum(sample.n_samples)
        low = np.concatenate([[values[0] - beyond], values])[::-1]
        high = np.concatenate([values, [values[-1] + beyond]])[::-1]
        alarms, misses = sample.count_wrong(low)
        return cls(low, high, alarms, misses, sample.n_samples)

    @property
    def hits(self) -> IntArray:
        """Rows of the positive class that are flagged."""
        return self.n_samples[1] - self.misses


def search_estimates(bound: Bound, rule: Floors, sample: ScoreSample) -> Promised:
    """Return the best boundary among those that meet every floor as estimated.

    Parameters
    ----------
    bound : callable
        From rows on the wrong side, and all rows of a class, to the estimated error.
    rule : Floors
        What must be met, and what is best then.
    sample : ScoreSample
        Scores of both classes, in memory.
    """
    gaps = _Gaps.of(sample)
    claims = bound(gaps.alarms, gaps.n_samples[0]), bound(gaps.misses, gaps.n_samples[1])
    reached = reached_rates(*claims, frequencies(rule.prevalence, gaps.n_samples))
    missing = {name: missed_by(name, floor, reached[name]) for name, floor in rule.asked.items()}
    kept = np.sum(list(missing.values()), axis=0) <= 0.0
    place, unmet = _choose(rule, gaps, claims, kept, missing)
    return Promised(_found(rule, gaps, bound, place, 0.5), unmet)


def search_promises(bound: BoundAt, rule: Floors, sample: ScoreSample, delta: float) -> Promised:
    """Return the best boundary among those that keep every floor with probability 1 − delta.

    Parameters
    ----------
    bound : callable
        From rows on the wrong side, all rows of a class, and a delta, to the claimed error.
    rule : Floors
        What must be kept, and what is best then.
    sample : ScoreSample
        Scores of both classes, in memory.
    delta : float
        Probability with which any of the floors may fail.
    """
    gaps, each = _Gaps.of(sample), delta / len(rule.promised)

    def claim(wrong: ArrayLike, n: int) -> FloatArray:
        return bound(wrong, n, each)

    tests = _tests(rule, gaps, claim, each)
    kept = np.logical_and.reduce([tests[name][0] for name in rule.asked])
    missing: dict[str, FloatArray] = {}
    if not kept.any():
        shown = {name: tests[name][1]() for name in rule.asked}
        # What a sequence of tests has not come to is missed, whatever it would have shown.
        missing = {
            name: np.where(
                tests[name][0], 0.0, np.maximum(missed_by(name, floor, shown[name]), 1e-9)
            )
            for name, floor in rule.asked.items()
        }
    negative, positive = gaps.n_samples
    claims = _of_counts(claim, gaps.alarms, negative), _of_counts(claim, gaps.misses, positive)
    place, unmet = _choose(rule, gaps, claims, kept, missing)
    return Promised(_found(rule, gaps, claim, place, 0.0), unmet)


def _choose(
    rule: Floors,
    gaps: _Gaps,
    claims: tuple[FloatArray, FloatArray],
    kept: Mask,
    missing: dict[str, FloatArray],
) -> tuple[int, dict[str, float]]:
    """Return the best gap that meets all floors, or the nearest, and what is missed there."""
    if kept.any():
        values = rule.objective.value(*claims, gaps.n_samples)
        return int(np.argmin(np.where(kept, values, np.inf))), {}
    place = int(np.argmin(np.sum(list(missing.values()), axis=0)))
    return place, {name: float(by[place]) for name, by in missing.items() if by[place] > 0.0}


def _found(rule: Floors, gaps: _Gaps, bound: Bound, place: int, share: float) -> Found:
    """Return a gap as what was found; the boundary stands some share of its width above its end."""
    low, high = float(gaps.low[place]), float(gaps.high[place])
    claims = (
        bound(gaps.alarms[[place]], gaps.n_samples[0]),
        bound(gaps.misses[[place]], gaps.n_samples[1]),
    )
    value = rule.objective.value(*claims, gaps.n_samples)
    errors = float(claims[0][0]), float(claims[1][0])
    return Found(low + share * (high - low), (low, high), errors, float(value[0]))


def _tests(rule: Floors, gaps: _Gaps, claim: Bound, delta: float) -> dict[str, Test]:
    """Return for each floor the gaps that pass, and a function for the rate shown at each gap."""
    negative, positive = gaps.n_samples
    flagged = gaps.hits + gaps.alarms
    rows = negative + positive
    tests: dict[str, Test] = {}
    for name, wrong, n in (
        ("recall", gaps.misses, positive),
        ("specificity", gaps.alarms, negative),
    ):
        if name in rule.asked:
            tests[name] = _test_counts(claim, wrong, n, 1.0 - rule.asked[name], complement=True)
    if rule.flagged is not None and "flagged" not in rule.promised:
        weights = frequencies(rule.prevalence, gaps.n_samples)
        counted = reached_rates(gaps.alarms / negative, gaps.misses / positive, weights)["flagged"]
        tests["flagged"] = missed_by("flagged", rule.flagged, counted) <= 0.0, lambda: counted
    if rule.prevalence is not None:
        return tests | _test_at_prevalence(rule, gaps, delta)
    if rule.flagged is not None and "flagged" in rule.promised:

        def share(k: ArrayLike, n: int) -> FloatArray:
            return clopper_pearson(k, n, delta)

        tests["flagged"] = _test_counts(share, flagged, rows, rule.flagged, complement=False)
    if rule.precision is not None:
        tests["precision"] = _test_in_order(gaps.alarms, flagged, rule.precision, delta)
    if rule.npv is not None:
        # The boundary stands on a score, which is not among those below it: one row less.
        left = np.maximum(rows - flagged - 1, 0)[::-1]
        misses = np.minimum(gaps.misses[::-1], left)
        passed, shown = _test_in_order(misses, left, rule.npv, delta)
        tests["npv"] = passed[::-1], lambda: shown()[::-1]
    return tests


def _test_counts(bound: Bound, wrong: IntArray, n: int, most: float, complement: bool) -> Test:
    """Test a bound that grows with the count: all counts up to some number pass."""

    def shown() -> FloatArray:
        values = _of_counts(bound, wrong, n)
        return 1.0 - values if complement else values

    return wrong <= most_wrong(bound, n, most), shown


def most_wrong(bound: Bound, n: int, most: float) -> int:
    """Return the largest count whose bound is at most some error, -1 if there is none.

    Examples
    --------
    >>> most_wrong(lambda wrong, n: clopper_pearson(wrong, n, 0.05), 100, 0.2)
    13
    """
    low, high = -1, n
    while low < high:
        middle = (low + high + 1) // 2
        if float(bound(np.array([middle]), n)[0]) <= most + _ROUNDING:
            low = middle
        else:
            high = middle - 1
    return low


def _test_at_prevalence(rule: Floors, gaps: _Gaps, delta: float) -> dict[str, Test]:
    """Test rates at a prevalence, by uniform bounds on both classes' errors."""

    def band(wrong: IntArray, n: int) -> FloatArray:
        return _of_counts(lambda k, n: uniform_bound(k, n, delta / 2), wrong, n, exact=True)

    negative, positive = gaps.n_samples
    most_alarms, most_misses = band(gaps.alarms, negative), band(gaps.misses, positive)
    weights = frequencies(rule.prevalence, gaps.n_samples)
    worst = reached_rates(most_alarms, most_misses, weights)
    worst["flagged"] = reached_rates(most_alarms, 1.0 - band(gaps.hits, positive), weights)[
        "flagged"
    ]
    tests: dict[str, Test] = {}
    for name in ("precision", "npv", "flagged"):
        if name in rule.promised:
            passed = missed_by(name, rule.asked[name], worst[name]) <= 0.0
            tests[name] = passed, partial(worst.__getitem__, name)
    return tests


def _test_in_order(wrong: IntArray, n: IntArray, floor: float, delta: float) -> Test:
    """Test the share right among n rows at each gap, in order, from several starting places.

    What is shown is the largest of some lower floors that would pass there.
    """

    def shown() -> FloatArray:
        values = np.zeros(len(n))
        if floor < 1.0:
            largest = largest_floor(wrong, n, floor, delta)
            for lower in np.round(largest * np.arange(1, _STEPS + 1) / _STEPS, 4):
                if lower > 0.0:
                    values[pass_in_order(wrong, n, float(lower), delta)] = lower
        return values

    return pass_in_order(wrong, n, floor, delta), shown


def _of_counts(bound: Bound, wrong: IntArray, n: int, exact: bool = False) -> FloatArray:
    """Return a bound at each gap, interpolated where a class has very many rows.

    With `exact` a count between two grid points takes the larger one's bound, as a promise must.
    """
    if n < _MANY:
        return bound(np.arange(n + 1), n)[wrong]
    few = np.unique(
        np.concatenate([np.arange(_MANY // 4), np.linspace(0, n, _MANY // 2)]).astype(int)
    )
    values = bound(few, n)
    if exact:
        return values[np.searchsorted(few, wrong)]
    return np.interp(wrong, few, values)


def describe_unmet(
    rule: Floors, unmet: dict[str, float], n_samples: tuple[int, int], delta: float | None
) -> str:
    """Return the message for floors that are not met: which, by how much, and the remedy.

    Parameters
    ----------
    rule : Floors
        What was asked for.
    unmet : dict
        By how much each floor is missed at the boundary that comes nearest.
    n_samples : tuple of int
        Rows of each class.
    delta : float or None
        Probability with which a promise may fail; None for estimates.
    """
    said = []
    for name, short in unmet.items():
        floor = rule.asked[name]
        cap = name == "flagged"
        # Rounded to the safe side: what is said to be reached can be asked for.
        reached = math.ceil((floor + short) * 1e4) if cap else math.floor((floor - short) * 1e4)
        said.append(
            f"{name} {'≤' if cap else '≥'} {floor:g} is missed by {short:.3g} "
            f"({reached / 1e4:g} is reached)"
        )
    how = "" if delta is None else f" with {1 - delta:.4g} confidence"
    text = f"No boundary meets all floors{how}; at the one that comes nearest, {'; '.join(said)}."
    return f"{text} {_cure(rule, unmet, n_samples, delta)}"


def _cure(
    rule: Floors, unmet: dict[str, float], n_samples: tuple[int, int], delta: float | None
) -> str:
    """Return the remedy: more rows, or weaker floors."""
    if delta is None:
        names = " or ".join(rule.asked)
        return f"Relax {names}, or train a model that separates the classes better."
    each = delta / len(rule.promised)
    negative, positive = n_samples
    rows = {
        "recall": ("positive rows, all on the right side", positive),
        "specificity": ("negative rows, all on the right side", negative),
    }
    if rule.prevalence is None:
        rows["precision"] = ("flagged rows, all of them positive", positive)
        rows["npv"] = ("rows left alone, all of them negative", negative)
    for name in unmet:
        floor = rule.asked[name]
        if name != "flagged" and floor >= 1.0:
            return (
                f"No number of rows can promise a {name} of 1: ask for less, or for no more than "
                "the rows at hand show, with curve='empirical'."
            )
        if name in rows:
            needed = math.ceil(math.log(each) / math.log(floor) - 1e-9)
            which, there = rows[name]
            if there < needed:
                return (
                    f"A {name} of {floor:g} needs at least {needed} {which}, and there are "
                    f"{there}: collect more, or lower the floor or the confidence."
                )
    others = [name for name in rule.asked if name not in unmet]
    against = f" that {', '.join(others)} leaves room for" if others else ""
    return (
        f"Relax {' or '.join(unmet)} to what is reached{against}, lower the confidence, collect "
        "more rows, or train a model that separates the classes better."
    )


def start_of(floor: float, delta: float, most: int) -> int:
    """Return the number of rows at which a sequence of tests starts.

    It depends only on the floor, the confidence and the number of rows. It is the least number at
    which an observed share halfway between the floor and 1 would pass, if that is at most half of
    the rows; else the least number at which a share of 1 would pass.

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
    """Return the least number of rows that pass a floor if none is wrong."""
    return math.ceil(math.log(delta) / math.log(floor) - 1e-9)


def starting_places(
    floor: float, delta: float, most: int, ratio: int = 3, most_share: float = 0.5
) -> list[int]:
    """Return the numbers of rows at which tests start, each with an equal part of delta.

    They form a geometric sequence with factor `ratio`, up to the fraction `most_share` of all
    rows; docs/defaults.md says how both were chosen.

    Examples
    --------
    >>> starting_places(0.5, 0.05, 50), starting_places(0.5, 0.05, 1000)
    ([11], [11, 33, 99, 297])
    """
    first = start_of(floor, delta, most)
    places = [first]
    while places[-1] * ratio <= most_share * most:
        places.append(places[-1] * ratio)
    # A start must be able to pass with its own part of delta alone.
    least = _least(floor, delta / len(places))
    return [max(place, least) for place in places]


def pass_in_order(
    wrong: IntArray,
    n: IntArray,
    floor: float,
    delta: float,
    places: Sequence[int] | None = None,
) -> NDArray[np.bool_]:
    """Return the boundaries at which the share right meets the floor, jointly with 1 − delta.

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
        # The p-value of this few errors under a share at the floor.
        unlikely = bdtr(wrong[start:end], n[start:end], 1.0 - floor) <= level
        stop = end if unlikely.all() else start + int(np.argmin(unlikely))
        passed[start:stop] = True
        if stop < end:
            level = 0.0
    return passed


def largest_floor(wrong: IntArray, n: IntArray, floor: float, delta: float) -> float:
    """Return the largest floor up to this one that some boundary passes, to 1e-4; else 0.

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
