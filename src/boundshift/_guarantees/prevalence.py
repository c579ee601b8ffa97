"""The prevalence among new rows whose labels are not known, if only the prevalence has changed."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.stats import f, t

from boundshift._guarantees.powered import LEAST_P_VALUE, normal_scores, predict_label
from boundshift._guarantees.reading import read_scores
from boundshift._typing import BoolArray, FloatArray
from boundshift._validation import as_rows, as_share, name_remedy
from boundshift.exceptions import BoundaryWarning


@dataclass(frozen=True)
class PrevalenceEstimate:
    """The rate of the positive class among new rows, and a test of its assumption.

    Parameters
    ----------
    prevalence : float
        Estimated prevalence among the new rows.
    interval, confidence : pair of float, and float
        Covers the true prevalence with about this confidence if only the frequency of the classes
        has changed; (0, 1) if the scores do not separate the classes.
    known_prevalence : float
        Rate of the positive class among the labelled rows.
    p_value : float
        Of the test that nothing but the frequency of the classes has changed.
    n_samples, n_new : tuple of int, and int
        Labelled rows of the (negative, positive) class, and new rows.
    """

    prevalence: float
    interval: tuple[float, float]
    confidence: float
    known_prevalence: float
    p_value: float
    n_samples: tuple[int, int]
    n_new: int

    @property
    def explained(self) -> bool:
        """Whether a change of the prevalence explains the new scores; if not, do not use it."""
        return self.p_value >= LEAST_P_VALUE

    def __str__(self) -> str:
        low, high = self.interval
        doubt = "" if self.explained else " No prevalence explains the new scores: do not use it."
        return (
            f"Prevalence among {self.n_new} new rows: {self.prevalence:.4g}, between {low:.4g} and "
            f"{high:.4g} at {self.confidence:.4g} if nothing else has changed; among the labelled "
            f"rows {self.known_prevalence:.4g}.{doubt}"
        )


@name_remedy
def estimate_prevalence(
    y_true: ArrayLike,
    y_score: ArrayLike,
    y_score_new: ArrayLike,
    confidence: float = 0.95,
    *,
    pos_label: object = None,
) -> PrevalenceEstimate:
    r"""Estimate the rate of the positive class among new rows from their scores alone.

    The new rows may have another frequency of the classes, but each class must score as before. If
    the labelled rows are a random sample of the same population as the new ones, use
    :func:`estimate_rate` instead, whose interval is much narrower.

    Use the estimate only if its interval excludes the prevalence of the labelled rows. If nothing
    has changed, the error of the estimate makes decisions worse.

    Parameters
    ----------
    y_true, y_score : array-like of shape (n_samples,)
        Labelled rows that the model was not fitted on, a random sample of each class.
    y_score_new : array-like of shape (n_new,)
        Scores of new rows by the same model.
    confidence : float, default=0.95
        Confidence of the interval.
    pos_label : label, default=None
        The positive class; needed unless the labels are 0 and 1, -1 and 1, or booleans.

    Returns
    -------
    PrevalenceEstimate

    Warns
    -----
    BoundaryWarning
        If no prevalence explains the new scores, so that something else has changed.

    Notes
    -----
    If only the frequency of the classes has changed, the mean of any function g of the new scores
    is :math:`\pi m_1 + (1 - \pi) m_0`, with its means in both classes (the adjusted count of
    Forman 2008, Data Mining and Knowledge Discovery 17, with a probability in place of a count).
    Here g is a logistic regression of the label, both classes weighted alike, on the normal score
    of each rank. So only the order of the scores counts. The interval has all :math:`\pi` with

    .. math:: (\hat\pi - \pi)^2 (m_1 - m_0)^2 \le c^2 \bigl(v + \pi^2 v_1 + (1 - \pi)^2 v_0\bigr),

    where the v are squared standard errors of the three means, and c is the quantile of Student's
    t with Welch's degrees of freedom (Fieller 1954, Journal of the Royal Statistical Society B 16).
    It is as wide as the delta method's, or (0, 1) if the means of the classes do not differ
    significantly. Each sum of squares has 1 added, so that a class of few rows, or one that the
    scores separate without an error, is not taken for known.

    The p-value is the largest over :math:`\pi` of Hotelling's test that the means of the normal
    scores, and of their absolute values, are such a mixture.

    *Assumption:* each class scores as before. *Guarantee:* coverage tends to the confidence as the
    rows of all three samples increase.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift import estimate_prevalence
    >>> rng = np.random.default_rng(0)
    >>> y, y_new = rng.random(2000) < 0.1, rng.random(1000) < 0.4
    >>> found = estimate_prevalence(y, rng.normal(2 * y), rng.normal(2 * y_new))
    >>> round(found.prevalence, 2), [round(end, 2) for end in found.interval], found.explained
    (0.38, [0.34, 0.43], True)
    """
    as_share("confidence", confidence)
    scores = read_scores("y_score", y_score)
    new = read_scores("y_score_new", y_score_new)
    is_positive, scores, _ = as_rows(y_true, scores, pos_label, symmetric=False)
    n_positive = int(is_positive.sum())
    n_negative = len(scores) - n_positive
    rank = normal_scores(np.concatenate([scores, new]))
    balanced = np.where(is_positive, 0.5 / n_positive, 0.5 / n_negative)
    known_prevalence = n_positive / len(scores)
    prediction = predict_label(rank, is_positive, balanced)
    prevalence, interval = _solve(_split(prediction, is_positive), confidence, known_prevalence)
    p_value = _test_mixture(_split(np.stack([rank, np.abs(rank)]), is_positive))
    if p_value < LEAST_P_VALUE:
        warnings.warn(
            "The new scores should be a mixture of those of both classes, but no prevalence "
            f"explains them (p = {p_value:.1g}): something else has changed. Label some of the new "
            "rows.",
            BoundaryWarning,
            stacklevel=3,
        )
    return PrevalenceEstimate(
        prevalence=prevalence,
        interval=interval,
        confidence=float(confidence),
        known_prevalence=known_prevalence,
        p_value=p_value,
        n_samples=(n_negative, n_positive),
        n_new=len(new),
    )


def _split(values: FloatArray, is_positive: BoolArray) -> list[FloatArray]:
    """Return the values of negative, positive and new rows, which are on the last axis."""
    labelled = values[..., : len(is_positive)]
    new = values[..., len(is_positive) :]
    return [labelled[..., ~is_positive], labelled[..., is_positive], new]


def _solve(
    parts: list[FloatArray], confidence: float, otherwise: float
) -> tuple[float, tuple[float, float]]:
    """Return the prevalence at which the means agree, and Fieller's interval."""
    negative, positive, new = (float(part.mean()) for part in parts)
    freedom = np.array([max(len(part) - 1, 1) for part in parts])
    squares = np.array([np.sum((part - part.mean()) ** 2) + 1.0 for part in parts])
    variance = squares / freedom / [len(part) for part in parts]
    difference = positive - negative
    if difference <= 0.0:
        return otherwise, (0.0, 1.0)
    prevalence = min(max((new - negative) / difference, 0.0), 1.0)
    share = variance * [(1.0 - prevalence) ** 2, prevalence**2, 1.0]
    welch = float(share.sum() ** 2 / np.sum(share**2 / freedom))
    v0, v1, v = (variance * t.ppf((1.0 + confidence) / 2.0, welch) ** 2).tolist()
    # Coefficients of a quadratic function of the prevalence that is negative inside.
    a = difference**2 - v0 - v1
    half_b = v0 - prevalence * difference**2
    c = (prevalence * difference) ** 2 - v0 - v
    if a <= 0.0:
        return prevalence, (0.0, 1.0)
    root = math.sqrt(half_b**2 - a * c)
    return prevalence, (max((-half_b - root) / a, 0.0), min((-half_b + root) / a, 1.0))


