"""Measure what a boundary costs, as ratios taken in one run.

Every figure is a ratio of times taken in this process, or a ratio of bytes: a faster machine
changes both sides. Contenders take turns within each repeat, so that a busy moment of the machine
hits them alike, and each counts with its best time. The scores are two normal samples whose tails
overlap, 1% of the rows positive; rows marked "balanced" have half.
"""

from __future__ import annotations

import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from boundshift import BoundShiftClassifier, find_boundary, threshold_interval
from lab.experiment import Experiment, Facts
from lab.speed.brute_force import brute_force

SEED = 0
# The goals are set for this many rows; below, a loose one only catches accidents.
JUDGED_ROWS = 1_000_000
JUDGED_FIT = 100_000
N_CLASSES = 30
# The default first.
SPEED_CURVES = (
    "blend", "logistic", "smoothed", "empirical", "kth-point", "clopper-pearson", "dkw",
    "bernstein", "student-t", "support", "paper",
)  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """How large the problems are, and how often each contender runs."""

    tuned: dict[int, int]
    cutoffs: dict[int, int]
    sort: dict[int, int]
    brute_force: dict[int, int]
    growth: dict[int, int]
    memory: int
    interval: tuple[int, int]
    classes: tuple[int, int]
    fit: tuple[int, int]
    predict: tuple[int, int]
    starts: int


