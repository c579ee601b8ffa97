"""``boundshift predict``: a fitted folder applied to new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundshift.app.application import app, check_new, errors, examples, print_note, progress
from boundshift.app.options import Force, TableFile

__all__ = ["predict"]


@app.command(
    epilog=examples(
        "boundshift predict boundshift-fit new.csv --out predictions.csv",
        "boundshift predict boundshift-fit new.csv --keep id | head",
    )
)
def predict(
    folder: Annotated[
        Path, typer.Argument(help="What `boundshift fit` wrote.", metavar="DIR", show_default=False)
    ],
    file: TableFile,
    out: Annotated[
        Path,
        typer.Option(help="CSV, TSV, Parquet, Feather or JSON lines; - is standard output."),
    ] = Path("-"),
    keep: Annotated[
        list[str] | None,
        typer.Option(help="Column to carry over, such as an id; may be repeated."),
    ] = None,
    trust: Annotated[
        bool, typer.Option("--trust", help="The model is your own and of another library.")
    ] = False,
    force: Force = False,
) -> None:
    """Predict the rows of a new table: a score and a label for each, in their order."""
    with errors(), progress() as show:
        show("predict", 0, 1)
        from boundshift.app.tables import write_frame
        from boundshift.app.tables.writing import check_writable
        from boundshift.app.workflow import predict_table

        check_writable(out)
        check_new(out, force)
        predictions, notes = predict_table(folder, file, keep=keep or (), trust=trust)
        show("predict", 1, 1)
    for note in notes:
        print_note(note)
    with errors():
        write_frame(predictions, out)
