"""``boundshift threshold``: scores of any system in, the boundary out."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundshift.app.application import app, examples
from boundshift.app.goal import Goal, takes_goal
from boundshift.app.options import (
    CostColumnOption,
    JsonOption,
    LabelOption,
    PositiveOption,
    ScaleName,
    ScaleOption,
    ScoreOption,
    TablesArgument,
    optional,
    read_zone_errors,
)
from boundshift.app.terminal import (
    errors,
    in_options,
    print_json,
    print_line,
    print_notes,
    print_table,
    progress,
)
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift.groups import GroupBoundaries

__all__ = ["Origin", "threshold"]


class Origin(StrEnum):
    """Where scores come from."""

    held_out = "held-out"
    out_of_fold = "out-of-fold"
    training = "training"


@app.command(
    epilog=examples(
        "boundshift threshold scores.csv --score risk --label ill --positive yes",
        "boundshift threshold scores.parquet --score p --label y --recall-floor 0.9",
        "boundshift threshold scores.csv --score p --label y --costs 1,20 --json",
        "boundshift threshold scores.csv --score p --label y --curve paper",
        "boundshift threshold day1.parquet day2.parquet --score p --label y",
        "boundshift threshold scores.csv --score p --label y --zone 0.05,0.05",
        "zcat scores.csv.gz | boundshift threshold - --score p --label y",
    )
)
@takes_goal
def threshold(
    files: TablesArgument,
    score: ScoreOption,
    label: LabelOption,
    positive: PositiveOption = None,
    *,
    goal: Goal,
    weight: Annotated[
        str | None,
        optional(
            "Column that says how often each row counts; certificates are nominal then.", "COLUMN"
        ),
    ] = None,
    cost_column: CostColumnOption = None,
    by: Annotated[
        str | None,
        optional(
            "Column of groups: a boundary for each, small ones leaning on all rows. No "
            "guarantee of fairness.",
            "COLUMN",
        ),
    ] = None,
    scale: ScaleOption = ScaleName.auto,
    scores: Annotated[
        Origin, typer.Option(help="Rows the model has not seen, or those it was trained on.")
    ] = Origin.held_out,
    certify: Annotated[
        bool, typer.Option("--certify", help="Add the certificate to the JSON.")
    ] = False,
    zone: Annotated[
        str | None,
        optional(
            "Two limits in the place of the boundary, and between them nobody decides: most "
            "of the negative and of the positive class that may be decided wrongly, as 0.05,0.05.",
            "A,B",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Find the boundary for a file of labels and scores from any system.

    The answer is one number: call a row positive if its score is above it. Several files are read
    as one table, in passes, so that they need not fit into memory.
    """
    if zone is not None:
        others = (by, weight, cost_column, certify or None)
        asked = not goal.is_open or any(o is not None for o in others)
        asked = asked or scores is not Origin.held_out
        _show_zone(files, score, label, positive, zone, goal.confidence, scale, as_json, asked)
        return
    with errors(), progress() as show:
        from boundshift.app.tables.class_labels import positive_note
        from boundshift.app.workflow.file_boundary import decide_groups, decide_scores

        claim, aim = goal.claims()
        goal.check_costs_by_row(cost_column)
        how: dict[str, Any] = {
            "positive": positive,
            "curve": claim,
            "rule": aim,
            "scale": scale.value,
        }
        if by is not None:
            if weight is not None or cost_column is not None or certify:
                raise InvalidInputError(
                    "--by must go without --weight, --cost-column and --certify. Leave them out, "
                    "or give the rows of each group to a call of its own."
                )
            found = decide_groups(files, score, label, by, progress=show, **how)
            _print_groups(found, score, as_json)
            return
        boundary, certificate = decide_scores(
            files,
            score,
            label,
            confidence=goal.confidence,
            scores=scores.value,
            weight=weight,
            cost_column=cost_column,
            progress=show,
            **how,
        )
    print_notes(positive_note(positive, boundary.labels, boundary.n_samples))
    if as_json:
        more = {"certificate": asdict(certificate)} if certify else {}
        print_json(boundary.to_dict() | more)
        return
    from boundshift.words import at_most, error_text, percent

    negative, high = boundary.labels
    print_line(f"Call a row {high} if {score} > {boundary.threshold:.6g}, else {negative}.")
    print_line(in_options(boundary.message))
    print_table(
        ["", *(f"class {name}" for name in boundary.labels)],
        [
            ("rows", *boundary.n_samples),
            ("on the wrong side here", *boundary.wrong),
            ("their share", *map(percent, certificate.errors)),
            (f"claimed by {boundary.curve.name}", *map(error_text, boundary.errors)),
            (
                f"at most, at {goal.confidence:g} ({certificate.status})",
                *map(at_most, certificate.error_bounds),
            ),
        ],
    )
    print_line(f"{certificate.status.capitalize()}: {certificate.reason}.")


def _print_groups(found: GroupBoundaries, score: str, as_json: bool) -> None:
    """Print the boundary of each group, and what it does there."""
    table = found.table()
    if as_json:
        print_json(found.to_dict() | {"table": table})
        return
    high = found.common.labels[1]
    print_line(f"Call a row {high} if {score} is above the threshold of its group.")
    print_table(list(table[0]), [list(row.values()) for row in table])
    print_line(f"Groups that are not listed: {found.common.threshold:.6g}.")


def _show_zone(
    files: list[Path],
    score: str,
    label: str,
    positive: str | None,
    zone: str,
    confidence: float,
    scale: ScaleName,
    as_json: bool,
    asked: bool,
) -> None:
    """Print the two limits of scores in files; `asked` is whether a boundary was asked for too."""
    with errors(), progress() as show:
        from boundshift.app.tables.class_labels import positive_note
        from boundshift.app.workflow.file_zone import find_file_zone

        if asked:
            raise InvalidInputError(
                "--zone must go without a curve, a rule, floors, --by, --weight, --cost-column, "
                "--certify and --scores: its two limits take the place of a boundary. Run the "
                "command twice."
            )
        found = find_file_zone(
            files,
            score,
            label,
            errors=read_zone_errors(zone),
            confidence=confidence,
            positive=positive,
            scale=scale.value,
            progress=show,
        )
    print_notes(positive_note(positive, found.labels, found.n_samples))
    if as_json:
        print_json(found.to_dict())
        return
    from boundshift.words import percent

    negative, high = found.labels
    print_line(
        f"Call a row {high} if {score} > {found.high:.6g} and {negative} if {score} <= "
        f"{found.low:.6g}; between the two, ask a person."
    )
    print_line(found.message)
    print_table(
        ["", *(f"class {name}" for name in found.labels)],
        [
            ("rows", *found.n_samples),
            ("most that may be decided wrongly", *found.errors),
            ("share between the limits here", *map(percent, found.unsure)),
        ],
    )
