"""Bayes minimum risk: calibrate, then predict what costs least."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from boundshift.rivals.counts import count_scores, just_below, resolve_costs

__all__ = ["HullCalibration", "bayes_risk_threshold", "calibrate_by_roc_hull"]


@dataclass(frozen=True)
class HullCalibration:
    """A rising step function from scores to probabilities.

    Attributes
    ----------
    edges : ndarray of shape (n_steps,)
        Lowest training score of each step, ascending.
    negatives, positives : ndarray of shape (n_steps,)
        Training rows of each class on the step.
    """

    edges: NDArray[np.float64]
    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]

    def __call__(self, y_score: ArrayLike) -> NDArray[np.float64]:
        """Share of positive rows on each score's step; the lowest step has no lower end."""
        step = np.searchsorted(self.edges, np.asarray(y_score, dtype=np.float64), side="right") - 1
        share: NDArray[np.float64] = self.positives / (self.negatives + self.positives)
        return share[np.maximum(step, 0)]


def calibrate_by_roc_hull(y_true: ArrayLike, y_score: ArrayLike) -> HullCalibration:
    """Calibrate scores by the convex hull of their ROC curve.

    Each edge of the hull is a step, whose probability is the share of positive rows among the
    scores on it. The steps are those of isotonic regression, which is how they are found.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the last in sorted order is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores, higher for the positive class.

    Returns
    -------
    HullCalibration

    References
    ----------
    T. Fawcett, A. Niculescu-Mizil, "PAV and the ROC convex hull", Machine Learning 68, 2007.

    Examples
    --------
    >>> from boundshift.rivals import calibrate_by_roc_hull
    >>> calibrate = calibrate_by_roc_hull([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    >>> calibrate([0.05, 0.25, 0.9]).tolist()
    [0.0, 0.5, 1.0]
    """
    counts = count_scores(y_true, y_score)
    sizes = counts.negatives + counts.positives
    starts = isotonic_regression(counts.positives / sizes, weights=sizes).blocks[:-1]
    return HullCalibration(
        counts.values[starts],
        np.add.reduceat(counts.negatives, starts),
        np.add.reduceat(counts.positives, starts),
    )


def bayes_risk_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
) -> float:
    r"""Threshold of Bayes minimum risk on calibrated scores.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the last in sorted order is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores, higher for the positive class.
    cost_fp, cost_fn : float or None, default=None
        Cost of a false positive and of a false negative; None is the size of the other class.

    Returns
    -------
    float
        Predict positive iff score > threshold; infinite if one class is never worth predicting.

    Notes
    -----
    With the calibrated probability p, predicting positive costs :math:`(1-p) c_{FP}` and predicting
    negative :math:`p\, c_{FN}`; positive is predicted iff it costs less, and negative on a tie.
    As the calibration rises with the score, that is a threshold.

    References
    ----------
    A. Correa Bahnsen, A. Stojanovic, D. Aouada, B. Ottersten, "Improving credit card fraud
    detection with calibrated probabilities", SIAM International Conference on Data Mining, 2014.

    Examples
    --------
    >>> from boundshift.rivals import bayes_risk_threshold
    >>> threshold = bayes_risk_threshold([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> round(threshold, 9)
    0.4
    """
    counts = count_scores(y_true, y_score)
    c_fp, c_fn = resolve_costs(counts, cost_fp, cost_fn)
    hull = calibrate_by_roc_hull(y_true, y_score)
    worth = np.flatnonzero(hull.positives * c_fn > hull.negatives * c_fp)
    if len(worth) == 0:
        return np.inf
    return -np.inf if worth[0] == 0 else just_below(hull.edges[worth[0]])
