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
from scipy.special import expit
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import (
    BoundShiftClassifier,
    find_boundaries,
    find_boundary,
    threshold_interval,
)
from boundshift._typing import FloatArray, IntArray
from lab.claims.simulation import Margins
from lab.experiment import Experiment, Facts, quiet
from lab.markdown import table

Contenders = dict[str, Callable[[], object]]

SEED = 0
JUDGED_ROWS = 1_000_000
CLASSES = (3, 10, 30)
# Each curve with the most that it may take, in times of splitting and sorting; the default first.
SPEED_CURVES = {
    "blend": 2.5,
    "logistic": 3,
    "smoothed": 3,
    "empirical": 1.5,
    "clopper-pearson": 15,
    "support": 15,
    "paper": 15,
}
F1_MOST = 3
SHARES = {"": 0.01, ", balanced": 0.5}
# No goals: a table shows none.
LOOSE_LEAST = ">= 0.01"
LOOSE_MOST = "<= 10000"


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


def draw(n_rows: int, positive_share: float = 0.01) -> tuple[IntArray, FloatArray]:
    """Draw labels, and scores of two normal samples four standard deviations apart."""
    rng = np.random.default_rng(SEED)
    y = np.zeros(n_rows, dtype=np.int64)
    y[: max(int(n_rows * positive_share), 10)] = 1
    rng.shuffle(y)
    return y, rng.standard_normal(n_rows) + 4.0 * y


def race(contenders: Contenders, repeats: int) -> dict[str, float]:
    """Let contenders take turns; return the best time of each."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(repeats):
        for key, run in contenders.items():
            start = time.perf_counter()
            run()
            best[key] = min(best[key], time.perf_counter() - start)
    return best


def rows_of(n: int) -> str:
    return f"{n:,} rows"


class _Scored(Margins):
    """Margins as scikit-learn's tuner wants them: a column of features, and labels."""

    def decision_function(self, X: Any) -> Any:
        """Return the only feature."""
        return X[:, 0]

    def predict(self, X: Any) -> Any:
        """Return the labels."""
        return (X[:, 0] > 0).astype(np.int64)


def tuner(quick: bool) -> Iterator[Row]:
    """Race scikit-learn's tuner, prefit against prefit."""
    tuned = TunedThresholdClassifierCV(
        FrozenEstimator(_Scored()), cv="prefit", refit=False, scoring="balanced_accuracy"
    )
    for n, repeats in ({10_000: 1} if quick else {10_000: 7, 100_000: 5, 1_000_000: 3}).items():
        y, s = draw(n)
        shifted = BoundShiftClassifier(Margins(), cv="prefit")
        runs: Contenders = {
            "tuner": partial(tuned.fit, s[:, None], y),
            "find_boundary": partial(find_boundary, y, s),
            "find_boundary, F1": partial(find_boundary, y, s, rule="f1"),
            "find_boundary, clopper-pearson": partial(find_boundary, y, s, curve="clopper-pearson"),
            "find_boundary, paper": partial(find_boundary, y, s, curve="paper"),
            "BoundShiftClassifier": partial(shifted.fit, s, y),
        }
        best = race(runs, repeats)
        for name in [*runs][1:]:
            title = f"times faster than TunedThresholdClassifierCV: {name}, {rows_of(n)}"
            yield Row.judge(title, best["tuner"] / best[name], _goal(">= 100", n))


def cutoffs(quick: bool) -> Iterator[Row]:
    """Race optimal-classification-cutoffs for F1, where it is installed."""
    package = "optimal-classification-cutoffs"
    try:
        from optimal_cutoffs import get_optimal_threshold
    except ImportError:
        return
    n = 10_000 if quick else 1_000_000
    for kind, share in SHARES.items():
        y, s = draw(n, share)
        p = expit(s - 4.0)
        runs: Contenders = {
            "theirs": partial(get_optimal_threshold, y, p, metric="f1", comparison=">"),
            "ours": partial(find_boundary, y, p, curve="empirical", rule="f1"),
        }
        best = race(runs, 1 if quick else 7)
        title = f"times faster than {package}: F1, {rows_of(n)}{kind}"
        yield Row.judge(title, best["theirs"] / best["ours"], _goal(">= 5", n))


