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
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import BoundShiftClassifier, find_boundary, threshold_interval
from lab.claims.simulation import Margins
from lab.experiment import Experiment, Facts, version_of
from lab.speed.brute_force import brute_force

Contenders = dict[str, Callable[[], object]]

SEED = 0
JUDGED_ROWS = 1_000_000
N_CLASSES = 30
# The default first.
SPEED_CURVES = (
    "blend", "logistic", "smoothed", "empirical", "kth-point", "clopper-pearson", "dkw",
    "bernstein", "student-t", "support", "paper",
)  # fmt: skip
SHARES = {"": 0.01, ", balanced": 0.5}


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


def _tuned(problem: Problem) -> Contenders:
    X = problem.scores[:, None]
    model = Margins()
    tuned = TunedThresholdClassifierCV(
        FrozenEstimator(_Scored()), cv="prefit", refit=False, scoring="balanced_accuracy"
    )
    return {
        "TunedThresholdClassifierCV": partial(tuned.fit, X, problem.y),
        "find_boundary": partial(find_boundary, problem.y, problem.scores),
        "BoundShiftClassifier": partial(
            BoundShiftClassifier(model, cv="prefit").fit, problem.scores, problem.y
        ),
    }


class _Scored(Margins):
    """Margins as scikit-learn's tuner wants them: a column of features, and labels."""

    def decision_function(self, X: Any) -> Any:
        """Return the only feature."""
        return X[:, 0]

    def predict(self, X: Any) -> Any:
        """Return the labels."""
        return (X[:, 0] > 0).astype(np.int64)


def _cutoffs(problem: Problem) -> Contenders:
    from optimal_cutoffs import get_optimal_threshold

    y, p = problem.y, expit(problem.scores - 4.0)
    return {
        "cutoffs": partial(get_optimal_threshold, y, p, metric="f1", comparison=">"),
        "find_boundary": partial(find_boundary, y, p, curve="empirical", rule="f1"),
    }


def _sorting(problem: Problem) -> Contenders:
    """Beside what any exact method must do: split the scores by class, and sort both parts."""

    def split_and_sort() -> None:
        is_positive = problem.y == 1
        for part in (problem.scores[~is_positive], problem.scores[is_positive]):
            part.sort()

    runs: Contenders = {"split and sort": split_and_sort}
    for curve in SPEED_CURVES:
        runs[curve] = partial(find_boundary, problem.y, problem.scores, curve=curve)
    return runs


def _brute(problem: Problem) -> Contenders:
    return {
        "brute force": partial(brute_force, problem.y, problem.scores),
        "find_boundary": partial(find_boundary, problem.y, problem.scores, curve="paper"),
    }


def _interval(problem: Problem) -> Contenders:
    return {
        "find_boundary": partial(find_boundary, problem.y, problem.scores),
        "threshold_interval": partial(threshold_interval, problem.y, problem.scores),
    }


@dataclass(frozen=True)
class Race:
    """Contenders on problems of several sizes; `full` and `quick` are rows and repeats.

    A figure is a name, whose time is divided by whose, and the goal.
    """

    title: str
    contenders: Callable[[Problem], Contenders]
    figures: tuple[tuple[str, str, str, str], ...]
    full: dict[int, int]
    quick: dict[int, int]
    shares: dict[str, float]


_TUNED, _CUTOFFS = "TunedThresholdClassifierCV", "optimal-classification-cutoffs"
_SORT, _BRUTE = "split and sort", "brute force of Algorithm 1"
RACES = (
    Race(
        _TUNED,
        _tuned,
        (
            (f"times faster than {_TUNED}: find_boundary", _TUNED, "find_boundary", ">= 100"),
            (f"times faster than {_TUNED}: BoundShiftClassifier", _TUNED, "BoundShiftClassifier",
             ">= 100"),
        ),
        {10_000: 7, 100_000: 5, 1_000_000: 3}, {10_000: 1}, {"": 0.01},
    ),
    Race(
        _CUTOFFS,
        _cutoffs,
        ((f"times faster than {_CUTOFFS}: F1", "cutoffs", "find_boundary", ">= 5"),),
        {1_000_000: 7}, {10_000: 1}, SHARES,
    ),
    Race(
        _SORT,
        _sorting,
        (
            (f"times {_SORT}: the default", SPEED_CURVES[0], _SORT, "<= 3"),
            (f"times {_SORT}: the slowest other curve, {{slowest}}", "slowest", _SORT, "<= 3"),
        ),
        {1_000_000: 15, 10_000_000: 5}, {10_000: 1}, SHARES,
    ),
    Race(
        _BRUTE,
        _brute,
        ((f"times faster than {_BRUTE}: as exact", "brute force", "find_boundary", ">= 1"),),
        {1_000: 5, 10_000: 2}, {200: 1}, {"": 0.1},
    ),
    Race(
        "threshold_interval",
        _interval,
        (
            ("times find_boundary: threshold_interval", "threshold_interval", "find_boundary",
             "<= 20"),
        ),
        {1_000_000: 3}, {1_000: 1}, {"": 0.01},
    ),
)  # fmt: skip


def run_races(quick: bool, watch: Stopwatch) -> Iterator[Row]:
    """Run every race on every size and share of positive rows."""
    for race in RACES:
        if race.title == _CUTOFFS and version_of(_CUTOFFS) is None:
            continue
        for n, repeats in (race.quick if quick else race.full).items():
            for kind, share in [*race.shares.items()][: 1 if quick else None]:
                where = f"{rows_of(n)}{kind}"
                runs = race.contenders(Problem.draw(n, share))
                best = watch.race(f"{race.title}, {where}", runs, repeats)
                slowest = max([*best][2:] or best, key=lambda name: best[name])
                best["slowest"] = best[slowest]
                for name, above, below, goal in race.figures:
                    title = f"{name.format(slowest=slowest)}, {where}"
                    # The goals are set for many rows; below, a loose one only catches accidents.
                    loose = ">= 0.01" if ">" in goal else "<= 10000"
                    judged = goal if n >= JUDGED_ROWS else loose
                    yield Row.judge(title, best[above] / best[below], judged)


