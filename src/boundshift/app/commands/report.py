"""``boundshift report``: scores of any system in, a page that a reader can act on out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundshift.app.application import app, check_new, errors, examples, print_line, progress
from boundshift.app.commands.threshold import Origin
from boundshift.app.options import (
    Bound,
    Confidence,
    Costs,
    Force,
    Label,
    Positive,
    RecallFloor,
    Rule,
    Score,
    TableFile,
    read_costs,
)
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift.app.tables import LabelledScores

__all__ = ["report"]

# The boundary is found so often anew for its interval, about three seconds up to so many rows.
_RESAMPLES = 100
_MOST_ROWS_FOR_INTERVAL = 20_000


@app.command(
    epilog=examples(
        "boundshift report scores.csv --score risk --label ill --positive yes --test-share 0.5",
        "boundshift report validation.csv --test test.csv --score p --label y --out p.html",
        "boundshift report scores.csv --score p --label ill --positive-name sick "
        "--negative-name healthy --unit patients",
    )
)
def report(
    file: TableFile,
    score: Score,
    label: Label,
    positive: Positive = None,
    test: Annotated[
        Path | None,
        typer.Option(
            help="Rows used for nothing else, with the same columns: the verdict is certified on "
            "them.",
            show_default=False,
        ),
    ] = None,
    test_share: Annotated[
        float | None,
        typer.Option(help="Set this share of the rows apart as such a test.", show_default=False),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the draw of --test-share.")] = 0,
    rule: Rule = None,
    bound: Bound = None,
    recall_floor: RecallFloor = None,
    costs: Costs = None,
    scores: Annotated[
        Origin, typer.Option(help="Rows the model has not seen, or those it was trained on.")
    ] = Origin.held_out,
    own: Annotated[
        float | None,
        typer.Option(
            help="The model's own threshold.", show_default="0.5 for probabilities, else 0"
        ),
    ] = None,
    confidence: Confidence = 0.95,
    title: Annotated[str | None, typer.Option(help="Of the page.", show_default=False)] = None,
    model: Annotated[
        str | None, typer.Option(help="What the model is called.", show_default=False)
    ] = None,
    positive_name: Annotated[
        str | None, typer.Option(help="What the positive class is called.", show_default=False)
    ] = None,
    negative_name: Annotated[
        str | None, typer.Option(help="What the negative class is called.", show_default=False)
    ] = None,
    unit: Annotated[str, typer.Option(help="What a row is, in the plural.")] = "rows",
    interval: Annotated[
        bool,
        typer.Option(
            help=f"Find where the boundary may fall, up to {_MOST_ROWS_FOR_INTERVAL:,} rows."
        ),
    ] = True,
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("report.html"),
    force: Force = False,
) -> None:
    """Write a report on scores of any system: one HTML file that needs no network.

    It says in a sentence what moving the boundary changes, lets the reader move it, and keeps
    apart what is certified and what is not.
    """
    with errors(), progress() as show:
        check_new(out, force)
        _check_test(test, test_share)
        from boundshift.app.tables import read_scores
        from boundshift.app.workflow.decision import choose_decision
        from boundshift.boundary import find_boundary
        from boundshift.promises.interval import threshold_interval
        from boundshift.report import collect_facts, write_report

        options = choose_decision(
            rule=rule,
            bound=bound,
            recall_floor=recall_floor,
            costs=read_costs(costs),
            preset=None,
            confidence=confidence,
        )
        rows = read_scores(file, score, label, positive=positive, progress=show)
        if test is not None:
            known = str(rows.pos_label)
            kept_apart = read_scores(test, score, label, positive=known, progress=show)
        deciding, tested = (rows.y_true, rows.y_score), None
        if test_share is not None:
            deciding, tested = _set_apart(rows, test_share, seed)
        elif test is not None:
            tested = (kept_apart.y_true, kept_apart.y_score)
        found = find_boundary(*deciding, pos_label=rows.pos_label, **options)
        fall = None
        if interval and len(deciding[0]) <= _MOST_ROWS_FOR_INTERVAL:
            show("interval", 0, 1)
            fall = threshold_interval(
                *deciding,
                pos_label=rows.pos_label,
                n_resamples=_RESAMPLES,
                random_state=0,
                **options,
            )
            show("interval", 1, 1)
        facts = collect_facts(
            *deciding,
            pos_label=rows.pos_label,
            boundary=found,
            old_threshold=own,
            test=tested,
            scores=scores.value,
            confidence=confidence,
            model=model,
            names={
                "positive": positive_name,
                "negative": negative_name,
                "title": title,
                "unit": unit,
            },
            interval=fall,
        )
        write_report(facts, out, force=force)
    print_line(facts["verdict"]["sentence"])
    print_line(facts["verdict"]["note"])
    print_line(out)


def _check_test(test: Path | None, share: float | None) -> None:
    """Raise if test rows are asked for in two ways, or their share makes no sense."""
    if test is not None and share is not None:
        raise InvalidInputError(
            "--test and --test-share must not both be given: either a file holds the test rows, "
            "or some are set apart. Leave one of them out."
        )
    if share is not None and not 0 < share < 1:
        raise InvalidInputError(
            f"--test-share must be between 0 and 1, got {share:g}. Use 0.5, for example."
        )


def _set_apart(rows: LabelledScores, share: float, seed: int) -> tuple[tuple[Any, Any], ...]:
    """Return the rows that decide and those that test, with the same share of each class."""
    import numpy as np

    random = np.random.default_rng(seed)
    tests = np.zeros(len(rows.y_score), dtype=np.bool_)
    for label, members in zip(
        rows.labels,
        (np.flatnonzero(~rows.is_positive), np.flatnonzero(rows.is_positive)),
        strict=True,
    ):
        n = round(share * len(members))
        if not 0 < n < len(members):
            raise InvalidInputError(
                f"--test-share must leave rows of class {label} on both sides, got {share:g} of "
                f"{len(members)} rows. Use another share, or --test with a file."
            )
        tests[random.permutation(members)[:n]] = True
    return tuple((rows.y_true[part], rows.y_score[part]) for part in (~tests, tests))
