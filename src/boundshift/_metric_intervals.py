"""Two-sided intervals of the metrics of a decision: rates, F1, kappa, MCC and others."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm, t

from boundshift._guarantees.powered import clopper_pearson_interval
from boundshift._guarantees.reading import find_origin, read_scores, read_threshold
from boundshift._result.boundary import Boundary
from boundshift._scores import ScoreSample, describe_copies
from boundshift._typing import BoolArray, FloatArray
from boundshift._validation import as_clusters, as_generator, as_rows, as_share
from boundshift.exceptions import BoundaryWarning, InvalidInputError
from boundshift.metrics import metrics_of_errors

METRICS = (
    "recall", "specificity", "precision", "npv", "flagged", "accuracy", "balanced_accuracy",
    "g_mean", "f1", "f0.5", "f2", "mcc", "kappa", "youden", "markedness",
)  # fmt: skip
"""Metrics of :func:`metric_intervals`, in the order of its columns."""

# Jeffreys' prior counts half a row in each cell of the confusion matrix.
_PRIOR = 0.5
# Quantiles from so many draws have a Monte Carlo error of about 1% of the interval's width.
_DRAWS = 10_000
# Cells of a confusion matrix: true negatives, false positives, false negatives, true positives.
_CELLS = 4


def metric_intervals(
    y_true: ArrayLike,
    y_score: ArrayLike,
    threshold: float | Boundary,
    confidence: float = 0.95,
    *,
    pos_label: object = None,
    cluster: ArrayLike | None = None,
    random_state: int | np.random.Generator | None = 0,
) -> dict[str, NDArray[np.generic]]:
    r"""Return two-sided intervals of the metrics at a threshold, as columns of a tidy table.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Labels and scores of a random sample of rows that chose neither the model nor the
        threshold.
    threshold : float or Boundary
        A row is predicted positive if and only if its score is greater.
    confidence : float, default=0.95
        Confidence of each interval by itself.
    pos_label : label, default=None
        The positive class; needed unless the labels are 0 and 1, -1 and 1, or booleans, or the
        threshold is a Boundary.
    cluster : array-like of shape (n_samples,), default=None
        ID of each row's cluster, such as the patient, if rows of a cluster resemble each other.
        The metrics are those of all rows together.
    random_state : int, Generator or None, default=0
        Seed of the intervals that are drawn.

    Returns
    -------
    dict of str to array
        ``metric``, ``value``, ``low``, ``high``, and ``exact``: whether the coverage is at least
        the confidence for any number of rows. A frame is ``pandas.DataFrame(…)`` of it.

    See Also
    --------
    certify : One-sided bounds of the error rates, valid for any number of rows.

    Notes
    -----
    For independent rows, rates have Clopper and Pearson's interval. So has
    :math:`F_1 = 2q/(1 + q)`, because :math:`q`, the proportion of true positives among all rows
    that are positive or predicted so, is a rate. The other metrics have the interval between two
    quantiles of the metric when the cells of the confusion matrix are drawn from a Dirichlet
    distribution with half a row added to each (Jeffreys' prior). For clusters, all metrics have
    that interval, with the weights of whole clusters drawn (Rubin 1981, Annals of Statistics 9)
    and widened by the quantile of Student's t with one degree of freedom less than there are
    clusters.

    *Assumption:* rows, or clusters, are independent and drawn from the population that the metric
    is about. *Guarantee:* exact intervals cover at least at the confidence; the others
    approximately. With fewer than about ten clusters they are too narrow.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import metric_intervals
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.2
    >>> table = metric_intervals(y, rng.normal(2 * y), threshold=1.0)
    >>> row = table["metric"].tolist().index("f1")
    >>> [round(float(table[name][row]), 2) for name in ("value", "low", "high")]
    [0.69, 0.61, 0.75]
    """
    as_share("confidence", confidence)
    number, pos_label = read_threshold(threshold, pos_label, y_true)
    scores = read_scores("y_score", y_score)
    is_positive, scores, _ = as_rows(y_true, scores, pos_label, symmetric=False)
    doubt = _find_doubt(threshold, scores, is_positive, is_by_rows=cluster is None)
    if doubt:
        message = f"{doubt}, so the intervals are too narrow. Use other rows."
        warnings.warn(message, BoundaryWarning, stacklevel=2)
    cell = 2 * is_positive.astype(np.intp) + (scores > number)
    counts = np.bincount(cell, minlength=_CELLS).astype(np.float64)
    rng = as_generator(random_state)
    tail = (1.0 - confidence) / 2.0
    value = _metrics_of(counts)
    if cluster is None:
        drawn = rng.standard_gamma(counts + _PRIOR, size=(_DRAWS, _CELLS))
    else:
        drawn = _draw_clusters(cell, as_clusters(cluster, len(scores)), confidence, rng)
    intervals = {
        name: np.quantile(values, [tail, 1.0 - tail]) for name, values in _metrics_of(drawn).items()
    }
    exact = np.zeros(len(METRICS), dtype=np.bool_)
    if cluster is None:
        rates = _exact_intervals(counts, confidence)
        intervals |= rates
        exact = np.array([name in rates and not doubt for name in METRICS])
    low, high = np.transpose([intervals[name] for name in METRICS])
    return {
        "metric": np.array(METRICS),
        "value": np.array([float(value[name]) for name in METRICS]),
        "low": low,
        "high": high,
        "exact": exact,
    }


def _find_doubt(
    threshold: float | Boundary, scores: FloatArray, is_positive: BoolArray, *, is_by_rows: bool
) -> str:
    """Return why these rows are no random sample of new rows; nothing if they may be one."""
    origin = find_origin(threshold, scores, is_positive)
    if origin == "training":
        return "The model was trained on some of these rows"
    if origin is not None:
        return "Some of these rows chose the boundary"
    n_copies = ScoreSample.from_rows(is_positive, scores, (0, 1)).n_copies
    return describe_copies(n_copies) if is_by_rows and n_copies > 1 else ""


def _metrics_of(cells: FloatArray) -> dict[str, FloatArray]:
    """Return the metrics of confusion matrices, whose cells are the last axis."""
    right_negative, wrong_negative, wrong_positive, right_positive = np.moveaxis(cells, -1, 0)
    negative = right_negative + wrong_negative
    positive = wrong_positive + right_positive
    metrics = metrics_of_errors(
        wrong_negative / negative, wrong_positive / positive, (negative, positive)
    )
    return {name: np.asarray(metrics[name]) for name in METRICS}


def _draw_clusters(
    cell: NDArray[np.intp],
    cluster: NDArray[np.intp],
    confidence: float,
    rng: np.random.Generator,
) -> FloatArray:
    """Return confusion matrices in which whole clusters have random weights."""
    n_clusters = int(cluster.max()) + 1
    if n_clusters < 3:
        raise InvalidInputError(
            f"must hold at least 3 clusters for an interval, got {n_clusters}. Collect "
            "rows of more clusters.",
            argument="cluster",
        )
    cells = np.bincount(cluster * _CELLS + cell, minlength=n_clusters * _CELLS)
    cells = cells.reshape(n_clusters, _CELLS)
    upper = (1.0 + confidence) / 2.0
    shrinkage = (float(norm.ppf(upper)) / float(t.ppf(upper, n_clusters - 1))) ** 2
    # The variance of these weights is that of a resampled mean, times the ratio of quantiles.
    shape = max((n_clusters - 1) * shrinkage - 1.0, 0.5) / n_clusters
    weight = rng.standard_gamma(shape, size=(_DRAWS, n_clusters))
    weight *= n_clusters / weight.sum(axis=1, keepdims=True)
    return np.asarray(weight @ cells + rng.standard_gamma(_PRIOR, size=(_DRAWS, _CELLS)))


def _exact_intervals(counts: FloatArray, confidence: float) -> dict[str, FloatArray]:
    """Return Clopper and Pearson's intervals of the metrics that are rates, and that of F1."""
    right_negative, wrong_negative, wrong_positive, right_positive = counts.tolist()
    rows = float(counts.sum())
    flagged = wrong_negative + right_positive
    rates = {
        "recall": (right_positive, right_positive + wrong_positive),
        "specificity": (right_negative, right_negative + wrong_negative),
        "precision": (right_positive, flagged),
        "npv": (right_negative, rows - flagged),
        "flagged": (flagged, rows),
        "accuracy": (right_negative + right_positive, rows),
    }
    intervals = {
        name: np.array(clopper_pearson_interval(*counted, confidence))
        for name, counted in rates.items()
    }
    concerned = flagged + wrong_positive
    share = np.array(clopper_pearson_interval(right_positive, concerned, confidence))
    intervals["f1"] = 2.0 * share / (1.0 + share)
    return intervals
