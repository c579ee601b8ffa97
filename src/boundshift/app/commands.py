"""The commands: options in, one function called, a few lines of what came of it."""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from boundshift.app import cli
from boundshift.app.cli import (
    Goal,
    app,
    check_new,
    command,
    errors,
    in_options,
    optional,
    print_json,
    print_line,
    print_notes,
    print_table,
    progress,
    read_zone_errors,
    takes_goal,
)
from boundshift.exceptions import InvalidInputError
from boundshift.writing import write_whole

if TYPE_CHECKING:
    from boundshift.app.columns import Role
    from boundshift.groups import GroupBoundaries
    from boundshift.typing import BoolArray

_PICTURES = (".png", ".svg", ".pdf")
_ALARM = 3
__all__ = ["app"]

_MODELS = ["logistic", "svm", "forest", "boosting", "mlp"]


@command(
    "boundshift threshold scores.csv --score risk --label ill --positive yes",
    "boundshift threshold scores.parquet --score p --label y --recall-floor 0.9",
    "boundshift threshold scores.csv --score p --label y --costs 1,20 --json",
    "boundshift threshold scores.csv --score p --label y --curve paper",
    "boundshift threshold day1.parquet day2.parquet --score p --label y",
    "boundshift threshold scores.csv --score p --label y --zone 0.05,0.05",
    "zcat scores.csv.gz | boundshift threshold - --score p --label y",
)
@takes_goal
def threshold(
    files: cli.TablesArgument,
    score: cli.ScoreOption,
    label: cli.LabelOption,
    positive: cli.PositiveOption = None,
    *,
    goal: Goal,
    weight: Annotated[
        str | None,
        optional(
            "Column that says how often each row counts; certificates are nominal then.", "COLUMN"
        ),
    ] = None,
    cost_column: cli.CostColumnOption = None,
    by: Annotated[
        str | None,
        optional(
            "Column of groups: a boundary for each, small ones leaning on all rows. No "
            "guarantee of fairness.",
            "COLUMN",
        ),
    ] = None,
    scale: cli.ScaleOption = cli.ScaleName.auto,
    scores: cli.OriginOption = cli.Origin.held_out,
    certify: Annotated[
        bool, typer.Option("--certify", help="Add the certificate to the JSON.")
    ] = False,
    zone: Annotated[
        str | None,
        optional(
            "Two limits in the place of the boundary, and between them nobody decides: most "
            "of the negative and of the positive class that may be decided wrongly, as 0.05,0.05.",
            "A,B",
        ),
    ] = None,
    as_json: cli.JsonOption = False,
) -> None:
    """Find the boundary for a file of labels and scores from any system.

    The answer is one number: call a row positive if its score is above it. Several files are read
    as one table, in passes, so that they need not fit into memory.
    """
    with errors(), progress() as show:
        from boundshift.app.scores import ScoreTable
        from boundshift.app.tables import positive_note

        beside = weight is not None or cost_column is not None or certify
        if zone is not None and (
            beside or by is not None or not goal.is_open or scores is not cli.Origin.held_out
        ):
            raise InvalidInputError(
                "--zone must go without a curve, a rule, floors, --by, --weight, --cost-column, "
                "--certify and --scores: its two limits take the place of a boundary. Run the "
                "command twice."
            )
        if by is not None and beside:
            raise InvalidInputError(
                "--by must go without --weight, --cost-column and --certify. Leave them out, "
                "or give the rows of each group to a call of its own."
            )
        claim, aim = goal.claims()
        goal.check_costs_by_row(cost_column)
        allowed = None if zone is None else read_zone_errors(zone)
        alike = aim.alike and cost_column is None if allowed is None else allowed[0] == allowed[1]
        table = ScoreTable(
            files,
            score,
            label,
            positive=positive,
            alike=alike,
            weight=weight,
            cost=cost_column,
            by=[] if by is None else [by],
            progress=show,
        )
        if by is not None:
            groups = table.decide_groups(claim, aim, scale.value)
        elif allowed is not None:
            found = table.find_zone(allowed, goal.confidence, scale.value)
        else:
            how: dict[str, Any] = {"confidence": goal.confidence, "scores": scores.value}
            boundary, certificate = table.decide(claim, aim, scale.value, **how)
    if by is not None:
        _print_groups(groups, score, as_json)
        return
    result = boundary if allowed is None else found
    print_notes(positive_note(positive, result.labels, result.n_samples))
    if as_json:
        print_json(result.to_dict() | ({"certificate": asdict(certificate)} if certify else {}))
        return
    from boundshift.words import at_most, error_text, percent

    negative, high = result.labels
    head = ["", *(f"class {name}" for name in result.labels)]
    if allowed is not None:
        print_line(
            f"Call a row {high} if {score} > {found.high:.6g} and {negative} if {score} <= "
            f"{found.low:.6g}; between the two, ask a person."
        )
        print_line(found.message)
        rows = [
            ("rows", *found.n_samples),
            ("most that may be decided wrongly", *found.errors),
            ("share between the limits here", *map(percent, found.unsure)),
        ]
        print_table(head, rows)
        return
    print_line(f"Call a row {high} if {score} > {boundary.threshold:.6g}, else {negative}.")
    print_line(in_options(boundary.message))
    bounds = f"at most, at {goal.confidence:g} ({certificate.status})"
    rows = [
        ("rows", *boundary.n_samples),
        ("on the wrong side here", *boundary.wrong),
        ("their share", *map(percent, certificate.errors)),
        (f"claimed by {boundary.curve.name}", *map(error_text, boundary.errors)),
        (bounds, *map(at_most, certificate.error_bounds)),
    ]
    print_table(head, rows)
    print_line(f"{certificate.status.capitalize()}: {certificate.reason}.")


