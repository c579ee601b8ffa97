"""A boundary as a readable table."""

from __future__ import annotations

from typing import Any

__all__ = ["class_rows", "summary_text"]


def class_rows(boundary: Any) -> list[tuple[str, tuple[object, ...]]]:
    """Return what is known of both classes, the paper's quantities only where there are some."""
    rows: list[tuple[str, tuple[object, ...]]] = [
        ("rows", boundary.n_samples),
        ("on the wrong side", boundary.wrong),
    ]
    if boundary.geometry is not None:
        geometry = boundary.geometry
        rows += [
            ("points given up", geometry.slack),
            ("mean of the kept", geometry.means),
            ("radius", geometry.radii),
            ("confidence radius", geometry.confidence_radii),
            ("delta", geometry.deltas),
        ]
    return [*rows, ("claimed error", boundary.errors)]


def summary_text(boundary: Any) -> str:
    """Return an account of a :class:`~boundshift.Boundary` in lines."""
    rows = [*class_rows(boundary), ("loss", (boundary.loss,))]
    if boundary.resolution:
        rows.append(("resolution", (boundary.resolution,)))
    head = "".join(f"{f'class {label}':>14}" for label in boundary.labels)
    negative, positive = boundary.labels
    score = "probability" if boundary.scale == "probability" else "score"
    decision = f"Predict {positive} if {score} > {boundary.threshold:.6g}, else {negative}"
    lines = [decision, boundary.message]
    lines.append(f"{'':<18}{head}".rstrip())
    for name, values in rows:
        cells = "".join(f"{v:>14.4g}" if isinstance(v, float) else f"{v!s:>14}" for v in values)
        lines.append(f"{name:<18}{cells}")
    lines.append(_deciding_rows(boundary))
    lines.append(f"By {boundary.curve} and {boundary.rule}. {boundary.curve.claim.value}")
    return "\n".join(lines)


def _deciding_rows(boundary: Any) -> str:
    """Return what the threshold does to the rows that decided, in words of the field."""
    (negative, positive), (false_alarms, missed) = boundary.n_samples, boundary.wrong
    found = positive - missed
    flagged = found + false_alarms
    precision = f"{found / flagged:.4g}" if flagged else "undefined"
    return (
        f"Rows that decided: recall {found / positive:.4g}, precision {precision}, "
        f"F1 {2 * found / (positive + flagged):.4g}, flagged {flagged / (negative + positive):.2%}"
    )
