"""SMOTE: train on synthetic minority rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from boundshift.exceptions import MissingExtraError
from boundshift.rivals.delegate import DelegatingClassifier

__all__ = ["SMOTEClassifier"]


class SMOTEClassifier(DelegatingClassifier):
    """Train on data in which every class is filled up with interpolated rows.

    Needs the extra ``rivals``.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier.
    k_neighbors : int, default=5
        Neighbours to interpolate with. A class of n rows has n − 1 neighbours at most, so fewer
        are used if the smallest class needs it; a class of one row is repeated.
    random_state : int, RandomState or None, default=None
        Source of randomness of the interpolation.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted to the filled-up data.
    classes_ : ndarray of shape (n_classes,)
        Labels.

    References
    ----------
    N. Chawla, K. Bowyer, L. Hall, W. Kegelmeyer, "SMOTE: synthetic minority over-sampling
    technique", Journal of Artificial Intelligence Research 16, 2002.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from boundshift.datasets import make_gaussians
    >>> from boundshift.rivals import SMOTEClassifier
    >>> smote = SMOTEClassifier(LogisticRegression(), random_state=0)
    >>> X, y = make_gaussians(random_state=0)
    >>> bool(smote.fit(X, y).predict(X).sum() > 10)
    True
    """

    def __init__(
        self,
        estimator: Any,
        *,
        k_neighbors: int = 5,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.k_neighbors = k_neighbors
        self.random_state = random_state

    def _train(self, X: Any, y: NDArray[Any]) -> Any:
        sizes = np.unique(y, return_counts=True)[1]
        if len(sizes) > 1 and sizes.min() < sizes.max():
            X, y = self._sampler(int(sizes.min())).fit_resample(X, y)
        return clone(self.estimator).fit(X, y)

    def _sampler(self, n_smallest: int) -> Any:
        """Oversampler that the smallest class can bear."""
        try:
            from imblearn.over_sampling import SMOTE, RandomOverSampler
        except ImportError as error:
            raise MissingExtraError("imbalanced-learn", "rivals") from error
        if n_smallest == 1:
            return RandomOverSampler(random_state=self.random_state)
        neighbours = min(self.k_neighbors, n_smallest - 1)
        return SMOTE(k_neighbors=neighbours, random_state=self.random_state)
