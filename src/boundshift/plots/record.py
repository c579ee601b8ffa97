"""What a boundary's record alone can show: claims beside counts, without any scores."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from boundshift.plots.bands import error_band
from boundshift.plots.canvas import add_legend, percent_axis
from boundshift.plots.display import OneAxesDisplay
from boundshift.plots.palette import Palette
from boundshift.result.boundary import Boundary
from boundshift.view.words import claim_text, decision_text, percent

__all__ = ["RecordDisplay"]


@dataclass(eq=False, repr=False)
class RecordDisplay(OneAxesDisplay):
    """Each class's share on the wrong side of the boundary, and what the curve claims of it.

    The point is the share of the rows that decided, the bar its exact interval (Clopper and
    Pearson's, for a threshold that was fixed beforehand), the upright mark the claimed error.
    Nothing but the record is needed; with the scores, :class:`BoundaryDisplay` shows more.

    Parameters
    ----------
    boundary : Boundary
        The record.
    confidence : float, default=0.95
        Of the bars.

    Examples
    --------
    >>> from boundshift import find_boundary
    >>> from boundshift.plots import RecordDisplay
    >>> boundary = find_boundary([0, 0, 0, 0, 0, 1, 1], [0, 1, 1, 2, 1, 5, 6])
    >>> RecordDisplay(boundary).plot().ax_.get_title()
    'Predict 1 if score > 3.363, else 0'
    """

    size = (8.0, 3.2)

    boundary: Boundary
    _: KW_ONLY
    confidence: float = 0.95

    def _draw(self, palette: Palette) -> None:
        ax, known = self.ax_, self.boundary
        names = []
        for i, color in enumerate(palette.classes):
            wrong, n = known.wrong[i], known.n_samples[i]
            band = error_band(np.array([wrong]), n, self.confidence)
            ax.plot([band.low[0], band.high[0]], [i, i], color=color, lw=4, alpha=0.4)
            ax.plot(band.value, [i], "o", color=color, ms=10, mec=palette.surface, mew=1.5)
            claimed = known.errors[i]
            if np.isfinite(claimed):
                ax.plot([claimed] * 2, [i - 0.22, i + 0.22], color=palette.ink, lw=2)
            names.append(
                f"class {known.labels[i]}\n{wrong:,} of {n:,} rows\nclaimed {percent(claimed)}"
            )
        ax.set_yticks([0, 1], names)
        for tick, color in zip(ax.get_yticklabels(), palette.classes, strict=True):
            tick.set_color(color)
        ax.tick_params(axis="y", length=0)
        ax.set(ylim=(-0.6, 1.6), xlabel="on the wrong side")
        ax.set_xlim(left=0)
        percent_axis(ax.xaxis)
        ax.set_title(decision_text(known))
        self._add_legend(palette)

    def _add_legend(self, palette: Palette) -> None:
        from matplotlib.lines import Line2D

        text = f"exact {100 * self.confidence:.6g}% interval"
        marks: list[Any] = [
            Line2D([], [], color=palette.soft, marker="o", ls="", ms=9, label="share of rows"),
            Line2D([], [], color=palette.soft, lw=4, alpha=0.4, label=text),
            Line2D([], [], color=palette.ink, lw=2, label="claimed"),
        ]
        title = claim_text(self.boundary)
        add_legend(self.ax_, marks, palette, bbox_to_anchor=(0.5, -0.2), title=title)
