"""Bayes minimum risk: calibrate, then predict what costs least."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression

from boundshift.rivals.counts import ScoreCounts, count_scores, just_below, resolve_costs

__all__ = ["bayes_risk_threshold"]


class _Steps(NamedTuple):
    """Steps of a rising function of the score: lowest scores, and the rows of each class."""

    edges: NDArray[np.float64]
    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]


def _roc_hull(counts: ScoreCounts) -> _Steps:
    """Return the edges of the ROC curve's convex hull, each a step of isotonic regression.

    T. Fawcett, A. Niculescu-Mizil, "PAV and the ROC convex hull", Machine Learning 68, 2007.
    """
    sizes = counts.negatives + counts.positives
    starts = isotonic_regression(counts.positives / sizes, weights=sizes).blocks[:-1]
    rows = (np.add.reduceat(each, starts) for each in (counts.negatives, counts.positives))
    return _Steps(counts.values[starts], *rows)


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
    y_true, y_score : array-likes of shape (n_samples,)
        Labels, the last in sorted order positive, and finite scores, higher for that class.
    cost_fp, cost_fn : float or None, default=None
        Cost of a false positive and of a false negative; None is the size of the other class.

    Returns
    -------
    float
        Predict positive iff score > threshold; infinite if one class is never worth predicting.

    Notes
    -----
    Each edge of the ROC curve's convex hull calibrates the scores on it to the share p of positive
    rows. With p, predicting positive costs :math:`(1-p) c_{FP}` and predicting
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
    hull = _roc_hull(counts)
    worth = np.flatnonzero(hull.positives * c_fn > hull.negatives * c_fp)
    if len(worth) == 0:
        return np.inf
    return -np.inf if worth[0] == 0 else just_below(hull.edges[worth[0]])
