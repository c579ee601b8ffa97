"""Check that unsure zones keep their guarantees, and compare their width with split-conformal sets.

The split-conformal set predictor has a quantile for each class: a row is unsure if both labels are
in its set. It guarantees the error on average over samples, with no confidence, and is measured for
what the confidence costs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift import find_zone
from boundshift._typing import FloatArray
from lab.claims.simulation import (
    FALSE_VERDICT,
    SHAPES,
    Problem,
    all_pass,
    generator,
    p_value_of_broken,
)
from lab.experiment import Experiment, Facts, Tables, in_parallel
from lab.markdown import Cell, table

Limits = tuple[float, float]
Shares = tuple[float, float, float]

CONFIDENCE = 0.95
ERRORS = (0.05, 0.05)
# The share of each class that the boundary in the middle gets wrong.
OVERLAP = 0.1
# Rows of each class (negative, positive); 59 is the fewest that can guarantee anything.
SIZES = ((200, 30), (59, 59), (500, 100), (1700, 300), (1000, 1000))
DRAWS = 2000
OURS = "find_zone"
CONFORMAL = "split-conformal"


def zone_limits(y: NDArray[np.int64], scores: FloatArray) -> Limits:
    zone = find_zone(y, scores, errors=ERRORS, confidence=CONFIDENCE)
    return zone.low, zone.high


def conformal_limits(y: NDArray[np.int64], scores: FloatArray) -> Limits:
    r"""Return where the split-conformal sets of each class end.

    A label is in the set of a score if more than a share :math:`\alpha` of its class's n rows and
    the new one are as strange or stranger: the ⌈(n + 1)(1 - α)⌉-th of n ordered scores.
    """
    high = _quantile(np.sort(scores[y == 0]), ERRORS[0])
    low = -_quantile(np.sort(-scores[y == 1]), ERRORS[1])
    # Limits that have crossed leave empty sets between them: one boundary does, as for a zone.
    return (low, high) if low <= high else ((low + high) / 2,) * 2


def _quantile(ordered: FloatArray, error: float) -> float:
    rank = math.ceil((len(ordered) + 1) * (1 - error))
    return float(ordered[rank - 1]) if rank <= len(ordered) else math.inf


def true_shares(problem: Problem, limits: Limits) -> Shares:
    """Return each class's share decided wrongly, and the mean share of both that is unsure."""
    low, high = limits
    alarms = problem.errors(high)[0]
    hits = 1 - problem.errors(high)[1]
    misses = problem.errors(low)[1]
    left = 1 - problem.errors(low)[0]
    return alarms, misses, 1 - (alarms + left + misses + hits) / 2


def judge(shape: str, sizes: tuple[int, int], draws: int) -> dict[str, Any]:
    problem = Problem.with_error(SHAPES[shape], OVERLAP)
    seen: dict[str, list[Shares]] = {OURS: [], CONFORMAL: []}
    for draw in range(draws):
        rows = problem.draw(sizes, generator("zones", shape, OVERLAP, sizes, draw))
        seen[OURS].append(true_shares(problem, zone_limits(*rows)))
        seen[CONFORMAL].append(true_shares(problem, conformal_limits(*rows)))
    methods = {name: summarise(found) for name, found in seen.items()}
    return {"shape": shape, "sizes": list(sizes), "draws": draws, "methods": methods}


def summarise(found: list[Shares]) -> dict[str, Any]:
    """Return how often each guarantee is broken, and how many rows are unsure."""
    shares = np.array(found)
    broken = [int(np.sum(shares[:, i] > ERRORS[i])) for i in range(2)]
    both = int(np.sum((shares[:, 0] > ERRORS[0]) | (shares[:, 1] > ERRORS[1])))
    return {
        "broken": broken,
        "both_broken": both,
        "p_value": min(p_value_of_broken(b, len(found)) for b in broken),
        "unsure": float(shares[:, 2].mean()),
        "unsure_error": float(shares[:, 2].std(ddof=1) / np.sqrt(len(found))),
    }


def collect(quick: bool) -> Facts:
    sizes, draws = ((SIZES[1],), 40) if quick else (SIZES, DRAWS)
    cells = in_parallel(judge, [(s, n, draws) for s in SHAPES for n in sizes], quick)
    for cell in cells:
        cell["passes"] = cell["methods"][OURS]["p_value"] * len(cells) > FALSE_VERDICT
    return {"draws": draws, "cells": cells}


def is_met(facts: Facts) -> bool:
    return all_pass(facts["cells"])


def tables(facts: Facts) -> Tables:
    cells = facts["cells"]
    rows: list[list[Cell]] = []
    for sizes in sorted({tuple(cell["sizes"]) for cell in cells}):
        mine = [cell for cell in cells if tuple(cell["sizes"]) == sizes]
        draws = sum(cell["draws"] for cell in mine)
        ours, others = ([cell["methods"][name] for cell in mine] for name in (OURS, CONFORMAL))
        kept = [1 - sum(m["broken"][i] for m in ours) / draws for i in range(2)]
        worst = 1 - max(max(m["broken"]) for m in ours) / facts["draws"]
        both = 1 - sum(m["both_broken"] for m in ours) / draws
        theirs = 1 - sum(max(m["broken"]) for m in others) / draws
        widths = [
            f"{np.mean([m['unsure'] for m in found]):.3f} ± "
            f"{np.sqrt(sum(m['unsure_error'] ** 2 for m in found)) / len(found):.4f}"
            for found in (ours, others)
        ]
        said = f"{sizes[0]}, {sizes[1]}"
        rows.append([said, *kept, worst, both, widths[0], theirs, widths[1], all_pass(mine)])
    head = (
        "rows | negative kept | positive kept | worst cell | both kept | unsure | "
        "conformal: the lesser kept | conformal: unsure | passes"
    )
    return {"zones": table(head, rows)}


EXPERIMENT = Experiment(collect, tables, is_met)