def _print_groups(found: GroupBoundaries, score: str, as_json: bool) -> None:
    """Print the boundary of each group, and its errors there."""
    table = found.table()
    if as_json:
        print_json(found.to_dict() | {"table": table})
        return
    high = found.common.labels[1]
    print_line(f"Call a row {high} if {score} is above the threshold of its group.")
    print_table(list(table[0]), [list(row.values()) for row in table])
    print_line(f"Groups that are not listed: {found.common.threshold:.6g}.")


@command(
    "boundshift fit patients.csv --target ill --positive yes",
    "boundshift fit patients.csv --target ill --model boosting --recall-floor 0.9 --out ill",
    "boundshift fit patients.csv --target ill --model trained.skops",
    "boundshift fit loans.csv --target default --cost-column amount",
    "boundshift fit patients.csv --target ill --positive yes --ignore unknown",
    "boundshift fit patients.csv --target ill --zone 0.05,0.05",
    "boundshift predict ill new.csv --out predictions.csv",
)
@takes_goal
def fit(
    file: cli.TableArgument,
    target: Annotated[str, optional("Column to be predicted.")],
    positive: cli.PositiveOption = None,
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
            autocompletion=lambda: _MODELS,
        ),
    ] = "logistic",
    out: Annotated[Path, typer.Option(help="Folder to write.")] = Path("boundshift-fit"),
    *,
    goal: Goal,
    numeric: cli.NumericOption = None,
    category: cli.CategoryOption = None,
    drop: cli.DropOption = None,
    row_id: cli.IdOption = None,
    by: cli.ByOption = None,
    weight: Annotated[
        str | None,
        optional(
            "Column that says how often each row counts, in training and in the boundary; "
            "what is certified counts each row once.",
            "COLUMN",
        ),
    ] = None,
    cost_column: cli.CostColumnOption = None,
    zone: cli.ZoneOption = None,
    unit: Annotated[str | None, optional("What a row is, in the plural: patients, loans.")] = None,
    positive_name: cli.PositiveNameOption = None,
    negative_name: cli.NegativeNameOption = None,
    seed: cli.SeedOption = 0,
    trust: cli.TrustOption = False,
    seen: Annotated[
        bool, typer.Option("--seen", help="FILE was trained on these rows: nothing is certified.")
    ] = False,
    force: cli.ForceOption = False,
) -> None:
    """Train a model on a table, shift its boundary, certify it, compare it, and write a report.

    Missing values are filled, categories become columns, dates and ids are left out. Three rows
    in ten are kept apart to certify the result. The folder gets report.html, model.skops,
    boundary.json, certificate.json, comparison.csv and columns.json, all of them or none; with
    --zone also zone.json, found on the rows kept apart, for `boundshift predict --zone`.
    """
    with errors(), progress() as show:
        from boundshift.app.fit import fit_table
        from boundshift.app.folder import check_folder, report_facts, write_folder
        from boundshift.app.tables import read_frame
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
    shown = ["g_mean", "f1", "recall_negative", "recall_positive"]
    print_table(
        ["method", "G-mean", "F1", *(f"recall of {label}" for label in fitted.labels)],
        [[row["method"], *(f"{row[n]:.3f}" for n in shown)] for row in fitted.comparison],
    )
    _print_sentences(facts)
    print_line(f"{fitted.certificate.status.capitalize()}: {fitted.certificate.reason}.\n")
    for path in written:
        print_line(path)


