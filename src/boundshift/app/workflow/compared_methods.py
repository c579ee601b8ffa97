"""Rivals beside ours, on the same scores and the same test rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import find_boundary
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.metrics import binary_metrics
from boundshift.rivals import (
    BalancedWeights,
    SMOTEClassifier,
    bayes_risk_threshold,
    cost_threshold,
    tuned_threshold,
)

__all__ = ["METRICS", "compare_scores", "judge", "retrained", "thresholds"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

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

_OURS: dict[str, dict[str, Any]] = {
    "boundshift": {},
    "boundshift, minimax": {"rule": "minimax"},
    "boundshift, smoothed": {"bound": "smoothed"},
    "boundshift, paper": {"preset": "paper"},
}


def thresholds(
    is_positive: BoolArray,
    scores: FloatArray,
    *,
    own: float = 0.0,
    log_odds: bool = False,
    ours: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, float]:
    """Return where each method that only moves the threshold would put it.

    Parameters
    ----------
    is_positive : array of bool
        Classes of the rows that decide.
    scores : array of float
        Their scores.
    own : float, default=0
        The model's own threshold.
    log_odds : bool, default=False
        Whether scores are log-odds, of which the prior threshold is known.
    ours : mapping from name to options, default=None
        Settings of :func:`~boundshift.find_boundary`; None takes the default and a few others.

    Returns
    -------
    dict from method to threshold
        Infinite where a method would never, or always, predict a class.

    Examples
    --------
    >>> y, s = np.repeat([False, True], [90, 10]), np.r_[np.linspace(-3, 0, 90), np.full(10, 1.0)]
    >>> list(thresholds(y, s))[:3]
    ['untouched', 'boundshift', 'boundshift, minimax']
    """
    found = {"untouched": own}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        for name, options in (_OURS if ours is None else ours).items():
            found[name] = find_boundary(is_positive, scores, **options).threshold
    found["tuned threshold, balanced accuracy"] = tuned_threshold(is_positive, scores)
    found["tuned threshold, G-mean"] = tuned_threshold(is_positive, scores, metric="g_mean")
    if log_odds:
        found["prior threshold"] = float(np.log(is_positive.mean() / (1 - is_positive.mean())))
    found["Bayes minimum risk"] = bayes_risk_threshold(is_positive, scores)
    found["cost thresholding"] = cost_threshold(is_positive, scores, placement="midpoint")
    return found


def judge(
    method: str, is_positive: BoolArray, predicted: BoolArray, threshold: float = np.nan
) -> dict[str, Any]:
    """Return one row of a table: the method, every metric, and the threshold if it has one."""
    metrics = binary_metrics(is_positive, predicted, pos_label=True)
    return {"method": method} | {n: metrics[n] for n in METRICS} | {"threshold": threshold}


def retrained(
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
    is_positive: BoolArray,
    scores: FloatArray,
    *,
    own: float | None = None,
    folds: int = 5,
    seed: int = 0,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Compare methods on scores of any model: each row is judged by a boundary found without it.

    Parameters
    ----------
    is_positive : array of bool
        Classes of the rows.
    scores : array of float
        Their scores, by a model that has not seen them.
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
    >>> rows = compare_scores(y, rng.normal(2 * y - 2))
    >>> [row["method"] for row in rows][-1]
    'untouched'
    """
    from sklearn.model_selection import StratifiedKFold

    parts = min(folds, int(is_positive.sum()), int((~is_positive).sum()))
    if parts < 2:
        raise InvalidInputError(
            "A comparison needs at least two rows of each class, to decide on and to judge by; got "
            f"{int((~is_positive).sum())} and {int(is_positive.sum())}."
        )
    probabilities = bool(scores.min() >= 0 and scores.max() <= 1)
    cut = (0.5 if probabilities else 0.0) if own is None else own
    predicted: dict[str, BoolArray] = {}
    splitter = StratifiedKFold(parts, shuffle=True, random_state=seed)
    for number, (decide, test) in enumerate(splitter.split(scores, is_positive), start=1):
        for name, t in _all(is_positive[decide], scores[decide], cut, probabilities).items():
            predicted.setdefault(name, np.zeros(len(scores), dtype=bool))[test] = scores[test] > t
        if progress is not None:
            progress("compare", number, parts)
    final = _all(is_positive, scores, cut, probabilities)
    rows = [judge(name, is_positive, p, final[name]) for name, p in predicted.items()]
    return sorted(rows, key=lambda row: -row["g_mean"])


def _all(
    is_positive: BoolArray, scores: FloatArray, own: float, probabilities: bool
) -> dict[str, float]:
    """Return every threshold; the prior threshold is one of probabilities."""
    found = thresholds(is_positive, scores, own=own)
    return found | ({"prior threshold": float(is_positive.mean())} if probabilities else {})
