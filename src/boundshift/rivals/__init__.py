"""Baselines against class imbalance: two that retrain, two that move the threshold."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, column_or_1d, get_tags
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    has_fit_parameter,
)

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.validation import as_choice, as_positive

__all__ = ["BalancedWeights", "SMOTEClassifier", "bayes_risk_threshold", "tuned_threshold"]


@dataclass(frozen=True)
class ScoreCounts:
    """Distinct scores in ascending order, with the number of rows of each class."""

    values: NDArray[np.float64]
    negatives: NDArray[np.int64]
    positives: NDArray[np.int64]

    @property
    def n_negative(self) -> int:
        """Number of negative rows."""
        return int(self.negatives.sum())

    @property
    def n_positive(self) -> int:
        """Number of positive rows."""
        return int(self.positives.sum())

    def false_positives(self) -> NDArray[np.int64]:
        """Negative rows at or above cut k = 0 … n; cut n lies above every score."""
        return np.concatenate([np.cumsum(self.negatives[::-1])[::-1], [0]])

    def false_negatives(self) -> NDArray[np.int64]:
        """Positive rows below cut k = 0 … n."""
        return np.concatenate([[0], np.cumsum(self.positives)])

    def middle_of(self, cut: int) -> float:
        """Middle of the gap below score number `cut`; infinite outside the scores."""
        if cut == 0:
            return -np.inf
        if cut == len(self.values):
            return np.inf
        low, high = self.values[cut - 1], self.values[cut]
        middle = low + (high - low) / 2
        return float(middle if middle < high else low)


def count_scores(y_true: ArrayLike, y_score: ArrayLike) -> ScoreCounts:
    """Check labels and scores and count them; the last label in sorted order is positive."""
    scores, labels = np.asarray(y_score, dtype=np.float64), np.asarray(y_true)
    if scores.ndim != 1 or labels.shape != scores.shape:
        raise InvalidInputError(
            "`y_true` and `y_score` must be one-dimensional and of the same length, got the "
            f"shapes {labels.shape} and {scores.shape}. Pass the positive class's scores only."
        )
    if not np.isfinite(scores).all():
        raise InvalidInputError(
            f"`y_score` must be finite, got {int((~np.isfinite(scores)).sum())} values that are "
            "not. Drop those rows or clip them."
        )
    classes = np.unique(labels)
    if len(classes) != 2:
        raise InvalidInputError(
            f"`y_true` must hold two classes, got {len(classes)}: {classes.tolist()[:5]}."
        )
    values, codes = np.unique(scores, return_inverse=True)
    sizes = np.bincount(codes, minlength=len(values))
    positives = np.bincount(codes[labels == classes[1]], minlength=len(values))
    return ScoreCounts(values, (sizes - positives).astype(np.int64), positives.astype(np.int64))


def resolve_costs(
    counts: ScoreCounts, cost_fp: float | None, cost_fn: float | None
) -> tuple[float, float]:
    """Fill in the paper's costs, which give both classes the same weight.

    A false positive costs the number of positive rows, a false negative that of negative ones.
    """
    costs = (
        counts.n_positive if cost_fp is None else cost_fp,
        counts.n_negative if cost_fn is None else cost_fn,
    )
    for name, cost in zip(("cost_fp", "cost_fn"), costs, strict=True):
        as_positive(name, cost, "Use None for the size of the other class.")
    return costs


def tuned_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: Literal["balanced_accuracy", "g_mean"] = "balanced_accuracy",
) -> float:
    """Threshold with the best metric on the given scores.

    Looks at every cut, where scikit-learn's tuner looks at a grid of 100, and needs no model: pass
    out-of-fold scores for what the tuner does, held-out ones for a fitted model.

    Parameters
    ----------
    y_true, y_score : array-likes of shape (n_samples,)
        Labels, the last in sorted order positive, and finite scores, higher for that class.
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
    as_choice("metric", metric, ("balanced_accuracy", "g_mean"))
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
    # Each step of isotonic regression is an edge of the ROC curve's convex hull:
    # T. Fawcett, A. Niculescu-Mizil, "PAV and the ROC convex hull", Machine Learning 68, 2007.
    sizes = counts.negatives + counts.positives
    starts = isotonic_regression(counts.positives / sizes, weights=sizes).blocks[:-1]
    negatives, positives = (
        np.add.reduceat(each, starts) for each in (counts.negatives, counts.positives)
    )
    worth = np.flatnonzero(positives * c_fn > negatives * c_fp)
    if len(worth) == 0:
        return np.inf
    # Just below the edge, so that a score on it is predicted positive.
    edge = np.nextafter(counts.values[starts[worth[0]]], -np.inf)
    return -np.inf if worth[0] == 0 else float(edge)


