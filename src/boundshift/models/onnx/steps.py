"""Scalers in ONNX operators, step by step in the precision in which scikit-learn takes them.

A converter that multiplies where scikit-learn divides rounds the last digit of a float32 otherwise,
and a row that lies on a tree's split takes the other branch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boundshift.models.margins import is_a
from boundshift.models.onnx.graph import Graph

__all__ = ["write_steps"]

Writer = Callable[[Graph, str, Any, Any], str]


def write_steps(graph: Graph, x: str, steps: list[Any], dtype: Any) -> str | None:
    """Write transformers one after the other, or return None if one of them is not known here."""
    writers = [
        next((write for name, write in _WRITERS.items() if is_a(step, "sklearn", name)), None)
        for step in steps
    ]
    if None in writers:
        return None
    for step, write in zip(steps, writers, strict=True):
        x = write(graph, x, step, dtype) if write is not None else x
    return x


def _standard(graph: Graph, x: str, step: Any, dtype: Any) -> str:
    if step.with_mean:
        x = graph.add("Sub", x, graph.constant(step.mean_, dtype))
    if step.with_std:
        x = graph.add("Div", x, graph.constant(step.scale_, dtype))
    return x


def _min_max(graph: Graph, x: str, step: Any, dtype: Any) -> str:
    x = graph.add("Mul", x, graph.constant(step.scale_, dtype))
    x = graph.add("Add", x, graph.constant(step.min_, dtype))
    if step.clip:
        low, high = (graph.constant(np.array(end), dtype) for end in step.feature_range)
        x = graph.add("Clip", x, low, high)
    return x


_WRITERS: dict[str, Writer] = {"StandardScaler": _standard, "MinMaxScaler": _min_max}
