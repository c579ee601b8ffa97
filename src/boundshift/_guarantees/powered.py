r"""Rates from few labelled rows and many scores without labels.

The scores predict the labels, and the labelled rows correct the predictions (prediction-powered
inference, Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, Science 382; with the power
:math:`\lambda` tuned, Angelopoulos, Duchi and Zrnic 2023). Survey statisticians know it as the
generalised regression estimator of a ratio (Särndal, Swensson and Wretman 1992).

Every rate here is a ratio :math:`R = \mathrm{E}\,h / \mathrm{E}\,d` of hits h among the rows d
that the rate is about: for the recall, d = 1 for positive rows, and h = 1 for those that are
flagged, too. For rows without a label, the predicted probability of the positive class takes the
place of the label.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, chdtrc, expit, logit, ndtri, stdtrit
from scipy.stats import rankdata

from boundshift._typing import BoolArray, FloatArray, IndexArray
from boundshift._validation import as_column, as_real_column
from boundshift.exceptions import BoundaryWarning, InvalidInputError

# With fewer labelled rows of either outcome a normal approximation is not to be trusted.
_FEW_ROWS = 5
# Scores that are nearly all different are not equal by chance, if there are not too few.
_DISTINCT = 0.9
_FEW_SCORES = 10
# Strength of the ridge that keeps the slope of the calibration finite if classes are separated.
_RIDGE = 1e-4
# Newton's method overshoots if its first steps are not limited.
_LONGEST_STEP = 2.0
_MOST_STEPS = 100
LEAST_P_VALUE = 1e-3
"""Rows that are less likely than this contradict an assumption."""


class RateMethod(StrEnum):
    """Where the interval of a rate comes from."""

    EXACT = "exact"
    PREDICTION_POWERED = "prediction-powered"
    DESIGN_BASED = "design-based"


@dataclass(frozen=True)
class RateEstimate:
    """A rate in a population, with a two-sided interval.

    Parameters
    ----------
    rate : float
        The estimate.
    interval, confidence : pair of float, and float
        Covers the true rate with this confidence. That is exact if `method` is "exact", and an
        approximation for large samples otherwise.
    labels_alone : pair of float
        The interval that the labelled rows support without the scores.
    method : RateMethod
        "exact" is the interval of Clopper and Pearson, used for independent rows if the scores add
        nothing or there are fewer than 5 labels of either outcome; "prediction-powered" uses the
        scores; "design-based" uses the labels alone, for clusters or unequal probabilities.
    power : float
        How much the scores count, from 0 (not at all) to 1.
    effective_rows : float
        Number of independent labels that would support an interval as narrow as this one. For a
        rate of some rows, such as the recall, it is the number of these rows.
    n_labelled, n_unlabelled : int
        Rows with and without a label.
    p_value : float
        Of the test that labelled and unlabelled rows are from one population.
    name : str, default="rate"
        What is estimated, such as "recall"; "rate" is the rate of the positive class.

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
    name: str = "rate"

    @property
    def is_exact(self) -> bool:
        """Whether the coverage is at least the confidence for any number of rows."""
        return self.method is RateMethod.EXACT

    @property
    def gain(self) -> float:
        """By which proportion the scores narrow the interval of the labels alone."""
        width = self.interval[1] - self.interval[0]
        return 1.0 - width / (self.labels_alone[1] - self.labels_alone[0])

    def __str__(self) -> str:
        low, high = self.interval
        alone_low, alone_high = self.labels_alone
        scores = f"{self.n_unlabelled:,} further scores"
        benefit = f"{scores} do not narrow this"
        if self.gain >= 0.005:
            benefit = f"{scores} narrow this by {self.gain:.0%}"
        return (
            f"{self.name.capitalize()} {self.rate:.4g}, between {low:.4g} and {high:.4g} at "
            f"{self.confidence:.4g} ({self.method}). {self.n_labelled:,} labels alone support "
            f"{alone_low:.4g} to {alone_high:.4g}; {benefit}."
        )


