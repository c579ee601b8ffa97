"""Check that what is claimed with a stated confidence holds as often as it says.

A cell has a claim, a class shape, rows of the class, a confidence, and the share of replications
in which the true error rate was at most the bound. Where that share does not depend on the shape
and can be computed, it is: such a cell has no replications. The goal is missed if a claimed bound
covers less often than its confidence, beyond two Monte-Carlo standard errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln
from scipy.stats import binom

from boundshift import (
    BoundShiftClassifier,
    Cost,
    certify,
    compare_boundaries,
    find_boundary,
)
from boundshift._guarantees.certificate import certify_counts
from boundshift._typing import FloatArray
from boundshift.curves import CURVES, Claim
from boundshift.curves._uniform import clopper_pearson, uniform_bound
from lab.claims.simulation import (
    SHAPES,
    Margins,
    Problem,
    binomial_error,
    generator,
    true_recall,
)
from lab.curves import DKW
from lab.experiment import Experiment, Facts, Tables, quiet, rows_in_parallel
from lab.markdown import table

Cell = dict[str, Any]

ROWS = (5, 10, 20, 50, 100, 300, 1000)
WIDTHS = (20, 100, 400, 1000, 2000)
CONFIDENCES = (0.90, 0.95)
MOST_MAJORITY = 1000
_ROUNDING = 1e-9


def cell(
    claim: str,
    shape: str,
    n: int,
    confidence: float,
    holds: NDArray[Any] | float,
    claimed: bool = True,
) -> Cell:
    """Judge the share of replications in which a bound held, or a share that is computed."""
    runs = None if isinstance(holds, float) else len(holds)
    coverage = float(np.mean(holds))
    slack = _ROUNDING if runs is None else 2 * binomial_error(confidence, runs)
    return {
        "claim": claim,
        "shape": shape,
        "rows": n,
        "confidence": confidence,
        "coverage": coverage,
        "replications": runs,
        "claimed": claimed,
        "passes": bool(coverage >= confidence - slack),
    }


def cells_of(claim: str, shape: str, n: int, holds: dict[float, list[bool]]) -> list[Cell]:
    return [cell(claim, shape, n, c, np.array(held)) for c, held in holds.items()]


def certified(n: int, confidence: float, *, chosen_here: bool) -> FloatArray:
    """Return the certificate's bound for every number of rows on the wrong side."""
    records = (
        certify_counts((k, 0), (n, 1), (0, 1), confidence=confidence, chosen_here=chosen_here)
        for k in range(n + 1)
    )
    return np.array([record.error_bounds[0] for record in records])


def computed(n: int) -> list[Cell]:
    """Return coverages that need no simulation, at a boundary fixed before and at all at once.

    At a fixed boundary the share of samples whose bound is too small is largest for a true rate
    just above one of the bounds, that of k wrong rows, and is then the probability of at most k.
    For all boundaries at once none may fail. Between two scores the count stays while the true
    error falls, so only boundaries at a score matter, whose true errors are order statistics of
    uniform numbers.
    """
    claiming: dict[str, Any] = {
        name: curve for name, curve in CURVES.items() if curve.claim is Claim.HIGH_PROBABILITY
    }
    every = np.arange(n + 1)
    cells = []
    for confidence in CONFIDENCES:
        bounds = {name: curve(confidence).bound(every, n) for name, curve in claiming.items()}
        bounds["certify"] = certified(n, confidence, chosen_here=False)
        for name, bound in bounds.items():
            fails = float(np.max(binom.cdf(every, n, bound)[bound < 1.0], initial=0.0))
            claim = f"{name}, boundary fixed before"
            cells.append(cell(claim, "any", n, confidence, 1.0 - fails))
        at_once = {
            "dkw": DKW(confidence).bound(np.arange(n), n),
            "certify": certified(n, confidence, chosen_here=True)[:n],
        }
        for name, bound in at_once.items():
            claim = f"{name}, every boundary at once"
            cells.append(cell(claim, "any", n, confidence, all_below(bound)))
    return cells


def all_below(bounds: FloatArray) -> float:
    """Return the probability that n sorted uniform numbers each lie below their bound.

    A walk along the bounds: of the numbers that are not below the last one, how many are below the
    next is binomial, and there must always be enough. Counts more than ten standard deviations
    above their mean, and steps that are as long, are left out.
    """
    n = len(bounds)
    log_factorial = gammaln(np.arange(n + 1.0) + 1.0)

    def most(share: float) -> int:
        return min(n, int(n * share + 10.0 * np.sqrt(n * share) + 30.0))

    first = 0
    chance = np.ones(1)
    last = 0.0
    for i, bound in enumerate(bounds.tolist()):
        if bound >= 1.0:
            break
        if bound > last:
            left = n - first - np.arange(len(chance))
            step = (bound - last) / (1.0 - last)
            more = np.arange(most(bound - last) + 1)
            rest = left[:, None] - more
            logs = log_factorial[left][:, None] - log_factorial[np.maximum(rest, 0)]
            logs += more * np.log(step) - log_factorial[more] + rest * np.log1p(-step)
            moved = chance[:, None] * np.where(rest >= 0, np.exp(logs), 0.0)
            chance = np.zeros(len(left) + len(more) - 1)
            for d in more:
                chance[d : d + len(left)] += moved[:, d]
        chance = chance[max(i + 1 - first, 0) : most(bound) + 1 - first]
        first = max(first, i + 1)
        last = bound
    return float(chance.sum())


