"""Check that guaranteed floors are kept on fresh data, whatever is asked and drawn.

Each row is positive with the prevalence of the cell, so that a small sample of a rare class often
has none of it, which is no answer. Class shapes and their overlap change from draw to draw; true
rates come from the known distributions. A guarantee is broken where a boundary is given, its status
is not UNMET, and a floor does not hold there. That may happen in one draw of twenty; a cell fails
if its count of broken guarantees would be less likely than one in a thousand were it one in twenty,
by the binomial distribution, the cells all taken together.

A guarantee is over draws. Where two floors are barely reachable, only lucky samples get an answer,
and of the guarantees that are given more than one in twenty may be broken. So floors are also asked
for that the true distribution reaches by a given slack, and both shares are reported.

Recall floors of three classes are asked for too, of draws of one size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import beta

from boundshift import ClassFloors, Status, find_boundary
from boundshift._multiclass.floors import ClassRows, guarantee_floors
from boundshift.rules import Floors
from lab.claims.simulation import (
    SHAPES,
    Problem,
    all_pass,
    binomial_error,
    generator,
    mark_passes,
    p_value_of_broken,
    true_rates,
    true_recall,
)
from lab.experiment import Experiment, Facts, Tables, in_parallel, quiet
from lab.markdown import Cell, table

CONFIDENCE = 0.95
ROWS = (10, 30, 100, 300, 1000, 2000)
PREVALENCES = (0.5, 0.2, 0.05, 0.01)
OBJECTIVES = ("g-mean", "recall", "specificity", "f1")
GUARANTEES: tuple[dict[str, float], ...] = (
    {"recall": 0.8},
    {"specificity": 0.9},
    {"precision": 0.3},
    {"precision": 0.8},
    {"npv": 0.9},
    {"flagged": 0.2},
    {"recall": 0.7, "precision": 0.3},
    {"recall": 0.7, "specificity": 0.7},
    {"specificity": 0.8, "npv": 0.8, "flagged": 0.5},
    {"precision": 0.5, "prevalence": 0.3},
    {"flagged": 0.1, "prevalence": 0.02},
)
DRAWS = 200
# Pairs of floors that a boundary with a true recall of 0.8 reaches by some slack.
JOINT = (("recall", "precision"), ("recall", "specificity"))
SLACKS = (0.0, 0.02, 0.05)
CLASSES = ("usual", "seldom", "rare")
CLASS_SIZES = (150, 70, 50)
CLASS_FLOORS: tuple[dict[str, float], ...] = (
    {"rare": 0.8},
    {"rare": 0.8, "usual": 0.6},
    {"rare": 0.75, "seldom": 0.75, "usual": 0.75},
)
CLASS_DRAWS = 2000


def simulate(
    asked: dict[str, float], rows: int, share: float, draw: int, slack: float | None = None
) -> tuple[bool, bool]:
    """Return whether floors were guaranteed, and whether they hold, in one draw.

    With a slack the floors are those of the names asked for that are reached by it.
    """
    rng = generator("floors", sorted(asked.items()), rows, share, draw)
    shape = list(SHAPES)[draw % len(SHAPES)]
    problem = Problem.with_error(SHAPES[shape], rng.uniform(0.01, 0.3))
    if slack is not None:
        at = problem.distance - float(problem.shape.ppf(0.8))
        reached = true_rates(*problem.errors(at), share)
        asked = {name: reached[name] - slack for name in asked}
    positives = int(rng.binomial(rows, share))
    if positives in (0, rows):
        return False, True
    y, scores = problem.draw((rows - positives, positives), rng)
    then = OBJECTIVES[draw // len(SHAPES) % len(OBJECTIVES)]
    with quiet():
        found = find_boundary(y, scores, rule=Floors(**asked, then=then, confidence=CONFIDENCE))
    reached = true_rates(*problem.errors(found.threshold), asked.get("prevalence", share))
    holds = all(
        reached[name] <= floor if name == "flagged" else reached[name] >= floor
        for name, floor in asked.items()
        if name != "prevalence"
    )
    return found.status is not Status.UNMET, holds


def judge(
    asked: dict[str, float], rows: int, share: float, draws: int, slack: float | None = None
) -> dict[str, Any]:
    """Return how often one guarantee was given and broken."""
    seen = [simulate(asked, rows, share, draw, slack) for draw in range(draws)]
    guaranteed = sum(given for given, _ in seen)
    broken = sum(given and not holds for given, holds in seen)
    # Exact limits of the chance that a draw breaks its guarantee.
    low = float(beta.ppf(0.025, broken, draws - broken + 1)) if broken else 0.0
    high = float(beta.ppf(0.975, broken + 1, draws - broken)) if broken < draws else 1.0
    return {
        "asked": asked,
        "rows": rows,
        "prevalence": share,
        "slack": slack,
        "draws": draws,
        "guaranteed": guaranteed,
        "broken": broken,
        "limits": [low, high],
        "p_value": p_value_of_broken(broken, draws),
    }


def judge_classes(shape: str, asked: dict[str, float], draws: int) -> dict[str, Any]:
    """Return how often floors of three classes were guaranteed and broken."""
    rng = generator("class floors", shape, CLASS_SIZES, asked)
    rule = ClassFloors(asked)
    separation = 2.0 * float(SHAPES[shape].ppf(0.75) - SHAPES[shape].ppf(0.25))
    y = np.repeat(np.arange(3), CLASS_SIZES)
    kept = []
    recalls = []
    for _ in range(draws):
        scores = SHAPES[shape].rvs((len(y), 3), random_state=rng) + separation * np.eye(3)[y]
        found = guarantee_floors(ClassRows(y, scores), rule, CLASSES)
        if found.status is Status.SHARED:
            truth = [true_recall(SHAPES[shape], separation, found.biases, k) for k in range(3)]
            kept.append(all(truth[CLASSES.index(k)] >= floor for k, floor in asked.items()))
            recalls.append(truth)
    guaranteed = len(kept) / draws
    broken = (len(kept) - sum(kept)) / draws
    error = binomial_error(CONFIDENCE, max(len(kept), 1))
    return {
        "shape": shape,
        "asked": asked,
        "guaranteed": guaranteed,
        "broken": broken,
        "kept": float(np.mean(kept)) if kept else None,
        "recalls": np.mean(recalls, axis=0).tolist() if kept else None,
        "passes": broken <= 1 - CONFIDENCE + 2 * error * guaranteed,
    }


def collect(quick: bool) -> Facts:
    rows, shares, draws = (ROWS[1:5:2], PREVALENCES[:1], 8) if quick else (ROWS, PREVALENCES, DRAWS)
    jobs = [(a, n, share, draws) for a in GUARANTEES for n in rows for share in shares]
    barely = [
        (dict.fromkeys(names, 0.0), n, share, 2 * draws, slack)
        for names in JOINT
        for n in rows
        for share in shares
        for slack in SLACKS
        if n >= 100 and share >= 0.2
    ]
    cells = in_parallel(judge, jobs + barely, quick)
    mark_passes(cells)
    shapes, floors = (("normal",), CLASS_FLOORS[:1]) if quick else (tuple(SHAPES), CLASS_FLOORS)
    many = [(s, floor, 25 if quick else CLASS_DRAWS) for s in shapes for floor in floors]
    return {
        "draws": draws,
        "cells": cells[: len(jobs)],
        "barely": cells[len(jobs) :],
        "classes": in_parallel(judge_classes, many, quick),
    }


def is_met(facts: Facts) -> bool:
    return all_pass(facts["cells"], facts["barely"], facts["classes"])


def describe(asked: dict[str, float]) -> str:
    floors = [
        f"{name} {'≤' if name == 'flagged' else '≥'} {value:g}"
        for name, value in asked.items()
        if name != "prevalence"
    ]
    where = f", where {asked['prevalence']:g} are positive" if "prevalence" in asked else ""
    return " and ".join(floors) + where


def _summed(cells: list[dict[str, Any]]) -> tuple[int, int, int, Cell, bool]:
    """Return draws, guarantees, broken ones, the share kept where given, and whether all pass."""
    draws, guaranteed, broken = (
        sum(c[k] for c in cells) for k in ("draws", "guaranteed", "broken")
    )
    kept: Cell = 1 - broken / guaranteed if guaranteed else "–"
    return draws, guaranteed, broken, kept, all_pass(cells)


def tables(facts: Facts) -> Tables:
    cells = facts["cells"]
    rows: list[list[Cell]] = []
    for asked in GUARANTEES:
        mine = [cell for cell in cells if cell["asked"] == asked]
        worst = max(mine, key=lambda cell: cell["broken"])
        draws, guaranteed, broken, kept, passes = _summed(mine)
        low, high = worst["limits"]
        limits = f"{1 - worst['broken'] / worst['draws']:.3f} ({1 - high:.3f} to {1 - low:.3f})"
        where = f"{worst['rows']}, {worst['prevalence']:g}"
        shares = (1 - guaranteed / draws, 1 - broken / draws, kept)
        rows.append([describe(asked), *shares, limits, where, passes])
    barely: list[list[Cell]] = []
    for names in JOINT:
        for slack in SLACKS:
            mine = [
                c for c in facts["barely"] if tuple(c["asked"]) == names and c["slack"] == slack
            ]
            draws, guaranteed, broken, kept, passes = _summed(mine)
            shares = (guaranteed / draws, 1 - broken / draws, kept)
            barely.append([" and ".join(names), f"{slack:g}", draws, *shares, passes])
    prevalences = sorted({cell["prevalence"] for cell in cells})[::-1]
    answered = [
        [n, *(_share(cells, n, prevalence) for prevalence in prevalences)]
        for n in sorted({cell["rows"] for cell in cells})
    ]
    head = (
        "guarantee | no answer | not broken | kept where given | "
        "worst cell, not broken (exact limits) | its rows and prevalence | passes"
    )
    classes = [
        [
            c["shape"],
            ", ".join(f"{label} {floor}" for label, floor in c["asked"].items()),
            *(c[name] for name in ("guaranteed", "broken", "kept")),
            "–" if c["recalls"] is None else ", ".join(f"{r:.2f}" for r in c["recalls"]),
            c["passes"],
        ]
        for c in facts["classes"]
    ]
    classes_head = "shape | floors | guaranteed | broken | kept where given | mean recalls | passes"
    barely_head = "floors | slack | draws | answered | not broken | kept where given | passes"
    return {
        "floors": table(head, rows),
        "answered": table(
            " | ".join(["rows", *(f"prevalence {share:g}" for share in prevalences)]), answered
        ),
        "barely": table(barely_head, barely),
        "classes": table(classes_head, classes),
    }


def _share(cells: list[dict[str, Any]], rows: int, prevalence: float) -> float:
    mine = [c for c in cells if (c["rows"], c["prevalence"]) == (rows, prevalence)]
    return float(sum(c["guaranteed"] for c in mine) / sum(c["draws"] for c in mine))


EXPERIMENT = Experiment(collect, tables, is_met)