def growth(quick: bool, watch: Stopwatch) -> Iterator[Row]:
    """Fit time = constant times rows to a power, by least squares in logarithms."""
    sizes = {100_000: 9, 316_228: 9, 1_000_000: 7, 3_162_278: 5, 10_000_000: 5}
    times = []
    sizes = {10_000: 1, 50_000: 1} if quick else sizes
    for n, repeats in sizes.items():
        problem = Problem.draw(n)
        run: Contenders = {"find_boundary": partial(find_boundary, problem.y, problem.scores)}
        times.append(watch.race(f"growth, {rows_of(n)}", run, repeats)["find_boundary"])
    exponent = np.polyfit(np.log([*sizes]), np.log(times), 1)[0]
    name = f"growth exponent of find_boundary's time: {min(sizes):,} to {rows_of(max(sizes))}"
    yield Row.judge(name, float(exponent), "< 1.15")


def memory(quick: bool, watch: Stopwatch) -> Iterator[Row]:
    """Peak of what is allocated during the call, beyond the labels and scores given."""
    n = 10_000 if quick else 10_000_000
    for kind, share in [*SHARES.items()][: 1 if quick else None]:
        problem, peaks = Problem.draw(n, share), []
        for curve in SPEED_CURVES:
            tracemalloc.start()
            find_boundary(problem.y, problem.scores, curve=curve)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            name = f"peak memory beyond the input, times the scores: {curve}, {rows_of(n)}{kind}"
            peaks.append(Row.judge(name, peak / problem.scores.nbytes, "<= 2"))
        yield peaks[0]
        yield max(peaks[1:], key=lambda row: row.value)


def many_classes(quick: bool, watch: Stopwatch) -> Iterator[Row]:
    """Time the biases of 30 classes, all together."""
    n = 600 if quick else 100_000
    rng = np.random.default_rng(SEED)
    share = 1.0 / np.arange(1, N_CLASSES + 1)
    y = rng.choice(N_CLASSES, n, p=share / share.sum())
    scores = rng.standard_normal((n, N_CLASSES))
    scores[np.arange(n), y] += 2.0
    shifted = BoundShiftClassifier(Margins(N_CLASSES), cv="prefit")
    runs: Contenders = {"biases": partial(shifted.fit, scores, y)}
    best = watch.race(f"{N_CLASSES} classes, {rows_of(n)}", runs, 1 if quick else 2)
    name = f"seconds for the biases of {N_CLASSES} classes: {rows_of(n)}"
    yield Row.judge(name, best["biases"], "<= 2")


def predict_overhead(quick: bool, watch: Stopwatch) -> Iterator[Row]:
    """Race a linear model, the fastest there is, with and without a moved boundary."""
    n = 20_000 if quick else 1_000_000
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, 20))
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 1.5).astype(int)
    bare = LogisticRegression().fit(X[:5000], y[:5000])
    shifted = BoundShiftClassifier(bare, cv="prefit").fit(X[:5000], y[:5000])
    runs: Contenders = {"bare": partial(bare.predict, X), "shifted": partial(shifted.predict, X)}
    best = watch.race(f"predict, {rows_of(n)}", runs, 3 if quick else 15)
    percent = 100 * (best["shifted"] / best["bare"] - 1)
    name = f"percent that predict takes longer, logistic regression: {rows_of(n)}"
    yield Row.judge(name, percent, "< 100" if quick else "< 5")


def start_up(quick: bool, watch: Stopwatch) -> Iterator[Row]:
    """Compare whole processes: ours, and one that does nothing but import scikit-learn."""
    goals = {"import boundshift": "<= 0.65", "boundshift --help": "<= 0.9"}
    commands = {
        "import sklearn": ("-c", "import sklearn"),
        "import boundshift": ("-c", "import boundshift"),
        "boundshift --help": ("-m", "boundshift", "--help"),
    }
    runs: Contenders = {
        name: partial(subprocess.run, [sys.executable, *words], check=True, capture_output=True)
        for name, words in commands.items()
    }
    if not quick:
        for run in runs.values():  # files that nobody has read yet would count for the first
            run()
    best = watch.race("start-up", runs, 1 if quick else 15)
    for name, goal in goals.items():
        yield Row.judge(f"times import sklearn: {name}", best[name] / best["import sklearn"], goal)


def collect(quick: bool) -> Facts:
    watch, warm = Stopwatch(), Problem.draw(1_000)
    find_boundary(warm.y, warm.scores)
    parts = (run_races, growth, memory, many_classes, predict_overhead, start_up)
    rows = [asdict(row) for part in parts for row in part(quick, watch)]
    return {"rows": rows, "seconds": watch.seconds}


def judged_table(facts: Facts) -> str:
    """Lay out every figure beside its goal."""
    lines = ["| | measured | goal | met |", "|---|---:|---|---|"]
    for row in facts["rows"]:
        goal = row["goal"].replace(">=", "≥").replace("<=", "≤")
        met = "yes" if row["met"] else "no"
        lines.append(f"| {row['name']} | {row['value']:.3g} | {goal} | {met} |")
    return "\n".join(lines)


EXPERIMENT = Experiment(collect, lambda facts: {"speed": judged_table(facts)}, home="docs/speed.md")
