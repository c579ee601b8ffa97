"""One call from a problem's name to rows, tables and figures, and from these to the docs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any

from boundshift._validation import as_choice
from boundshift._writing import write_whole
from lab.experiment import RESULTS, ROOT
from lab.markdown import Table, fill
from lab.methods import Decision, Group, Method, judge
from lab.records import Progress, as_count, read_records, say_nothing, write_records
from lab.reproduction.methods import DEFAULT, METHODS, PAPER_METHOD
from lab.reproduction.problems import PROBLEMS, MimicRows, Problem, Protocol, choose_problems
from lab.reproduction.tables import (
    Results,
    Row,
    comparison_table,
    dataset_table,
    deviation_table,
    ranking_table,
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

    def training(self, problem: Problem, seed: int, model: ModelName = "untouched") -> Any:
        return self.cache.training(Run(problem, self.protocol, seed, model))

    def fill(self, trainings: Iterable[Any]) -> None:
        self.cache.fill(trainings, jobs=self.jobs, progress=self.progress)

    def evaluate(
        self,
        problem: Problem,
        seed: int,
        kept: bool,
        names: Iterable[str] = METHODS,
        models: Sequence[ModelName] = MODELS,
    ) -> list[Row]:
        """Let some methods decide on the scores of some models, or on what stood in the way."""
        found = {m: self.cache.attempt(*self.training(problem, seed, m)) for m in models}
        run = {"protocol": self.protocol, "problem": problem.name, "seed": seed, "kept": kept}
        fitted = FittedSeed(found, self.slack)
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
    setting.fill(
        setting.training(p, s, m) for p in problems for s in chosen[p.name] for m in MODELS
    )
    rows: list[Row] = []
    total = sum(len(c) for c in chosen.values())
    for problem in problems:
        for seed, kept in chosen[problem.name].items():
            rows += setting.evaluate(problem, seed, kept)
            progress("deciding", len(rows) // len(METHODS), total)
    return rows


def _until_solved(problem: Problem, seeds: int, setting: _Setting) -> dict[int, bool]:
    """Return seeds in order, and which are kept, until enough are solved."""
    kept: dict[int, bool] = {}
    while (missing := seeds - sum(kept.values())) and len(kept) < seeds * _MOST_SEEDS_PER_WANTED:
        batch = range(len(kept), len(kept) + missing)
        setting.fill(setting.training(problem, seed) for seed in batch)
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
    seeds = DEFAULT_SEEDS[protocol] if seeds is None else seeds
    as_count("seeds", seeds, "The paper has 10.")
    problems = choose_problems(problem, mimic_file=mimic_file, mimic_rows=mimic_rows)
    folder = Path(out)
    cache = ReproductionCache(folder / "scores", options or ClassifierOptions())
    given: Any = {"slack": slack, "seeds": seeds, "cache": cache, "jobs": jobs}
    rows = run_protocol(problems, protocol, **given, progress=progress)
    results = Results(rows)
    tables = [dataset_table(problems, protocol)]
    tables += [result_table(results, name) for name in results.problems]
    if protocol == "paper":
        tables.append(deviation_table(results))
    else:
        tables += [comparison_table(results, name) for name in (DEFAULT, f"{DEFAULT}-oof")]
    name = f"{problem}-{protocol}-{slack}"
    files = [
        write_records(folder / f"rows-{name}.csv", rows, digits=6),
        write_whole(folder / f"tables-{name}.md", "\n".join(map(str, tables))),
    ]
    if figures:
        from lab.reproduction.figures import draw_figures

        files += draw_figures(folder / "figures")
    return Reproduction(rows, tables, files)


ROWS = RESULTS / "reproduction"
RUNS = ("paper-binary", "paper-continuous", "honest-binary")
FIVE = ("synthetic", "pima", "breast-cancer", "hepatitis", "heart")


def publish(folder: Path) -> int:
    """Store the rows of a folder, and put tables and figures into docs/reproduction*.md."""
    from lab.reproduction.figures import draw_figures

    for name in RUNS:
        rows = read_records(folder / f"rows-all-{name}.csv", Row)
        if name == "paper-continuous":  # continuous slack changes the paper's family only
            rows = [
                row
                for row in rows
                if row.method.startswith("boundshift-support")
                or METHODS[row.method].group == "paper"
            ]
        write_records(ROWS / f"rows-{name}.csv.gz", rows, digits=6)
    for page in (ROOT / "docs").glob("reproduction*.md"):
        write_whole(page, fill(page.read_text("utf-8"), stored_tables()))
    draw_figures(ROOT / "docs" / "images" / "reproduction")
    return 0


@cache
def stored_tables() -> dict[str, str]:
    """Return every table of the pages, from the rows in lab/results/reproduction."""
    rows = {n: read_records(ROWS / f"rows-{n}.csv.gz", Row) for n in RUNS}
    paper, continuous, honest = (Results(rows[name]) for name in RUNS)
    known = Counter(
        row.environment or "versions not stored in the rows" for r in rows.values() for row in r
    )

    def joined(results: Results, groups: Sequence[Group], problems: Sequence[str]) -> str:
        return "\n".join(str(result_table(results, problem, groups)) for problem in problems)

    groups: tuple[Group, ...] = ("paper", "baseline", "ours")
    return {
        "versions": "\n".join(f"- {count} rows: {text}" for text, count in known.items()),
        "datasets": str(dataset_table(PROBLEMS.values(), "paper")),
        "paper-binary": joined(paper, ("paper",), paper.problems),
        "paper-continuous": joined(continuous, ("paper",), continuous.problems),
        "deviations": f"{deviation_table(paper)}\n{deviation_table(continuous)}",
        "honest-synthetic": joined(honest, groups, ("synthetic", "synthetic-raw")),
        "honest-medical": joined(honest, groups, FIVE[1:]),
        "comparison": str(comparison_table(honest, DEFAULT)),
        "comparison-out-of-fold": str(comparison_table(honest, f"{DEFAULT}-oof")),
        "ranking": str(ranking_table(honest, FIVE)),
    }
