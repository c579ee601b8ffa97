r"""Boundaries that meet floors, the tests that promise them, and the message where none does.

`pass_in_order` tests a share in a fixed order from several starting places; its tests hold jointly.

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
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

from boundshift._scores import ScoreSample
from boundshift._search import Found, gap_edges
from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift.curves._uniform import clopper_pearson, uniform_bound
from boundshift.rules._binary import frequencies
from boundshift.rules._floors import Floors, missed_by, reached_rates

Bound = Callable[[ArrayLike, int], FloatArray]
"""From rows on the wrong side, and all rows of a class, to the claimed error rate."""
_Test = tuple[BoolArray, Callable[[], FloatArray]]
"""The gaps that pass, and a function for the rate shown at each gap."""

_ROUNDING = 1e-12
# Counts of a class above which a bound is computed for some of them.
_MANY = 8192
# Lower floors that are tried where one is not met, and the precision of the largest.
_STEPS, _NEAR = 8, 1e-4


class _Gaps(NamedTuple):
    """Every gap between neighbouring scores, each flagging more rows than the one before it.

    In passes, a row that is `inner` stands for all gaps inside a cell. Its `alarms` and `misses`
    are the least that one of these may have, `most_alarms` and `most_misses` the most. So a test
    that it fails, each of them fails. If it may decide, the cell is looked into.
    """

    sample: ScoreSample
    low: FloatArray
    high: FloatArray
    alarms: IntArray
    misses: IntArray
    most_alarms: IntArray
    most_misses: IntArray
    inner: BoolArray

    @classmethod
    def of(cls, sample: ScoreSample) -> _Gaps:
        """Return the gaps of a sample."""
        edges = gap_edges(sample)[::-1]
        low, high = edges[1:], edges[:-1]
        alarms, misses = sample.count_wrong(low)
        unknown = [
            c.ends[1][c.ends[0] < c.ends[1]]
            for c in (sample.negative, sample.positive)
            if c.ends is not None
        ]
        # A gap ends at the top of a cell, and the next one begins below it.
        tops = np.concatenate([*unknown, np.empty(0)])
        cell = np.flatnonzero(np.isin(low[:-1], tops)) if len(tops) else np.empty(0, np.intp)
        order = np.argsort(np.concatenate([np.arange(len(low)), cell + 0.5]), kind="stable")

        def merged(known: Any, inside: Any) -> Any:
            return np.concatenate([known, inside])[order] if len(cell) else known

        return cls(
            sample,
            merged(low, low[cell]),
            merged(high, low[cell]),
            merged(alarms, alarms[cell]),
            merged(misses, misses[cell + 1]),
            merged(alarms, alarms[cell + 1]),
            merged(misses, misses[cell]),
            merged(np.zeros(len(low), np.bool_), np.ones(len(cell), np.bool_)),
        )

    @property
    def n_samples(self) -> tuple[int, int]:
        """Numbers of rows (negative, positive)."""
        return self.sample.n_samples

    def ask(self, edges: FloatArray) -> None:
        """Ask for the cells that end at some edges of gaps."""
        for scores in (self.sample.negative, self.sample.positive):
            scores.request_exact(edges)

    def choose(self, rule: Floors, bound: Bound, missing: FloatArray) -> int:
        """Return the best gap of those where nothing is missing, or the nearest."""
        values, met, (n, m) = missing, missing <= 0.0, self.n_samples
        if met.any():
            claims, most = (bound(self.alarms, n), bound(self.misses, m)), self.most_alarms
            values = rule.objective.value(*claims, self.n_samples)
            if self.inner.any():  # a share flagged to maximise grows with the alarms
                other = rule.objective.value(bound(most, n), claims[1], self.n_samples)
                values = np.minimum(values, other)
            values = np.where(met, values, np.inf)
        place = int(np.argmin(np.where(self.inner, np.inf, values)))
        is_before = np.arange(len(values)) < place
        better = (values < values[place]) | ((values == values[place]) & is_before)
        self.ask(np.append(self.low[self.inner & better], [self.low[place], self.high[place]]))
        return place

    def found(self, rule: Floors, bound: Bound, place: int, share: float) -> Found:
        """Return a gap as what was found; the boundary stands at a share of its width."""
        low, high = float(self.low[place]), float(self.high[place])
        negative = bound(self.alarms[[place]], self.n_samples[0])
        positive = bound(self.misses[[place]], self.n_samples[1])
        value = float(rule.objective.value(negative, positive, self.n_samples)[0])
        errors = float(negative[0]), float(positive[0])
        return Found(low + share * (high - low), (low, high), errors, value)


def search_estimates(bound: Bound, rule: Floors, sample: ScoreSample) -> Found:
    """Return the best boundary among those that meet every floor as estimated by a bound."""
    gaps = _Gaps.of(sample)
    negative, positive = gaps.n_samples
    weights = frequencies(rule.prevalence, gaps.n_samples)
    alarms = bound(gaps.alarms, negative)
    reached = reached_rates(alarms, bound(gaps.misses, positive), weights)
    fewest = reached_rates(alarms, bound(gaps.most_misses, positive), weights)
    reached["flagged"] = fewest["flagged"]
    missing = sum(missed_by(name, floor, reached[name]) for name, floor in rule.asked.items())
    return gaps.found(rule, bound, gaps.choose(rule, bound, np.asarray(missing)), 0.5)


def search_promises(
    bound: Callable[[ArrayLike, int, float], FloatArray],
    rule: Floors,
    sample: ScoreSample,
    delta: float,
) -> tuple[Found, dict[str, float]]:
    """Return the best boundary that keeps every floor with probability 1 − delta, and shortfalls.

    The bound takes rows on the wrong side, all rows of a class, and a delta.
    """
    gaps, each = _Gaps.of(sample), delta / len(rule.promised)

    def claim(wrong: ArrayLike, n: int) -> FloatArray:
        return bound(wrong, n, each)

    tests = _tests(rule, gaps, claim, each)
    kept = np.logical_and.reduce([tests[name][0] for name in rule.asked])
    missing: dict[str, FloatArray] = {}
    for name, floor in rule.asked.items() if not kept.any() else ():
        passed, shown = tests[name]
        # A gap that a sequence of tests does not reach is missed, whatever it would show.
        missing[name] = np.where(passed, 0.0, np.maximum(missed_by(name, floor, shown()), 1e-9))
    total = np.sum(list(missing.values()), axis=0) if missing else np.where(kept, 0.0, 1.0)
    place = gaps.choose(rule, partial(_of_counts, claim), total)
    unmet = {name: float(by[place]) for name, by in missing.items() if by[place] > 0.0}
    return gaps.found(rule, claim, place, 0.0), unmet


def _tests(rule: Floors, gaps: _Gaps, claim: Bound, delta: float) -> dict[str, _Test]:
    """Return the test of each floor."""
    negative, positive = gaps.n_samples
    rows, asked, promised = negative + positive, rule.asked, rule.promised
    fewest_hits = positive - gaps.most_misses
    flagged = positive - gaps.misses + gaps.alarms
    most_flagged = fewest_hits + gaps.most_alarms
    weights = frequencies(rule.prevalence, gaps.n_samples)
    tests: dict[str, _Test] = {}
    if "recall" in asked:
        tests["recall"] = _test_counts(claim, gaps.misses, positive, asked["recall"])
    if "specificity" in asked:
        tests["specificity"] = _test_counts(claim, gaps.alarms, negative, asked["specificity"])
    if "flagged" in asked and "flagged" not in promised:
        shares = gaps.alarms / negative, gaps.most_misses / positive
        counted = reached_rates(*shares, weights)["flagged"]
        tests["flagged"] = missed_by("flagged", asked["flagged"], counted) <= 0.0, lambda: counted
    if rule.prevalence is not None:
        # Both classes are bounded for all boundaries at once, each with half of the delta.
        def band(k: ArrayLike, n: int) -> FloatArray:
            return uniform_bound(k, n, delta / 2)

        alarms = _of_counts(band, gaps.alarms, negative, safe=True)
        misses = _of_counts(band, gaps.misses, positive, safe=True)
        most_hits = _of_counts(band, fewest_hits, positive, safe=True)
        worst = reached_rates(alarms, misses, weights)
        worst["flagged"] = reached_rates(alarms, 1.0 - most_hits, weights)["flagged"]
        for name in {"precision", "npv", "flagged"} & set(promised):
            shown = worst[name]
            tests[name] = missed_by(name, asked[name], shown) <= 0.0, shown.copy
        return tests
    if "flagged" in promised:
        left = _test_counts(
            lambda k, n: clopper_pearson(k, n, delta),
            fewest_hits + gaps.alarms,
            rows,
            1.0 - asked["flagged"],
        )
        tests["flagged"] = left[0], lambda: 1.0 - left[1]()
    if "precision" in asked:
        inside = _Inside.of(gaps, gaps.most_alarms, most_flagged)
        tests["precision"] = _test_in_order(gaps.alarms, flagged, asked["precision"], delta, inside)
    if "npv" in asked:
        # The boundary stands on a score, which is not among those below it: one row less.
        below, fewest = (np.maximum(rows - n - 1, 0)[::-1] for n in (flagged, most_flagged))
        misses = np.minimum(gaps.misses[::-1], below)
        inside = _Inside.of(gaps, np.minimum(gaps.most_misses[::-1], fewest), fewest, -1)
        passed, reached = _test_in_order(misses, below, asked["npv"], delta, inside)
        tests["npv"] = passed[::-1], lambda: reached()[::-1]
    return tests


def _test_counts(bound: Bound, wrong: IntArray, n: int, floor: float) -> _Test:
    """Test a share that falls with a count: all counts up to some number pass."""
    return wrong <= most_wrong(bound, n, 1.0 - floor), lambda: 1.0 - _of_counts(bound, wrong, n)


class _Inside(NamedTuple):
    """The rows of a sequence that stand for all boundaries inside a cell, and their worst counts.

    A row that passes although its worst p-value exceeds the level is in doubt. So is one in which
    a sequence may start.
    """

    rows: IntArray
    edges: FloatArray
    wrong: IntArray
    n: IntArray
    ask: Callable[[FloatArray], None]

    @classmethod
    def of(cls, gaps: _Gaps, wrong: IntArray, n: IntArray, step: int = 1) -> _Inside | None:
        """Return those of the gaps, None if every score is known."""
        rows = np.flatnonzero(gaps.inner[::step])
        if not len(rows):
            return None
        return cls(rows, gaps.low[::step][rows], wrong[rows], n[rows], gaps.ask)

    def doubt(self, level: FloatArray, floor: float) -> None:
        """Ask for rows that pass at a level, not for sure."""
        own = level[self.rows]
        self.ask(self.edges[(own > 0) & (bdtr(self.wrong, self.n, 1.0 - floor) > own)])

    def doubt_starts(self, n: IntArray, places: Sequence[int]) -> None:
        """Ask for rows in which a sequence may start."""
        started = np.searchsorted(places, n, side="right")
        self.ask(self.edges[started[self.rows + 1] > started[self.rows - 1]])


def _test_in_order(
    wrong: IntArray, n: IntArray, floor: float, delta: float, inside: _Inside | None
) -> _Test:
    """Test the share right among n rows at each gap; it shows a lower floor that passes."""

    def shown() -> FloatArray:
        values = np.zeros(len(n))
        if floor < 1.0:
            largest = largest_floor(wrong, n, floor, delta, inside)
            for lower in np.round(largest * np.arange(1, _STEPS + 1) / _STEPS, 4):
                if lower > 0.0:
                    values[pass_in_order(wrong, n, float(lower), delta, inside=inside)] = lower
        return values

    return pass_in_order(wrong, n, floor, delta, inside=inside), shown


def _of_counts(bound: Bound, wrong: IntArray, n: int, safe: bool = False) -> FloatArray:
    """Return a bound at each gap, interpolated where a class has very many rows.

    With `safe` a count between two grid points takes the bound of the larger one.
    """
    if n < _MANY:
        return bound(np.arange(n + 1), n)[wrong]
    few = np.unique(
        np.concatenate([np.arange(_MANY // 4), np.linspace(0, n, _MANY // 2)]).astype(int)
    )
    values = bound(few, n)
    return values[np.searchsorted(few, wrong)] if safe else np.interp(wrong, few, values)


def most_wrong(bound: Bound, n: int, most: float) -> int:
    """Return the largest count whose bound is at most some error, -1 if there is none."""

    def exceeds(k: int) -> bool:
        return float(bound(np.array([k]), n)[0]) > most + _ROUNDING

    return bisect_left(range(n + 1), True, key=exceeds) - 1


# --- Tests in order -------------------------------------------------------------------------------


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
    return math.ceil(math.log(delta) / math.log(floor) - 1e-9)


def starting_places(floor: float, delta: float, most: int) -> list[int]:
    """Return the numbers of rows at which tests start, each with an equal part of delta.

    Each is three times the one before it, up to half of all rows; docs/defaults.md says how both
    were chosen.
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
    inside: _Inside | None = None,
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
    if inside is not None:
        inside.doubt(level, floor)
        inside.doubt_starts(n, places)
    return level > 0


