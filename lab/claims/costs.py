"""Compare the cost rule with Bayes minimum risk where costs are known.

A miss costs ten false alarms. Simulated problems are judged on 20,000 fresh rows of each class,
real ones on the half that was left out. All ways share one model and decide on its out-of-fold
scores, five folds; Bayes minimum risk calibrates these scores and predicts what costs least. The
second table is about prior shift: positives are three times as frequent where the model is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from boundshift import BoundShiftClassifier
from boundshift.rules import Cost
from lab.baselines import bayes_risk_threshold
from lab.claims.scored import MODELS, Halves, Margins, score_halves
from lab.claims.simulation import generator
from lab.data.common import fetch_common
from lab.experiment import Experiment, Facts, Tables, memory, quiet, rows_in_parallel
from lab.markdown import table
from lab.statistics import average_ranks

Pair = tuple[float, float]

COSTS = (1.0, 10.0)
SEEDS = 20
SIMULATED = ("gaussian", "skewed")
REAL = ("kc1", "yeast3", "page-blocks0")
KINDS = ("logistic", "boosting")
ROWS, FRESH = (900, 100), (20_000, 20_000)
MORE_POSITIVES = 3.0


def draw(name: str, n_samples: tuple[int, int], rng: np.random.Generator) -> tuple[Any, Any]:
    """Draw a simulated problem of five features."""
    y = np.repeat([0, 1], n_samples)
    if name == "gaussian":
        X = rng.standard_normal((len(y), 5)) * np.where(y, 1.3, 1.0)[:, None]
        return X + 0.6 * y[:, None], y
    return rng.exponential(size=(len(y), 5)) * np.where(y, 2.0, 1.0)[:, None], y


@memory.cache  # type: ignore[untyped-decorator]
def score(name: str, kind: str, seed: int) -> Halves:
    """Train a model and score rows that it has not seen."""
    if name in SIMULATED:
        rng = generator("costs", name, seed)
        (X, y), (X_fresh, y_fresh) = draw(name, ROWS, rng), draw(name, FRESH, rng)
    else:
        data = fetch_common(name)
        X, X_fresh, y, y_fresh = train_test_split(
            *data, test_size=0.5, stratify=data[1], random_state=seed
        )
    return score_halves(MODELS[kind](), X, y, (X_fresh, y_fresh))


def ours(curve: str) -> Callable[[Halves, Pair], float]:
    """Return the threshold of the library's cost rule."""

    def threshold(halves: Halves, priors: Pair) -> float:
        rule = Cost(false_positive=COSTS[0], false_negative=COSTS[1], prevalence=priors[1])
        model = BoundShiftClassifier(Margins(), cv="prefit", curve=curve, rule=rule)
        with quiet():
            return float(model.fit(halves.raw, halves.y).threshold_)

    return threshold


def weights(y: NDArray[np.int64], priors: Pair) -> Pair:
    """Return costs under which the rows at hand stand for other priors."""
    negative, positive = np.bincount(y) / len(y)
    return COSTS[0] * priors[0] / negative, COSTS[1] * priors[1] / positive


def bayes_hull(halves: Halves, priors: Pair) -> float:
    """Bayes minimum risk with probabilities calibrated by the ROC hull, as in the paper."""
    cost_fp, cost_fn = weights(halves.y, priors)
    return bayes_risk_threshold(halves.y, halves.raw, cost_fp=cost_fp, cost_fn=cost_fn)


def bayes_sigmoid(halves: Halves, priors: Pair) -> float:
    """Bayes minimum risk with probabilities calibrated by a sigmoid of the score."""
    sigmoid = LogisticRegression(C=np.inf).fit(halves.raw[:, None], halves.y)
    cost_fp, cost_fn = weights(halves.y, priors)
    return float((np.log(cost_fp / cost_fn) - sigmoid.intercept_[0]) / sigmoid.coef_[0, 0])


def plug_in(halves: Halves, priors: Pair) -> float:
    """Take the model's own probabilities for calibrated: its margins are log-odds."""
    cost_fp, cost_fn = weights(halves.y, priors)
    return float(np.log(cost_fp / cost_fn))


