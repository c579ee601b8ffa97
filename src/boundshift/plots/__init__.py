"""Figures; matplotlib, the extra ``plot``, is imported when one is drawn."""

from boundshift.plots.boundary import BoundaryDisplay
from boundshift.plots.comparison import ComparisonDisplay
from boundshift.plots.decision import DecisionDisplay
from boundshift.plots.monitor import MonitorDisplay
from boundshift.plots.projection import ProjectionDisplay

__all__ = [
    "BoundaryDisplay",
    "ComparisonDisplay",
    "DecisionDisplay",
    "MonitorDisplay",
    "ProjectionDisplay",
]
