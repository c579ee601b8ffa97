"""Compare floors with MAPIE's controller of binary risks, on the same draws.

The comparison needs MAPIE (``pip install "mapie>=1.6"``); without it only floors are measured.

A logistic regression learns from 2,000 rows how scores become probabilities; a fresh sample of
these probabilities goes to both sides with the same floors, the same confidence and the same
objective: the most recall under a precision floor, else the fewest rows flagged. True rates come
from the known distributions.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import binom, norm
from sklearn.linear_model import LogisticRegression

from boundshift import Status, find_boundary
from boundshift._typing import FloatArray
from boundshift.rules import Floors
from lab.claims.floors import CONFIDENCE, FALSE_VERDICT, describe
from lab.claims.simulation import SHAPES, Problem, binomial_error, generator, true_rates
from lab.experiment import Experiment, Facts, Tables, in_parallel, quiet, version_of
from lab.markdown import table

ROWS = (10, 50, 200, 500, 2000)
PREVALENCES = (0.5, 0.1, 0.01)
PROMISES: tuple[dict[str, float], ...] = (
    {"precision": 0.6},
    {"recall": 0.8},
    {"recall": 0.7, "precision": 0.4},
)
DRAWS = 200
TRAINING_ROWS = 2000
# MAPIE's own grid, from the safe end for each promise where the order matters.
GRID = np.linspace(0, 0.99, 100)
OURS, DEFAULT, SEQUENCE = "boundshift", "MAPIE, Holm (default)", "MAPIE, fixed sequence"

Answer = float | None


def objective_of(asked: dict[str, float]) -> str:
    """Return what is best among thresholds that keep the floors."""
    return "flagged" if "recall" in asked else "recall"


def ask_boundshift(asked: dict[str, float], y: NDArray[np.int64], p: FloatArray) -> Answer:
    """Return the threshold of the floors, None where they are not met."""
    then = "recall" if objective_of(asked) == "recall" else "specificity"
    with quiet():
        found = find_boundary(y, p, rule=Floors(**asked, then=then, confidence=CONFIDENCE))
    return None if found.status is Status.UNMET else found.threshold


def ask_mapie(
    asked: dict[str, float], y: NDArray[np.int64], p: FloatArray, in_sequence: bool
) -> Answer:
    """Return the controller's best threshold, None where it finds none."""
    from mapie.risk_control import BinaryClassificationController

    names, floors = list(asked), list(asked.values())
    best = "predicted_positive_fraction" if objective_of(asked) == "flagged" else "recall"
    controller = BinaryClassificationController(
        lambda rows: np.column_stack([1 - rows, rows]),
        names if len(names) > 1 else names[0],
        floors if len(floors) > 1 else floors[0],
        confidence_level=CONFIDENCE,
        best_predict_param_choice=best,
        list_predict_params=GRID[::-1] if in_sequence and "precision" in asked else GRID,
        fwer_method="fixed_sequence" if in_sequence else "bonferroni_holm",
    )
    with quiet(UserWarning):  # it warns where no threshold is valid
        controller.calibrate(p, y)
    return controller.best_predict_param  # type: ignore[no-any-return]


def contenders(asked: dict[str, float], with_mapie: bool) -> dict[str, Callable[..., Answer]]:
    """Return whoever can answer; fixed sequences cannot have several risks."""
    ways: dict[str, Callable[..., Answer]] = {OURS: ask_boundshift}
    if with_mapie:
        ways[DEFAULT] = lambda a, y, p: ask_mapie(a, y, p, in_sequence=False)
        if len(asked) == 1:
            ways[SEQUENCE] = lambda a, y, p: ask_mapie(a, y, p, in_sequence=True)
    return ways


def simulate(
    asked: dict[str, float], rows: int, share: float, draw: int, with_mapie: bool
) -> dict[str, dict[str, float] | None]:
    """Return the true rates that each contender reaches in one draw, None without an answer."""
    rng = generator("controllers", sorted(asked.items()), rows, share, draw)
    shape = SHAPES[list(SHAPES)[draw % len(SHAPES)]]
    problem = Problem.with_error(shape, rng.uniform(0.01, 0.3))
    ways = contenders(asked, with_mapie)
    seen = int(np.clip(rng.binomial(TRAINING_ROWS, share), 1, TRAINING_ROWS - 1))
    y, scores = problem.draw((TRAINING_ROWS - seen, seen), rng)
    model = LogisticRegression().fit(scores[:, None], y)
    slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
    positives = int(rng.binomial(rows, share))
    if positives in (0, rows):
        return dict.fromkeys(ways)
    y, scores = problem.draw((rows - positives, positives), rng)
    # Probabilities next to 0 and 1 would round to them.
    probabilities = expit(np.clip(slope * scores + intercept, -30, 30))
    reached: dict[str, dict[str, float] | None] = {}
    for name, ask in ways.items():
        threshold = ask(asked, y, probabilities)
        if threshold is None:
            reached[name] = None
            continue
        score = (float(logit(threshold)) - intercept) / slope
        reached[name] = true_rates(*problem.errors(score), share)
    return reached