@dataclass(frozen=True)
class FewLabels:
    """Rows with a label first, then the others; every array is in that order.

    `weight` has one number for each labelled row, proportional to one over the probability with
    which it was drawn, and adds up to 1. `rank` is the normal score of each score. `cluster` has a
    number for each row. Without clusters every row has its own; but if rows were drawn with unequal
    probabilities, the rows without labels are all rows, and a labelled row shares the number of the
    row that it is.
    """

    is_positive: BoolArray
    rank: FloatArray
    weight: FloatArray
    cluster: IndexArray
    confidence: float
    has_clusters: bool
    has_probabilities: bool

    @classmethod
    def of(
        cls,
        is_positive: BoolArray,
        scores: FloatArray,
        unlabelled: FloatArray,
        confidence: float,
        *,
        probability: ArrayLike | None,
        cluster: ArrayLike | None,
        unlabelled_cluster: ArrayLike | None,
    ) -> FewLabels:
        """Return the rows, after a check of how they were drawn; warn of two populations."""
        n = len(scores)
        if cluster is not None or unlabelled_cluster is not None:
            ids = _read_clusters(cluster, unlabelled_cluster, n, len(unlabelled))
        elif probability is not None:
            ids = np.append(_find_rows(scores, unlabelled), np.arange(len(unlabelled)))
        else:
            _refuse_labelled(scores, unlabelled)
            ids = np.arange(n + len(unlabelled))
        rows = cls(
            is_positive=is_positive,
            rank=normal_scores(np.concatenate([scores, unlabelled])),
            weight=_read_weights(probability, n),
            cluster=ids,
            confidence=confidence,
            has_clusters=cluster is not None,
            has_probabilities=probability is not None,
        )
        if rows.p_value < LEAST_P_VALUE:
            warnings.warn(
                "The labelled rows should be a random sample of the population of the unlabelled "
                f"ones, but their scores differ (p = {rows.p_value:.1g}). Draw labels at random, "
                "pass the `probability` with which each row was drawn, or use estimate_prevalence "
                "for rows with another frequency of the classes.",
                BoundaryWarning,
                stacklevel=4,
            )
        return rows

    @property
    def n(self) -> int:
        """Number of labelled rows."""
        return len(self.is_positive)

    @property
    def are_independent(self) -> bool:
        """Whether labelled rows are a simple random sample."""
        return not (self.has_clusters or self.has_probabilities)

    @cached_property
    def p_value(self) -> float:
        """Score test that normal scores of both parts agree in location and in spread."""
        n_other = len(self.rank) - self.n
        share = np.concatenate([self.weight, np.full(n_other, -1.0 / n_other)])
        moments = np.stack([self.rank, np.abs(self.rank)])
        deviation = moments - moments.mean(axis=1, keepdims=True)
        difference = deviation @ share
        if self.are_independent:
            # Rows of one population have the covariance of all.
            covariance = np.cov(deviation) * float(share @ share)
        else:
            sums = np.stack([self._sum_clusters(share * row) for row in deviation])
            covariance = sums @ sums.T
        statistic = difference @ np.linalg.pinv(covariance, hermitian=True) @ difference
        return float(chdtrc(2, statistic))

    @cached_property
    def prediction(self) -> FloatArray:
        """Probability of the positive class of all rows."""
        return predict_label(self.rank, self.is_positive, self.weight)

    def estimate(self, name: str, is_flagged: BoolArray) -> RateEstimate:
        """Return a rate: that of the positive class, or one of the rows that are flagged."""
        if name == "flagged":
            return self._estimate_flagged(is_flagged)
        n = self.n
        hit, domain = _ratio_terms(name, self.is_positive, is_flagged[:n])
        alone = self._estimate_mean(hit, self.weight * domain, not self.has_probabilities)
        method = RateMethod.EXACT if alone.is_exact else RateMethod.DESIGN_BASED
        labels_only = self._record(name, alone, alone, method, 0.0)
        has_one_class = len(np.unique(self.is_positive)) < 2
        if has_one_class or min(hit.sum(), (domain - hit).sum()) < _FEW_ROWS:
            return labels_only
        hits, domains = _ratio_terms(name, self.prediction, is_flagged)
        total = float(self.weight @ domain)
        of_labels = self._sum_clusters(self.weight * (hit - alone.rate * domain))
        of_scores = self._influence_of_scores(hits - alone.rate * domains)
        variance = float(of_scores @ of_scores)
        power = 0.0
        if variance > 0.0:
            power = min(max(float(of_labels @ of_scores) / variance, 0.0), 1.0)
        total += power * self._correction(domains)
        rate = (float(self.weight @ hit) + power * self._correction(hits)) / total
        rate = min(max(rate, 0.0), 1.0)
        residual = hit - rate * domain
        of_labels = self._sum_clusters(self.weight * (residual - self.weight @ residual))
        influence = (of_labels - power * self._influence_of_scores(hits - rate * domains)) / total
        rows = self._effective_rows(rate, influence, self.weight * domain / total)
        rows = min(rows, float(domains.sum()))
        if power == 0.0 or rows <= alone.rows:
            return labels_only
        estimate = _Mean(
            rate, rows, clopper_pearson_interval(rate * rows, rows, self.confidence), is_exact=False
        )
        return self._record(name, estimate, alone, RateMethod.PREDICTION_POWERED, power)

    def _estimate_flagged(self, is_flagged: BoolArray) -> RateEstimate:
        """Return the flagged rate, which needs no labels: all rows count.

        If rows were drawn with unequal probabilities, the rows without labels are all rows.
        """
        is_counted = np.ones(len(self.rank))
        if self.has_probabilities:
            is_counted[: self.n] = 0.0
        own = is_flagged[: self.n]
        alone = self._estimate_mean(own, self.weight, not self.has_probabilities)
        every = self._estimate_mean(is_flagged, is_counted / is_counted.sum(), True)
        method = RateMethod.EXACT if every.is_exact else RateMethod.DESIGN_BASED
        return self._record("flagged", every, alone, method, 1.0)

    def _estimate_mean(
        self, hit: FloatArray | BoolArray, weight: FloatArray, is_equal: bool
    ) -> _Mean:
        """Return the weighted mean of hits in the first rows, from these rows alone."""
        total = weight.sum()
        if total == 0.0:
            return _Mean(math.nan, 0.0, (0.0, 1.0), is_exact=True)
        weight = weight / total
        rate = float(weight @ hit)
        is_exact = is_equal and not self.has_clusters
        rows = float(np.count_nonzero(weight))
        if not is_exact:
            rows = self._effective_rows(rate, self._sum_clusters(weight * (hit - rate)), weight)
        return _Mean(
            rate, rows, clopper_pearson_interval(rate * rows, rows, self.confidence), is_exact
        )

    def _record(
        self, name: str, estimate: _Mean, alone: _Mean, method: RateMethod, power: float
    ) -> RateEstimate:
        return RateEstimate(
            rate=estimate.rate,
            interval=estimate.interval,
            confidence=self.confidence,
            labels_alone=alone.interval,
            method=method,
            power=power,
            effective_rows=estimate.rows,
            n_labelled=self.n,
            n_unlabelled=len(self.rank) - self.n,
            p_value=self.p_value,
            name=name,
        )

    def _correction(self, predicted: FloatArray) -> float:
        """Return by how much the mean prediction of the other rows exceeds the labelled ones'."""
        return float(predicted[self.n :].mean() - self.weight @ predicted[: self.n])

    def _influence_of_scores(self, predicted: FloatArray) -> FloatArray:
        """Return each cluster's influence on minus the correction."""
        known = predicted[: self.n]
        other = predicted[self.n :]
        parts = [
            self.weight * (known - self.weight @ known),
            -(other - other.mean()) / len(other),
        ]
        return self._sum_clusters(np.concatenate(parts))

    def _sum_clusters(self, influence: FloatArray) -> FloatArray:
        """Return the sum of each cluster's influences on the estimate."""
        rows = self.cluster[: len(influence)]
        return np.bincount(rows, influence, minlength=int(self.cluster.max()) + 1).astype(float)

    def _effective_rows(self, rate: float, influence: FloatArray, weight: FloatArray) -> float:
        """Return the number of independent rows with the same variance of their rate.

        The influence is that of each cluster, and the weight that of each of the first rows.
        """
        n_clusters = len(np.unique(self.cluster[: len(weight)][weight > 0.0]))
        if n_clusters < 3:
            return 1.0
        upper = (1.0 + self.confidence) / 2.0
        quantile = float(ndtri(upper))
        variance = float(influence @ influence) * n_clusters / (n_clusters - 2)
        largest_weight = max(float(weight @ weight), 1.0 / n_clusters)
        variance += quantile**2 / 2.0 * largest_weight**2
        rows = max(rate * (1.0 - rate) / variance, 1.0)
        if not self.are_independent:
            rows *= (quantile / float(stdtrit(n_clusters - 1, upper))) ** 2
        return rows


