"""Which seeds are run, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from joblib import Parallel, delayed

from lab.reproduction.cache import ScoreCache
from lab.reproduction.collect import MODELS, FittedScores, ModelName
from lab.reproduction.decisions import SlackKind
from lab.reproduction.methods import METHODS, PAPER_METHOD, Method
from lab.reproduction.problems import Problem, Protocol
from lab.reproduction.rows import Row, evaluate, failed_row, read_rows, write_rows

__all__ = ["Progress", "Run", "run_protocol"]

Progress = Callable[[str, int, int], None]
"""Called with what is going on, how many steps are done, and how many there are."""

# The authors' loop has no end where no seed is ever solved.
_MOST_SEEDS_PER_WANTED = 40


class Run(NamedTuple):
    """One training."""

    problem: Problem
    seed: int
    model: ModelName


@dataclass(frozen=True)
class _Setting:
    """What all trainings of a run share."""

    protocol: Protocol
    cache: ScoreCache
    jobs: int
    progress: Progress


def run_protocol(
    problems: Sequence[Problem],
    protocol: Protocol,
    *,
    slack: SlackKind,
    seeds: int,
    cache: ScoreCache,
    jobs: int = 1,
    progress: Progress = lambda what, done, total: None,
) -> list[Row]:
    """Run all methods on every seed of a protocol.

    Parameters
    ----------
    problems : sequence of Problem
        What to run.
    protocol : {"paper", "honest"}
        "paper" takes the authors' splits of the seeds 0, 1, 2, … until `seeds` of them are solved
        by the paper's method; the others are rows with ``kept=False``. "honest" takes the seeds
        0 to `seeds` − 1 and keeps them all.
    slack : {"binary", "continuous"}
        Kind of slack.
    seeds : int
        How many.
    cache : ScoreCache
        Where fitted scores are.
    jobs : int, default=1
        Trainings at a time.
    progress : callable
        Told what is going on.
    """
    setting = _Setting(protocol, cache, jobs, progress)
    choose = _until_solved if protocol == "paper" else _fixed
    chosen = {p.name: choose(p, seeds, slack, setting) for p in problems}
    _train([Run(p, s, m) for p in problems for s in chosen[p.name] for m in MODELS], setting)
    rows: list[Row] = []
    total = sum(len(c) for c in chosen.values())
    for problem in problems:
        for seed, kept in chosen[problem.name].items():
            progress("deciding", len(rows) // len(METHODS), total)
            rows += _rows_of_seed(problem, seed, kept, slack, setting)
    progress("deciding", total, total)
    return rows


def _fixed(problem: Problem, seeds: int, slack: SlackKind, setting: _Setting) -> dict[int, bool]:
    """Return a fixed list of seeds, all kept."""
    return dict.fromkeys(range(seeds), True)


def _until_solved(
    problem: Problem, seeds: int, slack: SlackKind, setting: _Setting
) -> dict[int, bool]:
    """Return seeds in order, and which are kept, until enough are solved."""
    kept: dict[int, bool] = {}
    while (missing := seeds - sum(kept.values())) and len(kept) < seeds * _MOST_SEEDS_PER_WANTED:
        batch = range(len(kept), len(kept) + missing)
        _train([Run(problem, seed, "untouched") for seed in batch], setting)
        for seed in batch:
            kept[seed] = _is_solved(problem, seed, slack, setting)
    return kept


def _is_solved(problem: Problem, seed: int, slack: SlackKind, setting: _Setting) -> bool:
    """Say whether the paper's method has a solution on a seed."""
    fitted = _fitted(Run(problem, seed, "untouched"), setting.cache, setting.protocol)
    if isinstance(fitted, Exception):
        return False
    return METHODS[PAPER_METHOD].decide(fitted, slack).solved


def _train(runs: Iterable[Run], setting: _Setting) -> None:
    """Train what is not in the cache; what fails is tried again, and reported, by its row."""
    cache, protocol = setting.cache, setting.protocol
    absent = [r for r in runs if not cache.has(r.problem, protocol, r.seed, r.model)]
    parallel = Parallel(setting.jobs, return_as="generator_unordered")
    trained = parallel(delayed(_store)(run, cache, protocol) for run in absent)
    for done, _ in enumerate(trained, 1):
        setting.progress("training", done, len(absent))


def _store(run: Run, cache: ScoreCache, protocol: Protocol) -> None:
    """Train in a process of its own; progress stays behind, since a terminal cannot be sent."""
    _fitted(run, cache, protocol)


def _fitted(run: Run, cache: ScoreCache, protocol: Protocol) -> FittedScores | Exception:
    """Return fitted scores, or the error that stood in the way."""
    try:
        return cache.make(run.problem, protocol, run.seed, run.model)
    except Exception as error:
        return error


def _rows_of_seed(
    problem: Problem, seed: int, kept: bool, slack: SlackKind, setting: _Setting
) -> list[Row]:
    """Return one row a method, as stored where the same code has decided before."""
    cache, protocol = setting.cache, setting.protocol
    stored = cache.rows_path(problem, protocol, seed, slack)
    if stored.is_file():
        return [replace(row, kept=kept) for row in read_rows(stored)]
    fitted = {model: _fitted(Run(problem, seed, model), cache, protocol) for model in MODELS}
    run = {"protocol": protocol, "problem": problem.name, "seed": seed, "kept": kept}
    rows = [_row(fitted[m.model], m, slack, run) for m in METHODS.values()]
    if all(row.status != "FAILED" for row in rows):
        write_rows(stored, rows, digits=17)
    return rows


def _row(
    fitted: FittedScores | Exception, method: Method, slack: SlackKind, run: dict[str, object]
) -> Row:
    """Return the row of one method."""
    if isinstance(fitted, Exception):
        return failed_row(method, slack, fitted, **run)
    return evaluate(fitted, method, slack, **run)
