r"""The best gap between neighbouring scores, for curves that see counts only.

Such curves change only where the boundary passes a score, so the candidates are the gaps between
neighbouring scores. The negative class's curve falls and the positive one's rises with the
boundary, and every rule grows with both: over a run of gaps it cannot fall below its value at the
negative error of the last and the positive error of the first. Runs that cannot hold the minimum
are dropped before they are looked into, so a curve is evaluated at some hundreds of gaps out of
millions. The middle of a plateau is taken, in score units.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule
from boundshift.scores import ScoreSample
from boundshift.search.found import Found
from boundshift.search.runs import cut_runs
from boundshift.typing import FloatArray, IntArray

__all__ = ["search_gaps"]

_FAN = 64
# Values this close to the minimum belong to its plateau.
_FLAT = 1e-12
# Scores that are compared with their neighbours at a time.
_BLOCK = 1 << 14

Bound = Callable[[ArrayLike, int], FloatArray]


class _Gaps:
    """The gaps between neighbouring distinct scores, from below all of them to above."""

    def __init__(self, bound: Bound, rule: Rule, sample: ScoreSample) -> None:
        merged = np.concatenate([sample.negative.positions, sample.positive.positions])
        merged.sort(kind="stable")
        if not _rise(merged):
            merged = merged[np.concatenate([[True], merged[1:] > merged[:-1]])]
        self._distinct = merged
        # Beyond the outermost scores a boundary stands off by half the mean distance of scores.
        self._beyond = (sample.spread or abs(merged[0]) or 1.0) / (2 * sum(sample.n_samples))
        self._bound, self.rule, self._sample = bound, rule, sample
        self.count = len(self._distinct) + 1

    def floor(self, gap: IntArray) -> FloatArray:
        """Return the score below each gap; a boundary there decides as one inside."""
        # A position may stand for scores below it.
        lowest = min(self._sample.negative.minimum, self._sample.positive.minimum)
        first = min(self._distinct[0], lowest)
        # Where a step is smaller than the distance of doubles, the next double is beyond.
        first = min(first - 2 * self._beyond, np.nextafter(first, -np.inf))
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
        return self.rule.value(
            self._bound(above, negative.n),
            self._bound(below, positive.n),
            self._sample.n_samples,
        )

    def value(self, gap: IntArray) -> FloatArray:
        """Return the rule in each gap."""
        return self.bound(gap, gap)

    def edges(self, gap: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the scores below and above each gap."""
        return self.floor(gap), self.ceiling(gap)

    def of(self, floor: float) -> int:
        """Return the gap above a score, or the first one."""
        return int(np.searchsorted(self._distinct, floor, side="right"))

    def nearest_alike(self, gap: int, last: int, towards: int) -> int:
        """Return the gap nearest to one that has no more errors than the last in a direction.

        They are those of the class that the direction favours.
        """
        wrong = partial(self._favoured, towards=towards)
        most = wrong(last)
        near, far = gap, last
        while near != far:
            middle = (near + far) // 2 if towards > 0 else -((-near - far) // 2)
            near, far = (near, middle) if wrong(middle) <= most else (middle + towards, far)
        return far

    def _favoured(self, gap: int, towards: int) -> float:
        """Return the rows on the wrong side of the class that a direction favours."""
        above, below = self._sample.count_wrong(self.floor(np.array([gap])))
        return float(above[0] if towards > 0 else below[0])

    def walk(self, gap: int, most: float, towards: int) -> int:
        """Return the last gap in a direction before the rule first exceeds some value.

        Over a run of gaps the rule cannot exceed its value at the negative error of the first and
        the positive error of the last, so that whole runs are passed at a time.
        """
        step, end = 1, self.count - 1 if towards > 0 else 0
        while gap != end:
            step = min(step, abs(end - gap))
            ahead = gap + towards * step
            low, high = min(gap, ahead), max(gap, ahead)
            if self.bound(np.array([high]), np.array([low]))[0] <= most:
                gap, step = ahead, 2 * step
            elif step > 1:
                step //= 2
            elif self.value(np.array([ahead]))[0] <= most:
                gap = ahead
            else:
                break
        return gap


def _rise(scores: FloatArray) -> bool:
    """Return whether sorted scores are all distinct, looking at some at a time to save memory."""
    below, above = scores[:-1], scores[1:]
    starts = range(0, len(below), _BLOCK)
    return all((above[k : k + _BLOCK] > below[k : k + _BLOCK]).all() for k in starts)


def search_gaps(bound: Bound, rule: Rule, sample: ScoreSample) -> Found:
    """Return the best gap, merged with neighbours that are as good.

    Parameters
    ----------
    bound : callable
        From rows on the wrong side, and all rows of a class, to the claimed error rate.
    rule : Rule
        What to minimise.
    sample : ScoreSample
        Scores of both classes.
    """
    gaps = _Gaps(bound, rule, sample)
    first, last = np.array([0]), np.array([gaps.count - 1])
    best = np.inf
    while np.any(first < last):
        first, last = cut_runs(first, last, _FAN)
        least = gaps.bound(first, np.minimum(last + 1, gaps.count - 1))
        likely = np.argsort(least, kind="stable")[:_FAN]
        best = min(best, float(gaps.value((first + last)[likely] // 2).min()))
        alive = least <= best + _FLAT * max(abs(best), 1.0)
        first, last = first[alive], last[alive]
    deciding, (start, end) = first, _widest_run(gaps, first, best)
    allowed, towards = rule.tolerance_towards(sample.n_samples)
    if allowed and towards:
        first_gap = gaps.of(start)
        end_gap = gaps.walk(first_gap, best + allowed, towards)
        last_gap = gaps.nearest_alike(first_gap, end_gap, towards)
        beside = np.add.outer([end_gap, last_gap], [-1, 0, 1]).ravel()
        deciding = np.append(first, np.clip(beside, 0, gaps.count - 1))
        start, end = (float(gaps.edges(np.array([last_gap]))[i][0]) for i in (0, 1))
        best = float(gaps.value(np.array([last_gap]))[0])
    # A position may stand for scores below it, so that the gaps on both its sides bound it.
    for c in (sample.negative, sample.positive):
        c.request_exact(gaps.ceiling(deciding))
    threshold = start + (end - start) / 2
    if threshold >= end:  # no number lies between the two scores
        threshold = start
    above, below = sample.count_wrong(np.array([threshold]))
    errors = float(bound(above, sample.negative.n)[0]), float(bound(below, sample.positive.n)[0])
    return Found(threshold, (start, end), errors, best)


def _widest_run(gaps: _Gaps, alive: IntArray, best: float) -> tuple[float, float]:
    """Return the ends of the widest run of neighbouring gaps at the minimum."""
    alive = alive[gaps.value(alive) <= best + _FLAT * max(abs(best), 1.0)]
    if not len(alive):
        raise InvalidInputError(
            "`rule` must not improve while an error rate grows, since a curve that counts rows is "
            f"searched by that, got {gaps.rule!r}. Use curve='smoothed', or Floors(flagged=0.3) "
            "for a share of flagged rows."
        )
    runs = np.split(alive, np.flatnonzero(np.diff(alive) > 1) + 1)
    starts = gaps.floor(np.array([run[0] for run in runs]))
    ends = gaps.ceiling(np.array([run[-1] for run in runs]))
    widest = int(np.argmax(ends - starts))
    return float(starts[widest]), float(ends[widest])
