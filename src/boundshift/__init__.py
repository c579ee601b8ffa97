"""Move a trained classifier's decision boundary to where class-wise confidence bounds put it.

`find_boundary` takes labels and scores of any model; `BoundShiftClassifier` wraps a scikit-learn
classifier. Both return one number, the boundary, and an account of how it was found.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from boundshift import streaming
    from boundshift.boundary import find_boundary
    from boundshift.classifier import BoundShiftClassifier
    from boundshift.curves import (
        DKW,
        SLSQP,
        Blend,
        ClopperPearson,
        Empirical,
        EmpiricalBernstein,
        ErrorCurve,
        Exact,
        KthPoint,
        Logistic,
        Smoothed,
        StudentT,
        SupportRadius,
    )
    from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError
    from boundshift.groups import GroupBoundaries, find_boundaries
    from boundshift.metrics import metrics_at
    from boundshift.models.onnx.export import to_onnx
    from boundshift.models.store import load, save
    from boundshift.promises.certificate import Certificate, certify
    from boundshift.promises.comparison import BoundaryComparison, compare_boundaries
    from boundshift.promises.interval import threshold_interval
    from boundshift.promises.monitor import Alarm, Monitor
    from boundshift.promises.planning import rows_needed
    from boundshift.promises.prevalence import (
        PrevalenceEstimate,
        estimate_prevalence,
        guard_prevalence,
    )
    from boundshift.promises.zone import Zone, find_zone
    from boundshift.result.boundary import Boundary
    from boundshift.rules import (
        MCC,
        ClassFloors,
        Cost,
        CostMatrix,
        FBeta,
        Floors,
        GMean,
        Kappa,
        Markedness,
        Metric,
        Minimax,
        Rule,
        Sum,
        Youden,
    )
    from boundshift.status import Status

__version__ = "0.1.0.dev0"

# Loaded on demand, so that a name costs only what it needs; type checkers see the imports above.
_HOMES = {
    "boundshift.boundary": ("find_boundary",),
    "boundshift.groups": ("GroupBoundaries", "find_boundaries"),
    "boundshift.classifier": ("BoundShiftClassifier",),
    "boundshift.curves": (
        "DKW", "SLSQP", "Blend", "ClopperPearson", "Empirical", "EmpiricalBernstein", "ErrorCurve",
        "Exact", "KthPoint", "Logistic", "Smoothed", "StudentT", "SupportRadius",
    ),
    "boundshift.exceptions": ("BoundaryWarning", "InvalidInputError", "MissingExtraError"),
    "boundshift.metrics": ("metrics_at",),
    "boundshift.models.onnx.export": ("to_onnx",),
    "boundshift.models.store": ("load", "save"),
    "boundshift.promises.certificate": ("Certificate", "certify"),
    "boundshift.promises.comparison": ("BoundaryComparison", "compare_boundaries"),
    "boundshift.promises.interval": ("threshold_interval",),
    "boundshift.promises.monitor": ("Alarm", "Monitor"),
    "boundshift.promises.planning": ("rows_needed",),
    "boundshift.promises.zone": ("Zone", "find_zone"),
    "boundshift.promises.prevalence": (
        "PrevalenceEstimate", "estimate_prevalence", "guard_prevalence",
    ),
    "boundshift.result.boundary": ("Boundary",),
    "boundshift.rules": (
        "MCC", "ClassFloors", "Cost", "CostMatrix", "FBeta", "Floors", "GMean", "Kappa",
        "Markedness", "Metric", "Minimax", "Rule", "Sum", "Youden",
    ),
    "boundshift.status": ("Status",),
}  # fmt: skip
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "DKW",
    "MCC",
    "SLSQP",
    "Alarm",
    "Blend",
    "BoundShiftClassifier",
    "Boundary",
    "BoundaryComparison",
    "BoundaryWarning",
    "Certificate",
    "ClassFloors",
    "ClopperPearson",
    "Cost",
    "CostMatrix",
    "Empirical",
    "EmpiricalBernstein",
    "ErrorCurve",
    "Exact",
    "FBeta",
    "Floors",
    "GMean",
    "GroupBoundaries",
    "InvalidInputError",
    "Kappa",
    "KthPoint",
    "Logistic",
    "Markedness",
    "Metric",
    "Minimax",
    "MissingExtraError",
    "Monitor",
    "PrevalenceEstimate",
    "Rule",
    "Smoothed",
    "Status",
    "StudentT",
    "Sum",
    "SupportRadius",
    "Youden",
    "Zone",
    "certify",
    "compare_boundaries",
    "estimate_prevalence",
    "find_boundaries",
    "find_boundary",
    "find_zone",
    "guard_prevalence",
    "load",
    "metrics_at",
    "rows_needed",
    "save",
    "streaming",
    "threshold_interval",
    "to_onnx",
]


def __getattr__(name: str) -> Any:
    if name == "streaming":
        return import_module("boundshift.streaming")
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
