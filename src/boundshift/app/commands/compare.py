"""``boundshift compare``: several methods beside each other, on a table or on scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from boundshift.app.application import (
    app,
    check_new,
    errors,
    examples,
    print_json,
    print_note,
    print_table,
    progress,
)
from boundshift.app.options import Force, Json, Positive, TableFile
from boundshift.exceptions import InvalidInputError

__all__ = ["compare"]


@app.command(
    epilog=examples(
        "boundshift compare scores.csv --score risk --label ill --positive yes",
        "boundshift compare patients.csv --target ill --model boosting --out comparison.csv",
    )
)
def compare(
    file: TableFile,
    score: Annotated[
        str | None, typer.Option(help="Column of scores; with --label.", show_default=False)
    ] = None,
    label: Annotated[
        str | None, typer.Option(help="Column of labels; with --score.", show_default=False)
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            help="Column to be predicted by a model, instead of scores.", show_default=False
        ),
    ] = None,
    positive: Positive = None,
    model: Annotated[
        str, typer.Option(help="With --target: logistic, svm, forest, boosting, mlp or a FILE.")
    ] = "logistic",
    seed: Annotated[int, typer.Option(min=0, help="Of everything random.")] = 0,
    out: Annotated[
        Path | None, typer.Option(help="Write the table as CSV, too.", show_default=False)
    ] = None,
    as_json: Json = False,
    force: Force = False,
) -> None:
    """Compare the untouched model, ours and the rivals; no row is judged by what it decided.

    Scores: the boundary of each fifth of the rows is found on the other four. A table: methods
    decide on seven rows in ten and are judged on three.
    """
    with errors(), progress() as show:
        if out is not None:
            check_new(out, force)
        if target is None and score is not None and label is not None:
            from boundshift.app.tables import read_scores
            from boundshift.app.workflow import compare_scores

            rows = read_scores(file, score, label, positive=positive, progress=show)
            labels = rows.labels
            table = compare_scores(rows.is_positive, rows.y_score, seed=seed, progress=show)
        elif target is not None and score is None and label is None:
            from boundshift.app.tables import read_frame
            from boundshift.app.workflow import fit_table

            fitted = fit_table(
                read_frame(file), target, positive=positive, model=model, seed=seed, progress=show
            )
            table, labels = fitted.comparison, fitted.labels
            for note in fitted.notes:
                print_note(note)
        else:
            raise InvalidInputError(
                "Give either --score and --label, for a file of scores, or --target, for a table."
            )
        if out is not None:
            from boundshift.app.workflow.folder import comparison_csv
            from boundshift.writing import write_whole

            write_whole(out, comparison_csv(table))
    if as_json:
        print_json({"labels": labels, "methods": table})
        return
    _print(table, labels)


def _print(table: list[dict[str, Any]], labels: tuple[Any, Any]) -> None:
    shown = ["g_mean", "f1", "balanced_accuracy", "recall_negative", "recall_positive", "threshold"]
    recalls = [f"recall of {name}" for name in labels]
    print_table(
        ["method", "G-mean", "F1", "balanced accuracy", *recalls, "threshold"],
        [[row["method"], *(row[name] for name in shown)] for row in table],
    )
