"""Methods in rows, metrics in columns."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.scores.sample import ScoreSample
from boundshift.view.rows import metrics_at
from boundshift.view.words import METRIC_TITLES, OUR_METHODS, metric_title

__all__ = ["collect_comparison", "compare_thresholds"]


def compare_thresholds(
    sample: ScoreSample, thresholds: Mapping[str, float]
) -> list[dict[str, Any]]:
    """Return each threshold and its metrics on the same rows.

    Examples
    --------
    >>> sample = ScoreSample.from_labels([0, 0, 1], [0.0, 1.0, 2.0])
    >>> table = compare_thresholds(sample, {"here": 1.5})
    >>> table[0]["method"], table[0]["g_mean"]
    ('here', 1.0)
    """
    return [
        {"method": name} | metrics_at(sample, t) | {"threshold": t}
        for name, t in thresholds.items()
    ]


def collect_comparison(methods: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Turn rows of metrics into a table whose best values are known.

    Parameters
    ----------
    methods : iterable of mappings
        Each has "method" and its metrics, beside it or in a mapping called "metrics". A metric
        that a method lacks stays empty.

    Returns
    -------
    dict
        ``columns`` (key, title, best) and ``rows`` (method, whether it is ours, values in the
        columns' order).
    """
    flat = [_flatten(method) for method in methods]
    keys = list(dict.fromkeys(key for method in flat for key in method if key != "method"))
    known = [key for key in METRIC_TITLES if key in keys]
    keys = known + [key for key in keys if key not in known]
    columns = []
    for key in keys:
        values = [v for method in flat if (v := _number(method.get(key))) is not None]
        best = max(values) if key in METRIC_TITLES and values else None
        columns.append({"key": key, "title": metric_title(key), "best": best})
    rows = [
        {
            "method": str(method["method"]),
            "ours": method["method"] in OUR_METHODS,
            "values": [_cell(method.get(key)) for key in keys],
        }
        for method in flat
    ]
    return {"columns": columns, "rows": rows}


def _flatten(method: Mapping[str, Any]) -> dict[str, Any]:
    """Return one mapping with the method and its metrics."""
    if not isinstance(method, Mapping) or "method" not in method:
        raise InvalidInputError(
            f"`comparison` must be a list of mappings with the key 'method', got {method!r}. "
            "Use [{'method': 'untouched', 'g_mean': 0.7}], for example."
        )
    flat = {str(key): value for key, value in method.items() if key != "metrics"}
    return flat | {str(key): value for key, value in dict(method.get("metrics", {})).items()}


def _number(value: object) -> float | None:
    """Return a finite number, or None."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if is_number and np.isfinite(float(value)) else None  # type: ignore[arg-type]


def _cell(value: object) -> float | str | None:
    """Return a number, a text, or None."""
    if value is None or isinstance(value, numbers.Real):
        return _number(value) if not isinstance(value, bool) else str(value).lower()
    return str(value)
