"""Slack: which points are removed, and what is kept."""

from __future__ import annotations

from typing import Literal

import numpy as np

from boundshift._scores import Scores
from boundshift._typing import FloatArray, IntArray
from boundshift.exceptions import InvalidInputError

# Two distances that differ by less than this share of themselves, or of the class's middle half,
# count as equal, so that rescaled scores lose the same points.
_TIE = 1e-13
# Rows of a class that are collected from data read in passes: every row has a rank.
_MOST_ROWS = 10_000_000


class Windows:
    """One class whose points are removed one by one, the farthest from its centre first.

    The kept points are a window of the sorted scores. The other class lies above. Of two points
    equally far the higher one, which faces the other class, is removed first.
    """

    def __init__(self, scores: Scores, centre: Literal["median", "mean"]) -> None:
        n = self.n = scores.n
        if n > _MOST_ROWS and not scores.exact:
            raise InvalidInputError(
                f"`curve` must not be the paper's where more than {_MOST_ROWS:,} rows of a class "
                f"are read in passes, got {n:,}. Use 'blend', or a sample of the rows."
            )
        self.values = values = scores.at(np.arange(n))
        # Offsets from a score in the middle keep their digits, however large the scores are.
        about = scores.mean if centre == "mean" else scores.median
        self.reference = float(values[np.abs(values - about).argmin()])
        offset = values - self.reference
        low, high = offset[(n - 1) // 2], offset[n // 2]
        from_centre = offset - (offset.mean() if centre == "mean" else low + (high - low) / 2)
        first_high = int(np.searchsorted(from_centre, 0.0))
        inward = np.concatenate([np.arange(n - 1, first_high - 1, -1), np.arange(first_high)])
        distance = np.abs(from_centre)
        middle_half = offset[3 * n // 4] - offset[n // 4]
        # A low point is removed before a high one only if it is farther by more than the tie.
        key = distance * (1 - _TIE)
        key[first_high:] = distance[first_high:] * (1 + _TIE) + _TIE * middle_half
        order = inward[np.argsort(-key[inward], kind="stable")]
        self._start = np.append(0, np.cumsum(order < first_high))
        # Summed from the middle outwards: no sum includes the points removed before it.
        self._sums = np.cumsum(offset[order[::-1]])
        self._distance = np.append(0.0, np.cumsum(distance[order]))

    def keep(self, removed: IntArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Return what is kept after numbers of points have been removed.

        These are the smallest and the largest kept score, how far the mean of the kept scores lies
        above the reference, and the sum of the removed points' distances from the centre.
        """
        start, n = self._start[removed], self.n - removed
        ends = self.values[start], self.values[start + n - 1]
        return *ends, self._sums[n - 1] / n, self._distance[removed]


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

    The class that has lost the smaller share is next. Where both shares are equal the class that
    lost the last point goes on, the negative one at the start: the order of the authors' code.
    """
    (negative, positive), most = n_samples, [max(n - 2, 0) for n in n_samples]
    i = np.arange(most[1])
    # The larger class loses the last point before a tie; classes of one size take turns.
    goes_on = i % 2 == 1 if negative == positive else (i > 0) & (negative < positive)
    share = np.concatenate([np.arange(most[0]) * positive, i * negative])
    rank = np.concatenate([np.ones(most[0]), np.where(goes_on, 0, 2)])
    of_negative = np.append(0, np.cumsum(np.lexsort((rank, share)) < most[0]))
    return np.stack([of_negative, np.arange(len(of_negative)) - of_negative])
