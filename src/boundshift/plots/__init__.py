"""Figures; matplotlib, the extra ``plot``, is imported when one is drawn."""

from boundshift.plots.projection import ProjectionDisplay

__all__ = ["ProjectionDisplay"]