def _print_sentences(facts: Mapping[str, Any], *, note: bool = False) -> None:
    """Print the report's goal, verdict and zone."""
    if facts["goal"] is not None:
        print_line(facts["goal"]["sentence"])
    print_line(facts["verdict"]["sentence"])
    if note:
        print_line(facts["verdict"]["note"])
    if facts["zone"] is not None:
        print_line(facts["zone"]["sentence"])


def read_roles(
    numeric: Sequence[str] | None,
    category: Sequence[str] | None,
    drop: Sequence[str] | None,
    row_id: Sequence[str] | None,
) -> dict[str, Role]:
    """Return what the options say of columns, by their names."""
    from boundshift.app.columns import Role

    said = {
        Role.NUMBER: numeric,
        Role.CATEGORY: category,
        Role.DROP: drop,
        Role.ID: row_id,
    }
    roles: dict[str, Role] = {}
    for role, names in said.items():
        for name in names or ():
            if roles.setdefault(name, role) != role:
                raise InvalidInputError(
                    f"A column must be said to be one thing, got '{name}' in two of --numeric, "
                    "--category, --drop and --id. Leave one out."
                )
    return roles


@command(
    "boundshift predict boundshift-fit new.csv --out predictions.csv",
    "boundshift predict boundshift-fit new.csv --keep town | head",
    "boundshift predict boundshift-fit customers.csv --top 50 --out call.csv",
    "boundshift predict boundshift-fit new.csv --zone zone.json --unsure ask",
)
def predict(
    folder: Annotated[
        Path, typer.Argument(help="What `boundshift fit` wrote.", metavar="DIR", show_default=False)
    ],
    file: cli.TableArgument,
    out: Annotated[
        Path,
        typer.Option(help="CSV, TSV, Parquet, Feather, JSON lines or Excel; - is standard output."),
    ] = Path("-"),
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to carry over; may be repeated. Columns that name rows are carried over "
            "in any case."
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Call rows with a score above this positive, as read off a report.",
            show_default="that of the fit",
        ),
    ] = None,
    top: Annotated[
        int | None, optional("Only so many rows, with the highest scores, the highest first.")
    ] = None,
    zone: Annotated[
        Path | None,
        optional(
            "Decide by the two limits that `boundshift threshold --zone … --json` has "
            "written, found on the scores of rows that the model has not seen.",
            "FILE",
        ),
    ] = None,
    unsure: Annotated[
        str | None,
        typer.Option(help="With --zone: prediction of rows between the limits; default: unsure."),
    ] = None,
    trust: cli.TrustOption = False,
    force: cli.ForceOption = False,
) -> None:
    """Predict the rows of a new table, or list those with the highest scores.

    Each gets the score of the positive class, the model's own probability of it if it has one,
    and a label.
    """
    with errors(), progress() as show:
        show("predict", 0, 1)
        from boundshift.app.predict import predict_table
        from boundshift.app.tables import check_writable, write_frame
        from boundshift.promises.zone import Zone

        check_writable(out)
        check_new(out, force)
        limits = None
        if zone is not None:
            with zone.open("rb") as stored:  # A zone takes less than a kilobyte.
                limits = Zone.from_json(stored.read(1 << 20))
        predictions, notes = predict_table(
            folder,
            file,
            keep=keep or (),
            trust=trust,
            threshold=threshold,
            top=top,
            zone=limits,
            unsure=unsure,
        )
        show("predict", 1, 1)
    print_notes(notes)
    with errors():
        write_frame(predictions, out, new=not force)


