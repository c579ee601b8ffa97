"""Which seeds are run, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lab.harness.cache import Progress, say_nothing
from lab.reproduction.cache import ReproductionCache, Run
from lab.reproduction.collect import MODELS, ModelName
from lab.reproduction.fitted import FittedSeed, SlackKind
from lab.reproduction.methods import METHODS, PAPER_METHOD
from lab.reproduction.problems import Problem, Protocol
from lab.reproduction.rows import Row, evaluate, read_rows, write_rows

__all__ = ["run_protocol"]

# The authors' loop has no end where no seed is ever solved.
_MOST_SEEDS_PER_WANTED = 40


@dataclass(frozen=True)
class _Setting:
    """What all seeds of a run share."""

    protocol: Protocol
    slack: SlackKind
    cache: ReproductionCache
    jobs: int
    progress: Progress

    def run(self, problem: Problem, seed: int, model: ModelName = "untouched") -> Run:
        """Return one training."""
        return Run(problem, self.protocol, seed, model)

    def train(self, runs: Sequence[Run]) -> None:
        """Train what is not in the cache."""
        self.cache.fill(runs, jobs=self.jobs, progress=self.progress)

    def evaluate(
        self,
        problem: Problem,
        seed: int,
        kept: bool,
        names: Iterable[str],
        models: Sequence[ModelName],
    ) -> list[Row]:
        """Let some methods decide on the scores of some models, or on what stood in the way."""
        found = {model: self.cache.attempt(self.run(problem, seed, model)) for model in models}
        fitted = FittedSeed(found, self.slack)
        run = {"protocol": self.protocol, "problem": problem.name, "seed": seed, "kept": kept}
        return [evaluate(fitted, METHODS[name], **run) for name in names]


def run_protocol(
    problems: Sequence[Problem],
    protocol: Protocol,
    *,
    slack: SlackKind,
    seeds: int,
    cache: ReproductionCache,
    jobs: int = 1,
    progress: Progress = say_nothing,
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
    cache : ReproductionCache
        Where fitted scores are.
    jobs : int, default=1
        Trainings at a time.
    progress : callable
        Told what is going on.
    """
    setting = _Setting(protocol, slack, cache, jobs, progress)
    choose = _until_solved if protocol == "paper" else _fixed
    chosen = {p.name: choose(p, seeds, setting) for p in problems}
    setting.train([setting.run(p, s, m) for p in problems for s in chosen[p.name] for m in MODELS])
    rows: list[Row] = []
    total = sum(len(c) for c in chosen.values())
    for problem in problems:
        for seed, kept in chosen[problem.name].items():
            progress("deciding", len(rows) // len(METHODS), total)
            rows += _rows_of_seed(problem, seed, kept, setting)
    progress("deciding", total, total)
    return rows


def _fixed(problem: Problem, seeds: int, setting: _Setting) -> dict[int, bool]:
    """Return a fixed list of seeds, all kept."""
    return dict.fromkeys(range(seeds), True)


def _until_solved(problem: Problem, seeds: int, setting: _Setting) -> dict[int, bool]:
    """Return seeds in order, and which are kept, until enough are solved."""
    kept: dict[int, bool] = {}
    while (missing := seeds - sum(kept.values())) and len(kept) < seeds * _MOST_SEEDS_PER_WANTED:
        batch = range(len(kept), len(kept) + missing)
        setting.train([setting.run(problem, seed) for seed in batch])
        for seed in batch:
            kept[seed] = _is_solved(problem, seed, setting)
    return kept


def _is_solved(problem: Problem, seed: int, setting: _Setting) -> bool:
    """Say whether the paper's method has a solution on a seed."""
    (row,) = setting.evaluate(problem, seed, True, [PAPER_METHOD], ["untouched"])
    return row.solved


def _rows_of_seed(problem: Problem, seed: int, kept: bool, setting: _Setting) -> list[Row]:
    """Return one row a method, as stored where the same code has decided before."""
    stored = setting.cache.rows_path(setting.run(problem, seed), setting.slack)
    if stored.is_file():
        return [replace(row, kept=kept) for row in read_rows(stored)]
    rows = setting.evaluate(problem, seed, kept, METHODS, MODELS)
    if all(row.status != "FAILED" for row in rows):
        write_rows(stored, rows, digits=17)
    return rows
