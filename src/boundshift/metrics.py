"""Metrics that do not let a large class hide a small one."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.rules.confusion import MCC, FBeta
from boundshift.rules.floors import reached_rates
from boundshift.rules.prevalence import as_prevalence, frequencies
from boundshift.scores.sample import ScoreSample

__all__ = ["binary_metrics", "geometric_mean_score", "metrics_at"]


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


def metrics_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    prevalence: float | None = None,
    pos_label: object = None,
) -> dict[str, NDArray[np.float64]]:
    """Return every metric at every cut of the scores, as columns of a tidy table.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Labels and scores, as in :func:`~boundshift.find_boundary`.
    thresholds : array-like, default=None
        Where to cut; None for the middle of every gap between two scores, and beyond the last.
    prevalence : float, default=None
        Share of the positive class where decisions will be made; None takes the sample's.
    pos_label : label, default=None
        The positive class; words need it.

    Returns
    -------
    dict of str to array
        ``threshold``, ``recall``, ``specificity``, ``precision``, ``npv``, ``flagged``, ``f1``,
        ``mcc``, ``g_mean`` and ``balanced_accuracy``, each with one number a cut; a frame is
        ``pandas.DataFrame(metrics_at(y, s))``.

    Examples
    --------
    >>> from boundshift.metrics import metrics_at
    >>> table = metrics_at([0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9], [0.3, 0.7])
    >>> table["recall"].tolist(), table["precision"].round(2).tolist()
    ([1.0, 0.5], [0.67, 1.0])
    """
    sample = ScoreSample.from_labels(y_true, y_score, pos_label, alike=False)
    if thresholds is None:
        values = np.unique(np.concatenate([sample.negative.positions, sample.positive.positions]))
        beyond = sample.spread / sum(sample.n_samples) or 1.0
        ends = np.concatenate([[values[0] - beyond], values, [values[-1] + beyond]])
        cuts = ends[:-1] + np.diff(ends) / 2
    else:
        cuts = np.ldexp(np.asarray(thresholds, dtype=np.float64), -sample.exponent)
        if cuts.ndim != 1 or not np.isfinite(cuts).all():
            raise InvalidInputError(
                f"`thresholds` must be a list of finite numbers, got {thresholds!r}. "
                "Leave it out for every cut."
            )
    wrong = sample.count_wrong(cuts)
    negative, positive = (k / n for k, n in zip(wrong, sample.n_samples, strict=True))
    share = as_prevalence(prevalence)
    rates = reached_rates(negative, positive, frequencies(share, sample.n_samples))
    return {
        "threshold": np.ldexp(cuts, sample.exponent),
        **rates,
        "f1": -FBeta(share).value(negative, positive, sample.n_samples),
        "mcc": -MCC(share).value(negative, positive, sample.n_samples),
        "g_mean": np.sqrt(rates["recall"] * rates["specificity"]),
        "balanced_accuracy": (rates["recall"] + rates["specificity"]) / 2,
    }
