"""The 500 seeded problems of the golden file, and the ways in which each is decided.

The problems never change: a change here would hide a change of the library.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from boundshift import Boundary, BoundaryWarning, Status, find_boundary
from boundshift.rules import Cost, Floors, Metric

N_PROBLEMS = 500
CURVES = ("clopper-pearson", "smoothed", "logistic")
SHAPES = ("normal", "whole", "heavy", "humps", "skewed", "rounded")
SIZES = ((40, 7), (300, 12), (25, 25), (9, 60), (3, 2), (1, 30), (30, 1), (2, 2), (2000, 3))
GAPS = (0.0, 0.4, 1.0, 2.0, 4.0, 10.0, 3000.0)
SCALES = ((1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (1e200, 0.0), (1e-200, 0.0), (1e-6, 1e9), (-1.0, 0.0))


@cache
def draw_problem(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores of one problem; no two seeds give the same one."""
    rng = np.random.default_rng([2024, seed])
    shape = SHAPES[seed % len(SHAPES)]
    n, p = SIZES[rng.integers(len(SIZES))]
    gap = GAPS[rng.integers(len(GAPS))]
    (scale, offset) = SCALES[rng.integers(len(SCALES))]
    if shape == "normal":
        low = rng.normal(0, 1, n)
        high = rng.normal(gap, 1, p)
    elif shape == "whole":
        low = rng.integers(-4, 4, n) + 0.0
        high = rng.integers(-3, 5, p) + np.round(gap)
    elif shape == "heavy":
        low = rng.standard_t(1, n)
        high = rng.standard_t(1, p) + gap
    elif shape == "humps":
        low = np.where(rng.random(n) < 0.4, -5, 0) + rng.normal(0, 0.3, n)
        high = np.where(rng.random(p) < 0.4, 5, 0) + gap + rng.normal(0, 0.3, p)
    elif shape == "skewed":
        low = rng.exponential(1, n)
        high = gap + rng.exponential(2, p)
    else:
        low = np.round(rng.normal(0, 1, n), 1)
        high = np.round(rng.normal(gap, 1, p), 1)
    return np.repeat([0, 1], [n, p]), np.concatenate([low, high]) * scale + offset


def ways(seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name and the arguments of every way to decide a problem."""
    rules = {
        "sum": "sum",
        "minimax": "minimax",
        "g-mean": "g-mean",
        "cost": Cost(false_positive=1, false_negative=20),
        "recall": Floors(recall=0.9, then="specificity"),
        "specificity": Floors(specificity=0.9, then="recall"),
    }
    if seed % 100 == 0:
        rules["metric"] = Metric("f1")
    for curve in CURVES:
        for name, rule in rules.items():
            yield f"{curve}/{name}", {"curve": curve, "rule": rule}
    yield "support/sum", {"curve": "support", "rule": "sum"}
    yield "default", {}
    yield "paper", {"curve": "paper"}
    yield "authors", {"curve": "authors"}


def decide(seed: int, given: dict[str, Any]) -> Boundary:
    """Return the boundary of one way; scores that lie in [0, 1] are no probabilities."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        return find_boundary(*draw_problem(seed), scale="raw", **given)


def told(boundary: Boundary) -> str:
    """Return the name of the status, or of the first remark where floors are met."""
    is_met = boundary.status is Status.OPTIMAL and boundary.remarks
    return (boundary.remarks[0] if is_met else boundary.status).name
