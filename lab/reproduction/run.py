"""One call from a problem's name to rows, tables and figures, and from these to the docs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from boundshift._writing import write_whole
from lab.experiment import RESULTS, ROOT
from lab.markdown import Table, fill
from lab.records import ScoreCache, read_records, write_records
from lab.reproduction.decisions import Group, Row, judge
from lab.reproduction.methods import DEFAULT, METHODS, PAPER_METHOD
from lab.reproduction.problems import PROBLEMS, MimicRows, Problem, Protocol, choose_problems
from lab.reproduction.tables import (
    Results,
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
    Run,
    SlackKind,
    reproduction_cache,
    training_of,
)

DEFAULT_SEEDS: dict[Protocol, int] = {"paper": 10, "honest": 30}
# The authors' loop has no end where no seed is ever solved.
_MOST_SEEDS_PER_WANTED = 40


class Setting(NamedTuple):
    """What all seeds of a run share."""

    protocol: Protocol
    slack: SlackKind
    cache: ScoreCache
    options: ClassifierOptions
    jobs: int = 1

    def fill(self, runs: Iterable[tuple[Problem, int, ModelName]]) -> None:
        """Train what is not in the cache."""
        self.cache.fill((self.training(*run) for run in runs), self.jobs)

    def training(self, problem: Problem, seed: int, model: ModelName) -> Any:
        """Return the arguments of a training."""
        return training_of(Run(problem, self.protocol, seed, model), self.options)

    def evaluate(
        self, problem: Problem, seed: int, kept: bool, names: Iterable[str] = METHODS
    ) -> list[Row]:
        """Let some methods decide on the scores of all models, or on what stood in the way."""
        scores = {m: self.cache.attempt(*self.training(problem, seed, m)) for m in MODELS}
        run = {"protocol": self.protocol, "problem": problem.name, "seed": seed, "kept": kept}
        fitted = FittedSeed(scores, self.slack)
        return [judge(fitted, METHODS[name], slack_kind=self.slack, **run) for name in names]


def run_protocol(problems: Sequence[Problem], seeds: int, setting: Setting) -> list[Row]:
    """Run all methods on every seed of a protocol.

    "paper" takes the authors' splits of the seeds 0, 1, 2, … until `seeds` of them are solved by
    the paper's method; the others are rows with ``kept=False``. "honest" takes the seeds 0 to
    `seeds` − 1 and keeps them all.
    """
    rows: list[Row] = []
    for problem in problems:
        kept: dict[int, bool] = {}
        while len(kept) < seeds * _MOST_SEEDS_PER_WANTED and sum(kept.values()) < seeds:
            batch = range(len(kept), len(kept) + seeds - sum(kept.values()))
            setting.fill((problem, seed, model) for seed in batch for model in MODELS)
            for seed in batch:
                kept[seed] = setting.protocol == "honest" or is_solved(problem, seed, setting)
        for seed, counts in kept.items():
            rows += setting.evaluate(problem, seed, counts)
    return rows


def is_solved(problem: Problem, seed: int, setting: Setting) -> bool:
    """Say whether the paper's method has a solution on a seed."""
    (row,) = setting.evaluate(problem, seed, True, [PAPER_METHOD])
    return row.solved


class Reproduction(NamedTuple):
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
) -> Reproduction:
    """Run the paper's experiments and write rows, tables and figures.

    The fitted scores are shared by both kinds of slack, so the second kind costs seconds; they are
    kept in `out`, so that a run that was interrupted goes on where it stopped. "all" leaves
    MIMIC-III out without a file of your own. The figures need the extra ``plot``.
    """
    problems = choose_problems(problem, mimic_file=mimic_file, mimic_rows=mimic_rows)
    folder = Path(out)
    scores = reproduction_cache(folder / "scores")
    setting = Setting(protocol, slack, scores, options or ClassifierOptions(), jobs)
    rows = run_protocol(problems, seeds or DEFAULT_SEEDS[protocol], setting)
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
    """Store the rows of a folder, and put tables and figures into lab/docs/reproduction*.md."""
    from lab.reproduction.figures import draw_figures

    for name in RUNS:
        rows = read_records(folder / f"rows-all-{name}.csv", Row)
        if name == "paper-continuous":  # continuous slack changes the paper's family only
            family = [m.name for m in METHODS.values() if m.group == "paper"]
            family += [name for name in METHODS if name.startswith("boundshift-support")]
            rows = [row for row in rows if row.method in family]
        write_records(ROWS / f"rows-{name}.csv.gz", rows, digits=6)
    for page in (ROOT / "lab" / "docs").glob("reproduction*.md"):
        write_whole(page, fill(page.read_text("utf-8"), stored_tables()))
    draw_figures(ROOT / "lab" / "docs" / "images" / "reproduction")
    return 0


@cache
def stored_tables() -> dict[str, str]:
    """Return every table of the pages, from the rows in lab/results/reproduction."""
    rows = {n: read_records(ROWS / f"rows-{n}.csv.gz", Row) for n in RUNS}
    paper, continuous, honest = (Results(rows[name]) for name in RUNS)
    environments = Counter(
        row.environment or "versions not stored in the rows" for r in rows.values() for row in r
    )

    def joined(results: Results, groups: Sequence[Group], problems: Sequence[str]) -> str:
        return "\n".join(str(result_table(results, problem, groups)) for problem in problems)

    groups: tuple[Group, ...] = ("paper", "baseline", "ours")
    return {
        "versions": "\n".join(f"- {count} rows: {text}" for text, count in environments.items()),
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
