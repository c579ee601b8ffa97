"""Bins of scores that need no range known beforehand, in NumPy and in SQL.

Every power of two is cut into 4,096 bins of equal width, for both signs. So a bin is as wide as a
4,096th to an 8,192nd of its scores, however large or small they are. Scores between one half and 1
are binned by their distance from 1, because the log-odds of probabilities need that precision.

Every bin of a tally carries its own extremes. So it does no harm if two engines disagree about a
score next to the edge of a bin.
"""

from __future__ import annotations

import numpy as np

from boundshift._typing import FloatArray, IntArray
from boundshift._validation import LARGEST_SCORE

_BITS = 12
PARTS = 1 << _BITS
"""Bins of each power of two."""
_MANTISSA_BITS = 52
_EXPONENT_BIAS = 1023
# Scores closer to 0 than two to the power of this share two bins, one for each sign.
_LEAST_EXPONENT = -1000
# Added to the bins of scores between one half and 1.
_NEAR_ONE = 1 << 25

MISSING_BIN = -(1 << 26)
INFINITE_BIN = MISSING_BIN - 1
BAD_WEIGHT_BIN = MISSING_BIN - 2
"""Bins of rows that cannot be used."""

REFINED_BIN = BAD_WEIGHT_BIN - 1
"""Of a part of a bin that was looked into. Such parts are told apart by their scores."""

BIN_BITS = 28
"""Bits that hold every bin, so that an index of a range fits above them."""


def group_of(bins: IntArray) -> IntArray:
    """Return the number that stands above a bin's bits; bins of negative scores are below 0."""
    return np.asarray((bins + (1 << (BIN_BITS - 1))) >> BIN_BITS)


def bins_of(scores: FloatArray) -> IntArray:
    """Return the bin of each score."""
    is_near_one = (scores > 0.5) & (scores < 1.0)
    distance = np.where(is_near_one, 1.0 - scores, scores)
    # The leading bits of a double are its exponent and the first digits of its mantissa.
    leading = np.abs(distance).view(np.int64) >> (_MANTISSA_BITS - _BITS)
    magnitude = np.maximum(leading - (_EXPONENT_BIAS + _LEAST_EXPONENT) * PARTS, 1)
    signed = np.where(scores < 0.0, -magnitude, magnitude)
    signed[is_near_one] += _NEAR_ONE
    signed[scores == 0.0] = 0
    return np.asarray(signed)


def edges_of(score: float) -> tuple[float, float]:
    """Return the thresholds just below and just above all scores of a bin, whoever counts them.

    A threshold is not above the scores that equal it.
    """
    is_near_one = 0.5 < score < 1.0
    distance = np.float64(1.0 - score if is_near_one else abs(score))
    step = np.int64(1) << (_MANTISSA_BITS - _BITS)
    near = (distance.view(np.int64) // step * step).view(np.float64)
    far = (near.view(np.int64) + step).view(np.float64)
    if is_near_one:
        return float(1.0 - far), float(1.0 - near)
    if score < 0.0:
        return -float(far), -float(near)
    return float(np.nextafter(near, -np.inf)), float(np.nextafter(far, -np.inf))


def bin_columns(score: str, double: str, integer: str) -> dict[str, str]:
    """Return SQL expressions that lead to the bin of a score, each in terms of those before it.

    The names of types are those of the dialect. Scores that cannot be used have bins of their own.
    """
    is_usable = f"{score} BETWEEN -{LARGEST_SCORE:E} AND {LARGEST_SCORE:E}"
    # NaN is above all numbers in some engines, and incomparable in others.
    is_infinite = f"({score} > 0 AND -{score} < 0) OR ({score} < 0 AND -{score} > 0)"
    is_near_one = f"{score} > 5E-1 AND {score} < 1"
    digits = f"from_one_or_zero / POWER(CAST(2 AS {double}), exponent)"
    return {
        "from_one_or_zero": (
            f"CASE WHEN {is_near_one} THEN 1 - {score} "
            f"WHEN {is_usable} AND {score} <> 0 THEN ABS({score}) ELSE CAST(1 AS {double}) END"
        ),
        "exponent": (
            f"GREATEST(FLOOR(LN(from_one_or_zero) / {np.log(2.0):.16E}), {_LEAST_EXPONENT}E0)"
        ),
        "magnitude": (
            f"CAST(GREATEST((exponent - ({_LEAST_EXPONENT}E0)) * {PARTS}E0 "
            f"+ FLOOR(({digits} - 1) * {PARTS}E0), 1E0) AS {integer})"
        ),
        "bin": (
            f"CASE WHEN {is_usable} THEN CASE WHEN {score} = 0 THEN 0 "
            f"WHEN {is_near_one} THEN {_NEAR_ONE} + magnitude "
            f"WHEN {score} > 0 THEN magnitude ELSE -magnitude END "
            f"WHEN {is_infinite} THEN {INFINITE_BIN} ELSE {MISSING_BIN} END"
        ),
    }
