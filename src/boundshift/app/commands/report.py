"""``boundshift report``: scores of any system in, a page that a reader can act on out."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundshift.app.application import app, examples
from boundshift.app.commands.threshold import Origin
from boundshift.app.goal import Goal, takes_goal
from boundshift.app.options import (
    ByOption,
    ForceOption,
    LabelOption,
    NegativeNameOption,
    PositiveNameOption,
    PositiveOption,
    ScaleName,
    ScaleOption,
    ScoreOption,
    SeedOption,
    TableArgument,
    ZoneOption,
    optional,
    read_zone_errors,
)
from boundshift.app.terminal import check_new, errors, print_line, print_notes, progress
from boundshift.app.workflow.resampled_interval import MOST_ROWS, resampled_interval
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from boundshift.scores import ScoreSample

__all__ = ["report"]


@app.command(
    epilog=examples(
        "boundshift report scores.csv --score risk --label ill --positive yes --test-share 0.5",
        "boundshift report validation.csv --test test.csv --score p --label y --out p.html",
        "boundshift report scores.csv --score p --label ill --positive-name sick "
        "--negative-name healthy --unit patients",
    )
)
@takes_goal
def report(
    file: TableArgument,
    score: ScoreOption,
    label: LabelOption,
    positive: PositiveOption = None,
    test: Annotated[
        Path | None,
        optional(
            "Rows used for nothing else, with the same columns: the verdict is certified on them."
        ),
    ] = None,
    test_share: Annotated[
        float | None,
        optional("Set this share of the rows apart as such a test."),
    ] = None,
    seed: SeedOption = 0,
    *,
    goal: Goal,
    scale: ScaleOption = ScaleName.auto,
    scores: Annotated[
        Origin, typer.Option(help="Rows the model has not seen, or those it was trained on.")
    ] = Origin.held_out,
    own: Annotated[
        float | None,
        typer.Option(
            help="The model's own threshold.", show_default="0.5 for probabilities, else 0"
        ),
    ] = None,
    title: Annotated[str | None, optional("Title of the page.")] = None,
    model: Annotated[str | None, optional("What the model is called.")] = None,
    positive_name: PositiveNameOption = None,
    negative_name: NegativeNameOption = None,
    unit: Annotated[str, typer.Option(help="What a row is, in the plural.")] = "rows",
    by: ByOption = None,
    zone: ZoneOption = None,
    interval: Annotated[
        bool,
        typer.Option(help=f"Find where the boundary may fall, up to {MOST_ROWS:,} rows."),
    ] = True,
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("report.html"),
    force: ForceOption = False,
) -> None:
    """Write a report on scores of any system: one HTML file that needs no network.

    It says in a sentence what moving the boundary changes, lets the reader move it, and keeps
    apart what is certified and what is not.
    """
    with errors(), progress() as show, _kept(test or file, bool(by)) as judged:
        check_new(out, force)
        _check_test(test, test_share)
        file, test = (judged, None) if test is None else (file, judged)
        allowed = _zone_errors(zone, scores)
        from boundshift.app.tables import read_scores
        from boundshift.app.tables.class_labels import positive_note
        from boundshift.boundary import make_decision, warn_of
        from boundshift.promises.zone import zone_of
        from boundshift.report import RowDetails, add_zone, collect_facts, write_report

        claim, aim = goal.claims()
        alike = aim.alike and (allowed is None or allowed[0] == allowed[1])
        rows = read_scores(file, score, label, positive=positive, alike=alike, progress=show)
        deciding, tested = rows, None
        if test_share is not None:
            deciding, tested, apart = _set_apart(rows, test_share, seed)
        elif test is not None:
            known = str(rows.labels[1])
            tested = read_scores(test, score, label, positive=known, progress=show)
        groups = _read_groups(test or file, score, label, by or (), rows.labels)
        if test_share is not None:
            groups = {name: values[apart] for name, values in groups.items()}
        found = make_decision(claim, aim, scale.value)(deciding)
        warn_of(found, stacklevel=2)
        show("interval", 0, 1)
        fall = resampled_interval(deciding, claim, aim, scale.value) if interval else None
        show("interval", 1, 1)
        facts = collect_facts(
            *deciding.to_rows(),
            boundary=found,
            old_threshold=own,
            test=None if tested is None else tested.to_rows(),
            scores=scores.value,
            confidence=goal.confidence,
            model=model,
            names={
                "positive": positive_name,
                "negative": negative_name,
                "title": title,
                "unit": unit,
            },
            interval=fall,
            details=RowDetails(_probabilities(deciding if tested is None else tested), groups),
        )
        if allowed is not None:
            limits = zone_of(deciding, allowed, goal.confidence, scale.value)
            counted = deciding if tested is None else tested
            facts = add_zone(facts, limits, *counted.to_rows(), found_here=tested is None)
        write_report(facts, out, force=force)
    print_notes(positive_note(positive, rows.labels, rows.n_samples))
    if facts["goal"] is not None:
        print_line(facts["goal"]["sentence"])
    print_line(facts["verdict"]["sentence"])
    print_line(facts["verdict"]["note"])
    if facts["zone"] is not None:
        print_line(facts["zone"]["sentence"])
    print_line(out)


def _zone_errors(zone: str | None, scores: Origin) -> tuple[float, float] | None:
    """Return the errors of a zone, which only rows that the model has not seen can promise."""
    if zone is not None and scores is not Origin.held_out:
        raise InvalidInputError(
            f"--zone must go with rows that the model has not seen, got --scores {scores.value}. "
            "Leave out --zone, or give held-out scores."
        )
    return None if zone is None else read_zone_errors(zone)


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


def _probabilities(rows: ScoreSample) -> NDArray[np.float64] | None:
    """Return scores that all lie from 0 to 1 as probabilities, whose calibration can be shown."""
    from boundshift.view.axis import is_probability

    return rows.to_rows()[1] if is_probability(rows) else None


@contextmanager
def _kept(path: Path, again: bool) -> Iterator[Path]:
    """Give a table that is read again, for its groups: standard input is kept in a file."""
    if not again or str(path) != "-" or sys.stdin is None or sys.stdin.closed:
        yield path
        return
    with TemporaryDirectory() as folder:
        table = sys.stdin.buffer.read()
        ending = "jsonl" if table.lstrip().startswith(b"{") else "csv"
        kept = Path(folder) / f"standard input.{ending}"
        kept.write_bytes(table)
        yield kept


def _read_groups(
    path: Path, score: str, label: str, by: Sequence[str], labels: tuple[object, object]
) -> dict[str, NDArray[Any]]:
    """Return columns of groups in the order of a sample's rows: by class, then by score."""
    if not by:
        return {}
    import numpy as np

    from boundshift.app.tables import read_frame
    from boundshift.app.tables.cells import with_gaps
    from boundshift.app.tables.class_labels import label_values
    from boundshift.report.facts import check_levels

    frame = read_frame(path, list(dict.fromkeys([score, label, *by])))
    written = list(dict.fromkeys(frame[label]))
    read = label_values(written) if all(isinstance(text, str) for text in written) else written
    names = [
        text for text, value in zip(written, read, strict=True) if str(value) == str(labels[1])
    ]
    order = np.lexsort((frame[score].astype(float), frame[label].isin(names)))
    return {name: check_levels(name, with_gaps(frame[name]))[order] for name in by}


def _set_apart(
    rows: ScoreSample, share: float, seed: int
) -> tuple[ScoreSample, ScoreSample, NDArray[np.bool_]]:
    """Return the rows that decide and those that test, with the same share of each class.

    And which of the sample's rows, by class and score, are those that test.
    """
    import numpy as np

    is_positive = np.repeat([False, True], rows.n_samples)
    random = np.random.default_rng(seed)
    tests = np.zeros(len(is_positive), dtype=np.bool_)
    for label, members in zip(
        rows.labels, (np.flatnonzero(~is_positive), np.flatnonzero(is_positive)), strict=True
    ):
        n = round(share * len(members))
        if not 0 < n < len(members):
            raise InvalidInputError(
                f"--test-share must leave rows of class {label} on both sides, got {share:g} of "
                f"{len(members)} rows. Use another share, or --test with a file."
            )
        tests[random.permutation(members)[:n]] = True
    scores = rows.to_rows()[1]
    deciding, tested = (
        replace(ScoreSample.from_labels(is_positive[part], scores[part]), labels=rows.labels)
        for part in (~tests, tests)
    )
    return deciding, tested, tests
