"""``boundshift predict``: a fitted folder applied to new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundshift.app.application import app, examples
from boundshift.app.options import ForceOption, TableArgument, TrustOption, optional
from boundshift.app.terminal import check_new, errors, print_notes, progress

__all__ = ["predict"]


@app.command(
    epilog=examples(
        "boundshift predict boundshift-fit new.csv --out predictions.csv",
        "boundshift predict boundshift-fit new.csv --keep town | head",
        "boundshift predict boundshift-fit customers.csv --top 50 --out call.csv",
        "boundshift predict boundshift-fit new.csv --zone zone.json --unsure ask",
    )
)
def predict(
    folder: Annotated[
        Path, typer.Argument(help="What `boundshift fit` wrote.", metavar="DIR", show_default=False)
    ],
    file: TableArgument,
    out: Annotated[
        Path,
        typer.Option(help="CSV, TSV, Parquet, Feather, JSON lines or Excel; - is standard output."),
    ] = Path("-"),
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to carry over; may be repeated. Columns that name rows are carried over "
            "in any case."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Call rows with a score above this positive, as read off a report.",
            show_default="that of the fit",
        ),
    ] = None,
    top: Annotated[
        int | None,
        optional("Only so many rows, with the highest scores, the highest first."),
    ] = None,
    zone: Annotated[
        Path | None,
        optional(
            "Decide by the two limits that `boundshift threshold --zone … --json` has "
            "written, found on the scores of rows that the model has not seen.",
            "FILE",
        ),
    ] = None,
    unsure: Annotated[
        str | None,
        typer.Option(help="With --zone: prediction of rows between the limits; default: unsure."),
    ] = None,
    trust: TrustOption = False,
    force: ForceOption = False,
) -> None:
    """Predict the rows of a new table, or list those with the highest scores.

    Each gets the score of the positive class, the model's own probability of it if it has one,
    and a label.
    """
    with errors(), progress() as show:
        show("predict", 0, 1)
        from boundshift.app.tables.frames import check_writable, write_frame
        from boundshift.app.workflow import predict_table
        from boundshift.app.workflow.file_zone import read_zone

        check_writable(out)
        check_new(out, force)
        predictions, notes = predict_table(
            folder,
            file,
            keep=keep or (),
            trust=trust,
            threshold=threshold,
            top=top,
            zone=None if zone is None else read_zone(zone),
            unsure=unsure,
        )
        show("predict", 1, 1)
    print_notes(notes)
    with errors():
        write_frame(predictions, out, new=not force)
