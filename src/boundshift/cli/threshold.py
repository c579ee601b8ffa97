"""``boundshift threshold``: scores of any system in, the boundary out."""

from __future__ import annotations

from dataclasses import asdict, replace
from enum import StrEnum
from typing import Annotated

import typer

from boundshift.cli.application import (
    app,
    errors,
    examples,
    print_json,
    print_line,
    print_table,
    progress,
)
from boundshift.cli.options import (
    Bound,
    Confidence,
    Costs,
    Json,
    Label,
    Positive,
    RecallFloor,
    Rule,
    Score,
    TableFile,
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
        "zcat scores.csv.gz | boundshift threshold - --score p --label y",
    )
)
def threshold(
    file: TableFile,
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

    The answer is one number: call a row positive if its score is above it.
    """
    with errors(), progress() as show:
        from boundshift.boundary import find_boundary
        from boundshift.certificate import certify as make_certificate
        from boundshift.tables import read_scores
        from boundshift.workflow.decision import choose_decision

        options = choose_decision(
            rule=rule,
            bound=bound,
            recall_floor=recall_floor,
            costs=read_costs(costs),
            preset=preset.value if preset else None,
            confidence=confidence,
        )
        rows = read_scores(file, score, label, positive=positive, progress=show)
        found = find_boundary(rows.is_positive, rows.y_score, **options)
        boundary = replace(found, labels=rows.labels)
        certificate = make_certificate(
            rows.is_positive,
            rows.y_score,
            boundary.threshold,
            confidence,
            scores=scores.value,
            chosen_here=True,
        )
    if as_json:
        more = {"certificate": asdict(certificate) | {"labels": rows.labels}} if certify else {}
        print_json(boundary.to_dict() | more)
        return
    negative, high = boundary.labels
    print_line(f"Call a row {high} if {score} > {boundary.threshold:.6g}, else {negative}.")
    print_line(boundary.status.value)
    head = ["", *(f"class {name}" for name in boundary.labels)]
    body = [
        ("rows", *boundary.n_samples),
        ("on the wrong side here", *certificate.wrong),
        ("their share", *certificate.errors),
        (f"claimed by {boundary.bound}", *boundary.error_bounds),
        (f"at most, at {confidence:g} ({certificate.status})", *certificate.error_bounds),
    ]
    print_table(head, body)
    print_line(f"{certificate.status.capitalize()}: {certificate.reason}.")
