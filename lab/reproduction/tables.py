"""Tidy rows of the reproduction, and the paper's tables beside ours."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from boundshift.typing import FloatArray
from lab.markdown import Cell, Estimate, Line, Number, Table, p_value
from lab.methods import Group, Outcome
from lab.reproduction.methods import (
    DEFAULT,
    PAPER_METHOD,
    PRINTED,
    by_group,
    post_hoc_baselines,
    title_of,
)
from lab.reproduction.problems import PROBLEMS, Problem, Protocol
from lab.statistics import Mean, compare

_SHOWN = {"accuracy": "Accuracy", "g_mean": "G-Mean", "f1": "F1"}
_TOLERANCE = 0.01
_NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row(Outcome):
    """What one method gave on one seed of a problem, beside what every outcome has.

    `kept` says whether the seed counts: in protocol "paper" only where the paper's method has a
    solution, in protocol "honest" always. `delta_negative`, `delta_positive`, `slack_negative`,
    `slack_positive` (points given up) and `loss` are of the solution, NaN where there is none.
    """

    protocol: str
    slack_kind: str
    problem: str
    kept: bool
    accuracy: float = _NAN
    delta_negative: float = _NAN
    delta_positive: float = _NAN
    slack_negative: int = 0
    slack_positive: int = 0
    loss: float = _NAN


class Printed(NamedTuple):
    """Mean and standard deviation over ten seeds, digits cut off."""

    mean: float
    sd: float


class PrintedData(NamedTuple):
    """A line of the paper's table of data sets."""

    attributes: int
    instances: int
    train: tuple[int, int]
    test: tuple[int, int]


def _records(filename: str) -> list[dict[str, str]]:
    path = Path(__file__).parent / "data" / filename
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


@cache
def _tables() -> dict[tuple[str, str, str, str], Printed]:
    """Return all result tables, by slack, problem, method and metric."""
    return {
        (r["slack"], r["problem"], r["method"], r["metric"]): Printed(
            float(r["mean"]), float(r["sd"])
        )
        for r in _records("printed_tables.csv")
    }


def printed_value(slack: str, problem: str, method: str, metric: str) -> Printed | None:
    """Return what the paper prints, None where it prints nothing.

    The synthetic table is printed once, for binary slack; it is set beside both kinds, and beside
    scaled and raw features.

    Examples
    --------
    >>> printed_value("binary", "pima", "our-method", "g_mean")
    Printed(mean=0.651, sd=0.05)
    """
    if problem.startswith("synthetic"):
        slack, problem = "binary", "synthetic"
    return _tables().get((slack, problem, method, metric))


@cache
def printed_datasets() -> dict[str, PrintedData]:
    """Return the paper's table of data sets by problem.

    Examples
    --------
    >>> printed_datasets()["heart"].train
    (82, 24)
    """
    return {
        r["problem"]: PrintedData(
            int(r["attributes"]),
            int(r["instances"]),
            (int(r["train_negative"]), int(r["train_positive"])),
            (int(r["test_negative"]), int(r["test_positive"])),
        )
        for r in _records("printed_datasets.csv")
    }


class Counts(NamedTuple):
    """How many seeds: tried, kept, solved by a method, and failed."""

    tried: int
    kept: int
    solved: int
    failed: int


class Results:
    """Tidy rows of one protocol and one kind of slack, by problem and method."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows: dict[tuple[str, str], list[Row]] = {}
        for row in rows:
            self._rows.setdefault((row.problem, row.method), []).append(row)
        first = next(iter(self._rows.values()))[0]
        self.protocol: Protocol = "paper" if first.protocol == "paper" else "honest"
        self.slack = first.slack_kind

    @property
    def problems(self) -> list[str]:
        """Return the problems, in the order of the rows."""
        return list(dict.fromkeys(problem for problem, _ in self._rows))

    def known(self, methods: Iterable[str]) -> list[str]:
        """Return those of some methods that the rows tell of."""
        there = {method for _, method in self._rows}
        return [method for method in methods if method in there]

    def values(self, problem: str, method: str, metric: str) -> FloatArray:
        """Return a metric on the kept seeds, in their order."""
        rows = self._rows[problem, method]
        return np.array([getattr(row, metric) for row in rows if row.kept], dtype=np.float64)

    def mean(self, problem: str, method: str, metric: str) -> Mean:
        """Return the mean of a metric over the kept seeds; failed ones have no value."""
        values = self.values(problem, method, metric)
        return Mean.of(values[~np.isnan(values)])

    def counts(self, problem: str, method: str) -> Counts:
        """Return how many seeds were tried, kept, solved and failed."""
        rows = self._rows[problem, method]
        return Counts(
            tried=len(rows),
            kept=sum(row.kept for row in rows),
            solved=sum(row.solved for row in rows),
            failed=sum(row.status == "FAILED" for row in rows),
        )

    def best(self, problem: str, methods: Sequence[str], metric: str) -> str:
        """Return the method with the highest mean."""
        means = [self.mean(problem, method, metric).mean for method in methods]
        return methods[int(np.nanargmax(means))]


_GROUPS: dict[Group, str] = {
    "paper": "The paper's methods",
    "rival": "Rivals beyond the paper",
    "ours": "This library",
}


def result_table(results: Results, problem: str, groups: Sequence[Group] = tuple(_GROUPS)) -> Table:
    """Return the paper's table of one problem, with the printed values, and then the others."""
    header = ["Method"]
    for title in _SHOWN.values():
        header += [title, "paper", "Δ"]
    return Table(
        caption=_caption(results, problem, results.known(m for g in groups for m in by_group(g))),
        header=(*header, "Solved"),
        sections={
            _GROUPS[g]: _section(results, problem, results.known(by_group(g))) for g in groups
        },
    )


