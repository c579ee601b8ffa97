"""``boundshift fit``: a table in, a certified model and its report out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundshift.app.application import app, examples
from boundshift.app.goal import Goal, takes_goal
from boundshift.app.options import (
    ByOption,
    CategoryOption,
    CostColumnOption,
    DropOption,
    ForceOption,
    IdOption,
    NegativeNameOption,
    NumericOption,
    PositiveNameOption,
    PositiveOption,
    SeedOption,
    TableArgument,
    TrustOption,
    ZoneOption,
    optional,
    read_roles,
    read_zone_errors,
)
from boundshift.app.terminal import errors, print_line, print_notes, print_table, progress
from boundshift.exceptions import InvalidInputError

__all__ = ["fit"]


def _models() -> list[str]:
    from boundshift.app.workflow.estimators import MODELS

    return list(MODELS)


@app.command(
    epilog=examples(
        "boundshift fit patients.csv --target ill --positive yes",
        "boundshift fit patients.csv --target ill --model boosting --recall-floor 0.9 --out ill",
        "boundshift fit patients.csv --target ill --model trained.skops",
        "boundshift fit loans.csv --target default --cost-column amount",
        "boundshift fit patients.csv --target ill --positive yes --ignore unknown",
        "boundshift fit patients.csv --target ill --zone 0.05,0.05",
        "boundshift predict ill new.csv --out predictions.csv",
    )
)
@takes_goal
def fit(
    file: TableArgument,
    target: Annotated[str, optional("Column to be predicted.")],
    positive: PositiveOption = None,
    ignore: Annotated[
        list[str] | None,
        optional(
            "Label that is none, such as unknown: rows with it are left out; may be repeated.",
            "LABEL",
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            help="logistic, svm, forest, boosting, mlp, or a FILE with a trained model.",
            autocompletion=_models,
        ),
    ] = "logistic",
    out: Annotated[Path, typer.Option(help="Folder to write.")] = Path("boundshift-fit"),
    *,
    goal: Goal,
    numeric: NumericOption = None,
    category: CategoryOption = None,
    drop: DropOption = None,
    row_id: IdOption = None,
    by: ByOption = None,
    weight: Annotated[
        str | None,
        optional(
            "Column that says how often each row counts, in training and in the boundary; "
            "what is certified counts each row once.",
            "COLUMN",
        ),
    ] = None,
    cost_column: CostColumnOption = None,
    zone: ZoneOption = None,
    unit: Annotated[
        str | None,
        optional("What a row is, in the plural: patients, loans."),
    ] = None,
    positive_name: PositiveNameOption = None,
    negative_name: NegativeNameOption = None,
    seed: SeedOption = 0,
    trust: TrustOption = False,
    seen: Annotated[
        bool, typer.Option("--seen", help="FILE was trained on these rows: nothing is certified.")
    ] = False,
    force: ForceOption = False,
) -> None:
    """Train a model on a table, shift its boundary, certify it, compare it, and write a report.

    Missing values are filled, categories become columns, dates and ids are left out. Three rows
    in ten are kept apart to certify the result. The folder gets report.html, model.skops,
    boundary.json, certificate.json, comparison.csv and columns.json, all of them or none; with
    --zone also zone.json, found on the rows kept apart, for `boundshift predict --zone`.
    """
    with errors(), progress() as show:
        from boundshift.app.tables import read_frame
        from boundshift.app.workflow import fit_table, report_facts, write_folder
        from boundshift.app.workflow.folder import check_folder
        from boundshift.promises.zone import zone_of

        before = check_folder(out, force)
        allowed = None if zone is None else read_zone_errors(zone)
        if allowed is not None and seen:
            raise InvalidInputError(
                "--zone must go without --seen: of rows that the model has seen nothing can be "
                "promised. Give rows that it has not seen."
            )
        goal.check_costs_by_row(cost_column)
        claim, aim = (None, None) if cost_column is not None else goal.claims()
        fitted = fit_table(
            read_frame(file),
            target,
            positive=positive,
            ignore=ignore or (),
            model=model,
            curve=claim,
            rule=aim,
            confidence=goal.confidence,
            seed=seed,
            trust=trust,
            seen=seen,
            roles=read_roles(numeric, category, drop, row_id),
            by=by or (),
            weight=weight,
            cost_column=cost_column,
            progress=show,
        )
        names = {"unit": unit, "positive": positive_name, "negative": negative_name}
        said = {what: name for what, name in names.items() if name is not None}
        found = None if allowed is None else zone_of(fitted.test, allowed, goal.confidence)
        facts = report_facts(fitted, out, said, zone=found)
        written = write_folder(fitted, facts, out, force=force, instead_of=before, zone=found)
    print_notes(fitted.notes)
    print_table(["column", "read as", "why"], fitted.columns.described())
    shown = ["method", "g_mean", "f1", "recall_negative", "recall_positive"]
    print_table(
        ["method", "G-mean", "F1", *(f"recall of {label}" for label in fitted.labels)],
        [[row["method"], *(f"{row[n]:.3f}" for n in shown[1:])] for row in fitted.comparison],
    )
    if facts["goal"] is not None:
        print_line(facts["goal"]["sentence"])
    print_line(facts["verdict"]["sentence"])
    if facts["zone"] is not None:
        print_line(facts["zone"]["sentence"])
    print_line(f"{fitted.certificate.status.capitalize()}: {fitted.certificate.reason}.\n")
    for path in written:
        print_line(path)
