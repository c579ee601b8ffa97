"""``boundshift demo``: the paper's synthetic problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundshift.cli.application import app, check_new, errors, examples
from boundshift.cli.options import Force

__all__ = ["demo"]


@app.command(epilog=examples("boundshift demo --out demo.png"))
def demo(
    out: Annotated[Path, typer.Option(help="Figure to write.")] = Path("boundshift-demo.png"),
    seed: Annotated[int, typer.Option(min=0, help="Of the draw that is shown.")] = 0,
    force: Force = False,
) -> None:
    """Train, shift, compare and draw the paper's synthetic problem; seconds."""
    with errors():
        check_new(out, force)
        from boundshift.demo import main

        code = main(["--out", str(out), "--seed", str(seed)])
    raise typer.Exit(code)
