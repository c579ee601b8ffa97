r"""The boundary at which a rule on two error curves is least, and the middle of its plateau.

`search_gaps` is for curves of counts. They change where the boundary passes a score, so the
candidates are the gaps between neighbouring scores. The negative class's error falls and the
positive one's rises with the boundary, and every rule grows with both. So over a run of gaps the
rule is at least its value at the negative error of the last gap and the positive error of the
first. Runs that cannot hold the minimum are dropped: of millions of gaps, hundreds are evaluated.

`search_line` is for smooth curves. It starts from quantiles of both classes, or from the points
where the curves bend, and closes in on the best. Where scores repeat the errors jump, and the gaps
between distinct scores are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from boundshift._scores import ScoreSample, quantiles
from boundshift._typing import FloatArray
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Rule

ErrorsAt = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From boundaries to the claimed error rates (negative, positive) at each."""

# Values this close to the minimum belong to its plateau.
_FLAT = 1e-12
# Runs of gaps that are evaluated together.
_FAN = 64
# The plateau of a smooth minimum ends where the rule has risen by this much. Its middle is known
# to more digits than the argument of the least value.
_RISE = 1e-10
_HALF_A_ROW = 0.5
# Boundaries tried between the neighbours of the best one.
_CLOSER = np.arange(1.0, 33.0)[:, None]
# A range wider than the middle half of the boundaries by this factor holds an outlier.
_FAR = 1e6
# Share of the width below which two boundaries are one, for a rule that is slow to compute too.
_CLOSE, _SPARING_CLOSE = 1e-13, 1e-6


class Found(NamedTuple):
    """A boundary, the plateau around it, the errors claimed there, and the rule's value."""

    threshold: float
    plateau: tuple[float, float]
    errors: tuple[float, float]
    value: float


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
    merged = np.concatenate([sample.negative.value, sample.positive.value])
    merged.sort(kind="stable")  # quick, as it merges two sorted runs
    distinct = merged[np.append(True, merged[1:] > merged[:-1])]
    beyond = (sample.spread or abs(distinct[0]) or 1.0) / sum(sample.n_samples)
    # The step may be less than one double.
    first = min(distinct[0] - beyond, np.nextafter(distinct[0], -np.inf))
    return np.concatenate([[first], distinct, [distinct[-1] + beyond]])


def middle(low: float, high: float) -> float:
    """Return the middle of two scores, or the lower one if they are neighbouring doubles."""
    middle = low + (high - low) / 2
    return middle if middle < high else low


