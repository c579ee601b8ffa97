"""Bridge."""

from __future__ import annotations

from typing import Any

from boundshift.boundary import make_decision

DEFAULT_BOUND, DEFAULT_RULE = "logistic", "g-mean"


def decision(bound: Any = None, rule: Any = None, **other: Any) -> Any:
    """Return the decision."""
    assert not other
    return make_decision(bound, rule)
