r"""Whether a shift is sure to help rows that did not choose it, told from counts alone.

To judge a shift, :mod:`boundshift.models.nested` chooses a threshold without the rows of each part.
Where a class is rare that is seldom needed: counts enclose each of these thresholds, and if both
recalls together gain wherever in there they stand, nothing is left to judge.

A threshold that is chosen costs no more than any other, as far as the rule allows; so no more than
the one that all rows chose. Between two places the negative class has at least its error at the
upper one, and the positive class at least its error at the lower one: where these cost more, the
threshold is elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.special import ndtr

from boundshift.curves import Blend, ErrorCurve, Smoothed
from boundshift.rules import Rule
from boundshift.scores.sample import OrderedScores, ScoreSample
from boundshift.typing import BoolArray, FloatArray, IndexArray, IntArray

__all__ = ["Enclosure", "enclose_thresholds", "surely_gains"]


# Rows of a class that must be left without a part.
_FEWEST = 50
# Places to a bandwidth, and how many bandwidths away rows count as if they were at any distance.
_PER_BANDWIDTH, _REACH = 4, 4
_MOST_PLACES = 2048
# What the grid of the smoothed curve may be wrong by, several times over, and the bandwidths from
# the median after which it ends.
_GRID_ERROR = 5e-4
_GRID_REACH = 1000.0
# A standard deviation is at least the distance of the quartiles over the root of 8.
_QUARTILES_PER_STD = 3.0
# Scores that lie closer together than this share of the largest one have no shape.
_SHAPELESS = 1e-9
_ERRORS = np.linspace(0.0, 1.0, 257)


class Enclosure(NamedTuple):
    """Between which places thresholds are, and how much may be on the wrong side at most.

    That is the sum of both classes' shares of rows that the threshold without their part has on the
    wrong side.
    """

    low: float
    high: float
    wrong: float


def surely_gains(
    sample: ScoreSample,
    threshold: float,
    rows: tuple[BoolArray, FloatArray, IndexArray],
    curve: ErrorCurve,
    rule: Rule,
) -> bool:
    """Return whether both recalls together gain, whatever thresholds the parts would choose.

    Parameters
    ----------
    sample : ScoreSample
        All rows, of which the model itself calls those above 0 positive.
    threshold : float
        What all rows chose, by the curve and the rule.
    rows : tuple of arrays of shape (n_samples,)
        The same rows: whether each is positive, its score, and the number of its part.
    curve : ErrorCurve
        Only "blend" and "smoothed" can be told from counts; others are never sure.
    rule : Rule
        One that treats classes alike.
    """
    found = enclose_thresholds(sample, threshold, rows, curve, rule)
    # Rows at 0 are on the right side, whichever that is.
    above = sample.negative.n - sample.negative.count_at_most(0.0)
    own = _weigh(above, sample.positive.count_below(0.0), sample.n_samples)
    return found is not None and bool(found.wrong < own)


def _weigh(negative: Any, positive: Any, n_samples: tuple[int, int]) -> Any:
    """Return rows on the wrong side as shares, with two rows more as where a shift is judged."""
    return negative / (n_samples[0] + 2) + positive / (n_samples[1] + 2)


def enclose_thresholds(
    sample: ScoreSample,
    threshold: float,
    rows: tuple[BoolArray, FloatArray, IndexArray],
    curve: ErrorCurve,
    rule: Rule,
) -> Enclosure | None:
    """Return where every threshold without one part is, None if counts do not tell.

    Arguments as in `surely_gains`.
    """
    smoothing = _smoothing(curve)
    if smoothing is None or rule.costly or sample.exponent:
        return None
    is_positive, scores, parts = rows
    left = _count_left(is_positive, parts, sample.n_samples)
    negative = _Side.of(sample.negative, left[0], smoothing)
    positive = _Side.of(sample.positive.mirrored(), left[1], smoothing)
    if negative is None or positive is None or not negative.medians[1] < -positive.medians[1]:
        return None  # Some part may have too few rows, no shape, or find the classes reversed.
    widths = _find_dear_ends(rule, sample, threshold, negative, positive)
    cell = min(negative.bandwidths[1], positive.bandwidths[1]) / _PER_BANDWIDTH
    if widths is None or not max(widths) < _MOST_PLACES * cell:
        return None
    # Places on both sides of the threshold, in ascending order; mirrored for the positive class.
    below, above = math.ceil(widths[0] / cell), math.ceil(widths[1] / cell)
    own = negative.enclose(threshold, cell, (below, above), ~is_positive, scores, parts)
    other = positive.enclose(-threshold, cell, (above, below), is_positive, -scores, parts)
    if own is None or other is None:
        return None
    wrong = _weigh(own.wrong[:, :-1], other.wrong[:, -2::-1], sample.n_samples)
    first, last, most_wrong = below + above, 0, 0.0
    for k, n in enumerate(zip(*left.tolist(), strict=True)):
        limit = _price(rule, own.most[k], other.most[k], n) + rule.tolerance_towards(n)[0]
        # Before the first place, from each to the next, and after the last.
        prices = rule.value(np.append(own.least[k], 0.0), np.append(other.least[k], 0.0)[::-1], n)
        possible = np.flatnonzero(~(prices > limit + _GRID_ERROR))
        if not len(possible) or possible[0] == 0 or possible[-1] == below + above + 1:
            return None
        first, last = min(first, int(possible[0]) - 1), max(last, int(possible[-1]))
        most_wrong += float(wrong[k, possible - 1].max())
    ends = threshold + (first - below) * cell, threshold + (last - below) * cell
    return Enclosure(*ends, most_wrong)


def _smoothing(curve: ErrorCurve) -> tuple[float, float] | None:
    """Return a curve's bandwidth, and how many rows its calibration counts for."""
    if type(curve) is Blend:
        return Smoothed().bandwidth, curve.rows
    return (curve.bandwidth, 0.0) if type(curve) is Smoothed else None


