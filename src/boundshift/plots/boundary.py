"""Errors of both classes and the rule at every threshold."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from boundshift.plots.bands import Band, error_band
from boundshift.plots.canvas import (
    add_legend,
    boundary_marks,
    draw_band,
    draw_boundaries,
    mark_boundaries,
)
from boundshift.plots.display import DecidedSample, PanelsDisplay, ScoreDisplay, stacked
from boundshift.plots.palette import Palette
from boundshift.plots.profile import rule_values
from boundshift.result.boundary import Boundary
from boundshift.typing import FloatArray
from boundshift.validation import as_share
from boundshift.view.rows import count_wrong_at
from boundshift.view.words import claim_text, decision_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BoundaryDisplay"]

Pair = tuple[float, float]

# Share of the axis below which a stretch of it cannot be told from a point.
_LEAST_SEEN = 0.002


@dataclass(eq=False, repr=False)
class BoundaryDisplay(PanelsDisplay, ScoreDisplay):
    """Error rates of both classes, and the rule, against the threshold.

    Above, the share of each class on the wrong side, with a band that holds the true share with
    the stated confidence at each threshold by itself (Clopper and Pearson's interval). Below, what
    the rule makes of the errors that the curve claims: its lowest point is the boundary. On rows
    other than those that decided it need not be. A shaded strip is the interval in which the
    boundary may fall, a thick line at the bottom the plateau on which the rule does not change.

    Parameters
    ----------
    boundary : Boundary
        The chosen one.
    thresholds : array of shape (n,)
        Where the curves are known.
    errors : pair of Band
        Of the (negative, positive) class.
    rule_values : array of shape (n,)
        The rule, NaN where it has no value.
    old_threshold : float or None, default=None
        Where the classifier decided before.
    interval : pair of float or None, default=None
        From :func:`~boundshift.threshold_interval`.
    confidence : float, default=0.95
        Of the bands.

    Attributes
    ----------
    axes_ : list of matplotlib Axes
        Errors above, rule below.

    See Also
    --------
    BoundaryDisplay.from_estimator : Draw a `BoundShiftClassifier`.
    BoundaryDisplay.from_predictions : Draw labels and scores.

    Examples
    --------
    >>> import numpy as np
    >>> from boundshift.plots import BoundaryDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], [300, 30])
    >>> display = BoundaryDisplay.from_predictions(y, rng.normal(3.0 * y), rule="sum")
    >>> lowest = display.thresholds[np.nanargmin(display.rule_values)]
    >>> bool(abs(lowest - display.boundary.threshold) < 0.02)
    True
    """

    size = (8.0, 5.6)
    layout = stacked(2.4)

    boundary: Boundary
    thresholds: FloatArray
    errors: tuple[Band, Band]
    rule_values: FloatArray
    _: KW_ONLY
    old_threshold: float | None = None
    interval: Pair | None = None
    confidence: float = 0.95

    @classmethod
    def _from_sample(
        cls, decided: DecidedSample, *, interval: Pair | None = None, confidence: float = 0.95
    ) -> Self:
        as_share("confidence", confidence)
        boundary, sample, old_threshold = decided
        thresholds = decided.grid(*(interval or ()))
        wrong = count_wrong_at(sample, thresholds)
        negative, positive = (
            error_band(k, n, confidence) for k, n in zip(wrong, sample.n_samples, strict=True)
        )
        return cls(
            boundary,
            thresholds,
            (negative, positive),
            rule_values(sample, thresholds, boundary.curve, boundary.rule, boundary.scale),
            old_threshold=old_threshold,
            interval=interval,
            confidence=confidence,
        )

    def _draw(self, palette: Palette) -> None:
        self._draw_errors(self.axes_[0], palette)
        self._draw_rule(self.axes_[1], palette)
        for axes in self.axes_:
            if self.interval is not None:
                axes.axvspan(*self.interval, color=palette.ink, alpha=0.09, lw=0)
            draw_boundaries(axes, self.boundary.threshold, self.old_threshold, palette)
        self._label(palette)

    def _draw_errors(self, ax: Axes, palette: Palette) -> None:
        """Draw both classes' error rates, their bands, and where they stand at the boundary."""
        for error, color in zip(self.errors, palette.classes, strict=True):
            draw_band(ax, self.thresholds, error, {"color": color, "lw": 2}, alpha=0.2)
            mark_boundaries(
                ax, self.thresholds, error.value, self.boundary.threshold, None, color, palette
            )
        ax.set_ylim(0, 1.02)
        ax.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0%", "25%", "50%", "75%", "100%"])
        ax.set_ylabel("on the wrong side")
        ax.grid(axis="y", color=palette.line, lw=0.7)
        ax.set_axisbelow(True)

    def _draw_rule(self, ax: Axes, palette: Palette) -> None:
        """Draw the rule, its lowest point and its plateau."""
        ax.plot(self.thresholds, self.rule_values, color=palette.soft, lw=2)
        at = int(np.argmin(np.abs(self.thresholds - self.boundary.threshold)))
        value = self.rule_values[at]
        if self._has_plateau and np.isfinite(value):
            ends = self.boundary.plateau
            ax.plot(ends, [value, value], color=palette.ink, lw=5, solid_capstyle="butt")
        ax.plot(
            self.boundary.threshold, value, "o", color=palette.ink, ms=9,
            mec=palette.surface, mew=1.5, zorder=7,
        )  # fmt: skip
        ax.set_ylabel(f"rule: {self.boundary.rule.name}")
        ax.margins(y=0.15)

    @property
    def _has_plateau(self) -> bool:
        """Whether the plateau is wide enough to be seen."""
        low, high = self.boundary.plateau
        return bool(high - low > _LEAST_SEEN * (self.thresholds[-1] - self.thresholds[0]))

    def _label(self, palette: Palette) -> None:
        """Name what is drawn."""
        top, bottom = self.axes_
        top.set_title(decision_text(self.boundary))
        top.tick_params(labelbottom=False)
        bottom.set_xlabel("threshold on the score")
        bottom.set_xlim(float(self.thresholds[0]), float(self.thresholds[-1]))
        self._add_legend(bottom, palette)

    def _add_legend(self, ax: Axes, palette: Palette) -> None:
        """Explain the marks below the axes."""
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        percent = f"{100 * self.confidence:.6g}%"
        positive = self.boundary.labels[1]
        texts = (
            f"class {self.boundary.labels[0]} called {positive}",
            f"class {positive} missed",
        )
        marks: list[Any] = [
            Line2D([], [], color=color, lw=2, label=text)
            for color, text in zip(palette.classes, texts, strict=True)
        ]
        marks.append(Patch(color=palette.soft, alpha=0.3, lw=0, label=f"{percent} band"))
        marks += boundary_marks(self.old_threshold, palette)
        if self.interval is not None:
            text = "where the boundary may fall"
            marks.append(Patch(color=palette.ink, alpha=0.09, lw=0, label=text))
        if self._has_plateau:
            marks.append(Line2D([], [], color=palette.ink, lw=5, label="plateau"))
        title = claim_text(self.boundary)
        add_legend(ax, marks, palette, bbox_to_anchor=(0.5, -0.42), title=title)
