"""Other methods against class imbalance beside ours, on the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from boundshift._scores import ScoreSample
from boundshift._typing import BoolArray, IntArray
from boundshift._view import metrics_at
from boundshift._words import METRICS_COMPARED
from boundshift.exceptions import InvalidInputError


def tuned_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: Literal["balanced_accuracy", "g_mean"] = "balanced_accuracy",
) -> float:
    """Return the threshold with the best metric on these scores; of several the lowest.

    The last label in sorted order is positive. Every cut is tried, where scikit-learn's tuner
    tries a grid of 100. It is in the middle of a gap, or infinite outside the scores.
    """
    labels = np.asarray(y_true)
    is_positive = labels == np.unique(labels)[-1]
    values, codes = np.unique(np.asarray(y_score, dtype=np.float64), return_inverse=True)
    below = [
        np.append(0, np.cumsum(np.bincount(codes[of_class], minlength=len(values))))
        for of_class in (~is_positive, is_positive)
    ]
    recall_negative, recall_positive = below[0] / below[0][-1], 1 - below[1] / below[1][-1]
    quality = (
        recall_negative + recall_positive
        if metric == "balanced_accuracy"
        else recall_negative * recall_positive
    )
    # Equal in exact arithmetic may differ in the last digit, and the lowest is to win.
    cut = int(np.flatnonzero(quality >= quality.max() - 1e-12)[0])
    if cut in (0, len(values)):
        return np.inf if cut else -np.inf
    low, high = values[cut - 1], values[cut]
    middle = low + (high - low) / 2
    return float(middle if middle < high else low)


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
    }
    share = sample.n_samples[1] / sum(sample.n_samples)
    return found | ({"prior threshold": share} if prior else {})


def comparison_row(
    method: str, metrics: Mapping[str, float], threshold: float = np.nan
) -> dict[str, Any]:
    """Return one row of a comparison."""
    return {"method": method} | {n: metrics[n] for n in METRICS_COMPARED} | {"threshold": threshold}


def judge_thresholds(sample: ScoreSample, thresholds: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return a row of a comparison for each threshold, on a test sample."""
    return [comparison_row(name, metrics_at(sample, t), t) for name, t in thresholds.items()]