def _count_left(
    is_positive: BoolArray, parts: IndexArray, n_samples: tuple[int, int]
) -> FloatArray:
    """Return how many rows of each class (negative, positive) are left without each part."""
    n_parts = int(parts.max()) + 1
    held = np.bincount(parts + n_parts * is_positive, minlength=2 * n_parts).reshape(2, -1)
    return np.asarray(np.array(n_samples)[:, None] - held, dtype=np.float64)


def _price(rule: Rule, negative: float, positive: float, n_samples: tuple[float, float]) -> float:
    return float(rule.value(np.array(negative), np.array(positive), n_samples))


def _find_dear_ends(
    rule: Rule, sample: ScoreSample, threshold: float, negative: _Side, positive: _Side
) -> tuple[float, float] | None:
    """Return how far below and above a threshold one class's error alone is likely to cost more."""
    n = sample.n_samples
    errors = [side.share_above(t) for side, t in ((negative, threshold), (positive, -threshold))]
    limit = _price(rule, errors[0], errors[1], n) + rule.tolerance_towards(n)[0]
    nothing = np.zeros_like(_ERRORS)
    ends = []
    for side, t, prices in (
        (negative, threshold, rule.value(_ERRORS, nothing, n)),
        (positive, -threshold, rule.value(nothing, _ERRORS, n)),
    ):
        dear = _ERRORS[prices > limit]
        if not len(dear):
            return None
        ends.append(max(t - side.place_of(float(dear[0])), 0.0))
    return ends[0], ends[1]


class _Enclosed(NamedTuple):
    """What is known of a class around the threshold, part by part.

    The most of the claim without the part at the threshold, the least of it at each place, and the
    most rows of the part that are on the wrong side from each place on.
    """

    most: FloatArray
    least: FloatArray
    wrong: IntArray


