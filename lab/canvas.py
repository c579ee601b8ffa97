"""Figures without pyplot: no window, no state shared with the user's own figures."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from boundshift._writing import write_whole
from boundshift.exceptions import MissingExtraError
from boundshift.plots._canvas import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = LIGHT.classes
SHADES = ("#DCEBF5", "#FAE3D6")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure that lays itself out."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("matplotlib", "plot") from error
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> Path:
    return write_whole(path, to_png(figure, dpi=160))


def to_png(figure: Figure, *, dpi: int = 130) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def draw_points(
    ax: Axes, X: NDArray[np.float64], y: NDArray[np.int64], *, size: float = 14.0
) -> None:
    """Draw rows of two features; the positive class lies above and has white rims."""
    for label in (0, 1):
        rows = X[y == label]
        rare = len(rows) < 100
        # One line of markers is drawn several times faster than a scatter of the same size.
        ax.plot(
            rows[:, 0], rows[:, 1], "o", markersize=np.sqrt(size * (3 if rare else 1)),
            color=COLORS[label], alpha=1.0 if rare else 0.5, markeredgecolor="white",
            markeredgewidth=0.8 if rare else 0.2, zorder=3 if rare else 2,
        )  # fmt: skip
