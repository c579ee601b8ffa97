r"""The boundary that a rule on two error curves asks for.

Curves of counts change only where the boundary passes a score, so the candidates are the gaps
between neighbouring scores. The negative class's curve falls and the positive one's rises with
the boundary, and every rule grows with both: over a run of gaps it cannot fall below its value at
the negative error of the last and the positive error of the first. Runs that cannot hold the
minimum are dropped before they are looked into, so a curve is evaluated at some hundreds of gaps
out of millions. Other curves are looked at between quantiles of both classes, or where they bend,
and then closer and closer around the best.

The middle of a plateau is taken, in score units.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.curves.base import CountCurve, ErrorCurve, PairCurve, ShapeCurve, Tail
from boundshift.rules import Rule
from boundshift.search.runs import cut_runs
from boundshift.scores.sample import ScoreSample

__all__ = ["Found", "errors_at", "find_minimum"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

_FAN = 64
_QUANTILES = 129
_VALLEYS = 8
# Boundaries closer than this share of the grid are one.
_CLOSE = 1e-13
# Values this close to the minimum belong to its plateau.
_FLAT = 1e-12
# On the line the ends of the plateau are where a round minimum has risen by this much: its middle
# is known to more digits than the place of its least value.
_LEVEL = 1e-10


class Found(NamedTuple):
    """A boundary, the plateau whose middle it is, and what is claimed there."""

    threshold: float
    plateau: tuple[float, float]
    errors: tuple[float, float]
    value: float


def errors_at(
    curve: ErrorCurve, sample: ScoreSample, t: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the claimed error rates (negative, positive) at each boundary.

    Examples
    --------
    >>> from boundshift.curves import as_curve
    >>> sample = ScoreSample.from_labels([0, 0, 0, 1], [0.0, 1.0, 3.0, 2.0])
    >>> negative, positive = errors_at(as_curve("kth-point"), sample, np.array([1.5]))
    >>> negative.tolist(), positive.tolist()
    ([0.5], [0.5])
    """
    t = np.asarray(t, dtype=np.float64)
    if isinstance(curve, CountCurve):
        above = sample.negative.n - sample.negative.count_at_most(t)
        below = sample.positive.count_at_most(t)
        return curve.bound(above, sample.negative.n), curve.bound(below, sample.positive.n)
    negative, positive = _tails(curve, sample)
    return negative(t), positive(-t)


def find_minimum(curve: ErrorCurve, rule: Rule, sample: ScoreSample) -> Found:
    """Return the boundary at which the rule is least.

    Examples
    --------
    >>> from boundshift.curves import as_curve
    >>> from boundshift.rules import as_rule
    >>> sample = ScoreSample.from_labels([0, 0, 0, 1], [0.0, 1.0, 2.0, 4.0])
    >>> find_minimum(as_curve("kth-point"), as_rule("sum"), sample).threshold
    3.0
    """
    if isinstance(curve, CountCurve):
        return _over_gaps(curve, rule, sample)
    return _over_line(curve, rule, sample)


def _tails(curve: ErrorCurve, sample: ScoreSample) -> tuple[Tail, Tail]:
    """Return both classes' tails; the positive one's in mirrored scores."""
    if isinstance(curve, PairCurve):
        return curve.tails(sample)
    assert isinstance(curve, ShapeCurve)
    pooled = sample.pooled_std
    return curve.tail(sample.negative, pooled), curve.tail(sample.positive.mirrored(), pooled)


