"""Figures; matplotlib, the extra ``plot``, is imported when one is drawn."""

from boundshift.plots.monitor import MonitorDisplay
from boundshift.plots.scores import ProjectionDisplay, RecordDisplay
from boundshift.plots.threshold import (
    BoundaryDisplay,
    CostDisplay,
    DecisionCurveDisplay,
    MetricDisplay,
    ThresholdDisplay,
)

__all__ = [
    "BoundaryDisplay",
    "CostDisplay",
    "DecisionCurveDisplay",
    "MetricDisplay",
    "MonitorDisplay",
    "ProjectionDisplay",
    "RecordDisplay",
    "ThresholdDisplay",
]
