"""Axes to draw on: new or given, one or several, on light or dark paper."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from boundshift.exceptions import InvalidInputError, MissingExtraError
from boundshift.plots.palette import Palette, Theme, choose_palette

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from boundshift.plots.bands import Band

__all__ = [
    "add_legend",
    "boundary_marks",
    "draw_band",
    "draw_boundaries",
    "line_style",
    "mark_boundaries",
    "open_axes",
    "percent_axis",
    "split_axes",
]

_LINES = ("-", "--", "-.", ":")

# Characters of a sentence that fit on a figure of ordinary width.
_LINE = 100


def open_axes(ax: Axes | None, theme: Theme, size: tuple[float, float]) -> tuple[Axes, Palette]:
    """Return axes, new ones if none are given, and the palette that suits them."""
    if ax is None:
        ax = _pyplot().subplots(figsize=size, layout="constrained")[1]
    palette = _paint(ax, theme)
    _style(ax, palette)
    return ax, palette


def split_axes(
    ax: Axes | None, theme: Theme, size: tuple[float, float], rows: int, columns: int, **grid: Any
) -> tuple[list[Axes], Palette]:
    """Return several axes: on a new figure, or in the place of the axes that are given.

    Parameters
    ----------
    ax : Axes or None
        Switched off if given; the new ones take its place.
    theme : {"auto", "light", "dark"}
        Of the paper.
    size : tuple of float
        Of a new figure, in inches.
    rows, columns : int
        Of the axes.
    **grid : dict
        `sharex`, `sharey`, `height_ratios` and the like.
    """
    shared = {name: grid.pop(name) for name in ("sharex", "sharey") if name in grid}
    if ax is None:
        figure = _pyplot().figure(figsize=size, layout="constrained")
        spec = figure.add_gridspec(rows, columns, **grid)
    else:
        place = ax.get_subplotspec()
        if place is None:
            raise InvalidInputError(
                "`ax` must belong to a grid of subplots, since several panels take its place, got "
                "axes with a place of their own. Use ax=figure.subplots()."
            )
        figure = ax.figure
        spec = place.subgridspec(rows, columns, **grid)
        ax.set_axis_off()
    axes = [axis for row in np.atleast_2d(spec.subplots(squeeze=False, **shared)) for axis in row]
    palette = _paint(axes[0], theme)
    for axis in axes:
        _paint(axis, theme)
        _style(axis, palette)
    return axes, palette


def add_legend(
    ax: Axes, handles: list[Any], palette: Palette, *, title: str = "", **style: Any
) -> None:
    """Explain the marks, by default below the axes, under a sentence."""
    place: dict[str, Any] = {
        "loc": "upper center",
        "bbox_to_anchor": (0.5, -0.13),
        "ncols": 4,
        "frameon": False,
        "fontsize": "small",
        "title_fontsize": "small",
    }
    style = place | style | {"title": fill(title, _LINE)}
    legend = ax.legend(handles=handles, labelcolor=palette.ink, **style)
    legend.get_title().set(color=palette.soft, multialignment="center")


def draw_boundaries(ax: Axes, new: float, old: float | None, palette: Palette) -> None:
    """Draw the new boundary as a line across the axes, and the old one dotted if it is known."""
    if old is not None:
        ax.axvline(old, color=palette.soft, lw=1.8, ls=":", zorder=6)
    ax.axvline(new, color=palette.ink, lw=1.8, zorder=6)


def mark_boundaries(
    ax: Axes, x: Any, y: Any, new: float, old: float | None, color: str, palette: Palette
) -> None:
    """Mark where a line stands at the new boundary, filled, and at the old one, hollow."""
    for place, face in ((old, palette.surface), (new, color)):
        if place is None:
            continue
        at = int(np.argmin(np.abs(x - place)))
        edge = palette.surface if face == color else color
        style: dict[str, Any] = {"mfc": face, "mec": edge, "ms": 9, "mew": 1.5}
        ax.plot(place, y[at], "o", color=color, zorder=7, clip_on=False, **style)


def boundary_marks(old: float | None, palette: Palette) -> list[Any]:
    """Return the legend's lines for the new boundary, and the old one if it is known."""
    from matplotlib.lines import Line2D

    marks = [Line2D([], [], color=palette.ink, lw=1.8, label="new boundary")]
    if old is not None:
        marks.append(Line2D([], [], color=palette.soft, lw=1.8, ls=":", label="old boundary"))
    return marks


def line_style(i: int, palette: Palette) -> dict[str, Any]:
    """Return how the i-th of several lines is drawn: by a colour and a dash of its own."""
    colors = (*palette.classes, palette.ink, palette.soft)
    return {"color": colors[i % len(colors)], "ls": _LINES[(i + i // 4) % len(_LINES)], "lw": 2}


def draw_band(ax: Axes, x: Any, band: Band, style: dict[str, Any], alpha: float = 0.15) -> None:
    """Draw a quantity as a line with its band."""
    ax.fill_between(x, band.low, band.high, color=style["color"], alpha=alpha, lw=0)
    ax.plot(x, band.value, **style)


def finish_thresholds(ax: Axes, x: Any, title: str, palette: Palette) -> None:
    """Name an axis of thresholds from end to end, with level lines and a title."""
    ax.set_xlim(float(x[0]), float(x[-1]))
    ax.set_xlabel("threshold on the score")
    ax.grid(axis="y", color=palette.line, lw=0.7)
    ax.set_axisbelow(True)
    ax.set_title(title)


def percent_axis(axis: Any) -> None:
    """Write the numbers of an axis in percent."""
    axis.set_major_formatter(lambda value, _: f"{100 * value:.3g}%".replace("-", "−"))


def _pyplot() -> Any:
    """Return pyplot, or say which extra brings it."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot") from error
    return pyplot


def _paint(ax: Axes, theme: Theme) -> Palette:
    """Choose the palette; a theme that is asked for also paints the paper."""
    from matplotlib.colors import to_rgba

    paper = to_rgba(ax.get_facecolor())
    if paper[3] == 0:
        paper = to_rgba(ax.figure.get_facecolor())
    palette = choose_palette(theme, paper if paper[3] else (1.0, 1.0, 1.0))
    if theme != "auto":
        ax.figure.set_facecolor(palette.surface)
        ax.set_facecolor(palette.surface)
    return palette


def _style(ax: Axes, palette: Palette) -> None:
    """Colour text and lines, and leave out what encloses."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(palette.soft)
    ax.tick_params(colors=palette.soft, labelcolor=palette.ink)
    ax.xaxis.label.set_color(palette.ink)
    ax.yaxis.label.set_color(palette.ink)
    ax.title.set_color(palette.ink)
