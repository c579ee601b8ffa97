r"""The threshold at which a rule on two error curves is smallest, and the plateau around it.

`best_gap` is for curves that count rows. Their errors only change where the threshold passes a
score, so a threshold stands in a gap between neighbouring scores. Every rule grows with both error
rates. So moving a threshold up to just below the next positive score costs no miss and may save
false alarms: only the gaps below positive scores, and the one above all scores, can be best. In
the same way only the gaps above negative scores, and the one below all scores, can be. The rarer
class has fewer candidates.

`best_gap_smooth` is for smooth curves with repeated scores, at which the errors jump: it compares
every gap between distinct scores at its middle.

`minimum_on_line` is for smooth curves without repeated scores. It starts from quantiles of both
classes, or from the points where the curves bend, and closes in on the smallest value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from boundshift._scores import ScoreSample, quantiles
from boundshift._typing import FloatArray, IntArray
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule
from boundshift.rules._base import Sizes

ErrorsAt = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From thresholds to the claimed error rates (negative, positive) at each."""
ValueAt = Callable[[FloatArray], FloatArray]
"""From thresholds to the value of the rule at each."""
Bound = Callable[[IntArray, IntArray], FloatArray]
"""From the first and the last candidate of runs to a value that no candidate in a run is below."""

# Values this close to the smallest one belong to its plateau: they differ by rounding only.
_ROUNDING = 1e-12
# Runs of candidates whose middle is tried, to know early what a run has to beat.
_TRIED = 8
# The plateau of a smooth minimum ends where the rule has risen by this much. Its middle is known
# to more digits than the argument of the smallest value.
_RISE = 1e-10
# A smooth curve is evaluated at this many places between the neighbours of the best one.
_PLACES = 32
# Valleys of a smooth curve that are looked into, and those of a rule that is slow to compute.
_VALLEYS = 8
_VALLEYS_IF_COSTLY = 2
# A range wider than the middle half of the thresholds by this factor holds an outlier.
_FAR = 1e6
# Share of the width below which two thresholds are one, and that of a rule that is slow to compute.
_CLOSE = 1e-13
_CLOSE_IF_COSTLY = 1e-6


class Found(NamedTuple):
    """A threshold, the plateau around it, the errors claimed there, and the rule's value."""

    threshold: float
    plateau: tuple[float, float]
    errors: tuple[float, float]
    value: float


def _evaluate(
    errors: ErrorsAt, rule: Rule, sizes: Sizes, threshold: float, plateau: tuple[float, float]
) -> Found:
    negative, positive = errors(np.array([threshold]))
    value = float(rule.value(negative, positive, sizes)[0])
    return Found(threshold, plateau, (float(negative[0]), float(positive[0])), value)


def _with_rounding(smallest: float) -> float:
    return smallest + _ROUNDING * max(abs(smallest), 1.0)


# --- Gaps between scores --------------------------------------------------------------------------


def best_gap(errors: ErrorsAt, rule: Rule, sample: ScoreSample) -> Found:
    """Find the gap between neighbouring scores at which the rule on counting curves is smallest.

    The threshold is the middle of the plateau: the gap and its neighbours of the same value. Of
    several plateaus the widest is taken.
    """
    sizes = sample.n_samples
    candidates = _candidates(sample)
    tied = find_smallest(_bound_of_runs(errors, rule, candidates, sizes), len(candidates), rule)
    # The rule only gets worse between a candidate and the one before it or behind it, so all
    # plateaus lie between the neighbours of those that are best.
    beside = np.concatenate([[-np.inf], candidates, [np.inf]])
    edges = gap_edges(sample, beside[tied[0]], beside[tied[-1] + 2])
    return best_of_gaps(errors, rule, Gaps(edges, edges[:-1]), sizes)


class Gaps(NamedTuple):
    """The gaps between distinct scores, and a place in each at which errors are evaluated."""

    edges: FloatArray
    places: FloatArray

    @classmethod
    def between(cls, sample: ScoreSample, *, smooth: bool) -> Gaps:
        """Return the gaps of a sample; errors that are smooth are evaluated in their middle."""
        edges = gap_edges(sample)
        if not smooth:
            return cls(edges, edges[:-1])
        margin = sample.spread / 16 or abs(edges[1]) or 1.0
        edges[0] = edges[1] - margin
        edges[-1] = edges[-2] + margin
        middles = edges[:-1] + np.diff(edges) / 2
        return cls(edges, np.where(middles < edges[1:], middles, edges[:-1]))


def best_gap_smooth(errors: ErrorsAt, rule: Rule, sample: ScoreSample) -> Found:
    """Find the gap between distinct scores in whose middle the rule is smallest."""
    gaps = Gaps.between(sample, smooth=True)
    if rule.costly:
        return best_of_gaps(errors, rule, gaps, sample.n_samples)
    values = rule.value(*errors(gaps.places), sample.n_samples)
    best = np.flatnonzero(values <= _with_rounding(float(values.min())))
    return _widest_plateau(errors, rule, gaps, best, sample.n_samples)


