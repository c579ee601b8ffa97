"""Critical-difference diagrams, and what is gained over the number of rare rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lab.canvas import COLORS, new_figure
from lab.statistics import groups_alike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEP = 0.2
_FIRST = 0.32


class Picture(NamedTuple):
    """A picture: the name of its file, what it shows in words, and how it is drawn."""

    name: str
    text: str
    draw: Callable[[], Figure]

    def __str__(self) -> str:
        return f"![{self.text}](images/benchmark/{self.name}.png)"


def draw_critical_difference(
    ranks: Mapping[str, float], difference: float, title: str, marked: str
) -> Figure:
    """Draw average ranks on a line; bars join methods that do not differ significantly.

    1 is the best; `marked` is drawn in colour.
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


_MARKERS = "sD^vPXo*"
# Colours that differ in lightness too; the marked method has one of its own.
_OTHERS = ("#0072b2", "#56b4e9", "#009e73", "#cc79a7", "#7f7f7f", "#000000")
_SAME_SETS = ("5", "10", "20")


def draw_gains(
    numbers: Sequence[str], lines: Mapping[str, Sequence[float | None]], marked: str
) -> Figure:
    """Draw one line a method; numbers that come from other data sets are joined by dots.

    `lines` has a method's shares at each number of rare rows; `marked` is drawn thicker.
    """
    figure = new_figure(9.0, 5.6)
    ax = figure.add_subplot()
    places = np.arange(len(numbers))
    same = [i for i, number in enumerate(numbers) if number in _SAME_SETS]
    for place, (name, given) in enumerate(lines.items()):
        shares = np.array([np.nan if v is None else v for v in given], dtype=np.float64)
        is_marked = name == marked
        style = {
            "color": COLORS[1] if is_marked else _OTHERS[place % len(_OTHERS)],
            "linewidth": 2.6 if is_marked else 1.2,
            "zorder": 3 if is_marked else 2,
        }
        ax.plot(places, shares, linestyle=":", **style)  # type: ignore[arg-type]
        ax.plot(places[same], shares[same], linestyle="-", **style)  # type: ignore[arg-type]
        marker = _MARKERS[place % len(_MARKERS)]
        ax.plot(places, shares, marker, label=name, markersize=6, **style)  # type: ignore[arg-type]
    ax.axhline(1.0, color="0.5", linewidth=0.8)
    ax.set_xticks(places, numbers)
    ax.set_xlabel("rare rows to train on")
    ax.set_ylabel("share of the best threshold's gain")
    ax.set_ylim(min(0.0, ax.get_ylim()[0]), max(1.05, ax.get_ylim()[1]))
    ax.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    return figure
