"""Precision against recall, and recall against false alarms, with both operating points."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from boundshift.metrics import metrics_of_errors
from boundshift.plots.bands import error_band, metric_bands
from boundshift.plots.canvas import add_legend, percent_axis
from boundshift.plots.display import DecidedSample, PanelsDisplay, ScoreDisplay
from boundshift.plots.palette import Palette
from boundshift.result.boundary import Boundary
from boundshift.rules.prevalence import as_prevalence, frequencies
from boundshift.scores.sample import ScoreSample
from boundshift.typing import FloatArray
from boundshift.validation import as_share
from boundshift.view.rows import area_under_curve, class_scores, count_wrong_at

if TYPE_CHECKING:
    pass

__all__ = ["OperatingPoint", "OperatingPointDisplay"]

Pair = tuple[float, float]

# More points than a picture can show.
_MOST_POINTS = 4000


class OperatingPoint(NamedTuple):
    """What a threshold reaches: value, lower and upper end of each metric's exact interval.

    `false_alarms` is the share of negatives flagged.
    """

    threshold: float
    recall: tuple[float, float, float]
    false_alarms: tuple[float, float, float]
    precision: tuple[float, float, float]


@dataclass(eq=False, repr=False)
class OperatingPointDisplay(PanelsDisplay, ScoreDisplay):
    """The precision–recall and the ROC curve, and where on them both boundaries stand.

    The filled point is the new boundary, the hollow one the model's own. The bars are exact: each
    holds its true value with the stated confidence.

    Parameters
    ----------
    boundary : Boundary
        The chosen one.
    recall, false_alarms, precision : arrays
        Along the curves, from flagging nothing to flagging everything.
    points : tuple of OperatingPoint
        The new boundary and, if it is known, the old one.
    area : float
        Under the ROC curve.
    prevalence : float
        Share of the positive class that the precision is for: the sample's, or the one given.
    confidence : float, default=0.95
        Of the bars.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Precision–recall on the left, ROC on the right.

    See Also
    --------
    OperatingPointDisplay.from_estimator : Draw a `BoundShiftClassifier`.
    OperatingPointDisplay.from_predictions : Draw labels and scores; ``old_threshold=``,
        ``prevalence=`` and ``confidence=`` say more.

    Examples
    --------
    >>> from boundshift.plots import OperatingPointDisplay
    >>> y, scores = [0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6]
    >>> display = OperatingPointDisplay.from_predictions(y, scores, old_threshold=5.0)
    >>> [round(point.recall[0], 2) for point in display.points]
    [1.0, 0.5]
    """

    size = (9.0, 4.6)
    layout: ClassVar[dict[str, Any]] = {"rows": 1, "columns": 2}

    boundary: Boundary
    recall: FloatArray
    false_alarms: FloatArray
    precision: FloatArray
    points: tuple[OperatingPoint, ...]
    area: float
    prevalence: float
    _: KW_ONLY
    confidence: float = 0.95

    @classmethod
    def _from_sample(
        cls, decided: DecidedSample, *, prevalence: float | None = None, confidence: float = 0.95
    ) -> Self:
        as_share("confidence", confidence)
        sample = decided.sample
        weights = frequencies(as_prevalence(prevalence), sample.n_samples)
        share = weights[1] / (weights[0] + weights[1])
        values = np.unique(np.concatenate(class_scores(sample)))
        cuts = np.append(values[::-1], -np.inf)
        if len(cuts) > _MOST_POINTS:
            cuts = cuts[np.unique(np.linspace(0, len(cuts) - 1, _MOST_POINTS).astype(np.intp))]
        wrong = count_wrong_at(sample, cuts)
        alarms, missed = (k / n for k, n in zip(wrong, sample.n_samples, strict=True))
        metrics = metrics_of_errors(alarms, missed, sample.n_samples, prevalence=share)
        return cls(
            decided.boundary,
            metrics["recall"],
            alarms,
            metrics["precision"],
            tuple(_point(sample, place, share, confidence) for place in decided.places),
            area_under_curve(sample),
            share,
            confidence=confidence,
        )

    def _draw(self, palette: Palette) -> None:
        left, right = self.axes_
        # With nothing flagged there is no precision to draw.
        left.step(self.recall[1:], self.precision[1:], where="pre", **_line(palette))
        left.axhline(self.prevalence, color=palette.soft, lw=1, ls="--")
        right.plot(self.false_alarms, self.recall, **_line(palette))
        right.plot([0, 1], [0, 1], color=palette.soft, lw=1, ls="--")
        for number, point in enumerate(self.points):
            self._draw_point(point, number == 0, palette)
        for ax, labels in (
            (left, ("recall", "precision")),
            (right, ("negatives flagged", "recall")),
        ):
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel=labels[0], ylabel=labels[1])
            percent_axis(ax.xaxis)
            percent_axis(ax.yaxis)
            ax.grid(color=palette.line, lw=0.7)
            ax.set_axisbelow(True)
        left.set_title(f"Precision at a prevalence of {100 * self.prevalence:.3g}%", fontsize=11)
        right.set_title(f"ROC, area {self.area:.3f}", fontsize=11)
        self._add_legend(palette)

    def _draw_point(self, point: OperatingPoint, is_new: bool, palette: Palette) -> None:
        """Draw a point with its bars on both panels."""
        color = palette.ink if is_new else palette.soft
        face = color if is_new else palette.surface
        for ax, x, y in (
            (self.axes_[0], point.recall, point.precision),
            (self.axes_[1], point.false_alarms, point.recall),
        ):
            ax.plot(x[1:], [y[0], y[0]], color=color, lw=1.4, zorder=6)
            ax.plot([x[0], x[0]], y[1:], color=color, lw=1.4, zorder=6)
            ax.plot(x[0], y[0], "o", color=color, mfc=face, ms=9, mew=1.6, zorder=7, clip_on=False)

    def _add_legend(self, palette: Palette) -> None:
        from matplotlib.lines import Line2D

        percent = f"{100 * self.confidence:.6g}%"
        points = [(f"new boundary, {percent} bars", palette.ink, palette.ink)]
        if len(self.points) > 1:
            points.append(("old boundary", palette.soft, palette.surface))
        marks: list[Any] = [
            Line2D([], [], color=color, marker="o", ms=9, lw=1.4, mew=1.6, mfc=face, label=name)
            for name, color, face in points
        ]
        guess = Line2D([], [], color=palette.soft, lw=1, ls="--", label="a guess")
        for ax, shown in zip(self.axes_, (marks, [guess]), strict=True):
            add_legend(ax, shown, palette, bbox_to_anchor=(0.5, -0.16), ncols=2)


def _line(palette: Palette) -> dict[str, Any]:
    return {"color": palette.classes[1], "lw": 2}


def _point(
    sample: ScoreSample, threshold: float, prevalence: float, confidence: float
) -> OperatingPoint:
    """Return what a threshold reaches."""
    n = sample.n_samples
    first, second = count_wrong_at(sample, np.array([threshold]))
    bands = metric_bands(
        (first, second), n, ["recall", "precision"], confidence=confidence, prevalence=prevalence
    )
    found = (bands["recall"], error_band(first, n[0], confidence), bands["precision"])
    recall, alarms, precision = (
        (float(b.value[0]), float(b.low[0]), float(b.high[0])) for b in found
    )
    return OperatingPoint(threshold, recall, alarms, precision)
