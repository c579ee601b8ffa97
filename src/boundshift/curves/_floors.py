"""The best threshold among those that meet all floors, or the one that comes nearest.

Every gap between neighbouring scores is tested for every floor. A floor that is estimated is
compared with a rate. A floor that is guaranteed has one of three tests:

- recall, specificity and a guaranteed cap fall with a count of rows, so all gaps up to some count
  pass, and the largest count follows from the numbers of rows alone;
- precision and NPV are tested at many thresholds in order (:mod:`boundshift.curves._sequence`);
- with a prevalence, both classes are bounded for all thresholds at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from boundshift._scores import ScoreSample
from boundshift._search import Found, gap_edges
from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift.curves._sequence import largest_floor, pass_in_order
from boundshift.curves._uniform import clopper_pearson, uniform_bound
from boundshift.rules._binary import frequencies
from boundshift.rules._floors import Floors, missed_by, reached_rates, total_shortfall
from boundshift.rules._guarantee import Guarantee, UpperBound

Bound = Callable[[ArrayLike, int], FloatArray]
"""From wrong rows and all rows of a class to the claimed error rate."""

# A test that fails is missed, even if the rate shown reaches the floor.
_FAILED = 1e-9
# Counts of a class above which a bound is computed for some of them.
_MANY = 8192
# Lower floors that are tried if one is not met.
_STEPS = 8


def search_estimates(bound: Bound, rule: Floors, sample: ScoreSample) -> Found:
    """Return the best boundary among those that meet every floor as estimated by a bound."""
    gaps = _Gaps(sample)
    negative, positive = gaps.n_samples
    weights = frequencies(rule.prevalence, gaps.n_samples)
    alarms = bound(gaps.alarms, negative)
    reached = reached_rates(alarms, bound(gaps.misses, positive), weights)
    shortfalls = {name: missed_by(name, limit, reached[name]) for name, limit in rule.asked.items()}
    place = gaps.find(rule, bound, total_shortfall(shortfalls))
    low, high = gaps.ends(place)
    return gaps.found_at(place, rule, bound, low + (high - low) / 2)


def search_guarantees(
    bound_at: UpperBound, rule: Floors, sample: ScoreSample, guarantees: Sequence[Guarantee]
) -> tuple[Found, list[str]]:
    """Return the best boundary that keeps each floor with its probability, and what is missed."""
    gaps = _Gaps(sample)
    tests = _make_tests(rule, gaps, guarantees, bound_at)
    passed = np.logical_and.reduce([tests[name].passed for name in rule.asked])
    shortfalls: dict[str, FloatArray] = {}
    total = np.where(passed, 0.0, 1.0)
    if not passed.any():
        shortfalls = {name: tests[name].shortfall() for name in rule.asked}
        total = total_shortfall(shortfalls)
    # All guarantees have the same part of delta, which bounds the errors for the objective, too.
    delta = guarantees[0].delta

    def bound(wrong: ArrayLike, n: int) -> FloatArray:
        return bound_at(wrong, n, delta)

    def quick_bound(wrong: ArrayLike, n: int) -> FloatArray:
        return _interpolate(bound, wrong, n)

    place = gaps.find(rule, quick_bound, total)
    low, _ = gaps.ends(place)
    # The boundary stands on a score, an order statistic.
    found = gaps.found_at(place, rule, bound, low)
    return found, [name for name, short in shortfalls.items() if short[place] > 0.0]


# --- Tests of floors ------------------------------------------------------------------------------


# Each tells which gaps keep a floor, and how far each gap is from keeping it, 0 if it does.


@dataclass(frozen=True)
class _RateTest:
    """A floor of a rate that is known, or bounded, at every gap."""

    name: str
    limit: float
    reached: FloatArray

    @property
    def passed(self) -> BoolArray:
        return self.shortfall() <= 0.0

    def shortfall(self) -> FloatArray:
        return missed_by(self.name, self.limit, self.reached)


@dataclass(frozen=True)
class _CountTest:
    """A guarantee of an error rate that grows with a count of wrong rows."""

    guarantee: Guarantee
    wrong: IntArray
    n: int
    bound_at: UpperBound

    @property
    def passed(self) -> BoolArray:
        return self.wrong <= self.guarantee.allowed_errors(self.n, self.bound_at)

    def shortfall(self) -> FloatArray:
        def bound(wrong: ArrayLike, n: int) -> FloatArray:
            return self.bound_at(wrong, n, self.guarantee.delta)

        beyond = _interpolate(bound, self.wrong, self.n) - self.guarantee.error_rate
        return np.where(self.passed, 0.0, np.maximum(beyond, _FAILED))


@dataclass(frozen=True)
class _SequenceTest:
    """A guarantee of the share that is right among n rows, tested at one gap after the other."""

    guarantee: Guarantee
    wrong: IntArray
    n: IntArray
    is_backward: bool = False

    @property
    def passed(self) -> BoolArray:
        passed = self._passes(self.guarantee.limit)
        return passed[::-1] if self.is_backward else passed

    def shortfall(self) -> FloatArray:
        limit = self.guarantee.limit
        delta = self.guarantee.delta
        shown = np.zeros(len(self.n))
        largest = 0.0
        if limit < 1.0:
            largest = largest_floor(self.wrong, self.n, limit, delta)
        for lower in np.round(largest * np.arange(1, _STEPS + 1) / _STEPS, 4).tolist():
            if lower > 0.0:
                shown[self._passes(lower)] = lower
        short = np.maximum(missed_by(self.guarantee.rate, limit, shown), _FAILED)
        if self.is_backward:
            short = short[::-1]
        return np.where(self.passed, 0.0, short)

    def _passes(self, floor: float) -> BoolArray:
        return pass_in_order(self.wrong, self.n, floor, self.guarantee.delta)


_FloorTest = _RateTest | _CountTest | _SequenceTest


def _make_tests(
    rule: Floors, gaps: _Gaps, guarantees: Sequence[Guarantee], bound_at: UpperBound
) -> Mapping[str, _FloorTest]:
    """Return the test of each floor."""
    negative, positive = gaps.n_samples
    weights = frequencies(rule.prevalence, gaps.n_samples)
    tests: dict[str, _FloorTest] = {}
    if rule.flagged is not None:  # as a budget, unless it is guaranteed
        counted = reached_rates(gaps.alarms / negative, gaps.misses / positive, weights)
        tests["flagged"] = _RateTest("flagged", rule.flagged, counted["flagged"])
    for guarantee in guarantees:
        name = guarantee.rate
        if name == "recall":
            tests[name] = _CountTest(guarantee, gaps.misses, positive, bound_at)
        elif name == "specificity":
            tests[name] = _CountTest(guarantee, gaps.alarms, negative, bound_at)
        elif rule.prevalence is not None:
            worst = _worst_rates(gaps, guarantee.delta, weights)
            tests[name] = _RateTest(name, guarantee.limit, worst[name])
        elif name == "flagged":
            n = negative + positive
            tests[name] = _CountTest(guarantee, gaps.flagged, n, clopper_pearson)
        elif name == "precision":
            tests[name] = _SequenceTest(guarantee, gaps.alarms, gaps.flagged)
        else:
            tests[name] = _test_npv(guarantee, gaps)
    return tests


def _worst_rates(gaps: _Gaps, delta: float, weights: tuple[float, float]) -> dict[str, FloatArray]:
    """Bound every rate at all gaps at once; each class has half of the delta."""
    negative, positive = gaps.n_samples

    def band(wrong: IntArray, n: int) -> FloatArray:
        return _interpolate(lambda k, n: uniform_bound(k, n, delta / 2), wrong, n, is_upper=True)

    alarms = band(gaps.alarms, negative)
    worst = reached_rates(alarms, band(gaps.misses, positive), weights)
    most_hits = band(positive - gaps.misses, positive)
    worst["flagged"] = reached_rates(alarms, 1.0 - most_hits, weights)["flagged"]
    return worst


def _test_npv(guarantee: Guarantee, gaps: _Gaps) -> _SequenceTest:
    # The boundary stands on a score, which is not among those below it: one row less.
    rows = sum(gaps.n_samples) - 1
    below = np.maximum(rows - gaps.flagged, 0)[::-1]
    misses = np.minimum(gaps.misses[::-1], below)
    return _SequenceTest(guarantee, misses, below, is_backward=True)


def _interpolate(bound: Bound, wrong: ArrayLike, n: int, *, is_upper: bool = False) -> FloatArray:
    """Return a bound at each count, interpolated if a class has very many rows.

    With `is_upper` a count between two of the grid has the bound of the larger one.
    """
    counts = np.arange(n + 1)
    if n >= _MANY:
        grid = np.concatenate([counts[: _MANY // 4], np.linspace(0, n, _MANY // 2)])
        counts = np.unique(grid.astype(int))
    values = bound(counts, n)
    if is_upper:
        return np.asarray(values[np.searchsorted(counts, wrong)])
    return np.asarray(np.interp(np.asarray(wrong), counts, values))


# --- Gaps -----------------------------------------------------------------------------------------


class _Gaps:
    """Every gap between neighbouring scores, each flagging more rows than the one before it."""

    def __init__(self, sample: ScoreSample) -> None:
        edges = gap_edges(sample)[::-1]
        self._low = edges[1:]
        self._high = edges[:-1]
        self.n_samples = sample.n_samples
        self.alarms, self.misses = sample.count_wrong(self._low)

    @property
    def flagged(self) -> IntArray:
        """Rows above each gap."""
        return self.n_samples[1] - self.misses + self.alarms

    def ends(self, place: int) -> tuple[float, float]:
        """Return the scores at both ends of a gap."""
        return float(self._low[place]), float(self._high[place])

    def find(self, rule: Floors, bound: Bound, shortfall: FloatArray) -> int:
        """Return the best of the gaps that fall short of nothing, or the nearest gap."""
        met = shortfall <= 0.0
        if not met.any():
            return int(np.argmin(shortfall))
        n = self.n_samples
        values = rule.objective.value(bound(self.alarms, n[0]), bound(self.misses, n[1]), n)
        return int(np.argmin(np.where(met, values, np.inf)))

    def found_at(self, place: int, rule: Floors, bound: Bound, threshold: float) -> Found:
        """Return a threshold inside a gap as the result of a search."""
        n = self.n_samples
        negative = bound(self.alarms[[place]], n[0])
        positive = bound(self.misses[[place]], n[1])
        value = float(rule.objective.value(negative, positive, n)[0])
        return Found(threshold, self.ends(place), (float(negative[0]), float(positive[0])), value)
