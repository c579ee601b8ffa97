"""The command `boundshift monitor`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundshift._app.cli import (
    command,
    print_notes,
    running,
)
from boundshift._app.options import argument, option
from boundshift.streaming._tables import Reading


@command(
    "boundshift monitor boundshift-fit march.csv --when day",
    "boundshift monitor certificate.json march.csv --score risk --label ill --exit-code",
)
def monitor(
    folder: Annotated[Path, argument("folder")],
    file: Annotated[Path, argument("file")],
    label: Annotated[str | None, option("label")] = None,
    score: Annotated[str | None, option("score")] = None,
    when: Annotated[str | None, option("when")] = None,
    cluster: Annotated[str | None, option("cluster")] = None,
    encoding: Annotated[str | None, option("encoding")] = None,
    sheet: Annotated[str | None, option("sheet")] = None,
    header_row: Annotated[int | None, option("header_row")] = None,
    exit_code: Annotated[bool, option("exit_code")] = False,
    as_json: Annotated[bool, option("as_json")] = False,
) -> None:
    """Count labelled rows that came after deployment, and say whether the certificate is kept.

    The state is kept in monitor.json beside the certificate, so that every call goes on where the
    last one ended. Look as often as you like: the confidence holds for all looks together.
    """
    with running():
        from boundshift._app.watch import print_watched, watch_table

        reading = Reading(encoding, sheet, header_row)
        watched = watch_table(
            folder,
            file,
            label=label,
            score=score,
            when=when,
            cluster=cluster,
            reading=reading,
            on_wait=lambda: print_notes(["Another call is counting. This one waits for it."]),
        )
    print_watched(watched, as_json=as_json)
    if exit_code and watched.monitor.alarm is not None:
        raise typer.Exit(3)
