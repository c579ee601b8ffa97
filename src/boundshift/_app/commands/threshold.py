"""The command `boundshift threshold`."""

from __future__ import annotations

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
from boundshift._app.options import Goal, read_zone_errors
from boundshift.exceptions import InvalidInputError

if TYPE_CHECKING:
    from boundshift._app.scores import Rates
    from boundshift._guarantees.certificate import Certificate
    from boundshift._guarantees.zone import Zone
    from boundshift._result.boundary import Boundary


@command(
    "boundshift threshold scores.csv --score risk --label ill --positive yes --own 0.5",
    "boundshift threshold scores.csv --score p --label y --costs miss=20,alarm=1 --json",
    "boundshift threshold day1.parquet day2.parquet --score p --label y --recall-floor 0.9",
    "boundshift threshold scores.csv --score p --label y --zone 0.05,0.05 --cluster patient",
    "zcat scores.csv.gz | boundshift threshold - --score p --label y --curve paper",
)
def threshold(
    files: opt.Files,
    score: opt.Score,
    label: opt.Label,
    goal: opt.Goal,
    reading: opt.FileOptions,
    positive: opt.Positive = None,
    scores: opt.Scores = "held-out",
    own: opt.Own = None,
    as_json: opt.AsJson = False,
    cost_column: opt.CostColumn = None,
    zone: opt.Zone = None,
    cluster: opt.ClusterOfScores = None,
) -> None:
    """Find the threshold for a file of labels and scores from any system.

    The answer is one number: call a row positive if its score is above it; with --zone, two
    numbers. Several files are read as one table, and more than 512 MB in passes, so that they need
    not fit into memory.
    """
    with running() as show:
        from boundshift._app.scores import ScoreTable
        from boundshift._app.tables import positive_note

        _check_wishes(goal, scores, zone, cost_column, own)
        by_curve, by_rule = goal.claims()
        errors = read_zone_errors(zone)
        symmetric = by_rule.symmetric and cost_column is None
        table = ScoreTable(
            files,
            score,
            label,
            positive=positive,
            symmetric=symmetric if errors is None else errors[0] == errors[1],
            cost=cost_column,
            cluster=cluster,
            reading=reading,
            progress=show,
        )
        if errors is not None:
            limits = table.find_zone(errors, goal.confidence)
            notes = positive_note(positive, limits.labels, limits.n_samples)
        else:
            boundary, certificate = table.decide(
                by_curve, by_rule, confidence=goal.confidence, origin=scores
            )
            rates = table.compare_rates(boundary, own)
            notes = positive_note(positive, boundary.labels, boundary.n_samples)
    print_notes(notes)
    if errors is not None:
        _print_zone(limits, score, as_json=as_json)
        exit_unless(not table.doubt)
        return
    is_shown = certificate.certified or boundary.guaranteed is True
    is_met = boundary.status in _MET and not boundary.remarks and is_shown
    if as_json:
        print_json(
            boundary.to_dict()
            | {
                "certificate": certificate.to_dict(),
                "rates": [each._asdict() for each in rates],
                "is_met": is_met,
            }
        )
        print_notes([] if is_met else [boundary.message])
    else:
        _print_threshold(boundary, certificate, rates, score)
    exit_unless(is_met)


_MET = ("OPTIMAL", "RELAXED")
"""Statuses of an answer that needs no second look."""


def _check_wishes(
    goal: Goal, scores: str, zone: str | None, cost_column: str | None, own: float | None
) -> None:
    """Raise if an option would be ignored."""
    alone = [name for name, it in (("zone", zone), ("cost-column", cost_column)) if it]
    is_seen = zone is not None and (scores != "held-out" or own is not None)
    has_goal = goal != Goal(confidence=goal.confidence)
    if alone and (len(alone) > 1 or has_goal or is_seen):
        raise InvalidInputError(
            f"--{alone[0]} must go alone: without another goal or --curve, and --zone also "
            "without --scores and --own. Run the command twice."
        )


def _print_zone(zone: Zone, score: str, *, as_json: bool) -> None:
    """Print two limits and what they decide."""
    from boundshift._words import percent

    if as_json:
        print_json(zone.to_dict())
        return
    low_class, high_class = zone.labels
    print_line(
        f"Call a row {high_class} if {score} > {zone.high:.6g} and {low_class} if "
        f"{score} <= {zone.low:.6g}; between the two, ask a person.\n{zone.message}"
    )
    rows: list[tuple[object, ...]] = [("rows", *zone.n_samples)]
    if zone.n_clusters is not None:
        rows.append(("clusters", *zone.n_clusters))
    rows.append(("share between the limits here", *map(percent, zone.unsure)))
    print_table(["", *(f"class {name}" for name in zone.labels)], rows)


def _print_threshold(
    boundary: Boundary,
    certificate: Certificate,
    rates: list[Rates],
    score: str,
) -> None:
    """Print a threshold, whether the goal is met, and the rates before and after."""
    from boundshift._app.scores import describe_goal, keeps_floors
    from boundshift._words import at_most, error_text, percent

    low_class, high_class = boundary.labels
    print_line(
        f"Call a row {high_class} if {score} > {boundary.threshold:.6g}, else {low_class}.\n"
        f"{describe_goal(boundary)}\n{boundary.message}\n"
        f"{certificate.status.capitalize()}: {certificate.reason}."
    )
    shown = {
        "threshold": [f"{each.threshold:.6g}" for each in rates],
        "recall": [percent(each.recall) for each in rates],
        "precision": ["–" if each.precision is None else percent(each.precision) for each in rates],
        "flagged of 1,000": [f"{each.flagged_per_1000:.4g}" for each in rates],
    }
    if rates[0].cost_per_1000 is not None:
        shown["cost of 1,000"] = [f"{each.cost_per_1000:.4g}" for each in rates]
    heads = ["this threshold", "the model's own"][: len(rates)]
    share = "their share" if certificate.n_clusters is None else "their share, averaged over ids"
    print_table(["on these rows", *heads], [(name, *cells) for name, cells in shown.items()])
    print_table(
        ["", *(f"class {name}" for name in boundary.labels)],
        [
            ("rows", *boundary.n_samples),
            ("on the wrong side here", *boundary.wrong),
            (share, *map(percent, certificate.errors)),
            (f"claimed by {boundary.curve.name}", *map(error_text, boundary.errors)),
            (
                f"at most, at {certificate.confidence:g} ({certificate.status})",
                *map(at_most, certificate.error_bounds),
            ),
        ],
    )
    if boundary.guaranteed and certificate.certified and not keeps_floors(boundary, certificate):
        print_line(
            "The goal is guaranteed at this threshold. The bounds in the last line hold at every "
            "threshold at once, so they are wider."
        )
