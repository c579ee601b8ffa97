"""Move a trained classifier's decision boundary to where class-wise confidence bounds put it.

`find_boundary` takes labels and scores of any model; `BoundShiftClassifier` wraps a scikit-learn
classifier. Both return one number, the boundary, and an account of how it was found.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from boundshift.boundary import Boundary, Status, find_boundary
from boundshift.promises.certificate import Certificate, certify
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError
from boundshift.promises.interval import threshold_interval

if TYPE_CHECKING:
    from boundshift.classifier import BoundShiftClassifier
    from boundshift.models.store import load, save
    from boundshift.models.onnx.export import to_onnx

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
    "load",
    "save",
    "threshold_interval",
    "to_onnx",
]


# scikit-learn loads pandas where it finds it, so it is not loaded for scores alone.
_LAZY = {
    "BoundShiftClassifier": "boundshift.classifier",
    "load": "boundshift.models.store",
    "save": "boundshift.models.store",
    "to_onnx": "boundshift.models.onnx.export",
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
