"""Metrics for imbalanced classes, of predictions and at every threshold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from boundshift._guarantees.reading import read_threshold
from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample
from boundshift._search import gap_edges
from boundshift._typing import FloatArray
from boundshift._validation import (
    as_labels,
    as_real_column,
    check_finite,
    check_labels,
    name_remedy,
)
from boundshift._words import METRIC_TITLES
from boundshift.exceptions import InvalidInputError
from boundshift.rules import MCC, Cost, FBeta, GMean, Kappa, Rule, Sum
from boundshift.rules._binary import as_prevalence, frequencies
from boundshift.rules._floors import reached_rates

__all__ = ["METRICS", "binary_metrics", "geometric_mean_score", "metrics_at"]

METRICS = tuple(name for name in METRIC_TITLES if not name.startswith("recall_"))
"""Names of the metrics of :func:`metrics_at`."""
_RULES: dict[str, Rule] = {
    **{f"f{beta:g}": FBeta(beta) for beta in (0.5, 1.0, 2.0)},
    "mcc": MCC(),
    "kappa": Kappa(),
    "g_mean": GMean(),
    "balanced_accuracy": Sum(),
}


def binary_metrics(
    y_true: ArrayLike, y_pred: ArrayLike, *, pos_label: object = 1
) -> dict[str, float]:
    """Return seven metrics of binary predictions.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels. Both classes must occur in `y_true`.
    pos_label : label, default=1
        The positive class; any other label is negative.

    Returns
    -------
    dict of str to float
        ``accuracy``, ``g_mean``, ``f1``, ``balanced_accuracy``, ``mcc``, ``recall_negative`` and
        ``recall_positive``. The G-mean is the root of the product of both recalls; F1 and the
        Matthews coefficient are 0 where they are not defined.

    Examples
    --------
    >>> from boundshift.metrics import binary_metrics
    >>> scores = binary_metrics([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 0])
    >>> scores["recall_negative"], scores["recall_positive"], scores["f1"]
    (0.75, 0.5, 0.5)
    """
    truth, predicted = _labels(y_true, y_pred)
    is_positive = truth == pos_label
    is_called = predicted == pos_label
    n = int(np.sum(~is_positive)), int(np.sum(is_positive))
    if not all(n):
        raise InvalidInputError(
            f"must hold both classes, got {n[0]} negative and {n[1]} positive rows. "
            "Stratify the split.",
            argument="y_true",
        )
    false_alarms = int(np.sum(is_called & ~is_positive))
    hits = int(np.sum(is_called & is_positive))
    metrics = metrics_of_errors(false_alarms / n[0], (n[1] - hits) / n[1], n)
    names = ("accuracy", "g_mean", "f1", "balanced_accuracy", "mcc")
    return {name: float(metrics[name]) for name in names} | {
        "f1": 2 * hits / (hits + false_alarms + n[1]),
        "recall_negative": float(metrics["specificity"]),
        "recall_positive": float(metrics["recall"]),
    }


def geometric_mean_score(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Geometric mean of the recalls of all classes in `y_true` (Kubat and Matwin, ICML 1997).

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        True and predicted labels, of two or more classes.

    Returns
    -------
    float
        Between 0, if the recall of a class is 0, and 1.

    Examples
    --------
    >>> from boundshift.metrics import geometric_mean_score
    >>> geometric_mean_score(["a", "a", "b", "b"], ["a", "a", "b", "a"])
    0.7071067811865476
    """
    truth, predicted = _labels(y_true, y_pred)
    classes, codes, sizes = np.unique(truth, return_inverse=True, return_counts=True)
    hits = np.bincount(codes, weights=truth == predicted, minlength=len(classes))
    return float(np.prod(hits / sizes) ** (1 / len(classes)))


def _labels(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.generic], ...]:
    truth = as_labels(y_true)
    predicted = as_labels(y_pred, "y_pred")
    check_labels(truth)
    check_labels(predicted, "y_pred")
    if truth.shape != predicted.shape or len(truth) == 0:
        raise InvalidInputError(
            "and `y_pred` must be one-dimensional, of the same length and not empty, got "
            f"the shapes {truth.shape} and {predicted.shape}.",
            argument="y_true",
        )
    return truth, predicted