def best_of_gaps(errors: ErrorsAt, rule: Rule, gaps: Gaps, sizes: Sizes) -> Found:
    """Find the gap in which the rule is smallest, of very many gaps or for a costly rule."""
    bound = _bound_of_runs(errors, rule, gaps.places, sizes)
    best = find_smallest(bound, len(gaps.places), rule)
    return _widest_plateau(errors, rule, gaps, best, sizes)


def _widest_plateau(
    errors: ErrorsAt, rule: Rule, gaps: Gaps, best: IntArray, sizes: Sizes
) -> Found:
    """Return the widest plateau of the best gaps: neighbours of the same value are one."""
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
    widest = max(runs, key=lambda run: gaps.edges[run[-1] + 1] - gaps.edges[run[0]])
    low = float(gaps.edges[widest[0]])
    high = float(gaps.edges[widest[-1] + 1])
    return _evaluate(errors, rule, sizes, middle_of_gap(low, high), (low, high))


def _bound_of_runs(errors: ErrorsAt, rule: Rule, places: FloatArray, sizes: Sizes) -> Bound:
    """Return a lower bound of the rule between a first and a last one of ascending places."""

    def bound(first: IntArray, last: IntArray) -> FloatArray:
        # The negative error falls with the threshold, and the positive one rises.
        negative, positive = errors(places[np.concatenate([last, first])])
        return rule.value(negative[: len(last)], positive[len(last) :], sizes)

    return bound


def find_smallest(bound: Bound, n: int, rule: Rule) -> IntArray:
    """Return the candidates 0 to n − 1 with the smallest value, in ascending order.

    Runs of candidates are halved, and those that cannot hold the smallest value are dropped. So a
    few thousand values are computed, however many candidates there are.
    """
    first = np.array([0])
    last = np.array([n - 1])
    smallest = np.inf
    while True:
        lowest = bound(first, last)
        promising = np.argsort(lowest, kind="stable")[:_TRIED]
        tried = (first[promising] + last[promising]) // 2
        smallest = min(smallest, float(bound(tried, tried).min()))
        is_kept = lowest <= _with_rounding(smallest)
        first = first[is_kept]
        last = last[is_kept]
        if not len(first):
            raise InvalidInputError(
                "must not improve while an error rate grows, since the search between "
                f"scores relies on that, but {rule!r} does. Use Floors(flagged=0.3) for a rate of "
                "flagged rows, or curve='smoothed' if no score repeats.",
                argument="rule",
            )
        is_run = first < last
        if not is_run.any():
            return np.sort(first)
        middle = (first + last) // 2
        first = np.concatenate([first, middle[is_run] + 1])
        last = np.concatenate([middle, last[is_run]])


def _candidates(sample: ScoreSample) -> FloatArray:
    """Return a threshold in each gap that can be best, in ascending order."""
    negative = sample.negative.value
    positive = sample.positive.value
    if len(positive) <= len(negative):
        return np.append(np.nextafter(positive, -np.inf), sample.extremes[1])
    return np.append(np.nextafter(sample.extremes[0], -np.inf), negative)


def gap_edges(sample: ScoreSample, low: float = -np.inf, high: float = np.inf) -> FloatArray:
    """Return the distinct scores and one place beyond all: gap k is between edges k and k + 1.

    Scores up to `low`, and above `high`, are left out.
    """
    parts = []
    for scores in sample.classes:
        first, stop = np.searchsorted(scores.value, [low, high], side="right")
        parts.append(scores.value[first:stop])
    merged = np.concatenate(parts)
    merged.sort(kind="stable")  # quick, as it merges two sorted runs
    distinct = merged[np.append(True, merged[1:] > merged[:-1])]
    below_all, above_all = _outer_edges(sample)
    return np.concatenate([[below_all], distinct, [above_all]])


def _outer_edges(sample: ScoreSample) -> tuple[float, float]:
    """Return a place below all scores and one above them."""
    low, high = sample.extremes
    # Bins of weighted rows have as many effective rows as the rows themselves.
    step = (sample.spread or abs(low) or 1.0) / sum(c.effective_n for c in sample.classes)
    # The step may be less than one double.
    return min(low - step, float(np.nextafter(low, -np.inf))), high + step


def middle_of_gap(low: float, high: float) -> float:
    """Return the middle of two scores, or the lower one if they are neighbouring doubles."""
    middle = low + (high - low) / 2
    return middle if middle < high else low


# --- The line -------------------------------------------------------------------------------------


