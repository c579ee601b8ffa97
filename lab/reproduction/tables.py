"""The paper's tables, and ours beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from lab.harness.methods import Group
from lab.harness.statistics import compare
from lab.harness.tables import Cell, Estimate, Number, Section, Table, p_value
from lab.reproduction.methods import (
    DEFAULT,
    PAPER_METHOD,
    PRINTED,
    by_group,
    post_hoc_rivals,
    title_of,
)
from lab.reproduction.printed import Printed, printed_datasets, printed_value
from lab.reproduction.problems import PROBLEMS, Problem, Protocol
from lab.reproduction.summary import Results

__all__ = [
    "comparison_table",
    "dataset_table",
    "deviation_table",
    "result_table",
]

_SHOWN = {"accuracy": "Accuracy", "g_mean": "G-Mean", "f1": "F1"}
_TOLERANCE = 0.01


_GROUPS: dict[Group, str] = {
    "paper": "The paper's methods",
    "rival": "Rivals beyond the paper",
    "ours": "This library",
}


def result_table(results: Results, problem: str, groups: Sequence[Group] = tuple(_GROUPS)) -> Table:
    """Return the paper's table of one problem, with the printed values, and then the others.

    Parameters
    ----------
    results : Results
        What was run.
    problem : str
        Which problem.
    groups : sequence of {"paper", "rival", "ours"}, default=all
        Blocks of methods to show.
    """
    header = ["Method"]
    for title in _SHOWN.values():
        header += [title, "paper", "Δ"]
    return Table(
        name=f"{problem}-{results.protocol}-{results.slack}",
        caption=_caption(results, problem, results.known(m for g in groups for m in by_group(g))),
        header=(*header, "Solved"),
        sections=tuple(
            _section(results, problem, _GROUPS[g], results.known(by_group(g))) for g in groups
        ),
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


def _section(results: Results, problem: str, title: str, methods: Sequence[str]) -> Section:
    """Return one block of methods."""
    best = {metric: results.best(problem, methods, metric) for metric in _SHOWN}
    return Section(title, tuple(_line(results, problem, m, best) for m in methods))


def _line(results: Results, problem: str, method: str, best: dict[str, str]) -> tuple[Cell, ...]:
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
    sections = [Section(_title(p), tuple(_deviations(results, p))) for p in results.problems]
    return Table(
        name=f"deviations-{results.protocol}-{results.slack}",
        caption=f"Means that differ from the printed ones by more than {_TOLERANCE:.2f}, protocol "
        f"{results.protocol}, {results.slack} slack, with the reproduced standard error.",
        header=("Method", "Metric", "Reproduced", "Paper", "Δ", "Standard error"),
        sections=tuple(section for section in sections if section.lines),
    )


def _deviations(results: Results, problem: str) -> Iterable[tuple[Cell, ...]]:
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
    """Return paired differences of one of our methods to the best rival that trains nothing.

    The best rival is the one with the highest mean of that metric, chosen after the fact, which
    favours it.
    """
    sections = [Section(_title(p), tuple(_compared(results, p, ours))) for p in results.problems]
    return Table(
        name=f"comparison-{ours}-{results.protocol}-{results.slack}",
        caption=f"{title_of(ours)} less the best post-hoc rival, seed by seed, protocol "
        f"{results.protocol}, {results.slack} slack; two-sided Wilcoxon signed-rank test.",
        header=("Metric", "boundshift", "Best rival", "Rival", "Difference", "Win/tie/loss", "p"),
        sections=tuple(sections),
    )


def _compared(results: Results, problem: str, ours: str) -> Iterable[tuple[Cell, ...]]:
    """Yield one line a metric."""
    for metric, title in _SHOWN.items():
        rival = results.best(problem, post_hoc_rivals(), metric)
        mean, other = (results.mean(problem, name, metric) for name in (ours, rival))
        pair = compare(
            results.values(problem, ours, metric), results.values(problem, rival, metric)
        )
        yield (
            title,
            Estimate(mean, mean.mean >= other.mean),
            title_of(rival),
            Estimate(other, other.mean > mean.mean),
            Number(pair.difference.mean, signed=True),
            f"{pair.wins}/{pair.ties}/{pair.losses}",
            p_value(pair.p_value),
        )


def dataset_table(problems: Iterable[Problem], protocol: Protocol) -> Table:
    """Return sizes of the problems as they are split, beside the printed ones."""
    lines = tuple(_sizes(problem, protocol) for problem in problems)
    return Table(
        name="datasets",
        caption="Data sets: attributes, instances, and negative/positive rows of the random "
        "training and test parts, with the paper's figures in brackets where they differ.",
        header=("Data set", "Attributes", "Instances", "Train (N/P)", "Test (N/P)"),
        sections=(Section("", lines),),
    )


def _sizes(problem: Problem, protocol: Protocol) -> tuple[Cell, ...]:
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
