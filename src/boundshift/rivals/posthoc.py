"""A classifier whose threshold is moved after training."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils import assert_all_finite, column_or_1d, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from boundshift.rivals.delegate import can, keep_input_facts

__all__ = [
    "PosthocClassifier",
    "check_labels",
    "fit_or_keep",
    "is_prefit",
    "learn_threshold",
    "positive_scores",
]


class PosthocClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Base of the binary rivals: predict positive where the score exceeds a threshold."""

    estimator: Any
    cv: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Fit the classifier, unless it is fitted, and find its threshold.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Their labels, of two classes.

        Returns
        -------
        self
        """
        labels = check_labels(X, y)
        _check_two_classes(labels)
        self.estimator_, self.threshold_ = self._learn(X, labels)
        self.classes_ = self.estimator_.classes_
        keep_input_facts(self)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Score minus threshold; positive values are predicted positive."""
        check_is_fitted(self, "threshold_")
        return positive_scores(self.estimator_, X) - self.threshold_

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels of the rows of `X`."""
        above = self.decision_function(X) > 0
        labels: NDArray[Any] = self.classes_[above.astype(np.intp)]
        return labels

    @available_if(can("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Probabilities of the wrapped classifier, which a moved threshold does not change."""
        check_is_fitted(self, "threshold_")
        return self.estimator_.predict_proba(X)

    @abstractmethod
    def _learn(self, X: Any, y: NDArray[Any]) -> tuple[Any, float]:
        """Return the fitted classifier and the threshold to predict positive above."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.classifier_tags.multi_class = False
        return tags


def learn_threshold(
    estimator: Any,
    X: Any,
    y: NDArray[Any],
    *,
    cv: Any,
    rule: Callable[[NDArray[np.bool_], NDArray[np.float64]], float],
) -> tuple[Any, float]:
    """Fit the classifier, unless it is fitted, and apply a rule to its scores.

    The scores are those of the rows given, or out-of-fold ones if `cv` is an int or a splitter.
    """
    fitted = fit_or_keep(estimator, X, y, cv)
    if cv is None or is_prefit(cv):
        scores = positive_scores(fitted, X)
    else:
        scores = _out_of_fold_scores(estimator, X, y, cv)
    return fitted, rule(y == fitted.classes_[1], scores)


def fit_or_keep(estimator: Any, X: Any, y: Any, cv: Any) -> Any:
    """Return the classifier itself if it is prefit, else a fitted clone."""
    if is_prefit(cv):
        check_is_fitted(estimator)
        return estimator
    return clone(estimator).fit(X, y)


def is_prefit(cv: Any) -> bool:
    """Say whether the classifier is to be taken as it was fitted."""
    return isinstance(cv, str) and cv == "prefit"


def positive_scores(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Probability of the positive class, or the decision function of a model without one."""
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X)[:, 1], dtype=np.float64)
    return np.asarray(estimator.decision_function(X), dtype=np.float64)


def _out_of_fold_scores(estimator: Any, X: Any, y: NDArray[Any], cv: Any) -> NDArray[np.float64]:
    """Score each row by a model that has not seen it."""
    method = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    scores = np.asarray(cross_val_predict(estimator, X, y, cv=cv, method=method), dtype=np.float64)
    return scores[:, 1] if method == "predict_proba" else scores


def check_labels(X: Any, y: ArrayLike | None) -> NDArray[Any]:
    """Return labels as a one-dimensional array, one for every row of `X`."""
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None.")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    check_consistent_length(X, labels)
    return labels


def _check_two_classes(labels: NDArray[Any]) -> None:
    """Refuse other than two classes, in scikit-learn's words."""
    if type_of_target(labels) == "multiclass":
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass."
        )
    if len(np.unique(labels)) < 2:
        raise ValueError("This classifier needs two classes, got one class only.")
