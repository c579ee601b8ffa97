"""Check how often the threshold of other rows falls into `threshold_interval`.

In each cell, intervals are computed from independent draws, and each is asked which share of the
thresholds of other draws it holds. Tied scores are rounded to whole numbers or to tenths. The
interval is a bootstrap and approximate, so there is no goal; the page says where it holds less than
stated.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from boundshift import find_boundary, threshold_interval
from lab.claims.simulation import SHAPES, Problem, generator
from lab.experiment import Experiment, Facts, Tables, in_parallel
from lab.markdown import table

CONFIDENCE = 0.95
SIZES = ((300, 30), (2000, 40), (1000, 1000))
TIED = {"normal, whole": ("normal", 0), "normal, tenths": ("normal", 1)}
INTERVALS = 20
OTHERS = 200


def simulate(curve: str, shape: str, sizes: tuple[int, int], runs: int, others: int) -> Any:
    """Return the mean share of other draws' thresholds inside, with its Monte-Carlo error."""
    rng = generator("interval", curve, shape, sizes)
    name, digits = TIED.get(shape, (shape, 15))
    problem = Problem.with_error(SHAPES[name], 0.1)

    def draw() -> tuple[Any, Any]:
        y, scores = problem.draw(sizes, rng)
        return y, np.round(scores, digits)

    bank = np.array([find_boundary(*draw(), curve=curve).threshold for _ in range(others)])
    inside = []
    widths = []
    for _ in range(runs):
        low, high = threshold_interval(*draw(), CONFIDENCE, curve=curve, random_state=rng)
        inside.append(float(np.mean((low <= bank) & (bank <= high))))
        widths.append(high - low)
    return {
        "curve": curve,
        "shape": shape,
        "rows": sizes,
        "intervals": runs,
        "others": others,
        "inside": float(np.mean(inside)),
        # The intervals vary, and so does the share of a sample of other draws.
        "error": float(np.hypot(np.std(inside) / runs**0.5, (0.05 * 0.95 / others) ** 0.5)),
        "width": float(np.median(widths)),
        "width_needed": float(2 * 1.96 * 2**0.5 * np.std(bank)),
    }


def collect(quick: bool) -> Facts:
    runs, others = (2, 10) if quick else (INTERVALS, OTHERS)
    shapes, sizes = (("normal",), SIZES[:1]) if quick else ((*SHAPES, *TIED), SIZES)
    jobs = [("blend", shape, size, runs, others) for shape in shapes for size in sizes]
    jobs += [("empirical", shape, SIZES[0], runs, others) for shape in shapes if not quick]
    return {"cells": in_parallel(simulate, jobs, quick)}


def tables(facts: Facts) -> Tables:
    cells = facts["cells"]
    below = [c for c in cells if c["inside"] < CONFIDENCE - 2 * c["error"]]
    worst = min(cells, key=lambda c: c["inside"])
    rows = [
        (c["curve"], c["shape"], f"{c['rows'][0]}:{c['rows'][1]}", c["intervals"], c["inside"],
         c["error"], c["width"] / c["width_needed"] if c["width_needed"] else "–",
         "no" if c in below else "yes")
        for c in cells
    ]  # fmt: skip
    head = (
        "curve | shape | rows | intervals | inside | ± (1 s.e.) | width / needed | "
        "within 2 s.e. of .95"
    )
    said = (
        f"{len(below)} of {len(cells)} cells hold less than {CONFIDENCE:.2f} minus two standard "
        f"errors of the simulation; the least is {worst['inside']:.3f} ({worst['curve']}, "
        f"{worst['shape']}, {worst['rows'][0]}:{worst['rows'][1]} rows)."
    )
    return {"interval": f"{said}\n\n{table(head, rows)}"}


EXPERIMENT = Experiment(collect, tables)
