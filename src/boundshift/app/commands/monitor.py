"""``boundshift monitor``: whether the certificate of a deployed model is still kept."""

from __future__ import annotations

import io
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from boundshift.app.application import app, examples
from boundshift.app.options import JsonOption, TableArgument, TrustOption, optional
from boundshift.app.terminal import (
    errors,
    print_json,
    print_line,
    print_notes,
    print_table,
    progress,
)
from boundshift.exceptions import InvalidInputError
from boundshift.writing import write_whole

__all__ = ["ALARM", "monitor"]

_PICTURES = (".png", ".svg", ".pdf")

ALARM = 3
"""Exit code of an alarm, where one is asked for."""


@app.command(
    epilog=examples(
        "boundshift monitor boundshift-fit march.csv",
        "boundshift monitor boundshift-fit march.csv --when day --picture march.png",
        "boundshift monitor certificate.json march.csv --score risk --label ill --exit-code",
    )
)
def monitor(
    place: Annotated[
        Path,
        typer.Argument(
            help="What `boundshift fit` wrote, or a JSON file with a certificate.",
            metavar="DIR",
            show_default=False,
        ),
    ],
    file: TableArgument,
    label: Annotated[
        str | None, typer.Option(help="Column of labels.", show_default="the folder's target")
    ] = None,
    score: Annotated[
        str | None, typer.Option(help="Column of scores.", show_default="the folder's model scores")
    ] = None,
    when: Annotated[str | None, optional("Column of dates, to be reported.")] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="One minus the probability that an alarm is ever false; fixed by the first call.",
            show_default="0.95",
        ),
    ] = None,
    picture: Annotated[Path | None, optional("Draw it: PNG, SVG or PDF.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Count a file that has been counted before.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help=f"Exit with {ALARM} if there is an alarm.")
    ] = False,
    trust: TrustOption = False,
    as_json: JsonOption = False,
) -> None:
    """Count labelled rows that came after deployment, and say whether the certificate is kept.

    The state is kept in monitor.json beside the certificate, so that every call goes on where the
    last one ended. Look as often as you like: the confidence holds for all looks together.
    """
    with errors(), progress() as show:
        show("count", 0, 1)
        if picture is not None and picture.suffix.lower() not in _PICTURES:
            raise InvalidInputError(
                f"--picture must end in one of {', '.join(_PICTURES)}, got '{picture.name}'. "
                "Nothing was counted."
            )
        from boundshift.app.workflow.watching import watch_table

        how: dict[str, Any] = {"confidence": confidence, "again": again, "trust": trust}
        watched = watch_table(place, file, label=label, score=score, when=when, **how)
        found = watched.monitor
        if picture is not None:
            from boundshift.plots import MonitorDisplay

            figure: Any = MonitorDisplay.from_monitor(found).figure_
            drawn = io.BytesIO()
            figure.savefig(drawn, format=picture.suffix.lower()[1:])
            write_whole(picture, drawn.getvalue())
        show("count", 1, 1)
    print_notes(watched.notes)
    rows = zip(
        found.certificate.labels, found.n_samples, found.wrong, found.certificate.error_bounds,
        found.e_values, strict=True,
    )  # fmt: skip
    if as_json:
        names = ("label", "n_samples", "wrong", "error_bound", "e_value")
        print_json(
            {
                "kept": found.alarm is None,
                "verdict": found.verdict,
                "e_value_needed": found.e_value_needed,
                "classes": [dict(zip(names, row, strict=True)) for row in rows],
                "alarms": [asdict(alarm) for alarm in found.alarms],
            }
        )
    else:
        from boundshift.words import at_most, percent

        print_line(found.verdict)
        print_table(
            ["", "rows", "wrong", "their share", "stated at most", "evidence"],
            [
                (f"class {name}", n, k, percent(k / n) if n else "–", at_most(bound), e)
                for name, n, k, bound, e in rows
            ],
        )
        print_line(f"An alarm needs evidence of {found.e_value_needed:.4g}. State: {watched.state}")
    if exit_code and found.alarm is not None:
        raise typer.Exit(ALARM)
