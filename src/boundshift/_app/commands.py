"""The commands: options in, one function called, a few lines of what came of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from boundshift._app.cli import (
    app,
    check_output,
    command,
    in_options,
    print_json,
    print_line,
    print_notes,
    print_table,
    running,
)
from boundshift._app.options import Called, Goal, Roles, Scored, read_zone_errors
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._tables import Reading

__all__ = ["app"]

_OF_IDS = (
    "Test on a file with other ids, by --test and --cluster, or use --cluster none if rows of one "
    "id are independent."
)


@command(
    "boundshift threshold scores.csv --score risk --label ill --positive yes",
    "boundshift threshold scores.csv --score p --label y --costs 1,20 --json",
    "boundshift threshold day1.parquet day2.parquet --score p --label y --recall-floor 0.9",
    "boundshift threshold scores.csv --score p --label y --zone 0.05,0.05 --cluster patient",
    "zcat scores.csv.gz | boundshift threshold - --score p --label y --curve paper",
)
def threshold(
    files: list[Path],
    scored: Scored,
    goal: Goal,
    reading: Reading,
    cost_column: str | None = None,
    certify: bool = False,
    zone: str | None = None,
    cluster: str | None = None,
    as_json: bool = False,
) -> None:
    """Find the boundary for a file of labels and scores from any system.

    The answer is one number: call a row positive if its score is above it; with --zone, two
    numbers. Several files are read as one table, and more than 512 MB in passes, so that they need
    not fit into memory.
    """
    with running() as show:
        from boundshift._app.scores import ScoreTable
        from boundshift._app.tables import positive_note
        from boundshift._words import at_most, error_text, percent

        alone = [name for name, it in (("zone", zone), ("cost-column", cost_column)) if it]
        is_seen = zone is not None and scored.scores != "held-out"
        has_goal = goal != Goal(confidence=goal.confidence)
        if alone and (len(alone) > 1 or has_goal or certify or is_seen):
            raise InvalidInputError(
                f"--{alone[0]} must go alone: without the other one of --zone and --cost-column, a "
                "rule, a curve and --certify; --zone also without --scores. Run the command twice."
            )
        ids = [] if cluster in (None, "none") else [cluster]
        if ids and zone is None:
            raise InvalidInputError(
                "--cluster must go with --zone, got it alone. For a promised floor use "
                "find_boundary(..., rule=Floors(recall=0.9), cluster=ids) of the library."
            )
        curve, rule = goal.claims()
        allowed = read_zone_errors(zone)
        symmetric = len(set(allowed)) == 1 if allowed else rule.symmetric and cost_column is None
        how: dict[str, Any] = {"positive": scored.positive, "symmetric": symmetric, "by": ids}
        how |= {"cost": cost_column, "independent": cluster is not None}
        columns = scored.score, scored.label
        table = ScoreTable(files, *columns, **how, reading=reading, progress=show)
        found: Any
        if allowed is not None:
            found = table.find_zone(allowed, goal.confidence, *ids)
            more, (negative, positive) = {}, found.labels
            said = (
                f"Call a row {positive} if {scored.score} > {found.high:.6g} and {negative} if "
                f"{scored.score} <= {found.low:.6g}; between the two, ask a person.\n"
                f"{found.message}"
            )
            rows = [
                *([] if found.n_clusters is None else [("clusters", *found.n_clusters)]),
                ("most that may be decided wrongly", *found.errors),
                ("share between the limits here", *map(percent, found.unsure)),
            ]
        else:
            how = {"confidence": goal.confidence, "scores": scored.scores}
            found, certificate = table.decide(curve, rule, **how)
            more, (negative, positive) = {"certificate": certificate.to_dict()}, found.labels
            said = (
                f"Call a row {positive} if {scored.score} > {found.threshold:.6g}, else {negative}."
                f"\n{in_options(found.message)}\n{certificate.status.capitalize()}: "
                f"{certificate.reason}."
            )
            bounds = f"at most, at {certificate.confidence:g} ({certificate.status})"
            rows = [
                ("on the wrong side here", *found.wrong),
                ("their share", *map(percent, certificate.errors)),
                (f"claimed by {found.curve.name}", *map(error_text, found.errors)),
                (bounds, *map(at_most, certificate.error_bounds)),
            ]
    print_notes(positive_note(scored.positive, found.labels, found.n_samples))
    if as_json:
        print_json(found.to_dict() | (more if certify else {}))
        return
    print_line(said)
    head = ["", *(f"class {name}" for name in found.labels)]
    print_table(head, [("rows", *found.n_samples), *rows])


@command(
    "boundshift fit patients.csv --target ill --positive yes --ignore unknown",
    "boundshift fit patients.csv --target ill --model logistic,boosting --recall-floor 0.9",
    "boundshift fit visits.csv --target ill --cluster patient --zone 0.05,0.05",
    "boundshift fit donors.csv --target gives --capacity 50/400 --out gives",
    "boundshift predict gives new.csv --out predictions.csv",
)
def fit(
    file: Path,
    target: str,
    goal: Goal,
    roles: Roles,
    called: Called,
    reading: Reading,
    positive: str | None = None,
    ignore: list[str] | None = None,
    model: str = "logistic",
    out: Path = Path("boundshift-fit"),
    by: list[str] | None = None,
    cluster: str | None = None,
    zone: str | None = None,
    seed: int = 0,
    force: bool = False,
) -> None:
    """Train a model on a table, shift its boundary, certify it, compare it, and write a report.

    Missing values are filled, categories become columns, dates and ids are left out. Three rows
    in ten are kept apart to certify the result. The folder gets report.html, model.skops,
    boundary.json, certificate.json, comparison.csv and columns.json, all of them or none; with
    --zone also zone.json, found on the rows kept apart, for `boundshift predict --zone`.
    """
    with running(stages=True) as show:
        from boundshift._app.fit import fit_table
        from boundshift._app.folder import check_folder, report_facts, write_folder
        from boundshift._app.tables import read_frame
        from boundshift._promises.zone import find_zone

        check_folder(out, force)
        allowed = read_zone_errors(zone)
        frame = read_frame(file, reading=reading)
        curve, rule = goal.claims(len(frame))
        how: dict[str, Any] = {"positive": positive, "ignore": ignore or (), "model": model}
        how |= {"curve": curve, "rule": rule, "confidence": goal.confidence, "seed": seed}
        how |= {"roles": roles.by_column(), "by": by or (), "cluster": cluster}
        fitted = fit_table(frame, target, **how, progress=show)
        found = None
        if allowed is not None:
            how = {"pos_label": fitted.labels[1], "cluster": fitted.details.cluster}
            found = find_zone(*fitted.judged, allowed, goal.confidence, scale="raw", **how)
        facts = report_facts(fitted, out, called.names(), zone=found)
        written = write_folder(fitted, facts, out, force=force, zone=found)
    print_notes(fitted.notes)
    print_table(["column", "read as", "why"], fitted.columns.described())
    head = ["G-mean", "F1", *(f"recall of {label}" for label in fitted.labels)]
    shown = ["g_mean", "f1", "recall_negative", "recall_positive"]
    made = [[row["method"], *(f"{row[n]:.3f}" for n in shown)] for row in fitted.comparison]
    print_table(["method", *head], made)
    if len(fitted.models) > 1:
        made = [[row["method"], *(row[n] for n in (*shown, "loss"))] for row in fitted.models]
        print_table(["model", *head, "loss"], made)
        print_line(
            f"The {fitted.name} was chosen, by the loss on training rows. The other figures are of "
            "the test rows."
        )
    _print_sentences(facts)
    print_line(f"{fitted.certificate.status.capitalize()}: {fitted.certificate.reason}.\n")
    for path in written:
        print_line(path)


def _print_sentences(facts: Mapping[str, Any]) -> None:
    """Print the report's goal, verdict and zone, and what to do next."""
    for name in ("goal", "verdict", "zone"):
        if facts[name] is not None:
            print_line(facts[name]["sentence"])
    print_line(facts["diagnosis"]["next"])


