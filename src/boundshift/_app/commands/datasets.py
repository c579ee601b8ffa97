"""The command `boundshift datasets`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from boundshift._app.cli import (
    check_output,
    command,
    print_notes,
    print_table,
    running,
)
from boundshift._app.options import argument, option


@command(
    "boundshift datasets pima --out pima.csv",
    "boundshift fit pima.csv --target target --positive diabetes",
)
def datasets(
    name: Annotated[str | None, argument("name")] = None,
    out: Annotated[Path, option("out")] = Path("-"),
    force: Annotated[bool, option("force")] = False,
) -> None:
    """List public data sets, or write one to a file; the class stands in the column target."""
    with running():
        from boundshift._app.tables import check_writable, write_frame
        from boundshift.datasets._bundled import describe_bundled, load_table

        if name is None:
            names = ["name", "rows", "columns", "classes", "rarest class", "imbalance"]
            print_table(names, describe_bundled())
            return
        check_writable(out)
        check_output(out, force)
        frame = load_table(name)
        write_frame(frame, out, new=not force)
        if str(out) != "-":
            sizes = frame["target"].value_counts().items()
            classes = ", ".join(f"{n} {label}" for label, n in sizes)
            said = (
                f"Wrote {len(frame)} rows and {frame.shape[1]} columns to {out}; the column target"
            )
            what = f"boundshift fit {shlex.quote(str(out))} --target target"
            print_notes([f"{said} says the class ({classes}). Next: {what}"])
