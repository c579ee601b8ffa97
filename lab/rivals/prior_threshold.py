"""Prior threshold: divide the training prior out of the probabilities."""

from numpy.typing import ArrayLike

from boundshift.exceptions import InvalidInputError
from boundshift.rivals.counts import count_scores

__all__ = ["prior_threshold"]


def prior_threshold(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Threshold at the share of positive rows.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the last in sorted order is positive.
    y_score : array-like of shape (n_samples,)
        Probabilities of the positive class; they only have to be probabilities.

    Returns
    -------
    float
        Predict positive iff probability > threshold.

    References
    ----------
    G. Collell, D. Prelec, K. Patil, "A simple plug-in bagging ensemble based on threshold-moving
    for classifying binary and multiclass imbalanced data", Neurocomputing 275, 2018.

    Examples
    --------
    >>> from lab.rivals import prior_threshold
    >>> prior_threshold([0, 0, 0, 1], [0.1, 0.1, 0.2, 0.4])
    0.25
    """
    counts = count_scores(y_true, y_score)
    if counts.values[0] < 0 or counts.values[-1] > 1:
        raise InvalidInputError(
            "`y_score` must be probabilities, got scores from "
            f"{counts.values[0]:g} to {counts.values[-1]:g}. Calibrate them first."
        )
    return counts.n_positive / (counts.n_negative + counts.n_positive)
