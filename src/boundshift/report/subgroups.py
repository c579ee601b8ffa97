"""How a boundary does in groups of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.curves.uniform import clopper_pearson

__all__ = ["MOST_LEVELS", "collect_subgroups"]

MOST_LEVELS = 12
"""Columns with more values than this are not shown as groups."""

_MISSING = "(missing)"


def collect_subgroups(
    is_positive: NDArray[np.bool_],
    flagged: NDArray[np.bool_],
    groups: Mapping[str, NDArray[Any]],
    confidence: float,
) -> list[dict[str, Any]]:
    """Count hits and false alarms in each group of each column.

    Returns
    -------
    list of dict
        ``column`` and ``rows``, in the order of the groups' sizes, each with its ``level``,
        numbers of rows, and for shares an interval (Clopper and Pearson); None where a share has
        no rows.

    Examples
    --------
    >>> truth, flagged = np.array([True, True, False, False]), np.array([True, False, True, False])
    >>> tables = collect_subgroups(truth, flagged, {"town": np.array(list("AABB"))}, 0.95)
    >>> [(row["level"], row["found"], row["false_alarms"]) for row in tables[0]["rows"]]
    [('A', 1, 0), ('B', 0, 1)]
    """
    tables = []
    for column, values in groups.items():
        levels = np.array([_name(value) for value in values])
        names, counts = np.unique(levels, return_counts=True)
        if not 2 <= len(names) <= MOST_LEVELS:
            continue
        rows = [
            {"level": str(names[i]), **_count(is_positive, flagged, levels == names[i], confidence)}
            for i in np.argsort(-counts, kind="stable")
        ]
        tables.append({"column": column, "rows": rows})
    return tables


def _name(value: Any) -> str:
    """Return a value as text; what equals nothing is missing."""
    return _MISSING if value is None or value != value or str(value) == "<NA>" else str(value)


def _count(
    is_positive: NDArray[np.bool_],
    flagged: NDArray[np.bool_],
    here: NDArray[np.bool_],
    confidence: float,
) -> dict[str, Any]:
    """Return what is counted in one group."""
    positives, rows = int((is_positive & here).sum()), int(here.sum())
    found = int((is_positive & flagged & here).sum())
    alarms = int((flagged & here).sum())
    return {
        "n": rows,
        "positives": positives,
        "found": found,
        "false_alarms": alarms - found,
        "recall": _share(found, positives, confidence),
        "false_alarm_rate": _share(alarms - found, rows - positives, confidence),
        "precision": _share(found, alarms, confidence),
    }


def _share(part: int, whole: int, confidence: float) -> dict[str, float] | None:
    """Return a share and its interval, None of nothing."""
    if whole == 0:
        return None
    delta = (1 - confidence) / 2
    return {
        "share": part / whole,
        "low": 1.0 - float(clopper_pearson(whole - part, whole, delta)),
        "high": float(clopper_pearson(part, whole, delta)),
    }