def largest_floor(
    wrong: IntArray, n: IntArray, floor: float, delta: float, inside: _Inside | None = None
) -> float:
    """Return the largest floor up to this one that some boundary passes, to 1e-4; else 0."""

    def fails(steps: int) -> bool:
        lower = steps * _NEAR
        places = starting_places(lower, delta, int(n.max(initial=0)))
        if inside is not None:
            inside.doubt_starts(n, places)
        # Some boundary passes if and only if the first after a starting place does.
        starts = np.unique(np.searchsorted(n, places))
        starts = starts[starts < len(n)]
        return not pass_in_order(wrong[starts], n[starts], lower, delta, places).any()

    return round(bisect_left(range(1, math.ceil(floor / _NEAR)), True, key=fails) * _NEAR, 4)


# --- The message ----------------------------------------------------------------------------------


def describe_unmet(
    rule: Floors, unmet: dict[str, float], n_samples: tuple[int, int], delta: float | None
) -> str:
    """Return the message for floors that are not met: which, by how much, and the remedy.

    `delta` is the probability with which a promise may fail; None for estimates.
    """
    said = []
    for name, short in unmet.items():
        floor, cap = rule.asked[name], name == "flagged"
        # Rounded to the safe side: the rate that is named can be asked for.
        reached = (floor + short if cap else floor - short) * 1e4
        reached = math.ceil(reached - 1e-8) if cap else math.floor(reached + 1e-8)
        said.append(
            f"{name} {'≤' if cap else '≥'} {floor:g} is missed by {short:.3g} "
            f"({reached / 1e4:g} is reached)"
        )
    how = "" if delta is None else f" with {1 - delta:.4g} confidence"
    text = f"No boundary meets all floors{how}; at the one that comes nearest, {'; '.join(said)}."
    return f"{text} {_remedy(rule, unmet, n_samples, delta)}"


def _remedy(
    rule: Floors, unmet: dict[str, float], n_samples: tuple[int, int], delta: float | None
) -> str:
    """Return the remedy: more rows, or weaker floors."""
    if delta is None:
        names = " or ".join(rule.asked)
        return f"Relax {names}, or train a model that separates the classes better."
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
        which, there = rows.get(name, ("", 0))
        needed = _rows_needed(floor, delta / len(rule.promised)) if which else 0
        if there < needed:
            return (
                f"A {name} of {floor:g} needs at least {needed} {which}, and there are "
                f"{there}: collect more, or lower the floor or the confidence."
            )
    return (
        f"Relax {' and '.join(unmet)} to what is reached, lower the confidence, collect more rows, "
        "or train a model that separates the classes better."
    )