@command(
    "boundshift report scores.csv --score risk --label ill --positive yes --test-share 0.5",
    "boundshift report validation.csv --test test.csv --score p --label y --out p.html",
    "boundshift report scores.csv --score p --label ill --positive-name sick "
    "--negative-name healthy --unit patients",
)
@takes_goal
def report(
    file: cli.TableArgument,
    score: cli.ScoreOption,
    label: cli.LabelOption,
    positive: cli.PositiveOption = None,
    test: Annotated[
        Path | None,
        optional(
            "Rows used for nothing else, with the same columns: the verdict is certified on them."
        ),
    ] = None,
    test_share: Annotated[
        float | None, optional("Set this share of the rows apart as such a test.")
    ] = None,
    seed: cli.SeedOption = 0,
    *,
    goal: Goal,
    scale: cli.ScaleOption = cli.ScaleName.auto,
    scores: cli.OriginOption = cli.Origin.held_out,
    own: Annotated[
        float | None,
        typer.Option(
            help="The model's own threshold.", show_default="0.5 for probabilities, else 0"
        ),
    ] = None,
    title: Annotated[str | None, optional("Title of the page.")] = None,
    model: Annotated[str | None, optional("What the model is called.")] = None,
    positive_name: cli.PositiveNameOption = None,
    negative_name: cli.NegativeNameOption = None,
    unit: Annotated[str, typer.Option(help="What a row is, in the plural.")] = "rows",
    by: cli.ByOption = None,
    zone: cli.ZoneOption = None,
    interval: Annotated[
        bool, typer.Option(help="Find where the boundary may fall, up to 20,000 rows.")
    ] = True,
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("report.html"),
    force: cli.ForceOption = False,
) -> None:
    """Write a report on scores of any system: one HTML file that needs no network.

    It says in a sentence what moving the boundary changes, lets the reader move it, and keeps
    apart what is certified and what is not.
    """
    with errors(), progress() as show:
        check_new(out, force)
        if test is not None and test_share is not None:
            raise InvalidInputError(
                "--test and --test-share must not both be given: either a file holds the test "
                "rows, or some are set apart. Leave one of them out."
            )
        if test_share is not None and not 0 < test_share < 1:
            raise InvalidInputError(
                f"--test-share must be between 0 and 1, got {test_share:g}. Use 0.5, for example."
            )
        if zone is not None and scores is not cli.Origin.held_out:
            raise InvalidInputError(
                "--zone must go with rows that the model has not seen, got --scores "
                f"{scores.value}. Leave out --zone, or give held-out scores."
            )
        allowed = None if zone is None else read_zone_errors(zone)
        from boundshift.app.scores import ScoreTable, resampled_interval, sample_of
        from boundshift.app.tables import positive_note
        from boundshift.boundary import make_decision, warn_of
        from boundshift.promises.zone import zone_of
        from boundshift.report import RowDetails, add_zone, collect_facts, write_report
        from boundshift.report.evidence import check_levels
        from boundshift.view.axis import is_probability

        claim, aim = goal.claims()
        alike = aim.alike and (allowed is None or allowed[0] == allowed[1])
        groups = by or []
        table = ScoreTable(
            [file],
            score,
            label,
            positive=positive,
            alike=alike,
            by=[] if test else groups,
            progress=show,
        )
        labels, rows = table.labels, table.rows
        deciding, tested, judging = sample_of(rows, labels), None, rows
        if test_share is not None:
            apart = _set_apart(rows.is_positive, test_share, seed, labels)
            deciding, judging = sample_of(rows.of(~apart), labels), rows.of(apart)
        elif test is not None:
            other = ScoreTable(
                [test], score, label, positive=str(labels[1]), by=groups, progress=show
            )
            judging = other.rows
        if judging is not rows:
            tested = sample_of(judging, labels)
        counted = deciding if tested is None else tested
        found = make_decision(claim, aim, scale.value)(deciding)
        warn_of(found, stacklevel=2)
        show("interval", 0, 1)
        fall = resampled_interval(deciding, claim, aim, scale.value) if interval else None
        show("interval", 1, 1)
        details = RowDetails(
            counted.to_rows()[1] if is_probability(counted) else None,
            {name: check_levels(name, judging.beside[name]) for name in groups},
        )
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
            details=details,
        )
        if allowed is not None:
            limits = zone_of(deciding, allowed, goal.confidence, scale.value)
            facts = add_zone(facts, limits, *counted.to_rows(), found_here=tested is None)
        write_report(facts, out, force=force)
    n_positive = int(rows.is_positive.sum())
    print_notes(positive_note(positive, labels, (len(rows.scores) - n_positive, n_positive)))
    _print_sentences(facts, note=True)
    print_line(out)