FULL = Plan(
    tuned={10_000: 7, 100_000: 5, 1_000_000: 3},
    cutoffs={1_000_000: 7},
    sort={1_000_000: 15, 10_000_000: 5},
    brute_force={1_000: 5, 10_000: 2},
    growth={100_000: 9, 316_228: 9, 1_000_000: 7, 3_162_278: 5, 10_000_000: 5},
    memory=10_000_000,
    interval=(1_000_000, 3),
    classes=(100_000, 2),
    fit=(100_000, 15),
    predict=(1_000_000, 15),
    starts=15,
)
QUICK = Plan(
    tuned={10_000: 2},
    cutoffs={10_000: 3},
    sort={100_000: 3},
    brute_force={200: 1},
    growth={10_000: 3, 100_000: 3},
    memory=100_000,
    interval=(10_000, 1),
    classes=(2_000, 1),
    fit=(5_000, 1),
    predict=(100_000, 3),
    starts=2,
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


def against_cutoffs(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race the package optimal-classification-cutoffs for the best F1 of the same probabilities.

    It comes with the extra for tests; without it there is no row.
    """
    try:
        from optimal_cutoffs import get_optimal_threshold
    except ImportError:
        return []
    rows = []
    for n, repeats in plan.cutoffs.items():
        for share, kind in ((0.01, ""), (0.5, ", balanced")):
            problem = Problem.draw(n, share)
            y, p = problem.y, expit(problem.scores - 4.0)
            best = watch.race(
                f"optimal-classification-cutoffs, {rows_of(n)}{kind}",
                {
                    "cutoffs": partial(get_optimal_threshold, y, p, metric="f1", comparison=">"),
                    "find_boundary": partial(find_boundary, y, p, curve="empirical", rule="f1"),
                },
                repeats,
            )
            goal = ">= 5" if n >= JUDGED_ROWS else ">= 0.1"
            name = f"times faster than optimal-classification-cutoffs: F1, {rows_of(n)}{kind}"
            rows.append(Row.judge(name, best["cutoffs"] / best["find_boundary"], goal))
    return rows


def split_and_sort(problem: Problem) -> None:
    """Do what any exact method must: split the scores by class, and sort both parts."""
    is_positive = problem.y == 1
    for part in (problem.scores[~is_positive], problem.scores[is_positive]):
        part.sort()


def against_floor(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race what the machine needs to split the same scores by class and to sort them."""
    rows = []
    for n, repeats in plan.sort.items():
        for share, kind in ((0.01, ""), (0.5, ", balanced")):
            problem = Problem.draw(n, share)
            runs: Contenders = {"split and sort": partial(split_and_sort, problem)}
            for curve in SPEED_CURVES:
                runs[curve] = partial(find_boundary, problem.y, problem.scores, curve=curve)
            best = watch.race(f"split and sort, {rows_of(n)}{kind}", runs, repeats)
            floor = best.pop("split and sort")
            default = best.pop(SPEED_CURVES[0])
            slowest = max(best, key=lambda curve: best[curve])
            goal = "<= 3" if n >= JUDGED_ROWS else "<= 100"
            where = f"{rows_of(n)}{kind}"
            name = f"times split and sort: the default, {where}"
            rows.append(Row.judge(name, default / floor, goal))
            name = f"times split and sort: the slowest other curve, {slowest}, {where}"
            rows.append(Row.judge(name, best[slowest] / floor, goal))
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


def memory(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Peak of what is allocated during the call, beyond the labels and scores given."""
    rows = []
    for share, kind in ((0.01, ""), (0.5, ", balanced")):
        problem = Problem.draw(plan.memory, share)
        peaks = []
        for curve in SPEED_CURVES:
            tracemalloc.start()
            find_boundary(problem.y, problem.scores, curve=curve)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            name = "peak memory beyond the input, times the scores: "
            name += f"{curve}, {rows_of(plan.memory)}{kind}"
            peaks.append(Row.judge(name, peak / problem.scores.nbytes, "<= 2"))
        rows += [peaks[0], max(peaks[1:], key=lambda row: row.value)]
    return rows


def interval(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Race 200 resamples of the threshold with a single decision on the same scores."""
    n, repeats = plan.interval
    problem = Problem.draw(n)
    best = watch.race(
        f"threshold_interval, {rows_of(n)}",
        {
            "find_boundary": partial(find_boundary, problem.y, problem.scores),
            "threshold_interval": partial(threshold_interval, problem.y, problem.scores),
        },
        repeats,
    )
    name = f"threshold_interval in decisions on the same scores: {rows_of(n)}"
    ratio = best["threshold_interval"] / best["find_boundary"]
    rows = [Row.judge(name, ratio, "<= 20" if n >= JUDGED_ROWS else "<= 1000")]
    smaller = Problem.draw(n // 10)
    run: Contenders = {"threshold_interval": partial(threshold_interval, smaller.y, smaller.scores)}
    best = watch.race(f"threshold_interval, {rows_of(n // 10)}", run, repeats)
    name = f"seconds of threshold_interval: {rows_of(n // 10)}"
    return [*rows, Row.judge(name, best["threshold_interval"], "<= 0.3")]


def many_classes(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Time the biases of 30 classes, all together."""
    n, repeats = plan.classes
    rng = np.random.default_rng(SEED)
    share = 1.0 / np.arange(1, N_CLASSES + 1)
    y = rng.choice(N_CLASSES, n, p=share / share.sum())
    scores = rng.standard_normal((n, N_CLASSES))
    scores[np.arange(n), y] += 2.0
    model = Scored().fit(scores, y)
    model.classes_ = np.arange(N_CLASSES)
    model.decision_function = lambda X: X  # type: ignore[method-assign]
    shifted = BoundShiftClassifier(model, cv="prefit")
    runs: Contenders = {"BoundShiftClassifier": partial(shifted.fit, scores, y)}
    best = watch.race(f"{N_CLASSES} classes, {rows_of(n)}", runs, repeats)
    name = f"seconds for the biases of {N_CLASSES} classes: {rows_of(n)}"
    return [Row.judge(name, best["BoundShiftClassifier"], "<= 2")]


class Meter:
    """Adds up the time of parts; what runs inside a part counts with it, once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._is_running = False

    @contextmanager
    def part(self) -> Iterator[None]:
        """Take the time of a part."""
        if self._is_running:
            yield
            return
        self._is_running, start = True, time.perf_counter()
        try:
            yield
        finally:
            self.seconds += time.perf_counter() - start
            self._is_running = False


NOT_OURS = Meter()


class TimedRegression(LogisticRegression):
    """Logistic regression whose fits and scores are timed."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TimedRegression:
        """Fit, and take the time."""
        with NOT_OURS.part():
            super().fit(X, y, sample_weight)
        return self

    def decision_function(self, X: Any) -> Any:
        """Score, and take the time."""
        with NOT_OURS.part():
            return super().decision_function(X)

    def predict_proba(self, X: Any) -> Any:
        """Score, and take the time."""
        with NOT_OURS.part():
            return super().predict_proba(X)


class TimedRows(np.ndarray[Any, np.dtype[np.float64]]):
    """Rows whose slicing is timed."""

    def __getitem__(self, key: Any) -> Any:
        """Slice, and take the time."""
        with NOT_OURS.part():
            return super().__getitem__(key)


class TimedFolds(StratifiedKFold):
    """The default's folds, timed."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Any:
        """Split, and take the time."""
        with NOT_OURS.part():
            return list(super().split(X, y, groups))


def fit_overhead(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Take from a fit what its models, the folds and their slicing take, timed within it.

    The same slices taken outside of a fit are quicker, since no model has emptied the processor's
    caches before: the difference would count as ours. Slicing the labels does count as ours. One
    thread, since more of them wait for each other on a busy machine, in the models and not in ours.
    """
    n, repeats = plan.fit
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, 20))
    y = (X @ rng.standard_normal(20) + rng.standard_normal(n) > 7).astype(int)
    rows = X.view(TimedRows)
    ours, single = [], []
    with threadpool_limits(1):
        for _ in range(repeats):
            start = time.perf_counter()
            LogisticRegression().fit(X, y)
            single.append(time.perf_counter() - start)
            NOT_OURS.seconds = 0.0
            start = time.perf_counter()
            BoundShiftClassifier(TimedRegression(), cv=TimedFolds(5)).fit(rows, y)
            ours.append(time.perf_counter() - start - NOT_OURS.seconds)
    watch.seconds[f"fit, {rows_of(n)}"] = {"ours alone": ours, "one fit": single}
    goal = "<= 5" if n >= JUDGED_FIT else "<= 10000"
    name = f"fit beyond models and slicing, percent of one logistic regression: {rows_of(n)}"
    return [Row.judge(name, 100 * min(ours) / min(single), goal)]


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


def start_up(plan: Plan, watch: Stopwatch) -> list[Row]:
    """Compare whole processes: ours, and one that does nothing but import scikit-learn."""
    commands = {
        "import sklearn": ("-c", "import sklearn"),
        "import boundshift": ("-c", "import boundshift"),
        "boundshift --help": ("-m", "boundshift", "--help"),
    }

    def start(arguments: Sequence[str]) -> None:
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)

    contenders: Contenders = {name: partial(start, words) for name, words in commands.items()}
    for run in contenders.values():  # files that nobody has read yet would count for the first
        run()
    best = watch.race("start-up", contenders, plan.starts)
    return [
        Row.judge(f"times import sklearn: {name}", best[name] / best["import sklearn"], goal)
        for name, goal in (("import boundshift", "<= 0.65"), ("boundshift --help", "<= 0.9"))
    ]


def collect(quick: bool) -> Facts:
    plan, watch, warm = QUICK if quick else FULL, Stopwatch(), Problem.draw(1_000)
    find_boundary(warm.y, warm.scores)
    races = (
        against_tuned_threshold, against_cutoffs, against_floor, against_brute_force, growth,
        memory, interval, many_classes, fit_overhead, predict_overhead, start_up,
    )  # fmt: skip
    rows = [asdict(row) for race in races for row in race(plan, watch)]
    return {"rows": rows, "seconds": watch.seconds}


def page(facts: Facts) -> str:
    lines = ["| | measured | goal | met |", "|---|---:|---|---|"]
    for row in facts["rows"]:
        goal = row["goal"].replace(">=", "≥").replace("<=", "≤")
        met = "yes" if row["met"] else "no"
        lines.append(f"| {row['name']} | {row['value']:.3g} | {goal} | {met} |")
    return "\n".join(lines)


EXPERIMENT = Experiment(collect, page, home="README.md", block="speed")
