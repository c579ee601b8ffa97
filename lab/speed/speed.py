"""Measure what a boundary costs, as ratios taken in one run.

Usage: ``python -m lab.speed.speed [--quick] [--out FILE] [--show]``.

Every figure is a ratio of times taken in this process, or a ratio of bytes: a faster machine
changes both sides. Contenders take turns within each repeat, so that a busy moment of the machine
hits them alike, and each counts with its best time. The scores are two normal samples whose tails
overlap, 1% of the rows positive; rows marked "balanced" have half.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import tracemalloc
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import BoundShiftClassifier, find_boundary
from boundshift.writing import write_whole
from lab.evidence.brute_force import brute_force
from lab.harness.environment import environment

RESULTS = Path(__file__).parents[1] / "results"
SEED = 0
# The goals are set for this many rows; below, a loose one only catches accidents.
JUDGED_ROWS = 1_000_000


@dataclass(frozen=True)
class Plan:
    """How large the problems are, and how often each contender runs."""

    tuned: dict[int, int]
    sort: dict[int, int]
    brute_force: dict[int, int]
    growth: dict[int, int]
    memory: int
    predict: tuple[int, int]


FULL = Plan(
    tuned={10_000: 7, 100_000: 5, 1_000_000: 3},
    sort={1_000_000: 15, 10_000_000: 5},
    brute_force={1_000: 5, 10_000: 2},
    growth={100_000: 9, 316_228: 9, 1_000_000: 7, 3_162_278: 5, 10_000_000: 5},
    memory=10_000_000,
    predict=(1_000_000, 15),
)
QUICK = Plan(
    tuned={10_000: 2},
    sort={100_000: 3},
    brute_force={200: 1},
    growth={10_000: 3, 100_000: 3},
    memory=100_000,
    predict=(100_000, 3),
)


@dataclass(frozen=True)
class Row:
    """One figure beside its goal: at least, at most or below a number."""

    name: str
    value: float
    goal: str
    met: bool

    @classmethod
    def judge(cls, name: str, value: float, goal: str) -> Row:
        """Compare a figure with its goal."""
        sign, number = goal.split()
        met = {">=": value >= float(number), "<=": value <= float(number)}.get(
            sign, value < float(number)
        )
        return cls(name, float(f"{value:.4g}"), goal, bool(met))


@dataclass(frozen=True)
class Problem:
    """Labelled scores."""

    y: NDArray[np.int64]
    scores: NDArray[np.float64]

    @classmethod
    def draw(cls, n_rows: int, positive_share: float = 0.01) -> Problem:
        """Draw two normal samples four standard deviations apart."""
        rng = np.random.default_rng(SEED)
        y = np.zeros(n_rows, dtype=np.int64)
        y[: max(int(n_rows * positive_share), 10)] = 1
        rng.shuffle(y)
        scores = rng.standard_normal(n_rows)
        scores += 4.0 * y
        return cls(y, scores)


class Scored(ClassifierMixin, BaseEstimator):
    """A trained classifier that costs nothing: its score is the only feature."""

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Scored:
        """Learn nothing."""
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the scores."""
        column: NDArray[Any] = X[:, 0]
        return column

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the labels."""
        return self.classes_[(X[:, 0] > 0).astype(np.intp)]


Contenders = dict[str, Callable[[], object]]


class Stopwatch:
    """Times of contenders that take turns; keeps every one of them."""

    def __init__(self) -> None:
        self.seconds: dict[str, dict[str, list[float]]] = {}

    def race(self, name: str, contenders: Contenders, repeats: int) -> dict[str, float]:
        """Return the best time of each contender."""
        times: dict[str, list[float]] = {key: [] for key in contenders}
        for _ in range(repeats):
            for key, run in contenders.items():
                start = time.perf_counter()
                run()
                times[key].append(time.perf_counter() - start)
        self.seconds[name] = times
        return {key: min(values) for key, values in times.items()}


def rows_of(n: int) -> str:
    return f"{n:,} rows"


def against_tuned_threshold(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race scikit-learn's tuned threshold on a trained model's scores."""
    rows = []
    for n, repeats in plan.tuned.items():
        problem = Problem.draw(n)
        X = problem.scores[:, None]
        model = Scored().fit(X, problem.y)
        tuned = TunedThresholdClassifierCV(
            FrozenEstimator(model), cv="prefit", refit=False, scoring="balanced_accuracy"
        )
        shifted = BoundShiftClassifier(model, cv="prefit")
        best = watch.race(
            f"TunedThresholdClassifierCV, {rows_of(n)}",
            {
                "TunedThresholdClassifierCV": partial(tuned.fit, X, problem.y),
                "find_boundary": partial(find_boundary, problem.y, problem.scores),
                "BoundShiftClassifier": partial(shifted.fit, X, problem.y),
            },
            repeats,
        )
        goal = ">= 100" if n >= JUDGED_ROWS else ">= 1"
        for ours in ("find_boundary", "BoundShiftClassifier"):
            name = f"times faster than TunedThresholdClassifierCV: {ours}, {rows_of(n)}"
            rows.append(Row.judge(name, best["TunedThresholdClassifierCV"] / best[ours], goal))
    return rows


