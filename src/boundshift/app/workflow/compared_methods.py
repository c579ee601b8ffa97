"""Rivals beside ours, on the same scores and the same test rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import make_decision
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.rivals import (
    BalancedWeights,
    SMOTEClassifier,
    bayes_risk_threshold,
    tuned_threshold,
)
from boundshift.scores import ScoreSample
from boundshift.typing import BoolArray, FloatArray
from boundshift.view.axis import is_probability
from boundshift.view.rows import metrics_at

__all__ = [
    "METRICS",
    "compare_scores",
    "judge",
    "judge_thresholds",
    "our_thresholds",
    "retrained_rivals",
    "rival_thresholds",
]


METRICS = (
    "g_mean",
    "f1",
    "balanced_accuracy",
    "mcc",
    "accuracy",
    "recall_negative",
    "recall_positive",
)
"""Columns of the tables."""

_OURS = {
    "boundshift": make_decision(scale="auto"),
    "boundshift, minimax": make_decision(rule="minimax", scale="auto"),
    "boundshift, smoothed": make_decision("smoothed", scale="auto"),
    "boundshift, paper": make_decision("paper", scale="auto"),
}


def our_thresholds(sample: ScoreSample) -> dict[str, float]:
    """Return where a few settings of ours put the threshold.

    Examples
    --------
    >>> sample = ScoreSample.from_labels([0, 0, 0, 1, 1], [0, 1, 2, 5, 6])
    >>> list(our_thresholds(sample))[:2]
    ['boundshift', 'boundshift, minimax']
    """
    return {name: decide(sample).threshold for name, decide in _OURS.items()}


def rival_thresholds(
    sample: ScoreSample, *, own: float = 0.0, log_odds: bool = False
) -> dict[str, float]:
    """Return where each other method that only moves the threshold would put it.

    Parameters
    ----------
    sample : ScoreSample
        Scores of the rows that decide.
    own : float, default=0
        The model's own threshold.
    log_odds : bool, default=False
        Whether scores are log-odds, of which the prior threshold is known.

    Returns
    -------
    dict from method to threshold
        Infinite where a method would never, or always, predict a class.

    Examples
    --------
    >>> sample = ScoreSample.from_labels([0, 0, 0, 1, 1], [0, 1, 2, 5, 6])
    >>> list(rival_thresholds(sample))[:2]
    ['untouched', 'tuned threshold, balanced accuracy']
    """
    is_positive, scores = _class_and_score(sample)
    found = {
        "untouched": own,
        "tuned threshold, balanced accuracy": tuned_threshold(is_positive, scores),
        "tuned threshold, G-mean": tuned_threshold(is_positive, scores, metric="g_mean"),
        "Bayes minimum risk": bayes_risk_threshold(is_positive, scores),
    }
    if log_odds:
        found["prior threshold"] = float(np.log(sample.positive.n / sample.negative.n))
    return found


def _class_and_score(sample: ScoreSample) -> tuple[BoolArray, FloatArray]:
    """Return which rows are positive, and their scores."""
    return np.repeat([False, True], sample.n_samples), sample.to_rows()[1]


def judge(
    method: str, is_positive: BoolArray, predicted: BoolArray, threshold: float = np.nan
) -> dict[str, Any]:
    """Return one row of a table: the method, every metric, and the threshold if it has one."""
    return _row(method, binary_metrics(is_positive, predicted, pos_label=True), threshold)


def judge_thresholds(sample: ScoreSample, thresholds: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return a row of a table for each method that moves the threshold."""
    return [_row(name, metrics_at(sample, t), t) for name, t in thresholds.items()]


def _row(method: str, metrics: Mapping[str, float], threshold: float) -> dict[str, Any]:
    """Return the columns of a table."""
    return {"method": method} | {n: metrics[n] for n in METRICS} | {"threshold": threshold}


def retrained_rivals(
    preparation: Any, classifier: Any, X: Any, y: NDArray[np.int64], X_test: Any, seed: int
) -> Iterator[tuple[str, Callable[[], BoolArray]]]:
    """Yield the rivals that train a model of their own, and what predicts the test rows.

    SMOTE is left out where imbalanced-learn is not installed.
    """
    rivals: dict[str, Callable[[], Any]] = {
        "SMOTE, retrained": lambda: SMOTEClassifier(classifier, random_state=seed),
        "class weights, retrained": lambda: BalancedWeights(classifier),
    }
    if find_spec("imblearn") is None:
        del rivals["SMOTE, retrained"]
    prepared, tests = preparation.transform(X), preparation.transform(X_test)
    for name, make in rivals.items():
        yield name, lambda make=make: make().fit(prepared, y).predict(tests) == 1  # type: ignore[misc]


def compare_scores(
    sample: ScoreSample,
    *,
    own: float | None = None,
    folds: int = 5,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Compare methods on scores of any model: each row is judged by a boundary found without it.

    Parameters
    ----------
    sample : ScoreSample
        Scores of labelled rows, by a model that has not seen them.
    own : float, default=None
        The model's own threshold; None takes 0.5 if all scores lie from 0 to 1, and 0 otherwise.
    folds : int, default=5
        Parts of the rows, fewer if a class has fewer; the boundary of each is found on the others.
    seed : int, default=0
        Of the parts.
    progress : callable, default=None
        Called with ("compare", parts done, parts in all).

    Returns
    -------
    list of dict
        One row a method with the metrics over all rows, and the threshold on all rows; the best
        G-mean first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([False, True], [500, 50])
    >>> rows = compare_scores(ScoreSample.from_labels(y, rng.normal(2 * y - 2)))
    >>> [row["method"] for row in rows][-1]
    'untouched'
    """
    from sklearn.model_selection import StratifiedKFold

    parts = min(folds, *sample.n_samples)
    if parts < 2:
        raise InvalidInputError(
            "A comparison needs at least two rows of each class, to decide on and to judge by; got "
            f"{sample.negative.n} and {sample.positive.n}."
        )
    is_positive, scores = _class_and_score(sample)
    probabilities = is_probability(sample)
    cut = (0.5 if probabilities else 0.0) if own is None else own
    predicted: dict[str, BoolArray] = {}
    splitter = StratifiedKFold(parts, shuffle=True, random_state=seed)
    for number, (decide, test) in enumerate(splitter.split(scores, is_positive), start=1):
        deciding = ScoreSample.from_labels(is_positive[decide], scores[decide])
        for name, t in _all_thresholds(deciding, cut, probabilities).items():
            predicted.setdefault(name, np.zeros(len(scores), dtype=bool))[test] = scores[test] > t
        if progress is not None:
            progress("compare", number, parts)
    final = _all_thresholds(sample, cut, probabilities)
    rows = [judge(name, is_positive, p, final[name]) for name, p in predicted.items()]
    return sorted(rows, key=lambda row: -row["g_mean"])


def _all_thresholds(sample: ScoreSample, own: float, probabilities: bool) -> dict[str, float]:
    """Return every threshold; the prior threshold is one of probabilities."""
    found = our_thresholds(sample) | rival_thresholds(sample, own=own)
    share = sample.positive.n / sum(sample.n_samples)
    return found | ({"prior threshold": share} if probabilities else {})
