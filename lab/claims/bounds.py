"""How often what is claimed with a stated confidence holds, computed or simulated.

Each function returns cells: a claim, a class shape, rows of the class, a confidence, and the share
of replications in which the true error rate was at most the bound. A cell passes if that share is
not more than two Monte-Carlo standard errors below the confidence. Where the share does not depend
on the class's shape and can be computed, it is: such a cell has no replications.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln
from scipy.stats import binom
from sklearn.frozen import FrozenEstimator

from boundshift import (
    BoundShiftClassifier,
    Certificate,
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
from boundshift.scores import ScoreSample
from boundshift.typing import FloatArray
from lab.claims.scored import MODELS, Margins
from lab.claims.simulation import SHAPES, Problem, binomial_error, generator, true_recall
from lab.experiment import quiet

Cell = dict[str, Any]
Job = tuple[Callable[..., list[Cell]], tuple[Any, ...]]

CONFIDENCES = (0.90, 0.95)
FLOOR = 0.8
MOST_MAJORITY = 1000
_ROUNDING = 1e-9


def cell(
    claim: str, shape: str, n: int, confidence: float, holds: FloatArray, claimed: bool = True
) -> Cell:
    """Judge the share of replications in which a bound held."""
    coverage = float(np.mean(holds))
    least = confidence - 2 * binomial_error(confidence, len(holds))
    return _cell(claim, shape, n, confidence, coverage, len(holds), claimed, coverage >= least)


def exact_cell(claim: str, n: int, confidence: float, coverage: float) -> Cell:
    """Judge a coverage that is computed, whatever the shape."""
    passes = coverage >= confidence - _ROUNDING
    return _cell(claim, "any", n, confidence, coverage, None, True, passes)


def _cell(
    claim: str,
    shape: str,
    rows: int,
    confidence: float,
    coverage: float,
    replications: int | None,
    claimed: bool,
    passes: bool,
) -> Cell:
    return {
        "claim": claim,
        "shape": shape,
        "rows": rows,
        "confidence": confidence,
        "coverage": coverage,
        "replications": replications,
        "claimed": claimed,
        "passes": bool(passes),
    }


def _cells(claim: str, shape: str, n: int, holds: dict[float, list[bool]]) -> list[Cell]:
    return [cell(claim, shape, n, c, np.array(held)) for c, held in holds.items()]


def _at_each_confidence() -> dict[float, list[bool]]:
    return {confidence: [] for confidence in CONFIDENCES}


def fixed_boundary(n: int) -> list[Cell]:
    """Return the least coverage over all true error rates, at a boundary fixed before.

    The share of samples whose bound is too small is largest for a true rate just above one of the
    bounds, that of k wrong rows, and is then the probability of at most k of them.
    """
    claiming: dict[str, Any] = {
        name: curve for name, curve in CURVES.items() if curve.claim is Claim.HIGH_PROBABILITY
    }
    cells = []
    for confidence in CONFIDENCES:
        bounds = {
            f"{name}, boundary fixed before": curve(confidence).bound(np.arange(n + 1), n)
            for name, curve in claiming.items()
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
    return [
        cell(f"certify(chosen_here={pays}), {curve} boundary", shape, n, c, np.array(held), pays)
        for (pays, c), held in holds.items()
    ]


def recall_floor(shape: str, n: int, replications: int) -> list[Cell]:
    """Try a promised recall floor: wherever it is promised, the true recall must reach it."""
    rng = generator("floor", shape, n)
    problem = Problem.with_error(SHAPES[shape], 0.1)
    holds = _at_each_confidence()
    for _ in range(replications):
        y, scores = problem.draw((min(10 * n, MOST_MAJORITY), n), rng)
        for confidence, held in holds.items():
            curve, rule = ClopperPearson(confidence), Floors(recall=FLOOR)
            found = _quiet_boundary(y, scores, curve=curve, rule=rule)
            kept = 1.0 - problem.errors(found.threshold)[1] >= FLOOR
            held.append(kept or found.status is Status.UNMET)
    claim = f"recall floor of {FLOOR}, promised"
    return _cells(claim, shape, n, holds)


def many_classes(shape: str, n: int, replications: int) -> list[Cell]:
    """Certify three classes by the classifier, at biases chosen on the same scores.

    Class k lies higher in the k-th of three independent scores.
    """
    rng = generator("many", shape, n)
    sizes = (min(10 * n, MOST_MAJORITY), 3 * n, n)
    y = np.repeat(np.arange(3), sizes)
    separation = 3.0 * float(SHAPES[shape].ppf(0.75) - SHAPES[shape].ppf(0.25))
    holds = _at_each_confidence()
    for _ in range(replications):
        scores = SHAPES[shape].rvs((len(y), 3), random_state=rng) + separation * np.eye(3)[y]
        model = BoundShiftClassifier(Margins(3), cv="prefit", curve=KthPoint())
        with quiet():
            model.fit(scores, y)
        truth = 1 - true_recall(SHAPES[shape], separation, model.biases_, 2)
        for confidence, held in holds.items():
            held.append(truth <= model.certificate_.at(confidence).error_bounds[2])
    claim = "certificate of three classes, biases chosen here"
    return _cells(claim, shape, n, holds)


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
    claim = "all of Certificate.rates together, prevalence"
    return [
        cell(f"{claim} {name}", "one case", n, c, np.array(held))
        for (name, c), held in holds.items()
    ]


def paired_costs(n: int, replications: int) -> list[Cell]:
    """Try the interval of what a new boundary costs beside an old one on the same rows."""
    rng = generator("paired", n)
    sizes, outcomes = (10 * n, n), ((0.03, 0.02, 0.95), (0.05, 0.1, 0.85))
    y, cost = np.repeat([0, 1], sizes), Cost(false_negative=20, prevalence=0.1)
    # Shares that only the old and only the new boundary gets wrong, class by class.
    truth = 0.9 * (0.02 - 0.03) + 20 * 0.1 * (0.1 - 0.05)
    holds = _at_each_confidence()
    for _ in range(replications):
        drawn = [rng.choice(3, m, p=p) for m, p in zip(sizes, outcomes, strict=True)]
        outcome = np.concatenate(drawn)
        right = np.where(y == 1, 1.0, -1.0)
        old, new = (np.where(outcome == k, -right, right) for k in (0, 1))
        for confidence, held in holds.items():
            low, high = compare_boundaries(y, old, 0, new, 0, confidence, cost=cost).cost_interval
            held.append(low <= truth <= high)
    claim = "compare_boundaries, interval of the costs' difference"
    return _cells(claim, "one case", n, holds)


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
        yield (fixed_boundary, (n,))
        yield (every_boundary, (n,))
        yield (rates_together, (n, runs))
    for n in default_rows:
        yield (paired_costs, (n, runs))
    for shape in shapes:
        for n in rows:
            yield (chosen_boundary, (shape, n, runs, "kth-point"))
            yield (recall_floor, (shape, n, runs))
        for n in default_rows:
            yield (chosen_boundary, (shape, n, runs, "logistic"))
            yield (many_classes, (shape, n, runs))


# What is not claimed, and how it fails: training scores, and curves that only estimate.
ROWS = (360, 40)
FRESH = 10_000
FEATURES = 10
ESTIMATES = ("support", "student-t", "smoothed", "kth-point")


def draw(n_samples: tuple[int, int], rng: np.random.Generator) -> tuple[FloatArray, Any]:
    """Draw two normal classes whose means and spreads differ."""
    y = np.repeat([0, 1], n_samples)
    X = rng.standard_normal((len(y), FEATURES))
    X[y == 1] = 1.3 * X[y == 1] + 0.7
    return X, y


def model_scores(kind: str, replications: int, confidence: float = 0.95) -> list[Cell]:
    """Certificates from training, out-of-fold and held-out scores of one kind of model."""
    rng = generator("model", kind)
    holds: dict[tuple[str, str, int], list[bool]] = {}
    X_fresh, y_fresh = draw((FRESH, FRESH), rng)
    for _ in range(replications):
        X, y = draw(ROWS, rng)
        held = rng.permuted(np.arange(len(y)) % 3) == 0
        for source, (model, record) in _certificates(kind, X, y, held).items():
            wrong = model.predict(X_fresh) != y_fresh
            record = record.at(confidence)
            if source.startswith("training"):
                record = replace(record, status="nominal")
            for label in (0, 1):
                truth = float(wrong[y_fresh == label].mean())
                is_held = truth <= record.error_bounds[label]
                holds.setdefault((source, record.status, label), []).append(is_held)
    return [
        cell(source, kind, ROWS[label], confidence, np.array(held), word == "certified")
        | {"class": ("negative", "positive")[label], "word": word}
        for (source, word, label), held in holds.items()
    ]


def _certificates(
    kind: str, X: FloatArray, y: NDArray[Any], held: NDArray[np.bool_]
) -> dict[str, tuple[Any, Certificate]]:
    """Return models and what they say of themselves, by where the scores come from."""
    with quiet():
        unseen = BoundShiftClassifier(MODELS[kind]()).fit(X, y)
        trained = BoundShiftClassifier(MODELS[kind](), cv=None).fit(X, y)
        part = BoundShiftClassifier(MODELS[kind](), cv=None).fit(X[~held], y[~held])
        decided = BoundShiftClassifier(FrozenEstimator(part.estimator_)).fit(X[held], y[held])
    return {
        "training scores, as if the boundary were fixed": (trained, _as_if_fixed(trained, X, y)),
        "training scores, paying for the choice": (trained, trained.certificate_),
        "out-of-fold scores, paying for the choice": (unseen, unseen.certificate_),
        "held-out scores, paying for the choice": (decided, decided.certificate_),
        "held-out scores, boundary fixed before": (part, _as_if_fixed(part, X[held], y[held])),
    }


def _as_if_fixed(model: Any, X: FloatArray, y: NDArray[Any]) -> Certificate:
    """Certify a model's predictions as of a boundary fixed before."""
    wrong = model.predict(X) != y
    counts = tuple(int(np.sum(wrong[y == label])) for label in (0, 1))
    return certify_counts(counts, tuple(np.bincount(y).tolist()), (0, 1))


def estimates(shape: str, n: int, replications: int, true_error: float = 0.1) -> list[Cell]:
    """Curves that estimate or assume: mean claim, and how often it was not too small."""
    rng = generator("estimate", shape, n)
    problem = Problem.with_error(SHAPES[shape], true_error)
    t = np.array([problem.distance / 2])
    claims: dict[str, list[float]] = {name: [] for name in ESTIMATES}
    for _ in range(replications):
        sample = ScoreSample.from_labels(*problem.draw((n, n), rng))
        for name, found in claims.items():
            found.append(float(CURVES[name]().errors(sample)(t)[0][0]))
    return [
        {
            "curve": name,
            "shape": shape,
            "rows": n,
            "true_error": true_error,
            "mean_claim": float(np.mean(found)),
            "not_too_small": float(np.mean(np.array(found) >= true_error)),
        }
        for name, found in claims.items()
    ]
