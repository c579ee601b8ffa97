"""Check that unsure zones keep their promises, and compare their width with two baselines.

One baseline needs MAPIE (``pip install "mapie>=1.6"``); without it its columns stay empty.

MAPIE's controller of binary risks knows abstention: a prediction may be missing, and a parameter
may be a pair of limits. It is given the share of each class that is decided wrongly as two risks,
and the abstention rate as what should be least. It promises both risks at once; a zone promises
each of its two with its own confidence, so that both hold with the sum of what is left: the
controller gets that lesser confidence. The other baseline is the split-conformal set predictor with
a quantile for each class: a row is unsure if both labels are in its set. It promises the error on
average over samples, with no confidence, and is measured for what the confidence costs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from boundshift import find_zone
from boundshift._typing import FloatArray
from lab.claims.floors import FALSE_VERDICT
from lab.claims.simulation import SHAPES, Problem, generator
from lab.experiment import Experiment, Facts, Tables, in_parallel, quiet, version_of
from lab.markdown import table

Limits = tuple[float, float]
Shares = tuple[float, float, float]

CONFIDENCE = 0.95
ERRORS = (0.05, 0.05)
# Rows of each class (negative, positive); 59 is the fewest that can promise anything.
SIZES = ((200, 30), (59, 59), (500, 100), (1700, 300), (1000, 1000))
OVERLAPS = (0.1,)
DRAWS = 2000
# MAPIE tries every pair of a grid in Python, some 200 of them a draw.
MAPIE_DRAWS = 30
MAPIE_GRID = 20
OURS, MAPIE, CONFORMAL = "find_zone", "MAPIE", "split-conformal"


def boundshift_limits(y: NDArray[np.int64], scores: FloatArray) -> Limits:
    """Return the limits of the zone."""
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


def mapie_limits(y: NDArray[np.int64], scores: FloatArray) -> Limits | None:
    """Return the limits that the controller finds, None where it finds none."""
    from mapie.risk_control import (
        BinaryClassificationController,
        BinaryRisk,
        abstention_rate,
        false_positive_rate,
    )

    missed = BinaryRisk(
        lambda true, predicted: predicted == 0, lambda true, predicted: true == 1, False
    )
    # Pairs are shares of a scale that is known before: ranks would depend on the sample.
    steps = np.linspace(0, 1, MAPIE_GRID)
    pairs = np.array([(low, high) for low in steps for high in steps if low <= high])
    controller = BinaryClassificationController(
        lambda rows, low, high: np.where(rows > high, 1.0, np.where(rows <= low, 0.0, np.nan)),
        [false_positive_rate, missed],
        list(ERRORS),
        confidence_level=1 - 2 * (1 - CONFIDENCE),
        best_predict_param_choice=abstention_rate,
        list_predict_params=pairs,
    )
    with quiet(UserWarning):  # it warns where no pair is valid
        controller.calibrate(scores, y)
    return controller.best_predict_param  # type: ignore[no-any-return]


def true_shares(problem: Problem, limits: Limits) -> Shares:
    """Return each class's share decided wrongly, and the mean share of both that is unsure."""
    low, high = limits
    alarms, hits = problem.errors(high)[0], 1 - problem.errors(high)[1]
    misses, left = problem.errors(low)[1], 1 - problem.errors(low)[0]
    return alarms, misses, 1 - (alarms + left + misses + hits) / 2


def judge(
    shape: str, overlap: float, sizes: tuple[int, int], draws: int, mapie_draws: int
) -> dict[str, Any]:
    """Return coverage and width of every method in one cell."""
    problem = Problem.with_error(SHAPES[shape], overlap)
    # MAPIE's grid covers the middle of both classes, which is more than a user would know.
    ends = np.sort(np.array([float(problem.shape.ppf(q)) for q in (0.1, 0.99)]))
    edges = np.sort(np.concatenate([ends, problem.distance - ends]))
    start, length = float(edges[0]), float(edges[-1] - edges[0])
    seen: dict[str, list[Shares | None]] = {OURS: [], CONFORMAL: [], MAPIE: []}
    for draw in range(draws):
        rng = generator("zones", shape, overlap, sizes, draw)
        y, scores = problem.draw(sizes, rng)
        seen[OURS].append(true_shares(problem, boundshift_limits(y, scores)))
        seen[CONFORMAL].append(true_shares(problem, conformal_limits(y, scores)))
        if draw < mapie_draws:
            found = mapie_limits(y, (scores - start) / length)
            limits = found and (start + length * found[0], start + length * found[1])
            seen[MAPIE].append(None if limits is None else true_shares(problem, limits))
    # The widths of the zone and MAPIE's on the draws that MAPIE answers.
    pairs = [
        (ours[2], theirs[2])
        for ours, theirs in zip(seen[OURS], seen[MAPIE], strict=False)
        if ours is not None and theirs is not None
    ]
    widths = np.array(pairs).reshape(-1, 2).T.tolist()
    return {
        "shape": shape,
        "overlap": overlap,
        "sizes": list(sizes),
        "draws": draws,
        "methods": {name: summarise(found) for name, found in seen.items() if found},
        "beside": {"answered": len(pairs), OURS: widths[0], MAPIE: widths[1]},
    }


