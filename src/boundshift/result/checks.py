"""What every boundary must be, found or read from a file, lest it predict nonsense."""

from __future__ import annotations

import math
from typing import Any

from boundshift.exceptions import InvalidInputError

__all__ = ["check_fields"]

_CURE = "Find the boundary again, or store it again with to_json or boundshift.save."


def check_fields(
    threshold: float,
    labels: tuple[Any, Any],
    n_samples: tuple[float, float],
    wrong: tuple[float, float],
) -> None:
    """Raise unless the threshold is finite, the labels differ and the counts can be."""
    if not math.isfinite(threshold):
        raise InvalidInputError(f"`threshold` must be a finite number, got {threshold!r}. {_CURE}")
    if labels[0] == labels[1]:
        raise InvalidInputError(
            f"`labels` must be two different ones, got {labels[0]!r} and {labels[1]!r}. {_CURE}"
        )
    if not min(n_samples) > 0:
        raise InvalidInputError(
            f"`n_samples` must be above 0 for each class, got {n_samples!r}. {_CURE}"
        )
    # Sums of weights may differ in their last digit.
    if any(not 0 <= rows <= n * (1 + 1e-9) for rows, n in zip(wrong, n_samples, strict=True)):
        raise InvalidInputError(
            f"`wrong` must be from 0 to the rows of each class, {n_samples!r}, got {wrong!r}. "
            f"{_CURE}"
        )
