"""How often what is claimed with a stated confidence holds, by simulation.

Each function returns cells: a claim, a class shape, rows of the class, a confidence, and the share
of replications in which the true error rate was at most the bound. A cell passes if that share is
not more than two Monte-Carlo standard errors below the confidence. Where the share does not depend
on the class's shape and can be computed, it is: such a cell has no replications.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln
from scipy.stats import binom

from boundshift import (
    BoundShiftClassifier,
    Cost,
    Status,
    certify,
    compare_boundaries,
    find_boundary,
)
from boundshift.curves import CURVES, Claim
from boundshift.curves.counts import DKW, ClopperPearson, KthPoint
from boundshift.curves.uniform import clopper_pearson
from boundshift.promises.certificate import certify_counts
from boundshift.rules import Floors
from boundshift.typing import FloatArray
from lab.evidence.models import Margins
from lab.evidence.shapes import SHAPES, Problem
from lab.harness.quiet import quiet

Cell = dict[str, Any]

CONFIDENCES = (0.90, 0.95)
FLOOR = 0.8
MOST_MAJORITY = 1000
_ROUNDING = 1e-9


class Job(NamedTuple):
    """A function that returns cells, and its arguments."""

    function: Callable[..., list[Cell]]
    arguments: tuple[Any, ...]


def cell(
    claim: str, shape: str, n: int, confidence: float, holds: FloatArray, claimed: bool = True
) -> Cell:
    """Judge the share of replications in which a bound held."""
    error = float(np.sqrt(confidence * (1 - confidence) / len(holds)))
    coverage = float(np.mean(holds))
    return {
        "claim": claim,
        "shape": shape,
        "rows": n,
        "confidence": confidence,
        "coverage": coverage,
        "replications": len(holds),
        "claimed": claimed,
        "passes": bool(coverage >= confidence - 2 * error),
    }


def exact_cell(claim: str, n: int, confidence: float, coverage: float) -> Cell:
    """Judge a coverage that is computed, whatever the shape."""
    return {
        "claim": claim,
        "shape": "any",
        "rows": n,
        "confidence": confidence,
        "coverage": coverage,
        "replications": None,
        "claimed": True,
        "passes": bool(coverage >= confidence - _ROUNDING),
    }


def generator(*key: object) -> np.random.Generator:
    """Return a generator that depends on the cell alone, not on the order of cells."""
    return np.random.default_rng(np.frombuffer(repr(key).encode(), dtype=np.uint8).tolist())


def high_probability() -> dict[str, Any]:
    """Return every curve that claims high probability."""
    return {n: c for n, c in CURVES.items() if c.claim is Claim.HIGH_PROBABILITY}


def fixed_boundary(n: int) -> list[Cell]:
    """Return the least coverage over all true error rates, at a boundary fixed before.

    The share of samples whose bound is too small is largest for a true rate just above one of the
    bounds, that of k wrong rows, and is then the probability of at most k of them.
    """
    cells = []
    for confidence in CONFIDENCES:
        bounds = {
            f"{name}, boundary fixed before": curve(confidence).bound(np.arange(n + 1), n)
            for name, curve in high_probability().items()
        }
        bounds["certify, boundary fixed before"] = _certified(n, confidence, chosen_here=False)
        for claim, bound in bounds.items():
            fails = binom.cdf(np.arange(n + 1), n, bound)[bound < 1.0]
            cells.append(exact_cell(claim, n, confidence, 1.0 - float(np.max(fails, initial=0.0))))
    return cells


def every_boundary(n: int) -> list[Cell]:
    """Compute how often claims for all boundaries at once hold: none may fail, whatever the shape.

    Between two scores the count stays while the true error falls, so only boundaries at a score
    need a look. The true error there is an order statistic of uniform numbers.
    """
    cells = []
    for confidence in CONFIDENCES:
        bounds = {
            "dkw, every boundary at once": DKW(confidence).bound(np.arange(n), n),
            "certify, every boundary at once": _certified(n, confidence, chosen_here=True)[:n],
        }
        cells += [exact_cell(claim, n, confidence, all_below(b)) for claim, b in bounds.items()]
    return cells


def all_below(bounds: FloatArray) -> float:
    """Return the probability that n sorted uniform numbers each lie below their bound.

    A walk along the bounds: of the numbers that are not below the last one, how many are below the
    next is binomial, and there must always be enough. Counts more than ten standard deviations
    above their mean, and steps that are as long, are left out.
    """
    n = len(bounds)
    log_factorial = gammaln(np.arange(n + 1.0) + 1.0)
    first, chance, last = 0, np.ones(1), 0.0
    for i, bound in enumerate(bounds.tolist()):
        if bound >= 1.0:
            break
        if bound > last:
            left = n - first - np.arange(len(chance))
            step = (bound - last) / (1.0 - last)
            more = np.arange(_most(n, bound - last) + 1)
            rest = left[:, None] - more
            logs = log_factorial[left][:, None] - log_factorial[np.maximum(rest, 0)]
            logs += more * np.log(step) - log_factorial[more] + rest * np.log1p(-step)
            moved = chance[:, None] * np.where(rest >= 0, np.exp(logs), 0.0)
            chance = np.zeros(len(left) + len(more) - 1)
            for d in more:
                chance[d : d + len(left)] += moved[:, d]
        chance = chance[max(i + 1 - first, 0) : _most(n, bound) + 1 - first]
        first, last = max(first, i + 1), bound
    return float(chance.sum())


def _most(n: int, share: float) -> int:
    """Return more than any number of n uniform ones that can be expected below a share."""
    return min(n, int(n * share + 10.0 * np.sqrt(n * share) + 30.0))


def exact_level(n: int, delta: float) -> float:
    """Return the level of each bound at which all n hold with probability 1 − delta.

    By another way than `boundshift.curves.uniform`, to compare with.
    """

    def excess(log_level: float) -> float:
        bounds = clopper_pearson(np.arange(n), n, float(np.exp(log_level)))
        return 1.0 - all_below(bounds) - delta

    low, high = np.log(delta / n), np.log(delta)
    return float(np.exp(brentq(excess, low, high, xtol=1e-6))) if n > 1 else delta


def _certified(n: int, confidence: float, *, chosen_here: bool) -> FloatArray:
    """Return the certificate's bound for every number of rows on the wrong side."""
    records = (
        certify_counts((k, 0), (n, 1), (0, 1), confidence=confidence, chosen_here=chosen_here)
        for k in range(n + 1)
    )
    return np.array([record.error_bounds[0] for record in records])


