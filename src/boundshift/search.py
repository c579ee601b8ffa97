r"""The boundary at which a rule on two error curves is least, and the middle of its plateau.

`search_gaps` is for curves that see counts only. They change where the boundary passes a score, so
the candidates are the gaps between neighbouring scores. The negative class's error falls and the
positive one's rises with the boundary, and every rule grows with both: over a run of gaps it cannot
fall below its value at the negative error of the last and the positive error of the first. Runs
that cannot hold the minimum are dropped, so a curve is evaluated at hundreds of gaps out of
millions.

`search_line` is for curves that see the scores. It looks between quantiles of both classes, or
where the curves bend, and then closer and closer around the best. Where scores repeat, the errors
jump there, and `search_between` takes the middles of the gaps between distinct scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule
from boundshift.scores import ScoreSample, quantiles
from boundshift.typing import FloatArray, IntArray

ErrorsAt = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From boundaries to the claimed error rates (negative, positive) at each."""
Bound = Callable[[ArrayLike, int], FloatArray]
"""From rows on the wrong side, and all rows of a class, to the claimed error rate."""

# Values this close to the minimum belong to its plateau.
_FLAT = 1e-12
# Gaps: runs that are looked at together.
_FAN = 64


class Found(NamedTuple):
    """A boundary, the plateau around it, the errors claimed there, and the rule's value."""

    threshold: float
    plateau: tuple[float, float]
    errors: tuple[float, float]
    value: float


# --- Gaps -----------------------------------------------------------------------------------------


