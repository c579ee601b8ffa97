"""What is gained over the number of rare rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lab.canvas import COLORS, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Picture(NamedTuple):
    """A picture: the name of its file, what it shows in words, and how it is drawn."""

    name: str
    text: str
    draw: Callable[[], Figure]

    def __str__(self) -> str:
        return f"![{self.text}](images/benchmark/{self.name}.png)"


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
