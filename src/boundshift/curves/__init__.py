"""Error curves: one frozen dataclass per inequality.

| name | claim |
|---|---|
| ``"blend"`` | average case: smoothed, shrunk towards the logistic where rows are few; default |
| ``"logistic"`` | average case, log-odds linear in the score |
| ``"smoothed"`` | average case, smooth density |
| ``"empirical"`` | the share as counted on these rows |
| ``"student-t"`` | average case, normal scores |
| ``"kth-point"`` | exact by exchangeability |
| ``"clopper-pearson"``, ``"dkw"``, ``"bernstein"`` | high probability, any distribution |
| ``"support"``, ``"paper"``, ``"authors"`` | the paper's radius; nominal |
"""

from __future__ import annotations

from collections.abc import Callable

from boundshift._validation import as_object
from boundshift.curves._base import Claim, CountCurve, ErrorCurve, PairCurve, ShapeCurve
from boundshift.curves._counts import DKW, ClopperPearson, Empirical, EmpiricalBernstein, KthPoint
from boundshift.curves._paper import SLSQP, Exact, SupportRadius
from boundshift.curves._smooth import Blend, Logistic, Smoothed, StudentT

__all__ = [
    "CURVES",
    "DKW",
    "SLSQP",
    "Blend",
    "Claim",
    "ClopperPearson",
    "CountCurve",
    "Empirical",
    "EmpiricalBernstein",
    "ErrorCurve",
    "Exact",
    "KthPoint",
    "Logistic",
    "PairCurve",
    "ShapeCurve",
    "Smoothed",
    "StudentT",
    "SupportRadius",
    "as_curve",
]

_CLASSES: tuple[type[ErrorCurve], ...] = (
    EmpiricalBernstein, Blend, ClopperPearson, DKW, Empirical, KthPoint, Logistic, Smoothed,
    StudentT, SupportRadius,
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
    >>> as_curve("dkw")
    DKW(confidence=0.95)
    """
    return as_object("curve", curve, ErrorCurve, NAMED)
