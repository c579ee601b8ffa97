"""Decisions on bins: which threshold, how sure it is, and which bins to look into.

A smooth curve takes the bins as weighted points. Its threshold can differ from that of the rows
because the rows of a bin may lie anywhere between its ends. So it is found again with the rows at
the ends, class by class and side by side, and `resolution` is twice the sum of these movements.

A curve that counts rows is exact between bins. Three samples agree with all that is known: the
classes are separated as well as possible inside each bin, as badly as possible, or not at all.
Every rule gets better if rows are better separated. So if the best case chooses a gap between bins,
no threshold inside a bin can be better. Bins that leave a doubt are looked into.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from boundshift._boundary import decide
from boundshift._result.boundary import Boundary
from boundshift._result.rows import ChoosingRows, find_deciles
from boundshift._scores import Scale, ScoreSample
from boundshift._search import middle_of_gap
from boundshift._typing import BoolArray, FloatArray, IntArray
from boundshift.curves import CountCurve, ErrorCurve
from boundshift.exceptions import InvalidInputError
from boundshift.rules import Floors, Rule
from boundshift.streaming._bins import edges_of
from boundshift.streaming._floors import doubtful_floors
from boundshift.streaming._joint import JointBins
from boundshift.streaming._looks import Passes

Decide = Callable[[ScoreSample], Boundary]

# Values of a rule that differ by rounding only.
_ROUNDING = 1e-12
# How exactly the smallest value of a smooth curve is found, relative to the width of the scores.
_LEAST_RESOLUTION = 1e-7
# Bins that are judged together at first.
_RUN = 256


def decide_bins(
    bins: JointBins,
    curve: ErrorCurve,
    rule: Rule,
    scale: Scale,
    passes: Passes | None = None,
) -> Boundary:
    """Return the boundary of the rows that were counted.

    Without further `passes` the threshold stands between two bins, and the resolution tells how
    far the threshold of the rows may be from it.
    """

    def decide_sample(sample: ScoreSample) -> Boundary:
        return decide(sample, curve, rule, scale)

    check_collected(curve)
    boundary = decide_bins_by(bins, [decide_sample], curve, rule, passes)
    return replace(boundary, chosen_on=summary_of(bins))


def decide_bins_by(
    bins: JointBins,
    versions: Sequence[Decide],
    curve: ErrorCurve,
    rule: Rule,
    passes: Passes | None = None,
) -> Boundary:
    """Return the boundary of the rows that were counted, by a function that decides a sample.

    If that depends on other bins than these, further versions have rows of those bins at the ends
    that `JointBins.at_ends` names, in its order.
    """
    if isinstance(curve, CountCurve):
        return _decide_counts(bins, versions[0], curve, rule, passes)
    return _decide_smooth(bins, versions, passes)


def summary_of(bins: JointBins) -> ChoosingRows:
    """Return what a boundary remembers of rows that were counted: no scores of single rows."""
    negatives, positives = bins.rows.sum(axis=1).tolist()
    deciles = [_deciles_of(bins, i) for i in (0, 1)]
    return ChoosingRows(
        n_rows=(negatives, positives),
        deciles=(deciles[0], deciles[1]),
    )


def _deciles_of(bins: JointBins, i: int) -> tuple[float, ...]:
    """Return the extremes of a class, which are exact, and the means of the bins of its deciles."""
    has_rows = bins.rows[i] > 0
    _, *inner, _ = find_deciles(bins.mean[i, has_rows], bins.rows[i, has_rows])
    least = float(bins.class_low[i, has_rows][0])
    most = float(bins.class_high[i, has_rows][-1])
    return (least, *inner, most)


def check_collected(curve: ErrorCurve) -> None:
    """Raise for curves that need every score at once."""
    if not (curve.is_smooth or curve.is_step):
        raise InvalidInputError(
            f"must be smooth or count rows if the scores are not held in memory, got "
            f"{curve!r}. Use boundshift.find_boundary on the scores, which take 16 bytes a row, or "
            "on a random sample of them.",
            argument="curve",
        )


# --- Smooth curves --------------------------------------------------------------------------------


def _decide_smooth(bins: JointBins, versions: Sequence[Decide], passes: Passes | None) -> Boundary:
    boundary = versions[0](bins.sample())
    while passes and bins.may_hide_atoms().any():
        bins = passes.look_into(bins, bins.may_hide_atoms() | bins.holding(boundary.threshold))
        boundary = versions[0](bins.sample())
    boundary = replace(boundary, resolution=_resolution(bins, versions, boundary))
    while passes and bins.holding(boundary.threshold).any():
        bins = passes.look_into(bins, bins.holding(boundary.threshold))
    boundary = _between_bins(bins, boundary)
    return replace(boundary, wrong=bins.count_wrong(boundary.threshold))


def _resolution(bins: JointBins, versions: Sequence[Decide], boundary: Boundary) -> float:
    """Return how far the threshold may be from that of the rows."""
    threshold = boundary.threshold
    if len(versions) == 1 and not bins.is_open.any() and not bins.is_weighted:
        return 0.0
    moved = _LEAST_RESOLUTION * bins.typical_width()
    at_ends = bins.at_ends(threshold)
    for decide_sample, ends in zip(versions[1:] or 4 * [versions[0]], at_ends, strict=True):
        moved += 2.0 * abs(decide_sample(bins.sample(ends)).threshold - threshold)
    return moved + gap_around(bins, boundary)


def gap_around(bins: JointBins, boundary: Boundary) -> float:
    """Return how much wider the gap of a threshold may be, whose ends may be means of open bins."""
    if not len(bins.atoms):
        return 0.0
    beside = bins.is_open & bins.touching(*boundary.plateau)
    if not beside.any():
        return 0.0
    width = float((bins.high - bins.low)[beside].sum())
    return width + boundary.plateau[1] - boundary.plateau[0]


def _between_bins(bins: JointBins, boundary: Boundary) -> Boundary:
    """Move a threshold out of an open bin, to the nearer edge.

    Every tally has this edge, so that rows can be counted there in any other tally, too.
    """
    holder = np.flatnonzero(bins.holding(boundary.threshold))
    if not len(holder):
        return boundary
    j = int(holder[0])
    below, above = edges_of(float(bins.low[j]))
    last = bins.high[j - 1] if j else -np.inf
    following = bins.low[j + 1] if j + 1 < len(bins.low) else np.inf
    if not (last <= below < bins.low[j] and bins.high[j] <= above < following):
        # A bin that was looked into has edges of its own.
        below = float(np.nextafter(bins.low[j], -np.inf))
        above = float(bins.high[j])
    is_nearer_below = boundary.threshold - below <= above - boundary.threshold
    moved = below if is_nearer_below else above
    low, high = boundary.plateau
    return replace(
        boundary,
        threshold=moved,
        plateau=(min(low, moved), max(high, moved)),
        resolution=boundary.resolution + abs(moved - boundary.threshold),
    )


# --- Curves that count rows -----------------------------------------------------------------------


def _decide_counts(
    bins: JointBins,
    decide_sample: Decide,
    curve: CountCurve,
    rule: Rule,
    passes: Passes | None,
) -> Boundary:
    while True:
        try:
            tied = decide_sample(bins.tied())
            best = decide_sample(bins.well_separated())
            worst = tied
            if rule.asked:
                worst = decide_sample(bins.badly_separated())
        except InvalidInputError:
            # The scores may not be reversed if the medians that seem so are not known.
            doubtful = bins.holding_medians()
            if passes is None or not doubtful.any():
                raise
            bins = passes.look_into(bins, doubtful)
            continue
        if isinstance(rule, Floors):
            doubtful = doubtful_floors(bins, curve, rule, (best, tied, worst))
        else:
            doubtful = _could_win(bins, curve, rule, tied.loss)
        doubtful |= bins.is_open & bins.touching(*best.plateau)
        doubtful |= bins.holding_both_medians()
        if not doubtful.any():
            # The best case has the ends of the gap, ties have the medians in order.
            return replace(best, status=tied.status, remarks=tied.remarks)
        if passes is None:
            return _in_gap(bins, tied, doubtful)
        bins = passes.look_into(bins, doubtful)


def _could_win(bins: JointBins, curve: CountCurve, rule: Rule, loss: float) -> BoolArray:
    """Return the open bins inside which the rule may be as small as the smallest value so far.

    Inside a bin, or a run of bins, no threshold has fewer negative rows above it than the end has,
    or fewer positive rows below it than the start.
    """
    negatives, positives = bins.weight
    sizes = bins.n_samples
    least_alarms = np.append(negatives[::-1].cumsum()[::-1][1:], 0.0)
    least_misses = np.append(0.0, positives.cumsum()[:-1])
    most = loss + _ROUNDING * max(abs(loss), 1.0)

    def can_win(first: IntArray, last: IntArray) -> BoolArray:
        alarms = curve.bound(least_alarms[last], sizes[0])
        misses = curve.bound(least_misses[first], sizes[1])
        return np.asarray(rule.value(alarms, misses, sizes) <= most)

    index = np.arange(len(bins.low))
    starts = index[::_RUN]
    of_run = can_win(starts, np.minimum(starts + _RUN, len(index)) - 1)
    index = index[bins.is_open & of_run[index // _RUN]]
    could_win = np.zeros(len(bins.low), dtype=np.bool_)
    could_win[index] = can_win(index, index)
    return could_win


def _in_gap(bins: JointBins, tied: Boundary, doubtful: BoolArray) -> Boundary:
    """Return the best boundary between bins, if nothing inside them can be looked at."""
    k = int(np.searchsorted(bins.high, tied.threshold, side="right"))
    low, high = tied.plateau
    threshold = tied.threshold
    if 0 < k < len(bins.low) and bins.is_open[k]:
        low = float(bins.high[k - 1])
        high = float(bins.low[k])
        threshold = middle_of_gap(low, high)
    ends: FloatArray = np.concatenate([bins.low[doubtful], bins.high[doubtful]])
    farthest = float(np.abs(ends - threshold).max())
    return replace(tied, threshold=threshold, plateau=(low, high), resolution=farthest)
