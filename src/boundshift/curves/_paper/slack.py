"""Slack: which points each level removes, and what is kept of a class."""

from __future__ import annotations

from typing import Literal

import numpy as np

from boundshift._scores import Scores
from boundshift._typing import FloatArray, IntArray

# Two distances that differ by less than this share of themselves, or of the class's middle half,
# count as equal, so that rescaled scores lose the same points.
_TIE = 1e-13


class Windows:
    """One class whose points are removed one by one, the farthest from its centre first.

    The kept points are a window of the sorted scores. The other class lies above. Of two points
    equally far the higher one, which faces the other class, is removed first.
    """

    def __init__(self, scores: Scores, centre: Literal["median", "mean"]) -> None:
        self.n = scores.n
        self.values = scores.at(np.arange(self.n))
        # Offsets from a score in the middle keep their digits, however large the scores are.
        about = scores.mean if centre == "mean" else scores.median
        self.reference = float(self.values[np.abs(self.values - about).argmin()])
        offset = self.values - self.reference
        if centre == "mean":
            from_centre = offset - offset.mean()
        else:
            low = offset[(self.n - 1) // 2]
            high = offset[self.n // 2]
            from_centre = offset - (low + (high - low) / 2)
        order, first_high = _order_of_removal(offset, from_centre)
        self._start = np.append(0, np.cumsum(order < first_high))
        # Summed from the middle outwards: no sum includes the points removed before it.
        self._sums = np.cumsum(offset[order[::-1]])
        self._distance = np.append(0.0, np.cumsum(np.abs(from_centre)[order]))

    def keep(self, removed: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return what is kept after numbers of points have been removed.

        These are the smallest and the largest kept score, how far the mean of the kept scores lies
        above the reference, and the sum of the removed points' distances from the centre.
        """
        start = self._start[removed]
        n = self.n - removed
        low = self.values[start]
        high = self.values[start + n - 1]
        return low, high, self._sums[n - 1] / n, self._distance[removed]


def _order_of_removal(offset: FloatArray, from_centre: FloatArray) -> tuple[IntArray, int]:
    """Return the points from the first to be removed to the last, and the first above the centre.

    The points are sorted by their score.
    """
    n = len(offset)
    first_high = int(np.searchsorted(from_centre, 0.0))
    # Both sides from the outside inwards, so that a stable sort removes the high one of a tie.
    inward = np.concatenate([np.arange(n - 1, first_high - 1, -1), np.arange(first_high)])
    middle_half = offset[3 * n // 4] - offset[n // 4]
    # A low point is removed before a high one only if it is farther by more than the tie.
    key = np.abs(from_centre)
    key[:first_high] *= 1 - _TIE
    key[first_high:] = key[first_high:] * (1 + _TIE) + _TIE * middle_half
    return inward[np.argsort(-key[inward], kind="stable")], first_high


def proportional_path(n_samples: tuple[int, int]) -> IntArray:
    """Return the points removed (negative, positive) at each level, the same share of each class.

    Level j removes j points of the larger class; the smaller class's share is rounded up. Two
    points of each class are kept. Mirrored problems have mirrored paths.
    """
    smaller, larger = sorted(n_samples)
    many = np.arange(max(larger - 2, 0) + 1)
    few = np.minimum(-(-many * smaller // larger), max(smaller - 2, 0))
    return np.stack([few, many] if n_samples[0] < n_samples[1] else [many, few])


def sequential_path(n_samples: tuple[int, int]) -> IntArray:
    """Return the points removed (negative, positive) at each level, one point after the other.

    The class that has lost the smaller share is next. If both shares are equal, the class that
    lost the last point goes on, the negative one at the start: the order of the authors' code.
    """
    negative, positive = n_samples
    most_negative = max(negative - 2, 0)
    most_positive = max(positive - 2, 0)
    i = np.arange(most_positive)
    # The larger class loses the last point before a tie; classes of one size take turns.
    goes_on = i % 2 == 1 if negative == positive else (i > 0) & (negative < positive)
    share = np.concatenate([np.arange(most_negative) * positive, i * negative])
    rank = np.concatenate([np.ones(most_negative), np.where(goes_on, 0, 2)])
    of_negative = np.append(0, np.cumsum(np.lexsort((rank, share)) < most_negative))
    return np.stack([of_negative, np.arange(len(of_negative)) - of_negative])
