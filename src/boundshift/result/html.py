"""How a boundary looks in a notebook: a sentence, a small picture, a table.

Text takes the notebook's own colour and the paper stays see-through, so that it reads on light
and on dark pages; nothing is loaded.
"""

from __future__ import annotations

from html import escape
from math import isfinite
from typing import Any

from boundshift.result.text import class_rows
from boundshift.scores.log_odds import LogOdds

__all__ = ["boundary_html", "zone_html"]

# Between the shades for light and for dark paper, so that they can be seen on either.
_COLORS = ("#2f8bc6", "#e0701f")
_WIDTH, _LANE, _MARGIN = 560, 26, 12


def boundary_html(boundary: Any) -> str:
    """Return HTML for a :class:`~boundshift.Boundary`, with labels escaped.

    Examples
    --------
    >>> import boundshift
    >>> boundary = boundshift.find_boundary(["<b>", "<b>", "x", "x"], [0, 1, 4, 5])
    >>> "&lt;b&gt;" in boundary_html(boundary), "<b>x" in boundary_html(boundary)
    (True, False)
    """
    negative, positive = (escape(str(label)) for label in boundary.labels)
    return (
        f'<div style="max-width:{_WIDTH}px;font-family:system-ui,sans-serif;line-height:1.45">'
        f'<div style="font-size:1.1em;font-weight:600">Predict {positive} if score &gt; '
        f"{_number(boundary.threshold)}, else {negative}</div>"
        f'<div style="opacity:.75;margin-bottom:6px">{escape(boundary.message)}</div>'
        f"{_picture(boundary)}{_table(boundary)}"
        f'<div style="opacity:.75;margin-top:6px">By {escape(str(boundary.curve))} and '
        f"{escape(str(boundary.rule))}. {boundary.curve.claim.value}</div></div>"
    )


def zone_html(zone: Any) -> str:
    """Return HTML for a :class:`~boundshift.Zone`: a bar in three parts, and what they promise.

    Examples
    --------
    >>> import boundshift
    >>> zone = boundshift.find_zone(["<b>"] * 90 + ["x"] * 90, list(range(180)))
    >>> "&lt;b&gt;" in zone_html(zone), "<b>" in zone_html(zone)
    (True, False)
    """
    negative, positive = (escape(str(label)) for label in zone.labels)
    parts = (
        (f"{negative} up to {_number(zone.low)}", _COLORS[0], isfinite(zone.low)),
        ("ask a person", "currentColor", zone.low < zone.high),
        (f"{positive} above {_number(zone.high)}", _COLORS[1], isfinite(zone.high)),
    )
    bar = "".join(
        f'<div style="flex:1;border-top:4px solid {color};padding-top:3px;text-align:center">'
        f"{text}</div>"
        for text, color, is_there in parts
        if is_there
    )
    shares = ", ".join(
        f"{100 * share:.3g}% of class {label}"
        for share, label in zip(zone.unsure, (negative, positive), strict=True)
    )
    return (
        f'<div style="max-width:{_WIDTH}px;font-family:system-ui,sans-serif;line-height:1.45">'
        f'<div style="display:flex;gap:4px">{bar}</div>'
        f'<div style="opacity:.75;margin-top:6px">{escape(zone.message)} Between the limits lie '
        f"{shares}, of the rows here.</div></div>"
    )


def _picture(boundary: Any) -> str:
    """Draw the paper's supports, means and radii and the threshold, one line a class."""
    geometry = boundary.geometry
    if geometry is None:
        return ""
    ends = [end for support in geometry.supports for end in support]
    cut = boundary.threshold
    if boundary.scale == "probability":
        cut = float(LogOdds().place(cut))
    low, high = min(*ends, cut), max(*ends, cut)
    if not isfinite(high - low) or high <= low:
        return ""

    def place(value: float) -> str:
        share = min(max((value - low) / (high - low), 0.0), 1.0)
        return f"{_MARGIN + share * (_WIDTH - 2 * _MARGIN):.1f}"

    lanes = []
    for i, top in ((1, 0), (0, _LANE)):
        y, color = top + _LANE / 2, _COLORS[i]
        mean, other = geometry.means[i], geometry.means[1 - i]
        towards = 1 if other >= mean else -1
        edge = mean + towards * geometry.radii[i]
        reach = mean + towards * geometry.confidence_radii[i]
        start, end = (place(v) for v in geometry.supports[i])
        lanes.append(
            f'<g stroke="{color}"><path d="M{start} {y}H{end}" stroke-width="8" opacity=".25"/>'
            f'<path d="M{place(mean)} {y}H{place(edge)}" stroke-width="4"/>'
            f'<path d="M{place(edge)} {y}H{place(reach)}" stroke-width="2.5" '
            f'stroke-dasharray="4 3"/>'
            f'<circle cx="{place(mean)}" cy="{y}" r="5" fill="{color}"/></g>'
        )
    at, height = place(cut), 2 * _LANE
    return (
        f'<svg viewBox="0 0 {_WIDTH} {height}" width="100%" role="img" '
        'aria-label="Kept scores of both classes, means, radii and the boundary" '
        f'style="display:block;fill:none">{"".join(lanes)}'
        f'<path d="M{at} 0V{height}" stroke="currentColor" stroke-width="2"/></svg>'
    )


def _table(boundary: Any) -> str:
    """Return the numbers of both classes."""
    cell = 'style="text-align:right;padding:2px 12px"'
    name = 'style="text-align:left;padding:2px 12px 2px 0;font-weight:400"'
    heads = "".join(
        f'<th {cell} scope="col"><span style="color:{color}" aria-hidden="true">●</span> '
        f"class {escape(str(label))}</th>"
        for label, color in zip(boundary.labels, _COLORS, strict=True)
    )
    lines = "".join(
        f'<tr><th {name} scope="row">{title}</th>'
        + "".join(f"<td {cell}>{_number(value)}</td>" for value in values)
        + "</tr>"
        for title, values in class_rows(boundary)
    )
    style = "color:inherit;background:none;border-collapse:collapse;margin:4px 0 0"
    head = f"<thead><tr><td></td>{heads}</tr></thead>"
    return f'<table style="{style}">{head}<tbody>{lines}</tbody></table>'


def _number(value: Any) -> str:
    """Return a number in short, with a true minus."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}".replace("-", "−")