def split_and_sort(y: IntArray, s: FloatArray) -> None:
    """Do what every exact method must do: split the scores by class, and sort both parts."""
    for part in (s[y != 1], s[y == 1]):
        part.sort()


def sorting(quick: bool) -> Iterator[Row]:
    """Race splitting and sorting with every curve, and with F1."""
    for n, repeats in ({10_000: 1} if quick else {1_000_000: 15, 10_000_000: 5}).items():
        for kind, share in SHARES.items():
            problem = draw(n, share)
            runs: Contenders = {"sort": partial(split_and_sort, *problem)}
            runs |= {c: partial(find_boundary, *problem, curve=c) for c in SPEED_CURVES}
            runs["F1"] = partial(find_boundary, *problem, rule="f1")
            best = race(runs, repeats)
            for name, most in {**SPEED_CURVES, "F1": F1_MOST}.items():
                title = f"times split and sort: {name}, {rows_of(n)}{kind}"
                yield Row.judge(title, best[name] / best["sort"], _goal(f"<= {most}", n))


def groups(quick: bool) -> Iterator[Row]:
    """Race loops of `find_boundary`, and time many small groups.

    A plain loop looks for the rows of each group; the other one gets them for nothing.
    """

    def decide_each(parts: list[tuple[IntArray, FloatArray]]) -> None:
        for y, s in parts:
            find_boundary(y, s)

    def loop(y: IntArray, s: FloatArray, group: IntArray) -> None:
        for number in np.unique(group):
            is_own = group == number
            find_boundary(y[is_own], s[is_own])

    sizes = {10: 100_000, 100: 10_000, 1_000: 1_000, 10_000: 100}
    for n_groups, n_rows in ({5: 1_000} if quick else sizes).items():
        y, s = draw(n_groups * n_rows, 0.2)
        group = np.repeat(np.arange(n_groups), n_rows)
        parts = list(zip(np.split(y, n_groups), np.split(s, n_groups), strict=True))
        runs: Contenders = {
            "loop": partial(loop, y, s, group),
            "decisions alone": partial(decide_each, parts),
            "groups": partial(find_boundaries, y, s, group),
        }
        with quiet():  # of small groups
            best = race(runs, 1 if quick else 2)
        size = f"{n_groups:,} groups of {rows_of(n_rows)}"
        for name, goal in {"loop": "<= 1", "decisions alone": "<= 2"}.items():
            title = f"times find_boundary for each group, {name}: find_boundaries, {size}"
            yield Row.judge(title, best["groups"] / best[name], LOOSE_MOST if quick else goal)
    n_groups = 100 if quick else 100_000
    y, s = draw(10 * n_groups)
    runs = {"groups": partial(find_boundaries, y, s, np.repeat(np.arange(n_groups), 10))}
    with quiet():  # of groups with one positive row
        seconds = race(runs, 1)["groups"]
    name = f"seconds for find_boundaries: {n_groups:,} groups of 10 rows, 1% positive"
    yield Row.judge(name, seconds, "<= 5")


def interval(quick: bool) -> Iterator[Row]:
    n = 1_000 if quick else 1_000_000
    problem = draw(n)
    runs: Contenders = {
        "decision": partial(find_boundary, *problem),
        "interval": partial(threshold_interval, *problem),
    }
    best = race(runs, 1 if quick else 3)
    title = f"times find_boundary: threshold_interval, {rows_of(n)}"
    yield Row.judge(title, best["interval"] / best["decision"], _goal("<= 20", n))


def _goal(goal: str, n: int) -> str:
    """Return the goal, which is for many rows; below, a loose one only catches accidents."""
    if n >= JUDGED_ROWS:
        return goal
    return LOOSE_LEAST if ">" in goal else LOOSE_MOST


def memory(quick: bool) -> Iterator[Row]:
    """Peak of what is allocated during the call, beyond the labels and scores given."""
    n = 10_000 if quick else 10_000_000
    for kind, share in SHARES.items():
        problem = draw(n, share)
        peaks = []
        for curve in SPEED_CURVES:
            tracemalloc.start()
            find_boundary(*problem, curve=curve)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            name = f"peak memory beyond the input, times the scores: {curve}, {rows_of(n)}{kind}"
            peaks.append(Row.judge(name, peak / problem[1].nbytes, "<= 2"))
        yield peaks[0]
        yield max(peaks[1:], key=lambda row: row.value)