@name_remedy
def metrics_at(
    y_true: ArrayLike,
    y_score: ArrayLike,
    thresholds: ArrayLike | Boundary | None = None,
    *,
    prevalence: float | None = None,
    costs: Cost | None = None,
    pos_label: object = None,
) -> dict[str, FloatArray]:
    r"""Return every metric at each threshold, as columns of a tidy table.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Labels and scores, as in :func:`~boundshift.find_boundary`.
    thresholds : float, array-like or Boundary, default=None
        One threshold, several, or that of a boundary, which then also says which class is
        positive. None: the midpoint of every gap between two scores, and one beyond each end.
    prevalence : float, default=None
        Share of the positive class where decisions will be made; None takes the sample's.
    costs : Cost, default=None
        For ``cost`` and ``net_benefit``. None: each error costs 1, and the net benefit takes each
        threshold as the probability at which the user would act, NaN for other scores.
    pos_label : label, default=None
        The positive class; words need it.

    Returns
    -------
    dict of str to array
        One entry per threshold: ``threshold``, ``recall``, ``specificity``, ``precision``,
        ``npv``, ``flagged``, ``f0.5``, ``f1``, ``f2``, ``mcc``, ``kappa``, ``youden``,
        ``markedness``, ``g_mean``, ``balanced_accuracy``, ``accuracy``, ``cost``,
        ``net_benefit`` and ``standardised_net_benefit``. A frame is
        ``pandas.DataFrame(metrics_at(y, s))``.

    Notes
    -----
    With the prevalence :math:`\pi`, recall r, false positive rate f, and the costs :math:`c_-` and
    :math:`c_+` of a false positive and a false negative, the cost of a decision is
    :math:`\pi (1 - r)\, c_+ + (1 - \pi) f\, c_-`. The net benefit is
    :math:`\pi r - (1 - \pi) f\, c_-/c_+`, with :math:`c_-/c_+ = p/(1 - p)` for a user who acts at
    probability p; the standardised one is divided by :math:`\pi`. The precision is 1 where
    nothing is flagged, the npv where everything is. MCC, kappa, markedness: 0 where undefined.

    References
    ----------
    A. J. Vickers, E. B. Elkin, "Decision curve analysis: a novel method for evaluating prediction
    models", Medical Decision Making 26(6), 2006.

    Examples
    --------
    >>> from boundshift import Cost, find_boundary, metrics_at
    >>> y, s = [0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.5, 0.9]
    >>> table = metrics_at(y, s, [0.3, 0.7])
    >>> table["recall"].tolist(), table["precision"].round(2).tolist()
    ([1.0, 0.5], [0.67, 1.0])
    >>> costs = Cost(false_negative=20, prevalence=0.01)
    >>> metrics_at(y, s, 0.3, costs=costs)["cost"].round(2).tolist()
    [0.33]
    >>> boundary = find_boundary(y, s, curve="empirical")
    >>> metrics_at(y, s, boundary)["balanced_accuracy"].round(2).tolist()
    [0.83]
    """
    if isinstance(thresholds, Boundary):
        _, pos_label = read_threshold(thresholds, pos_label, y_true)
    sample = ScoreSample.from_labels(y_true, y_score, pos_label, symmetric=False)
    at = read_thresholds(sample, thresholds)
    return metrics_of_sample(sample, at, prevalence, costs)


def read_thresholds(sample: ScoreSample, thresholds: ArrayLike | Boundary | None) -> FloatArray:
    """Return thresholds as an array: if none are given, one in every gap between two scores."""
    if thresholds is None:
        edges = gap_edges(sample)
        return np.asarray(edges[:-1] + np.diff(edges) / 2)
    if isinstance(thresholds, Boundary):
        thresholds._check_sample_scale(sample)
        thresholds = thresholds.threshold
    at = as_real_column("thresholds", np.atleast_1d(thresholds), "Leave it out for every cut.")
    check_finite(at, "thresholds")
    return at


def metrics_of_sample(
    sample: ScoreSample, at: FloatArray, prevalence: float | None, costs: Cost | None
) -> dict[str, FloatArray]:
    """Return the thresholds and every metric at each; arguments as in `metrics_at`."""
    costs, share = settle_costs(costs, as_prevalence(prevalence))
    odds = None
    if sample.are_probabilities():
        inside = (at >= 0.0) & (at < 1.0)
        odds = np.divide(at, 1.0 - at, out=np.full_like(at, np.nan), where=inside)
    above, below = sample.count_wrong(at)
    negative, positive = sample.n_samples
    metrics = metrics_of_errors(
        above / negative,
        below / positive,
        sample.n_samples,
        prevalence=share,
        costs=costs,
        odds=odds,
    )
    return {"threshold": at, **metrics}


def metrics_of_errors(
    negative: ArrayLike,
    positive: ArrayLike,
    n_samples: tuple[float, float],
    *,
    prevalence: float | None = None,
    costs: Cost | None = None,
    odds: FloatArray | None = None,
) -> dict[str, FloatArray]:
    """Return every metric of both classes' error rates."""
    low = np.asarray(negative, dtype=float)
    high = np.asarray(positive, dtype=float)
    weights = frequencies(prevalence, n_samples)
    share = weights[1] / (weights[0] + weights[1])
    rates = reached_rates(low, high, weights)
    alarm: Any = np.nan if odds is None else odds
    if costs is not None:
        alarm = costs.false_positive / costs.false_negative
    benefit = share * rates["recall"] - (1.0 - share) * low * alarm
    return {
        **rates,
        **{name: rule.measure(low, high, share) for name, rule in _RULES.items()},
        "youden": 1.0 - low - high,
        # Undefined where all rows or none are flagged.
        "markedness": np.where(
            np.abs(low - high) < 1.0, rates["precision"] + rates["npv"] - 1.0, 0.0
        ),
        "accuracy": share * rates["recall"] + (1.0 - share) * rates["specificity"],
        "cost": (costs or Cost()).value(low, high, weights),
        "net_benefit": benefit,
        "standardised_net_benefit": benefit / share,
    }


def settle_costs(costs: Cost | None, prevalence: float | None) -> tuple[Cost | None, float | None]:
    """Return costs without a prevalence, and the prevalence from either argument."""
    if costs is None:
        return None, prevalence
    shares = {prevalence, getattr(costs, "prevalence", None)} - {None}
    if not isinstance(costs, Cost) or len(shares) > 1:
        raise InvalidInputError(
            f"must be a Cost with no other prevalence than {prevalence!r}, got {costs!r}. "
            "Use Cost(false_positive=1, false_negative=20), for example.",
            argument="costs",
        )
    return replace(costs, prevalence=None), next(iter(shares), None)
