"""The command `boundshift certify`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from boundshift._app.cli import (
    command,
    print_json,
    print_line,
    running,
)
from boundshift._app.options import argument, option
from boundshift.streaming._tables import Reading


@command(
    "boundshift certify boundshift-fit april.csv --label ill --confidence 0.99 --json",
    "boundshift certify boundshift-fit april.csv --cluster patient",
)
def certify(
    folder: Annotated[Path, argument("folder")],
    file: Annotated[Path, argument("file")],
    label: Annotated[str | None, option("label")] = None,
    confidence: Annotated[float, option("confidence")] = 0.95,
    cluster: Annotated[str | None, option("cluster")] = None,
    encoding: Annotated[str | None, option("encoding")] = None,
    sheet: Annotated[str | None, option("sheet")] = None,
    header_row: Annotated[int | None, option("header_row")] = None,
    as_json: Annotated[bool, option("as_json")] = False,
) -> None:
    """Certify a fitted folder on other labelled rows, such as those of another year or place.

    The rows must have been used neither to train the model nor to choose its threshold.
    """
    with running():
        from boundshift._app.watch import certify_table
        from boundshift._words import at_most, percent

        reading = Reading(encoding, sheet, header_row)
        found = certify_table(
            folder, file, label=label, confidence=confidence, cluster=cluster, reading=reading
        )
    if as_json:
        print_json(found.to_dict())
        return
    for place, verb in ((1, "misses"), (0, "flags")):
        k = found.wrong[place]
        n = found.n_samples[place]
        if n == 0:
            print_line(f"There are no rows of class {found.labels[place]}.")
            continue
        said = f"Of {n:,} rows of class {found.labels[place]} the model {verb} {k:,}"
        said = f"{said} ({percent(k / n)})"
        if found.n_clusters is not None:
            share = percent(found.errors[place])
            ids = found.n_clusters[place]
            said = f"{said}; averaged over {ids:,} clusters, each counting once, it {verb} {share}"
        if found.certified:
            bound = at_most(found.error_bounds[place])
            said = f"{said}, in the long run at most {bound} with {100 * confidence:g}% confidence"
        print_line(f"{said}.")
    print_line(f"{found.status.capitalize()}: {found.reason}.")
