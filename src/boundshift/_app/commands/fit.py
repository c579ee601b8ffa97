"""The command `boundshift fit`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from boundshift._app.cli import (
    command,
    print_line,
    print_notes,
    print_sentences,
    print_table,
    running,
)
from boundshift._app.options import Called, Goal, Roles, argument, option, read_zone_errors
from boundshift.streaming._tables import Reading


@command(
    "boundshift fit patients.csv --target ill --positive yes --ignore unknown",
    "boundshift fit patients.csv --target ill --model logistic,boosting --recall-floor 0.9",
    "boundshift fit visits.csv --target ill --cluster patient --zone 0.05,0.05",
    "boundshift fit donors.csv --target gives --capacity 50/400 --out gives",
    "boundshift predict gives new.csv --out predictions.csv",
)
def fit(
    file: Annotated[Path, argument("file")],
    target: Annotated[str, option("target")],
    positive: Annotated[str | None, option("positive")] = None,
    ignore: Annotated[list[str] | None, option("ignore", advanced=True)] = None,
    model: Annotated[str, option("model")] = "logistic",
    curve: Annotated[str | None, option("curve", advanced=True)] = None,
    rule: Annotated[str | None, option("rule")] = None,
    metric: Annotated[str | None, option("metric", advanced=True)] = None,
    costs: Annotated[str | None, option("costs")] = None,
    recall_floor: Annotated[float | None, option("recall_floor")] = None,
    specificity_floor: Annotated[float | None, option("specificity_floor", advanced=True)] = None,
    precision_floor: Annotated[float | None, option("precision_floor", advanced=True)] = None,
    npv_floor: Annotated[float | None, option("npv_floor", advanced=True)] = None,
    capacity: Annotated[str | None, option("capacity")] = None,
    then: Annotated[str | None, option("then", advanced=True)] = None,
    prevalence: Annotated[float | None, option("prevalence", advanced=True)] = None,
    confidence: Annotated[float, option("confidence", advanced=True)] = 0.95,
    numeric: Annotated[list[str] | None, option("numeric", advanced=True)] = None,
    category: Annotated[list[str] | None, option("category", advanced=True)] = None,
    drop: Annotated[list[str] | None, option("drop")] = None,
    row_id: Annotated[list[str] | None, option("row_id", advanced=True)] = None,
    by: Annotated[list[str] | None, option("by", advanced=True)] = None,
    cluster: Annotated[str | None, option("cluster", advanced=True)] = None,
    zone: Annotated[str | None, option("zone", advanced=True)] = None,
    case_name: Annotated[str | None, option("case_name", advanced=True)] = None,
    positive_name: Annotated[str | None, option("positive_name", advanced=True)] = None,
    negative_name: Annotated[str | None, option("negative_name", advanced=True)] = None,
    title: Annotated[str | None, option("title", advanced=True)] = None,
    encoding: Annotated[str | None, option("encoding", advanced=True)] = None,
    sheet: Annotated[str | None, option("sheet", advanced=True)] = None,
    header_row: Annotated[int | None, option("header_row", advanced=True)] = None,
    seed: Annotated[int, option("seed", advanced=True, least=0, most=2**32 - 1)] = 0,
    out: Annotated[Path, option("out")] = Path("boundshift-fit"),
    force: Annotated[bool, option("force", "fit")] = False,
) -> None:
    """Train a model on a table, shift its boundary, certify it, compare it, and write a report.

    Missing values are filled, categories become columns, dates and ids are left out. Three rows
    in ten are kept apart to certify the result. The folder gets report.html, model.skops,
    boundary.json, certificate.json, comparison.csv and columns.json, all of them or none; with
    --zone also zone.json, found on the rows kept apart, for `boundshift predict --zone`.
    """
    with running(stages=True) as show:
        from boundshift._app.fit import fit_table
        from boundshift._app.folder import check_folder, report_facts, write_folder
        from boundshift._app.tables import read_frame
        from boundshift._guarantees.zone import find_zone

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
        check_folder(out, force)
        allowed = read_zone_errors(zone)
        names = Called(case_name, positive_name, negative_name, title).names()
        frame = read_frame(file, reading=reading)
        by_curve, by_rule = goal.claims(len(frame))
        fitted = fit_table(
            frame,
            target,
            positive=positive,
            ignore=ignore or (),
            model=model,
            curve=by_curve,
            rule=by_rule,
            confidence=confidence,
            seed=seed,
            roles=Roles(numeric, category, drop, row_id).by_column(),
            by=by or (),
            cluster=cluster,
            progress=show,
        )
        limits = None
        if allowed is not None:
            limits = find_zone(
                *fitted.judged,
                allowed,
                confidence,
                scale="raw",
                pos_label=fitted.labels[1],
                cluster=fitted.details.cluster,
            )
        facts = report_facts(fitted, out, names, zone=limits)
        written = write_folder(fitted, facts, out, force=force, zone=limits)
    print_notes(fitted.notes)
    print_table(["column", "read as", "why"], fitted.columns.described())
    head = ["G-mean", "F1", *(f"recall of {label}" for label in fitted.labels)]
    shown = ["g_mean", "f1", "recall_negative", "recall_positive"]
    made = [[row["method"], *(f"{row[n]:.3f}" for n in shown)] for row in fitted.comparison]
    print_table(["method", *head], made)
    if len(fitted.models) > 1:
        made = [[row["method"], *(row[n] for n in (*shown, "loss"))] for row in fitted.models]
        print_table(["model", *head, "loss"], made)
        print_line(
            f"The {fitted.name} was chosen, by the loss on training rows. The other figures are of "
            "the test rows."
        )
    print_sentences(facts)
    print_line(f"{fitted.certificate.status.capitalize()}: {fitted.certificate.reason}.\n")
    for path in written:
        print_line(path)
