r"""Boundaries that meet floors, the tests that promise them, and the message where none does.

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
from itertools import pairwise
from typing import Any

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
_Doubt = Callable[[IntArray, Sequence[int], FloatArray | None, float], None]
"""Asks for the cells in which a sequence of tests may start, or passes without being sure."""

_ROUNDING = 1e-12
# Counts of a class above which a bound is computed for some of them.
_MANY = 8192
# Lower floors that are tried where one is not met, and the precision of the largest.
_STEPS, _NEAR = 8, 1e-4


class _Gaps:
    """Every gap between neighbouring scores, each flagging more rows than the one before it.

    In passes, an entry that is `inner` stands for all gaps inside a cell. Its `alarms` and
    `misses` are the least that one of these may have, `most_alarms` and `most_misses` the most. So
    a test that it fails, each of them fails. If it may decide, the cell is looked into.
    """

    def __init__(self, sample: ScoreSample) -> None:
        edges = gap_edges(sample)[::-1]
        low, (alarms, misses) = edges[1:], sample.count_wrong(edges[1:])
        classes = sample.negative, sample.positive
        # A gap ends at the top of a cell, and the next one begins below it.
        tops = [c.ends[1][c.ends[0] < c.ends[1]] for c in classes if c.ends is not None]
        cell = np.flatnonzero(np.isin(low[:-1], np.concatenate([*tops, np.empty(0)])))
        order = np.argsort(np.append(np.arange(len(low)), cell + 0.5), kind="stable")
        self.n_samples, self._classes = sample.n_samples, classes
        self.low = np.append(low, low[cell])[order]
        self.high = np.append(edges[:-1], low[cell])[order]
        self.alarms = np.append(alarms, alarms[cell])[order]
        self.misses = np.append(misses, misses[cell + 1])[order]
        self.most_alarms = np.append(alarms, alarms[cell + 1])[order]
        self.most_misses = np.append(misses, misses[cell])[order]
        self.inner = order >= len(low)

    def ask(self, edges: FloatArray) -> None:
        """Ask for the cells that end at some edges of gaps."""
        for scores in self._classes:
            scores.request_exact(edges)

    def doubt(self, wrong: IntArray, n: IntArray, step: int = 1) -> _Doubt | None:
        """Return how a sequence of tests asks for cells, given the worst counts inside them.

        None if every score is known.
        """
        rows = np.flatnonzero(self.inner[::step])
        edges = self.low[::step][rows]

        def ask(all_n: IntArray, places: Sequence[int], level: Any, floor: float) -> None:
            started = np.searchsorted(places, all_n, side="right")
            self.ask(edges[started[rows + 1] > started[rows - 1]])
            if level is not None:
                own, worst = level[rows], bdtr(wrong[rows], n[rows], 1.0 - floor)
                self.ask(edges[(own > 0) & (worst > own)])

        return ask if len(rows) else None

    def find(
        self, rule: Floors, bound: Bound, missing: FloatArray, share: float, claim: Bound
    ) -> tuple[int, Found]:
        """Return the best gap of those where nothing is missing, or the nearest.

        It is compared by a quick `bound`, claims the errors of another one, and the boundary
        stands at a share of its width.
        """
        values, met, n = missing, missing <= 0.0, self.n_samples
        if met.any():
            alarms, misses = bound(self.alarms, n[0]), bound(self.misses, n[1])
            values = rule.objective.value(alarms, misses, n)
            if self.inner.any():  # a share flagged to maximise grows with the alarms
                most = bound(self.most_alarms, n[0])
                values = np.minimum(values, rule.objective.value(most, misses, n))
            values = np.where(met, values, np.inf)
        place = int(np.argmin(np.where(self.inner, np.inf, values)))
        is_before = np.arange(len(values)) < place
        better = (values < values[place]) | ((values == values[place]) & is_before)
        self.ask(np.append(self.low[self.inner & better], [self.low[place], self.high[place]]))
        low, high = float(self.low[place]), float(self.high[place])
        negative, positive = claim(self.alarms[[place]], n[0]), claim(self.misses[[place]], n[1])
        value = float(rule.objective.value(negative, positive, n)[0])
        errors = float(negative[0]), float(positive[0])
        return place, Found(low + share * (high - low), (low, high), errors, value)


def search_estimates(bound: Bound, rule: Floors, sample: ScoreSample) -> Found:
    """Return the best boundary among those that meet every floor as estimated by a bound."""
    gaps = _Gaps(sample)
    negative, positive = gaps.n_samples
    weights = frequencies(rule.prevalence, gaps.n_samples)
    alarms = bound(gaps.alarms, negative)
    reached = reached_rates(alarms, bound(gaps.misses, positive), weights)
    fewest = reached_rates(alarms, bound(gaps.most_misses, positive), weights)
    reached["flagged"] = fewest["flagged"]
    missing = sum(missed_by(name, floor, reached[name]) for name, floor in rule.asked.items())
    return gaps.find(rule, bound, np.asarray(missing), 0.5, bound)[1]


def search_promises(
    claim: Bound, rule: Floors, sample: ScoreSample, delta: float
) -> tuple[Found, dict[str, float]]:
    """Return the best boundary that keeps each floor with probability 1 − delta, and shortfalls.

    The claim is a class's error with that probability.
    """
    gaps = _Gaps(sample)
    tests = _tests(rule, gaps, claim, delta)
    kept = np.logical_and.reduce([tests[name][0] for name in rule.asked])
    missing: dict[str, FloatArray] = {}
    for name, floor in rule.asked.items() if not kept.any() else ():
        passed, shown = tests[name]
        # A gap that a sequence of tests does not reach is missed, whatever it would show.
        missing[name] = np.where(passed, 0.0, np.maximum(missed_by(name, floor, shown()), 1e-9))
    total = np.sum(list(missing.values()), axis=0) if missing else np.where(kept, 0.0, 1.0)
    place, found = gaps.find(rule, lambda k, n: _of_counts(claim, k, n), total, 0.0, claim)
    return found, {name: float(by[place]) for name, by in missing.items() if by[place] > 0.0}


def _tests(rule: Floors, gaps: _Gaps, claim: Bound, delta: float) -> dict[str, _Test]:
    """Return the test of each floor."""
    negative, positive = gaps.n_samples
    rows, asked, promised = negative + positive, rule.asked, rule.promised
    fewest_hits = positive - gaps.most_misses
    flagged = positive - gaps.misses + gaps.alarms
    most_flagged = fewest_hits + gaps.most_alarms
    weights = frequencies(rule.prevalence, gaps.n_samples)
    tests: dict[str, _Test] = {}

    def by_count(bound: Bound, wrong: IntArray, n: int, floor: float) -> _Test:
        """Test a share that falls with a count: all counts up to some number pass."""
        return wrong <= most_wrong(bound, n, 1.0 - floor), lambda: 1.0 - _of_counts(bound, wrong, n)

    def by_rate(name: str, shown: FloatArray) -> _Test:
        return missed_by(name, asked[name], shown) <= 0.0, lambda: shown

    if "recall" in asked:
        tests["recall"] = by_count(claim, gaps.misses, positive, asked["recall"])
    if "specificity" in asked:
        tests["specificity"] = by_count(claim, gaps.alarms, negative, asked["specificity"])
    if "flagged" in asked and "flagged" not in promised:
        shares = gaps.alarms / negative, gaps.most_misses / positive
        tests["flagged"] = by_rate("flagged", reached_rates(*shares, weights)["flagged"])
    if rule.prevalence is not None:
        # Both classes are bounded for all boundaries at once, each with half of the delta.
        def band(wrong: IntArray, n: int) -> FloatArray:
            return _of_counts(lambda k, n: uniform_bound(k, n, delta / 2), wrong, n, safe=True)

        alarms, misses = band(gaps.alarms, negative), band(gaps.misses, positive)
        worst = reached_rates(alarms, misses, weights)
        most_hits = band(fewest_hits, positive)
        worst["flagged"] = reached_rates(alarms, 1.0 - most_hits, weights)["flagged"]
        unsure = {"precision", "npv", "flagged"} & set(promised)
        return tests | {name: by_rate(name, worst[name]) for name in unsure}
    if "flagged" in promised:
        passed, left = by_count(
            lambda k, n: clopper_pearson(k, n, delta),
            fewest_hits + gaps.alarms,
            rows,
            1.0 - asked["flagged"],
        )
        tests["flagged"] = passed, lambda: 1.0 - left()
    if "precision" in asked:
        doubt = gaps.doubt(gaps.most_alarms, most_flagged)
        tests["precision"] = _test_in_order(gaps.alarms, flagged, asked["precision"], delta, doubt)
    if "npv" in asked:
        # The boundary stands on a score, which is not among those below it: one row less.
        below, fewest = (np.maximum(rows - n - 1, 0)[::-1] for n in (flagged, most_flagged))
        doubt = gaps.doubt(np.minimum(gaps.most_misses[::-1], fewest), fewest, -1)
        misses = np.minimum(gaps.misses[::-1], below)
        in_order, reached = _test_in_order(misses, below, asked["npv"], delta, doubt)
        tests["npv"] = in_order[::-1], lambda: reached()[::-1]
    return tests


def _test_in_order(
    wrong: IntArray, n: IntArray, floor: float, delta: float, doubt: _Doubt | None
) -> _Test:
    """Test the share right among n rows at each gap; it shows a lower floor that passes."""

    def shown() -> FloatArray:
        values = np.zeros(len(n))
        largest = largest_floor(wrong, n, floor, delta, doubt) if floor < 1.0 else 0.0
        for lower in np.round(largest * np.arange(1, _STEPS + 1) / _STEPS, 4).tolist():
            if lower > 0.0:
                values[pass_in_order(wrong, n, lower, delta, doubt=doubt)] = lower
        return values

    return pass_in_order(wrong, n, floor, delta, doubt=doubt), shown


def _of_counts(bound: Bound, wrong: Any, n: int, safe: bool = False) -> FloatArray:
    """Return a bound at each gap, interpolated where a class has very many rows.

    With `safe` a count between two grid points takes the bound of the larger one.
    """
    few = np.arange(n + 1)
    if n >= _MANY:
        grid = np.concatenate([few[: _MANY // 4], np.linspace(0, n, _MANY // 2)])
        few = np.unique(grid.astype(int))
    values = bound(few, n)
    found = values[np.searchsorted(few, wrong)] if safe else np.interp(wrong, few, values)
    return np.asarray(found)


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
    doubt: _Doubt | None = None,
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
    if doubt is not None:
        doubt(n, places, level, floor)
    return level > 0


def largest_floor(
    wrong: IntArray, n: IntArray, floor: float, delta: float, doubt: _Doubt | None = None
) -> float:
    """Return the largest floor up to this one that some boundary passes, to 1e-4; else 0."""

    def fails(steps: int) -> bool:
        lower = steps * _NEAR
        places = starting_places(lower, delta, int(n.max(initial=0)))
        if doubt is not None:
            doubt(n, places, None, lower)
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
    rows = {
        "recall": ("positive rows, all on the right side", 1),
        "specificity": ("negative rows, all on the right side", 0),
        "precision": ("flagged rows, all of them positive", 1),
        "npv": ("rows left alone, all of them negative", 0),
    }
    for name in unmet:
        floor = rule.asked[name]
        if name == "flagged":
            continue
        if floor >= 1.0:
            return (
                f"No number of rows can promise a {name} of 1: ask for less, or for no more than "
                "the rows at hand show, with curve='empirical'."
            )
        (which, i), needed = rows[name], _rows_needed(floor, delta / len(rule.promised))
        is_counted = rule.prevalence is None or name in ("recall", "specificity")
        if is_counted and n_samples[i] < needed:
            return (
                f"A {name} of {floor:g} needs at least {needed} {which}, and there are "
                f"{n_samples[i]}: collect more, or lower the floor or the confidence."
            )
    return (
        f"Relax {' and '.join(unmet)} to what is reached, lower the confidence, collect more rows, "
        "or train a model that separates the classes better."
    )
