"""What else there is against class imbalance, to compare with.

Rivals that move a threshold after training come twice: as a classifier, and as a plain function of
labels and scores in `THRESHOLD_RULES`, for benchmarks that keep their scores.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from boundshift.rivals.balanced_weights import BalancedWeights
from boundshift.rivals.bayes_minimum_risk import (
    BayesMinimumRisk,
    HullCalibration,
    bayes_risk_threshold,
    calibrate_by_roc_hull,
)
from boundshift.rivals.cost_thresholding import CostThresholding, cost_threshold
from boundshift.rivals.smote import SMOTEClassifier
from boundshift.rivals.tuned_threshold import TunedThreshold, tuned_threshold
from boundshift.rivals.untouched import Untouched

__all__ = [
    "RIVALS",
    "THRESHOLD_RULES",
    "BalancedWeights",
    "BayesMinimumRisk",
    "CostThresholding",
    "HullCalibration",
    "SMOTEClassifier",
    "TunedThreshold",
    "Untouched",
    "bayes_risk_threshold",
    "calibrate_by_roc_hull",
    "cost_threshold",
    "tuned_threshold",
]

RIVALS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "untouched": Untouched,
        "smote": SMOTEClassifier,
        "balanced_weights": BalancedWeights,
        "bayes_minimum_risk": BayesMinimumRisk,
        "cost_thresholding": CostThresholding,
        "tuned_threshold": TunedThreshold,
    }
)
"""Name → class; each is called with the classifier to wrap."""

THRESHOLD_RULES: Mapping[str, Callable[..., float]] = MappingProxyType(
    {
        "bayes_minimum_risk": bayes_risk_threshold,
        "cost_thresholding": cost_threshold,
        "tuned_threshold": tuned_threshold,
    }
)
"""Name → function of (y_true, y_score) that returns the threshold to predict positive above."""