def chosen_boundary(shape: str, n: int, replications: int, curve: str) -> list[Cell]:
    """Certify at a boundary chosen on the same scores, with and without paying for the choice."""
    rng = generator("chosen", shape, n)
    problem = Problem.with_error(SHAPES[shape], 0.1)
    holds: dict[tuple[bool, float], list[bool]] = {}
    for _ in range(replications):
        y, scores = problem.draw((min(10 * n, MOST_MAJORITY), n), rng)
        t = _quiet_boundary(y, scores, curve=curve).threshold
        truth = problem.errors(t)[1]
        for pays in (True, False):
            for confidence in CONFIDENCES:
                record = certify(y, scores, t, confidence, chosen_here=pays)
                holds.setdefault((pays, confidence), []).append(truth <= record.error_bounds[1])
    names = {
        True: f"certify(chosen_here=True), {curve} boundary",
        False: f"certify(chosen_here=False), {curve} boundary",
    }
    return [
        cell(names[pays], shape, n, confidence, np.array(held), claimed=pays)
        for (pays, confidence), held in holds.items()
    ]


def recall_floor(shape: str, n: int, replications: int) -> list[Cell]:
    """Try a promised recall floor: wherever it is promised, the true recall must reach it."""
    rng = generator("floor", shape, n)
    problem = Problem.with_error(SHAPES[shape], 0.1)
    holds: dict[float, list[bool]] = {confidence: [] for confidence in CONFIDENCES}
    for _ in range(replications):
        y, scores = problem.draw((min(10 * n, MOST_MAJORITY), n), rng)
        for confidence, held in holds.items():
            curve, rule = ClopperPearson(confidence), Floors(recall=FLOOR)
            found = _quiet_boundary(y, scores, curve=curve, rule=rule)
            kept = 1.0 - problem.errors(found.threshold)[1] >= FLOOR
            held.append(kept or found.status is Status.UNMET)
    claim = f"recall floor of {FLOOR}, promised"
    return [cell(claim, shape, n, c, np.array(held)) for c, held in holds.items()]


def many_classes(shape: str, n: int, replications: int) -> list[Cell]:
    """Certify three classes by the classifier, at biases chosen on the same scores.

    Class k lies higher in the k-th of three independent scores. The true recall is the integral
    over the class's own score of the chance that both others stay below it.
    """
    rng = generator("many", shape, n)
    sizes = (min(10 * n, MOST_MAJORITY), 3 * n, n)
    y = np.repeat(np.arange(3), sizes)
    separation = 3.0 * float(SHAPES[shape].ppf(0.75) - SHAPES[shape].ppf(0.25))
    holds: dict[float, list[bool]] = {confidence: [] for confidence in CONFIDENCES}
    for _ in range(replications):
        scores = SHAPES[shape].rvs((len(y), 3), random_state=rng) + separation * np.eye(3)[y]
        model = BoundShiftClassifier(Margins(3), cv="prefit", curve=KthPoint())
        with quiet():
            model.fit(scores, y)
        truth = 1 - true_recall(SHAPES[shape], separation, model.biases_, 2)
        for confidence, held in holds.items():
            held.append(truth <= model.certificate_.at(confidence).error_bounds[2])
    claim = "certificate of three classes, biases chosen here"
    return [cell(claim, shape, n, c, np.array(held)) for c, held in holds.items()]


