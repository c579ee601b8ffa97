"""The classifier as it is: what every other rival is measured against."""

from typing import Any

from boundshift.rivals.delegate import DelegatingClassifier
from boundshift.rivals.posthoc import fit_or_keep

__all__ = ["Untouched"]


class Untouched(DelegatingClassifier):
    """Train a classifier and do nothing about the imbalance.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier.
    cv : None or "prefit", default=None
        "prefit" takes `estimator` as it was fitted.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        Labels.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from boundshift.datasets import make_gaussians
    >>> from boundshift.rivals import Untouched
    >>> X, y = make_gaussians(random_state=0)
    >>> int(Untouched(LogisticRegression()).fit(X, y).predict(X).sum())
    3
    """

    def __init__(self, estimator: Any, *, cv: Any = None) -> None:
        self.estimator = estimator
        self.cv = cv

    def fit(self, X: Any, y: Any) -> "Untouched":
        """Fit the classifier, unless it is fitted.

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
        self._keep(fit_or_keep(self.estimator, X, y, self.cv))
        return self
