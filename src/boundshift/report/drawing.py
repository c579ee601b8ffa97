"""Pictures of the report as SVG paths, in a box 1000 wide that stretches with the page.

The box is stretched unevenly, so lines have strokes that do not scale, points are lines of no
length with round ends, and all text stands outside the SVG at places in percent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["WIDTH", "draw_projection", "draw_threshold_plot"]

WIDTH = 1000
_LANE = 170
_HISTOGRAM = (92, 34)
_HISTOGRAM_ALONE = (134, 34)
_POINTS = (106, 134)
_BAR = 154
_PLOT = 240


def draw_projection(projection: dict[str, Any]) -> dict[str, Any]:
    """Return the lanes of both classes, the positive one on top.

    Examples
    --------
    >>> lane = {"counts": [0, 2], "solid": [0, 1], "points": [0.5], "points_solid": [True],
    ...         "bar": [0.5, 0.7, 0.8]}
    >>> draw_projection({"bins": 2, "classes": [lane, lane]})["height"]
    340
    """
    classes, bins = projection["classes"], projection["bins"]
    lanes = [_draw_lane(classes[i], bins, top) for i, top in ((1, 0), (0, _LANE))]
    return {"height": 2 * _LANE, "middle": _LANE, "lanes": lanes}


def _draw_lane(lane: dict[str, Any], bins: int, top: int) -> dict[str, Any]:
    """Return the paths of one class."""
    heights = _HISTOGRAM if lane["points"] else _HISTOGRAM_ALONE
    bottom, ceiling = (top + y for y in heights)
    unit = (bottom - ceiling) / max(*lane["counts"], 1)
    solid, hollow = _split_points(lane, top)
    return {
        "outline": _stairs(lane["counts"], bins, bottom, unit),
        "filled": f"{_stairs(lane['solid'], bins, bottom, unit)}Z",
        "points": solid,
        "hollow": hollow,
        "size": 7 if len(lane["points"]) <= 80 else 4.5,
        "bar": lane["bar"] and _draw_bar(lane["bar"], top + _BAR),
        "caption": top,
    }


def _draw_bar(bar: Sequence[float], y: int) -> dict[str, Any]:
    """Return the paths of a class's radius and of what confidence adds to it."""
    mean, edge, end = (round(WIDTH * x, 1) for x in bar)
    return {
        "radius": f"M{mean} {y}H{edge}",
        "confidence": f"M{edge} {y}H{end}",
        "tick": f"M{edge} {y - 7}V{y + 7}",
        "mean": {"at": f"{100 * bar[0]:.2f}%", "top": y},
    }


def _stairs(counts: Sequence[int], bins: int, bottom: float, unit: float) -> str:
    """Return the outline of a histogram."""
    width = WIDTH / bins
    steps = "".join(
        f"V{round(bottom - count * unit, 1)}H{round((i + 1) * width, 1)}"
        for i, count in enumerate(counts)
    )
    return f"M0 {bottom}{steps}V{bottom}"


def _split_points(lane: dict[str, Any], top: int) -> tuple[str, str]:
    """Return the solid and the hollow points, spread over the lane."""
    low, high = (top + y for y in _POINTS)
    heights = np.random.default_rng(0).uniform(low, high, len(lane["points"]))
    parts: dict[bool, list[str]] = {True: [], False: []}
    for x, y, solid in zip(lane["points"], heights, lane["points_solid"], strict=True):
        parts[solid].append(f"M{round(WIDTH * x, 1)} {y:.0f}h0")
    return "".join(parts[True]), "".join(parts[False])


def draw_threshold_plot(stops: dict[str, Any], n: Sequence[int]) -> dict[str, Any]:
    """Return the error curve of each class with the area up to its bound."""
    curves = []
    for i in (0, 1):
        rates = [wrong / n[i] for wrong in stops["wrong"][i]]
        line = _polyline(stops["at"], rates)
        back = _polyline(stops["at"][::-1], stops["bounds"][i][::-1])
        curves.append({"line": line, "band": f"{line}L{back[1:]}Z"})
    return {"height": _PLOT, "curves": curves, "grid": [_PLOT * i / 4 for i in (1, 2, 3)]}


def _polyline(places: Sequence[float], shares: Sequence[float]) -> str:
    """Return a path through points, leaving out those on a level stretch."""
    points = [
        (round(WIDTH * x, 1), round(_PLOT * (1 - share), 1))
        for x, share in zip(places, shares, strict=True)
    ]
    kept = [
        point
        for k, point in enumerate(points)
        if k in (0, len(points) - 1) or not points[k - 1][1] == point[1] == points[k + 1][1]
    ]
    return "M" + "L".join(f"{x} {y}" for x, y in kept)
