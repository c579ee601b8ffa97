"""The command `boundshift report`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from boundshift._app.cli import (
    check_output,
    command,
    print_line,
    print_notes,
    print_sentences,
    running,
)
from boundshift._app.options import Called, Goal, argument, option
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._tables import Reading

_OF_IDS = (
    "Test on a file with other ids, by --test and --cluster, or use --cluster none if rows of one "
    "id are independent."
)


@command(
    "boundshift report scores.csv --score risk --label ill --positive yes --test-share 0.5",
    "boundshift report validation.csv --test test.csv --score p --label y --out p.html",
    "boundshift report scores.csv --score p --label ill --positive-name sick --case-name patients",
)
def report(
    file: Annotated[Path, argument("file")],
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
    case_name: Annotated[str | None, option("case_name")] = None,
    positive_name: Annotated[str | None, option("positive_name")] = None,
    negative_name: Annotated[str | None, option("negative_name")] = None,
    title: Annotated[str | None, option("title")] = None,
    test: Annotated[Path | None, option("test")] = None,
    test_share: Annotated[float | None, option("test_share")] = None,
    own: Annotated[float | None, option("own")] = None,
    by: Annotated[list[str] | None, option("by")] = None,
    cluster: Annotated[str | None, option("cluster")] = None,
    encoding: Annotated[str | None, option("encoding")] = None,
    sheet: Annotated[str | None, option("sheet")] = None,
    header_row: Annotated[int | None, option("header_row")] = None,
    out: Annotated[Path, option("out")] = Path("report.html"),
    force: Annotated[bool, option("force")] = False,
) -> None:
    """Write a report on scores of any system: one HTML file that needs no network.

    It says in a sentence what moving the boundary changes, lets the reader move it, and keeps
    apart what is certified and what is not.
    """
    with running() as show:
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
        check_output(out, force, file, test)
        ids = [] if cluster in (None, "none") else [cluster]
        if test_share is not None if test else ids:
            raise InvalidInputError(
                "--test must go without --test-share, and --cluster with --test, a file of other "
                "ids. Put all rows of some ids into a file of their own."
            )
        from boundshift._app.scores import ScoreTable, check_apart, resampled_interval, set_apart
        from boundshift._app.tables import positive_note
        from boundshift._boundary import decide
        from boundshift._result.boundary import warn_of
        from boundshift.report import Doubt, Report, RowDetails, collect_facts
        from boundshift.report._evidence import check_levels

        by_curve, by_rule = goal.claims()
        groups = by or []
        open_scores = partial(
            ScoreTable,
            score=score,
            label=label,
            independent=cluster is not None,
            cluster_with="--test",
            reading=reading,
            progress=show,
        )
        table = open_scores(
            [file], positive=positive, symmetric=by_rule.symmetric, by=ids if test else groups
        )
        deciding = judging = rows = table.rows.ordered()
        labels = table.labels
        doubt = table.doubt
        if test_share is not None:
            apart = set_apart(rows.is_positive, test_share, labels)
            deciding = rows.of(~apart)
            judging = rows.of(apart)
        elif test is not None:
            tested = open_scores([test], positive=str(labels[1]), by=[*groups, *ids])
            judging = tested.rows.ordered()
            # An id may repeat between the files, too.
            both = open_scores([file, test], positive=str(labels[1]))
            doubt = doubt or tested.doubt or both.find_doubt()
            for name in ids:
                check_apart(name, rows.beside[name], judging.beside[name])
        sample = deciding.sample(labels)
        counted = judging.sample(labels)
        boundary = decide(sample, by_curve, by_rule, "auto")
        warn_of(boundary, stacklevel=2)
        facts = collect_facts(
            *sample.to_rows(),
            boundary=boundary,
            old_threshold="auto" if own is None else own,
            test=None if judging is rows else counted.to_rows(),
            scores=scores,
            confidence=confidence,
            target=label,
            **Called(case_name, positive_name, negative_name, title).names(),
            # Resampled rows would ignore that rows of one id are alike.
            interval=None if ids else resampled_interval(sample, by_curve, by_rule, "auto"),
            details=RowDetails(
                counted.to_rows()[1] if counted.are_probabilities() else None,
                {name: check_levels(name, judging.beside[name]) for name in groups},
                cluster=judging.beside[ids[0]] if ids else None,
            ),
            doubt=Doubt(doubt, _OF_IDS, is_seen=False) if doubt else None,
        )
        Report(facts).save(out, overwrite=force)
    print_notes(positive_note(positive, labels, rows.sample(labels).n_samples))
    print_sentences(facts)
    print_line(facts["verdict"]["note"])
    print_line(out)
