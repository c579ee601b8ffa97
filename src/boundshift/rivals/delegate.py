"""A classifier that hands every question to the fitted one inside it."""

from abc import abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import assert_all_finite, column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted

__all__ = ["DelegatingClassifier", "check_labels"]


def _can(method: str) -> Any:
    """Condition for ``available_if``: the wrapped classifier has the method."""

    def check(wrapper: Any) -> bool:
        inner = getattr(wrapper, "estimator_", wrapper.estimator)
        getattr(inner, method)  # an AttributeError from here names the method
        return True

    return check


class DelegatingClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of the rivals that change the training, not the decision."""

    estimator: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier in the rival's way.

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
        self.estimator_ = self._train(X, check_labels(X, y))
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    @abstractmethod
    def _train(self, X: Any, y: NDArray[Any]) -> Any:
        """Return the fitted classifier."""

    def predict(self, X: Any) -> Any:
        """Predict labels of the rows of `X`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @available_if(_can("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the classes, if the wrapped classifier has them."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_can("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Decision function of the wrapped classifier, if it has one."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


def check_labels(X: Any, y: ArrayLike | None) -> NDArray[Any]:
    """Return labels as a one-dimensional array, one for every row of `X`."""
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None.")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    check_consistent_length(X, labels)
    return labels
