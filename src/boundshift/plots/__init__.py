"""Figures; matplotlib, the extra ``plot``, is imported when one is drawn."""

from boundshift.plots._monitor import MonitorDisplay
from boundshift.plots._scores import ProjectionDisplay
from boundshift.plots._threshold import ThresholdDisplay

__all__ = ["MonitorDisplay", "ProjectionDisplay", "ThresholdDisplay"]
