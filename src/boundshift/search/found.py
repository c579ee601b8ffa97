"""What a search has found."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["ErrorsAt", "FloatArray", "Found", "IntArray"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
ErrorsAt = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""From boundaries to the claimed error rates (negative, positive) at each."""


class Found(NamedTuple):
    """A boundary, the plateau whose middle it is, what is claimed there, and the rule's value."""

    threshold: float
    plateau: tuple[float, float]
    errors: tuple[float, float]
    value: float