def exact_level(n: int, delta: float) -> float:
    """Return the level of each bound at which all n hold with probability 1 − delta.

    By another way than `boundshift.curves._uniform`, to compare with.
    """

    def excess(log_level: float) -> float:
        bounds = clopper_pearson(np.arange(n), n, float(np.exp(log_level)))
        return 1.0 - all_below(bounds) - delta

    low = np.log(delta / n)
    high = np.log(delta)
    return float(np.exp(brentq(excess, low, high, xtol=1e-6))) if n > 1 else delta


def chosen_boundary(shape: str, n: int, replications: int, curve: str) -> list[Cell]:
    """Certify at a boundary chosen on the same scores, with and without paying for the choice."""
    rng = generator("chosen", shape, n)
    problem = Problem.with_error(SHAPES[shape], 0.1)
    holds: dict[tuple[bool, float], list[bool]] = {}
    for _ in range(replications):
        y, scores = problem.draw((min(10 * n, MOST_MAJORITY), n), rng)
        with quiet():
            t = find_boundary(y, scores, curve=curve).threshold
        truth = problem.errors(t)[1]
        for pays in (True, False):
            for confidence in CONFIDENCES:
                record = certify(y, scores, t, confidence, chosen_here=pays)
                holds.setdefault((pays, confidence), []).append(truth <= record.error_bounds[1])
    return [
        cell(f"certify(chosen_here={pays}), {curve} boundary", shape, n, c, np.array(held), pays)
        for (pays, c), held in holds.items()
    ]


def many_classes(shape: str, n: int, replications: int) -> list[Cell]:
    """Certify three classes by the classifier, at biases chosen on the same scores.

    Class k lies higher in the k-th of three independent scores.
    """
    rng = generator("many", shape, n)
    y = np.repeat(np.arange(3), (min(10 * n, MOST_MAJORITY), 3 * n, n))
    separation = 3.0 * float(SHAPES[shape].ppf(0.75) - SHAPES[shape].ppf(0.25))
    holds: dict[float, list[bool]] = {confidence: [] for confidence in CONFIDENCES}
    for _ in range(replications):
        scores = SHAPES[shape].rvs((len(y), 3), random_state=rng) + separation * np.eye(3)[y]
        model = BoundShiftClassifier(Margins(3), cv="prefit", curve="empirical")
        with quiet():
            model.fit(scores, y)
        truth = 1 - true_recall(SHAPES[shape], separation, model.biases_, 2)
        for confidence, held in holds.items():
            held.append(truth <= model.certificate_.at(confidence).error_bounds[2])
    return cells_of("certificate of three classes, biases chosen here", shape, n, holds)


def rates_together(n: int, replications: int) -> list[Cell]:
    """Try bounds of precision, NPV, flagged share, cost and net benefit, each at a fifth of delta.

    Ten rows for each of n are drawn, a tenth of them positive on average.
    """
    rng = generator("rates", n)
    share = 0.1
    alarms = 0.05
    misses = 0.2
    miss_cost = 5.0
    found = share * (1 - misses)
    flagged = share * (1 - misses) + (1 - share) * alarms
    cost = miss_cost * share * misses + (1 - share) * alarms
    benefit = found - (1 - share) * alarms / miss_cost
    rates = (found / flagged, 1 - share * misses / (1 - flagged), -flagged, -cost, benefit)
    signs = {"precision": 1, "npv": 1, "flagged": -1, "cost": -1, "net_benefit": 1}
    holds: dict[tuple[str, float], list[bool]] = {}
    for _ in range(replications):
        positive = int(rng.binomial(10 * n, share))
        rows = (10 * n - positive, positive)
        wrong = tuple(int(rng.binomial(m, p)) for m, p in zip(rows, (alarms, misses), strict=True))
        for confidence in CONFIDENCES:
            each = 1 - (1 - confidence) / len(signs)
            certificate = certify_counts(wrong, rows, (0, 1), confidence=each)
            for name, prevalence in (("known", share), ("counted on these rows", None)):
                least = [
                    sign * certificate.rate(rate, prevalence, false_negative=miss_cost)
                    for rate, sign in signs.items()
                ]
                held = bool(np.all(np.array(rates) >= np.array(least) - 1e-12))
                holds.setdefault((name, confidence), []).append(held)
    claim = "all rates of Certificate.rate together, prevalence"
    return [
        cell(f"{claim} {name}", "one case", n, c, np.array(h)) for (name, c), h in holds.items()
    ]


