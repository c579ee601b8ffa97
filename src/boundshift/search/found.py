"""What a search has found."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from boundshift.typing import FloatArray

__all__ = ["ErrorsAt", "Found"]

ErrorsAt = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From boundaries to the claimed error rates (negative, positive) at each."""


class Found(NamedTuple):
    """A boundary, the plateau whose middle it is, what is claimed there, and the rule's value."""

    threshold: float
    plateau: tuple[float, float]
    errors: tuple[float, float]
    value: float
