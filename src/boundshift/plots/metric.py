"""Metrics against the threshold, each with a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

from boundshift.metrics import odds_of, settle_costs
from boundshift.plots.bands import Band, check_metrics, metric_bands
from boundshift.plots.canvas import (
    add_legend,
    boundary_marks,
    draw_band,
    draw_boundaries,
    finish_thresholds,
    line_style,
    mark_boundaries,
)
from boundshift.plots.display import DecidedSample, OneAxesDisplay, ScoreDisplay
from boundshift.plots.palette import Palette
from boundshift.result.boundary import Boundary
from boundshift.rules.cost import Cost
from boundshift.rules.prevalence import as_prevalence
from boundshift.typing import FloatArray
from boundshift.validation import as_share
from boundshift.view.rows import count_wrong_at
from boundshift.view.words import decision_text

__all__ = ["MetricDisplay"]


_USUAL = ("recall", "precision", "f1")


@dataclass(eq=False, repr=False)
class MetricDisplay(OneAxesDisplay, ScoreDisplay):
    """Several metrics against the threshold, with bands, and both operating points.

    A band holds the true metric with the stated confidence, at each threshold by itself, whatever
    the scores look like: it is made of Clopper and Pearson's exact intervals of both classes'
    error rates, not of resampling. For a metric of both classes it is therefore a little wider
    than it needs to be. The prevalence, the sample's or the one given, is taken as known.

    Parameters
    ----------
    boundary : Boundary
        The chosen one.
    thresholds, bands : array of shape (n,) and dict of str to Band
        Metrics by name, each with ``value``, ``low`` and ``high`` at every threshold.
    old_threshold : float or None, default=None
        Where the classifier decided before.
    confidence : float, default=0.95
        Of the bands.

    See Also
    --------
    MetricDisplay.from_estimator : Draw a `BoundShiftClassifier`.
    MetricDisplay.from_predictions : Draw labels and scores; ``metrics=("recall", "npv")``,
        ``prevalence=``, ``costs=`` and ``confidence=`` say what.
    boundshift.metrics_at : The same numbers as a table.

    Examples
    --------
    >>> from boundshift.plots import MetricDisplay
    >>> y, scores = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
    >>> display = MetricDisplay.from_predictions(
    ...     y, scores, metrics=("recall", "precision"), prevalence=0.01
    ... )
    >>> list(display.bands)
    ['recall', 'precision']
    """

    size = (8.0, 5.0)

    boundary: Boundary
    thresholds: FloatArray
    bands: Mapping[str, Band]
    _: KW_ONLY
    old_threshold: float | None = None
    confidence: float = 0.95

    @classmethod
    def _from_sample(
        cls,
        decided: DecidedSample,
        *,
        metrics: Sequence[str] = _USUAL,
        prevalence: float | None = None,
        costs: Cost | None = None,
        confidence: float = 0.95,
    ) -> Self:
        names = check_metrics(metrics)
        as_share("confidence", confidence)
        costs, share = settle_costs(costs, as_prevalence(prevalence))
        boundary, sample, old_threshold = decided
        thresholds = decided.grid()
        bands = metric_bands(
            count_wrong_at(sample, thresholds),
            sample.n_samples,
            names,
            confidence=confidence,
            prevalence=share,
            costs=costs,
            odds=odds_of(costs or Cost()),
        )
        known: dict[str, Any] = {"old_threshold": old_threshold, "confidence": confidence}
        return cls(boundary, thresholds, bands, **known)

    def _draw(self, palette: Palette) -> None:
        ax, new, old = self.ax_, self.boundary.threshold, self.old_threshold
        for i, band in enumerate(self.bands.values()):
            style = line_style(i, palette)
            draw_band(ax, self.thresholds, band, style)
            mark_boundaries(ax, self.thresholds, band.value, new, old, style["color"], palette)
        draw_boundaries(ax, new, old, palette)
        finish_thresholds(ax, self.thresholds, decision_text(self.boundary), palette)
        self._add_legend(palette)

    def _add_legend(self, palette: Palette) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        marks: list[Any] = [
            Line2D([], [], label=name.replace("_", " "), **line_style(i, palette))
            for i, name in enumerate(self.bands)
        ]
        percent = f"{100 * self.confidence:.6g}%"
        marks.append(Patch(color=palette.soft, alpha=0.3, lw=0, label=f"exact {percent} band"))
        marks += boundary_marks(self.old_threshold, palette)
        add_legend(self.ax_, marks, palette)
