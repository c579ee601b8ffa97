"""Boundaries that meet floors, and what is said where none does."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.curves.sequence import largest_floor, pass_in_order
from boundshift.curves.uniform import clopper_pearson, uniform_bound
from boundshift.exceptions import InvalidInputError
from boundshift.rules.floors import Floors, missed_by, reached_rates
from boundshift.rules.prevalence import frequencies
from boundshift.scores.sample import ScoreSample
from boundshift.search.found import Found
from boundshift.typing import FloatArray, IntArray

__all__ = ["Promised", "describe_unmet", "search_estimates", "search_promises"]

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


class Promised(NamedTuple):
    """A boundary, and by how much each floor is missed there; nothing, if all are promised."""

    found: Found
    unmet: dict[str, float]


@dataclass(frozen=True)
class _Gaps:
    """Every way to cut the scores; the boundary stands on the lower end of its gap.

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
    gaps, each = _Gaps.of(sample), delta / len(rule.asked)

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
    """Return for each floor where it is promised, and how to compute what is shown everywhere."""
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
    if rule.prevalence is not None:
        return tests | _test_at_prevalence(rule, gaps, delta)
    if rule.flagged is not None:

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
    low, high = -1, n
    while low < high:
        middle = (low + high + 1) // 2
        if float(bound(np.array([middle]), n)[0]) <= most + _ROUNDING:
            low = middle
        else:
            high = middle - 1

    def shown() -> FloatArray:
        values = _of_counts(bound, wrong, n)
        return 1.0 - values if complement else values

    return wrong <= low, shown


def _test_at_prevalence(rule: Floors, gaps: _Gaps, delta: float) -> dict[str, Test]:
    """Test what is shown at a prevalence: both classes bounded for all boundaries at once."""

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
        if name in rule.asked:
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
    """Return a bound at each gap; of very many counts some, and a straight line between them.

    A promise asks for `exact`, where a count between two looks up the larger one's bound.
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
    """Return which floors fail, by how much, and what would be needed.

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
    """Return what would be needed: rows, or a lower floor."""
    if delta is None:
        names = " or ".join(rule.asked)
        return f"Lower {names}, or train a model that separates the classes better."
    each = delta / len(rule.asked)
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
        f"Lower {' or '.join(unmet)} to what is reached{against}, lower the confidence, collect "
        "more rows, or train a model that separates the classes better."
    )
