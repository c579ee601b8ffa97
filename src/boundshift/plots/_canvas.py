"""What every display shares: colours on light and dark backgrounds, axes, marks and legends.

Blue and vermilion are Okabe and Ito's, which colour-blind readers can tell apart; on a dark
background they are lighter. No figure relies on colour alone: classes also differ by place, dash,
name or mark.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from boundshift._scores import ScoreSample
from boundshift._typing import FloatArray
from boundshift._view import choose_axis
from boundshift.exceptions import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DASHES = ("-", "--", "-.", ":")
_N_THRESHOLDS = 801
_DARK_BELOW = 0.4  # brightness of a background
_LINE = 100  # characters of a sentence that fit on a figure


@dataclass(frozen=True)
class Palette:
    """Colours by purpose: paper, text, secondary text, thin lines; classes are (−, +)."""

    surface: str
    ink: str
    soft: str
    line: str
    classes: tuple[str, str]


LIGHT = Palette("#FFFFFF", "#1A1A1A", "#5F6368", "#D8D8D8", ("#0072B2", "#D55E00"))
DARK = Palette("#16181B", "#F0F0EE", "#A9ADB3", "#3C4046", ("#62B5EA", "#FF9A57"))


class Display(ABC):
    """A figure, of one or more panels."""

    size = (8.0, 5.0)  # of a new figure, in inches
    heights: Sequence[float] = (1,)  # relative, of panels below each other that share the x axis

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw, in the colours of the axes or of matplotlib's style, light or dark.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; several panels take their place. None makes a new figure.

        Returns
        -------
        display : the display itself, with the panels as ``axes_``, the first of them as ``ax_``,
            and their figure as ``figure_``

        Raises
        ------
        MissingExtraError
            If matplotlib is not installed.
        """
        if ax is None:
            try:
                from matplotlib import pyplot
            except ImportError as error:
                raise MissingExtraError("matplotlib", "plot") from error
            ax = pyplot.figure(figsize=self.size, layout="constrained").add_subplot()
        self.axes_ = [ax]
        if len(self.heights) > 1:
            place = ax.get_subplotspec()
            if place is None:
                raise InvalidInputError(
                    "must belong to a grid of subplots, since several panels take its place, "
                    "got axes with a place of their own. Use ax=figure.subplots().",
                    argument="ax",
                )
            ax.set_axis_off()
            spec: Any = place.subgridspec(len(self.heights), 1, height_ratios=self.heights)
            self.axes_ = list(spec.subplots(squeeze=False, sharex=True).ravel())
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        palettes = [_paint(panel) for panel in self.axes_]
        self._draw(palettes[0])
        return self

    @abstractmethod
    def _draw(self, palette: Palette) -> None:
        """Draw on the panels."""


def read_estimator(
    estimator: Any, X: Any, old_threshold: float | Literal["auto"] | None
) -> tuple[FloatArray, float | None]:
    """Return the scores of rows by a fitted classifier, and where it decided before.

    The old threshold is that of the wrapped classifier if it is "auto".
    """
    check_is_fitted(estimator)
    if len(estimator.classes_) != 2:
        raise InvalidInputError(
            f"must have two classes, but it has {len(estimator.classes_)}. Draw one "
            "of its `boundaries_` with ProjectionDisplay(boundary, scores).plot().",
            argument="estimator",
        )
    old = estimator.own_threshold_ if old_threshold == "auto" else old_threshold
    return estimator.positive_scores(X), old


def grid_of(sample: ScoreSample, *marks: float | None) -> FloatArray:
    """Return thresholds from end to end of the axis, with all marks among them."""
    places = [mark for mark in marks if mark is not None]
    axis = choose_axis([sample], places, linear=True)
    shown = [place for place in places if np.isfinite(place)]
    return np.unique(np.append(np.linspace(axis.low, axis.high, _N_THRESHOLDS), shown))


def draw_boundaries(
    axes: Sequence[Axes], new: float, old: float | None, palette: Palette
) -> list[Any]:
    """Draw both boundaries across all panels, the old one dotted; return the legend's entries."""
    lines: list[tuple[str, float, dict[str, Any]]] = [("new", new, {"color": palette.ink})]
    if old is not None:
        lines.append(("old", old, {"color": palette.soft, "ls": ":"}))
    for ax in axes:
        for _, place, style in lines:
            ax.axvline(place, lw=1.8, zorder=6, **style)
    return [line_key(f"{name} boundary", lw=1.8, **style) for name, _, style in lines]


def add_legend(
    ax: Axes, keys: list[Any], palette: Palette, *, below: float = 0.13, title: str = ""
) -> None:
    """Explain the marks below the axes, under a sentence."""
    legend = ax.legend(
        handles=keys,
        frameon=False,
        title=fill(title, _LINE),
        loc="upper center",
        bbox_to_anchor=(0.5, -below),
        ncols=4,
        fontsize="small",
        title_fontsize="small",
        labelcolor=palette.ink,
    )
    legend.get_title().set(color=palette.soft, multialignment="center")


def line_key(label: str, **style: Any) -> Any:
    """Return the legend's entry of a line or a marker."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label, **style)


def _paint(ax: Axes) -> Palette:
    """Colour text and lines by the background, and return the palette for it."""
    from matplotlib.colors import to_rgba

    paper = to_rgba(ax.get_facecolor())
    if paper[3] == 0:
        paper = to_rgba(ax.figure.get_facecolor())
    red, green, blue, opacity = paper
    brightness = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    is_dark = opacity > 0 and brightness < _DARK_BELOW
    palette = DARK if is_dark else LIGHT
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(palette.soft)
    ax.tick_params(colors=palette.soft, labelcolor=palette.ink)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(palette.ink)
    return palette
