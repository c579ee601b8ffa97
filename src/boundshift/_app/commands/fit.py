"""The command `boundshift fit`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from boundshift._app import options as opt
from boundshift._app.cli import (
    command,
    exit_unless,
    is_goal_met,
    print_json,
    print_line,
    print_notes,
    print_sentences,
    print_table,
    running,
    verdict_fields,
)
from boundshift._app.options import read_zone_errors

if TYPE_CHECKING:
    from boundshift._app.fit import FittedTable
    from boundshift._app.folder import Facts
    from boundshift._app.prepare import PreparedTable

_MOST_IMPORTANT = 3


@command(
    "boundshift fit patients.csv --target ill --positive yes --ignore unknown",
    "boundshift fit donors.csv --target gives --capacity 50/400 --out gives",
)
def fit(
    file: opt.File,
    target: opt.Target,
    goal: opt.Goal,
    roles: opt.Roles,
    called: opt.Called,
    reading: opt.FileOptions,
    positive: opt.Positive = None,
    model: opt.Models = "logistic,forest,boosting",
    out: opt.OutFolder = Path("boundshift-fit"),
    force: opt.ForceFit = False,
    as_json: opt.AsJson = False,
    seed: opt.Seed = 0,
    zone: opt.Zone = None,
    keep_suspects: opt.KeepSuspects = False,
    ignore: opt.Ignore = None,
    cluster: opt.Cluster = None,
    by: opt.By = None,
) -> None:
    """Train a model, choose its threshold, certify it and write a report.

    Three rows in ten are kept apart to certify the result. The folder gets report.html,
    model.skops, boundary.json, certificate.json, comparison.csv and columns.json, all or none.
    """
    with running(stages=True) as show:
        from boundshift._app.fit import read_models, train_table
        from boundshift._app.folder import check_folder, report_facts, write_folder
        from boundshift._app.prepare import prepare_table
        from boundshift._app.tables import read_frame
        from boundshift._guarantees.zone import find_zone

        check_folder(out, force)
        allowed = read_zone_errors(zone)
        read_models(model)
        role_of_column = roles.by_column()
        frame = read_frame(file, reading=reading)
        by_curve, by_rule = goal.claims(len(frame))
        prepared = prepare_table(
            frame,
            target,
            positive=positive,
            ignore=ignore or (),
            symmetric=by_rule.symmetric,
            roles=role_of_column,
            by=by or (),
            cluster=cluster,
        )
        if keep_suspects:
            prepared = prepared.without_suspects()
        if not as_json:
            _print_prepared(prepared)
        fitted = train_table(
            prepared,
            model=model,
            curve=by_curve,
            rule=by_rule,
            confidence=goal.confidence,
            seed=seed,
            progress=show,
        )
        limits = None
        if allowed is not None:
            limits = find_zone(
                *fitted.judged,
                allowed,
                goal.confidence,
                scale="raw",
                pos_label=prepared.labels[1],
                cluster=fitted.details.cluster,
            )
        facts = report_facts(fitted, out, called.names(), zone=limits)
        written = write_folder(fitted, facts, out, force=force, zone=limits)
    if as_json:
        print_json(_as_json(fitted, facts, written))
    else:
        print_notes(fitted.remarks)
        _print_fitted(fitted, facts, written)
    exit_unless(is_goal_met(facts) and fitted.certificate.certified and not prepared.suspects)


def _print_prepared(prepared: PreparedTable) -> None:
    """Print how the columns are read, and which of them may give the target away."""
    print_notes(prepared.notes)
    print_table(["column", "read as", "why"], prepared.columns.described())
    if prepared.suspects:
        what = "this column" if len(prepared.suspects) == 1 else "these columns"
        print_line(f"Check {what} first, which may be known only after the outcome:", "red")
        for suspect in prepared.suspects:
            print_line(f"  {suspect.evidence}", "red")
        print_line(
            "A model that learns from such a column is of no use for new rows. Leave it out with "
            "--drop COLUMN, or accept all of them with --keep-suspects.\n"
        )


def _print_fitted(fitted: FittedTable, facts: Facts, written: list[Path]) -> None:
    """Print the methods and models compared, the columns that matter, and the verdict."""
    labels = fitted.boundary.labels
    head = ["G-mean", "F1", *(f"recall of {label}" for label in labels)]
    shown = ["g_mean", "f1", "recall_negative", "recall_positive"]
    rows = [[row["method"], *(f"{row[name]:.3f}" for name in shown)] for row in fitted.comparison]
    print_table(["method", *head], rows)
    if len(fitted.models) > 1:
        rows = [[row["method"], *(row[name] for name in (*shown, "loss"))] for row in fitted.models]
        print_table(["model", *head, "loss in training"], rows)
    goal = facts["importance_of"]
    helpful = [item for item in fitted.importance.items() if item[1].low > 0]
    if helpful:
        print_line(f"What matters most, by how much the {goal} is worse if a column is shuffled:")
    else:
        print_line(f"No column is shown to matter by itself, measured by the {goal}.")
    for name, importance in helpful[:_MOST_IMPORTANT]:
        print_line(
            f"  {name}: {importance.mean:.4g} (95% interval {importance.low:.4g} to "
            f"{importance.high:.4g})"
        )
    print_line("")
    print_sentences(facts)
    print_line(f"{fitted.certificate.status.capitalize()}: {fitted.certificate.reason}.\n")
    for path in written:
        print_line(path)


def _as_json(fitted: FittedTable, facts: Facts, written: list[Path]) -> dict[str, object]:
    """Return what `SCHEMA` lists of a fit."""
    return {
        "files": [str(path) for path in written],
        "target": fitted.prepared.target,
        "labels": [str(label) for label in fitted.boundary.labels],
        "n_samples": fitted.prepared.n_samples,
        "model": fitted.name,
        "models": fitted.models,
        "threshold": fitted.boundary.threshold,
        **verdict_fields(facts),
        "certificate": fitted.certificate.to_dict(),
        "comparison": fitted.comparison,
        "columns": [column._asdict() for column in fitted.columns.described()],
        "suspects": [asdict(suspect) for suspect in fitted.prepared.suspects],
        "importance": [
            {"column": name} | importance._asdict()
            for name, importance in fitted.importance.items()
        ],
        "notes": list(fitted.notes),
    }
