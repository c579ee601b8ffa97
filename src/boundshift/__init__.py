"""Move a trained classifier's decision boundary to where class-wise confidence bounds put it.

`find_boundary` takes labels and scores of any model; `BoundShiftClassifier` wraps a scikit-learn
classifier. Both return one number, the boundary, and an account of how it was found.
"""

from typing import TYPE_CHECKING, Any

from boundshift.boundary import Boundary, Status, find_boundary
from boundshift.certificate import Certificate, certify
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError
from boundshift.interval import threshold_interval

if TYPE_CHECKING:
    from boundshift.classifier import BoundShiftClassifier

__version__ = "0.1.0.dev0"

__all__ = [
    "BoundShiftClassifier",
    "Boundary",
    "BoundaryWarning",
    "Certificate",
    "InvalidInputError",
    "MissingExtraError",
    "Status",
    "certify",
    "find_boundary",
    "threshold_interval",
]


def __getattr__(name: str) -> Any:
    # scikit-learn loads pandas where it finds it, so it is not loaded for scores alone.
    if name != "BoundShiftClassifier":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from boundshift.classifier import BoundShiftClassifier

    return BoundShiftClassifier


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