@dataclass(frozen=True)
class _Mean:
    """A rate, the number of independent rows that it is worth, and its interval."""

    rate: float
    rows: float
    interval: tuple[float, float]
    is_exact: bool


def _ratio_terms(
    name: str, positive: BoolArray | FloatArray, is_flagged: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return how far each row is a hit, and how far the rate is about it."""
    yes = positive.astype(np.float64)
    flagged = is_flagged.astype(np.float64)
    if name == "recall":
        return yes * flagged, yes
    if name == "specificity":
        return (1.0 - yes) * (1.0 - flagged), 1.0 - yes
    if name == "precision":
        return yes * flagged, flagged
    if name == "npv":
        return (1.0 - yes) * (1.0 - flagged), 1.0 - flagged
    return yes, np.ones(len(yes))


def clopper_pearson_interval(hits: float, rows: float, confidence: float) -> tuple[float, float]:
    """Return Clopper and Pearson's two-sided interval; without rows nothing is known."""
    tail = (1.0 - confidence) / 2.0
    misses = rows - hits
    low = float(betaincinv(hits, misses + 1.0, tail)) if hits > 0.0 else 0.0
    high = float(betaincinv(hits + 1.0, misses, 1.0 - tail)) if misses > 0.0 else 1.0
    return low, high


def normal_scores(scores: FloatArray) -> FloatArray:
    """Return the standard normal quantile of each row's rank; equal scores share a rank."""
    return np.asarray(ndtri((rankdata(scores) - 0.5) / len(scores)))


def predict_label(rank: FloatArray, is_positive: BoolArray, weight: FloatArray) -> FloatArray:
    """Return probabilities of the positive class, by a logistic regression on the first rows.

    These rows have the labels and the weights, which add up to 1.
    """
    known = np.stack([rank[: len(is_positive)], np.ones(len(is_positive))])
    ridge = np.array([_RIDGE, 0.0])
    theta = np.array([0.0, logit(float(weight @ is_positive))])
    for _ in range(_MOST_STEPS):
        probability = expit(theta @ known)
        gradient = known @ (weight * (probability - is_positive)) + ridge * theta
        curvature = (known * (weight * probability * (1.0 - probability))) @ known.T
        step = np.linalg.solve(curvature + np.diag(ridge), gradient)
        theta -= step / max(np.abs(step).max() / _LONGEST_STEP, 1.0)
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(expit(theta[0] * rank + theta[1]))


def _refuse_labelled(scores: FloatArray, unlabelled: FloatArray) -> None:
    """Raise if rows with a label are also given among those without one."""
    n_distinct = len(np.unique(unlabelled))
    are_distinct = n_distinct > _DISTINCT * len(unlabelled) and len(scores) >= _FEW_SCORES
    if are_distinct and np.isin(scores, unlabelled).all():
        raise InvalidInputError(
            "Rows without a label must be other rows than the labelled ones, but all labelled "
            "scores are among theirs. Leave the labelled rows out."
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


def _find_rows(scores: FloatArray, unlabelled: FloatArray) -> IndexArray:
    """Return the place of each labelled row among all rows; rows of equal score are alike."""
    order = np.argsort(unlabelled, kind="stable")
    own_order = np.argsort(scores, kind="stable")
    ranked = scores[own_order]
    nth_of_its_score = np.arange(len(scores)) - np.searchsorted(ranked, ranked)
    place = np.searchsorted(unlabelled[order], ranked) + nth_of_its_score
    place = np.minimum(place, len(unlabelled) - 1)
    is_absent = unlabelled[order[place]] != ranked
    if is_absent.any():
        raise InvalidInputError(
            "must go with the scores of all rows that could have been drawn, but the score "
            f"{ranked[is_absent][0]:g} of a labelled row is not among them. Add the labelled rows "
            "to those without labels.",
            argument="probability",
        )
    found = np.empty(len(scores), dtype=np.intp)
    found[own_order] = order[place]
    return found


def _read_clusters(
    cluster: ArrayLike | None, unlabelled_cluster: ArrayLike | None, n: int, n_unlabelled: int
) -> IndexArray:
    """Return a number for each row's cluster."""
    if cluster is None or unlabelled_cluster is None:
        given = "cluster"
        missing = "unlabelled_cluster"
        if cluster is None:
            given, missing = missing, given
        raise InvalidInputError(
            f"must go with `{missing}`, but only the first was given. Pass the IDs of "
            "labelled and of unlabelled rows; a row of no cluster has an ID of its own.",
            argument=given,
        )
    labelled = as_column("cluster", cluster, "Pass the ID of each labelled row.", n)
    unlabelled = as_column(
        "unlabelled_cluster", unlabelled_cluster, "Pass the ID of each row.", n_unlabelled
    )
    _, numbers = np.unique(np.concatenate([labelled, unlabelled]), return_inverse=True)
    return numbers
