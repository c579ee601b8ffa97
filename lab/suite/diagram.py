"""Critical-difference diagrams."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from lab.harness.canvas import COLORS, new_figure
from lab.harness.statistics import groups_alike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_critical_difference"]

_STEP = 0.2
_FIRST = 0.32


def draw_critical_difference(
    ranks: Mapping[str, float], difference: float, title: str, marked: str
) -> Figure:
    """Draw average ranks on a line; bars join methods that do not differ significantly.

    Parameters
    ----------
    ranks : mapping
        Method → average rank, 1 the best.
    difference : float
        Nemenyi's critical difference.
    title : str
        What is ranked.
    marked : str
        A method to draw in colour.
    """
    ordered = sorted(ranks.items(), key=lambda item: item[1])
    values = [rank for _, rank in ordered]
    runs = groups_alike(values, difference)
    half = (len(ordered) + 1) // 2
    bars = 0.14 * len(runs)
    height = _FIRST + bars + _STEP * half
    figure = new_figure(11.0, height + 1.0)
    ax = figure.add_subplot()
    low, high = int(np.floor(values[0])), int(np.ceil(values[-1]))
    pad = 0.95 * (high - low)
    ax.set_xlim(low - pad, high + pad)
    ax.set_ylim(height, -0.85)
    ax.axis("off")
    figure.suptitle(title, x=0.02, ha="left", fontsize=11)
    _draw_axis(ax, low, high)
    _draw_difference(ax, low, difference)
    for row, (first, last) in enumerate(runs):
        level = 0.16 + 0.14 * row
        edge = 0.004 * (high - low)
        ax.plot(
            [values[first] - edge, values[last] + edge],
            [level, level],
            color="#444444",
            linewidth=3.2,
            solid_capstyle="butt",
        )
    for place, (name, rank) in enumerate(ordered):
        left = place < half
        row = place if left else len(ordered) - 1 - place
        end = low - 0.04 * (high - low) if left else high + 0.04 * (high - low)
        depth = _FIRST + bars + _STEP * row
        _draw_method(ax, name, rank, end, depth, left, name == marked)
    return figure


def _draw_axis(ax: Axes, low: int, high: int) -> None:
    """Draw the line of ranks."""
    ax.plot([low, high], [0, 0], color="black", linewidth=1.2)
    for rank in range(low, high + 1):
        ax.plot([rank, rank], [0, -0.08], color="black", linewidth=1.0)
        ax.text(rank, -0.13, str(rank), ha="center", va="bottom", fontsize=9)


def _draw_difference(ax: Axes, low: int, difference: float) -> None:
    """Draw the critical difference above the line."""
    level = -0.5
    ax.plot([low, low + difference], [level, level], color="black", linewidth=1.6)
    for end in (low, low + difference):
        ax.plot([end, end], [level - 0.05, level + 0.05], color="black", linewidth=1.6)
    ax.text(
        low + difference / 2,
        level - 0.07,
        f"critical difference {difference:.2f}",
        ha="center",
        va="bottom",
        fontsize=9,
    )


def _draw_method(
    ax: Axes, name: str, rank: float, end: float, depth: float, left: bool, marked: bool
) -> None:
    """Draw a line from a rank on the axis to its method's name."""
    color = COLORS[1] if marked else "black"
    width = 1.6 if marked else 0.8
    ax.plot([rank, rank, end], [0, depth, depth], color=color, linewidth=width)
    ax.text(
        end,
        depth,
        f"{name}  {rank:.2f} " if left else f" {rank:.2f}  {name}",
        ha="right" if left else "left",
        va="center",
        fontsize=9,
        color=color,
        weight="bold" if marked else "normal",
    )