def many_classes(quick: bool) -> Iterator[Row]:
    """Race sorting the scores of every class with finding a bias for each."""
    n = 600 if quick else 100_000
    rng = np.random.default_rng(SEED)
    for n_classes in CLASSES[:1] if quick else CLASSES:
        share = 1.0 / np.arange(1, n_classes + 1)
        y = rng.choice(n_classes, n, p=share / share.sum())
        scores = rng.standard_normal((n, n_classes))
        scores[np.arange(n), y] += 2.0
        shifted = BoundShiftClassifier(Margins(n_classes), cv="prefit")
        runs: Contenders = {
            "sort": partial(np.sort, scores, axis=0),
            "biases": partial(shifted.fit, scores, y),
        }
        with quiet():  # of rare classes, if rows are few
            best = race(runs, 1 if quick else 3)
        name = f"times sorting the scores: biases of {n_classes} classes, {rows_of(n)}"
        yield Row.judge(name, best["biases"] / best["sort"], LOOSE_MOST)


def reports(quick: bool) -> Iterator[Row]:
    """Race splitting and sorting with the report of a classifier."""
    for n, repeats in ({1_000: 1} if quick else {10_000: 3, 100_000: 3, 1_000_000: 2}).items():
        y, s = draw(2 * n)
        shifted = BoundShiftClassifier(Margins(), cv="prefit").fit(s[:n], y[:n])
        runs: Contenders = {
            "sort": partial(split_and_sort, y[n:], s[n:]),
            "report": partial(shifted.report, s[n:], y[n:]),
        }
        with quiet():
            best = race(runs, repeats)
        name = f"times split and sort: report, {rows_of(n)}"
        yield Row.judge(name, best["report"] / best["sort"], LOOSE_MOST)


def predict_overhead(quick: bool) -> Iterator[Row]:
    """Race a linear model, the fastest there is, with and without a moved boundary."""
    n = 20_000 if quick else 1_000_000
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((n, 20))
    y = (X[:, 0] + 0.5 * rng.standard_normal(n) > 1.5).astype(int)
    bare = LogisticRegression().fit(X[:5000], y[:5000])
    shifted = BoundShiftClassifier(bare, cv="prefit").fit(X[:5000], y[:5000])
    runs: Contenders = {"bare": partial(bare.predict, X), "shifted": partial(shifted.predict, X)}
    best = race(runs, 3 if quick else 15)
    percent = 100 * (best["shifted"] / best["bare"] - 1)
    name = f"percent that predict takes longer, logistic regression: {rows_of(n)}"
    yield Row.judge(name, percent, "< 100" if quick else "< 5")


def start_up(quick: bool) -> Iterator[Row]:
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
    best = race(runs, 1 if quick else 15)
    for name, goal in goals.items():
        yield Row.judge(f"times import sklearn: {name}", best[name] / best["import sklearn"], goal)


def collect(quick: bool) -> Facts:
    find_boundary(*draw(1_000))  # warm
    parts = (
        tuner,
        cutoffs,
        sorting,
        groups,
        interval,
        memory,
        many_classes,
        reports,
        predict_overhead,
        start_up,
    )
    return {"rows": [asdict(row) for part in parts for row in part(quick)]}


def judged_table(facts: Facts) -> str:
    return table("figure | measured | goal | met", [_line(row) for row in facts["rows"]])


def _line(row: Facts) -> tuple[str, str, str, str]:
    if row["goal"] in (LOOSE_LEAST, LOOSE_MOST):
        return row["name"], _shown(row), "–", "–"
    goal = row["goal"].replace(">=", "≥").replace("<=", "≤")
    return row["name"], _shown(row), goal, "yes" if row["met"] else "no"


def _shown(row: dict[str, Any]) -> str:
    """Return a measured value; one that misses its goal by less than it is rounded is marked."""
    text = f"{row['value']:.3g}"
    goal = row["goal"].split()[-1]
    if row["met"] or float(text) != float(goal):
        return text
    return f"just above {text}" if row["goal"].startswith("<") else f"just below {text}"


EXPERIMENT = Experiment(
    collect, lambda facts: {"speed": judged_table(facts)}, home="docs/evidence/speed_and_scale.md"
)
