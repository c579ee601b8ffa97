"""Error curves: one small class an inequality, each in a file of its own.

| name | claim |
|---|---|
| ``"support"`` | the paper's radius; nominal |
| ``"kth-point"`` | exact by exchangeability |
| ``"clopper-pearson"``, ``"dkw"``, ``"bernstein"`` | high probability, any distribution |
| ``"student-t"`` | average case, normal scores |
| ``"smoothed"`` | average case, smooth density |

Every module of this package is imported, and every curve in it that has a name is known by it.
"""

from __future__ import annotations

import importlib
import pkgutil

from boundshift.curves.base import Claim, CountCurve, ErrorCurve, ShapeCurve
from boundshift.exceptions import InvalidInputError

__all__ = ["CURVES", "Claim", "CountCurve", "ErrorCurve", "ShapeCurve", "as_curve"]


def _named(cls: type[ErrorCurve]) -> dict[str, type[ErrorCurve]]:
    """Return all curves below a class by their names."""
    found = {cls.name: cls} if "name" in vars(cls) else {}
    for child in cls.__subclasses__():
        found |= _named(child)
    return found


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

CURVES: dict[str, type[ErrorCurve]] = dict(sorted(_named(ErrorCurve).items()))


def __getattr__(name: str) -> type[ErrorCurve]:
    """Return a curve's class by its Python name, so that new files need no line here."""
    for curve in CURVES.values():
        if curve.__name__ == name:
            return curve
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def as_curve(bound: str | ErrorCurve) -> ErrorCurve:
    """Return a curve given itself or its name.

    Examples
    --------
    >>> as_curve("dkw")
    DKW(confidence=0.95)
    """
    if isinstance(bound, ErrorCurve):
        return bound
    if isinstance(bound, str) and bound in CURVES:
        return CURVES[bound]()
    raise InvalidInputError(
        f"`bound` must be an ErrorCurve or one of {', '.join(map(repr, CURVES))}, got {bound!r}."
    )
