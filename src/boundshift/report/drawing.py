"""Pictures of the report as SVG paths, in a box 1000 wide that stretches with the page.

The box is stretched unevenly, so lines have strokes that do not scale, points are lines of no
length with round ends, and all text stands outside the SVG at places in percent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from boundshift.words import number, percent

__all__ = [
    "draw_calibration",
    "draw_decision_curve",
    "draw_precision_recall",
    "draw_projection",
    "draw_threshold_plot",
]

_WIDTH = 1000
_LANE = 170
_HISTOGRAM = (92, 34)
_HISTOGRAM_ALONE = (134, 34)
_POINTS = (106, 134)
_BAR = 154
_PLOT = 240
_HEIGHT = 230
_OWN, _SHIFTED = "the model's own threshold", "the shifted boundary"


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
    mean, edge, end = (round(_WIDTH * x, 1) for x in bar)
    return {
        "radius": f"M{mean} {y}H{edge}",
        "confidence": f"M{edge} {y}H{end}",
        "tick": f"M{edge} {y - 7}V{y + 7}",
        "mean": {"at": f"{100 * bar[0]:.2f}%", "top": y},
    }


def _stairs(counts: Sequence[int], bins: int, bottom: float, unit: float) -> str:
    """Return the outline of a histogram."""
    width = _WIDTH / bins
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
        parts[solid].append(f"M{round(_WIDTH * x, 1)} {y:.0f}h0")
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
        (round(_WIDTH * x, 1), round(_PLOT * (1 - share), 1))
        for x, share in zip(places, shares, strict=True)
    ]
    kept = [
        point
        for k, point in enumerate(points)
        if k in (0, len(points) - 1) or not points[k - 1][1] == point[1] == points[k + 1][1]
    ]
    return "M" + "L".join(f"{x} {y}" for x, y in kept)


def draw_precision_recall(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the curve of precision against recall, with both thresholds on it."""
    curve = facts["precision_recall"]
    chance = curve["chance"]
    box = _Box((0.0, 1.0), (0.0, 1.0))
    lines = [
        box.line("curve ink", "every threshold", curve["recall"], curve["precision"]),
        box.line("dotted", "flagging rows at random", [0, 1], [chance, chance]),
    ]
    points = [
        box.point(kind, f"{name}: finds {percent(at[0])}, right in {percent(at[1])}", *at)
        for kind, name, at in (
            ("own", _OWN, curve["points"]["old"]),
            ("new", _SHIFTED, curve["points"]["shifted"]),
        )
        if at is not None
    ]
    return box.chart(
        lines,
        points,
        x_name=f"{facts['names']['positives']} found (recall)",
        y_name="alarms that are right (precision)",
    )


def draw_calibration(facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return groups of rows: what the model said, what came true, and its interval."""
    found = facts["calibration"]
    if found is None:
        return None
    bins = found["bins"]
    top = _round_up(max(max(b["high"], b["said"]) for b in bins))
    box = _Box((0.0, top), (0.0, top))
    lines = [box.line("dotted", "as often as it says", [0, top], [0, top])]
    lines += [
        box.line("whisker", "" if i else "interval", [b["said"]] * 2, [b["low"], b["high"]])
        for i, b in enumerate(bins)
    ]
    points = [
        box.point(
            "group",
            f"{b['n']:,} rows: said {percent(b['said'])}, came true {percent(b['true'])}",
            b["said"],
            b["true"],
        )
        for b in bins
    ]
    return box.chart(
        lines, points, x_name="probability that the model gives", y_name="share that came true"
    )


def draw_decision_curve(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the net benefit of both thresholds, of all rows flagged and of none."""
    curve = facts["decision_curve"]
    x, curves = curve["probability"], curve["curves"]
    top = _round_up(max(max(values) for values in curves.values()) or curve["top"])
    box = _Box((0.0, x[-1]), (-top / 4, top))
    known = (
        ("new", _SHIFTED, "shifted"),
        ("own", _OWN, "old"),
        ("group", "the model's own probabilities", "own"),
        ("dotted", "flag all", "all"),
    )
    lines = [box.line(f"curve {kind}", name, x, curves[key]) for kind, name, key in known
             if key in curves]  # fmt: skip
    lines.append(box.line("thin", "flag none", [0, x[-1]], [0, 0]))
    return box.chart(
        lines, [], x_name="threshold probability", y_name="net benefit", y_digits=top < 0.1
    )


class _Box:
    """A rectangle of two axes in which lines and points have places."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float]) -> None:
        self.x, self.y = x, y

    def _place(self, x: Any, y: Any) -> tuple[Any, Any]:
        across = (np.asarray(x, float) - self.x[0]) / (self.x[1] - self.x[0])
        up = (np.asarray(y, float) - self.y[0]) / (self.y[1] - self.y[0])
        return across, 1 - up

    def line(self, kind: str, name: str, x: Sequence[float], y: Sequence[float]) -> dict[str, str]:
        """Return a path through points; the part outside the box is cut off by the page."""
        places = zip(*self._place(x, y), strict=True)
        path = "L".join(f"{_WIDTH * a:.1f} {_HEIGHT * np.clip(b, -1, 2):.1f}" for a, b in places)
        return {"kind": kind, "name": name, "path": f"M{path}" if path else ""}

    def point(self, kind: str, name: str, x: float, y: float) -> dict[str, str]:
        """Return a point and what it says."""
        across, down = self._place(x, y)
        return {
            "kind": kind,
            "name": name,
            "left": f"{100 * across:.2f}%",
            "top": f"{100 * down:.2f}%",
        }

    def chart(
        self,
        lines: list[dict[str, str]],
        points: list[dict[str, str]],
        *,
        x_name: str,
        y_name: str,
        y_digits: bool = False,
    ) -> dict[str, Any]:
        """Return everything that the page needs to draw."""
        levels = [v for v in _ticks(self.y) if self.y[0] <= v <= self.y[1]]
        return {
            "height": _HEIGHT,
            "lines": lines,
            "points": points,
            "grid": [f"{_HEIGHT * (1 - self._up(v)):.1f}" for v in levels],
            "levels": [
                {"top": f"{100 * (1 - self._up(v)):.2f}%", "text": _share(v, y_digits)}
                for v in levels
            ],
            "ticks": [
                {"left": f"{100 * float(self._place(v, 0)[0]):.2f}%", "text": _share(v)}
                for v in _ticks(self.x)
            ],
            "x_name": x_name,
            "y_name": y_name,
        }

    def _up(self, y: float) -> float:
        return (y - self.y[0]) / (self.y[1] - self.y[0])


def _ticks(ends: tuple[float, float]) -> list[float]:
    """Return about five round numbers from the first multiple inside."""
    rough = (ends[1] - ends[0]) / 5
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * next(m for m in (1, 2, 2.5, 5, 10) if m * power >= rough * (1 - 1e-9))
    first = int(np.ceil(ends[0] / step - 1e-9))
    return [i * step for i in range(first, int(np.floor(ends[1] / step + 1e-9)) + 1)]


def _round_up(value: float) -> float:
    """Return the next round number."""
    power = 10.0 ** np.floor(np.log10(max(value, 1e-6)))
    return float(power * next(m for m in (1, 2, 4, 5, 8, 10) if m * power >= value * (1 - 1e-9)))


def _share(value: float, digits: bool = False) -> str:
    """Return a share in percent without needless digits."""
    return number(100 * value, f".{3 if digits else 4}g") + "%"