def _title(problem: str) -> str:
    """Return a problem's name in tables."""
    return PROBLEMS[problem].title if problem in PROBLEMS else "MIMIC ICU"


def _caption(results: Results, problem: str, methods: Sequence[str]) -> str:
    """Say how many seeds stand behind the numbers."""
    counts = results.counts(problem, PAPER_METHOD)
    if results.protocol == "paper":
        seeds = (
            f"the authors' seeds until {counts.kept} are solved: {counts.tried} tried, "
            f"{counts.tried - counts.kept} dropped"
        )
    else:
        seeds = (
            f"{counts.tried} seeds, all kept; where the paper's method has no solution, the "
            "untouched model decides"
        )
    failed = sum(results.counts(problem, name).failed for name in methods)
    failures = f"; {failed} failed runs, left out of the means" if failed else ""
    return (
        f"{_title(problem)}, protocol {results.protocol}, {results.slack} slack ({seeds}). Mean ± "
        f"standard deviation, the paper's printed mean, and the difference; best of each block in "
        f"bold{failures}."
    )


def _section(results: Results, problem: str, methods: Sequence[str]) -> list[Line]:
    """Return one block of methods."""
    best = {metric: results.best(problem, methods, metric) for metric in _SHOWN}
    return [_line(results, problem, m, best) for m in methods]


def _line(results: Results, problem: str, method: str, best: dict[str, str]) -> Line:
    """Return one method's line."""
    cells: list[Cell] = [title_of(method)]
    for metric in _SHOWN:
        mean = results.mean(problem, method, metric)
        printed = _printed(results, problem, method, metric)
        cells += [
            Estimate(mean, best[metric] == method),
            Number(printed.mean if printed else None),
            Number(mean.mean - printed.mean if printed else None, signed=True),
        ]
    counts = results.counts(problem, method)
    return (*cells, f"{counts.solved}/{counts.tried}")


def _printed(results: Results, problem: str, method: str, metric: str) -> Printed | None:
    """Return what the paper prints for a method."""
    return printed_value(results.slack, problem, PRINTED.get(method, method), metric)


def deviation_table(results: Results) -> Table:
    """Return every mean that differs from the printed one by more than .01."""
    sections = {_title(p): list(_deviations(results, p)) for p in results.problems}
    return Table(
        caption=f"Means that differ from the printed ones by more than {_TOLERANCE:.2f}, protocol "
        f"{results.protocol}, {results.slack} slack, with the reproduced standard error.",
        header=("Method", "Metric", "Reproduced", "Paper", "Δ", "Standard error"),
        sections={title: lines for title, lines in sections.items() if lines},
    )


def _deviations(results: Results, problem: str) -> Iterable[Line]:
    """Yield the lines of one problem."""
    for method in by_group("paper"):
        for metric, title in _SHOWN.items():
            mean = results.mean(problem, method, metric)
            printed = _printed(results, problem, method, metric)
            if printed and abs(mean.mean - printed.mean) > _TOLERANCE:
                yield (
                    title_of(method),
                    title,
                    Number(mean.mean),
                    Number(printed.mean),
                    Number(mean.mean - printed.mean, signed=True),
                    Number(mean.standard_error),
                )


def comparison_table(results: Results, ours: str = DEFAULT) -> Table:
    """Return paired differences of one of our methods to the best baseline that trains nothing.

    The best baseline is the one with the highest mean of that metric, chosen after the fact, which
    favours it.
    """
    sections = {_title(p): list(_compared(results, p, ours)) for p in results.problems}
    return Table(
        caption=f"{title_of(ours)} less the best post-hoc rival, seed by seed, protocol "
        f"{results.protocol}, {results.slack} slack; two-sided Wilcoxon signed-rank test.",
        header=("Metric", "boundshift", "Best rival", "Rival", "Difference", "Win/tie/loss", "p"),
        sections=sections,
    )


def _compared(results: Results, problem: str, ours: str) -> Iterable[Line]:
    """Yield one line a metric."""
    for metric, title in _SHOWN.items():
        best = results.best(problem, post_hoc_baselines(), metric)
        mean, other = (results.mean(problem, name, metric) for name in (ours, best))
        pair = compare(results.values(problem, ours, metric), results.values(problem, best, metric))
        yield (
            title,
            Estimate(mean, mean.mean >= other.mean),
            title_of(best),
            Estimate(other, other.mean > mean.mean),
            Number(pair.difference.mean, signed=True),
            f"{pair.wins}/{pair.ties}/{pair.losses}",
            p_value(pair.p_value),
        )


def dataset_table(problems: Iterable[Problem], protocol: Protocol) -> Table:
    """Return sizes of the problems as they are split, beside the printed ones."""
    return Table(
        caption="Data sets: attributes, instances, and negative/positive rows of the random "
        "training and test parts, with the paper's figures in brackets where they differ.",
        header=("Data set", "Attributes", "Instances", "Train (N/P)", "Test (N/P)"),
        sections={"": [_sizes(problem, protocol) for problem in problems]},
    )


def _sizes(problem: Problem, protocol: Protocol) -> Line:
    """Return one problem's line."""
    split = problem.split(0, protocol)
    train, test = (tuple(np.bincount(y).tolist()) for y in (split.y_train, split.y_test))
    found = (split.X_train.shape[1], sum(train) + sum(test), train, test)
    printed = printed_datasets().get(problem.name, found)
    return (problem.title, *(_beside(a, b) for a, b in zip(found, printed, strict=True)))


def _beside(found: object, printed: object) -> str:
    """Write a figure, and the printed one if it is another."""
    text, other = (
        "/".join(map(str, v)) if isinstance(v, tuple) else str(v) for v in (found, printed)
    )
    return text if text == other else f"{text} ({other})"
