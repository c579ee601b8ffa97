"""The commands: options in, one function called, a few lines of what came of it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

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
from boundshift._app.options import Called, Goal, Roles, argument, option, read_zone_errors
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._tables import Reading

__all__ = ["app"]

Origin = Literal["held-out", "out-of-fold", "training"]
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
    files: Annotated[list[Path], argument("files")],
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
    cost_column: Annotated[str | None, option("cost_column")] = None,
    certify: Annotated[bool, option("certify")] = False,
    zone: Annotated[str | None, option("zone")] = None,
    cluster: Annotated[str | None, option("cluster")] = None,
    encoding: Annotated[str | None, option("encoding")] = None,
    sheet: Annotated[str | None, option("sheet")] = None,
    header_row: Annotated[int | None, option("header_row")] = None,
    as_json: Annotated[bool, option("as_json")] = False,
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
        alone = [name for name, it in (("zone", zone), ("cost-column", cost_column)) if it]
        is_seen = zone is not None and scores != "held-out"
        has_goal = goal != Goal(confidence=confidence)
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
        by_curve, by_rule = goal.claims()
        allowed = read_zone_errors(zone)
        symmetric = len(set(allowed)) == 1 if allowed else by_rule.symmetric and cost_column is None
        table = ScoreTable(
            files,
            score,
            label,
            positive=positive,
            symmetric=symmetric,
            cost=cost_column,
            by=ids,
            independent=cluster is not None,
            reading=reading,
            progress=show,
        )
        found: Any
        more: dict[str, Any] = {}
        if allowed is not None:
            found = table.find_zone(allowed, confidence, *ids)
            low_class, high_class = found.labels
            text = (
                f"Call a row {high_class} if {score} > {found.high:.6g} and {low_class} if "
                f"{score} <= {found.low:.6g}; between the two, ask a person.\n"
                f"{found.message}"
            )
            rows = [
                *([] if found.n_clusters is None else [("clusters", *found.n_clusters)]),
                ("most that may be decided wrongly", *found.error_bounds),
                ("share between the limits here", *map(percent, found.unsure)),
            ]
        else:
            found, certificate = table.decide(
                by_curve, by_rule, confidence=confidence, origin=scores
            )
            more = {"certificate": certificate.to_dict()}
            low_class, high_class = found.labels
            text = (
                f"Call a row {high_class} if {score} > {found.threshold:.6g}, else {low_class}."
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
    print_notes(positive_note(positive, found.labels, found.n_samples))
    if as_json:
        print_json(found.to_dict() | (more if certify else {}))
        return
    print_line(text)
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
    file: Annotated[Path, argument("file")],
    target: Annotated[str, option("target")],
    positive: Annotated[str | None, option("positive")] = None,
    ignore: Annotated[list[str] | None, option("ignore", advanced=True)] = None,
    model: Annotated[str, option("model")] = "logistic",
    curve: Annotated[str | None, option("curve", advanced=True)] = None,
    rule: Annotated[str | None, option("rule")] = None,
    metric: Annotated[str | None, option("metric", advanced=True)] = None,
    costs: Annotated[str | None, option("costs")] = None,
    recall_floor: Annotated[float | None, option("recall_floor")] = None,
    specificity_floor: Annotated[float | None, option("specificity_floor", advanced=True)] = None,
    precision_floor: Annotated[float | None, option("precision_floor", advanced=True)] = None,
    npv_floor: Annotated[float | None, option("npv_floor", advanced=True)] = None,
    capacity: Annotated[str | None, option("capacity")] = None,
    then: Annotated[str | None, option("then", advanced=True)] = None,
    prevalence: Annotated[float | None, option("prevalence", advanced=True)] = None,
    confidence: Annotated[float, option("confidence", advanced=True)] = 0.95,
    numeric: Annotated[list[str] | None, option("numeric", advanced=True)] = None,
    category: Annotated[list[str] | None, option("category", advanced=True)] = None,
    drop: Annotated[list[str] | None, option("drop")] = None,
    row_id: Annotated[list[str] | None, option("row_id", advanced=True)] = None,
    by: Annotated[list[str] | None, option("by", advanced=True)] = None,
    cluster: Annotated[str | None, option("cluster", advanced=True)] = None,
    zone: Annotated[str | None, option("zone", advanced=True)] = None,
    unit: Annotated[str | None, option("unit", advanced=True)] = None,
    positive_name: Annotated[str | None, option("positive_name", advanced=True)] = None,
    negative_name: Annotated[str | None, option("negative_name", advanced=True)] = None,
    title: Annotated[str | None, option("title", advanced=True)] = None,
    encoding: Annotated[str | None, option("encoding", advanced=True)] = None,
    sheet: Annotated[str | None, option("sheet", advanced=True)] = None,
    header_row: Annotated[int | None, option("header_row", advanced=True)] = None,
    seed: Annotated[int, option("seed", advanced=True, least=0, most=2**32 - 1)] = 0,
    out: Annotated[Path, option("out")] = Path("boundshift-fit"),
    force: Annotated[bool, option("force", "fit")] = False,
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
        from boundshift._guarantees.zone import find_zone

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
        check_folder(out, force)
        allowed = read_zone_errors(zone)
        names = Called(unit, positive_name, negative_name, title).names()
        frame = read_frame(file, reading=reading)
        by_curve, by_rule = goal.claims(len(frame))
        fitted = fit_table(
            frame,
            target,
            positive=positive,
            ignore=ignore or (),
            model=model,
            curve=by_curve,
            rule=by_rule,
            confidence=confidence,
            seed=seed,
            roles=Roles(numeric, category, drop, row_id).by_column(),
            by=by or (),
            cluster=cluster,
            progress=show,
        )
        limits = None
        if allowed is not None:
            limits = find_zone(
                *fitted.judged,
                allowed,
                confidence,
                scale="raw",
                pos_label=fitted.labels[1],
                cluster=fitted.details.cluster,
            )
        facts = report_facts(fitted, out, names, zone=limits)
        written = write_folder(fitted, facts, out, force=force, zone=limits)
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
    folder: Annotated[Path, argument("folder")],
    file: Annotated[Path, argument("file")],
    out: Annotated[Path, option("out")] = Path("-"),
    keep: Annotated[list[str] | None, option("keep")] = None,
    threshold: Annotated[float | None, option("threshold")] = None,
    top: Annotated[int | None, option("top", least=1)] = None,
    zone: Annotated[Path | None, option("zone", "predict")] = None,
    encoding: Annotated[str | None, option("encoding")] = None,
    sheet: Annotated[str | None, option("sheet")] = None,
    header_row: Annotated[int | None, option("header_row")] = None,
    force: Annotated[bool, option("force")] = False,
) -> None:
    """Predict the rows of a new table, or list those with the highest scores.

    Each gets the score of the positive class, the model's own probability of it if it has one,
    and a label.
    """
    with running():
        from boundshift._app.folder import predict_table
        from boundshift._app.tables import check_writable, write_frame
        from boundshift._guarantees.zone import Zone

        reading = Reading(encoding, sheet, header_row)
        check_writable(out)
        check_output(out, force, file, zone)
        limits = None if zone is None else Zone.from_json(zone.read_bytes())
        found, notes = predict_table(
            folder,
            file,
            keep=keep or (),
            threshold=threshold,
            top=top,
            zone=limits,
            reading=reading,
        )
        print_notes(notes)
        write_frame(found, out, new=not force)
    made = found["prediction"]
    positive = found.attrs["positive"]
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
    unit: Annotated[str | None, option("unit")] = None,
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
            names=Called(unit, positive_name, negative_name, title).names(),
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
    _print_sentences(facts)
    print_line(facts["verdict"]["note"])
    print_line(out)


@command(
    "boundshift certify boundshift-fit april.csv --label ill --confidence 0.99 --json",
    "boundshift certify boundshift-fit april.csv --cluster patient",
)
def certify(
    folder: Annotated[Path, argument("folder")],
    file: Annotated[Path, argument("file")],
    label: Annotated[str | None, option("label")] = None,
    confidence: Annotated[float, option("confidence")] = 0.95,
    cluster: Annotated[str | None, option("cluster")] = None,
    encoding: Annotated[str | None, option("encoding")] = None,
    sheet: Annotated[str | None, option("sheet")] = None,
    header_row: Annotated[int | None, option("header_row")] = None,
    as_json: Annotated[bool, option("as_json")] = False,
) -> None:
    """Certify a fitted folder on other labelled rows, such as those of another year or place.

    The rows must have been used neither to train the model nor to choose its threshold.
    """
    with running():
        from boundshift._app.watch import certify_table
        from boundshift._words import at_most, percent

        reading = Reading(encoding, sheet, header_row)
        found = certify_table(
            folder, file, label=label, confidence=confidence, cluster=cluster, reading=reading
        )
    if as_json:
        print_json(found.to_dict())
        return
    for place, verb in ((1, "misses"), (0, "flags")):
        k = found.wrong[place]
        n = found.n_samples[place]
        if n == 0:
            print_line(f"There are no rows of class {found.labels[place]}.")
            continue
        said = f"Of {n:,} rows of class {found.labels[place]} the model {verb} {k:,}"
        said = f"{said} ({percent(k / n)})"
        if found.n_clusters is not None:
            share = percent(found.errors[place])
            ids = found.n_clusters[place]
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
    folder: Annotated[Path, argument("folder")],
    file: Annotated[Path, argument("file")],
    label: Annotated[str | None, option("label")] = None,
    score: Annotated[str | None, option("score")] = None,
    when: Annotated[str | None, option("when")] = None,
    cluster: Annotated[str | None, option("cluster")] = None,
    encoding: Annotated[str | None, option("encoding")] = None,
    sheet: Annotated[str | None, option("sheet")] = None,
    header_row: Annotated[int | None, option("header_row")] = None,
    exit_code: Annotated[bool, option("exit_code")] = False,
    as_json: Annotated[bool, option("as_json")] = False,
) -> None:
    """Count labelled rows that came after deployment, and say whether the certificate is kept.

    The state is kept in monitor.json beside the certificate, so that every call goes on where the
    last one ended. Look as often as you like: the confidence holds for all looks together.
    """
    with running():
        from boundshift._app.watch import print_watched, watch_table

        reading = Reading(encoding, sheet, header_row)
        watched = watch_table(
            folder,
            file,
            label=label,
            score=score,
            when=when,
            cluster=cluster,
            reading=reading,
            on_wait=lambda: print_notes(["Another call is counting. This one waits for it."]),
        )
    print_watched(watched, as_json=as_json)
    if exit_code and watched.monitor.alarm is not None:
        raise typer.Exit(3)


@command(
    "boundshift datasets pima --out pima.csv",
    "boundshift fit pima.csv --target target --positive diabetes",
)
def datasets(
    name: Annotated[str | None, argument("name")] = None,
    out: Annotated[Path, option("out")] = Path("-"),
    force: Annotated[bool, option("force")] = False,
) -> None:
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
