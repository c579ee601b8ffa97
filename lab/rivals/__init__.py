"""Rivals that only the laboratory compares with, beside those of the package."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from boundshift.rivals import bayes_risk_threshold, cost_threshold, tuned_threshold
from lab.rivals.prior_threshold import prior_threshold
from lab.rivals.threshold_classifier import ThresholdClassifier

__all__ = ["THRESHOLD_RULES", "ThresholdClassifier", "prior_threshold"]

THRESHOLD_RULES: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        "bayes_minimum_risk": bayes_risk_threshold,
        "cost_thresholding": cost_threshold,
        "prior_threshold": prior_threshold,
        "tuned_threshold": tuned_threshold,
    }
)
"""Name → function of (y_true, y_score) that returns the threshold to predict positive above."""
