"""The guarantees beside those of other tools, on the same draws.

BARGAIN tests by betting whether a share of sampled rows reaches a target; `Audit` asks the same of
a floor of precision. nonconform calibrates p-values of scores of normal cases so that they hold for
this calibration set; `Floors(specificity=...)` of one class asks for the same false-alarm rate.
MAPIE's controller asks for a recall or a precision, as `Floors` does.
"""

from __future__ import annotations

from bisect import bisect_left
from importlib import import_module
from typing import Any

import numpy as np
from mapie.risk_control import BinaryClassificationController
from scipy.special import expit, logit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from boundshift import Audit, BoundShiftClassifier, Floors, find_boundary
from boundshift.exceptions import InvalidInputError
from lab.claims.simulation import generator
from lab.experiment import Experiment, Facts, Tables, in_parallel, quiet
from lab.markdown import Cell, table

DELTA = 0.05
DRAWS = 2000
POOL = 2000
STEP = 10
FLOOR = 0.9
SHARES = (0.899, 0.92, 0.95, 0.98)
NORMAL = ((100, 0.95), (300, 0.95), (1000, 0.95), (1000, 0.99))
ASKED = (
    ("recall", 0.8, 300),
    ("recall", 0.8, 2000),
    ("precision", 0.6, 300),
    ("precision", 0.6, 2000),
)
SHARE = 0.1
DISTANCE = 2.0
ROWS = (("logistic", 1000, 0.1), ("logistic", 4000, 0.02), ("tree", 1000, 0.1), ("tree", 4000, 0.1))
MODELS = {"logistic": LogisticRegression(), "tree": DecisionTreeClassifier(max_depth=4)}
_GRID = norm.ppf((np.arange(20_000) + 0.5) / 20_000)


def find(module: str) -> Any:
    """Import a tool to compare with; it is no requirement of the laboratory."""
    try:
        return import_module(module)
    except ImportError as error:
        raise InvalidInputError(
            f"This comparison must have {module.partition('.')[0]} beside it, and it is not "
            "installed. Install it, or read the stored page with --stored."
        ) from error


def judge_audit(share: float, draws: int) -> Facts:
    """Count certified floors and labels, both tools looking after every tenth label."""
    above = find("BARGAIN.bounds.betting_bounds").test_if_true_mean_is_above_m
    options = {"fixed_sample_size": False, "without_replacement": True, "N": POOL}
    certified = np.zeros(2)
    labels = np.zeros(2)
    for draw in range(draws):
        rng = generator("audit", share, draw)
        y = rng.permutation(
            np.repeat([1.0, 0.0], [round(share * POOL), POOL - round(share * POOL)])
        )
        audit = Audit(np.ones(POOL), 0.5, Floors(precision=FLOOR), random_state=rng)
        while audit.status == "open":
            audit.add(y[audit.next_rows(STEP)])
        certified[0] += audit.status == "certified"
        labels[0] += audit.n_labels
        # Its test says whether any look so far was enough. With so many positives, or so many
        # negatives, among the labels the question is settled without it.
        right = np.cumsum(y)
        settled = (right >= FLOOR * POOL) | (np.arange(POOL) + 1 - right > (1 - FLOOR) * POOL)
        looks = np.arange(STEP, int(np.argmax(settled)) + 1, STEP)
        place = bisect_left(looks, True, key=lambda n: not above(y[:n], FLOOR, DELTA, **options))
        certified[1] += place < len(looks) or share >= FLOOR
        labels[1] += looks[place] if place < len(looks) else np.argmax(settled) + 1
    return {"share": share, "certified": list(certified / draws), "labels": list(labels / draws)}


def judge_normal(n: int, floor: float, draws: int) -> Facts:
    """Count kept false-alarm rates and their means, for thresholds from normal cases alone."""
    scoring = find("nonconform.scoring")
    kinds = {
        "nonconform, empirical": scoring.Empirical(tie_break="classical"),
        "nonconform, conditional": scoring.ConditionalEmpirical(delta=DELTA),
    }
    rates: dict[str, list[float]] = {name: [] for name in ("boundshift", *kinds)}
    for draw in range(draws):
        s = np.sort(generator("normal", n, floor, draw).normal(size=n))
        with quiet():
            found = find_boundary(np.zeros(n), s, rule=Floors(specificity=floor), pos_label=1)
        rates["boundshift"].append(float(norm.sf(found.threshold)) if found.guaranteed else np.nan)
        for name, kind in kinds.items():
            # All scores between two neighbouring normal cases have the p-value of the upper one.
            flagged = kind.compute_p_values(np.append(s, np.inf), s) <= 1 - floor
            low = np.append(-np.inf, s)[np.argmax(flagged)]
            rates[name].append(float(norm.sf(low)) if flagged.any() else np.nan)
    cells = {}
    for name, found_rates in rates.items():
        array = np.array(found_rates)
        answered = ~np.isnan(array)
        kept = float(np.mean(~(array > 1 - floor)))
        mean = float(array[answered].mean()) if answered.any() else None
        cells[name] = {"kept": kept, "answered": float(answered.mean()), "rate": mean}
    return {"n": n, "floor": floor, "cells": cells}


