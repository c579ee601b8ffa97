"""Check promises for rows that are no plain random sample: clusters, unequal draws, label by label.

Scores of the positive class are normal, so the true miss rate at a threshold is known. In clusters
each score is the sum of a normal effect of the cluster and of normal noise; averaged over clusters
it is standard normal whatever the sizes, also if the clusters with high scores are the large ones.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom, norm

from boundshift import Audit, Floors, certify, find_zone
from boundshift._typing import FloatArray, IndexArray
from lab.claims.floors import FALSE_VERDICT
from lab.claims.simulation import generator
from lab.experiment import Experiment, Facts, Tables, in_parallel
from lab.markdown import Cell, table

DELTA = 0.05
DRAWS = 2000
CLUSTERS, DRAWN, POOL = 100, 300, 3000
RATES = (0.01, 0.1, 0.5)
# Sizes of clusters, and the share of the variance between them.
KINDS = (
    ("one row each", 0.0),
    ("1 to 50 rows", 0.0),
    ("1 to 50 rows", 0.3),
    ("1 to 50 rows", 1.0),
    ("50 rows if high, else 1", 0.3),
    ("50 rows if high, else 1", 1.0),
)
DESIGNS = ("1 near the threshold, else 0.1", "rising with the score")
FLOORS = (("precision", 0.9), ("recall", 0.9), ("precision", 0.5))


def draw_clusters(
    kind: str, between: float, rng: np.random.Generator
) -> tuple[IndexArray, FloatArray]:
    """Draw ids and scores of clusters."""
    effect = rng.normal(size=CLUSTERS) * between**0.5
    sizes = {
        "one row each": np.ones(CLUSTERS, dtype=np.intp),
        "1 to 50 rows": rng.integers(1, 51, CLUSTERS),
    }.get(kind, np.where(effect > 0, 50, 1))
    ids = np.repeat(np.arange(CLUSTERS), sizes)
    return ids, effect[ids] + rng.normal(size=len(ids)) * (1 - between) ** 0.5


def judge_clusters(promise: str, kind: str, between: float, rate: float, draws: int) -> Facts:
    """Return how often a bound, or a limit, of clusters fails, and one of single rows."""
    broken, width, threshold = np.zeros(2), 0.0, float(norm.ppf(rate))
    for draw in range(draws):
        ids, s = draw_clusters(kind, between, generator(promise, kind, between, rate, draw))
        y = np.ones(len(s))
        for i, cluster in enumerate((ids, None)):
            if promise == "certify":
                bound = certify(y, s, threshold, cluster=cluster).error_bounds[1]
                broken[i] += bound < rate
            else:
                bound = norm.cdf(find_zone(y, s, rate, cluster=cluster).low)
                broken[i] += bound > rate
            width += bound if i == 0 else 0.0
    where = f"{kind}, {between:g} of the variance between"
    return _cell(promise, where, rate, draws, broken, width / draws)


def judge_drawn(design: str, rate: float, draws: int) -> Facts:
    """Return how often a bound of rows drawn with unequal probabilities fails, and a plain one."""
    broken, width, t = np.zeros(2), 0.0, float(norm.ppf(rate))
    for draw in range(draws):
        rng = generator("drawn", design, rate, draw)
        pool = rng.normal(size=10 * DRAWN)
        distance = np.abs(pool - t)
        rising = np.clip(norm.cdf(pool - t), 0.05, 1.0)
        p = np.where(distance < 0.5, 1.0, 0.1) if design == DESIGNS[0] else rising
        chosen = np.flatnonzero(rng.random(len(pool)) < p)[:DRAWN]
        s, y = pool[chosen], np.ones(len(chosen))
        bounds = [
            certify(y, s, t, probability=p[chosen], least_probability=float(p.min())).error_bounds[
                1
            ],
            certify(y, s, t).error_bounds[1],
        ]
        broken += np.array(bounds) < rate
        width += bounds[0]
    return _cell("certify, drawn", design, rate, draws, broken, width / draws)


def judge_audit(name: str, floor: float, gain: float, draws: int) -> Facts:
    """Return how often labels one by one end in a wrong verdict; a true rate at the floor is worst.

    With a gain the share kept is above the floor, and the labels needed are counted.
    """
    labels, verdicts = 0, {"certified": 0, "missed": 0}
    right = floor + gain * (1 - floor)
    for draw in range(draws):
        rng = generator("audit", name, floor, gain, draw)
        is_right = rng.random(POOL) < right
        # Flagged rows of which a share is positive, or positives of which a share is flagged.
        y, s = (is_right, np.ones(POOL)) if name == "precision" else (np.ones(POOL), is_right)
        rule = Floors(precision=floor) if name == "precision" else Floors(recall=floor)
        audit = Audit(np.asarray(s, float), 0.5, rule)
        audit.add(np.asarray(y, int))
        labels += audit.n_labels
        if audit.status in verdicts:
            verdicts[audit.status] += 1
    wrong = verdicts["missed" if gain else "certified"]
    where = f"{name} of {right:g}, floor {floor:g}"
    broken = np.array([wrong, np.nan])
    facts = _cell("Audit", where, 1 - right, draws, broken, labels / draws)
    return facts | {"certified": verdicts["certified"] / draws}


def _cell(
    promise: str, where: str, rate: float, draws: int, broken: FloatArray, shown: float
) -> Facts:
    plain = None if np.isnan(broken[1]) else float(broken[1] / draws)
    p_value = float(binom.sf(int(broken[0]) - 1, draws, DELTA))
    shares = {"broken": float(broken[0] / draws), "plain": plain, "p_value": p_value}
    return {"promise": promise, "where": where, "rate": rate, "shown": float(shown)} | shares


def collect(quick: bool) -> Facts:
    draws = 20 if quick else DRAWS
    clusters = [
        (promise, *kind, rate, draws)
        for promise, rates in (("certify", RATES), ("find_zone", RATES[1:]))
        for kind in KINDS
        for rate in rates
    ]
    drawn = [(design, rate, draws) for design in DESIGNS for rate in RATES]
    audits = [(*floor, gain, draws) for floor in FLOORS for gain in (0.0, 0.5)]
    cells = in_parallel(judge_clusters, clusters, quick)
    cells += in_parallel(judge_drawn, drawn, quick) + in_parallel(judge_audit, audits, quick)
    for cell in cells:
        cell["passes"] = cell["p_value"] * len(cells) > FALSE_VERDICT
    return {"draws": draws, "cells": cells}


def is_met(facts: Facts) -> bool:
    """Say whether every promise is kept."""
    return all(cell["passes"] for cell in facts["cells"])


def tables(facts: Facts) -> Tables:
    rows: dict[str, list[list[Cell]]] = {"clusters": [], "drawn": [], "audit": []}
    for cell in facts["cells"]:
        kept, passes = 1 - cell["broken"], "yes" if cell["passes"] else "no"
        if cell["promise"] == "Audit":
            found = [cell["where"], kept, cell["certified"], f"{cell['shown']:.0f}", passes]
            rows["audit"].append(found)
            continue
        place = "drawn" if "drawn" in cell["promise"] else "clusters"
        plain = 1 - cell["plain"]
        head: list[Cell] = [cell["promise"]] if place == "clusters" else []
        found = [*head, cell["where"], f"{cell['rate']:g}", kept, plain, cell["shown"], passes]
        rows[place].append(found)
    return {
        "clusters": table(
            "promise | clusters | rate | kept | kept without ids | mean bound or miss rate | "
            "passes",
            rows["clusters"],
        ),
        "drawn": table(
            "probability of being drawn | rate | kept | kept without it | mean bound | passes",
            rows["drawn"],
        ),
        "audit": table(
            "true rate | no wrong verdict | certified | labels on average | passes", rows["audit"]
        ),
    }


EXPERIMENT = Experiment(collect, tables, is_met)
