"""The command `boundshift doctor`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from boundshift._app import options as opt
from boundshift._app.cli import (
    command,
    exit_unless,
    print_json,
    print_line,
    print_notes,
    print_table,
    running,
)
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift._app.examine import Prospect
    from boundshift._app.opening import Reading
    from boundshift._app.prepare import PreparedTable


@command(
    "boundshift doctor patients.csv --target ill",
    "boundshift doctor scores.csv --target ill --score risk --positive yes",
)
def doctor(
    file: opt.File,
    target: opt.Target,
    roles: opt.Roles,
    reading: opt.FileOptions,
    score: opt.ScoreIfAny = None,
    positive: opt.Positive = None,
    as_json: opt.AsJson = False,
    confidence: opt.Confidence = 0.95,
    ignore: opt.Ignore = None,
    cluster: opt.Cluster = None,
) -> None:
    """Examine a table before you fit or choose a threshold; nothing is trained or written.

    It prints how the columns are read, which of them may give the target away, and which
    guarantees the rows can support today. The exit code is 3 if something stands in the way.
    """
    with running():
        if score is not None:
            if any((ignore, *vars(roles).values())):
                raise InvalidInputError(
                    "--score must go without --drop, --ignore, --numeric and --category, "
                    "because scores need no other column. Leave them out."
                )
            _examine_scores(file, target, score, positive, cluster, confidence, reading, as_json)
            return
        from boundshift._app.prepare import prepare_table
        from boundshift._app.tables import read_frame

        frame = read_frame(file, reading=reading)
        prepared = prepare_table(
            frame,
            target,
            positive=positive,
            ignore=ignore or (),
            roles=roles.by_column(),
            cluster=cluster,
        )
        _report_table(prepared, frame.shape, confidence, as_json=as_json)


def _report_table(
    prepared: PreparedTable, shape: tuple[int, int], confidence: float, *, as_json: bool
) -> None:
    """Print what a table supports."""
    from boundshift._app.columns import Reason
    from boundshift._app.examine import examine_table

    prospects = examine_table(prepared, confidence)
    dates = [name for name, why in prepared.columns.left_out.items() if why is Reason.DATES]
    if as_json:
        print_json(
            {
                "n_samples": prepared.n_samples,
                "labels": [str(label) for label in prepared.labels],
                "columns": [column._asdict() for column in prepared.columns.described()],
                "dates": dates,
                "cluster": prepared.cluster,
                "suspects": [asdict(suspect) for suspect in prepared.suspects],
                "prospects": [asdict(prospect) for prospect in prospects],
                "notes": [*prepared.notes, *prepared.remarks],
            }
        )
        exit_unless(not prepared.suspects)
        return
    print_line(
        f"{shape[0]:,} rows and {shape[1]} columns; {prepared.n_samples[1]:,} rows with "
        f"{prepared.target} = {prepared.labels[1]}, {prepared.n_samples[0]:,} with "
        f"{prepared.labels[0]}."
    )
    print_notes([*prepared.notes, *prepared.remarks])
    print_table(["column", "read as", "why"], prepared.columns.described())
    if dates:
        print_line(f"Dates: {', '.join(dates)}; `boundshift monitor --when` counts rows by them.")
    for suspect in prepared.suspects:
        print_line(f"Check this column first: {suspect.evidence}", "red")
    print_line(
        "`boundshift fit` keeps three rows in ten for a certificate. If the model is good enough, "
        f"these guarantees are within reach, each with {100 * confidence:g}% confidence:"
    )
    _print_prospects(prospects, "test rows")
    exit_unless(not prepared.suspects)


def _examine_scores(
    file: Path,
    label: str,
    score: str,
    positive: str | None,
    cluster: str | None,
    confidence: float,
    reading: Reading,
    as_json: bool,
) -> None:
    """Print what a table of scores supports."""
    from boundshift._app.examine import examine_scores
    from boundshift._app.scores import ScoreTable
    from boundshift._app.tables import positive_note
    from boundshift._ranking import Ranking, area_under_curve, find_ranking
    from boundshift._status import Status

    table = ScoreTable([file], score, label, positive=positive, cluster=cluster, reading=reading)
    sample = table.rows.sample(table.labels)
    prospects = examine_scores(sample, confidence, label)
    area = area_under_curve(sample)
    ranking = find_ranking(sample)
    doubt = table.doubt
    if table.id_columns:
        doubt = (
            f"rows of one '{cluster}' may be alike; `boundshift threshold --recall-floor` with "
            "--cluster guarantees a floor as an average over ids"
        )
    is_free = ranking is Ranking.SEPARATES and not doubt
    if as_json:
        print_json(
            {
                "n_samples": sample.n_samples,
                "labels": [str(name) for name in table.labels],
                "auc": area,
                "ranking": ranking,
                "prospects": [asdict(prospect) for prospect in prospects],
                "doubt": doubt,
            }
        )
        exit_unless(is_free)
        return
    print_notes(positive_note(positive, table.labels, sample.n_samples))
    print_line(
        f"{sample.n_samples[1]:,} rows with {label} = {table.labels[1]}, {sample.n_samples[0]:,} "
        f"with {table.labels[0]}. '{score}' ranks {100 * area:.1f} of 100 pairs of them correctly."
    )
    if ranking is not Ranking.SEPARATES:
        print_line(Status[ranking.name].message, "red")
    if doubt:
        print_line(f"Nothing can be guaranteed by rows: {doubt}.", "red")
    independent = "If rows were independent: guarantees" if doubt else "Guarantees"
    print_line(f"{independent} of a threshold, each with {100 * confidence:g}% confidence:")
    _print_prospects(prospects, "rows")
    exit_unless(is_free)


def _print_prospects(prospects: list[Prospect], rows: str) -> None:
    """Print which guarantees are possible, and what the others need."""
    lines = []
    for prospect in prospects:
        missing = "a better model"
        if prospect.missing is not None:
            missing = f"{prospect.missing:,}" if prospect.missing else "–"
        state = "possible" if prospect.is_possible else "not yet"
        lines.append((prospect.goal, state, f"{prospect.rows:,}", missing, prospect.remark))
    print_table(["guarantee", "today", rows, "labelled cases still needed", "at what price"], lines)
