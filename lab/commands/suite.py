"""``python -m lab suite``: methods compared on real imbalanced data."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from boundshift.app.application import errors, examples, print_line, progress
from lab.commands.application import app

__all__ = ["suite"]


def _models() -> list[str]:
    from lab.suite import MODELS

    return list(MODELS)


class Size(StrEnum):
    """How much to run."""

    quick = "quick"
    full = "full"


class Half(StrEnum):
    """Which families."""

    both = "both"
    choose = "choose"
    report = "report"


@app.command(
    epilog=examples(
        "python -m lab suite --suite quick",
        "python -m lab suite --suite full --models logistic --methods 'tuned/*' --out out",
    )
)
def suite(
    size: Annotated[
        Size,
        typer.Option(
            "--suite", help="quick: a small set of each family, one split; full: everything."
        ),
    ] = Size.quick,
    models: Annotated[
        list[str] | None,
        typer.Option(help="Which models; default all.", autocompletion=_models),
    ] = None,
    methods: Annotated[
        list[str] | None, typer.Option(help="Names or patterns: 'tuned/*', '*@out-of-fold'.")
    ] = None,
    half: Annotated[
        Half, typer.Option(help="Families to choose defaults on, to report on, or both.")
    ] = Half.both,
    jobs: Annotated[int, typer.Option(min=1, help="Trainings at a time.")] = 2,
    out: Annotated[Path, typer.Option(help="Folder for rows, facts and the page.")] = Path(
        "out/suite"
    ),
    cache: Annotated[
        Path | None, typer.Option(help="Folder of the fitted scores; default OUT/scores.")
    ] = None,
) -> None:
    """Compare methods on real imbalanced data; fitted scores are kept, so runs resume."""
    start = time.perf_counter()
    with errors(), progress() as show:
        from lab.suite import benchmark as run_benchmark

        done = run_benchmark(
            size.value,
            models=models or _models(),
            methods=methods or ("*",),
            half=half.value,
            jobs=jobs,
            out=out,
            cache=cache,
            progress=show,
        )
    for file in done.files:
        print_line(file)
    print_line(f"{len(done.rows)} rows in {time.perf_counter() - start:.1f} s")
