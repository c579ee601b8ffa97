"""Tuned threshold: the cut with the best metric."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from boundshift.rivals.counts import count_scores
from boundshift.validation import as_choice

__all__ = ["tuned_threshold"]

Metric = Literal["balanced_accuracy", "g_mean"]


def tuned_threshold(
    y_true: ArrayLike, y_score: ArrayLike, *, metric: Metric = "balanced_accuracy"
) -> float:
    """Threshold with the best metric on the given scores.

    Looks at every cut, where scikit-learn's tuner looks at a grid of 100, and needs no model: pass
    out-of-fold scores for what the tuner does, held-out ones for a fitted model.

    Parameters
    ----------
    y_true, y_score : array-likes of shape (n_samples,)
        Labels, the last in sorted order positive, and finite scores, higher for that class.
    metric : {"balanced_accuracy", "g_mean"}, default="balanced_accuracy"
        What to maximise.

    Returns
    -------
    float
        Predict positive iff score > threshold: the middle of the gap; of several best cuts the
        lowest.

    Examples
    --------
    >>> from boundshift.rivals import tuned_threshold
    >>> round(tuned_threshold([0, 0, 0, 1], [0.05, 0.1, 0.2, 0.4]), 9)
    0.3
    """
    as_choice("metric", metric, ("balanced_accuracy", "g_mean"))
    counts = count_scores(y_true, y_score)
    recall_negative = 1 - counts.false_positives() / counts.n_negative
    recall_positive = 1 - counts.false_negatives() / counts.n_positive
    quality = (
        recall_negative + recall_positive
        if metric == "balanced_accuracy"
        else recall_negative * recall_positive
    )
    # Equal in exact arithmetic may differ in the last digit, and the lowest is to win.
    best = np.flatnonzero(quality >= quality.max() - 1e-12)
    return counts.middle_of(int(best[0]))
