"""Prior threshold: divide the training prior out of the probabilities."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from boundshift.exceptions import InvalidInputError
from boundshift.rivals.counts import count_scores
from boundshift.rivals.delegate import keep_input_facts
from boundshift.rivals.posthoc import check_labels, fit_or_keep

__all__ = ["PriorThreshold", "adjust_logits", "prior_threshold"]

# Smallest positive normal double: a probability of exactly 0 has no logarithm.
_TINY = float(np.finfo(np.float64).tiny)


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


def adjust_logits(
    probabilities: ArrayLike, priors: ArrayLike, *, tau: float = 1.0
) -> NDArray[np.float64]:
    """Logarithms of the probabilities, less `tau` times those of the priors.

    Parameters
    ----------
    probabilities : array-like of shape (n_samples, n_classes)
        Predicted probabilities.
    priors : array-like of shape (n_classes,)
        Shares of the classes in the training data.
    tau : float, default=1
        Strength of the adjustment; 0 leaves the decision as it is.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
        Predict the class of the largest value.

    Examples
    --------
    >>> from lab.rivals import adjust_logits
    >>> int(adjust_logits([[0.7, 0.3]], [0.9, 0.1]).argmax())
    1
    """
    logits = np.log(np.maximum(np.asarray(probabilities, dtype=np.float64), _TINY))
    adjusted: NDArray[np.float64] = logits - tau * np.log(np.asarray(priors, dtype=np.float64))
    return adjusted


class PriorThreshold(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Predict the class whose probability exceeds its training prior by the largest factor.

    For two classes the threshold moves from ½ to the share of positive rows. For more it is the
    post-hoc logit adjustment.

    Parameters
    ----------
    estimator : classifier
        Any classifier with ``predict_proba``.
    tau : float, default=1
        Strength of the adjustment; 0 leaves the decision as it is.
    cv : None or "prefit", default=None
        "prefit" takes `estimator` as it was fitted; the labels given to ``fit`` then only set the
        priors.

    Attributes
    ----------
    priors_ : ndarray of shape (n_classes,)
        Shares of the classes in the training data.
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        Labels.

    References
    ----------
    A. Menon, S. Jayasumana, A. Rawat, H. Jain, A. Veit, S. Kumar, "Long-tail learning via logit
    adjustment", ICLR 2021.
    G. Collell, D. Prelec, K. Patil, "A simple plug-in bagging ensemble based on threshold-moving
    for classifying binary and multiclass imbalanced data", Neurocomputing 275, 2018.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from boundshift.datasets import make_gaussians
    >>> from lab.rivals import PriorThreshold
    >>> X, y = make_gaussians(random_state=0)
    >>> adjusted = PriorThreshold(LogisticRegression()).fit(X, y)
    >>> bool(adjusted.predict(X).sum() > 10)
    True
    """

    def __init__(self, estimator: Any, *, tau: float = 1.0, cv: Any = None) -> None:
        self.estimator = estimator
        self.tau = tau
        self.cv = cv

    def fit(self, X: Any, y: Any) -> "PriorThreshold":
        """Fit the classifier, unless it is fitted, and take the priors from `y`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels.

        Returns
        -------
        self
        """
        labels = check_labels(X, y)
        self.estimator_ = fit_or_keep(self.estimator, X, labels, self.cv)
        self.classes_ = self.estimator_.classes_
        keep_input_facts(self)
        sizes = np.array([np.sum(labels == label) for label in self.classes_])
        if not sizes.all():
            raise InvalidInputError(
                f"`y` must hold every class of the fitted estimator, got none of "
                f"{self.classes_[sizes == 0].tolist()}."
            )
        self.priors_ = sizes / sizes.sum()
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return adjusted logits; for two classes the positive one's less the negative one's."""
        check_is_fitted(self, "priors_")
        logits = adjust_logits(self.estimator_.predict_proba(X), self.priors_, tau=self.tau)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probabilities as they would be if all classes were equally frequent (for `tau` 1)."""
        check_is_fitted(self, "priors_")
        logits = adjust_logits(self.estimator_.predict_proba(X), self.priors_, tau=self.tau)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities: NDArray[np.float64] = odds / odds.sum(axis=1, keepdims=True)
        return probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels of the rows of `X`."""
        decision = self.decision_function(X)
        chosen = (decision > 0).astype(np.intp) if decision.ndim == 1 else decision.argmax(axis=1)
        labels: NDArray[Any] = self.classes_[chosen]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags
