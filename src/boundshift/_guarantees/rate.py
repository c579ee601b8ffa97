r"""The rate of the positive class, from a labelled sample and many scores without labels.

The scores predict the labels, and the labelled rows correct the predictions (prediction-powered
inference, Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382; with the power
:math:`\lambda` tuned, Angelopoulos, Duchi and Zrnic 2023). Survey statisticians know it as the
generalised regression estimator (Särndal, Swensson and Wretman 1992).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.special import expit, logit, ndtri
from scipy.stats import beta, chi2, norm, rankdata, t

from boundshift._guarantees.certify import read_scores
from boundshift._typing import BoolArray, FloatArray, IndexArray
from boundshift._validation import as_column, as_real_column, as_rows, as_share
from boundshift.exceptions import BoundaryWarning, InvalidInputError

# With fewer labelled rows of either class a normal approximation is not to be trusted.
_FEW_ROWS = 5
# Strength of the ridge that keeps the slope of the calibration finite if classes are separated.
_RIDGE = 1e-4
# Labelled rows that differ so much from the others are no random sample of the same population.
_LEAST_P_VALUE = 1e-3


class RateMethod(StrEnum):
    """Where the interval of a rate comes from."""

    EXACT = "exact"
    PREDICTION_POWERED = "prediction-powered"
    DESIGN_BASED = "design-based"


@dataclass(frozen=True)
class RateEstimate:
    """The rate of the positive class in a population, with an interval.

    Parameters
    ----------
    rate : float
        Estimated rate of the positive class.
    interval, confidence : pair of float, and float
        Covers the true rate with this confidence. That is exact if `method` is "exact", and an
        approximation for large samples otherwise.
    labels_alone : pair of float
        The interval that the labelled rows support without the scores.
    method : RateMethod
        "exact" is Clopper and Pearson's interval of the labels, used for independent rows with
        fewer than 5 labels of either class; "prediction-powered" uses the scores; "design-based"
        uses the labels alone, for clusters or unequal probabilities.
    power : float
        How much the scores count, from 0 (not at all) to 1.
    effective_rows : float
        Number of independent labels that would support an interval as narrow as this one.
    n_labelled, n_unlabelled : int
        Rows with and without a label.
    p_value : float
        Of the test that labelled and unlabelled rows are from one population.

    Examples
    --------
    See :func:`estimate_rate`.
    """

    rate: float
    interval: tuple[float, float]
    confidence: float
    labels_alone: tuple[float, float]
    method: RateMethod
    power: float
    effective_rows: float
    n_labelled: int
    n_unlabelled: int
    p_value: float

    def __str__(self) -> str:
        low, high = self.interval
        alone_low, alone_high = self.labels_alone
        return (
            f"Rate {self.rate:.4g}, between {low:.4g} and {high:.4g} at {self.confidence:.4g} "
            f"({self.method}). {self.n_labelled:,} labels and {self.n_unlabelled:,} further scores "
            f"are worth {self.effective_rows:,.0f} labels; the labels alone support "
            f"{alone_low:.4g} to {alone_high:.4g}."
        )


def estimate_rate(
    y_true: ArrayLike,
    y_score: ArrayLike,
    unlabelled_score: ArrayLike,
    confidence: float = 0.95,
    *,
    pos_label: object = None,
    probability: ArrayLike | None = None,
    cluster: ArrayLike | None = None,
    unlabelled_cluster: ArrayLike | None = None,
) -> RateEstimate:
    r"""Estimate the rate of the positive class in the population that all rows come from.

    The interval is never wider than that of the labelled rows alone, and narrower if the scores
    predict the labels. If the new rows come from another population, with another frequency of the
    classes, use :func:`estimate_prevalence` instead.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_labelled,)
        Labels and scores of a random sample of the population. The scorer must not have been
        trained on these labels.
    unlabelled_score : array-like of shape (n_unlabelled,)
        Scores of other rows of the same population, by the same scorer. With `probability`, the
        scores of all rows that could have been drawn, labelled ones included.
    confidence : float, default=0.95
        Confidence of the interval.
    pos_label : label, default=None
        The positive class; needed unless the labels are 0 and 1, -1 and 1, or booleans.
    probability : array-like of shape (n_labelled,), default=None
        Probability with which each labelled row was drawn for labelling, up to a common factor,
        such as one that grows with the score. None means that all rows had the same probability.
    cluster, unlabelled_cluster : array-like, default=None
        ID of each labelled and of each unlabelled row's cluster, such as the conversation, if rows
        of a cluster resemble each other. Pass both or neither.

    Returns
    -------
    RateEstimate

    Warns
    -----
    BoundaryWarning
        If the scores of the labelled rows contradict the assumption of one population.

    Notes
    -----
    A logistic regression on the normal score of each rank predicts the label,
    :math:`g(s)`. So only the order of the scores counts. With weights :math:`w_i` that add up to 1,

    .. math:: \hat\theta = \lambda \, \frac1N \sum_j g(s_j)
              + \sum_i w_i \, \bigl(y_i - \lambda \, g(s_i)\bigr)

    is consistent for every :math:`\lambda`, whether the regression is right or wrong; the
    :math:`\lambda` in [0, 1] with the least estimated variance V is used. The interval is that of
    Clopper and Pearson for :math:`n^* = \hat\theta (1 - \hat\theta) / V` rows (Korn and Graubard
    1998, Survey Methodology 24), with :math:`z^2/2` added to the sum of squared residuals, so that
    a scorer which happens to make no mistake in the sample is not taken for infallible. Clusters
    enter V by their sums, and its degrees of freedom are the labelled clusters minus one.

    *Assumption:* labelled rows were drawn at random, or with the given probabilities.
    *Guarantee:* coverage tends to the confidence as the number of labels of both classes grows.

    Examples
    --------
    200 human labels for a judge whose scores are known for 4,000 answers:

    >>> import numpy as np
    >>> from boundshift import estimate_rate
    >>> rng = np.random.default_rng(0)
    >>> passes = rng.random(4000) < 0.15
    >>> scores = rng.normal(2.5 * passes)
    >>> estimate = estimate_rate(passes[:200], scores[:200], scores[200:])
    >>> [round(end, 3) for end in estimate.interval]
    [0.121, 0.189]
    >>> [round(end, 3) for end in estimate.labels_alone]
    [0.104, 0.207]
    """
    as_share("confidence", confidence)
    scores = read_scores("y_score", y_score)
    unlabelled = read_scores("unlabelled_score", unlabelled_score)
    is_positive, scores, _ = as_rows(
        y_true, scores, pos_label, symmetric=False, one_class=pos_label is not None
    )
    weight = _read_weights(probability, len(scores))
    labelled_cluster, other_cluster = _read_clusters(
        cluster, unlabelled_cluster, len(scores), len(unlabelled)
    )
    are_independent = cluster is None and probability is None
    ranks = _normal_scores(scores, unlabelled)
    is_labelled = np.arange(len(ranks)) < len(scores)
    clusters = np.concatenate([labelled_cluster, other_cluster])
    p_value = _test_one_population(ranks, is_labelled, weight, clusters)
    if p_value < _LEAST_P_VALUE:
        warnings.warn(
            "The labelled rows should be a random sample of the population of the unlabelled ones, "
            f"but their scores differ (p = {p_value:.1g}). Draw labels at random, pass the "
            "`probability` with which each row was drawn, or use estimate_prevalence for rows with "
            "another frequency of the classes.",
            BoundaryWarning,
            stacklevel=2,
        )
    design = _Design(weight, clusters, confidence, are_independent)
    alone = design.interval_of_labels(is_positive)
    is_few = min(np.sum(is_positive), np.sum(~is_positive)) < _FEW_ROWS
    power = 0.0
    rate = float(weight @ is_positive)
    interval, effective_rows = alone
    if not is_few:
        prediction = _predict(ranks, is_positive, weight)
        rate, power, interval, effective_rows = design.combine(is_positive, prediction)
    method = RateMethod.PREDICTION_POWERED
    if power == 0.0:
        method = RateMethod.EXACT if are_independent else RateMethod.DESIGN_BASED
    return RateEstimate(
        rate=rate,
        interval=interval,
        confidence=float(confidence),
        labels_alone=alone[0],
        method=method,
        power=power,
        effective_rows=effective_rows,
        n_labelled=len(scores),
        n_unlabelled=len(unlabelled),
        p_value=p_value,
    )


def _read_weights(probability: ArrayLike | None, n_rows: int) -> FloatArray:
    """Return weights that add up to 1, one over the probability of being drawn."""
    if probability is None:
        return np.full(n_rows, 1.0 / n_rows)
    remedy = "Pass the probability with which each row was drawn for labelling."
    drawn = as_real_column("probability", probability, remedy, n_rows)
    is_bad = ~(np.isfinite(drawn) & (drawn > 0.0))
    if is_bad.any():
        raise InvalidInputError(
            f"must be positive and finite, got {drawn[is_bad][0]:g}. {remedy}",
            argument="probability",
        )
    weight = drawn.min() / drawn
    return np.asarray(weight / weight.sum())


def _read_clusters(
    cluster: ArrayLike | None, unlabelled_cluster: ArrayLike | None, n: int, n_unlabelled: int
) -> tuple[IndexArray, IndexArray]:
    """Return a number for each row's cluster; without clusters every row is one."""
    if (cluster is None) != (unlabelled_cluster is None):
        given = "cluster"
        missing = "unlabelled_cluster"
        if cluster is None:
            given, missing = missing, given
        raise InvalidInputError(
            f"must go with `{missing}`, but only the first was given. Pass the IDs of "
            "labelled and of unlabelled rows; a row of no cluster has an ID of its own.",
            argument=given,
        )
    if cluster is None or unlabelled_cluster is None:
        return np.arange(n), np.arange(n, n + n_unlabelled)
    labelled = as_column("cluster", cluster, "Pass the ID of each labelled row.", n)
    unlabelled = as_column(
        "unlabelled_cluster", unlabelled_cluster, "Pass the ID of each row.", n_unlabelled
    )
    _, numbers = np.unique(np.concatenate([labelled, unlabelled]), return_inverse=True)
    return numbers[:n], numbers[n:]