WAYS: dict[str, Callable[[Halves, Pair], float]] = {
    "cost rule, smoothed": ours("smoothed"),
    "cost rule, kth-point": ours("kth-point"),
    "cost rule, support": ours("support"),
    "cost rule, clopper-pearson": ours("clopper-pearson"),
    "Bayes minimum risk, ROC hull": bayes_hull,
    "Bayes minimum risk, sigmoid": bayes_sigmoid,
    "Bayes minimum risk, uncalibrated": plug_in,
    "untouched": lambda halves, priors: 0.0,
}
JUDGED, BASELINE = "cost rule, smoothed", "Bayes minimum risk, ROC hull"


def examine(name: str, kind: str, seed: int) -> list[dict[str, Any]]:
    """Return the cost of each way, with the priors of training and with shifted ones."""
    halves = score(name, kind, seed)
    share = float(np.mean(halves.y))
    shifted = min(MORE_POSITIVES * share, 0.5)
    rows = []
    for priors_name, positive in (("as in training", share), ("shifted", shifted)):
        priors = (1 - positive, positive)
        for way, threshold in WAYS.items():
            facts = {"problem": name, "model": kind, "seed": seed, "priors": priors_name}
            cost = expected_cost(halves, threshold(halves, priors), positive)
            rows.append(facts | {"way": way, "cost": cost})
    return rows


def expected_cost(halves: Halves, threshold: float, prevalence: float) -> float:
    """Return the mean cost of a decision on the fresh rows' error rates at a prevalence."""
    above = halves.fresh_raw > threshold
    false_alarms = float(above[halves.fresh_y == 0].mean())
    misses = float(1 - above[halves.fresh_y == 1].mean())
    return COSTS[0] * (1 - prevalence) * false_alarms + COSTS[1] * prevalence * misses


def collect(quick: bool) -> Facts:
    problems, kinds = (SIMULATED[:1], KINDS[:1]) if quick else ((*SIMULATED, *REAL), KINDS)
    jobs = [(p, k, s) for p in problems for k in kinds for s in range(3 if quick else SEEDS)]
    rows = rows_in_parallel(examine, jobs, quick)
    return {"costs": COSTS, "seeds": len({r["seed"] for r in rows}), "table": summarise(rows)}


def summarise(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return mean costs over the seeds, and the paired difference to the baseline's."""
    cells: dict[tuple[str, str, str], dict[str, list[float]]] = {}
    for r in rows:
        ways = cells.setdefault((r["priors"], r["problem"], r["model"]), {})
        ways.setdefault(r["way"], []).append(r["cost"])
    return [
        {"priors": priors, "problem": problem, "model": model}
        | {"cost": {way: float(np.mean(costs)) for way, costs in ways.items()}}
        | {"difference": paired(ways[JUDGED], ways[BASELINE])}
        for (priors, problem, model), ways in cells.items()
    ]


def paired(ours: list[float], theirs: list[float]) -> Pair:
    """Return the mean difference of costs seed by seed and its standard error."""
    difference = np.array(ours) - np.array(theirs)
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


def relative_cost(lines: list[dict[str, Any]], way: str) -> float:
    """Return a way's cost over the baseline's, averaged over problems and models."""
    return float(np.mean([line["cost"][way] / line["cost"][BASELINE] for line in lines]))


def is_met(facts: Facts) -> bool:
    """Say whether the cost rule is on average at least as cheap as Bayes minimum risk."""
    return relative_cost(facts["table"], JUDGED) <= 1 or facts["quick"]


def tables(facts: Facts) -> Tables:
    found = {}
    for priors in ("as in training", "shifted"):
        lines = [line for line in facts["table"] if line["priors"] == priors]
        rows = [[line["problem"], line["model"], *line["cost"].values()] for line in lines]
        rows.append(["all", "relative", *(relative_cost(lines, way) for way in WAYS)])
        costs = [[-cost for cost in line["cost"].values()] for line in lines]
        rows.append(["all", "mean rank", *average_ranks(costs).tolist()])
        found[priors] = table(" | ".join(["problem", "model", *WAYS]), rows)
    differences = [
        [line["priors"], line["problem"], line["model"], *line["difference"]]
        for line in sorted(facts["table"], key=lambda line: line["priors"])
    ]
    head = "priors | problem | model | mean difference | standard error"
    return found | {"differences": table(head, differences)}


EXPERIMENT = Experiment(collect, tables, is_met)
