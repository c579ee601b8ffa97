"""Move a trained classifier's decision boundary to where class-wise confidence bounds put it.

`find_boundary` takes labels and scores of any model; `BoundShiftClassifier` wraps a scikit-learn
classifier. Both return one number, the boundary, and an account of how it was found.
"""

from boundshift.boundary import Boundary, Status, find_boundary
from boundshift.certificate import Certificate, certify
from boundshift.classifier import BoundShiftClassifier
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError
from boundshift.interval import threshold_interval

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
