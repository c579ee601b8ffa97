"""Figures; matplotlib, the extra ``plot``, is imported when one is drawn."""

from boundshift.plots.boundary import BoundaryDisplay
from boundshift.plots.comparison import ComparisonDisplay
from boundshift.plots.cost import CostDisplay
from boundshift.plots.decision import DecisionDisplay
from boundshift.plots.decision_curve import DecisionCurveDisplay
from boundshift.plots.metric import MetricDisplay
from boundshift.plots.monitor import MonitorDisplay
from boundshift.plots.operating_point import OperatingPointDisplay
from boundshift.plots.projection import ProjectionDisplay
from boundshift.plots.record import RecordDisplay

__all__ = [
    "BoundaryDisplay",
    "ComparisonDisplay",
    "CostDisplay",
    "DecisionCurveDisplay",
    "DecisionDisplay",
    "MetricDisplay",
    "MonitorDisplay",
    "OperatingPointDisplay",
    "ProjectionDisplay",
    "RecordDisplay",
]