@command(
    "boundshift predict boundshift-fit new.csv --keep town --out predictions.csv",
    "boundshift predict boundshift-fit customers.csv --top 50 --out call.csv",
    "boundshift predict boundshift-fit new.csv --zone boundshift-fit/zone.json | head",
)
def predict(
    folder: Path,
    file: Path,
    reading: Reading,
    out: Path = Path("-"),
    keep: list[str] | None = None,
    threshold: float | None = None,
    top: int | None = None,
    zone: Path | None = None,
    force: bool = False,
) -> None:
    """Predict the rows of a new table, or list those with the highest scores.

    Each gets the score of the positive class, the model's own probability of it if it has one,
    and a label.
    """
    with running():
        from boundshift._app.folder import predict_table
        from boundshift._app.tables import check_writable, write_frame
        from boundshift._promises.zone import Zone

        check_writable(out)
        check_output(out, force, file, zone)
        limits = None if zone is None else Zone.from_json(zone.read_bytes())
        how: dict[str, Any] = {"keep": keep or (), "threshold": threshold, "top": top}
        found, notes = predict_table(folder, file, zone=limits, reading=reading, **how)
        print_notes(notes)
        write_frame(found, out, new=not force)
    made, positive = found["prediction"], found.attrs["positive"]
    unsure = f" and {int((made == 'unsure').sum()):,} unsure" if limits else ""
    said = f"{len(found):,} rows, {int((made == positive).sum()):,} of them flagged as {positive}"
    place = "standard output" if str(out) == "-" else out
    print_line(f"{said}{unsure}, written to {place}.", stderr=True)


