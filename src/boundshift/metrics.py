"""Metrics that do not let a large class hide a small one."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError

__all__ = ["binary_metrics", "geometric_mean_score"]


def binary_metrics(
    y_true: ArrayLike, y_pred: ArrayLike, *, pos_label: object = 1
) -> dict[str, float]:
    r"""Score a binary prediction in one pass over the data.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels. Both classes must occur in `y_true`.
    pos_label : label, default=1
        The positive class; any other label is negative.

    Returns
    -------
    dict of str to float
        ``accuracy``, ``g_mean``, ``f1``, ``balanced_accuracy``, ``mcc``, ``recall_negative`` and
        ``recall_positive``. F1 and the Matthews coefficient are 0 where they are not defined.

    Notes
    -----
    With the recalls :math:`r_-` and :math:`r_+`, the G-mean is :math:`\sqrt{r_- r_+}` and the
    balanced accuracy :math:`(r_- + r_+)/2`.

    Examples
    --------
    >>> from boundshift.metrics import binary_metrics
    >>> scores = binary_metrics([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0])
    >>> scores["recall_negative"], scores["recall_positive"], scores["f1"]
    (0.75, 0.5, 0.5)
    """
    truth, predicted = _labels(y_true, y_pred)
    tn, fp, fn, tp = _confusion(truth == pos_label, predicted == pos_label)
    if tn + fp == 0 or tp + fn == 0:
        raise InvalidInputError(
            f"`y_true` must hold both classes, got {tn + fp} negative and {tp + fn} positive rows. "
            "Stratify the split."
        )
    recall_negative, recall_positive = tn / (tn + fp), tp / (tp + fn)
    return {
        "accuracy": (tp + tn) / len(truth),
        "g_mean": float(np.sqrt(recall_negative * recall_positive)),
        "f1": 2 * tp / (2 * tp + fp + fn) if tp else 0.0,
        "balanced_accuracy": (recall_negative + recall_positive) / 2,
        "mcc": _matthews(tn, fp, fn, tp),
        "recall_negative": recall_negative,
        "recall_positive": recall_positive,
    }


def geometric_mean_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Geometric mean of the recalls of all classes that occur in `y_true`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, of two or more classes.

    Returns
    -------
    float
        Between 0, if one class is never predicted rightly, and 1.

    References
    ----------
    M. Kubat, S. Matwin, "Addressing the curse of imbalanced training sets: one-sided selection",
    ICML 1997.

    Examples
    --------
    >>> from boundshift.metrics import geometric_mean_score
    >>> geometric_mean_score(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.7071067811865476
    """
    truth, predicted = _labels(y_true, y_pred)
    classes, codes, sizes = np.unique(truth, return_inverse=True, return_counts=True)
    hits = np.bincount(codes, weights=truth == predicted, minlength=len(classes))
    return float(np.prod(hits / sizes) ** (1 / len(classes)))


def _labels(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.generic], ...]:
    """Make two arrays of the same length."""
    truth, predicted = np.asarray(y_true), np.asarray(y_pred)
    if truth.ndim != 1 or truth.shape != predicted.shape or len(truth) == 0:
        raise InvalidInputError(
            "`y_true` and `y_pred` must be one-dimensional, of the same length and not empty, got "
            f"the shapes {truth.shape} and {predicted.shape}."
        )
    return truth, predicted


def _confusion(truth: NDArray[np.bool_], predicted: NDArray[np.bool_]) -> tuple[int, ...]:
    """Count true negatives, false positives, false negatives and true positives."""
    cells = np.bincount(2 * truth.astype(np.intp) + predicted, minlength=4)
    return tuple(int(count) for count in cells)


def _matthews(tn: int, fp: int, fn: int, tp: int) -> float:
    """Matthews correlation coefficient; Python's integers do not overflow."""
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return float((tp * tn - fp * fn) / product**0.5) if product else 0.0
