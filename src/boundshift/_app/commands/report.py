"""The command `boundshift report`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from boundshift._app import options as opt
from boundshift._app.cli import (
    check_output,
    command,
    exit_unless,
    is_goal_met,
    print_json,
    print_line,
    print_notes,
    print_sentences,
    running,
    verdict_fields,
)
from boundshift.exceptions import InvalidInputError

_OF_IDS = "Use --cluster with --test or --test-share, or --cluster none if rows are independent."


@command(
    "boundshift report scores.csv --score risk --label ill --positive yes --test-share 0.5",
    "boundshift report validation.csv --test test.csv --score p --label y --out p.html",
    "boundshift report visits.csv --score p --label ill --cluster patient --test-share 0.5",
)
def report(
    file: opt.File,
    score: opt.Score,
    label: opt.Label,
    goal: opt.Goal,
    called: opt.Called,
    reading: opt.FileOptions,
    positive: opt.Positive = None,
    test: opt.Test = None,
    test_share: opt.TestShare = None,
    scores: opt.Scores = "held-out",
    own: opt.Own = None,
    out: opt.OutFile = Path("report.html"),
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    by: opt.By = None,
    cluster: opt.ClusterOfScores = None,
) -> None:
    """Write a report on scores of any system: one HTML file that needs no network.

    It states what moving the threshold changes, lets the reader move it, and keeps apart what is
    certified and what is not.
    """
    with running() as show:
        from boundshift._app.scores import ScoreTable, resampled_interval, split_scores
        from boundshift._app.tables import positive_note
        from boundshift._boundary import decide
        from boundshift.report import Doubt, Report, RowDetails, collect_facts
        from boundshift.report._evidence import check_levels

        check_output(out, force, file, test)
        has_ids = cluster not in (None, "none")
        _check_test(test, test_share, has_ids=has_ids)
        by_curve, by_rule = goal.claims()
        open_scores = partial(
            ScoreTable,
            score=score,
            label=label,
            by=by or (),
            cluster=cluster,
            reading=reading,
            progress=show,
        )
        table = open_scores([file], positive=positive, symmetric=by_rule.symmetric)
        split = split_scores(table, open_scores, test, test_share)
        sample = split.deciding.sample(table.labels)
        counted = split.judging.sample(table.labels)
        boundary = decide(sample, by_curve, by_rule, "auto")
        facts = collect_facts(
            *sample.to_rows(),
            boundary=boundary,
            old_threshold="auto" if own is None else own,
            test=counted.to_rows() if split.is_tested else None,
            scores=scores,
            confidence=goal.confidence,
            target=label,
            **called.names(),
            # Resampled rows would ignore that rows of one id are alike.
            interval=None if has_ids else resampled_interval(sample, by_curve, by_rule, "auto"),
            details=RowDetails(
                counted.to_rows()[1] if counted.are_probabilities() else None,
                {name: check_levels(name, split.judging.beside[name]) for name in by or ()},
                cluster=split.judging.beside[str(cluster)] if has_ids else None,
            ),
            doubt=Doubt(split.doubt, _OF_IDS, is_seen=False) if split.doubt else None,
        )
        Report(facts).save(out, overwrite=force)
    print_notes(positive_note(positive, table.labels, table.rows.sample(table.labels).n_samples))
    if as_json:
        print_json(_as_json(facts, out))
    else:
        print_sentences(facts)
        print_line(facts["verdict"]["note"])
        print_line(out)
    exit_unless(is_goal_met(facts) and facts["certificate"]["status"] == "certified")


def _check_test(test: Path | None, test_share: float | None, *, has_ids: bool) -> None:
    """Raise if both kinds of test are given, or none where rows of one id may be alike."""
    if test is not None and test_share is not None:
        raise InvalidInputError("--test must go without --test-share. Leave one of them out.")
    if has_ids and test is None and test_share is None:
        raise InvalidInputError(
            "--cluster must go with --test or --test-share, got it alone: rows of one id may be "
            "alike, so the rows that choose the threshold cannot test it. Add --test-share 0.5."
        )


def _as_json(facts: Mapping[str, Any], out: Path) -> dict[str, object]:
    """Return what `SCHEMA` lists of a report."""
    return {
        "file": str(out),
        "labels": facts["labels"],
        "n_samples": facts["n"],
        "threshold": facts["boundary"]["threshold"],
        **verdict_fields(facts),
        "certificate": facts["certificate"],
    }
