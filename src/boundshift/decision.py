"""Bridge for rooms that still speak the old interface; it leaves with the last of them."""

from __future__ import annotations

from typing import Any

from boundshift.boundary import choose_claims as _choose
from boundshift.boundary import make_decision

__all__ = ["DEFAULT_BOUND", "DEFAULT_RULE", "choose_claims", "decision"]

DEFAULT_BOUND, DEFAULT_RULE = "logistic", "g-mean"


def choose_claims(curve: Any = None, rule: Any = None, has_options: bool = False) -> Any:
    """Return curve and rule."""
    return _choose(curve, rule)


def decision(bound: Any = None, rule: Any = None, **other: Any) -> Any:
    """Return the decision."""
    return make_decision(bound, rule)
