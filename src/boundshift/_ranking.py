"""Whether scores rank the positive class higher: the area under the ROC curve and its interval."""

from __future__ import annotations

import math
from enum import StrEnum

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

from boundshift._scores import Scores, ScoreSample
from boundshift._typing import FloatArray

CONFIDENCE = 0.95
"""Confidence of the interval by which a boundary's status is chosen."""

_QUANTILE = float(norm.isf((1.0 - CONFIDENCE) / 2))

# Scores of a class that are ranked. Of more, evenly spaced ones are taken, which changes the area
# by at most one over this number.
_MOST_RANKED = 20_000
_SMALLEST_AREA = 1e-12  # where the search for a limit of the interval begins


class Ranking(StrEnum):
    """What the interval of the area under the curve says about the scores."""

    SEPARATES = "separates"
    CHANCE = "chance"
    REVERSED = "reversed"


def find_ranking(sample: ScoreSample) -> Ranking:
    """Tell scores that rank the positive class higher from chance and from reversed ones.

    Scores are at chance if the interval of the area includes 0.5. If the rows are so few that not
    even a perfect ranking could leave out 0.5, scores on the right side of 0.5 get the benefit of
    the doubt.
    """
    area = area_under_curve(sample)
    margin = _margin_of_chance(sample)
    if abs(area - 0.5) <= margin:
        # Ties make the area less variable. They take time to count, so only if it may matter.
        margin *= math.sqrt(1.0 - share_of_ties(sample))
    if area < 0.5 - margin:
        return Ranking.REVERSED
    if area > 0.5 + margin:
        return Ranking.SEPARATES
    is_beyond_proof = margin >= 0.5
    return Ranking.SEPARATES if is_beyond_proof and area > 0.5 else Ranking.CHANCE


def _margin_of_chance(sample: ScoreSample) -> float:
    """Return how far from 0.5 an area may be whose interval, `auc_interval`, includes 0.5.

    This is the Mann-Whitney test by its normal approximation.
    """
    n = sample.negative.effective_n
    p = sample.positive.effective_n
    return _QUANTILE * math.sqrt((n + p + 1) / (12.0 * n * p))


def area_under_curve(sample: ScoreSample) -> float:
    """Return how often a positive row outscores a negative one, ties counted half."""
    negative, positive = sample.classes
    if len(positive.value) > len(negative.value):
        return 1.0 - _share_below(positive, negative)
    return _share_below(negative, positive)


def _share_below(many: Scores, few: Scores) -> float:
    """Return how often a row of the first class is below one of the second, ties counted half."""
    value = few.value
    weight = np.ones(len(value)) if few.count is None else few.count
    if len(value) > _MOST_RANKED:
        ends = np.linspace(0, len(value), _MOST_RANKED + 1).astype(np.intp)
        value = value[(ends[:-1] + ends[1:]) // 2]
        weight = np.add.reduceat(weight, ends[:-1])
    below = _count_before(many, np.searchsorted(many.value, value, side="left"))
    at_most = _count_before(many, np.searchsorted(many.value, value, side="right"))
    # A product of vectors would wait for other threads.
    return float((weight * (below + at_most)).sum() / (2.0 * many.n * weight.sum()))


def _count_before(scores: Scores, entries: np.ndarray) -> FloatArray:
    """Return how much the entries before some places count."""
    if scores.count is None:
        return entries.astype(np.float64)
    return np.asarray(np.append(0.0, np.cumsum(scores.count))[entries])


def share_of_ties(sample: ScoreSample) -> float:
    r"""Return :math:`\sum_k t_k^3`, where a share :math:`t_k` of all rows has the k-th atom.

    The variance of the Mann-Whitney statistic is smaller by this share if scores are tied.
    """
    atoms = sample.atoms
    rows = sum(scores.count_at_most(atoms) - scores.count_below(atoms) for scores in sample.classes)
    return float(np.sum((np.asarray(rows) / sum(sample.n_samples)) ** 3))


def auc_interval(
    auc: float, n_negative: float, n_positive: float, confidence: float, ties: float = 0.0
) -> tuple[float, float]:
    """Return Newcombe's two-sided interval of an area under the curve.

    It inverts a score test with the variance of Hanley and McNeil (Newcombe 2006, Statistics in
    Medicine 25, method 5). At 0.5 this is the variance of the Mann-Whitney test, so the interval
    leaves out 0.5 if and only if that test rejects chance. Numbers of rows may be effective ones.
    `ties` is the share by which ties make the variance smaller.
    """
    z = float(norm.isf((1.0 - confidence) / 2))
    pairs = n_negative * n_positive
    extra = (n_negative + n_positive) / 2 - 1

    def excess(area: float) -> float:
        shape = 1 + extra * ((1 - area) / (2 - area) + area / (1 + area))
        variance = area * (1 - area) * shape / pairs * (1.0 - ties)
        return abs(auc - area) - z * float(np.sqrt(variance))

    low = 0.0
    if auc > 0.0:
        low = float(brentq(excess, 0.0, min(auc, 1.0 - _SMALLEST_AREA)))
    high = 1.0
    if auc < 1.0:
        high = float(brentq(excess, max(auc, _SMALLEST_AREA), 1.0))
    return low, high
