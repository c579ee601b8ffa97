"""Error curves: one frozen dataclass per inequality.

| name | claim |
|---|---|
| ``"blend"`` | average case: smoothed, shrunk towards the logistic where rows are few; default |
| ``"logistic"`` | average case, log-odds linear in the score |
| ``"smoothed"`` | average case, smooth density |
| ``"empirical"`` | the share as counted on these rows |
| ``"clopper-pearson"`` | high probability, any distribution |
| ``"support"``, ``"paper"``, ``"authors"`` | the paper's radius; nominal |
"""

from __future__ import annotations

from collections.abc import Callable

from boundshift._validation import as_object
from boundshift.curves._base import (
    Claim,
    ClopperPearson,
    CountCurve,
    Empirical,
    ErrorCurve,
    PairCurve,
)
from boundshift.curves._paper import SupportRadius
from boundshift.curves._smooth import Blend, Logistic, Smoothed
from boundshift.rules import NAMED as RULE_NAMES
from boundshift.rules import Rule

__all__ = [
    "CURVES", "Blend", "Claim", "ClopperPearson", "CountCurve", "Empirical", "ErrorCurve",
    "Logistic", "PairCurve", "Smoothed", "SupportRadius", "as_curve",
]  # fmt: skip

_CLASSES: tuple[type[ErrorCurve], ...] = (
    Blend, ClopperPearson, Empirical, Logistic, Smoothed, SupportRadius
)  # fmt: skip
CURVES: dict[str, type[ErrorCurve]] = {curve.name: curve for curve in _CLASSES}
"""Name → class of every curve."""

NAMED: dict[str, Callable[[], ErrorCurve]] = {
    **CURVES,
    "paper": SupportRadius.paper,
    "authors": SupportRadius.authors,
}
"""Name → curve, in the order in which the command line lists them."""


def as_curve(curve: str | ErrorCurve) -> ErrorCurve:
    """Return a curve given itself or its name.

    Examples
    --------
    >>> as_curve("clopper-pearson")
    ClopperPearson(confidence=0.95)
    """
    remedy = ""
    if isinstance(curve, Rule) or (isinstance(curve, str) and curve in RULE_NAMES):
        remedy = f"Use rule={curve!r}."
    elif isinstance(curve, type) and issubclass(curve, ErrorCurve):
        remedy = f"Use {curve.__name__}()."
    elif callable(curve):
        remedy = (
            "Use rule=Metric(function) for a metric. A curve of your own is a class derived from "
            "CountCurve or PairCurve."
        )
    return as_object("curve", curve, ErrorCurve, NAMED, remedy)
