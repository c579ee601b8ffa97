"""Pictures of the report as SVG paths, in a box 1000 wide that stretches with the page.

The box is stretched unevenly, so lines have strokes that do not scale, points are lines of no
length with round ends, and all text stands outside the SVG at places in percent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boundshift._view.axis import round_numbers
from boundshift._words import number, percent

_WIDTH = 1000
_LANE = 170
_HISTOGRAM, _HISTOGRAM_ALONE = (92, 34), (134, 34)
_POINTS, _BAR = (106, 134), 154
_PLOT, _HEIGHT = 240, 230

Facts = dict[str, Any]


def draw_projection(projection: Facts) -> Facts:
    """Return the lanes of both classes, the positive one on top."""
    classes = projection["classes"]
    lanes = [_draw_lane(classes[i], top) for i, top in ((1, 0), (0, _LANE))]
    return {"height": 2 * _LANE, "middle": _LANE, "lanes": lanes}


def _draw_lane(lane: Facts, top: int) -> Facts:
    bottom, ceiling = (top + y for y in (_HISTOGRAM if lane["points"] else _HISTOGRAM_ALONE))
    unit = (bottom - ceiling) / max(*lane["counts"], 1)
    low, high = (top + y for y in _POINTS)
    heights = np.random.default_rng(0).uniform(low, high, len(lane["points"]))
    dots = [
        f"M{round(_WIDTH * x, 1)} {y:.0f}h0" for x, y in zip(lane["points"], heights, strict=True)
    ]
    return {
        "outline": _stairs(lane["counts"], bottom, unit),
        "filled": f"{_stairs(lane['solid'], bottom, unit)}Z",
        "points": "".join(d for d, s in zip(dots, lane["points_solid"], strict=True) if s),
        "hollow": "".join(d for d, s in zip(dots, lane["points_solid"], strict=True) if not s),
        "size": 7 if len(dots) <= 80 else 4.5,
        "bar": lane["bar"] and _draw_bar(lane["bar"], top + _BAR),
        "caption": top,
    }


def _draw_bar(bar: Sequence[float], y: int) -> Facts:
    mean, edge, end = (round(_WIDTH * x, 1) for x in bar)
    return {
        "radius": f"M{mean} {y}H{edge}",
        "confidence": f"M{edge} {y}H{end}",
        "tick": f"M{edge} {y - 7}V{y + 7}",
        "mean": {"at": f"{100 * bar[0]:.2f}%", "top": y},
    }


def _stairs(counts: Sequence[int], bottom: float, unit: float) -> str:
    width = _WIDTH / len(counts)
    steps = "".join(
        f"V{round(bottom - count * unit, 1)}H{round((i + 1) * width, 1)}"
        for i, count in enumerate(counts)
    )
    return f"M0 {bottom}{steps}V{bottom}"


def draw_threshold_plot(stops: Facts, n: Sequence[int]) -> Facts:
    """Return the error curve of each class with the area up to its bound."""
    curves = []
    for i in (0, 1):
        line = _polyline(stops["at"], np.array(stops["wrong"][i]) / n[i])
        back = _polyline(stops["at"][::-1], stops["bounds"][i][::-1])
        curves.append({"line": line, "band": f"{line}L{back[1:]}Z"})
    return {"height": _PLOT, "curves": curves, "grid": [_PLOT * i / 4 for i in (1, 2, 3)]}


def _polyline(places: Sequence[float], shares: Any) -> str:
    """Return a path through points, leaving out those on a level stretch."""
    x, y = np.round(_WIDTH * np.array(places), 1), np.round(_PLOT * (1 - np.array(shares)), 1)
    level = (y[:-2] == y[1:-1]) & (y[1:-1] == y[2:])
    kept = np.concatenate([[True], ~level, [True]])
    return "M" + "L".join(f"{a} {b}" for a, b in zip(x[kept], y[kept], strict=True))


def small_charts(facts: Mapping[str, Any]) -> Facts:
    """Return precision against recall, and the calibration, None without one."""
    found = facts["precision_recall"]
    recall = _Chart((0.0, 1.0), (0.0, 1.0))
    recall.line("curve ink", "every threshold", found["recall"], found["precision"])
    recall.line("dotted", "flagging rows at random", [0, 1], [found["chance"]] * 2)
    for kind, name, key in (
        ("own", "the model's own threshold", "old"),
        ("new", "the shifted boundary", "shifted"),
    ):
        if at := found["points"][key]:
            recall.point(kind, f"{name}: finds {percent(at[0])}, right in {percent(at[1])}", *at)
    return {
        "precision_recall_chart": recall.finish(
            f"{facts['names']['positives']} found (recall)", "alarms that are right (precision)"
        ),
        "calibration_chart": facts["calibration"] and _calibration(facts["calibration"]["bins"]),
    }


def _calibration(bins: Sequence[Facts]) -> Facts:
    """Return groups of rows: what the model said, what came true, and its interval."""
    top = _round_up(max(max(b["high"], b["said"]) for b in bins))
    chart = _Chart((0.0, top), (0.0, top))
    chart.line("dotted", "as often as it says", [0, top], [0, top])
    for i, b in enumerate(bins):
        said, true = b["said"], b["true"]
        chart.line("whisker", "" if i else "interval", [said] * 2, [b["low"], b["high"]])
        told = f"{b['n']:,} rows: said {percent(said)}, came true {percent(true)}"
        chart.point("group", told, said, true)
    return chart.finish("probability that the model gives", "share that came true")


class _Chart:
    """A rectangle of two axes in which lines and points have places."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x, self.y = x, y
        self.lines: list[Facts] = []
        self.points: list[Facts] = []

    def _place(self, x: Any, y: Any) -> tuple[Any, Any]:
        across = (np.asarray(x, float) - self.x[0]) / (self.x[1] - self.x[0])
        return across, (self.y[1] - np.asarray(y, float)) / (self.y[1] - self.y[0])

    def line(self, kind: str, name: str, x: Sequence[float], y: Sequence[float]) -> None:
        """Add a path through points; the page cuts off the part outside the box."""
        across, down = self._place(x, y)
        places = zip(_WIDTH * across, _HEIGHT * np.clip(down, -1, 2), strict=True)
        path = "L".join(f"{a:.1f} {b:.1f}" for a, b in places)
        self.lines.append({"kind": kind, "name": name, "path": f"M{path}" if path else ""})

    def point(self, kind: str, name: str, x: float, y: float) -> None:
        across, down = (f"{100 * share:.2f}%" for share in self._place(x, y))
        self.points.append({"kind": kind, "name": name, "left": across, "top": down})

    def finish(self, x_name: str, y_name: str) -> Facts:
        """Return everything that the page needs to draw."""
        levels, ticks = (round_numbers(*ends, most=5) for ends in (self.y, self.x))
        down, across = self._place(0, levels)[1], self._place(ticks, 0)[0]
        return {
            "height": _HEIGHT,
            "lines": self.lines,
            "points": self.points,
            "grid": [f"{_HEIGHT * share:.1f}" for share in down],
            "levels": [
                {"top": f"{100 * share:.2f}%", "text": f"{number(100 * level)}%"}
                for share, level in zip(down, levels, strict=True)
            ],
            "ticks": [
                {"left": f"{100 * share:.2f}%", "text": f"{number(100 * tick)}%"}
                for share, tick in zip(across, ticks, strict=True)
            ],
            "x_name": x_name,
            "y_name": y_name,
        }


def _round_up(value: float) -> float:
    power = 10.0 ** np.floor(np.log10(max(value, 1e-6)))
    return float(power * next(m for m in (1, 2, 4, 5, 8, 10) if m * power >= value * (1 - 1e-9)))
