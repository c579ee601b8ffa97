"""Check that a recall floor asked for is met on fresh data as often as promised.

Usage: ``python -m lab.evidence.recall_floor [--quick] [--out DIR]``.

Simulated problems differ in class shape, class sizes and overlap. The boundary protects the recall
of the positive class, by a floor on Clopper–Pearson curves. The true recall comes
from the known distribution. Where no boundary could promise the floor the status is UNMET, and
nothing is promised; the best that there is then counts too.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from boundshift import Status, find_boundary
from boundshift.curves.counts import ClopperPearson
from boundshift.rules import Floors
from lab.evidence.claims import generator
from lab.evidence.evidence import Facts, run, table
from lab.evidence.shapes import SHAPES, Problem
from lab.harness.quiet import quiet

PROBLEMS = 2000
FLOORS = (0.8, 0.9)
CONFIDENCES = (0.90, 0.95)


def simulate(index: int) -> list[dict[str, Any]]:
    """Return what became of each promise in one problem."""
    rng = generator("recall floor", index)
    shape = list(SHAPES)[index % len(SHAPES)]
    problem = Problem.with_error(SHAPES[shape], rng.uniform(0.02, 0.3))
    n_positive = int(np.exp(rng.uniform(np.log(10), np.log(300))))
    y, scores = problem.draw((int(n_positive * rng.uniform(3, 20)), n_positive), rng)
    rows = []
    for floor in FLOORS:
        for confidence in CONFIDENCES:
            found = _find(y, scores, floor, confidence)
            false_alarms, misses = problem.errors(found.threshold)
            facts = {"floor": floor, "confidence": confidence, "shape": shape, "rows": n_positive}
            promised = found.status is not Status.UNMET
            rows.append(
                facts
                | {"promised": promised, "kept": bool(1 - misses >= floor)}
                | {"recall": 1 - misses, "false_alarms": false_alarms}
            )
    return rows


def _find(y: Any, scores: Any, floor: float, confidence: float) -> Any:
    with quiet():
        return find_boundary(y, scores, curve=ClopperPearson(confidence), rule=Floors(recall=floor))


def collect(quick: bool) -> Facts:
    n_problems = 40 if quick else PROBLEMS
    rows = [row for index in range(n_problems) for row in simulate(index)]
    groups = [(floor, confidence) for floor in FLOORS for confidence in CONFIDENCES]
    return {"problems": n_problems, "summary": [summarise(rows, *group) for group in groups]}


def summarise(rows: list[dict[str, Any]], floor: float, confidence: float) -> dict[str, Any]:
    """Return shares of problems in which the floor was promised and kept."""
    chosen = [r for r in rows if (r["floor"], r["confidence"]) == (floor, confidence)]
    promised = [r for r in chosen if r["promised"]]
    kept = float(np.mean([r["kept"] for r in promised]))
    error = float(np.sqrt(confidence * (1 - confidence) / len(promised)))
    return {
        "floor": floor,
        "confidence": confidence,
        "unmet": len(chosen) - len(promised),
        "kept_of_promised": kept,
        "kept_of_all": float(np.mean([r["kept"] for r in chosen])),
        "standard_error": error,
        "mean_recall": float(np.mean([r["recall"] for r in promised])),
        "mean_false_alarms": float(np.mean([r["false_alarms"] for r in promised])),
        "passes": bool(kept >= confidence - 3 * error),
    }


def is_met(facts: Facts) -> bool:
    """Say whether every promise is kept as often as stated."""
    return all(group["passes"] for group in facts["summary"])


def page(facts: Facts) -> str:
    header = ["floor", "confidence", "kept where promised", "kept in all problems", "passes"]
    rows = [
        [
            g["floor"],
            g["confidence"],
            f"{g['kept_of_promised']:.3f} ± {g['standard_error']:.3f}",
            g["kept_of_all"],
            "yes" if g["passes"] else "no",
            g["unmet"],
            g["mean_recall"],
            g["mean_false_alarms"],
        ]
        for g in facts["summary"]
    ]
    return "\n\n".join(
        [
            "# Recall floor",
            f"{facts['problems']} problems with 10 to 300 positive rows. UNMET: too few of them "
            "to promise the floor.",
            table([*header, "UNMET", "mean recall", "mean false-alarm rate"], rows),
        ]
    )


if __name__ == "__main__":
    sys.exit(run(__file__, collect, page, is_met))