def minimum_on_line(
    errors: ErrorsAt, rule: Rule, sample: ScoreSample, bends: FloatArray | None = None
) -> Found:
    """Find the threshold at which the rule on smooth curves is smallest.

    Between the scores in `bends` the errors are smooth; None takes quantiles of both classes.
    """

    def value(thresholds: FloatArray) -> FloatArray:
        return rule.value(*errors(thresholds), sample.n_samples)

    start = _first_places(sample, None if rule.costly else bends, costly=rule.costly)
    close = (_CLOSE_IF_COSTLY if rule.costly else _CLOSE) * _typical_width(start)
    places, values = _close_in(value, start, close, costly=rule.costly)
    smallest = float(values.min())
    most = smallest + _RISE * max(abs(smallest), 1.0)
    number = 1 if rule.costly else _PLACES
    best = int(values.argmin())
    low = _end_of_valley(value, places[best::-1], values[best::-1], most, close, number)
    high = _end_of_valley(value, places[best:], values[best:], most, close, number)
    minimum = _evaluate(errors, rule, sample.n_samples, low + (high - low) / 2, (low, high))
    return minimum._replace(value=smallest)


def _first_places(sample: ScoreSample, bends: FloatArray | None, *, costly: bool) -> FloatArray:
    """Return thresholds all over the scores: where the curve bends, or between quantiles."""
    if bends is None:
        levels = np.linspace(0, 1, 33 if costly else 129)
        bends = np.concatenate([quantiles(scores, levels) for scores in sample.classes])
    low, high = sample.extremes
    margin = sample.spread / 16 or abs(low) or 1.0
    grid = np.unique(np.concatenate([[low - margin, low], bends, [high, high + margin]]))
    steps = np.zeros(1) if costly else np.arange(4) / 4
    inner = grid[:-1, None] + np.diff(grid)[:, None] * steps
    return np.unique(np.append(inner.ravel(), grid[-1]))


def _typical_width(places: FloatArray) -> float:
    """Return the width of the places, without outliers."""
    width = float(places[-1] - places[0])
    middle_half = float(places[3 * len(places) // 4] - places[len(places) // 4])
    return min(width, _FAR * middle_half) if middle_half > 0 else width


def _close_in(
    value: ValueAt, places: FloatArray, close: float, *, costly: bool
) -> tuple[FloatArray, FloatArray]:
    """Return places and their values, with more and more places around the smallest value.

    First the lowest valleys between the places are looked into, then the best place alone.
    """
    values = value(places)
    centres = _lowest_valleys(values, _VALLEYS_IF_COSTLY if costly else _VALLEYS)
    is_last_valley = False
    steps = np.arange(1.0, _PLACES + 1)[:, None] / (_PLACES + 1)
    while True:
        low = places[np.maximum(centres - 1, 0)]
        high = places[np.minimum(centres + 1, len(places) - 1)]
        closer = np.setdiff1d(low + steps * (high - low), places)
        if is_last_valley and (not len(closer) or not high[0] - low[0] > close):
            return places, values
        closer_values = value(closer)
        if is_last_valley and np.abs(closer_values - values.min()).max() <= _ROUNDING:
            return places, values
        joined = np.concatenate([places, closer])
        order = np.argsort(joined, kind="stable")
        places = joined[order]
        values = np.concatenate([values, closer_values])[order]
        centres = np.array([values.argmin()])
        is_last_valley = True


def _lowest_valleys(values: FloatArray, number: int) -> IntArray:
    """Return the places of the lowest local minima, and of a flat one both ends."""
    padded = np.concatenate([[np.inf], values, [np.inf]])
    left = padded[:-2]
    right = padded[2:]
    is_lowest = (values <= left) & (values <= right)
    is_end = (values < left) | (values < right)
    valleys = np.flatnonzero(is_lowest & is_end)
    return valleys[np.argsort(values[valleys], kind="stable")[:number]]


def _end_of_valley(
    value: ValueAt,
    places: FloatArray,
    values: FloatArray,
    most: float,
    close: float,
    number: int,
) -> float:
    """Return where the rule first exceeds `most`, along places that begin at the smallest value.

    The end is narrowed down by `number` values at a time, which cost about as much as one.
    """
    beyond = np.flatnonzero(values > most)
    if not len(beyond):
        return float(places[-1])
    outside = float(places[beyond[0]])
    inside = float(places[beyond[0] - 1])
    steps = np.arange(1, number + 1) / (number + 1)
    while abs(outside - inside) > close:
        between = np.concatenate([[inside], inside + steps * (outside - inside), [outside]])
        exceeds = np.append(~(value(between[1:-1]) <= most), True)
        first = int(exceeds.argmax())
        if between[first] == inside and between[first + 1] == outside:
            break
        inside = float(between[first])
        outside = float(between[first + 1])
    return inside
