"""``boundshift compare``: several methods beside each other, on a table or on scores."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from boundshift.app.application import app, examples
from boundshift.app.options import (
    CategoryOption,
    DropOption,
    ForceOption,
    IdOption,
    JsonOption,
    NumericOption,
    PositiveOption,
    SeedOption,
    TableArgument,
    optional,
    read_roles,
)
from boundshift.app.terminal import (
    check_new,
    errors,
    print_json,
    print_notes,
    print_table,
    progress,
)
from boundshift.exceptions import InvalidInputError

__all__ = ["compare"]


@app.command(
    epilog=examples(
        "boundshift compare scores.csv --score risk --label ill --positive yes",
        "boundshift compare patients.csv --target ill --model boosting --out comparison.csv",
    )
)
def compare(
    file: TableArgument,
    score: Annotated[str | None, optional("Column of scores; with --label.")] = None,
    label: Annotated[str | None, optional("Column of labels; with --score.")] = None,
    target: Annotated[
        str | None,
        optional("Column to be predicted by a model, instead of scores."),
    ] = None,
    positive: PositiveOption = None,
    model: Annotated[
        str, typer.Option(help="With --target: logistic, svm, forest, boosting, mlp or a FILE.")
    ] = "logistic",
    numeric: NumericOption = None,
    category: CategoryOption = None,
    drop: DropOption = None,
    row_id: IdOption = None,
    seed: SeedOption = 0,
    out: Annotated[Path | None, optional("Write the table as CSV, too.")] = None,
    as_json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Compare the model as it is, its shifted boundary and other methods.

    No row judges a boundary that it helped to choose. Scores: the boundary of each fifth of the
    rows is found on the other four. A table: methods decide on seven rows in ten and are judged
    on three.
    """
    with errors(), progress() as show:
        if out is not None:
            check_new(out, force)
        roles = read_roles(numeric, category, drop, row_id)
        if target is None and score is not None and label is not None:
            if roles:
                raise InvalidInputError(
                    "--numeric, --category, --drop and --id speak of columns that a model learns "
                    "from. Use them with --target, or leave them out."
                )
            from boundshift.app.tables import read_scores
            from boundshift.app.tables.class_labels import positive_note
            from boundshift.app.workflow import compare_scores

            sample = read_scores(file, score, label, positive=positive, progress=show)
            table, labels = compare_scores(sample, seed=seed, progress=show), sample.labels
            print_notes(positive_note(positive, labels, sample.n_samples))
        elif target is not None and score is None and label is None:
            from boundshift.app.tables import read_frame
            from boundshift.app.workflow import fit_table

            fitted = fit_table(
                read_frame(file),
                target,
                positive=positive,
                model=model,
                seed=seed,
                roles=roles,
                progress=show,
            )
            table, labels = fitted.comparison, fitted.labels
            print_notes(fitted.notes)
        else:
            raise InvalidInputError(
                "Give either --score and --label, for a file of scores, or --target, for a table."
            )
        if out is not None:
            from boundshift.app.workflow.folder import comparison_csv
            from boundshift.writing import write_whole

            write_whole(out, comparison_csv(table), new=not force)
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