def judge_floors(name: str, floor: float, n: int, draws: int) -> Facts:
    """Count kept floors, answers and the other rate, for probabilities that are true.

    Scores of both classes are normal. MAPIE tries a hundred probabilities, as it comes.
    """
    found: dict[str, list[tuple[float, float]]] = {"boundshift": [], "MAPIE": []}
    for draw in range(draws):
        rng = generator("floors", name, floor, n, draw)
        y = (rng.random(n) < SHARE).astype(int)
        p = expit(
            DISTANCE * (rng.normal(size=n) + DISTANCE * (y - 0.5)) + np.log(SHARE / (1 - SHARE))
        )
        other = "precision" if name == "recall" else "recall"
        controller = BinaryClassificationController(
            lambda p: np.column_stack([1 - p, p]), name, floor, 1 - DELTA, other
        )
        with quiet(Warning):
            ours = find_boundary(y, p, rule=Floors(**{name: floor}, then=other), pos_label=1)
            theirs = controller.calibrate(p, y).best_predict_param
        found["boundshift"].append(_true_rates(ours.threshold if ours.guaranteed else None, name))
        found["MAPIE"].append(_true_rates(theirs, name))
    cells = {}
    for tool, rates in found.items():
        array = np.array(rates)
        answered = ~np.isnan(array[:, 0])
        kept = float(np.mean(~(array[:, 0] < floor)))
        mean = float(array[answered, 1].mean()) if answered.any() else None
        cells[tool] = {"kept": kept, "answered": float(answered.mean()), "rate": mean}
    return {"asked": f"{name} ≥ {floor:g}", "n": n, "cells": cells}


def _true_rates(threshold: float | None, first: str) -> tuple[float, float]:
    """Return the true recall and precision at a probability, the one asked for first."""
    if threshold is None:
        return np.nan, np.nan
    cut = (logit(threshold) - np.log(SHARE / (1 - SHARE))) / DISTANCE
    found = norm.sf(cut - DISTANCE / 2)
    alarms = norm.sf(cut + DISTANCE / 2)
    rates = float(found), float(SHARE * found / (SHARE * found + (1 - SHARE) * alarms))
    return rates if first == "recall" else rates[::-1]


def judge_unlabelled(model: str, n: int, share: float, draws: int) -> Facts:
    """Count kept bounds of the common class, certified by fold models and unlabelled rows.

    One feature, normal in each class: the true rate is counted on 20,000 of its quantiles.
    """
    broken = 0
    bounds = []
    rates = []
    for draw in range(draws):
        rng = generator("unlabelled", model, n, share, draw)
        y = (np.arange(n) < round(share * n)).astype(int)
        X = rng.normal(size=(n, 1)) + 1.5 * y[:, None]
        more = rng.normal(size=(10_000, 1))
        more += 1.5 * (rng.random((10_000, 1)) < share)
        with quiet():
            shifted = BoundShiftClassifier(MODELS[model], ensemble=True, random_state=draw)
            found = shifted.fit(X, y).certify_unlabelled(more)
        rates.append(float(np.mean(shifted.predict(_GRID[:, None]) == 1)))
        bounds.append(found.error_bounds[0])
        broken += rates[-1] > bounds[-1]
    means = {"rate": float(np.mean(rates)), "bound": float(np.mean(bounds))}
    return {"model": model, "n": n, "share": share, "kept": 1 - broken / draws} | means


def collect(quick: bool) -> Facts:
    draws = 10 if quick else DRAWS
    return {
        "draws": draws,
        "audit": in_parallel(judge_audit, [(share, -(-draws // 4)) for share in SHARES], quick),
        "floors": in_parallel(judge_floors, [(*cell, draws) for cell in ASKED], quick),
        "normal": in_parallel(judge_normal, [(*cell, draws) for cell in NORMAL], quick),
        "unlabelled": in_parallel(judge_unlabelled, [(*cell, draws) for cell in ROWS], quick),
    }


def is_met(facts: Facts) -> bool:
    """Return whether ours are kept, three standard deviations of the draws allowed for."""
    slack = 3 * (DELTA * (1 - DELTA) / facts["draws"]) ** 0.5
    kept = [cell["cells"]["boundshift"]["kept"] for cell in facts["normal"]]
    kept += [cell["kept"] for cell in facts["unlabelled"]]
    kept += [cell["cells"]["boundshift"]["kept"] for cell in facts["floors"]]
    wrong = facts["audit"][0]["certified"][0]
    return bool(min(kept) >= 1 - DELTA - slack and wrong <= DELTA + 2 * slack)


def tables(facts: Facts) -> Tables:
    audit: list[list[Cell]] = [
        [f"{c['share']:g}", *c["certified"], *(f"{n:.0f}" for n in c["labels"])]
        for c in facts["audit"]
    ]
    normal: list[list[Cell]] = [
        [str(c["n"]), f"{c['floor']:g}", name, cell["kept"], cell["answered"], cell["rate"] or "–"]
        for c in facts["normal"]
        for name, cell in c["cells"].items()
    ]
    floors: list[list[Cell]] = [
        [c["asked"], str(c["n"]), tool, cell["kept"], cell["answered"], cell["rate"] or "–"]
        for c in facts["floors"]
        for tool, cell in c["cells"].items()
    ]
    unlabelled: list[list[Cell]] = [
        [c["model"], str(c["n"]), f"{c['share']:g}", c["kept"], c["rate"], c["bound"]]
        for c in facts["unlabelled"]
    ]
    heads = {
        "audit": "true precision | certified, Audit | certified, BARGAIN | labels, Audit | "
        "labels, BARGAIN",
        "floors": "asked | rows | tool | kept | answered | mean of the other rate",
        "normal": "normal cases | specificity asked | tool | kept | answered | mean false alarms",
        "unlabelled": "model | labelled rows | prevalence | kept | mean true rate | mean bound",
    }
    rows = {"audit": audit, "floors": floors, "normal": normal, "unlabelled": unlabelled}
    return {name: table(head, rows[name]) for name, head in heads.items()}


EXPERIMENT = Experiment(collect, tables, is_met)