class _Gaps:
    """The gaps between neighbouring distinct scores, from below all of them to above."""

    def __init__(self, curve: CountCurve, rule: Rule, sample: ScoreSample) -> None:
        merged = np.concatenate([sample.negative.positions, sample.positive.positions])
        merged.sort(kind="stable")
        self._distinct = merged[np.concatenate([[True], merged[1:] > merged[:-1]])]
        # Beyond the outermost scores a boundary stands off by half the mean distance of scores.
        self._beyond = (sample.spread or abs(merged[0]) or 1.0) / (2 * sum(sample.n_samples))
        self._curve, self._rule, self._sample = curve, rule, sample
        self.count = len(self._distinct) + 1

    def floor(self, gap: IntArray) -> FloatArray:
        """Return the score below each gap; a boundary there decides as one inside."""
        # A position may stand for scores below it.
        lowest = min(self._sample.negative.minimum, self._sample.positive.minimum)
        first = min(self._distinct[0], lowest) - 2 * self._beyond
        inside = self._distinct[np.maximum(gap - 1, 0)]
        return np.asarray(np.where(gap == 0, first, inside))

    def ceiling(self, gap: IntArray) -> FloatArray:
        """Return the score above each gap."""
        last = self._distinct[-1] + 2 * self._beyond
        inside = self._distinct[np.minimum(gap, len(self._distinct) - 1)]
        return np.asarray(np.where(gap == self.count - 1, last, inside))

    def bound(self, first: IntArray, last: IntArray) -> FloatArray:
        """Return a number that the rule cannot fall below from the first to the last gap."""
        negative, positive = self._sample.negative, self._sample.positive
        above = negative.n - negative.count_at_most(self.floor(last))
        below = positive.count_at_most(self.floor(first))
        return self._rule.value(
            self._curve.bound(above, negative.n),
            self._curve.bound(below, positive.n),
            self._sample.n_samples,
        )

    def value(self, gap: IntArray) -> FloatArray:
        """Return the rule in each gap."""
        return self.bound(gap, gap)