def summarise(found: list[Shares | None]) -> dict[str, Any]:
    """Return how often each promise holds, and how many rows are unsure; no answer keeps both."""
    shares = np.array([(0.0, 0.0, 1.0) if one is None else one for one in found])
    broken = [int(np.sum(shares[:, i] > ERRORS[i])) for i in range(2)]
    both = int(np.sum((shares[:, 0] > ERRORS[0]) | (shares[:, 1] > ERRORS[1])))
    return {
        "draws": len(found),
        "broken": broken,
        "both_broken": both,
        "p_value": min(float(binom.sf(b - 1, len(found), 1 - CONFIDENCE)) for b in broken),
        "unsure": float(shares[:, 2].mean()),
        "unsure_error": float(shares[:, 2].std(ddof=1) / np.sqrt(len(found))),
        "no_answer": sum(one is None for one in found),
    }


def collect(quick: bool) -> Facts:
    sizes, draws, mapie_draws = ((SIZES[1],), 40, 2) if quick else (SIZES, DRAWS, MAPIE_DRAWS)
    mapie = version_of("mapie")
    mapie_draws = mapie_draws if mapie else 0
    jobs = [(s, o, n, draws, mapie_draws) for s in SHAPES for o in OVERLAPS for n in sizes]
    cells = in_parallel(judge, jobs, quick)
    for cell in cells:
        cell["passes"] = cell["methods"][OURS]["p_value"] * len(cells) > FALSE_VERDICT
    return {"mapie": mapie, "draws": draws, "mapie_draws": mapie_draws, "cells": cells}


def is_met(facts: Facts) -> bool:
    """Say whether both promises of the zone are kept, and it is no wider than MAPIE's."""
    return all(cell["passes"] and is_narrower(cell["beside"]) for cell in facts["cells"])


def is_narrower(widths: dict[str, Any]) -> bool:
    """Say whether zones are no wider on average than MAPIE's, where it answers."""
    return bool(sum(widths[OURS]) <= sum(widths[MAPIE]))


def tables(facts: Facts) -> Tables:
    cells = facts["cells"]
    coverage: list[list[object]] = []
    width: list[list[object]] = []
    for sizes in sorted({tuple(cell["sizes"]) for cell in cells}):
        mine = [cell for cell in cells if tuple(cell["sizes"]) == sizes]
        draws = sum(cell["draws"] for cell in mine)
        ours = [cell["methods"][OURS] for cell in mine]
        kept = [1 - sum(m["broken"][i] for m in ours) / draws for i in range(2)]
        worst = max(max(m["broken"]) / m["draws"] for m in ours)
        both = 1 - sum(m["both_broken"] for m in ours) / draws
        conformal = 1 - sum(max(c["methods"][CONFORMAL]["broken"]) for c in mine) / draws
        passes = "yes" if all(cell["passes"] for cell in mine) else "no"
        rows = f"{sizes[0]}, {sizes[1]}"
        coverage.append([rows, *kept, 1 - worst, both, conformal, passes])
        for overlap in sorted({cell["overlap"] for cell in mine}):
            here = [cell for cell in mine if cell["overlap"] == overlap]
            line: list[object] = [rows, overlap]
            for name in (OURS, CONFORMAL):
                found = [cell["methods"][name] for cell in here]
                mean = np.mean([m["unsure"] for m in found])
                error = np.sqrt(sum(m["unsure_error"] ** 2 for m in found)) / len(found)
                line.append(f"{mean:.3f} ± {error:.4f}")
            for name in (OURS, MAPIE):
                widths = [width for cell in here for width in cell["beside"][name]]
                line.append(float(np.mean(widths)) if widths else "–")
            answered = sum(cell["beside"]["answered"] for cell in here)
            asked = facts["mapie_draws"] * len(here)
            broken = sum(c["methods"][MAPIE]["both_broken"] for c in here) if asked else 0
            line += [1 - answered / asked, 1 - broken / asked] if asked else ["–", "–"]
            width.append(line)
    compared = [cell["beside"] for cell in cells if cell["beside"]["answered"]]
    coverage_head = (
        "rows | negative kept | positive kept | worst cell | both kept | "
        "split-conformal: the lesser kept | passes"
    )
    width_head = (
        "rows | overlap | find_zone | split-conformal | find_zone where MAPIE answers | "
        "MAPIE there | MAPIE without an answer | MAPIE: both kept"
    )
    said = (
        f"MAPIE answers in {len(compared)} of {len(cells)} cells; the zone is no wider in "
        f"{sum(is_narrower(widths) for widths in compared)} of them."
    )
    return {
        "coverage": table(coverage_head, coverage),
        "widths": f"{table(width_head, width)}\n\n{said}",
    }


EXPERIMENT = Experiment(collect, tables, is_met)