def paired_costs(n: int, replications: int) -> list[Cell]:
    """Try the interval of what a new boundary costs beside an old one on the same rows."""
    rng = generator("paired", n)
    sizes = (10 * n, n)
    outcomes = ((0.03, 0.02, 0.95), (0.05, 0.1, 0.85))
    y = np.repeat([0, 1], sizes)
    cost = Cost(false_negative=20, prevalence=0.1)
    # Shares that only the old and only the new boundary gets wrong, class by class.
    truth = 0.9 * (0.02 - 0.03) + 20 * 0.1 * (0.1 - 0.05)
    holds: dict[float, list[bool]] = {confidence: [] for confidence in CONFIDENCES}
    for _ in range(replications):
        drawn = [rng.choice(3, m, p=p) for m, p in zip(sizes, outcomes, strict=True)]
        outcome = np.concatenate(drawn)
        right = np.where(y == 1, 1.0, -1.0)
        old, new = (np.where(outcome == k, -right, right) for k in (0, 1))
        for confidence, held in holds.items():
            low, high = compare_boundaries(y, old, 0, new, 0, confidence, cost=cost).cost_interval
            held.append(low <= truth <= high)
    return cells_of("compare_boundaries, interval of the costs' difference", "one case", n, holds)


Job = tuple[Callable[..., list[Cell]], tuple[Any, ...]]


def jobs(
    shapes: Sequence[str], rows: Sequence[int], runs: int, default_rows: Sequence[int]
) -> Iterator[Job]:
    for n in rows:
        yield (computed, (n,))
        yield (rates_together, (n, runs))
    for n in default_rows:
        yield (paired_costs, (n, runs))
    for shape in shapes:
        for n in rows:
            yield (chosen_boundary, (shape, n, runs, "empirical"))
        for n in default_rows:
            yield (chosen_boundary, (shape, n, runs, "logistic"))
            yield (many_classes, (shape, n, runs))


def call(function: Any, arguments: Any) -> Any:
    return function(*arguments)


def collect(quick: bool) -> Facts:
    shapes = ("normal",) if quick else tuple(SHAPES)
    rows, runs = ((5, 20), 25) if quick else (ROWS, 2000)
    default_rows = (20,) if quick else (5, 20, 100)
    return {
        "rows": rows,
        "runs": runs,
        "cells": rows_in_parallel(call, jobs(shapes, rows, runs, default_rows), quick),
        "widths": widths((20, 100) if quick else WIDTHS),
    }


def widths(rows: tuple[int, ...], delta: float = 0.05) -> list[dict[str, Any]]:
    """Compare bounds for every boundary at once: the band here, the exact one, and simpler ones."""
    found = []
    for n in rows:
        level = exact_level(n, delta)
        every = np.arange(n)
        ratio = np.max(uniform_bound(every, n, delta) / clopper_pearson(every, n, level))
        for k in (0, n // 20, n // 5):
            bounds = {
                "band": float(uniform_bound(k, n, delta)),
                "exact": float(clopper_pearson(k, n, level)),
                "most_times_exact": float(ratio),
                "union": float(clopper_pearson(k, n, delta / (n + 1))),
                "dkw": float(DKW(1 - delta).bound(k, n)),
                "fixed": float(clopper_pearson(k, n, delta)),
            }
            found.append({"rows": n, "wrong": k} | bounds)
    return found


def is_met(facts: Facts) -> bool:
    is_narrow = all(c["most_times_exact"] <= 1.02 for c in facts["widths"])
    return is_narrow and all(c["passes"] for c in facts["cells"] if c["claimed"])


def tables(facts: Facts) -> Tables:
    claimed = [c for c in facts["cells"] if c["claimed"]]
    unpaid = [c for c in facts["cells"] if not c["claimed"]]
    passed = sum(c["passes"] for c in claimed)
    columns = ("band", "exact", "most_times_exact", "union", "dkw", "fixed")
    width_rows = [
        [c["rows"], c["wrong"], *(f"{c[name]:.4f}" for name in columns)] for c in facts["widths"]
    ]
    width_head = "rows | wrong | band | exact | at most | union | DKW | fixed before"
    return {
        "claimed": f"**{passed} of {len(claimed)} claimed cells pass.**\n\n"
        + coverage_table(claimed, facts["rows"]),
        "unpaid": coverage_table(unpaid, facts["rows"]),
        "widths": table(width_head, width_rows),
    }


def coverage_table(cells: list[Cell], rows: Sequence[int]) -> str:
    lines: dict[tuple[Any, ...], dict[int, str]] = {}
    for c in sorted(cells, key=lambda c: c["claim"]):
        key = (c["claim"], c["shape"], f"{c['confidence']:.0%}")
        mark = "" if c["passes"] else " ✗"
        lines.setdefault(key, {})[c["rows"]] = f"{c['coverage']:.3f}{mark}"
    body = [[*key, *(line.get(n, "–") for n in rows)] for key, line in lines.items()]
    return table(" | ".join(["claim", "shape", "at", *map(str, rows)]), body)


EXPERIMENT = Experiment(collect, tables, is_met)
