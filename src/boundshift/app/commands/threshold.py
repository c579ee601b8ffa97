"""``boundshift threshold``: scores of any system in, the boundary out."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from boundshift.app.application import (
    app,
    errors,
    examples,
    print_json,
    print_line,
    print_table,
    progress,
)
from boundshift.app.options import (
    Bound,
    Confidence,
    Costs,
    Json,
    Label,
    Positive,
    RecallFloor,
    Rule,
    Score,
    TableFiles,
    read_costs,
)

__all__ = ["threshold"]


class Preset(StrEnum):
    """Readings of the paper."""

    paper = "paper"
    authors = "authors"


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
        "boundshift threshold day1.parquet day2.parquet --score p --label y",
        "zcat scores.csv.gz | boundshift threshold - --score p --label y",
    )
)
def threshold(
    files: TableFiles,
    score: Score,
    label: Label,
    positive: Positive = None,
    rule: Rule = None,
    bound: Bound = None,
    recall_floor: RecallFloor = None,
    costs: Costs = None,
    preset: Annotated[
        Preset | None, typer.Option(help="The paper's text, or what its tables were made with.")
    ] = None,
    confidence: Confidence = 0.95,
    scores: Annotated[
        Origin, typer.Option(help="Rows the model has not seen, or those it was trained on.")
    ] = Origin.held_out,
    certify: Annotated[
        bool, typer.Option("--certify", help="Add the certificate to the JSON.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Find the boundary for scores of any system, row by row in a file.

    The answer is one number: call a row positive if its score is above it. Several files are read
    as one table, in passes, so that they need not fit into memory.
    """
    with errors(), progress() as show:
        from boundshift.app.workflow.decision import choose_decision
        from boundshift.app.workflow.file_boundary import decide_scores

        decision = choose_decision(
            rule=rule,
            bound=bound,
            recall_floor=recall_floor,
            costs=read_costs(costs),
            preset=preset.value if preset else None,
            confidence=confidence,
        )
        boundary, certificate = decide_scores(
            files,
            score,
            label,
            positive=positive,
            decision=decision,
            confidence=confidence,
            scores=scores.value,
            progress=show,
        )
    if as_json:
        more = {"certificate": asdict(certificate)} if certify else {}
        print_json(boundary.to_dict() | more)
        return
    negative, high = boundary.labels
    print_line(f"Call a row {high} if {score} > {boundary.threshold:.6g}, else {negative}.")
    print_line(boundary.status.value)
    print_table(
        ["", *(f"class {name}" for name in boundary.labels)],
        [
            ("rows", *boundary.n_samples),
            ("on the wrong side here", *certificate.wrong),
            ("their share", *certificate.errors),
            (f"claimed by {boundary.bound}", *boundary.error_bounds),
            (f"at most, at {confidence:g} ({certificate.status})", *certificate.error_bounds),
        ],
    )
    print_line(f"{certificate.status.capitalize()}: {certificate.reason}.")
