"""The command `boundshift datasets`."""

from __future__ import annotations

import shlex
from pathlib import Path

from boundshift._app import options as opt
from boundshift._app.cli import (
    check_output,
    command,
    print_json,
    print_notes,
    print_table,
    running,
)


@command(
    "boundshift datasets pima --out pima.csv",
    "boundshift fit pima.csv --target target --positive diabetes",
)
def datasets(
    name: opt.Name = None,
    out: opt.OutFile = Path("-"),
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """List public data sets, or write one to a file; the class stands in the column target."""
    with running():
        from boundshift._app.tables import check_writable, write_frame
        from boundshift.datasets._bundled import describe_bundled, load_table

        if name is None:
            rows = describe_bundled()
            if as_json:
                keys = ("name", "rows", "columns", "classes", "rarest_class", "imbalance")
                print_json({"datasets": [dict(zip(keys, row, strict=True)) for row in rows]})
                return
            print_table(["name", "rows", "columns", "classes", "rarest class", "imbalance"], rows)
            return
        check_writable(out)
        check_output(out, force, as_json=as_json)
        frame = load_table(name)
        write_frame(frame, out, new=not force)
        sizes = {str(label): int(n) for label, n in frame["target"].value_counts().items()}
    if as_json:
        print_json({"file": str(out), "rows": len(frame), "classes": sizes})
    elif str(out) != "-":
        classes = ", ".join(f"{n} {label}" for label, n in sizes.items())
        print_notes(
            [
                f"Wrote {len(frame)} rows and {frame.shape[1]} columns to {out}; the column target "
                f"says the class ({classes}). Next: boundshift fit {shlex.quote(str(out))} "
                "--target target"
            ]
        )