def check_labels(X: Any, y: ArrayLike | None) -> NDArray[Any]:
    """Return labels as a one-dimensional array, one for every row of `X`."""
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None.")
    labels: NDArray[Any] = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    check_consistent_length(X, labels)
    return labels


def _can(method: str) -> Any:
    """Condition for ``available_if``: the wrapped classifier has the method."""

    def check(wrapper: Any) -> bool:
        inner = getattr(wrapper, "estimator_", wrapper.estimator)
        getattr(inner, method)  # an AttributeError from here names the method
        return True

    return check


class _Retrained(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A baseline that changes the training, and hands every question to its classifier."""

    estimator: Any

    def fit(self, X: Any, y: Any) -> Self:
        """Train the classifier in the baseline's way.

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


class SMOTEClassifier(_Retrained):
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
            try:
                from imblearn.over_sampling import SMOTE, RandomOverSampler
            except ImportError as error:
                raise MissingExtraError("imbalanced-learn", "rivals") from error
            smallest = int(sizes.min())
            k = min(self.k_neighbors, smallest - 1)
            sampler = SMOTE(k_neighbors=k) if smallest > 1 else RandomOverSampler()
            X, y = sampler.set_params(random_state=self.random_state).fit_resample(X, y)
        return clone(self.estimator).fit(X, y)


class BalancedWeights(_Retrained):
    """Train with weights in inverse proportion to the class sizes.

    Sets ``class_weight="balanced"`` wherever the classifier, or one inside it (a pipeline's step, a
    grid search's estimator), has that parameter; otherwise passes balanced ``sample_weight`` to
    ``fit``, which `MLPClassifier` and most boosters take.

    Parameters
    ----------
    estimator : classifier
        A classifier with ``class_weight``, or whose ``fit`` takes ``sample_weight``.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, fitted with weights.
    classes_ : ndarray of shape (n_classes,)
        Labels.

    References
    ----------
    G. King, L. Zeng, "Logistic regression in rare events data", Political Analysis 9, 2001.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from boundshift.datasets import make_gaussians
    >>> from boundshift.rivals import BalancedWeights
    >>> X, y = make_gaussians(random_state=0)
    >>> weighted = BalancedWeights(LogisticRegression()).fit(X, y)
    >>> weighted.estimator_.class_weight
    'balanced'
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def _train(self, X: Any, y: NDArray[Any]) -> Any:
        fresh = clone(self.estimator)
        names = [name for name in fresh.get_params() if name.rpartition("__")[2] == "class_weight"]
        if names:
            return fresh.set_params(**dict.fromkeys(names, "balanced")).fit(X, y)
        step, last = fresh.steps[-1] if isinstance(fresh, Pipeline) else ("", fresh)
        if not has_fit_parameter(last, "sample_weight"):
            raise InvalidInputError(
                "`estimator` must have `class_weight` or take `sample_weight` in fit, got "
                f"{type(last).__name__}. Use SMOTEClassifier, or move the threshold."
            )
        argument = f"{step}__sample_weight" if step else "sample_weight"
        return fresh.fit(X, y, **{argument: compute_sample_weight("balanced", y)})
