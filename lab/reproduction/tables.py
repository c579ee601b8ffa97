"""Tidy rows of the reproduction, and the paper's tables beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from boundshift._typing import FloatArray
from lab.markdown import Cell, Estimate, Line, Number, Table, p_value
from lab.reproduction.decisions import Group, Row
from lab.reproduction.methods import (
    DEFAULT,
    METHODS,
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


_DATA = Path(__file__).parent / "data"


@cache
def _printed_means() -> dict[tuple[str, ...], float]:
    """Return the mean over ten seeds of every printed cell, digits cut off."""
    table = pd.read_csv(_DATA / "printed_tables.csv", index_col=[0, 1, 2, 3])
    return dict(table["mean"].items())


def printed_mean(slack: str, problem: str, method: str, metric: str) -> float | None:
    """Return what the paper prints, None where it prints nothing.

    The synthetic table is printed once, for binary slack; it is set beside both kinds, and beside
    scaled and raw features.

    Examples
    --------
    >>> printed_mean("binary", "pima", "paper-exact", "g_mean")
    0.651
    """
    if problem.startswith("synthetic"):
        slack = "binary"
        problem = "synthetic"
    return _printed_means().get((slack, problem, PRINTED.get(method, method), metric))


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
    "baseline": "Baselines beyond the paper",
    "ours": "This library",
}


def _title(problem: str) -> str:
    return PROBLEMS[problem].title if problem in PROBLEMS else "MIMIC ICU"


def result_table(results: Results, problem: str, groups: Sequence[Group] = tuple(_GROUPS)) -> Table:
    """Return the paper's table of one problem, with the printed values, and then the others."""
    header = ["Method"]
    for title in _SHOWN.values():
        header += [title, "paper", "Δ"]
    sections = {}
    for group in groups:
        methods = results.known(by_group(group))
        best = {metric: results.best(problem, methods, metric) for metric in _SHOWN}
        sections[_GROUPS[group]] = [_line(results, problem, m, best) for m in methods]
    return Table(_caption(results, problem, groups), (*header, "Solved"), sections)


def _caption(results: Results, problem: str, groups: Sequence[Group]) -> str:
    """Say how many seeds stand behind the numbers."""
    counts = results.counts(problem, PAPER_METHOD)
    seeds = (
        f"the authors' seeds until {counts.kept} are solved: {counts.tried} tried, "
        f"{counts.tried - counts.kept} dropped"
        if results.protocol == "paper"
        else f"{counts.tried} seeds, all kept; where the paper's method has no solution, the "
        "untouched model decides"
    )
    methods = results.known(m for g in groups for m in by_group(g))
    failed = sum(results.counts(problem, name).failed for name in methods)
    failures = f"; {failed} failed runs, left out of the means" if failed else ""
    return (
        f"{_title(problem)}, protocol {results.protocol}, {results.slack} slack ({seeds}). Mean ± "
        f"standard deviation, the paper's printed mean, and the difference; best of each block in "
        f"bold{failures}."
    )


def _line(results: Results, problem: str, method: str, best: dict[str, str]) -> Line:
    cells: list[Cell] = [title_of(method)]
    for metric in _SHOWN:
        mean = results.mean(problem, method, metric)
        printed = printed_mean(results.slack, problem, method, metric)
        difference = None if printed is None else mean.mean - printed
        cells += [Estimate(mean, best[metric] == method), Number(printed)]
        cells.append(Number(difference, signed=True))
    counts = results.counts(problem, method)
    return (*cells, f"{counts.solved}/{counts.tried}")


def deviation_table(results: Results) -> Table:
    """Return every mean that differs from the printed one by more than .01."""
    sections: dict[str, list[Line]] = {}
    for problem, method in product(results.problems, by_group("paper")):
        for metric, title in _SHOWN.items():
            mean = results.mean(problem, method, metric)
            printed = printed_mean(results.slack, problem, method, metric)
            if printed is not None and abs(mean.mean - printed) > _TOLERANCE:
                difference = Number(mean.mean - printed, signed=True)
                numbers = Number(mean.mean), Number(printed), difference
                error = Number(mean.standard_error)
                line = (title_of(method), title, *numbers, error)
                sections.setdefault(_title(problem), []).append(line)
    return Table(
        f"Means that differ from the printed ones by more than {_TOLERANCE:.2f}, protocol "
        f"{results.protocol}, {results.slack} slack, with the reproduced standard error.",
        ("Method", "Metric", "Reproduced", "Paper", "Δ", "Standard error"),
        sections,
    )