def _over_gaps(curve: CountCurve, rule: Rule, sample: ScoreSample) -> Found:
    """Return the best gap, merged with neighbours that are as good."""
    gaps = _Gaps(curve, rule, sample)
    first, last = np.array([0]), np.array([gaps.count - 1])
    best = np.inf
    while np.any(first < last):
        first, last = cut_runs(first, last, _FAN)
        bound = gaps.bound(first, np.minimum(last + 1, gaps.count - 1))
        likely = np.argsort(bound, kind="stable")[:_FAN]
        best = min(best, float(gaps.value((first + last)[likely] // 2).min()))
        alive = bound <= best + _FLAT * max(abs(best), 1.0)
        first, last = first[alive], last[alive]
    # A position may stand for scores below it, so that the gaps on both its sides bound it.
    for c in (sample.negative, sample.positive):
        c.matter(gaps.ceiling(first))
    start, end = _widest_run(gaps, first, best)
    threshold = start + (end - start) / 2
    if threshold >= end:  # no number lies between the two scores
        threshold = start
    errors = errors_at(curve, sample, np.array([threshold]))
    return Found(threshold, (start, end), (float(errors[0][0]), float(errors[1][0])), best)


def _widest_run(gaps: _Gaps, alive: IntArray, best: float) -> tuple[float, float]:
    """Return the ends of the widest run of neighbouring gaps at the minimum."""
    alive = alive[gaps.value(alive) <= best + _FLAT * max(abs(best), 1.0)]
    runs = np.split(alive, np.flatnonzero(np.diff(alive) > 1) + 1)
    starts = gaps.floor(np.array([run[0] for run in runs]))
    ends = gaps.ceiling(np.array([run[-1] for run in runs]))
    widest = int(np.argmax(ends - starts))
    return float(starts[widest]), float(ends[widest])


def _over_line(curve: ErrorCurve, rule: Rule, sample: ScoreSample) -> Found:
    """Return the best boundary on the line, closing in from all over it."""
    negative, positive = _tails(curve, sample)

    def value(t: FloatArray) -> FloatArray:
        return rule.value(negative(t), positive(-t), sample.n_samples)

    t, values = _close_in(value, _start(curve, sample))
    low, high = _plateau(value, t, values)
    threshold = low + (high - low) / 2
    at = np.array([threshold])
    errors = float(negative(at)[0]), float(positive(-at)[0])
    return Found(threshold, (low, high), errors, float(values.min()))


def _close_in(
    value: Callable[[FloatArray], FloatArray], t: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return boundaries, ever denser around the best of them, and the rule at each."""
    values = value(t)
    # Of the valleys of a coarse grid the lowest need not be the deepest.
    beside = np.concatenate([[np.inf], values, [np.inf]])
    left, right = beside[:-2], beside[2:]
    is_end = (values < left) | (values < right)  # of a flat valley its ends
    valleys = np.flatnonzero((values <= left) & (values <= right) & is_end)
    few = valleys[np.argsort(values[valleys], kind="stable")[:_VALLEYS]]
    closer = np.setdiff1d(np.concatenate([_around(t, int(i)) for i in few]), t)
    t, values = _merged(t, values, closer, value(closer))
    while True:
        best = int(values.argmin())
        closer = _around(t, best)
        low, high = t[max(best - 1, 0)], t[min(best + 1, len(t) - 1)]
        if not high - low > _CLOSE * (t[-1] - t[0]) or not len(closer):
            return t, values
        inner = value(closer)
        if np.ptp(inner) <= _FLAT and abs(inner[0] - values[best]) <= _FLAT:
            return t, values
        t, values = _merged(t, values, closer, inner)


def _around(t: FloatArray, i: int) -> FloatArray:
    """Return boundaries between the neighbours of one of them."""
    low, high = t[max(i - 1, 0)], t[min(i + 1, len(t) - 1)]
    closer = np.linspace(low, high, 34)[1:-1]
    return np.asarray(closer[(closer > low) & (closer < high) & (closer != t[i])])


def _merged(
    t: FloatArray, values: FloatArray, more: FloatArray, more_values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return boundaries in order, and the rule at each."""
    t = np.concatenate([t, more])
    order = np.argsort(t)
    return t[order], np.concatenate([values, more_values])[order]


def _plateau(
    value: Callable[[FloatArray], FloatArray], t: FloatArray, values: FloatArray
) -> tuple[float, float]:
    """Return the ends of the run around the minimum where the rule is flat."""
    best = int(values.argmin())
    most = float(values[best]) + _LEVEL * max(abs(float(values[best])), 1.0)
    before = np.flatnonzero(values[:best] > most)
    after = np.flatnonzero(values[best:] > most)
    ends: list[float] = []
    for outside in (before[-1:], best + after[:1]):
        flat = t[best] if len(outside) else (t[-1] if len(ends) else t[0])
        edge = t[outside[0]] if len(outside) else flat
        while abs(edge - flat) > _CLOSE * (t[-1] - t[0]):
            middle = flat + (edge - flat) / 2
            if middle in (edge, flat):
                break
            if value(np.array([middle]))[0] <= most:
                flat = middle
            else:
                edge = middle
        ends.append(float(flat))
    return ends[0], ends[1]


def _start(curve: ErrorCurve, sample: ScoreSample) -> FloatArray:
    """Return boundaries all over the scores: where the curve bends, or between quantiles."""
    bends = curve.bends(sample) if isinstance(curve, PairCurve) else _quantiles(sample)
    classes = (sample.negative, sample.positive)
    low, high = min(c.minimum for c in classes), max(c.maximum for c in classes)
    margin = sample.spread / 16 or abs(low) or 1.0
    grid = np.unique(np.concatenate([[low - margin, low], bends, [high, high + margin]]))
    steps = np.arange(4) / 4
    inner = grid[:-1, None] + np.diff(grid)[:, None] * steps
    return np.unique(np.append(inner.ravel(), grid[-1]))


def _quantiles(sample: ScoreSample) -> FloatArray:
    """Return quantiles of both classes."""
    share = np.linspace(0, 1, _QUANTILES)
    parts = []
    for c in (sample.negative, sample.positive):
        place = share * (c.n - 1)
        left = np.floor(place).astype(np.int64)
        right = np.minimum(left + 1, c.n - 1)
        low, high = c.at(left), c.at(right)
        parts.append(low + (place - left) * (high - low))
    return np.concatenate(parts)
