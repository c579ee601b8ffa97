"""Check that recall floors of three classes are kept on fresh rows as often as promised.

Usage: ``python -m lab.evidence.class_floors [--quick] [--out DIR]``.

Class k lies higher in the k-th of three independent scores, so that true recalls can be computed.
The exit code is 1 if promised floors hold together less often than stated, beyond two Monte-Carlo
standard errors.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from boundshift import ClassFloors, Status
from boundshift.multiclass import ClassRows, promise_floors
from lab.evidence.claims import generator, true_recall
from lab.evidence.evidence import Facts, run, table
from lab.evidence.shapes import SHAPES

RUNS = 2000
LABELS = ("usual", "seldom", "rare")
SIZES = ((150, 70, 50),)
ASKED = ({"rare": 0.8}, {"rare": 0.8, "usual": 0.6}, {"rare": 0.75, "seldom": 0.75, "usual": 0.75})
CONFIDENCE = 0.95


def simulate(shape: str, sizes: tuple[int, ...], asked: dict[str, float], runs: int) -> Any:
    """Draw rows, ask for floors, and count how often those that are promised are kept."""
    rng, rule = generator("class floors", shape, sizes, asked), ClassFloors(asked)
    separation = 2.0 * float(SHAPES[shape].ppf(0.75) - SHAPES[shape].ppf(0.25))
    y = np.repeat(np.arange(3), sizes)
    kept, recalls = [], []
    for _ in range(runs):
        scores = SHAPES[shape].rvs((len(y), 3), random_state=rng) + separation * np.eye(3)[y]
        found = promise_floors(ClassRows(y, scores), rule, LABELS)
        if found.status is Status.SHARED:
            truth = [true_recall(SHAPES[shape], separation, found.biases, k) for k in range(3)]
            kept.append(all(truth[LABELS.index(k)] >= floor for k, floor in asked.items()))
            recalls.append(truth)
    error = float(np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / max(len(kept), 1)))
    return {
        "shape": shape,
        "sizes": sizes,
        "asked": asked,
        "runs": runs,
        "promised": len(kept) / runs,
        "kept": float(np.mean(kept)) if kept else None,
        # A false promise is as bad where promises are seldom made.
        "broken_of_all": float(np.sum(np.logical_not(kept)) / runs),
        "recalls": np.mean(recalls, axis=0).tolist() if kept else None,
        "passes": float(np.sum(np.logical_not(kept)) / runs)
        <= 1 - CONFIDENCE + 2 * error * len(kept) / runs,
    }


def collect(quick: bool) -> Facts:
    shapes = ("normal",) if quick else tuple(SHAPES)
    sizes, asked, runs = (SIZES[:1], ASKED[:1], 25) if quick else (SIZES, ASKED, RUNS)
    return {
        "cells": [simulate(s, n, a, runs) for s in shapes for n in sizes for a in asked],
        "runs": runs,
    }


def is_met(facts: Facts) -> bool:
    """Say whether promised floors are broken as seldom as stated."""
    return all(cell["passes"] for cell in facts["cells"])


def page(facts: Facts) -> str:
    rows = [
        [
            c["shape"],
            " : ".join(map(str, c["sizes"])),
            ", ".join(f"{label} {floor}" for label, floor in c["asked"].items()),
            f"{c['promised']:.3f}",
            f"{c['broken_of_all']:.3f}" + ("" if c["passes"] else " ✗"),
            "–" if c["kept"] is None else f"{c['kept']:.3f}",
            "–" if c["recalls"] is None else ", ".join(f"{r:.2f}" for r in c["recalls"]),
        ]
        for c in facts["cells"]
    ]
    error = np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / facts["runs"])
    return "\n\n".join(
        [
            "# Floors of many classes",
            f"`ClassFloors` at {CONFIDENCE:.0%} on rows of three classes that a model has not "
            f"seen, {facts['runs']:,} draws a cell. *Promised*: share of draws with a promise. "
            "*Broken*: share of draws in which floors are promised and one of them does not hold, "
            f"which may be at most {1 - CONFIDENCE:.2f}; its Monte-Carlo standard error is at most "
            f"{error:.3f}, and a cell marked ✗ lies more than two beyond. *Kept*: of the draws "
            "with a promise, those in which all floors hold; it may be lower where few "
            "draws have one. The last column has the mean recalls of "
            f"{', '.join(LABELS)}, where promised.",
            table(["shape", "rows", "floors", "promised", "broken", "kept", "mean recalls"], rows),
        ]
    )


if __name__ == "__main__":
    sys.exit(run(__file__, collect, page, is_met))
