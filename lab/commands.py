"""The commands of ``python -m lab``: the paper's reproduction, and the suite of real data."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from boundshift.app.cli import errors, print_line, progress, show_examples
from lab.reproduction import reproduce
from lab.reproduction.fitted import SlackKind
from lab.reproduction.problems import MimicRows, ProblemChoice, Protocol
from lab.suite import MODELS, run_suite
from lab.suite.halves import HalfChoice
from lab.suite.run import Size

__all__ = ["app"]

app = typer.Typer(
    name="python -m lab",
    help="The laboratory of boundshift: the paper's reproduction and the suite of real data.",
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
)

_Jobs = Annotated[int, typer.Option(min=1, help="Trainings at a time.")]
_Out = Annotated[Path, typer.Option(help="Folder for scores, rows, tables and figures.")]


@app.command(
    "reproduce",
    epilog=show_examples(
        "python -m lab reproduce pima --seeds 10 --out out", "python -m lab reproduce all"
    ),
)
def _reproduce(
    problem: Annotated[ProblemChoice, typer.Argument(help="Which problem.")] = "all",
    slack: Annotated[SlackKind, typer.Option(help="Kind of slack.")] = "binary",
    protocol: Annotated[
        Protocol,
        typer.Option(help="honest: every seed kept; paper: the authors' seeds until N are solved."),
    ] = "honest",
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How many; 30 for honest, 10 for paper.")
    ] = None,
    jobs: _Jobs = 2,
    out: _Out = Path("out/reproduction"),
    mimic_file: Annotated[
        Path | None, typer.Option(help="Your own fm_MIMIC_IMPUTED_extended.csv.")
    ] = None,
    mimic_rows: Annotated[
        MimicRows, typer.Option(help="all: for a file without resampled copies.")
    ] = "paper",
    figures: Annotated[bool, typer.Option(help="Draw the paper's figures.")] = True,
) -> None:
    """Make every table and figure of the paper; fitted scores are kept, so runs resume."""
    _run(
        reproduce, problem, slack=slack, protocol=protocol, seeds=seeds, jobs=jobs, out=out,
        mimic_file=mimic_file, mimic_rows=mimic_rows, figures=figures,
    )  # fmt: skip


@app.command(
    "suite",
    epilog=show_examples(
        "python -m lab suite --suite quick",
        "python -m lab suite --suite full --models logistic --methods 'tuned/*' --out out",
        "python -m lab suite --csv patients.csv --target ill --splits 10",
    ),
)
def _suite(
    size: Annotated[
        Size,
        typer.Option(
            "--suite",
            help="quick: a small set of each family; short: three; full: all, three splits.",
        ),
    ] = "quick",
    models: Annotated[list[str] | None, typer.Option(help="Which models; default all.")] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Names or patterns: 'tuned/*', '*@out-of-fold'.")
    ] = None,
    half: Annotated[
        HalfChoice, typer.Option(help="Families to choose defaults on, to report on, or both.")
    ] = "both",
    rare: Annotated[
        list[int] | None,
        typer.Option(
            help="Minority rows to train on: 0 for all, 5, 10, 20, 50, 100, 200; may be repeated."
        ),
    ] = None,
    splits: Annotated[
        int | None, typer.Option(min=1, help="Splits of each set; default as the suite has.")
    ] = None,
    csv: Annotated[
        list[Path] | None,
        typer.Option(help="A table of your own instead of the public sets; may be repeated."),
    ] = None,
    target: Annotated[str | None, typer.Option(help="The column to be predicted there.")] = None,
    positive: Annotated[
        str | None, typer.Option(help="The rare class there; default the rarer of two.")
    ] = None,
    jobs: _Jobs = 2,
    out: _Out = Path("out/suite"),
    cache: Annotated[
        Path | None, typer.Option(help="Folder of the fitted scores; default OUT/scores.")
    ] = None,
) -> None:
    """Compare methods on real imbalanced data; fitted scores are kept, so runs resume."""
    _run(
        run_suite, size, models=models or list(MODELS), methods=methods or ("*",), half=half,
        rare=rare or (0,), splits=splits, csv=csv or (), target=target, positive=positive,
        jobs=jobs, out=out, cache=cache,
    )  # fmt: skip


def _run(function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Run with a bar, and say which files were written."""
    start = time.perf_counter()
    with errors(), progress() as show:
        done = function(*arguments, **options, progress=show)
    for file in done.files:
        print_line(file)
    print_line(f"{len(done.rows)} rows in {time.perf_counter() - start:.1f} s")