def search_gaps(
    errors: ErrorsAt,
    rule: Rule,
    sample: ScoreSample,
    everyone: ScoreSample | None = None,
    *,
    smooth: bool = False,
) -> Found:
    """Return the best gap between scores, merged with neighbours of the same value.

    The scores of `everyone` bound the gaps; None: the sample's. Errors depend on counts only,
    unless they are smooth: then each gap is judged at its middle.
    """
    edges, sizes = gap_edges(everyone or sample), sample.n_samples
    at, last_gap = edges[:-1], len(edges) - 2
    if smooth:
        margin = (everyone or sample).spread / 16 or abs(edges[1]) or 1.0
        edges[[0, -1]] = edges[1] - margin, edges[-2] + margin
        at = edges[:-1] + np.diff(edges) / 2
        at = np.where(at < edges[1:], at, edges[:-1])

    def bound(first: Any, last: Any) -> FloatArray:
        """Return the rule at the negative error of the last gap and the positive of the first."""
        return rule.value(errors(at[last])[0], errors(at[first])[1], sizes)

    first, last, best = np.array([0]), np.array([last_gap]), np.inf
    if smooth and not rule.costly:
        first = last = np.arange(last_gap + 1)
        best = float(bound(first, first).min())
    while np.any(first < last):
        # Cut runs of gaps into shorter ones: about `_FAN` in all, at least 8 of each.
        width = last - first + 1
        pieces = np.clip(width, 0, max(8, _FAN // max(len(first), 1)))
        owner = np.repeat(np.arange(len(first)), pieces)
        piece = np.arange(len(owner)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        last = first[owner] + (piece + 1) * width[owner] // pieces[owner] - 1
        first = first[owner] + piece * width[owner] // pieces[owner]
        least = bound(first, np.minimum(last + 1, last_gap))
        likely = (first + last)[np.argsort(least, kind="stable")[:_FAN]] // 2
        best = min(best, float(bound(likely, likely).min()))
        alive = least <= _flat(best)
        first, last = first[alive], last[alive]
    lowest = first[bound(first, first) <= _flat(best)]
    if not len(lowest):
        raise InvalidInputError(
            "`rule` must not improve while an error rate grows, since gaps between scores are "
            f"searched by that, got {rule!r}. Use Floors(flagged=0.3) for a share of flagged "
            "rows, or curve='smoothed' where no score repeats."
        )
    runs = np.split(lowest, np.flatnonzero(np.diff(lowest) > 1) + 1)
    widest = max(runs, key=lambda run: edges[run[-1] + 1] - edges[run[0]])
    low, high = int(widest[0]), int(widest[-1])
    allowed, towards = rule.tolerance_towards(sizes)
    if allowed and towards:
        # Walk to the last gap before the rule first exceeds the best value by the tolerance.
        most, way = best + allowed, np.array([high if smooth and towards > 0 else low])
        to_end = last_gap - way[0] if towards > 0 else way[0]
        while len(way) <= to_end:
            number = min(max(len(way), _FAN), to_end + 1 - len(way))
            ahead = way[-1] + towards * np.arange(1, number + 1)
            near = bound(ahead, ahead) <= most
            way = np.append(way, ahead if near.all() else ahead[: np.argmin(near)])
            if not near.all():
                break
        favoured = 0 if towards > 0 else 1
        wrong: Any = sample.count_wrong(at[way])[favoured]
        if smooth:
            wrong = sizes[favoured] * errors(at[way])[favoured]
        low = high = int(way[np.argmax(wrong <= wrong[-1] + (_HALF_A_ROW if smooth else 0))])
    start, stop = float(edges[low]), float(edges[high + 1])
    return _found(errors, rule, sample, middle(start, stop), start, stop)


# --- The line -------------------------------------------------------------------------------------


def search_line(
    errors: ErrorsAt, rule: Rule, sample: ScoreSample, bends: FloatArray | None = None
) -> Found:
    """Return the best boundary on the line.

    Between the scores in `bends` the errors are smooth; None takes quantiles of both classes.
    """

    def value(t: FloatArray) -> FloatArray:
        return rule.value(*errors(t), sample.n_samples)

    t = _start(sample, None if rule.costly else bends, costly=rule.costly)
    values = value(t)
    inner = _FAR * (t[3 * len(t) // 4] - t[len(t) // 4])
    width = min(t[-1] - t[0], inner) if inner > 0 else t[-1] - t[0]
    close, places = (_SPARING_CLOSE * width, 1) if rule.costly else (_CLOSE * width, 32)
    beside = np.concatenate([[np.inf], values, [np.inf]])
    left, right = beside[:-2], beside[2:]
    is_end = (values < left) | (values < right)  # of a flat valley its ends
    valleys = np.flatnonzero((values <= left) & (values <= right) & is_end)
    centres = valleys[np.argsort(values[valleys], kind="stable")[: 2 if rule.costly else 8]]
    closes_in = False  # on the best one, after a look into the lowest valleys
    while True:
        low, high = t[np.maximum(centres - 1, 0)], t[np.minimum(centres + 1, len(t) - 1)]
        closer = np.setdiff1d(_CLOSER * ((high - low) / (len(_CLOSER) + 1)) + low, t)
        if closes_in and (not len(closer) or not high[0] - low[0] > close):
            break
        more = value(closer)
        if closes_in and np.ptp(more) <= _FLAT and abs(more[0] - values.min()) <= _FLAT:
            break
        t = np.concatenate([t, closer])
        order = np.argsort(t, kind="stable")
        t, values = t[order], np.concatenate([values, more])[order]
        centres, closes_in = np.array([values.argmin()]), True
    least, best = float(values.min()), int(values.argmin())

    def end_of_run(most: float, side: int) -> float:
        """Return the end of the run around the minimum where the rule is at most a value."""
        ahead = slice(best, None) if side > 0 else slice(best, None, -1)
        beyond = np.flatnonzero(values[ahead] > most)
        if not len(beyond):
            return float(t[-1] if side > 0 else t[0])
        inside, outside = t[ahead][beyond[0] - 1], t[ahead][beyond[0]]
        return _last_within(value, most, inside, outside, close, places)

    flat = least + _RISE * max(abs(least), 1.0)
    first, last = end_of_run(flat, -1), end_of_run(flat, 1)
    threshold = first + (last - first) / 2
    allowed, towards = rule.tolerance_towards(sample.n_samples)
    if not (allowed and towards):
        return _found(errors, rule, sample, threshold, first, last)._replace(value=least)
    favoured = 0 if towards > 0 else 1

    def expected(t: FloatArray) -> FloatArray:
        return np.asarray(errors(t)[favoured] * sample.n_samples[favoured])

    end = end_of_run(least + allowed, towards)
    at_best, at_end = expected(np.array([threshold, end])).tolist()
    most = at_end + _HALF_A_ROW
    if at_best > most:
        close = _CLOSE * abs(end - threshold)
        threshold = _last_within(expected, most, end, threshold, close, 32)
    return _found(errors, rule, sample, threshold, threshold, threshold)


def _start(sample: ScoreSample, bends: FloatArray | None, *, costly: bool) -> FloatArray:
    """Return boundaries all over the scores: where the curve bends, or between quantiles."""
    if bends is None:
        shares = np.linspace(0, 1, 33 if costly else 129)
        bends = np.concatenate([quantiles(c, shares) for c in (sample.negative, sample.positive)])
    low, high = sample.extremes
    margin = sample.spread / 16 or abs(low) or 1.0
    grid = np.unique(np.concatenate([[low - margin, low], bends, [high, high + margin]]))
    steps = np.zeros(1) if costly else np.arange(4) / 4
    inner = grid[:-1, None] + np.diff(grid)[:, None] * steps
    return np.unique(np.append(inner.ravel(), grid[-1]))


def _last_within(
    value: Callable[[Any], FloatArray],
    most: float,
    inside: float,
    outside: float,
    close: float,
    number: int,
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