class _Gaps:
    """The gaps between neighbouring distinct scores, from below all of them to above."""

    def __init__(self, bound: Bound, rule: Rule, sample: ScoreSample) -> None:
        merged = np.concatenate([sample.negative.positions, sample.positive.positions])
        merged.sort(kind="stable")
        rises = merged[1:] > merged[:-1]
        if not rises.all():
            merged = merged[np.append(True, rises)]
        self.distinct = merged
        # Beyond the outermost scores a boundary stands off by half the mean distance of scores.
        self._beyond = (sample.spread or abs(merged[0]) or 1.0) / (2 * sum(sample.n_samples))
        self._bound, self.rule, self._sample = bound, rule, sample
        self.count = len(self.distinct) + 1
        self.passed: list[int] = []

    def floor(self, gap: IntArray) -> FloatArray:
        """Return the score below each gap; a boundary there decides as one inside."""
        # A position may stand for scores below it.
        lowest = min(self._sample.negative.minimum, self._sample.positive.minimum)
        first = min(self.distinct[0], lowest)
        # Where a step is smaller than the distance of doubles, the next double is beyond.
        first = min(first - 2 * self._beyond, np.nextafter(first, -np.inf))
        inside = self.distinct[np.maximum(gap - 1, 0)]
        return np.asarray(np.where(gap == 0, first, inside))

    def ceiling(self, gap: IntArray) -> FloatArray:
        """Return the score above each gap."""
        last = self.distinct[-1] + 2 * self._beyond
        inside = self.distinct[np.minimum(gap, len(self.distinct) - 1)]
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

    def nearest_of_fewest(self, gap: int, last: int, towards: int) -> int:
        """Return the nearest gap with no more errors of the favoured class than the last."""

        def wrong(at: int) -> float:
            above, below = self._sample.count_wrong(self.floor(np.array([at])))
            return float(above[0] if towards > 0 else below[0])

        most = wrong(last)
        near, far = gap, last
        while near != far:
            middle = (near + far) // 2 if towards > 0 else -((-near - far) // 2)
            near, far = (near, middle) if wrong(middle) <= most else (middle + towards, far)
        return far

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
                # Inside a cell that is passed here the rule may exceed it.
                self.passed.append(min(gap, ahead))
                gap = ahead
            else:
                break
        return gap


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
        first, last = _cut_runs(first, last, _FAN)
        least = gaps.bound(first, np.minimum(last + 1, gaps.count - 1))
        likely = np.argsort(least, kind="stable")[:_FAN]
        best = min(best, float(gaps.value((first + last)[likely] // 2).min()))
        alive = least <= best + _FLAT * max(abs(best), 1.0)
        first, last = first[alive], last[alive]
    deciding, (start, end) = first, _widest_run(gaps, first, best)
    allowed, towards = rule.tolerance_towards(sample.n_samples)
    if allowed and towards:
        first_gap = int(np.searchsorted(gaps.distinct, start, side="right"))
        end_gap = gaps.walk(first_gap, best + allowed, towards)
        last_gap = gaps.nearest_of_fewest(first_gap, end_gap, towards)
        beside = np.add.outer([end_gap, last_gap], [-1, 0, 1]).ravel()
        beside = np.clip(beside, 0, gaps.count - 1)
        deciding = np.concatenate([first, beside, np.array(gaps.passed, dtype=np.int64)])
        start = float(gaps.floor(np.array([last_gap]))[0])
        end = float(gaps.ceiling(np.array([last_gap]))[0])
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


def _cut_runs(first: IntArray, last: IntArray, fan: int) -> tuple[IntArray, IntArray]:
    """Cut runs of whole numbers into shorter ones: about `fan` altogether, at least into eight."""
    width = last - first + 1
    pieces = np.clip(width, 0, max(8, fan // max(len(first), 1)))
    owner = np.repeat(np.arange(len(first)), pieces)
    piece = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = first[owner] + piece * width[owner] // pieces[owner]
    ends = first[owner] + (piece + 1) * width[owner] // pieces[owner] - 1
    return starts, ends


# --- The line ------------------------------------------------------------------------------------


class _Effort(NamedTuple):
    """How many boundaries a search looks at.

    Parameters
    ----------
    quantiles : int
        Of each class, between which to start where no bends are known.
    steps : int
        Boundaries between two neighbours of the start.
    valleys : int
        Lowest ones that are looked into, since of a coarse grid the lowest need not be the
        deepest.
    close : float
        Boundaries closer than this share of the grid are one.
    places : int
        Boundaries that are asked about at a time where the end of a run is looked for.
    gaps : int
        Gaps between distinct scores that are looked at at a time.
    """

    quantiles: int
    steps: int
    valleys: int
    close: float
    places: int
    gaps: int


_FULL = _Effort(129, 4, 8, 1e-13, 32, 1 << 13)
_SPARING = _Effort(33, 1, 2, 1e-6, 1, 64)
# The ends of the plateau are where a round minimum has risen by this much: its middle is known to
# more digits than the place of its least value.
_RISE_TOLERANCE = 1e-10
_HALF_A_ROW = 0.5
# Boundaries between two neighbours of the best, by number.
_CLOSER = np.arange(1.0, 33.0)
# Boundaries so many times farther apart than their middle half are the ends of an outlier.
_FAR = 1e6


def search_line(
    errors: ErrorsAt, rule: Rule, sample: ScoreSample, bends: FloatArray | None = None
) -> Found:
    """Return the best boundary on the line, closing in from all over it.

    Parameters
    ----------
    errors : callable
        From boundaries to the claimed error rates at each.
    rule : Rule
        What to minimise.
    sample : ScoreSample
        Scores of both classes.
    bends : array, default=None
        Scores between which the errors are smooth; None takes quantiles of both classes.
    """

    def value(t: FloatArray) -> FloatArray:
        return rule.value(*errors(t), sample.n_samples)

    effort = _SPARING if rule.costly else _FULL
    t, values = _close_in(value, _start(sample, None if rule.costly else bends, effort), effort)
    least = float(values.min())
    flat = least + _RISE_TOLERANCE * max(abs(least), 1.0)
    allowed, towards = rule.tolerance_towards(sample.n_samples)
    runs = [(flat, -1), (flat, 1)]
    if allowed and towards:
        runs.append((least + allowed, towards))
    low, high, *end = _ends_of_runs(value, t, values, runs, effort)
    threshold = low + (high - low) / 2
    if end:
        threshold = _nearest_of_fewest(errors, sample, threshold, end[0], towards)
        low = high = threshold
        least = float(value(np.array([threshold]))[0])
    negative, positive = errors(np.array([threshold]))
    return Found(threshold, (low, high), (float(negative[0]), float(positive[0])), least)


def search_between(
    errors: ErrorsAt, rule: Rule, sample: ScoreSample, everyone: ScoreSample | None = None
) -> Found:
    """Return the best gap between distinct scores, each judged at its middle.

    Parameters
    ----------
    errors, rule, sample
        As in `search_line`; the errors jump at the sample's atoms.
    everyone : ScoreSample, default=None
        Whose scores have the gaps; None takes the sample.
    """
    rows = everyone or sample
    parts = (rows.negative.points()[0], rows.positive.points()[0])
    distinct = np.unique(np.concatenate(parts))
    margin = rows.spread / 16 or abs(distinct[0]) or 1.0
    edges = np.concatenate([[distinct[0] - margin], distinct, [distinct[-1] + margin]])
    middles = edges[:-1] + np.diff(edges) / 2
    # Where no number lies between two scores, the lower one divides them.
    middles = np.where(middles < edges[1:], middles, edges[:-1])

    def value(gap: IntArray) -> FloatArray:
        return rule.value(*errors(middles[gap]), sample.n_samples)

    effort = _SPARING if rule.costly else _FULL
    gaps = np.unique(np.linspace(0, len(middles) - 1, effort.gaps).astype(np.int64))
    if not rule.costly:
        beside = np.searchsorted(distinct, rows.atoms)
        # Atoms that were given, as those of all rows, may lie above every score of this sample.
        above = np.minimum(beside + 1, len(middles) - 1)
        gaps = np.unique(np.concatenate([gaps, beside, above]))
    values = value(gaps)
    while True:
        lowest = np.argsort(values, kind="stable")[: effort.valleys]
        starts, ends = np.maximum(lowest - 1, 0), np.minimum(lowest + 1, len(gaps) - 1)
        closer = np.concatenate(
            [
                np.linspace(gaps[i], gaps[j], effort.gaps).astype(np.int64)
                for i, j in zip(starts, ends, strict=True)
            ]
        )
        closer = np.setdiff1d(closer, gaps)
        if not len(closer):
            break
        order = np.argsort(np.append(gaps, closer), kind="stable")
        gaps = np.append(gaps, closer)[order]
        values = np.append(values, value(closer))[order]
    least = float(values.min())
    first, last = _widest_flat(gaps[values <= least + _FLAT * max(abs(least), 1.0)], edges)
    allowed, towards = rule.tolerance_towards(sample.n_samples)
    if allowed and towards:
        first = last = _fewest_nearby(
            lambda gap: errors(middles[gap])[0 if towards > 0 else 1],
            value,
            sample.n_samples[0 if towards > 0 else 1],
            (last if towards > 0 else first, len(middles) - 1 if towards > 0 else 0),
            least + allowed,
        )
    low, high = float(edges[first]), float(edges[last + 1])
    threshold = float(middles[first]) if first == last else low + (high - low) / 2
    negative, positive = errors(np.array([threshold]))
    at = float(rule.value(negative, positive, sample.n_samples)[0])
    return Found(threshold, (low, high), (float(negative[0]), float(positive[0])), at)


def _widest_flat(gaps: IntArray, edges: FloatArray) -> tuple[int, int]:
    """Return the first and the last gap of the widest run of neighbours."""
    runs = np.split(gaps, np.flatnonzero(np.diff(gaps) > 1) + 1)
    widest = max(runs, key=lambda run: edges[run[-1] + 1] - edges[run[0]])
    return int(widest[0]), int(widest[-1])


def _fewest_nearby(
    error: Callable[[IntArray], FloatArray],
    value: Callable[[IntArray], FloatArray],
    n: float,
    way: tuple[int, int],
    most: float,
) -> int:
    """Return the gap nearest to the best with as few errors as the last that is good enough.

    The errors are those of the class that the way from the best gap favours; half a row makes no
    difference.
    """
    step = 1 if way[1] >= way[0] else -1
    passed, size = way[0], 1
    while passed != way[1]:
        ahead = passed + step * np.arange(1, min(size, abs(way[1] - passed)) + 1)
        beyond = np.flatnonzero(value(ahead) > most)
        if len(beyond):
            passed += step * int(beyond[0])
            break
        passed, size = int(ahead[-1]), 2 * size
    gaps = np.arange(way[0], passed + step, step)
    expected = n * error(gaps)
    return int(gaps[np.argmax(expected <= expected[-1] + _HALF_A_ROW)])


def _nearest_of_fewest(
    errors: ErrorsAt, sample: ScoreSample, best: float, end: float, towards: int
) -> float:
    """Return the boundary nearest to the best that has as few errors as the end of a run.

    They are those of the class that the run's direction favours; half a row makes no difference.
    """
    favoured = 0 if towards > 0 else 1

    def expected(t: FloatArray) -> FloatArray:
        return np.asarray(errors(t)[favoured] * sample.n_samples[favoured])

    at_best, at_end = expected(np.array([best, end])).tolist()
    most = at_end + _HALF_A_ROW
    if at_best <= most:
        return best
    ways = np.array([end]), np.array([best])
    close = _FULL.close * abs(end - best)
    return float(_last_within(expected, np.array([most]), *ways, close, _FULL.places)[0])


def _close_in(
    value: Callable[[FloatArray], FloatArray], t: FloatArray, effort: _Effort
) -> tuple[FloatArray, FloatArray]:
    """Return boundaries, ever denser around the best of them, and the rule at each."""
    values = value(t)
    width = _width(t)
    beside = np.concatenate([[np.inf], values, [np.inf]])
    left, right = beside[:-2], beside[2:]
    is_end = (values < left) | (values < right)  # of a flat valley its ends
    valleys = np.flatnonzero((values <= left) & (values <= right) & is_end)
    few = valleys[np.argsort(values[valleys], kind="stable")[: effort.valleys]]
    closer = np.setdiff1d(np.concatenate([_around(t, int(i)) for i in few]), t)
    t, values = _merged(t, values, closer, value(closer))
    while True:
        best = int(values.argmin())
        closer = _around(t, best)
        low, high = t[max(best - 1, 0)], t[min(best + 1, len(t) - 1)]
        if not high - low > effort.close * width or not len(closer):
            return t, values
        inner = value(closer)
        if np.ptp(inner) <= _FLAT and abs(inner[0] - values[best]) <= _FLAT:
            return t, values
        t, values = _merged(t, values, closer, inner)


def _width(t: FloatArray) -> float:
    """Return how wide the boundaries lie, without a few that are far away from all others."""
    first, third = t[len(t) // 4], t[3 * len(t) // 4]
    inner = _FAR * (third - first)
    return float(min(t[-1] - t[0], inner) if inner > 0 else t[-1] - t[0])


def _around(t: FloatArray, i: int) -> FloatArray:
    """Return boundaries between the neighbours of one of them."""
    low, high = t[max(i - 1, 0)], t[min(i + 1, len(t) - 1)]
    closer = _CLOSER * ((high - low) / (len(_CLOSER) + 1)) + low
    return np.asarray(closer[(closer > low) & (closer < high) & (closer != t[i])])


def _merged(
    t: FloatArray, values: FloatArray, more: FloatArray, more_values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return boundaries in order, and the rule at each."""
    t = np.concatenate([t, more])
    order = np.argsort(t, kind="stable")  # which is quick where runs are in order already
    return t[order], np.concatenate([values, more_values])[order]


def _ends_of_runs(
    value: Callable[[FloatArray], FloatArray],
    t: FloatArray,
    values: FloatArray,
    runs: Sequence[tuple[float, int]],
    effort: _Effort,
) -> list[float]:
    """Return the ends of runs around the minimum where the rule is no more than some value.

    Each run is that value, and 1 for its upper end or -1 for its lower one.
    """
    best, width = int(values.argmin()), _width(t)
    inside, outside = np.empty(len(runs)), np.empty(len(runs))
    for k, (most, side) in enumerate(runs):
        beyond = np.flatnonzero((values[best:] if side > 0 else values[:best]) > most)
        if not len(beyond):
            inside[k] = outside[k] = t[-1] if side > 0 else t[0]
            continue
        first = best + beyond[0] if side > 0 else beyond[-1]
        inside[k], outside[k] = t[first - side], t[first]
    limits = np.array([most for most, _ in runs])
    found = _last_within(value, limits, inside, outside, effort.close * width, effort.places)
    return [float(end) for end in found]


def _last_within(
    value: Callable[[FloatArray], FloatArray],
    most: FloatArray,
    inside: FloatArray,
    outside: FloatArray,
    close: float,
    number: int,
) -> FloatArray:
    """Return the last places where a value is no more than allowed, from inside to outside.

    Some places on every way are asked about at a time, since a question costs about the same for
    all of them.
    """
    inside, outside = inside.copy(), outside.copy()
    steps = np.arange(1, number + 1)
    ways = np.flatnonzero(np.abs(outside - inside) > close)
    while len(ways):
        start, stop = inside[ways, None], outside[ways, None]
        asked = steps * ((stop - start) / (number + 1)) + start
        failed = np.ones((len(ways), number + 1), dtype=np.bool_)  # as what lies outside does
        failed[:, :-1] = ~(value(asked.ravel()).reshape(asked.shape) <= most[ways, None])
        places = np.concatenate([start, asked, stop], axis=1)
        first = failed.argmax(axis=1)
        rows = np.arange(len(ways))
        low, high = places[rows, first], places[rows, first + 1]
        narrower = (low != start[:, 0]) | (high != stop[:, 0])
        inside[ways], outside[ways] = low, high
        ways = ways[narrower & (np.abs(high - low) > close)]
    return inside


def _start(sample: ScoreSample, bends: FloatArray | None, effort: _Effort) -> FloatArray:
    """Return boundaries all over the scores: where the curve bends, or between quantiles."""
    classes = (sample.negative, sample.positive)
    if bends is None:
        shares = np.linspace(0, 1, effort.quantiles)
        bends = np.concatenate([quantiles(c, shares) for c in classes])
    low, high = min(c.minimum for c in classes), max(c.maximum for c in classes)
    margin = sample.spread / 16 or abs(low) or 1.0
    grid = np.unique(np.concatenate([[low - margin, low], bends, [high, high + margin]]))
    steps = np.arange(effort.steps) / effort.steps
    inner = grid[:-1, None] + np.diff(grid)[:, None] * steps
    return np.unique(np.append(inner.ravel(), grid[-1]))
