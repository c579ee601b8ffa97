"""What a display reads from a fitted `BoundShiftClassifier`."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from boundshift.exceptions import InvalidInputError
from boundshift.result.boundary import Boundary

__all__ = ["own_threshold", "read_fitted"]


def read_fitted(estimator: Any, X: Any) -> tuple[Boundary, NDArray[np.float64]]:
    """Return the boundary of two classes, and the model's own scores of some rows."""
    check_is_fitted(estimator)
    if len(estimator.classes_) != 2:
        raise InvalidInputError(
            f"`estimator` must have two classes, got {len(estimator.classes_)}. Draw one of "
            "its `boundaries_` with ProjectionDisplay(boundary, scores).plot()."
        )
    return estimator.boundary_, estimator.decision_function(X) + estimator.threshold_


def own_threshold(estimator: Any, old_threshold: float | Literal["auto"] | None) -> float | None:
    """Return where the wrapped classifier decides: 0, unless its scores are the user's own."""
    if old_threshold != "auto":
        return old_threshold
    return None if callable(estimator.response_method) else 0.0
