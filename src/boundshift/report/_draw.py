"""Pictures of the report as SVG paths, in a box 1000 wide that stretches with the page.

The box is stretched unevenly, so lines have strokes that do not scale, and all text stands outside
the SVG at places in percent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_WIDTH = 1000
_LANE, _BOTTOM, _CEILING = 150, 140, 34
_PLOT = 240

Facts = dict[str, Any]


def draw_projection(classes: Sequence[Facts]) -> Facts:
    """Return the lanes of both classes, the positive one on top."""
    lanes = []
    for i, top in ((1, 0), (0, _LANE)):
        shown, bottom = classes[i], top + _BOTTOM
        unit = (_BOTTOM - _CEILING) / max(*shown["counts"], 1)
        outline, filled = (_stairs(shown[key], bottom, unit) for key in ("counts", "solid"))
        lanes.append({"outline": outline, "filled": f"{filled}Z", "caption": top})
    return {"height": 2 * _LANE, "middle": _LANE, "lanes": lanes}


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
