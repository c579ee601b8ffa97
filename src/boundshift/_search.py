r"""The boundary at which a rule on two error curves is least, and the middle of its plateau.

`search_gaps` is for curves of counts. They change where the boundary passes a score, so the
candidates are the gaps between neighbouring scores. The negative class's error falls and the
positive one's rises with the boundary, and every rule grows with both. So over a run of gaps the
rule is at least its value at the negative error of the last gap and the positive error of the
first. Runs that cannot hold the minimum are dropped: of millions of gaps, hundreds are evaluated.

`search_line` is for smooth curves. It starts from quantiles of both classes, or from the points
where the curves bend, and closes in on the best. Where scores repeat the errors jump, and
`search_between` compares the gaps between distinct scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from boundshift._scores import ScoreSample, quantiles
from boundshift._typing import FloatArray, IntArray
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule

ErrorsAt = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From boundaries to the claimed error rates (negative, positive) at each."""
_Value = Callable[[Any], FloatArray]

# Values this close to the minimum belong to its plateau.
_FLAT = 1e-12
# Runs of gaps that are evaluated together.
_FAN = 64
# The plateau of a smooth minimum ends where the rule has risen by this much. Its middle is known
# to more digits than the argument of the least value.
_RISE = 1e-10
_HALF_A_ROW = 0.5
# Boundaries tried between the neighbours of the best one.
_CLOSER = np.arange(1.0, 33.0)
# A range wider than the middle half of the boundaries by this factor holds an outlier.
_FAR = 1e6


class Found(NamedTuple):
    """A boundary, the plateau around it, the errors claimed there, and the rule's value."""

    threshold: float
    plateau: tuple[float, float]
    errors: tuple[float, float]
    value: float


class _Effort(NamedTuple):
    quantiles: int  # of each class, to start from
    steps: int  # between two neighbours of the start
    valleys: int  # lowest ones to close in on
    close: float  # share of the width below which two boundaries are one
    places: int  # evaluated at a time to find the end of a run


_FULL = _Effort(129, 4, 8, 1e-13, 32)
_SPARING = _Effort(33, 1, 2, 1e-6, 1)
_SPARING_GAPS = 64


def _found(
    errors: ErrorsAt, rule: Rule, sample: ScoreSample, threshold: float, low: float, high: float
) -> Found:
    negative, positive = errors(np.array([threshold]))
    value = float(rule.value(negative, positive, sample.n_samples)[0])
    return Found(threshold, (low, high), (float(negative[0]), float(positive[0])), value)


def _flat(least: float) -> float:
    return least + _FLAT * max(abs(least), 1.0)


# --- Gaps -----------------------------------------------------------------------------------------


def gap_edges(sample: ScoreSample) -> FloatArray:
    """Return the distinct scores and one place beyond either end: gap k is between k and k + 1."""
    merged = np.concatenate([sample.negative.positions, sample.positive.positions])
    merged.sort(kind="stable")  # quick, as it merges two sorted runs
    distinct = merged[np.append(True, merged[1:] > merged[:-1])]
    beyond = (sample.spread or abs(distinct[0]) or 1.0) / sum(sample.n_samples)
    # A position may stand for scores below it, and the step may be less than one double.
    first = min(distinct[0], sample.extremes[0])
    first = min(first - beyond, np.nextafter(first, -np.inf))
    return np.concatenate([[first], distinct, [distinct[-1] + beyond]])