@command(
    "boundshift report scores.csv --score risk --label ill --positive yes --test-share 0.5",
    "boundshift report validation.csv --test test.csv --score p --label y --out p.html",
    "boundshift report scores.csv --score p --label ill --positive-name sick --unit patients",
)
def report(
    file: Path,
    scored: Scored,
    goal: Goal,
    called: Called,
    reading: Reading,
    test: Path | None = None,
    test_share: float | None = None,
    own: float | None = None,
    by: list[str] | None = None,
    cluster: str | None = None,
    out: Path = Path("report.html"),
    force: bool = False,
) -> None:
    """Write a report on scores of any system: one HTML file that needs no network.

    It says in a sentence what moving the boundary changes, lets the reader move it, and keeps
    apart what is certified and what is not.
    """
    with running() as show:
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

        curve, rule = goal.claims()
        groups, columns = by or [], (scored.score, scored.label)
        how: dict[str, Any] = {"independent": cluster is not None, "cluster_with": "--test"}
        how |= {"reading": reading, "progress": show}
        beside = ids if test else groups
        table = ScoreTable([file], *columns, scored.positive, rule.symmetric, by=beside, **how)
        deciding = judging = rows = table.rows.ordered()
        labels, doubt = table.labels, table.doubt
        if test_share is not None:
            apart = set_apart(rows.is_positive, test_share, labels)
            deciding, judging = rows.of(~apart), rows.of(apart)
        elif test is not None:
            tested = ScoreTable([test], *columns, str(labels[1]), by=[*groups, *ids], **how)
            # An id may repeat between the files, too.
            both = ScoreTable([file, test], *columns, str(labels[1]), **how)
            judging, _ = tested.rows.ordered(), both.rows
            doubt = doubt or tested.doubt or both.doubt
            for name in ids:
                check_apart(name, rows.beside[name], judging.beside[name])
        sample, counted = deciding.sample(labels), judging.sample(labels)
        boundary = decide(sample, curve, rule, "auto")
        warn_of(boundary, stacklevel=2)
        facts = collect_facts(
            *sample.to_rows(),
            boundary=boundary,
            old_threshold="auto" if own is None else own,
            test=None if judging is rows else counted.to_rows(),
            scores=scored.scores,
            confidence=goal.confidence,
            names=called.names(),
            # Resampled rows would ignore that rows of one id are alike.
            interval=None if ids else resampled_interval(sample, curve, rule, "auto"),
            details=RowDetails(
                counted.to_rows()[1] if counted.are_probabilities() else None,
                {name: check_levels(name, judging.beside[name]) for name in groups},
                cluster=judging.beside[ids[0]] if ids else None,
            ),
            doubt=Doubt(doubt, _OF_IDS, is_seen=False) if doubt else None,
        )
        Report(facts).save(out, overwrite=force)
    print_notes(positive_note(scored.positive, labels, rows.sample(labels).n_samples))
    _print_sentences(facts)
    print_line(facts["verdict"]["note"])
    print_line(out)


