"""One call from a problem's name to rows, tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from boundshift.exceptions import InvalidInputError
from boundshift.validation import as_choice
from boundshift.writing import write_whole
from lab.harness.cache import Progress, say_nothing
from lab.harness.tables import Table, to_markdown
from lab.reproduction.cache import ReproductionCache
from lab.reproduction.classifiers import ClassifierOptions
from lab.reproduction.fitted import SlackKind
from lab.reproduction.methods import DEFAULT
from lab.reproduction.problems import MimicRows, Problem, Protocol, choose_problems
from lab.reproduction.protocols import run_protocol
from lab.reproduction.rows import Row, write_rows
from lab.reproduction.summary import Results
from lab.reproduction.tables import (
    comparison_table,
    dataset_table,
    deviation_table,
    result_table,
)

__all__ = ["DEFAULT_SEEDS", "Reproduction", "make_tables", "reproduce"]

DEFAULT_SEEDS: dict[Protocol, int] = {"paper": 10, "honest": 30}


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

    Parameters
    ----------
    problem : str, default="all"
        "synthetic", "pima", "breast-cancer", "hepatitis", "heart", "mimic" or "all".
    slack : {"binary", "continuous"}, default="binary"
        Kind of slack. The fitted scores are shared, so the second kind costs seconds.
    protocol : {"honest", "paper"}, default="honest"
        "honest" keeps every seed and draws clean splits; "paper" repeats the authors' draws until
        enough seeds are solved.
    seeds : int, default=None
        How many; None is 30 for "honest" and 10 for "paper".
    jobs : int, default=1
        Trainings at a time.
    out : path-like, default="out/reproduction"
        Folder to write to. It holds the fitted scores, so that a run that was interrupted goes on
        where it stopped.
    mimic_file : path-like, default=None
        Your own MIMIC-III file; without it "all" leaves that problem out.
    mimic_rows : {"paper", "all"}, default="paper"
        Which of its rows, see :func:`~lab.data.load_mimic`.
    figures : bool, default=True
        Whether to draw the paper's figures; needs the extra ``plot``.
    options : ClassifierOptions, default=None
        Grid and network; None is the paper's.
    progress : callable, default=None
        Called with what is going on, steps done, and steps in all.

    Returns
    -------
    Reproduction
        The tidy rows, the tables, and the files written.
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
    text = "\n".join(map(to_markdown, tables))
    files = [
        write_rows(folder / f"rows-{name}.csv", rows),
        write_whole(folder / f"tables-{name}.md", text),
    ]
    if figures:
        from lab.reproduction.figures import draw_figures

        files += draw_figures(folder / "figures", progress=progress)
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