def _set_apart(
    is_positive: BoolArray, share: float, seed: int, labels: tuple[Any, Any]
) -> BoolArray:
    """Return which rows are test rows, with the same share of each class."""
    import numpy as np

    random = np.random.default_rng(seed)
    tests = np.zeros(len(is_positive), dtype=np.bool_)
    for label, of_class in zip(labels, (~is_positive, is_positive), strict=True):
        members = np.flatnonzero(of_class)
        n = round(share * len(members))
        if not 0 < n < len(members):
            raise InvalidInputError(
                f"--test-share must leave rows of class {label} on both sides, got {share:g} of "
                f"{len(members)} rows. Use another share, or --test with a file."
            )
        tests[random.permutation(members)[:n]] = True
    return tests


@command(
    "boundshift compare scores.csv --score risk --label ill --positive yes",
    "boundshift compare patients.csv --target ill --model boosting --out comparison.csv",
)
def compare(
    file: cli.TableArgument,
    score: Annotated[str | None, optional("Column of scores; with --label.")] = None,
    label: Annotated[str | None, optional("Column of labels; with --score.")] = None,
    target: Annotated[
        str | None, optional("Column to be predicted by a model, instead of scores.")
    ] = None,
    positive: cli.PositiveOption = None,
    model: Annotated[
        str, typer.Option(help="With --target: logistic, svm, forest, boosting, mlp or a FILE.")
    ] = "logistic",
    numeric: cli.NumericOption = None,
    category: cli.CategoryOption = None,
    drop: cli.DropOption = None,
    row_id: cli.IdOption = None,
    seed: cli.SeedOption = 0,
    out: Annotated[Path | None, optional("Write the table as CSV, too.")] = None,
    as_json: cli.JsonOption = False,
    force: cli.ForceOption = False,
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
            from boundshift.app.comparison import compare_scores
            from boundshift.app.scores import ScoreTable
            from boundshift.app.tables import positive_note

            sample = ScoreTable([file], score, label, positive=positive, progress=show).sample
            table, labels = compare_scores(sample, seed=seed, progress=show), sample.labels
            print_notes(positive_note(positive, labels, sample.n_samples))
        elif target is not None and score is None and label is None:
            from boundshift.app.fit import fit_table
            from boundshift.app.tables import read_frame

            how: dict[str, Any] = {"positive": positive, "model": model, "seed": seed}
            fitted = fit_table(read_frame(file), target, roles=roles, progress=show, **how)
            table, labels = fitted.comparison, fitted.labels
            print_notes(fitted.notes)
        else:
            raise InvalidInputError(
                "Give either --score and --label, for a file of scores, or --target, for a table."
            )
        if out is not None:
            from boundshift.app.folder import comparison_csv

            write_whole(out, comparison_csv(table), new=not force)
    if as_json:
        print_json({"labels": labels, "methods": table})
        return
    shown = ["g_mean", "f1", "balanced_accuracy", "recall_negative", "recall_positive", "threshold"]
    recalls = [f"recall of {name}" for name in labels]
    print_table(
        ["method", "G-mean", "F1", "balanced accuracy", *recalls, "threshold"],
        [[row["method"], *(row[name] for name in shown)] for row in table],
    )


@command(
    "boundshift monitor boundshift-fit march.csv",
    "boundshift monitor boundshift-fit march.csv --when day --picture march.png",
    "boundshift monitor certificate.json march.csv --score risk --label ill --exit-code",
)
def monitor(
    place: Annotated[
        Path,
        typer.Argument(
            help="What `boundshift fit` wrote, or a JSON file with a certificate.",
            metavar="DIR",
            show_default=False,
        ),
    ],
    file: cli.TableArgument,
    label: Annotated[
        str | None, typer.Option(help="Column of labels.", show_default="the folder's target")
    ] = None,
    score: Annotated[
        str | None, typer.Option(help="Column of scores.", show_default="the folder's model scores")
    ] = None,
    when: Annotated[str | None, optional("Column of dates, to be reported.")] = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            help="One minus the probability that an alarm is ever false; fixed by the first call.",
            show_default="0.95",
        ),
    ] = None,
    picture: Annotated[Path | None, optional("Draw it: PNG, SVG or PDF.")] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Count a file that has been counted before.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help=f"Exit with {_ALARM} if there is an alarm.")
    ] = False,
    trust: cli.TrustOption = False,
    as_json: cli.JsonOption = False,
) -> None:
    """Count labelled rows that came after deployment, and say whether the certificate is kept.

    The state is kept in monitor.json beside the certificate, so that every call goes on where the
    last one ended. Look as often as you like: the confidence holds for all looks together.
    """
    with errors(), progress() as show:
        show("count", 0, 1)
        if picture is not None and picture.suffix.lower() not in _PICTURES:
            raise InvalidInputError(
                f"--picture must end in one of {', '.join(_PICTURES)}, got '{picture.name}'. "
                "Nothing was counted."
            )
        from boundshift.app.watch import watch_table

        how: dict[str, Any] = {"confidence": confidence, "again": again, "trust": trust}
        watched = watch_table(place, file, label=label, score=score, when=when, **how)
        found = watched.monitor
        if picture is not None:
            from boundshift.plots import MonitorDisplay

            figure: Any = MonitorDisplay.from_monitor(found).figure_
            drawn = io.BytesIO()
            figure.savefig(drawn, format=picture.suffix.lower()[1:])
            write_whole(picture, drawn.getvalue())
        show("count", 1, 1)
    print_notes(watched.notes)
    certificate = found.certificate
    counts = found.n_samples, found.wrong, certificate.error_bounds, found.e_values
    rows = list(zip(certificate.labels, *counts, strict=True))
    if as_json:
        names = ("label", "n_samples", "wrong", "error_bound", "e_value")
        print_json(
            {
                "kept": found.alarm is None,
                "verdict": found.verdict,
                "e_value_needed": found.e_value_needed,
                "classes": [dict(zip(names, row, strict=True)) for row in rows],
                "alarms": [asdict(alarm) for alarm in found.alarms],
            }
        )
    else:
        from boundshift.words import at_most, percent

        print_line(found.verdict)
        print_table(
            ["", "rows", "wrong", "their share", "stated at most", "evidence"],
            [
                (f"class {name}", n, k, percent(k / n) if n else "–", at_most(bound), e)
                for name, n, k, bound, e in rows
            ],
        )
        print_line(f"An alarm needs evidence of {found.e_value_needed:.4g}. State: {watched.state}")
    if exit_code and found.alarm is not None:
        raise typer.Exit(_ALARM)