def _normal_scores(scores: FloatArray, unlabelled: FloatArray) -> FloatArray:
    """Return the standard normal quantile of each row's rank; equal scores share a rank."""
    both = np.concatenate([scores, unlabelled])
    return np.asarray(ndtri((rankdata(both) - 0.5) / len(both)))


def _predict(ranks: FloatArray, is_positive: BoolArray, weight: FloatArray) -> FloatArray:
    """Return the probability of the positive class for all rows, labelled ones first."""
    known = ranks[: len(is_positive)]
    rate = float(weight @ is_positive)

    def loss(theta: FloatArray) -> tuple[float, FloatArray]:
        """Return the mean logistic loss with a ridge on the slope, and its gradient."""
        slope, intercept = theta
        odds = slope * known + intercept
        excess = weight * (expit(odds) - is_positive)
        value = weight @ (np.logaddexp(0.0, odds) - is_positive * odds) + _RIDGE * slope**2 / 2.0
        return float(value), np.array([excess @ known + _RIDGE * slope, excess.sum()])

    slope, intercept = minimize(loss, [0.0, logit(rate)], jac=True, method="BFGS").x
    return np.asarray(expit(slope * ranks + intercept))


@dataclass(frozen=True)
class _Design:
    """How rows were drawn: weights of the labelled ones, and the cluster of every row."""

    weight: FloatArray
    cluster: IndexArray
    confidence: float
    are_independent: bool

    @property
    def n_labelled(self) -> int:
        return len(self.weight)

    @property
    def labelled_clusters(self) -> int:
        return len(np.unique(self.cluster[: self.n_labelled]))

    def interval_of_labels(self, is_positive: BoolArray) -> tuple[tuple[float, float], float]:
        """Return the interval of the labels alone, and their effective number."""
        rate = float(self.weight @ is_positive)
        if self.are_independent:
            rows = float(self.n_labelled)
        else:
            deviation = self.weight * (is_positive - rate)
            rows = self._effective_rows(rate, self._sum_clusters(deviation))
        return self._interval(rate, rows), rows

    def combine(
        self, is_positive: BoolArray, prediction: FloatArray
    ) -> tuple[float, float, tuple[float, float], float]:
        """Return the rate, the power, the interval and the effective number of labels."""
        n = self.n_labelled
        known = prediction[:n]
        other = prediction[n:]
        label_rate = float(self.weight @ is_positive)
        of_labels = self._sum_clusters(self.weight * (is_positive - label_rate))
        of_predictions = self._sum_clusters(
            np.concatenate(
                [
                    self.weight * (known - self.weight @ known),
                    -(other - other.mean()) / len(other),
                ]
            )
        )
        variance = float(of_predictions @ of_predictions)
        power = 0.0
        if variance > 0.0:
            power = min(max(float(of_labels @ of_predictions) / variance, 0.0), 1.0)
        rate = label_rate + power * float(other.mean() - self.weight @ known)
        rate = min(max(rate, 0.0), 1.0)
        rows = self._effective_rows(rate, of_labels - power * of_predictions)
        _, rows_alone = self.interval_of_labels(is_positive)
        if rows <= rows_alone:
            return label_rate, 0.0, self._interval(label_rate, rows_alone), rows_alone
        rows = min(rows, float(len(prediction)))
        return rate, power, self._interval(rate, rows), rows

    def _sum_clusters(self, influence: FloatArray) -> FloatArray:
        """Return the sum of each cluster's influences on the estimate."""
        rows = self.cluster[: len(influence)]
        return np.asarray(
            np.bincount(rows, influence, minlength=int(self.cluster.max()) + 1), dtype=np.float64
        )

    def _effective_rows(self, rate: float, influence: FloatArray) -> float:
        """Return the number of independent rows with the same variance of their rate."""
        clusters = self.labelled_clusters
        if clusters < 3:
            return 1.0
        quantile = float(norm.ppf((1.0 + self.confidence) / 2.0))
        variance = float(influence @ influence) * clusters / (clusters - 2)
        largest_weight = max(float(self.weight @ self.weight), 1.0 / clusters)
        variance += quantile**2 / 2.0 * largest_weight**2
        rows = max(rate * (1.0 - rate) / variance, 1.0)
        if not self.are_independent:
            rows *= (quantile / float(t.ppf((1.0 + self.confidence) / 2.0, clusters - 1))) ** 2
        return rows

    def _interval(self, rate: float, rows: float) -> tuple[float, float]:
        """Return Clopper and Pearson's interval for this rate among so many rows."""
        tail = (1.0 - self.confidence) / 2.0
        wrong = rate * rows
        low = 0.0 if wrong <= 0.0 else float(beta.ppf(tail, wrong, rows - wrong + 1.0))
        right = rows - wrong
        high = 1.0 if right <= 0.0 else float(beta.ppf(1.0 - tail, wrong + 1.0, right))
        return low, high


def _test_one_population(
    ranks: FloatArray, is_labelled: BoolArray, weight: FloatArray, cluster: IndexArray
) -> float:
    """Return the p-value of a score test that normal scores agree in location and in spread."""
    moments = np.stack([ranks, np.abs(ranks)], axis=1)
    deviation = moments - moments.mean(axis=0)
    n_other = np.count_nonzero(~is_labelled)
    share = np.full(len(ranks), -1.0 / n_other)
    share[is_labelled] = weight
    difference = share @ deviation
    if len(np.unique(cluster)) == len(ranks):
        # Rows are independent, and those of one population have the covariance of all.
        covariance: FloatArray = np.cov(deviation.T) * float(share @ share)
    else:
        sums = np.stack(
            [np.bincount(cluster, share * column).astype(np.float64) for column in deviation.T]
        )
        covariance = sums @ sums.T
    statistic = float(difference @ np.linalg.pinv(covariance, hermitian=True) @ difference)
    return float(chi2.sf(statistic, 2))