def _test_mixture(parts: list[FloatArray]) -> float:
    """Return the p-value of the test that the new means are a mixture of those of the classes."""
    means = [part.mean(axis=1) for part in parts]
    freedom = np.array([max(part.shape[1] - 1, 1) for part in parts])
    spreads = [
        (np.cov(part, ddof=0) + np.eye(2) / part.shape[1]) / df
        for part, df in zip(parts, freedom, strict=True)
    ]

    def log_p_value(prevalence: float) -> float:
        """Return the logarithm of the p-value of Hotelling's test at a prevalence."""
        weight = np.array([1.0 - prevalence, prevalence, -1.0])
        gap = np.tensordot(weight, means, 1)
        shares = [w**2 * spread for w, spread in zip(weight, spreads, strict=True)]
        covariance = sum(shares)
        traces = np.array([np.trace(share) for share in shares])
        welch = float(traces.sum() ** 2 / np.sum(traces**2 / freedom))
        if welch <= 1.0:
            return 0.0
        squared = float(gap @ np.linalg.pinv(covariance, hermitian=True) @ gap)
        return float(f.logsf(squared * (welch - 1.0) / (2.0 * welch), 2, welch - 1.0))

    inside = minimize_scalar(lambda share: -log_p_value(share), bounds=(0.0, 1.0), method="bounded")
    return math.exp(max(-float(inside.fun), log_p_value(0.0), log_p_value(1.0)))