def search_gaps(
    errors: ErrorsAt, rule: Rule, sample: ScoreSample, everyone: ScoreSample | None = None
) -> Found:
    """Return the best gap between scores, merged with neighbours of the same value.

    The errors depend on counts only. The scores of `everyone` bound the gaps; None: the sample's.
    """
    edges, sizes = gap_edges(everyone or sample), sample.n_samples
    last_gap = len(edges) - 2

    def value(gap: Any) -> FloatArray:
        return rule.value(*errors(edges[gap]), sizes)

    def bound(first: Any, last: Any) -> FloatArray:
        return rule.value(errors(edges[last])[0], errors(edges[first])[1], sizes)

    first, last, best = np.array([0]), np.array([last_gap]), np.inf
    while np.any(first < last):
        first, last = _cut_runs(first, last)
        least = bound(first, np.minimum(last + 1, last_gap))
        likely = np.argsort(least, kind="stable")[:_FAN]
        best = min(best, float(value((first + last)[likely] // 2).min()))
        alive = least <= _flat(best)
        first, last = first[alive], last[alive]
    lowest = first[value(first) <= _flat(best)]
    if not len(lowest):
        raise InvalidInputError(
            "`rule` must not improve while an error rate grows, since a curve that counts rows is "
            f"searched by that, got {rule!r}. Use curve='smoothed', or Floors(flagged=0.3) "
            "for a share of flagged rows."
        )
    low, high = _widest_run(lowest, edges)
    deciding = first
    allowed, towards = rule.tolerance_towards(sizes)
    if allowed and towards:
        end, passed = _walk(bound, low, last_gap if towards > 0 else 0, best + allowed)
        way = np.arange(low, end + towards, towards)
        wrong = sample.count_wrong(edges[way])[0 if towards > 0 else 1]
        low = high = int(way[np.argmax(wrong <= wrong[-1])])
        beside = np.clip(np.add.outer([end, low], [-1, 0, 1]).ravel(), 0, last_gap)
        deciding = np.concatenate([first, beside, np.array(passed, dtype=np.int64)])
    # A position may stand for scores below it, so the gaps on both its sides bound it.
    for rows in {sample, everyone or sample}:
        rows.negative.request_exact(edges[deciding + 1])
        rows.positive.request_exact(edges[deciding + 1])
    start, stop = float(edges[low]), float(edges[high + 1])
    return _found(errors, rule, sample, middle(start, stop), start, stop)


def middle(low: float, high: float) -> float:
    """Return the middle of two scores, or the lower one if they are neighbouring doubles."""
    middle = low + (high - low) / 2
    return middle if middle < high else low


def _cut_runs(first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
    """Cut runs of whole numbers into shorter ones: about `_FAN` in all, at least 8 of each."""
    width = last - first + 1
    pieces = np.clip(width, 0, max(8, _FAN // max(len(first), 1)))
    owner = np.repeat(np.arange(len(first)), pieces)
    piece = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts = first[owner] + piece * width[owner] // pieces[owner]
    ends = first[owner] + (piece + 1) * width[owner] // pieces[owner] - 1
    return starts, ends


def _widest_run(gaps: IntArray, edges: FloatArray) -> tuple[int, int]:
    runs = np.split(gaps, np.flatnonzero(np.diff(gaps) > 1) + 1)
    widest = max(runs, key=lambda run: edges[run[-1] + 1] - edges[run[0]])
    return int(widest[0]), int(widest[-1])


def _walk(
    bound: Callable[[Any, Any], FloatArray], gap: int, end: int, most: float
) -> tuple[int, list[int]]:
    """Return the last gap before the rule first exceeds a value, and gaps crossed one by one.

    Over a run the rule is at most its value at the negative error of the first gap and the
    positive error of the last, so whole runs are crossed at a time.
    """
    towards, step, passed = 1 if end > gap else -1, 1, []
    while gap != end:
        step = min(step, abs(end - gap))
        ahead = gap + towards * step
        low, high = min(gap, ahead), max(gap, ahead)
        if bound(np.array([high]), np.array([low]))[0] <= most:
            gap, step = ahead, 2 * step
        elif step > 1:
            step //= 2
        elif bound(np.array([ahead]), np.array([ahead]))[0] <= most:
            passed.append(low)  # inside a cell of scores the rule may exceed the value
            gap = ahead
        else:
            break
    return gap, passed


def search_between(
    errors: ErrorsAt, rule: Rule, sample: ScoreSample, everyone: ScoreSample | None = None
) -> Found:
    """Return the best gap between distinct scores, each judged at its middle."""
    rows = everyone or sample
    distinct = np.unique(np.concatenate([rows.negative.value, rows.positive.value]))
    margin = rows.spread / 16 or abs(distinct[0]) or 1.0
    edges = np.concatenate([[distinct[0] - margin], distinct, [distinct[-1] + margin]])
    middles = edges[:-1] + np.diff(edges) / 2
    middles = np.where(middles < edges[1:], middles, edges[:-1])

    def value(gap: IntArray) -> FloatArray:
        return rule.value(*errors(middles[gap]), sample.n_samples)

    gaps = np.arange(len(middles))
    if rule.costly:
        gaps = np.unique(np.linspace(0, len(middles) - 1, _SPARING_GAPS).astype(np.int64))
    values = value(gaps)
    while len(gaps) < len(middles):
        lowest = np.argsort(values, kind="stable")[: _SPARING.valleys]
        ends = gaps[np.maximum(lowest - 1, 0)], gaps[np.minimum(lowest + 1, len(gaps) - 1)]
        closer = np.setdiff1d(np.linspace(*ends, _SPARING_GAPS).astype(np.int64), gaps)
        if not len(closer):
            break
        gaps, values = _merged(gaps, values, closer, value(closer))
    least = float(values.min())
    first, last = _widest_run(gaps[values <= _flat(least)], edges)
    allowed, towards = rule.tolerance_towards(sample.n_samples)
    if allowed and towards:
        ahead = gaps >= last if towards > 0 else gaps <= first
        way, good = gaps[ahead][::towards], values[ahead][::towards] <= least + allowed
        way = way if good.all() else way[: np.argmin(good)]
        favoured = 0 if towards > 0 else 1
        expected = sample.n_samples[favoured] * errors(middles[way])[favoured]
        first = last = int(way[np.argmax(expected <= expected[-1] + _HALF_A_ROW)])
    low, high = float(edges[first]), float(edges[last + 1])
    return _found(errors, rule, sample, middle(low, high), low, high)


# --- The line -------------------------------------------------------------------------------------


def search_line(
    errors: ErrorsAt, rule: Rule, sample: ScoreSample, bends: FloatArray | None = None
) -> Found:
    """Return the best boundary on the line.

    Between the scores in `bends` the errors are smooth; None takes quantiles of both classes.
    """

    def value(t: FloatArray) -> FloatArray:
        return rule.value(*errors(t), sample.n_samples)

    effort = _SPARING if rule.costly else _FULL
    t, values = _close_in(value, _start(sample, None if rule.costly else bends, effort), effort)
    least, best = float(values.min()), int(values.argmin())
    close = effort.close * _width(t)

    def end_of_run(most: float, side: int) -> float:
        """Return the end of the run around the minimum where the rule is at most a value."""
        ahead = slice(best, None) if side > 0 else slice(best, None, -1)
        beyond = np.flatnonzero(values[ahead] > most)
        if not len(beyond):
            return float(t[-1] if side > 0 else t[0])
        inside, outside = t[ahead][beyond[0] - 1], t[ahead][beyond[0]]
        return _last_within(value, most, inside, outside, close, effort.places)

    flat = least + _RISE * max(abs(least), 1.0)
    low, high = end_of_run(flat, -1), end_of_run(flat, 1)
    threshold = low + (high - low) / 2
    allowed, towards = rule.tolerance_towards(sample.n_samples)
    if not (allowed and towards):
        return _found(errors, rule, sample, threshold, low, high)._replace(value=least)
    favoured = 0 if towards > 0 else 1

    def expected(t: FloatArray) -> FloatArray:
        return np.asarray(errors(t)[favoured] * sample.n_samples[favoured])

    end = end_of_run(least + allowed, towards)
    at_best, at_end = expected(np.array([threshold, end])).tolist()
    most = at_end + _HALF_A_ROW
    if at_best > most:
        close = _FULL.close * abs(end - threshold)
        threshold = _last_within(expected, most, end, threshold, close, _FULL.places)
    return _found(errors, rule, sample, threshold, threshold, threshold)


def _start(sample: ScoreSample, bends: FloatArray | None, effort: _Effort) -> FloatArray:
    """Return boundaries all over the scores: where the curve bends, or between quantiles."""
    if bends is None:
        shares = np.linspace(0, 1, effort.quantiles)
        bends = np.concatenate([quantiles(c, shares) for c in (sample.negative, sample.positive)])
    low, high = sample.extremes
    margin = sample.spread / 16 or abs(low) or 1.0
    grid = np.unique(np.concatenate([[low - margin, low], bends, [high, high + margin]]))
    steps = np.arange(effort.steps) / effort.steps
    inner = grid[:-1, None] + np.diff(grid)[:, None] * steps
    return np.unique(np.append(inner.ravel(), grid[-1]))


def _close_in(value: _Value, t: FloatArray, effort: _Effort) -> tuple[FloatArray, FloatArray]:
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
    """Return the range of boundaries, without a few that are far from all others."""
    inner = _FAR * (t[3 * len(t) // 4] - t[len(t) // 4])
    return float(min(t[-1] - t[0], inner) if inner > 0 else t[-1] - t[0])


def _around(t: FloatArray, i: int) -> FloatArray:
    low, high = t[max(i - 1, 0)], t[min(i + 1, len(t) - 1)]
    closer = _CLOSER * ((high - low) / (len(_CLOSER) + 1)) + low
    return np.asarray(closer[(closer > low) & (closer < high) & (closer != t[i])])


def _merged(places: Any, values: FloatArray, more: Any, more_values: FloatArray) -> tuple[Any, Any]:
    places = np.concatenate([places, more])
    order = np.argsort(places, kind="stable")
    return places[order], np.concatenate([values, more_values])[order]


def _last_within(
    value: _Value, most: float, inside: float, outside: float, close: float, number: int
) -> float:
    """Return the last place from inside to outside where a value is at most a limit.

    Several places are evaluated at a time, which costs about as much as one.
    """
    steps = np.arange(1, number + 1)
    while abs(outside - inside) > close:
        asked = steps * ((outside - inside) / (number + 1)) + inside
        places = np.concatenate([[inside], asked, [outside]])
        fails = np.append(~(value(asked) <= most), True)
        first = int(fails.argmax())
        if places[first] == inside and places[first + 1] == outside:
            break
        inside, outside = places[first], places[first + 1]
    return float(inside)