def against_sort(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race a single sort of the same scores, the least any exact method must pay."""
    rows = []
    for n, repeats in plan.sort.items():
        for share, kind in ((0.01, ""), (0.5, ", balanced")):
            problem = Problem.draw(n, share)
            best = watch.race(
                f"np.sort, {rows_of(n)}{kind}",
                {
                    "np.sort": partial(np.sort, problem.scores),
                    "find_boundary": partial(find_boundary, problem.y, problem.scores),
                },
                repeats,
            )
            name = f"find_boundary's time in sorts of the scores: {rows_of(n)}{kind}"
            goal = "<= 6" if n >= JUDGED_ROWS else "<= 100"
            rows.append(Row.judge(name, best["find_boundary"] / best["np.sort"], goal))
    return rows


def against_brute_force(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race the paper's Algorithm 1 done plainly, and compare the losses reached."""
    rows = []
    for n, repeats in plan.brute_force.items():
        problem = Problem.draw(n, 0.1)
        best = watch.race(
            f"brute force of Algorithm 1, {rows_of(n)}",
            {
                "brute force": partial(brute_force, problem.y, problem.scores),
                "find_boundary": partial(find_boundary, problem.y, problem.scores, curve="paper"),
            },
            repeats,
        )
        plain = brute_force(problem.y, problem.scores)
        exact = find_boundary(problem.y, problem.scores, curve="paper")
        assert plain is not None
        ratio = best["brute force"] / best["find_boundary"]
        name = f"times faster than brute force of Algorithm 1: {rows_of(n)}"
        rows.append(Row.judge(name, ratio, ">= 1"))
        name = f"loss above that of brute force: {rows_of(n)}"
        rows.append(Row.judge(name, exact.loss - plain.loss, "<= 0"))
    return rows


def growth(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Fit time = constant times rows to a power, by least squares in logarithms."""
    sizes = list(plan.growth)
    problems = {n: Problem.draw(n) for n in sizes}
    times = []
    for n, problem in problems.items():
        run: Contenders = {"find_boundary": partial(find_boundary, problem.y, problem.scores)}
        times.append(watch.race(f"growth, {rows_of(n)}", run, plan.growth[n])["find_boundary"])
    exponent = np.polyfit(np.log(sizes), np.log(times), 1)[0]
    name = f"growth exponent of find_boundary's time: {sizes[0]:,} to {rows_of(sizes[-1])}"
    return [Row.judge(name, float(exponent), "< 1.15")]


def memory(plan: Plan) -> list[Row]:
    """Peak of all arrays alive during the call, labels and scores given included."""
    tracemalloc.start()
    problem = Problem.draw(plan.memory)
    tracemalloc.reset_peak()
    find_boundary(problem.y, problem.scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    name = f"peak memory in bytes of the scores, input included: {rows_of(plan.memory)}"
    return [Row.judge(name, peak / problem.scores.nbytes, "<= 8")]


def predict_overhead(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race a linear model, the fastest there is, with and without a moved boundary."""
    n, repeats = plan.predict
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, 20))
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 1.5).astype(int)
    bare = LogisticRegression().fit(X[:5000], y[:5000])
    shifted = BoundShiftClassifier(bare, cv="prefit").fit(X[:5000], y[:5000])
    best = watch.race(
        f"predict, {rows_of(n)}",
        {"bare": lambda: bare.predict(X), "shifted": lambda: shifted.predict(X)},
        repeats,
    )
    goal = "< 5" if n >= JUDGED_ROWS else "< 100"
    percent = 100 * (best["shifted"] / best["bare"] - 1)
    name = f"percent that predict takes longer, logistic regression: {rows_of(n)}"
    return [Row.judge(name, percent, goal)]


def measure(plan: Plan, watch: Stopwatch) -> list[Row]:
    warm = Problem.draw(1_000)
    find_boundary(warm.y, warm.scores)
    return [
        *against_tuned_threshold(plan, watch),
        *against_sort(plan, watch),
        *against_brute_force(plan, watch),
        *growth(plan, watch),
        *memory(plan),
        *predict_overhead(plan, watch),
    ]


def as_text(rows: Sequence[Row]) -> str:
    width = max(len(row.name) for row in rows)
    lines = [f"{'':<{width}}  {'measured':>10}  {'goal':<8}  met"]
    lines += [
        f"{row.name:<{width}}  {row.value:>10.4g}  {row.goal:<8}  {'yes' if row.met else 'NO'}"
        for row in rows
    ]
    return "\n".join(lines)


def as_markdown(rows: Sequence[Row]) -> str:
    lines = ["| | measured | goal | met |", "|---|---:|---|---|"]
    for row in rows:
        goal = row.goal.replace(">=", "≥").replace("<=", "≤")
        lines.append(f"| {row.name} | {row.value:.3g} | {goal} | {'yes' if row.met else 'no'} |")
    return "\n".join(lines)


def store(path: Path, rows: Sequence[Row], watch: Stopwatch, quick: bool) -> None:
    """Write the results whole or not at all."""
    record = {
        "quick": quick,
        "environment": environment(),
        "rows": [asdict(row) for row in rows],
        "seconds": watch.seconds,
    }
    write_whole(path, json.dumps(record, indent=1) + "\n")


def load(path: Path) -> list[Row]:
    return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="at most 100,000 rows, few repeats")
    parser.add_argument("--out", type=Path, help="where to store the results as JSON")
    parser.add_argument("--show", action="store_true", help="print stored results as Markdown")
    chosen = parser.parse_args(arguments)
    path = chosen.out or RESULTS / ("speed-quick.json" if chosen.quick else "speed.json")
    if chosen.show:
        print(as_markdown(load(path)))
        return 0
    warnings.simplefilter("error")
    watch = Stopwatch()
    rows = measure(QUICK if chosen.quick else FULL, watch)
    store(path, rows, watch, chosen.quick)
    print(as_text(rows))
    print(f"\nStored in {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
