"""The command `boundshift predict`."""

from __future__ import annotations

from pathlib import Path

from boundshift._app import options as opt
from boundshift._app.cli import (
    check_output,
    command,
    print_json,
    print_line,
    print_notes,
    running,
)


@command(
    "boundshift predict boundshift-fit new.csv --keep town --out predictions.csv",
    "boundshift predict boundshift-fit customers.csv --top 50 --out call.csv",
    "boundshift predict boundshift-fit new.csv --zone boundshift-fit/zone.json | head",
)
def predict(
    folder: opt.Folder,
    file: opt.File,
    reading: opt.FileOptions,
    out: opt.OutFile = Path("-"),
    keep: opt.Keep = None,
    threshold: opt.Threshold = None,
    top: opt.Top = None,
    zone: opt.ZoneFile = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
) -> None:
    """Predict the rows of a new table, or list those with the highest scores.

    Each gets the score of the positive class, the model's own probability of it if it has one,
    and a label.
    """
    with running():
        from boundshift._app.folder import predict_table
        from boundshift._app.tables import check_writable, read_bytes, write_frame
        from boundshift._guarantees.zone import Zone

        check_writable(out)
        check_output(out, force, file, zone, as_json=as_json)
        limits = None if zone is None else Zone.from_json(read_bytes(zone))
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
    positive = found.attrs["positive"]
    n_flagged = int((found["prediction"] == positive).sum())
    n_unsure = int((found["prediction"] == "unsure").sum()) if limits else 0
    if as_json:
        counts = {"rows": len(found), "flagged": n_flagged, "unsure": n_unsure}
        print_json({"file": str(out), "positive": str(positive), **counts, "notes": notes})
        return
    unsure = f" and {n_unsure:,} unsure" if limits else ""
    place = "standard output" if str(out) == "-" else out
    print_line(
        f"{len(found):,} rows, {n_flagged:,} of them flagged as {positive}{unsure}, written to "
        f"{place}.",
        stderr=True,
    )
