"""Figures in the projected space: 2, 4 and 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from boundshift.boundary import find_boundary
from boundshift.plots import ProjectionDisplay
from boundshift.typing import FloatArray
from lab.harness.canvas import COLORS, draw_points, new_figure
from lab.reproduction.figures.scenes import far_apart, fitted_on_scene, overlapping

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_optimised_space", "draw_overlap", "draw_projected_space"]


_DASHES = (0, (2, 1.2))


def draw_projected_space() -> Figure:
    """Figure 2: two classes, and their scores with D, radii and confidence radii."""
    scene = far_apart()
    figure = new_figure(11.0, 4.4)
    plane, line = figure.subplots(1, 2, width_ratios=(1, 1.7))
    draw_points(plane, scene.X, scene.y)
    plane.set_aspect("equal")
    plane.set_xlabel("feature 1")
    plane.set_ylabel("feature 2")
    for label, (name, color) in enumerate(zip(("$S_1$", "$S_2$"), COLORS, strict=True)):
        middle = scene.X[scene.y == label].mean(axis=0)
        plane.text(middle[0] + (2.9, -3.4)[label], middle[1], name, fontsize=18, color=color)
    plane.set_title("Training data")
    _draw_space(line, scene.y, scene.scores, confidence=True)
    line.set_title(r"Projected space $\langle\phi(x), w\rangle$")
    return figure


def draw_overlap() -> Figure:
    """Figure 4: radii that overlap, since the classes do."""
    figure = new_figure(8.4, 3.9)
    ax = figure.subplots()
    fitted = fitted_on_scene("untouched")
    _draw_space(ax, fitted.y_train, fitted.train / fitted.unit, confidence=False)
    ax.set_title("Projected space of the training data: the radii overlap")
    return figure


def draw_optimised_space() -> Figure:
    """Figure 5: the same space after the optimisation."""
    figure = new_figure(8.4, 5.0)
    ax = figure.subplots()
    fitted = fitted_on_scene("untouched")
    scores = fitted.train / fitted.unit
    boundary = find_boundary(overlapping().y_train, scores, curve="authors")
    ProjectionDisplay.from_predictions(
        fitted.y_train, scores, boundary=boundary, old_threshold=0.0, ax=ax
    )
    ax.set_title("Projected space after the optimisation: the bounds meet at the new boundary")
    return figure


def _draw_space(ax: Axes, y: NDArray[np.int64], scores: FloatArray, *, confidence: bool) -> None:
    """Draw scores with their means, D, the radii, and maybe what confidence adds."""
    means = [float(scores[y == label].mean()) for label in (0, 1)]
    for label in (0, 1):
        values = scores[y == label]
        height = np.random.default_rng(0).uniform(-0.14, 0.14, len(values))
        rare = len(values) < 100
        ax.scatter(
            values,
            height,
            s=42 if rare else 14,
            color=COLORS[label],
            alpha=1.0 if rare else 0.4,
            edgecolor="white",
            linewidth=0.6 if rare else 0.1,
            zorder=2 + label,
        )
        _draw_radius(ax, label, values, confidence)
        ax.plot(means[label], 0, "X", ms=12, color=COLORS[label], mec="black", mew=1.2, zorder=5)
    _draw_bar(ax, means[0], means[1], -0.35, r"$\hat{D}$", below=True, color="black")
    ax.set_ylim(-0.62, 1.12 if confidence else 0.82)
    ax.set_yticks([])
    ax.set_xlabel("score")
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _draw_radius(ax: Axes, label: int, values: FloatArray, confidence: bool) -> None:
    """Draw a class's radius, and its confidence radius at δ = 0.999…, towards the other class."""
    mean, towards = float(values.mean()), 1 - 2 * label
    radius = float(np.abs(values - mean).max())
    height = 0.32 + 0.22 * label
    index = label + 1
    name = rf"$\hat{{\bar{{R}}}}_{index}$"
    color = COLORS[label]
    _draw_bar(ax, mean, mean + towards * radius, height, name, color=color)
    if confidence:
        reach = radius * (1 + 2 / np.sqrt(len(values)))
        name, height = rf"$\hat{{R}}_{index}$", height + 0.44
        end = mean + towards * reach
        _draw_bar(ax, mean, end, height, name, color=color, linestyle=_DASHES)


def _draw_bar(
    ax: Axes,
    start: float,
    end: float,
    height: float,
    name: str,
    *,
    below: bool = False,
    **style: Any,
) -> None:
    """Draw a distance with ticks at its ends and its name at the middle."""
    ax.plot([start, end], [height, height], lw=2, **style)
    color = style["color"]
    for place in (start, end):
        ax.plot([place, place], [height - 0.03, height + 0.03], lw=2, color=color)
    ax.text(
        (start + end) / 2,
        height + (-0.03 if below else 0.02),
        name,
        ha="center",
        va="top" if below else "bottom",
        fontsize=14,
        color=color,
    )
