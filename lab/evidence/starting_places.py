"""Choose where tests of a precision floor start, on class shapes that no other page reports on.

Usage: ``python -m lab.evidence.starting_places [--quick] [--out DIR]``.

A precision floor is tested from several numbers of flagged rows on, each with a part of the
confidence (`boundshift.curves.sequence`). More places answer more often where precision is poor
among the highest scores, and less often elsewhere. Every candidate keeps its promise by the same
proof; what is compared is how often it answers and how much recall it promises.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from typing import Any

import numpy as np
from scipy import stats

from boundshift.curves.sequence import pass_in_order, starting_places
from lab.evidence.claims import generator
from lab.evidence.evidence import Facts, in_parallel, run, table
from lab.evidence.shapes import Mixture, Problem

DELTA = 0.05
ROWS = (10, 30, 50, 100, 200, 500, 1000, 2000)
PREVALENCES = (0.5, 0.2, 0.1, 0.05, 0.01)
FLOORS = (0.3, 0.6, 0.8, 0.9)
# None of them is a shape of `lab.evidence.shapes`, on which the floors are reported.
CHOOSING_SHAPES: dict[str, Any] = {
    "logistic": stats.logistic(),
    "skewed to the right": stats.gumbel_r(),
    "skewed to the left": stats.gumbel_l(),
    "heavy-tailed": stats.t(3),
    "very heavy-tailed": stats.t(1.5),
    "peaked": stats.laplace(),
    "two-humped": Mixture(0.85, (0.0, 1.0), (5.0, 1.0)),
    "bounded": stats.uniform(-1, 2),
}
DRAWS = 24
# How many times the rows of the place before, and the largest share of all rows; one place alone
# is no rise within reach.
ONE_PLACE = (2**40, 1.0)
CANDIDATES = (ONE_PLACE, *((ratio, share) for ratio in (2, 3, 4, 6) for share in (1.0, 0.5, 0.25)))
CHOSEN = (3, 0.5)


def judge(rows: int, prevalence: float, draws: int) -> list[dict[str, Any]]:
    """Return how often each candidate answers, how much recall it promises, and what it breaks."""
    sums: defaultdict[tuple[float, tuple[int, float]], np.ndarray[Any, Any]]
    sums = defaultdict(lambda: np.zeros(3))
    for name, shape in CHOOSING_SHAPES.items():
        for draw in range(draws):
            rng = generator("starting places", name, rows, prevalence, draw)
            problem = Problem.with_error(shape, rng.uniform(0.01, 0.3))
            positives = int(rng.binomial(rows, prevalence))
            if positives in (0, rows):
                continue
            y, scores = problem.draw((rows - positives, positives), rng)
            order = np.argsort(-scores)
            n = np.arange(rows)
            wrong = np.concatenate([[0], np.cumsum(1 - y[order])])[:rows]
            for floor in FLOORS:
                for candidate in CANDIDATES:
                    places = starting_places(floor, DELTA, rows - 1, *candidate)
                    passed = np.flatnonzero(pass_in_order(wrong, n, floor, DELTA, places))
                    if len(passed):
                        alarms, misses = problem.errors(float(scores[order][passed[-1]]))
                        hits = prevalence * (1 - misses)
                        broken = hits < floor * (hits + (1 - prevalence) * alarms)
                        sums[floor, candidate] += 1, 1 - misses, broken
    total = draws * len(CHOOSING_SHAPES)
    return [
        {
            "rows": rows,
            "prevalence": prevalence,
            "floor": floor,
            "candidate": list(candidate),
            "draws": total,
            "answered": float(sums[floor, candidate][0]) / total,
            "recall": float(sums[floor, candidate][1]) / total,
            "broken": float(sums[floor, candidate][2]) / total,
        }
        for floor in FLOORS
        for candidate in CANDIDATES
    ]


def collect(quick: bool) -> Facts:
    rows, shares, draws = ((50, 500), (0.2,), 2) if quick else (ROWS, PREVALENCES, DRAWS)
    found = in_parallel(judge, [(n, share, draws) for n in rows for share in shares], quick)
    return {"draws": draws, "cells": [cell for cells in found for cell in cells]}


def mean_of(cells: list[dict[str, Any]], candidate: tuple[int, float], what: str) -> float:
    """Return the mean over cells of one candidate."""
    return float(np.mean([c[what] for c in cells if tuple(c["candidate"]) == candidate]))


def is_met(facts: Facts) -> bool:
    """Say whether the chosen places promise the most recall, but for a twentieth of it."""
    recall = {c: mean_of(facts["cells"], c, "recall") for c in CANDIDATES}
    return recall[CHOSEN] >= 0.95 * max(recall.values())


def page(facts: Facts) -> str:
    cells = facts["cells"]
    sizes = sorted({cell["rows"] for cell in cells})
    lines: list[list[object]] = []
    for candidate in CANDIDATES:
        ratio, share = candidate
        name = "one place" if candidate == ONE_PLACE else f"× {ratio}, up to {share:g} of the rows"
        mine = [cell for cell in cells if tuple(cell["candidate"]) == candidate]
        by_size = [
            mean_of([c for c in mine if c["rows"] == n], candidate, "answered") for n in sizes
        ]
        lines.append(
            [
                f"**{name}**" if candidate == CHOSEN else name,
                mean_of(mine, candidate, "answered"),
                mean_of(mine, candidate, "recall"),
                max(cell["broken"] for cell in mine),
                *by_size,
            ]
        )
    header = ["starting places", "answered", "mean recall promised", "broken in the worst cell"]
    return "\n\n".join(
        [
            "# Where tests of a precision floor start",
            f"Precision floors of {', '.join(f'{floor:g}' for floor in FLOORS)} at 0.95 "
            f"confidence, {facts['draws'] * len(CHOOSING_SHAPES)} draws a cell of rows, prevalence "
            "and floor, over eight class shapes, none of them a shape on which "
            "[floors](floors.md) and [controllers](controllers.md) are reported. The first place "
            "is the number of flagged rows at which a precision halfway between floor and 1 would "
            "do; each further one has so many times as many rows. All places of a line have equal "
            "parts of the confidence. Without an answer the recall is 0. The places in bold are "
            "those in use.",
            table([*header, *(f"answered, {n} rows" for n in sizes)], lines),
        ]
    )


if __name__ == "__main__":
    sys.exit(run(__file__, collect, page, is_met))
