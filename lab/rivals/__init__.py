"""Rivals that only the laboratory compares with, beside those of the package."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from boundshift import rivals
from lab.rivals.prior_threshold import PriorThreshold, adjust_logits, prior_threshold

__all__ = ["RIVALS", "THRESHOLD_RULES", "PriorThreshold", "adjust_logits", "prior_threshold"]

RIVALS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {**rivals.RIVALS, "prior_threshold": PriorThreshold}
)
"""Name → class; each is called with the classifier to wrap."""

THRESHOLD_RULES: Mapping[str, Callable[..., float]] = MappingProxyType(
    {**rivals.THRESHOLD_RULES, "prior_threshold": prior_threshold}
)
"""Name → function of (y_true, y_score) that returns the threshold to predict positive above."""