def comparison_table(results: Results, ours: str = DEFAULT) -> Table:
    """Return paired differences of one of our methods to the best baseline that trains nothing.

    The best baseline is the one with the highest mean of that metric, chosen after the fact, which
    favours it.
    """
    sections: dict[str, list[Line]] = {}
    for problem, (metric, title) in product(results.problems, _SHOWN.items()):
        best = results.best(problem, post_hoc_baselines(), metric)
        mean, other = (results.mean(problem, name, metric) for name in (ours, best))
        pair = compare(results.values(problem, ours, metric), results.values(problem, best, metric))
        line = (
            title,
            Estimate(mean, mean.mean >= other.mean),
            title_of(best),
            Estimate(other, other.mean > mean.mean),
            Number(pair.difference.mean, signed=True),
            f"{pair.wins}/{pair.ties}/{pair.losses}",
            p_value(pair.p_value),
        )
        sections.setdefault(_title(problem), []).append(line)
    return Table(
        f"{title_of(ours)} less the best post-hoc baseline, seed by seed, protocol "
        f"{results.protocol}, {results.slack} slack; two-sided Wilcoxon signed-rank test.",
        ("Metric", "boundshift", "Best baseline", "Its mean", "Difference", "Win/tie/loss", "p"),
        sections,
    )


def _size_cells(sizes: Sequence[int]) -> list[str]:
    """Return attributes, instances, and negative/positive rows of both parts as text."""
    attributes, instances, train_negative, train_positive, test_negative, test_positive = sizes
    return [
        str(attributes),
        str(instances),
        f"{train_negative}/{train_positive}",
        f"{test_negative}/{test_positive}",
    ]


def dataset_table(problems: Iterable[Problem], protocol: Protocol) -> Table:
    """Return sizes of the problems as they are split, beside the printed ones."""
    printed = pd.read_csv(_DATA / "printed_datasets.csv", index_col=0)
    lines = []
    for problem in problems:
        split = problem.split(0, protocol)
        train = np.bincount(split.y_train).tolist()
        test = np.bincount(split.y_test).tolist()
        ours = _size_cells([split.X_train.shape[1], sum(train) + sum(test), *train, *test])
        theirs = ours
        if problem.name in printed.index:
            theirs = _size_cells(printed.loc[problem.name].tolist())
        cells = [a if a == b else f"{a} ({b})" for a, b in zip(ours, theirs, strict=True)]
        lines.append((problem.title, *cells))
    return Table(
        "Data sets: attributes, instances, and negative/positive rows of the random training and "
        "test parts, with the paper's figures in brackets where they differ.",
        ("Data set", "Attributes", "Instances", "Train (N/P)", "Test (N/P)"),
        {"": lines},
    )


def ranking_table(results: Results, problems: Sequence[str]) -> Table:
    """Return the means of every post-hoc method on some problems, and over them."""
    methods = results.known([m.name for m in METHODS.values() if m.post_hoc])
    sections = {}
    for metric, title in (("g_mean", "G-mean"), ("f1", "F1")):
        best = {p: results.best(p, methods, metric) for p in problems}
        lines: list[Line] = []
        for name in methods:
            means = [results.mean(p, name, metric) for p in problems]
            over = sum(m.mean for m in means) / len(problems)
            cells = [Estimate(m, best[p] == name) for p, m in zip(problems, means, strict=True)]
            solved = [results.counts(p, name) for p in problems]
            share = sum(c.solved for c in solved) / sum(c.tried for c in solved)
            lines.append((title_of(name), *cells, f"{over:.3f}"[1:], f"{share:.0%}"))
        sections[title] = sorted(lines, key=lambda line: str(line[-2]), reverse=True)
    return Table(
        "Every method that trains nothing, by its mean over the five problems (synthetic: scaled "
        "features), all seeds kept; best of each column in bold.",
        ("Method", *map(_title, problems), "Mean", "Solved"),
        sections,
    )