@dataclass(frozen=True)
class _Side:
    """One class below the boundary, each time without the rows of one part.

    Parameters
    ----------
    own : OrderedScores
        All rows.
    sizes : array
        Rows that are left without each part.
    shares : array
        How much the smoothed curve counts in each claim; the rest is a calibration.
    bandwidths, medians : tuples of float
        Between which all of them lie.
    """

    own: OrderedScores
    sizes: FloatArray
    shares: FloatArray
    bandwidths: tuple[float, float]
    medians: tuple[float, float]

    @classmethod
    def of(
        cls, own: OrderedScores, sizes: FloatArray, smoothing: tuple[float, float]
    ) -> _Side | None:
        """Enclose what is left of a class without each part, None if it may have no shape."""
        n, fewest = own.n, int(sizes.min())
        most = n - fewest
        if fewest < _FEWEST or 2 * most + 2 > n:
            return None
        bandwidth, rows = smoothing
        # A row of rank r among those left has a rank from r to r + most among all.
        first, third = own.at([n // 4 + 1 + most, 3 * (fewest - 1) // 4]).tolist()
        low, high = own.at([(fewest - 1) // 2, n // 2 + most]).tolist()
        if third - first <= _SHAPELESS * max(abs(own.minimum), abs(own.maximum)):
            return None
        narrowest = (third - first) / _QUARTILES_PER_STD * n**-0.2
        # The sum of squares about the mean does not grow where rows are left out.
        widest = own.std * math.sqrt((n - 1) / (fewest - 1)) * fewest**-0.2
        widths = (bandwidth * narrowest, bandwidth * widest)
        return cls(own, sizes, sizes / (sizes + rows), widths, (low, high))

    def share_above(self, t: float) -> float:
        """Return the share of all rows above a boundary, those a bandwidth below included."""
        return 1.0 - int(self.own.count_at_most(t - self.bandwidths[1])) / self.own.n

    def place_of(self, error: float) -> float:
        """Return a boundary at which every claim is likely to be more than this."""
        rank = int((1.0 - min(1.2 * error + 0.02, 1.0)) * (self.own.n - 1))
        return float(self.own.at(rank)) - 2.0 * self.bandwidths[1]

    def enclose(
        self,
        threshold: float,
        cell: float,
        n_places: tuple[int, int],
        is_own: BoolArray,
        scores: FloatArray,
        parts: IndexArray,
    ) -> _Enclosed | None:
        """Enclose claims at places around a threshold, so many below and above it.

        None if a curve's grid may not reach all of them.
        """
        widest = self.bandwidths[1]
        reach = math.ceil(_REACH * widest / cell)
        first, last = n_places[0] + reach, n_places[1] + reach
        far = max(abs(threshold - median) for median in self.medians) + max(first, last) * cell
        if not far < _GRID_REACH * self.bandwidths[0]:
            return None
        places = threshold + cell * np.arange(-first, last + 1)
        near = np.flatnonzero(is_own & (scores > places[0]))
        passed = np.ceil((scores[near] - places[0]) / cell).astype(np.intp)
        codes = parts[near] * (len(places) + 1) + np.minimum(passed, len(places))
        counts = np.bincount(codes, minlength=len(self.sizes) * (len(places) + 1))
        held = counts.reshape(len(self.sizes), -1)[:, :0:-1].cumsum(axis=1)[:, ::-1]
        above = (self.own.n - self.own.count_at_most(places)) - held
        # A row above a boundary counts by the widest kernel at least at the lower end of its cell,
        # and whole at most; one below by the kernel at the upper end of its cell at most.
        kernel = ndtr(cell / widest * np.arange(reach + 1))
        within = np.append(kernel[0], np.diff(kernel))
        smooth = sliding_window_view(above, reach + 1, axis=1) @ within
        least = smooth[:, reach:] / self.sizes[:, None] - _GRID_ERROR
        below = above[:, first - reach : first + 1]
        total = below[:, -1] - np.diff(below) @ (1.0 - kernel[:-1])[::-1]
        total += (self.sizes - below[:, 0]) * (1.0 - kernel[-1])
        most = self.shares * (total / self.sizes + _GRID_ERROR) + (1.0 - self.shares)
        return _Enclosed(
            np.minimum(most, 1.0),
            np.maximum(self.shares[:, None] * least, 0.0),
            # From the place before, so that no row at a place is missed.
            held[:, reach - 1 : len(places) - reach - 1],
        )
