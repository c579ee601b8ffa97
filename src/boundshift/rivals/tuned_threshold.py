"""Tuned threshold: the cut with the best cross-validated metric."""

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from boundshift.exceptions import InvalidInputError
from boundshift.metrics import geometric_mean_score
from boundshift.rivals.counts import count_scores, just_below
from boundshift.rivals.posthoc import PosthocClassifier, is_prefit

__all__ = ["TunedThreshold", "tuned_threshold"]

Metric = Literal["balanced_accuracy", "g_mean"]
_SCORINGS: dict[str, Any] = {
    "balanced_accuracy": "balanced_accuracy",
    "g_mean": make_scorer(geometric_mean_score),
}


def tuned_threshold(
    y_true: ArrayLike, y_score: ArrayLike, *, metric: Metric = "balanced_accuracy"
) -> float:
    """Threshold with the best metric on the given scores.

    Looks at every cut, where scikit-learn's tuner looks at a grid of 100, and needs no model: pass
    out-of-fold scores for what the tuner does, held-out ones for a fitted model.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels of two classes; the last in sorted order is positive.
    y_score : array-like of shape (n_samples,)
        Finite scores, higher for the positive class.
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
    _check_metric(metric)
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


class TunedThreshold(PosthocClassifier):
    """scikit-learn's `TunedThresholdClassifierCV` with a metric for imbalanced classes.

    Parameters
    ----------
    estimator : classifier
        Any binary classifier with ``predict_proba`` or ``decision_function``.
    metric : {"balanced_accuracy", "g_mean"}, default="balanced_accuracy"
        What to maximise.
    cv : int, splitter or "prefit", default=5
        Folds to tune on; an int is reduced to the size of the smaller class. "prefit" tunes
        `estimator` as it was fitted on the rows given to ``fit``.
    random_state : int, RandomState or None, default=None
        Shuffles the folds; None keeps the order of the rows.

    Attributes
    ----------
    threshold_ : float
        Positive is predicted above it.
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (2,)
        Negative and positive label.

    References
    ----------
    scikit-learn user guide, "Tuning the decision threshold for class prediction".

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from boundshift.datasets import make_gaussians
    >>> from boundshift.rivals import TunedThreshold
    >>> X, y = make_gaussians(random_state=0)
    >>> tuned = TunedThreshold(LogisticRegression()).fit(X, y)
    >>> bool(0 < tuned.threshold_ < 0.5)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        metric: Metric = "balanced_accuracy",
        cv: Any = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.cv = cv
        self.random_state = random_state

    def _learn(self, X: Any, y: NDArray[Any]) -> tuple[Any, float]:
        _check_metric(self.metric)
        prefit = is_prefit(self.cv)
        tuner = TunedThresholdClassifierCV(
            self.estimator,
            scoring=_SCORINGS[self.metric],
            cv="prefit" if prefit else self._folds(y),
            refit=not prefit,
        ).fit(X, y)
        return tuner.estimator_, just_below(tuner.best_threshold_)

    def _folds(self, labels: NDArray[Any]) -> Any:
        """Folds that each hold a row of both classes."""
        if not isinstance(self.cv, int):
            return self.cv
        smallest = int(np.unique(labels, return_counts=True)[1].min())
        if smallest < 2:
            raise InvalidInputError(
                "The smaller class must have at least two rows to be cross-validated, got "
                f"{smallest}. Use cv='prefit' with a fitted estimator."
            )
        shuffle = self.random_state is not None
        return StratifiedKFold(
            min(self.cv, smallest), shuffle=shuffle, random_state=self.random_state
        )


def _check_metric(metric: str) -> None:
    """Refuse a metric that is not offered."""
    if metric not in _SCORINGS:
        raise InvalidInputError(f"`metric` must be one of {', '.join(_SCORINGS)}, got {metric!r}.")
