"""The command `boundshift threshold`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from boundshift._app.cli import (
    command,
    print_json,
    print_line,
    print_notes,
    print_table,
    running,
)
from boundshift._app.options import Goal, argument, option, read_zone_errors
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._tables import Reading


@command(
    "boundshift threshold scores.csv --score risk --label ill --positive yes",
    "boundshift threshold scores.csv --score p --label y --costs 1,20 --json",
    "boundshift threshold day1.parquet day2.parquet --score p --label y --recall-floor 0.9",
    "boundshift threshold scores.csv --score p --label y --zone 0.05,0.05 --cluster patient",
    "zcat scores.csv.gz | boundshift threshold - --score p --label y --curve paper",
)
def threshold(
    files: Annotated[list[Path], argument("files")],
    score: Annotated[str, option("score")],
    label: Annotated[str, option("label")],
    positive: Annotated[str | None, option("positive")] = None,
    scores: Annotated[
        Literal["held-out", "out-of-fold", "training"], option("scores")
    ] = "held-out",
    curve: Annotated[str | None, option("curve")] = None,
    rule: Annotated[str | None, option("rule")] = None,
    metric: Annotated[str | None, option("metric")] = None,
    costs: Annotated[str | None, option("costs")] = None,
    recall_floor: Annotated[float | None, option("recall_floor")] = None,
    specificity_floor: Annotated[float | None, option("specificity_floor")] = None,
    precision_floor: Annotated[float | None, option("precision_floor")] = None,
    npv_floor: Annotated[float | None, option("npv_floor")] = None,
    capacity: Annotated[str | None, option("capacity")] = None,
    then: Annotated[str | None, option("then")] = None,
    prevalence: Annotated[float | None, option("prevalence")] = None,
    confidence: Annotated[float, option("confidence")] = 0.95,
    cost_column: Annotated[str | None, option("cost_column")] = None,
    certify: Annotated[bool, option("certify")] = False,
    zone: Annotated[str | None, option("zone")] = None,
    cluster: Annotated[str | None, option("cluster")] = None,
    encoding: Annotated[str | None, option("encoding")] = None,
    sheet: Annotated[str | None, option("sheet")] = None,
    header_row: Annotated[int | None, option("header_row")] = None,
    as_json: Annotated[bool, option("as_json")] = False,
) -> None:
    """Find the boundary for a file of labels and scores from any system.

    The answer is one number: call a row positive if its score is above it; with --zone, two
    numbers. Several files are read as one table, and more than 512 MB in passes, so that they need
    not fit into memory.
    """
    with running() as show:
        from boundshift._app.scores import ScoreTable
        from boundshift._app.tables import positive_note
        from boundshift._words import at_most, error_text, percent

        goal = Goal(
            curve=curve,
            rule=rule,
            metric=metric,
            costs=costs,
            recall_floor=recall_floor,
            specificity_floor=specificity_floor,
            precision_floor=precision_floor,
            npv_floor=npv_floor,
            capacity=capacity,
            then=then,
            prevalence=prevalence,
            confidence=confidence,
        )
        reading = Reading(encoding, sheet, header_row)
        alone = [name for name, it in (("zone", zone), ("cost-column", cost_column)) if it]
        is_seen = zone is not None and scores != "held-out"
        has_goal = goal != Goal(confidence=confidence)
        if alone and (len(alone) > 1 or has_goal or certify or is_seen):
            raise InvalidInputError(
                f"--{alone[0]} must go alone: without the other one of --zone and --cost-column, a "
                "rule, a curve and --certify; --zone also without --scores. Run the command twice."
            )
        ids = [] if cluster in (None, "none") else [cluster]
        if ids and zone is None:
            raise InvalidInputError(
                "--cluster must go with --zone, got it alone. For a promised floor use "
                "find_boundary(..., rule=Floors(recall=0.9), cluster=ids) of the library."
            )
        by_curve, by_rule = goal.claims()
        allowed = read_zone_errors(zone)
        symmetric = len(set(allowed)) == 1 if allowed else by_rule.symmetric and cost_column is None
        table = ScoreTable(
            files,
            score,
            label,
            positive=positive,
            symmetric=symmetric,
            cost=cost_column,
            by=ids,
            independent=cluster is not None,
            reading=reading,
            progress=show,
        )
        found: Any
        more: dict[str, Any] = {}
        if allowed is not None:
            found = table.find_zone(allowed, confidence, *ids)
            low_class, high_class = found.labels
            text = (
                f"Call a row {high_class} if {score} > {found.high:.6g} and {low_class} if "
                f"{score} <= {found.low:.6g}; between the two, ask a person.\n"
                f"{found.message}"
            )
            rows = [
                *([] if found.n_clusters is None else [("clusters", *found.n_clusters)]),
                ("most that may be decided wrongly", *found.error_bounds),
                ("share between the limits here", *map(percent, found.unsure)),
            ]
        else:
            found, certificate = table.decide(
                by_curve, by_rule, confidence=confidence, origin=scores
            )
            more = {"certificate": certificate.to_dict()}
            low_class, high_class = found.labels
            text = (
                f"Call a row {high_class} if {score} > {found.threshold:.6g}, else {low_class}."
                f"\n{found.message}\n{certificate.status.capitalize()}: "
                f"{certificate.reason}."
            )
            bounds = f"at most, at {certificate.confidence:g} ({certificate.status})"
            rows = [
                ("on the wrong side here", *found.wrong),
                ("their share", *map(percent, certificate.errors)),
                (f"claimed by {found.curve.name}", *map(error_text, found.errors)),
                (bounds, *map(at_most, certificate.error_bounds)),
            ]
    print_notes(positive_note(positive, found.labels, found.n_samples))
    if as_json:
        print_json(found.to_dict() | (more if certify else {}))
        return
    print_line(text)
    head = ["", *(f"class {name}" for name in found.labels)]
    print_table(head, [("rows", *found.n_samples), *rows])
