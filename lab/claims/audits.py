"""Check audits of small pools for wrong verdicts, and count the labels that they need.

The recall of a pool is known. A floor just above it may not be certified, and one just at it may
not be shown to be missed. Positive rows have normal scores at a distance; useless scores have none,
and hostile ones hide a part of the positives far below all other rows.
"""

from __future__ import annotations

import numpy as np

from boundshift import Audit, Floors
from boundshift._typing import FloatArray, IntArray
from lab.claims.simulation import all_pass, generator, mark_passes, p_value_of_broken
from lab.experiment import Experiment, Facts, Tables, rows_in_parallel
from lab.markdown import columns

DRAWS = 2000
STEP = 10
DRAWN = ("random", "score")
SCORES = {"good": 2.5, "useless": 0.0, "hostile": 2.5}
# Rows of a small pool, positives among them, and the positives that are missed.
SMALL = (60, 20, 2)
# The verdict that would be wrong, and the floor for which it is.
WRONG = {"certified": 0.92, "missed": 0.9}
# Larger pools: rows, positives, positives missed, distance of the classes; the floor is 0.9.
LARGE = ((8000, 400, 24, 4.0), (8000, 400, 8, 4.0), (8000, 80, 4, 3.0), (8000, 80, 1, 3.0))
LARGE_DRAWS = 20


def draw_pool(
    n: int, n_positive: int, missed: int, distance: float, hides: bool, rng: np.random.Generator
) -> tuple[IntArray, FloatArray, float]:
    """Return labels, scores, and the threshold at which so many positives are missed."""
    y = (np.arange(n) < n_positive).astype(np.int64)
    s = rng.normal(size=n) + distance * y
    if hides:
        s[: max(missed // 2, 1)] = -9.0
    return y, s, float(np.sort(s[y == 1])[missed - 1])


def run_audit(audit: Audit, y: IntArray) -> Audit:
    while audit.status == "open":
        audit.add(y[audit.next_rows(STEP)])
    return audit


def judge_verdicts(drawn: str, scores: str, verdict: str, draws: int) -> list[Facts]:
    """Count wrong verdicts in small pools."""
    wrong = 0
    labels = 0
    for draw in range(draws):
        rng = generator("audits", drawn, scores, verdict, draw)
        y, s, threshold = draw_pool(*SMALL, SCORES[scores], scores == "hostile", rng)
        rule = Floors(recall=WRONG[verdict])
        audit = run_audit(Audit(s, threshold, rule, draw=drawn, random_state=rng), y)  # type: ignore[arg-type]
        wrong += audit.status == verdict
        labels += audit.n_labels
    return [
        {
            "kind": "verdicts",
            "draw": drawn,
            "scores": scores,
            "verdict": verdict,
            "draws": draws,
            "wrong": wrong / draws,
            "labels": labels / draws,
            "p_value": p_value_of_broken(wrong, draws),
        }
    ]


def judge_labels(n: int, n_positive: int, missed: int, distance: float, draws: int) -> list[Facts]:
    """Count the labels that both kinds of audit need in the same larger pools."""
    rows = []
    for drawn in DRAWN:
        labels = []
        certified = 0
        for draw in range(draws):
            rng = generator("labels", n, n_positive, missed, draw)
            y, s, threshold = draw_pool(n, n_positive, missed, distance, False, rng)
            rule = Floors(recall=0.9)
            audit = run_audit(Audit(s, threshold, rule, draw=drawn, random_state=rng), y)  # type: ignore[arg-type]
            labels.append(audit.n_labels)
            certified += audit.status == "certified"
        rows.append(
            {
                "kind": "labels",
                "draw": drawn,
                "n": n,
                "positives": n_positive,
                "recall": 1 - missed / n_positive,
                "draws": draws,
                "certified": certified / draws,
                "labels": float(np.mean(labels)),
            }
        )
    return rows


def collect(quick: bool) -> Facts:
    draws = 20 if quick else DRAWS
    cells = [(*cell, draws) for cell in ((d, s, v) for d in DRAWN for s in SCORES for v in WRONG)]
    pools = [(*pool, 1 if quick else LARGE_DRAWS) for pool in LARGE]
    rows = rows_in_parallel(judge_verdicts, cells, quick)
    mark_passes(rows)
    return {"draws": draws, "rows": rows + rows_in_parallel(judge_labels, pools, quick)}


def is_met(facts: Facts) -> bool:
    return all_pass(facts["rows"])


def tables(facts: Facts) -> Tables:
    verdicts = [row for row in facts["rows"] if row["kind"] == "verdicts"]
    labels = [row for row in facts["rows"] if row["kind"] == "labels"]
    return {
        "verdicts": columns(
            verdicts,
            {
                "rows drawn by": "draw",
                "scores": "scores",
                "floor": lambda row: f"{WRONG[row['verdict']]:g}",
                "wrong verdict": "verdict",
                "pools": "draws",
                "how often": "wrong",
                "labels": lambda row: f"{row['labels']:.0f}",
                "passes": "passes",
            },
        ),
        "labels": columns(
            labels,
            {
                "rows": lambda row: f"{row['n']:,}",
                "positives": "positives",
                "recall": "recall",
                "drawn by": "draw",
                "pools": "draws",
                "certified": "certified",
                "labels": lambda row: f"{row['labels']:.0f}",
            },
        ),
    }


EXPERIMENT = Experiment(collect, tables, is_met)
