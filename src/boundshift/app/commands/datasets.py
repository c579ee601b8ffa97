"""``boundshift datasets``: what there is, and one of it as a file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from boundshift.app.application import app, examples
from boundshift.app.options import ForceOption, optional
from boundshift.app.terminal import check_new, errors, print_line, print_notes, print_table

__all__ = ["datasets"]


@app.command(
    epilog=examples(
        "boundshift datasets",
        "boundshift datasets pima --out pima.csv",
        "boundshift fit pima.csv --target target --positive diabetes",
    )
)
def datasets(
    name: Annotated[
        str | None, typer.Argument(help="One of them; none lists all.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None,
        optional("File to write it to; - is standard output."),
    ] = None,
    force: ForceOption = False,
) -> None:
    """List public data sets, or write one to a file; the class stands in the column target."""
    with errors():
        if name is None:
            _list()
            return
        from boundshift.app.tables.frames import check_writable, write_frame
        from boundshift.datasets.catalogue import load_table

        if out is not None:
            check_writable(out)
            check_new(out, force)
        frame = load_table(name)
        if out is not None:
            write_frame(frame, out, new=not force)
            if str(out) != "-":
                print_notes([_written(frame, out)])
            return
        sizes = frame["target"].value_counts()
        print_table(["class", "rows"], [(label, int(n)) for label, n in sizes.items()])
        print_line(f"{len(frame)} rows, {frame.shape[1] - 1} columns and target. As a file:")
        print_line(f"boundshift datasets {name} --out {name}.csv")


def _written(frame: Any, out: Path) -> str:
    """Return what was written, and what to do with it."""
    sizes = ", ".join(f"{n} {label}" for label, n in frame["target"].value_counts().items())
    return (
        f"Wrote {len(frame)} rows and {frame.shape[1]} columns to {out}; the column target says "
        f"the class ({sizes}). Next: boundshift fit {shlex.quote(str(out))} --target target"
    )


def _list() -> None:
    from boundshift.datasets.catalogue import describe_bundled

    names = ["name", "rows", "columns", "classes", "rarest class", "imbalance"]
    print_table(names, describe_bundled())
