"""``boundshift fit``: a table in, a certified model and its report out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from boundshift.app.application import (
    app,
    errors,
    examples,
    print_line,
    print_note,
    print_table,
    progress,
)
from boundshift.app.options import (
    Bound,
    Confidence,
    Costs,
    Force,
    Positive,
    RecallFloor,
    Rule,
    TableFile,
    read_costs,
)

__all__ = ["fit"]


def _models() -> list[str]:
    from boundshift.app.workflow.estimators import MODELS

    return list(MODELS)


@app.command(
    epilog=examples(
        "boundshift fit patients.csv --target ill --positive yes",
        "boundshift fit patients.csv --target ill --model boosting --recall-floor 0.9 --out ill",
        "boundshift fit patients.csv --target ill --model trained.skops",
        "boundshift predict ill new.csv --out predictions.csv",
    )
)
def fit(
    file: TableFile,
    target: Annotated[str, typer.Option(help="Column to be predicted.", show_default=False)],
    positive: Positive = None,
    model: Annotated[
        str,
        typer.Option(
            help="logistic, svm, forest, boosting, mlp, or a FILE with a trained model.",
            autocompletion=_models,
        ),
    ] = "logistic",
    out: Annotated[Path, typer.Option(help="Folder to write.")] = Path("boundshift-fit"),
    rule: Rule = None,
    bound: Bound = None,
    recall_floor: RecallFloor = None,
    costs: Costs = None,
    confidence: Confidence = 0.95,
    unit: Annotated[
        str | None,
        typer.Option(help="What a row is, in the plural: patients, loans.", show_default=False),
    ] = None,
    positive_name: Annotated[
        str | None, typer.Option(help="What the positive class is called.", show_default=False)
    ] = None,
    negative_name: Annotated[
        str | None, typer.Option(help="What the negative class is called.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
    trust: Annotated[
        bool, typer.Option("--trust", help="FILE is your own: a pickle, or of another library.")
    ] = False,
    seen: Annotated[
        bool, typer.Option("--seen", help="FILE was trained on these rows: nothing is certified.")
    ] = False,
    force: Force = False,
) -> None:
    """Train a model on a table, shift its boundary, certify it, compare it, and write a report.

    Gaps are filled, categories spread out, dates and row names left out. Three rows in ten are
    kept apart to certify the result. DIR gets report.html, model.skops, boundary.json,
    comparison.csv and columns.json, all of them or none.
    """
    with errors(), progress() as show:
        from boundshift.app.tables import read_frame
        from boundshift.app.workflow import choose_decision, fit_table, report_facts, write_folder
        from boundshift.app.workflow.folder import check_folder

        check_folder(out, force)
        fitted = fit_table(
            read_frame(file),
            target,
            positive=positive,
            model=model,
            decision=choose_decision(
                rule=rule,
                bound=bound,
                recall_floor=recall_floor,
                costs=read_costs(costs),
                confidence=confidence,
            ),
            confidence=confidence,
            seed=seed,
            trust=trust,
            seen=seen,
            progress=show,
        )
        names = {"unit": unit, "positive": positive_name, "negative": negative_name}
        said = {what: name for what, name in names.items() if name is not None}
        facts = report_facts(fitted, out, said)
        written = write_folder(fitted, facts, out, force=force)
    for note in fitted.notes:
        print_note(note)
    shown = ["method", "g_mean", "f1", "recall_negative", "recall_positive"]
    print_table(
        ["method", "G-mean", "F1", *(f"recall of {label}" for label in fitted.labels)],
        [[row[name] for name in shown] for row in fitted.comparison],
    )
    print_line(facts["verdict"]["sentence"])
    print_line(f"{fitted.certificate.status.capitalize()}: {fitted.certificate.reason}.\n")
    for path in written:
        print_line(path)