def holds(asked: dict[str, float], rates: dict[str, float]) -> bool:
    return all(rates[name] >= floor for name, floor in asked.items())


def judge(
    asked: dict[str, float], rows: int, share: float, draws: int, with_mapie: bool
) -> dict[str, Any]:
    """Return how often each contender answers, keeps and wastes in one cell."""
    seen = [simulate(asked, rows, share, draw, with_mapie) for draw in range(draws)]
    objective = objective_of(asked)
    sides: dict[str, dict[str, Any]] = {}
    for name in seen[0]:
        given = [draw[name] for draw in seen if draw[name] is not None]
        broken = sum(not holds(asked, rates) for rates in given if rates is not None)
        p = float(binom.sf(broken - 1, draws, 1 - CONFIDENCE))
        sides[name] = {"answered": len(given), "broken": broken, "p_value": p}
        if name == OURS:
            continue
        gaps = [
            theirs[objective] - ours[objective]
            for ours, theirs in ((draw[OURS], draw[name]) for draw in seen)
            if ours is not None and theirs is not None
        ]
        # Positive where ours is better: fewer flagged, or more recall.
        gains = np.array(gaps) if objective == "flagged" else -np.array(gaps)
        sides[name]["both"] = len(gains)
        sides[name]["gain"] = float(gains.mean()) if len(gains) else None
        sides[name]["gain_error"] = (
            float(gains.std(ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else None
        )
    return {"asked": asked, "rows": rows, "prevalence": share, "draws": draws, "sides": sides}


def collect(quick: bool) -> Facts:
    rows, shares, draws = ((200,), (0.2,), 24) if quick else (ROWS, PREVALENCES, DRAWS)
    mapie = version_of("mapie")
    asked = product(PROMISES, rows, shares)
    jobs = [(*job, draws, mapie is not None) for job in asked]
    return {"mapie": mapie, "draws": draws, "cells": in_parallel(judge, jobs, quick)}


def is_kept(cells: list[dict[str, Any]], name: str) -> bool:
    """Say whether no cell breaks its promise more often than stated."""
    return all(cell["sides"][name]["p_value"] * len(cells) > FALSE_VERDICT for cell in cells)


def is_thrifty(cells: list[dict[str, Any]], name: str) -> bool:
    """Say whether no cell wastes more than the other side, chance aside."""
    limit = float(norm.ppf(FALSE_VERDICT / len(cells)))
    return all(
        side["gain"] >= limit * side["gain_error"]
        for side in (cell["sides"][name] for cell in cells)
        if side["gain_error"]
    )


def is_met(facts: Facts) -> bool:
    """Say whether floors are kept as often as stated, and no more wasteful than MAPIE's default."""
    cells = facts["cells"]
    return is_kept(cells, OURS) and (facts["mapie"] is None or is_thrifty(cells, DEFAULT))


def _pooled(cells: list[dict[str, Any]], name: str) -> list[object]:
    """Return the mean gain over cells by draw with its standard error, and the draws."""
    sides = [cell["sides"][name] for cell in cells if cell["sides"][name].get("gain_error")]
    both = sum(side["both"] for side in sides)
    if not both:
        return ["–", "–"]
    mean = sum(side["gain"] * side["both"] for side in sides) / both
    error = np.sqrt(sum((side["gain_error"] * side["both"]) ** 2 for side in sides)) / both
    return [f"{mean:+.4f} ± {error:.4f}", both]


def tables(facts: Facts) -> Tables:
    rows = []
    for asked in PROMISES:
        mine = [cell for cell in facts["cells"] if cell["asked"] == asked]
        draws = sum(cell["draws"] for cell in mine)
        for name in mine[0]["sides"]:
            sides = [cell["sides"][name] for cell in mine]
            shares = [
                1 - sum(side[what] for side in sides) / draws for what in ("answered", "broken")
            ]
            said = [f"{share:.3f} ± {binomial_error(share, draws):.3f}" for share in shares]
            worst = max(side["broken"] for side in sides) / facts["draws"]
            rows.append([describe(asked), name, *said, worst, *_pooled(mine, name)])
    head = (
        "promise | method | no answer | not broken | broken in the worst cell | ours better by | "
        "draws that both answer"
    )
    return {"summary": table(head, rows)}


EXPERIMENT = Experiment(collect, tables, is_met)
