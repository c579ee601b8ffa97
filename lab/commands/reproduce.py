"""``python -m lab reproduce``: every table and figure of the paper."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from boundshift.app.application import errors, examples, print_line, progress
from lab.commands.application import app

__all__ = ["reproduce"]


class Problem(StrEnum):
    """The paper's problems."""

    synthetic = "synthetic"
    pima = "pima"
    breast_cancer = "breast-cancer"
    hepatitis = "hepatitis"
    heart = "heart"
    mimic = "mimic"
    all = "all"


class Slack(StrEnum):
    """Kinds of slack."""

    binary = "binary"
    continuous = "continuous"


class Protocol(StrEnum):
    """Which seeds count."""

    honest = "honest"
    paper = "paper"


class MimicRows(StrEnum):
    """Rows of the user's file."""

    paper = "paper"
    all = "all"


@app.command(
    epilog=examples(
        "python -m lab reproduce pima --seeds 10 --out out", "python -m lab reproduce all"
    )
)
def reproduce(
    problem: Annotated[Problem, typer.Argument(help="Which problem.")] = Problem.all,
    slack: Annotated[Slack, typer.Option(help="Kind of slack.")] = Slack.binary,
    protocol: Annotated[
        Protocol,
        typer.Option(help="honest: every seed kept; paper: the authors' seeds until N are solved."),
    ] = Protocol.honest,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How many; 30 for honest, 10 for paper.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Trainings at a time.")] = 2,
    out: Annotated[Path, typer.Option(help="Folder for scores, rows, tables and figures.")] = Path(
        "out/reproduction"
    ),
    mimic_file: Annotated[
        Path | None, typer.Option(help="Your own fm_MIMIC_IMPUTED_extended.csv.")
    ] = None,
    mimic_rows: Annotated[
        MimicRows, typer.Option(help="all: for a file without resampled copies.")
    ] = MimicRows.paper,
    figures: Annotated[bool, typer.Option(help="Draw the paper's figures.")] = True,
) -> None:
    """Make every table and figure of the paper; fitted scores are kept, so runs resume."""
    start = time.perf_counter()
    with errors(), progress() as show:
        from lab.reproduction import reproduce as run_reproduction

        done = run_reproduction(
            problem.value,
            slack=slack.value,
            protocol=protocol.value,
            seeds=seeds,
            jobs=jobs,
            out=out,
            mimic_file=mimic_file,
            mimic_rows=mimic_rows.value,
            figures=figures,
            progress=show,
        )
    for file in done.files:
        print_line(file)
    print_line(f"{len(done.rows)} rows in {time.perf_counter() - start:.1f} s")
