"""Other methods against class imbalance beside ours, on the same rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import has_fit_parameter

from boundshift._boundary import decide
from boundshift._scores import ScoreSample
from boundshift._typing import BoolArray, IntArray
from boundshift._view import is_probability, metrics_at
from boundshift._words import METRICS_COMPARED
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics

_OURS: dict[str, tuple[str | None, str | None]] = {
    "boundshift": (None, None),
    "boundshift, minimax": (None, "minimax"),
    "boundshift, smoothed": ("smoothed", None),
    "boundshift, paper": ("paper", None),
}


def tuned_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    metric: Literal["balanced_accuracy", "g_mean"] = "balanced_accuracy",
) -> float:
    """Return the threshold with the best metric on these scores; of several the lowest.

    The last label in sorted order is positive. Every cut is tried, where scikit-learn's tuner
    tries a grid of 100. It is in the middle of a gap, or infinite outside the scores.

    Examples
    --------
    >>> round(tuned_threshold([0, 0, 0, 1], [0.05, 0.1, 0.2, 0.4]), 9)
    0.3
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
        ours = {name: decide(rows, *how, "auto").threshold for name, how in _OURS.items()}
        return ours | baseline_thresholds(rows, 0.5 if prior else 0.0, prior=prior)

    predicted: dict[str, BoolArray] = {}
    splitter = StratifiedKFold(parts, shuffle=True, random_state=seed)
    for number, (train, test) in enumerate(splitter.split(scores, is_positive), start=1):
        deciding = ScoreSample.from_labels(is_positive[train], scores[train])
        for name, t in thresholds(deciding).items():
            predicted.setdefault(name, np.zeros(len(scores), dtype=bool))[test] = scores[test] > t
        if progress is not None:
            progress("compare", number, parts)
    rows = [
        comparison_row(name, binary_metrics(is_positive, predicted[name], pos_label=True), t)
        for name, t in thresholds(sample).items()
    ]
    return sorted(rows, key=lambda row: -row["g_mean"])


def comparison_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a comparison as CSV, NaN as an empty cell."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: "" if v != v else v for k, v in row.items()} for row in rows)
    return text.getvalue()
