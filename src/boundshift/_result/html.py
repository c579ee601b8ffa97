"""How a boundary looks in a notebook: a sentence and a table.

Text takes the notebook's own colour and the paper stays see-through, so that it reads on light
and on dark pages; nothing is loaded.
"""

from __future__ import annotations

from html import escape
from typing import Any

from boundshift._words import class_rows, decision, number

# Between the shades for light and for dark paper, so that they can be seen on either.
_COLORS = ("#2f8bc6", "#e0701f")
_WIDTH = 560
_BOX = f'<div style="max-width:{_WIDTH}px;font-family:system-ui,sans-serif;line-height:1.45">'
_SOFT = '<div style="opacity:.75;margin-top:6px">'


def boundary_html(boundary: Any) -> str:
    """Return HTML for a :class:`~boundshift.Boundary`, with labels escaped."""
    return (
        f'{_BOX}<div style="font-size:1.1em;font-weight:600">{escape(decision(boundary))}</div>'
        f'<div style="opacity:.75;margin-bottom:6px">{escape(boundary.message)}</div>'
        f"{_table(boundary)}"
        f"{_SOFT}By {escape(str(boundary.curve))} and "
        f"{escape(str(boundary.rule))}. {boundary.curve.claim.value}</div></div>"
    )


def _table(boundary: Any) -> str:
    cell = 'style="text-align:right;padding:2px 12px"'
    name = 'style="text-align:left;padding:2px 12px 2px 0;font-weight:400"'
    heads = "".join(
        f'<th {cell} scope="col"><span style="color:{color}" aria-hidden="true">●</span> '
        f"class {escape(str(label))}</th>"
        for label, color in zip(boundary.labels, _COLORS, strict=True)
    )
    lines = "".join(
        f'<tr><th {name} scope="row">{title}</th>'
        + "".join(
            f"<td {cell}>{number(v, ',' if isinstance(v, int) else '.4g')}</td>" for v in values
        )
        + "</tr>"
        for title, values in class_rows(boundary)
    )
    style = "color:inherit;background:none;border-collapse:collapse;margin:4px 0 0"
    head = f"<thead><tr><td></td>{heads}</tr></thead>"
    return f'<table style="{style}">{head}<tbody>{lines}</tbody></table>'
