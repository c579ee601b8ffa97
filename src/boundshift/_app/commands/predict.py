"""The command `boundshift predict`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from boundshift._app.cli import (
    check_output,
    command,
    print_line,
    print_notes,
    running,
)
from boundshift._app.options import argument, option
from boundshift.streaming._tables import Reading


@command(
    "boundshift predict boundshift-fit new.csv --keep town --out predictions.csv",
    "boundshift predict boundshift-fit customers.csv --top 50 --out call.csv",
    "boundshift predict boundshift-fit new.csv --zone boundshift-fit/zone.json | head",
)
def predict(
    folder: Annotated[Path, argument("folder")],
    file: Annotated[Path, argument("file")],
    out: Annotated[Path, option("out")] = Path("-"),
    keep: Annotated[list[str] | None, option("keep")] = None,
    threshold: Annotated[float | None, option("threshold")] = None,
    top: Annotated[int | None, option("top", least=1)] = None,
    zone: Annotated[Path | None, option("zone", "predict")] = None,
    encoding: Annotated[str | None, option("encoding")] = None,
    sheet: Annotated[str | None, option("sheet")] = None,
    header_row: Annotated[int | None, option("header_row")] = None,
    force: Annotated[bool, option("force")] = False,
) -> None:
    """Predict the rows of a new table, or list those with the highest scores.

    Each gets the score of the positive class, the model's own probability of it if it has one,
    and a label.
    """
    with running():
        from boundshift._app.folder import predict_table
        from boundshift._app.tables import check_writable, write_frame
        from boundshift._guarantees.zone import Zone

        reading = Reading(encoding, sheet, header_row)
        check_writable(out)
        check_output(out, force, file, zone)
        limits = None if zone is None else Zone.from_json(zone.read_bytes())
        found, notes = predict_table(
            folder,
            file,
            keep=keep or (),
            threshold=threshold,
            top=top,
            zone=limits,
            reading=reading,
        )
        print_notes(notes)
        write_frame(found, out, new=not force)
    made = found["prediction"]
    positive = found.attrs["positive"]
    unsure = f" and {int((made == 'unsure').sum()):,} unsure" if limits else ""
    said = f"{len(found):,} rows, {int((made == positive).sum()):,} of them flagged as {positive}"
    place = "standard output" if str(out) == "-" else out
    print_line(f"{said}{unsure}, written to {place}.", stderr=True)