@command(
    "boundshift certify boundshift-fit april.csv --label ill --confidence 0.99 --json",
    "boundshift certify boundshift-fit april.csv --cluster patient",
)
def certify(
    folder: Path,
    file: Path,
    reading: Reading,
    label: str | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    as_json: bool = False,
) -> None:
    """Certify a fitted folder on other labelled rows, such as those of another year or place.

    The rows must have been used neither to train the model nor to choose its threshold.
    """
    with running():
        from boundshift._app.watch import certify_table
        from boundshift._words import at_most, percent

        how: dict[str, Any] = {"label": label, "confidence": confidence, "reading": reading}
        found = certify_table(folder, file, cluster=cluster, **how)
    if as_json:
        print_json(found.to_dict())
        return
    for place, verb in ((1, "misses"), (0, "flags")):
        k, n = found.wrong[place], found.n_samples[place]
        if n == 0:
            print_line(f"There are no rows of class {found.labels[place]}.")
            continue
        said = f"Of {n:,} rows of class {found.labels[place]} the model {verb} {k:,}"
        said = f"{said} ({percent(k / n)})"
        if found.n_clusters is not None:
            share, ids = percent(found.errors[place]), found.n_clusters[place]
            said = f"{said}; averaged over {ids:,} clusters, each counting once, it {verb} {share}"
        if found.certified:
            bound = at_most(found.error_bounds[place])
            said = f"{said}, in the long run at most {bound} with {100 * confidence:g}% confidence"
        print_line(f"{said}.")
    print_line(f"{found.status.capitalize()}: {found.reason}.")


@command(
    "boundshift monitor boundshift-fit march.csv --when day",
    "boundshift monitor certificate.json march.csv --score risk --label ill --exit-code",
)
def monitor(
    folder: Path,
    file: Path,
    reading: Reading,
    label: str | None = None,
    score: str | None = None,
    when: str | None = None,
    cluster: str | None = None,
    exit_code: bool = False,
    as_json: bool = False,
) -> None:
    """Count labelled rows that came after deployment, and say whether the certificate is kept.

    The state is kept in monitor.json beside the certificate, so that every call goes on where the
    last one ended. Look as often as you like: the confidence holds for all looks together.
    """
    with running():
        from boundshift._app.watch import watch_table
        from boundshift._words import at_most, percent

        how: dict[str, Any] = {"label": label, "score": score, "when": when, "cluster": cluster}
        found, state, notes, months = watch_table(folder, file, reading=reading, **how)
    print_notes(notes)
    stated = found.certificate
    counts = found.n_samples, found.wrong, stated.error_bounds, found.e_values
    rows = list(zip(stated.labels, *counts, strict=True))
    if as_json:
        names = ("label", "n_samples", "wrong", "error_bound", "e_value")
        said = {"kept": found.alarm is None, "verdict": found.verdict}
        said |= {"e_value_needed": found.e_value_needed, "months": months}
        said["classes"] = [dict(zip(names, row, strict=True)) for row in rows]
        print_json(said | {"alarms": [asdict(alarm) for alarm in found.alarms]})
    else:
        print_line(found.verdict)
        if months:
            negative, positive = stated.labels
            lines = []
            for month, known in sorted(months.items()):
                (n, rest), (flagged, missed) = known["counts"]
                counted = f"{missed} of {rest}", f"{flagged} of {n}"
                lines.append((month, *counted, *known["evidence"][::-1]))
            head = ["month", f"class {positive} missed", f"class {negative} flagged"]
            print_table([*head, f"evidence, {positive}", f"evidence, {negative}"], lines)
        lines = [
            (f"class {name}", n, k, percent(k / n) if n else "–", at_most(bound), e)
            for name, n, k, bound, e in rows
        ]
        print_table(["", "rows", "wrong", "their share", "stated at most", "evidence"], lines)
        if stated.n_clusters is not None:
            print_line("What is stated is an average over clusters, the share beside it of rows.")
        print_line(f"An alarm needs evidence of {found.e_value_needed:.4g}. State: {state}")
    if exit_code and found.alarm is not None:
        raise typer.Exit(3)


@command(
    "boundshift datasets pima --out pima.csv",
    "boundshift fit pima.csv --target target --positive diabetes",
)
def datasets(name: str | None = None, out: Path = Path("-"), force: bool = False) -> None:
    """List public data sets, or write one to a file; the class stands in the column target."""
    with running():
        from boundshift._app.tables import check_writable, write_frame
        from boundshift.datasets._bundled import describe_bundled, load_table

        if name is None:
            names = ["name", "rows", "columns", "classes", "rarest class", "imbalance"]
            print_table(names, describe_bundled())
            return
        check_writable(out)
        check_output(out, force)
        frame = load_table(name)
        write_frame(frame, out, new=not force)
        if str(out) != "-":
            sizes = frame["target"].value_counts().items()
            classes = ", ".join(f"{n} {label}" for label, n in sizes)
            said = (
                f"Wrote {len(frame)} rows and {frame.shape[1]} columns to {out}; the column target"
            )
            what = f"boundshift fit {shlex.quote(str(out))} --target target"
            print_notes([f"{said} says the class ({classes}). Next: {what}"])
