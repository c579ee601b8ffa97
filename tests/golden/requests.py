"""Requests beyond `find_boundary` on raw scores, and the answers that are kept of them.

An answer has up to three parts: ``exact`` (counts, labels, statuses, refusals), ``score`` (numbers
in units of the scores, compared to 1e-9 of their range) and ``share`` (claims and biases, compared
to 1e-9).

The problems never change: a change here would hide a change of the library.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from boundshift import (
    Cost,
    FBeta,
    Floors,
    InvalidInputError,
    Metric,
    Monitor,
    certify,
    compare_boundaries,
    find_boundaries,
    find_boundary,
    find_zone,
    metrics_at,
    rows_needed,
)
from boundshift._multiclass.biases import find_biases
from boundshift.curves import as_curve
from boundshift.rules import MCC, GMean, Kappa, as_rule
from tests.golden.problems import told

Answer = dict[str, list[Any]]
Request = tuple[str, Callable[[], Answer], float]

PAPERS = ("support", "paper", "authors")
CURVES = ("blend", "logistic", "smoothed", "empirical", "clopper-pearson", *PAPERS)
WEIGHTED = ("blend", "logistic", "smoothed", "empirical")
RULES = {
    "g-mean": "g-mean",
    "g-mean exact": GMean(),
    "sum": "sum",
    "minimax": "minimax",
    "accuracy": "accuracy",
    "cost": Cost(false_negative=20),
    "cost elsewhere": Cost(false_positive=3, prevalence=0.02),
    "f1": "f1",
    "f2 elsewhere": FBeta(2, prevalence=0.2),
    "mcc": MCC(),
    "kappa": Kappa(),
    "jaccard": Metric("jaccard"),
}
FLOORS = {
    "recall": Floors(recall=0.8),
    "recall counted": Floors(recall=0.9, confidence=None),
    "specificity": Floors(specificity=0.9),
    "precision": Floors(precision=0.4),
    "precision counted": Floors(precision=0.6, confidence=None),
    "precision elsewhere": Floors(precision=0.3, prevalence=0.1),
    "npv": Floors(npv=0.9),
    "flagged": Floors(flagged=0.2),
    "flagged counted": Floors(flagged=0.1, confidence=None),
    "recall and specificity": Floors(recall=0.7, specificity=0.6),
    "recall and precision": Floors(recall=0.6, precision=0.3),
    "three": Floors(recall=0.5, specificity=0.5, precision=0.2, confidence=0.8),
    "recall then cost": Floors(recall=0.7, then=Cost(false_negative=4)),
    "recall then f1": Floors(recall=0.8, then="f1", confidence=None),
    "impossible": Floors(recall=0.999, specificity=0.999),
}
SIZES = ((40, 7), (300, 30), (25, 25), (9, 60), (600, 60), (1500, 12))
KINDS = ("normal", "whole", "heavy", "humps", "skewed", "rounded")


@cache
def draw(seed: int, times: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and scores in a random order, the positive class above."""
    rng = np.random.default_rng([2026, seed])
    n, p = (times * size for size in SIZES[seed % len(SIZES)])
    gap = (0.5, 1.5, 3.0)[seed // len(SIZES) % 3]
    kind = KINDS[(seed + seed // len(KINDS)) % len(KINDS)]
    y = rng.permutation(np.repeat([0, 1], [n, p]))
    if kind == "whole":
        return y, rng.integers(-4, 5, n + p) + np.round(gap + 0.6) * y
    noise = {
        "normal": partial(rng.normal, size=n + p),
        "heavy": partial(rng.standard_t, 2, n + p),
        "humps": lambda: rng.choice([-3.0, 0.0, 1.0], n + p) + rng.normal(0, 0.4, n + p),
        "skewed": partial(rng.exponential, size=n + p),
        "rounded": lambda: rng.normal(size=n + p).round(1),
    }[kind]()
    return y, noise + gap * y


@cache
def draw_probabilities(seed: int, times: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and probabilities, in every third problem with exact zeros and ones."""
    y, s = draw(seed, times)
    probabilities = 1 / (1 + np.exp(2.0 - s))
    if seed % 3 == 0:
        probabilities = probabilities.round(2)
    return y, probabilities


def draw_weights(seed: int, n: int) -> np.ndarray:
    """Return whole weights, or fractions, some of them 0."""
    values = ([1.0, 2.0, 3.0], [0.0, 0.5, 1.0, 1.7, 2.0])[seed % 2]
    return np.random.default_rng([7, seed]).choice(values, n)


@cache
def draw_many(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return classes and their scores, three or four of them."""
    rng = np.random.default_rng([2027, seed])
    k = 3 + seed % 2
    share = np.array([0.6, 0.25, 0.1, 0.05])[:k]
    y = np.concatenate([np.arange(k), rng.choice(k, 400, p=share / share.sum())])
    return y, rng.normal(size=(len(y), k)) + (1.0 + seed % 3) * np.eye(k)[y]


def _of_boundary(boundary: Any) -> Answer:
    return {
        "exact": [told(boundary), boundary.scale, *boundary.n_samples, *boundary.labels],
        "score": [boundary.threshold, *boundary.plateau],
        "share": [*boundary.errors, boundary.loss, *boundary.wrong],
    }


def _decide(y: Any, s: Any, **arguments: Any) -> Answer:
    return _of_boundary(find_boundary(y, s, **arguments))


def _of_certificate(c: Any) -> Answer:
    return {
        "exact": [c.status, c.method, c.joint, *c.labels, *c.n_samples, *c.wrong],
        "score": [c.threshold],
        "share": [*c.error_bounds, *c.errors, *c.lowest_bounds],
    }


def _of_zone(zone: Any) -> Answer:
    return {
        "exact": [zone.status, *zone.labels, *zone.n_samples],
        "score": [zone.low, zone.high],
        "share": [*zone.error_bounds, *zone.unsure],
    }


def _of_groups(found: Any) -> Answer:
    boundaries = [*found.values(), found.common]
    return {
        "exact": [*found, *(b.status.name for b in boundaries)],
        "score": [b.threshold for b in boundaries],
        "share": [e for b in boundaries for e in (*b.errors, *b.wrong)],
    }


def _of_biases(found: Any) -> Answer:
    boundaries = found.boundaries.values()
    return {
        "exact": [status.name for status in found.statuses],
        "share": [*found.biases, *(b.threshold for b in boundaries)],
    }


def _simple() -> Iterator[Request]:
    """Every curve with every rule: raw scores, probabilities, weights."""
    for seed, curve, (name, rule) in product(range(10), CURVES, RULES.items()):
        if name == "jaccard" and (seed not in (0, 2) or curve != "empirical"):
            continue  # a metric by name is computed at every gap
        if curve in PAPERS and name != "sum":
            continue
        y, s = draw(seed)
        given = {"curve": curve, "rule": rule, "scale": "raw"}
        yield f"raw/{seed}/{curve}/{name}", partial(_decide, y, s, **given), float(np.ptp(s))
    for seed, curve, name in product(range(9), CURVES, ("g-mean", "sum", "cost", "mcc")):
        if curve in PAPERS and name != "sum":
            continue
        y, s = draw_probabilities(seed)
        given = {"curve": curve, "rule": RULES[name]}
        yield f"probability/{seed}/{curve}/{name}", partial(_decide, y, s, **given), 1.0
    rules = ("g-mean", "sum", "minimax", "cost", "f1", "mcc")
    for seed, curve, name in product(range(10), WEIGHTED, rules):
        if (seed, curve, name) == (3, "logistic", "mcc"):
            continue  # no better than chance anywhere, so that the last bits decide
        y, s = (draw, draw_probabilities)[seed % 3 == 2](seed)
        given = {"curve": curve, "rule": RULES[name], "sample_weight": draw_weights(seed, len(y))}
        yield f"weight/{seed}/{curve}/{name}", partial(_decide, y, s, **given), float(np.ptp(s))


def _by_row() -> Iterator[Request]:
    for seed in range(60):
        y, s = (draw, draw_probabilities)[seed % 4 == 3](seed)
        rng = np.random.default_rng([9, seed])
        cost = rng.integers(1, 9, (len(y), 2)) if seed % 2 else rng.exponential(5, len(y))
        yield f"row cost/{seed}", partial(_decide, y, s, row_cost=cost), float(np.ptp(s))


def _floors() -> Iterator[Request]:
    for seed, (name, rule) in product(range(14), FLOORS.items()):
        y, s = (draw, draw_probabilities)[seed % 4 == 3](seed)
        yield f"floors/{seed}/{name}", partial(_decide, y, s, rule=rule), float(np.ptp(s))
        if seed < 3:
            given = {"rule": rule, "curve": "blend"}
            yield f"floors/{seed}/{name}/blend", partial(_decide, y, s, **given), np.ptp(s)


def _ties() -> Iterator[Request]:
    """Few different scores, also one only, and scores that point the other way."""
    problems = {
        "one": ([0, 0, 1], [2, 2, 2]),
        "two": ([0, 0, 0, 1, 1], [0, 0, 1, 1, 1]),
        "equal classes": ([0, 1] * 20, [1, 1, 2, 2, 3, 3, 4, 4] * 5),
        "reversed": ([0] * 9 + [1] * 5, [3, 4, 5, 4, 4, 3, 5, 5, 4, 0, 1, 1, 0, 3]),
        "apart": ([0] * 9 + [1] * 5, [0, 1, 1, 0, 1, 2, 2, 1, 0, 7, 7, 8, 9, 7]),
        "stars": ([0] * 30 + [1] * 20, [1, 2, 3, 3, 2, 1] * 5 + [3, 4, 5, 2, 4] * 4),
    }
    for (name, (y, s)), curve, rule in product(
        problems.items(), CURVES, ("g-mean", "sum", "minimax", "accuracy")
    ):
        if curve in PAPERS and rule != "sum":
            continue
        given = {"curve": curve, "rule": rule, "scale": "raw"}
        yield f"ties/{name}/{curve}/{rule}", partial(_decide, y, s, **given), float(np.ptp(s))


def _promises() -> Iterator[Request]:
    kinds = product(("held-out", "out-of-fold", "training"), (False, True), (False, True))
    for (i, (scores, here, joint)), seed in product(enumerate(kinds), range(8)):
        y, s = draw(seed)
        t = float(np.quantile(s, 0.6))
        given = {"confidence": (0.95, 0.8)[i % 2], "origin": scores, "chosen_here": here}
        given |= {"joint": joint}
        ask = partial(certify, y, s, t, **given)
        name = f"certificate/{seed}/{scores}/{here}/{joint}"
        yield name, lambda ask=ask: _of_certificate(ask()), float(np.ptp(s))
    for seed, errors, confidence in product(
        range(14), ((0.05, 0.05), (0.1, 0.3), (0.4, 0.4)), (0.95, 0.7)
    ):
        y, s = (draw, draw_probabilities)[seed % 2](seed)
        ask = partial(find_zone, y, s, errors, confidence)
        name = f"zone/{seed}/{errors}/{confidence}"
        yield name, lambda ask=ask: _of_zone(ask()), float(np.ptp(s))
    for seed in range(10):
        y, s = draw(seed)

        def compared(y=y, s=s):
            old = find_boundary(y, s, rule="sum")
            new = find_boundary(y, np.abs(s), rule="minimax")
            cost = Cost(false_negative=5)
            found = compare_boundaries(y, s, old, np.abs(s), new, cost=cost)
            counts = [*found.n_samples, *found.mended, *found.broken]
            return {"exact": counts, "share": [*found.differences, *found.p_values]}

        yield f"comparison/{seed}", compared, 1.0

        def watched(y=y, s=s, seed=seed):
            monitor = Monitor(certify(y, s, float(np.median(s))))
            later, scores = draw(seed + 12)
            alarms = monitor.update(later, scores - 0.7, np.arange(len(later))).alarms
            exact = [x for a in alarms for x in (a.label, a.row, a.since + 1, a.wrong)]
            return {"exact": exact, "share": [a.bound for a in alarms]}

        yield f"monitor/{seed}", watched, 1.0

        def measured(y=y, s=s):
            found = metrics_at(y, s, [float(np.median(s)), float(s.max())], costs=Cost())
            return {"exact": sorted(found), "share": [x for k in sorted(found) for x in found[k]]}

        yield f"metrics/{seed}", measured, 1.0
    for error, confidence, share, here in product(
        (0.3, 0.1, 0.02), (0.9, 0.99), (0.0, 0.3), (False, True)
    ):
        given = {"wrong_share": share, "chosen_here": here}
        ask = partial(rows_needed, error, confidence, **given)
        name = f"rows needed/{error}/{confidence}/{share}/{here}"
        yield name, lambda ask=ask: {"exact": [ask()]}, 1.0


def _groups() -> Iterator[Request]:
    cases = (("blend", "g-mean"), ("logistic", "sum"), ("empirical", "accuracy"))
    for seed, (curve, rule), rows in product(range(10), cases, (0.0, 20.0)):
        y, s = (draw, draw_probabilities)[seed % 2](seed)
        by = np.random.default_rng([11, seed]).choice(["a", "b"], len(y), p=[0.7, 0.3])
        given = {"curve": curve, "rule": rule, "prior_rows": rows}
        ask = partial(find_boundaries, y, s, by, **given)
        name = f"groups/{seed}/{curve}/{rule}/{rows}"
        yield name, lambda ask=ask: _of_groups(ask()), float(np.ptp(s))


def _classes() -> Iterator[Request]:
    cases = (("blend", "g-mean"), ("logistic", "sum"), ("support", "sum"))
    for seed, (curve, rule), strategy in product(range(6), cases, ("joint", "pairwise")):
        y, s = draw_many(seed)
        ask = partial(find_biases, y, s, as_curve(curve), as_rule(rule), strategy)
        yield f"classes/{seed}/{curve}/{rule}/{strategy}", lambda ask=ask: _of_biases(ask()), 1.0


FAMILIES = {
    "raw, probabilities, weights": _simple,
    "row costs": _by_row,
    "floors": _floors,
    "ties": _ties,
    "promises": _promises,
    "groups": _groups,
    "classes": _classes,
}


def answer(ask: Callable[[], Answer]) -> Answer:
    """Return the answer to a request as plain values; a refusal is one, too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = ask()
        except InvalidInputError:
            return {"exact": ["refused"]}
    return {key: [_plain(v) for v in values] for key, values in found.items()}


def _plain(value: Any) -> Any:
    """Return a value that JSON carries; infinities are words."""
    if isinstance(value, list):
        return [_plain(v) for v in value]
    value = value.item() if isinstance(value, np.generic) else value
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def step(threshold: float, width: float) -> float:
    """Return by how much a threshold may move: a step of float32, unless scores are closer."""
    return max(1e-9 * width, min(2.0**-23 * abs(threshold), 1e-6 * width))


def difference(expected: Answer, found: Answer, width: float) -> str:
    """Return what differs between two answers, or an empty text."""
    allowed = {"score": lambda a: step(a, width or 1.0), "share": lambda a: 1e-9}
    if found.get("exact") != expected.get("exact"):
        return f"{expected.get('exact')} became {found.get('exact')}"
    for key, tolerance in allowed.items():
        old = expected.get(key, [])
        new = found.get(key, [])
        if len(old) != len(new) or not all(
            a == b if isinstance(a, str) or isinstance(b, str) else abs(a - b) <= tolerance(a)
            for a, b in zip(old, new, strict=True)
        ):
            return f"{key}: {old} became {new}"
    return ""
