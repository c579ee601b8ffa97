"""Exact bands around error rates, and around every metric that is made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from boundshift.metrics import METRICS, metrics_of_errors
from boundshift.rules.cost import Cost
from boundshift.typing import FloatArray
from boundshift.validation import as_choice

__all__ = ["Band", "check_metrics", "error_band", "metric_bands"]

Wrong = tuple[NDArray[np.intp], NDArray[np.intp]]

# Metrics that look at one class only need the whole confidence for that class alone.
_OF_ONE_CLASS = ("recall", "specificity")


@dataclass(frozen=True, eq=False)
class Band:
    """A quantity at every threshold, with a band around it."""

    value: FloatArray
    low: FloatArray
    high: FloatArray


def error_band(wrong: NDArray[np.intp], n: int, confidence: float) -> Band:
    """Return rates with Clopper and Pearson's two-sided interval."""
    tail = (1 - confidence) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(wrong == 0, 0.0, betaincinv(np.maximum(wrong, 1), n - wrong + 1, tail))
        high = np.where(wrong == n, 1.0, betaincinv(wrong + 1, np.maximum(n - wrong, 1), 1 - tail))
    return Band(wrong / n, low, high)


def metric_bands(
    wrong: Wrong,
    n_samples: tuple[int, int],
    names: Sequence[str],
    *,
    confidence: float = 0.95,
    prevalence: float | None = None,
    costs: Cost | None = None,
    odds: float | FloatArray | None = None,
) -> dict[str, Band]:
    r"""Return metrics at every threshold, each with an interval that holds at that threshold.

    Both classes' error rates lie in their Clopper and Pearson intervals together with the
    confidence, each having its square root, since classes are drawn independently. Along each
    error rate by itself every metric is monotone, so its least and its greatest value over both
    intervals stand at their corners.

    Parameters
    ----------
    wrong : pair of arrays
        Rows of each class on the wrong side, at every threshold.
    n_samples : tuple of int
        Rows of each class.
    names : sequence of str
        Of :data:`~boundshift.metrics.METRICS`.
    confidence : float, default=0.95
        Of each threshold by itself.
    prevalence, costs, odds
        As in :func:`~boundshift.metrics.metrics_of_errors`; the sample's prevalence is taken as
        known.

    Examples
    --------
    >>> wrong = np.array([20]), np.array([3])
    >>> band = metric_bands(wrong, (200, 30), ["precision"])["precision"]
    >>> [round(float(end[0]), 2) for end in (band.low, band.value, band.high)]
    [0.4, 0.57, 0.72]
    """
    settings: dict[str, Any] = {"prevalence": prevalence, "costs": costs, "odds": odds}
    negative, positive = (k / n for k, n in zip(wrong, n_samples, strict=True))
    values = metrics_of_errors(negative, positive, n_samples, **settings)
    bands = {}
    for name in names:
        each = confidence if name in _OF_ONE_CLASS else confidence**0.5
        ends = [error_band(k, n, each) for k, n in zip(wrong, n_samples, strict=True)]
        corners = [
            metrics_of_errors(first, second, n_samples, **settings)[name]
            for first in (ends[0].low, ends[0].high)
            for second in (ends[1].low, ends[1].high)
        ]
        bands[name] = Band(values[name], np.min(corners, axis=0), np.max(corners, axis=0))
    return bands


def check_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of metrics, each of which is known."""
    given = (names,) if isinstance(names, str) else tuple(names)
    for name in given:
        as_choice("metrics", name, METRICS)
    return given
