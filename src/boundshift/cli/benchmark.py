"""``boundshift benchmark``: methods compared on real imbalanced data."""

from __future__ import annotations

import time
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from boundshift.cli.application import app, errors, examples, print_line, progress

__all__ = ["benchmark"]


def _models() -> list[str]:
    from boundshift.experiments.suite import MODELS

    return list(MODELS)


class Suite(StrEnum):
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
        "boundshift benchmark --suite quick",
        "boundshift benchmark --suite full --models logistic --methods 'tuned/*' --out out",
    )
)
def benchmark(
    suite: Annotated[
        Suite, typer.Option(help="quick: a small set of each family, one split; full: everything.")
    ] = Suite.quick,
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
        "boundshift-benchmark"
    ),
    cache: Annotated[
        Path | None, typer.Option(help="Folder of the fitted scores; default OUT/scores.")
    ] = None,
) -> None:
    """Compare methods on real imbalanced data; fitted scores are kept, so runs resume."""
    start = time.perf_counter()
    with errors(), progress() as show:
        from boundshift.experiments.suite import benchmark as run_benchmark

        done = run_benchmark(
            suite.value,
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
