"""Other methods against class imbalance beside ours, on the same rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from boundshift.boundary import make_decision
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.scores import ScoreSample
from boundshift.typing import BoolArray, FloatArray, IntArray
from boundshift.view.axis import is_probability
from boundshift.view.rows import metrics_at

METRICS = (
    "g_mean",
    "f1",
    "balanced_accuracy",
    "mcc",
    "accuracy",
    "recall_negative",
    "recall_positive",
)
"""Columns of a comparison."""

_OURS: dict[str, tuple[str | None, str | None]] = {
    "boundshift": (None, None),
    "boundshift, minimax": (None, "minimax"),
    "boundshift, smoothed": ("smoothed", None),
    "boundshift, paper": ("paper", None),
}


@dataclass(frozen=True)
class ScoreCounts:
    """Distinct scores in ascending order, with the number of rows of each class.

    Cut k = 0 … n lies below score number k, and cut n above every score.
    """

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

    def false_positives(self) -> IntArray:
        """Negative rows above each cut."""
        return np.append(np.cumsum(self.negatives[::-1])[::-1], 0)

    def false_negatives(self) -> IntArray:
        """Positive rows below each cut."""
        return np.append(0, np.cumsum(self.positives))

    def costs(self, cost_fp: float | None, cost_fn: float | None) -> tuple[float, float]:
        """Return both costs; None is the size of the other class, which balances the classes."""
        return (
            float(self.positives.sum()) if cost_fp is None else cost_fp,
            float(self.negatives.sum()) if cost_fn is None else cost_fn,
        )

    def middle_of(self, cut: int) -> float:
        """Return the middle of the gap at a cut; infinite outside the scores."""
        if cut == 0:
            return -np.inf
        if cut == len(self.values):
            return np.inf
        low, high = self.values[cut - 1], self.values[cut]
        middle = low + (high - low) / 2
        return float(middle if middle < high else low)


def tuned_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: Literal["balanced_accuracy", "g_mean"] = "balanced_accuracy",
) -> float:
    """Return the threshold with the best metric on these scores; of several the lowest.

    It tries every cut, where scikit-learn's tuner tries a grid of 100.

    Examples
    --------
    >>> round(tuned_threshold([0, 0, 0, 1], [0.05, 0.1, 0.2, 0.4]), 9)
    0.3
    """
    counts = ScoreCounts.of(y_true, y_score)
    recall_negative = 1 - counts.false_positives() / counts.negatives.sum()
    recall_positive = 1 - counts.false_negatives() / counts.positives.sum()
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
    r"""Return the threshold of Bayes minimum risk on calibrated scores.

    Each edge of the ROC curve's convex hull calibrates its scores to the share p of positive rows.
    Positive is predicted iff :math:`(1-p) c_{FP} < p\, c_{FN}`. The threshold is infinite if one
    class is never worth predicting.

    References
    ----------
    A. Correa Bahnsen, A. Stojanovic, D. Aouada, B. Ottersten, "Improving credit card fraud
    detection with calibrated probabilities", SIAM International Conference on Data Mining, 2014.

    Examples
    --------
    >>> round(bayes_risk_threshold([0, 0, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]), 9)
    0.4
    """
    counts = ScoreCounts.of(y_true, y_score)
    c_fp, c_fn = counts.costs(cost_fp, cost_fn)
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


def retrained_decisions(
    classifier: Any, X: Any, y: IntArray, X_test: Any, seed: int
) -> dict[str, BoolArray]:
    """Return the decisions of methods that train anew; SMOTE if imbalanced-learn is installed."""
    models = {}
    if find_spec("imblearn") is not None:
        models["SMOTE, retrained"] = fit_smote(classifier, X, y, seed)
    models["class weights, retrained"] = fit_balanced(classifier, X, y)
    return {name: np.asarray(model.predict(X_test) == 1) for name, model in models.items()}


def baseline_thresholds(sample: ScoreSample, own: float, *, prior: bool) -> dict[str, float]:
    """Return where each other method that only moves the threshold puts it.

    `own` is the model's own threshold. With `prior`, scores are probabilities, whose prior
    threshold is the share of positive rows. Infinite: a method never predicts one of the classes.
    """
    rows = np.repeat([False, True], sample.n_samples), sample.to_rows()[1]
    found = {
        "untouched": own,
        "tuned threshold, balanced accuracy": tuned_threshold(*rows),
        "tuned threshold, G-mean": tuned_threshold(*rows, metric="g_mean"),
        "Bayes minimum risk": bayes_risk_threshold(*rows),
    }
    share = sample.n_samples[1] / sum(sample.n_samples)
    return found | ({"prior threshold": share} if prior else {})


def comparison_row(
    method: str, metrics: Mapping[str, float], threshold: float = np.nan
) -> dict[str, Any]:
    """Return one row of a comparison."""
    return {"method": method} | {n: metrics[n] for n in METRICS} | {"threshold": threshold}


def judge_thresholds(sample: ScoreSample, thresholds: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return a row of a comparison for each threshold, on a test sample."""
    return [comparison_row(name, metrics_at(sample, t), t) for name, t in thresholds.items()]


def compare_scores(
    sample: ScoreSample,
    *,
    folds: int = 5,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Compare methods on scores of any model by cross-validation of the threshold.

    The model's own threshold is 0.5 if all scores lie from 0 to 1, and 0 otherwise. A class with
    fewer rows than `folds` has as many folds as rows.

    Returns
    -------
    list of dict
        One row per method with the metrics over all rows, and the threshold on all rows; the best
        G-mean first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([False, True], [500, 50])
    >>> rows = compare_scores(ScoreSample.from_labels(y, rng.normal(2 * y - 2)))
    >>> [row["method"] for row in rows][-1]
    'untouched'
    """
    parts = min(folds, *sample.n_samples)
    if parts < 2:
        raise InvalidInputError(
            "A comparison needs at least two rows of each class, to decide on and to judge by; got "
            f"{sample.n_samples[0]} and {sample.n_samples[1]}."
        )
    is_positive, scores = np.repeat([False, True], sample.n_samples), sample.to_rows()[1]
    prior = is_probability(sample)

    def thresholds(rows: ScoreSample) -> dict[str, float]:
        ours = {name: make_decision(*how, "auto")(rows).threshold for name, how in _OURS.items()}
        return ours | baseline_thresholds(rows, 0.5 if prior else 0.0, prior=prior)

    predicted: dict[str, BoolArray] = {}
    splitter = StratifiedKFold(parts, shuffle=True, random_state=seed)
    for number, (decide, test) in enumerate(splitter.split(scores, is_positive), start=1):
        deciding = ScoreSample.from_labels(is_positive[decide], scores[decide])
        for name, t in thresholds(deciding).items():
            predicted.setdefault(name, np.zeros(len(scores), dtype=bool))[test] = scores[test] > t
        if progress is not None:
            progress("compare", number, parts)
    rows = [
        comparison_row(name, binary_metrics(is_positive, predicted[name], pos_label=True), t)
        for name, t in thresholds(sample).items()
    ]
    return sorted(rows, key=lambda row: -row["g_mean"])
