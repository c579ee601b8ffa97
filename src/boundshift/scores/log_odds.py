r"""Probabilities as log-odds, :math:`\ln\frac{p}{1-p}`, and back, with every row on its side.

A curve sees distances between scores, and those of probabilities are deceptive: 0.001 and 0.01 are
as far apart in what they say as 0.1 and 0.5. So scores that all lie in [0, 1] are decided on their
log-odds, and the threshold is carried back. This is the one exception to the rule that scores
:math:`ps + q` have the boundary :math:`pt + q`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from boundshift.exceptions import InvalidInputError
from boundshift.typing import FloatArray

__all__ = ["SCALES", "LogOdds", "Scale", "have_odds", "not_probabilities"]

Scale = Literal["auto", "probability", "raw"]
SCALES = ("auto", "probability", "raw")
"""What scores may be said to be."""


# How far beyond all others an exact 0 and an exact 1 stand.
_HALF_THE_ODDS = math.log(2.0)
_LEAST, _MOST = 5e-324, 1.0 - 2.0**-53
# Log-odds that spread over no more doubles than this may have lost the order of the scores.
_NEIGHBOURS = 8
# Doubles that are tried at a time where a threshold is looked for, and those around a first guess.
_FAN, _NEAR = 64, 1 << 12


def have_odds(least: float, most: float, *, saturated: bool) -> bool:
    """Return whether log-odds tell scores apart, given the extremes of those that are finite.

    Hard labels have no odds, and what is all the same, or differs in its last digits only, has no
    scale.

    Examples
    --------
    >>> have_odds(-1.0, 2.0, saturated=False), have_odds(-1.0, -1.0, saturated=False)
    (True, False)
    """
    if least > most:
        return False
    return saturated or most - least > _NEIGHBOURS * float(np.spacing(max(abs(least), abs(most))))


@dataclass(frozen=True)
class LogOdds:
    """Probabilities as log-odds, and back.

    Parameters
    ----------
    low, high : float, default=-inf and inf
        What an exact 0 and an exact 1 count as; infinite where there are none.
    """

    low: float = -math.inf
    high: float = math.inf

    @classmethod
    def of_extremes(cls, least: float, most: float, *, zeros: bool, ones: bool) -> LogOdds:
        """Return the log-odds of a sample, given the extremes of those that are finite.

        An exact 0 counts as half the odds of the least positive score, an exact 1 as twice those
        of the largest below 1.
        """
        return cls(
            least - _HALF_THE_ODDS if zeros else -math.inf,
            most + _HALF_THE_ODDS if ones else math.inf,
        )

    def of(self, scores: FloatArray) -> FloatArray:
        """Return the log-odds of probabilities, NaN for numbers outside [0, 1].

        Examples
        --------
        >>> LogOdds(-7.0, 7.0).of(np.array([0.0, 0.2, 0.5, 1.0])).round(2).tolist()
        [-7.0, -1.39, 0.0, 7.0]
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.subtract(1.0, scores)
            np.divide(scores, found, out=found)
            np.log(found, out=found)
        if self.low > -math.inf:
            found[found == -math.inf] = self.low
        if self.high < math.inf:
            found[found == math.inf] = self.high
        return found

    def of_sorted(self, scores: FloatArray) -> FloatArray:
        """Return the log-odds of sorted probabilities, sorted.

        A logarithm may be off by its last digit, and the order must stay.
        """
        found = self.of(scores)
        # To look is quicker than to mend, which is seldom needed.
        if bool((found[1:] >= found[:-1]).all()):
            return found
        return np.maximum.accumulate(found)

    def place(self, thresholds: ArrayLike) -> FloatArray:
        """Return where thresholds on probabilities stand among the log-odds."""
        cut = np.asarray(thresholds, dtype=np.float64)
        inside = np.clip(cut, 0.0, 1.0)
        found = self.of(np.atleast_1d(inside)).reshape(cut.shape)
        # A threshold of 0 or more calls an exact 0 negative, and one below 1 an exact 1 positive.
        found = np.maximum(found, self.low)
        found = np.where(cut < 1.0, np.minimum(found, np.nextafter(self.high, -np.inf)), found)
        return np.where(cut < 0.0, -np.inf, np.where(cut > 1.0, np.inf, found))

    def to_probability(self, value: float) -> float:
        """Return the probability of log-odds, 0 and 1 where those that are exact stand.

        Examples
        --------
        >>> log_odds = LogOdds(-7.0, 7.0)
        >>> [log_odds.to_probability(value) for value in (-8.0, -7.0, 0.0, 7.0)]
        [0.0, 0.0, 0.5, 1.0]
        """
        if value <= self.low:
            return 0.0
        return 1.0 if value >= self.high else float(expit(value))

    def to_threshold(self, value: float) -> float:
        """Return the threshold on probabilities that decides every row as one on log-odds does.

        It is the largest double whose log-odds are not above the value.

        Examples
        --------
        >>> LogOdds().to_threshold(0.0), LogOdds(-7.0, 7.0).to_threshold(8.0)
        (0.5, 1.0)
        """
        if not math.isfinite(value):
            return value
        if value >= self.high:
            return 1.0
        if value < self.low:  # an exact 0 is positive, too
            return -max(float(expit(value)), _LEAST)
        # Positive doubles are in the order of their bits.
        low, guess, high = (
            int(np.float64(p).view(np.int64)) for p in (_LEAST, expit(value), _MOST)
        )
        if not self._is_at_most(low, value):
            return 0.0
        if self._is_at_most(high, value):
            return _MOST
        below, above = max(guess - _NEAR, low), min(guess + _NEAR, high)
        low = below if self._is_at_most(below, value) else low
        high = high if self._is_at_most(above, value) else above
        while high - low > 1:
            tried = np.arange(low, high, max((high - low) // _FAN, 1))[1:]
            passed = int(np.count_nonzero(self.of(tried.view(np.float64)) <= value))
            ends = np.concatenate([[low], tried, [high]])
            low, high = int(ends[passed]), int(ends[passed + 1])
        return float(np.int64(low).view(np.float64))

    def middle(self, low: float, high: float) -> float:
        """Return the threshold in the middle of two probabilities by their log-odds.

        Examples
        --------
        >>> round(LogOdds().middle(0.01, 0.5), 3), LogOdds(-7.0, 7.0).middle(0.0, 1.0)
        (0.091, 0.5)
        """
        first, second = self.of(np.array([low, high])).tolist()
        found = self.to_threshold(first + (second - first) / 2)
        return min(max(found, low), float(np.nextafter(high, -np.inf)))

    def _is_at_most(self, bits: int, value: float) -> bool:
        """Return whether the log-odds of a double, given by its bits, are not above a value."""
        return bool(self.of(np.array([bits]).view(np.float64))[0] <= value)


def not_probabilities(found: str) -> InvalidInputError:
    """Return the error for scores that are called probabilities and are none."""
    return InvalidInputError(
        f"`y_score` must lie in [0, 1] with scale='probability', got {found}. "
        "Pass probabilities, or scale='raw' for scores of any kind."
    )