@command(
    "boundshift datasets",
    "boundshift datasets pima --out pima.csv",
    "boundshift fit pima.csv --target target --positive diabetes",
)
def datasets(
    name: Annotated[
        str | None, typer.Argument(help="One of them; none lists all.", show_default=False)
    ] = None,
    out: Annotated[Path | None, optional("File to write it to; - is standard output.")] = None,
    force: cli.ForceOption = False,
) -> None:
    """List public data sets, or write one to a file; the class stands in the column target."""
    with errors():
        from boundshift.app.tables import check_writable, write_frame
        from boundshift.datasets.bundled import describe_bundled, load_table

        if name is None:
            names = ["name", "rows", "columns", "classes", "rarest class", "imbalance"]
            print_table(names, describe_bundled())
            return
        if out is not None:
            check_writable(out)
            check_new(out, force)
        frame = load_table(name)
        sizes = {label: int(n) for label, n in frame["target"].value_counts().items()}
        if out is None:
            print_table(["class", "rows"], list(sizes.items()))
            print_line(f"{len(frame)} rows, {frame.shape[1] - 1} columns and target. As a file:")
            print_line(f"boundshift datasets {name} --out {name}.csv")
            return
        write_frame(frame, out, new=not force)
        if str(out) != "-":
            classes = ", ".join(f"{n} {label}" for label, n in sizes.items())
            print_notes(
                [
                    f"Wrote {len(frame)} rows and {frame.shape[1]} columns to {out}; the column "
                    f"target says the class ({classes}). Next: boundshift fit "
                    f"{shlex.quote(str(out))} --target target"
                ]
            )
