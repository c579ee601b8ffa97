"""Figures; matplotlib, the extra ``plot``, is imported when one is drawn."""

from boundshift.plots.monitor import MonitorDisplay
from boundshift.plots.scores import ProjectionDisplay
from boundshift.plots.threshold import ThresholdDisplay

__all__ = ["MonitorDisplay", "ProjectionDisplay", "ThresholdDisplay"]
