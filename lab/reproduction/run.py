"""One call from a problem's name to rows, tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from boundshift.exceptions import InvalidInputError
from boundshift.validation import as_choice
from boundshift.writing import write_whole
from lab.markdown import Table
from lab.methods import Decision, Method, judge
from lab.records import Progress, say_nothing, write_records
from lab.reproduction.methods import DEFAULT, METHODS, PAPER_METHOD
from lab.reproduction.problems import MimicRows, Problem, Protocol, choose_problems
from lab.reproduction.tables import (
    Results,
    Row,
    comparison_table,
    dataset_table,
    deviation_table,
    result_table,
)
from lab.reproduction.train import (
    MODELS,
    ClassifierOptions,
    FittedSeed,
    ModelName,
    ReproductionCache,
    Run,
    SlackKind,
)

DEFAULT_SEEDS: dict[Protocol, int] = {"paper": 10, "honest": 30}
# The authors' loop has no end where no seed is ever solved.
_MOST_SEEDS_PER_WANTED = 40


def evaluate(fitted: FittedSeed, method: Method, **run: Any) -> Row:
    """Let a method decide and score its predictions; `run` says what was run."""
    return judge(Row, fitted, method, _describe, slack_kind=fitted.slack, **run)


def _describe(
    fitted: FittedSeed, method: Method, decision: Decision, metrics: dict[str, float]
) -> dict[str, Any]:
    """Return the columns that only a reproduction has."""
    return {
        "accuracy": metrics["accuracy"],
        "delta_negative": decision.deltas[0],
        "delta_positive": decision.deltas[1],
        "slack_negative": decision.slack[0],
        "slack_positive": decision.slack[1],
        "loss": decision.loss,
    }


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
        trainings = map(self.cache.training, runs)
        self.cache.fill(trainings, jobs=self.jobs, progress=self.progress)

    def evaluate(
        self,
        problem: Problem,
        seed: int,
        kept: bool,
        names: Iterable[str],
        models: Sequence[ModelName],
    ) -> list[Row]:
        """Let some methods decide on the scores of some models, or on what stood in the way."""
        found = {
            model: self.cache.attempt(*self.cache.training(self.run(problem, seed, model)))
            for model in models
        }
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

    "paper" takes the authors' splits of the seeds 0, 1, 2, … until `seeds` of them are solved by
    the paper's method; the others are rows with ``kept=False``. "honest" takes the seeds 0 to
    `seeds` − 1 and keeps them all.
    """
    setting = _Setting(protocol, slack, cache, jobs, progress)
    chosen = {
        p.name: _until_solved(p, seeds, setting)
        if protocol == "paper"
        else dict.fromkeys(range(seeds), True)
        for p in problems
    }
    setting.train([setting.run(p, s, m) for p in problems for s in chosen[p.name] for m in MODELS])
    rows: list[Row] = []
    total = sum(len(c) for c in chosen.values())
    for problem in problems:
        for seed, kept in chosen[problem.name].items():
            progress("deciding", len(rows) // len(METHODS), total)
            rows += setting.evaluate(problem, seed, kept, METHODS, MODELS)
    progress("deciding", total, total)
    return rows


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


@dataclass(frozen=True)
class Reproduction:
    """What was run, and where it was written."""

    rows: list[Row]
    tables: list[Table]
    files: list[Path]


def reproduce(
    problem: str = "all",
    *,
    slack: SlackKind = "binary",
    protocol: Protocol = "honest",
    seeds: int | None = None,
    jobs: int = 1,
    out: str | PathLike[str] = "out/reproduction",
    mimic_file: str | PathLike[str] | None = None,
    mimic_rows: MimicRows = "paper",
    figures: bool = True,
    options: ClassifierOptions | None = None,
    progress: Progress = say_nothing,
) -> Reproduction:
    """Run the paper's experiments and write rows, tables and figures.

    The fitted scores are shared by both kinds of slack, so the second kind costs seconds; they are
    kept in `out`, so that a run that was interrupted goes on where it stopped. "all" leaves
    MIMIC-III out without a file of your own. The figures need the extra ``plot``.
    """
    as_choice("slack", slack, ("binary", "continuous"))
    as_choice("protocol", protocol, ("honest", "paper"))
    seeds = _as_seeds(DEFAULT_SEEDS[protocol] if seeds is None else seeds)
    problems = choose_problems(problem, mimic_file=mimic_file, mimic_rows=mimic_rows)
    folder = Path(out)
    rows = run_protocol(
        problems,
        protocol,
        slack=slack,
        seeds=seeds,
        cache=ReproductionCache(folder / "scores", options or ClassifierOptions()),
        jobs=jobs,
        progress=progress,
    )
    tables = make_tables(rows, problems)
    name = f"{problem}-{protocol}-{slack}"
    text = "\n".join(map(str, tables))
    files = [
        write_records(folder / f"rows-{name}.csv", rows, digits=6),
        write_whole(folder / f"tables-{name}.md", text),
    ]
    if figures:
        from lab.reproduction.figures import draw_figures

        files += draw_figures(folder / "figures")
    return Reproduction(rows, tables, files)


def make_tables(rows: Sequence[Row], problems: Sequence[Problem]) -> list[Table]:
    """Return all tables of a run: data sets, results, deviations or comparisons."""
    results = Results(rows)
    tables = [dataset_table(problems, results.protocol)]
    tables += [result_table(results, name) for name in results.problems]
    if results.protocol == "paper":
        return [*tables, deviation_table(results)]
    compared = (comparison_table(results, name) for name in (DEFAULT, f"{DEFAULT}-oof"))
    return [*tables, *compared]


def _as_seeds(seeds: object) -> int:
    """Return a number of seeds."""
    if isinstance(seeds, int) and not isinstance(seeds, bool) and seeds >= 1:
        return seeds
    raise InvalidInputError(
        f"`seeds` must be a whole number of at least 1, got {seeds!r}. The paper has 10."
    )
