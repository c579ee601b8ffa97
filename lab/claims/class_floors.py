"""Check that recall floors of three classes are kept on fresh rows as often as promised."""

from __future__ import annotations

from typing import Any

import numpy as np

from boundshift import ClassFloors, Status
from boundshift._multiclass import ClassRows, promise_floors
from lab.claims.simulation import SHAPES, binomial_error, generator, true_recall
from lab.experiment import Experiment, Facts, Tables
from lab.markdown import table

RUNS = 2000
LABELS = ("usual", "seldom", "rare")
SIZES = (150, 70, 50)
ASKED = ({"rare": 0.8}, {"rare": 0.8, "usual": 0.6}, {"rare": 0.75, "seldom": 0.75, "usual": 0.75})
CONFIDENCE = 0.95


def simulate(shape: str, asked: dict[str, float], runs: int) -> Any:
    """Draw rows, ask for floors, and count how often the promised floors are kept."""
    rng, rule = generator("class floors", shape, SIZES, asked), ClassFloors(asked)
    separation = 2.0 * float(SHAPES[shape].ppf(0.75) - SHAPES[shape].ppf(0.25))
    y = np.repeat(np.arange(3), SIZES)
    kept, recalls = [], []
    for _ in range(runs):
        scores = SHAPES[shape].rvs((len(y), 3), random_state=rng) + separation * np.eye(3)[y]
        found = promise_floors(ClassRows(y, scores), rule, LABELS)
        if found.status is Status.SHARED:
            truth = [true_recall(SHAPES[shape], separation, found.biases, k) for k in range(3)]
            kept.append(all(truth[LABELS.index(k)] >= floor for k, floor in asked.items()))
            recalls.append(truth)
    error = binomial_error(CONFIDENCE, max(len(kept), 1))
    # A false promise is as bad where promises are seldom made.
    broken = float(np.sum(np.logical_not(kept)) / runs)
    return {
        "shape": shape,
        "sizes": SIZES,
        "asked": asked,
        "runs": runs,
        "promised": len(kept) / runs,
        "kept": float(np.mean(kept)) if kept else None,
        "broken_of_all": broken,
        "recalls": np.mean(recalls, axis=0).tolist() if kept else None,
        "passes": broken <= 1 - CONFIDENCE + 2 * error * len(kept) / runs,
    }


def collect(quick: bool) -> Facts:
    shapes = ("normal",) if quick else tuple(SHAPES)
    asked, runs = (ASKED[:1], 25) if quick else (ASKED, RUNS)
    return {"cells": [simulate(s, a, runs) for s in shapes for a in asked], "runs": runs}


def tables(facts: Facts) -> Tables:
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
    head = "shape | rows | floors | promised | broken | kept | mean recalls"
    return {"floors": table(head, rows)}


EXPERIMENT = Experiment(collect, tables, lambda facts: all(c["passes"] for c in facts["cells"]))