def rates_together(n: int, replications: int) -> list[Cell]:
    """Try bounds of precision, NPV, flagged share, cost and net benefit, which hold together.

    Ten rows for each of n are drawn as they come, a tenth of them positive on average.
    """
    rng = generator("rates", n)
    share, alarms, misses, miss_cost = 0.1, 0.05, 0.2, 5.0
    found, flagged = share * (1 - misses), share * (1 - misses) + (1 - share) * alarms
    cost = miss_cost * share * misses + (1 - share) * alarms
    benefit = found - (1 - share) * alarms / miss_cost
    truth = np.array([found / flagged, 1 - share * misses / (1 - flagged), -flagged, -cost])
    truth = np.append(truth, benefit)
    holds: dict[tuple[str, float], list[bool]] = {}
    for _ in range(replications):
        positive = int(rng.binomial(10 * n, share))
        rows = (10 * n - positive, positive)
        wrong = tuple(int(rng.binomial(m, p)) for m, p in zip(rows, (alarms, misses), strict=True))
        for confidence in CONFIDENCES:
            certificate = certify_counts(wrong, rows, (0, 1), confidence=confidence)
            for name, prevalence in (("known", share), ("counted on these rows", None)):
                bound = certificate.rates(prevalence, false_negative=miss_cost)
                least = (bound.precision, bound.npv, -bound.flagged, -bound.cost)
                held = bool(np.all(truth >= np.append(least, bound.net_benefit) - 1e-12))
                holds.setdefault((name, confidence), []).append(held)
    return [
        cell(
            f"all of Certificate.rates together, prevalence {name}",
            "one case",
            n,
            c,
            np.array(held),
        )
        for (name, c), held in holds.items()
    ]


def paired_costs(n: int, replications: int) -> list[Cell]:
    """Try the interval of what a new boundary costs beside an old one on the same rows."""
    rng = generator("paired", n)
    sizes, outcomes = (10 * n, n), ((0.03, 0.02, 0.95), (0.05, 0.1, 0.85))
    y, cost = np.repeat([0, 1], sizes), Cost(false_negative=20, prevalence=0.1)
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
    claim = "compare_boundaries, interval of the costs' difference"
    return [cell(claim, "one case", n, c, np.array(held)) for c, held in holds.items()]


_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(400)


def true_recall(shape: Any, separation: float, biases: FloatArray, k: int) -> float:
    """Return the true share of class k whose biased score is the largest."""
    own = shape.ppf((_NODES + 1) / 2)
    below = [shape.cdf(separation + own + biases[k] - b) for j, b in enumerate(biases) if j != k]
    return float(_WEIGHTS / 2 @ np.prod(below, axis=0))


def on_average(shape: str, n: int, replications: int) -> list[Cell]:
    """Compare the mean true error at the k-th point with what is claimed; no confidence here."""
    draws = SHAPES[shape].rvs((replications, n), random_state=generator("average", shape, n))
    truth = SHAPES[shape].sf(np.sort(draws, axis=1)[:, ::-1])
    cells = []
    for k in (0, n // 5):
        claim, mean = float(KthPoint().bound(k, n)), float(truth[:, k].mean())
        error = float(truth[:, k].std() / np.sqrt(replications))
        facts = {"shape": shape, "rows": n, "wrong": k, "claim": claim, "mean_error": mean}
        cells.append(facts | {"passes": bool(abs(mean - claim) <= 3.5 * error)})
    return cells


def _quiet_boundary(*arguments: Any, **options: Any) -> Any:
    """Find a boundary; that a floor cannot be met is counted elsewhere."""
    with quiet():
        return find_boundary(*arguments, **options)


def jobs(
    shapes: Sequence[str], rows: Sequence[int], runs: int, default_rows: Sequence[int]
) -> Iterator[Job]:
    """List what to compute, and what to simulate."""
    for n in rows:
        yield Job(fixed_boundary, (n,))
        yield Job(every_boundary, (n,))
        yield Job(rates_together, (n, runs))
    for n in default_rows:
        yield Job(paired_costs, (n, runs))
    for shape in shapes:
        for n in rows:
            yield Job(chosen_boundary, (shape, n, runs, "kth-point"))
            yield Job(recall_floor, (shape, n, runs))
        for n in default_rows:
            yield Job(chosen_boundary, (shape, n, runs, "logistic"))
            yield Job(many_classes, (shape, n, runs))
