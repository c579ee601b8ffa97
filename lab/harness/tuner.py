"""scikit-learn's threshold tuner on scores that are there, without its thousand scorer calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from boundshift.typing import FloatArray

__all__ = ["QUALITIES", "Quality", "tune_as_scikit_learn"]

Quality = Callable[[FloatArray, FloatArray, float], FloatArray]

_THRESHOLDS = 100


def tune_as_scikit_learn(
    y_true: NDArray[np.int64],
    y_score: FloatArray,
    folds: Sequence[NDArray[np.intp]],
    quality: Quality,
) -> float:
    """Return what `TunedThresholdClassifierCV` chooses, given out-of-fold scores.

    Each fold has 100 thresholds over the range of its scores; the metric's curves are
    interpolated on 100 thresholds over all of them and averaged.

    Parameters
    ----------
    y_true : ndarray of int
        Labels 0 and 1.
    y_score : ndarray
        Out-of-fold scores.
    folds : sequence of ndarray
        Rows of each fold.
    quality : callable
        From recalls of the negative and of the positive class, and the share of positive rows, to
        the metric.

    Returns
    -------
    float
        Predict positive iff score > threshold, which is just below scikit-learn's.
    """
    if any(np.isclose(y_score[rows].min(), y_score[rows].max()) for rows in folds):
        raise ValueError("The scores of a fold are constant, which scikit-learn's tuner refuses.")
    curves = [_curve(y_true[rows], y_score[rows], quality) for rows in folds]
    low = min(thresholds[0] for thresholds, _ in curves)
    high = max(thresholds[-1] for thresholds, _ in curves)
    common = np.linspace(low, high, _THRESHOLDS)
    mean = np.mean([np.interp(common, *curve) for curve in curves], axis=0)
    return float(np.nextafter(common[np.argmax(mean)], -np.inf))


def _curve(
    y_true: NDArray[np.int64],
    y_score: FloatArray,
    quality: Quality,
) -> tuple[FloatArray, FloatArray]:
    """Return one fold's thresholds and the metric at each; a score at the threshold is positive."""
    thresholds = np.linspace(y_score.min(), y_score.max(), _THRESHOLDS)
    negative, positive = (np.sort(y_score[y_true == label]) for label in (0, 1))
    recall_negative = np.searchsorted(negative, thresholds, side="left") / len(negative)
    recall_positive = 1 - np.searchsorted(positive, thresholds, side="left") / len(positive)
    return thresholds, quality(recall_negative, recall_positive, len(positive) / len(y_score))


def _balanced_accuracy(negative: FloatArray, positive: FloatArray, share: float) -> FloatArray:
    return (negative + positive) / 2


def _g_mean(negative: FloatArray, positive: FloatArray, share: float) -> FloatArray:
    return np.asarray(np.sqrt(negative * positive))


def _f1(negative: FloatArray, positive: FloatArray, share: float) -> FloatArray:
    hits, alarms = positive * share, (1 - negative) * (1 - share)
    return 2 * hits / (hits + share + alarms)


def _mcc(negative: FloatArray, positive: FloatArray, share: float) -> FloatArray:
    flagged = positive * share + (1 - negative) * (1 - share)
    spread = np.sqrt(share * (1 - share) * flagged * (1 - flagged))
    gain = share * (1 - share) * (positive + negative - 1)
    return np.divide(gain, spread, out=np.zeros_like(spread), where=spread > 0)


QUALITIES: dict[str, Quality] = {
    "balanced-accuracy": _balanced_accuracy,
    "g-mean": _g_mean,
    "f1": _f1,
    "mcc": _mcc,
}
"""Name → metric."""
