"""Labelled rows that came after a fit: its monitor, and its certificate on other rows."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift._app.cli import print_json, print_line, print_notes, print_table
from boundshift._app.columns import rank_id
from boundshift._app.folder import predict_table
from boundshift._app.labelled import (
    CERTIFICATE,
    Decider,
    read_dates,
    read_decider,
    read_labels,
    read_scores,
    skip_unlabelled,
)
from boundshift._app.ledger import Ledger, MonthCounts, TableHashes, hash_clusters, hash_texts
from boundshift._app.opening import AS_IT_IS, Reading, column_names
from boundshift._app.tables import read_frame, with_gaps
from boundshift._guarantees.certificate import Certificate
from boundshift._guarantees.monitor import Monitor
from boundshift._typing import BoolArray, FloatArray
from boundshift._words import at_most, percent
from boundshift._writing import lock_file, write_whole
from boundshift.exceptions import InvalidInputError

_STATE = "monitor.json"


@dataclass
class Watched:
    """What a call of `boundshift monitor` found: the monitor, its file, notes and months."""

    monitor: Monitor
    state: Path
    notes: list[str]
    months: dict[str, MonthCounts]


@dataclass(frozen=True)
class Roles:
    """Which columns of a table have labels, scores, dates and clusters; None for none.

    Without a column of scores the model of the folder scores the rows.
    """

    label: str
    score: str | None
    when: str | None
    cluster: str | None

    @property
    def contents(self) -> list[str]:
        """The columns by which a row without an id is recognised."""
        named = [self.score or "score", self.label, self.when]
        return [name for name in named if name is not None]


class LabelledTable(NamedTuple):
    """Rows with labels and scores; dates, clusters and columns of ids are pandas Series."""

    y: NDArray[Any]
    scores: FloatArray
    dates: NDArray[Any] | None
    clusters: NDArray[Any] | None
    ids: dict[str, Any]
    is_sorted: bool


def watch_table(
    place: str | Path,
    source: str | Path,
    *,
    label: str | None = None,
    score: str | None = None,
    when: str | None = None,
    cluster: str | None = None,
    reading: Reading = AS_IT_IS,
    on_wait: Callable[[], None] = lambda: None,
) -> Watched:
    """Count the labelled rows of a file, and keep the state beside the certificate.

    Arguments are the options of ``boundshift monitor``. `place` is a folder that `boundshift fit`
    wrote, or a JSON file with a certificate. The state of certificate.json is monitor.json, that
    of risk.json is risk.monitor.json. The folder's model scores the rows unless a column does.
    Several calls at once wait for each other, after a call of `on_wait`.
    """
    decider = read_decider(Path(place))
    path = decider.path
    if not path.is_file():
        raise InvalidInputError(
            f"The threshold must be in a file, because the state is kept beside it, got '{path}'. "
            "Write it to a file first."
        )
    state = path.with_name(_STATE if path.name == CERTIFICATE else f"{path.stem}.{_STATE}")
    roles = _choose_roles(decider, label, score, when, cluster)
    table, notes = _read_table(decider, source, roles, reading)
    digest = None
    if str(source) != "-":
        digest = hashlib.sha256(Path(source).read_bytes()).hexdigest()
    with lock_file(state, on_wait):
        monitor, ledger = _read_state(state, decider, roles)
        if digest in ledger.files:
            note = f"'{source}' has been counted before and is not counted again."
            return Watched(monitor, state, [note], ledger.months)
        notes += _count_new_rows(monitor, ledger, table, roles, str(source), state)
        if digest is not None:
            ledger.files.append(digest)
        write_whole(state, json.dumps(monitor.to_dict() | ledger.to_fields()) + "\n")
    return Watched(monitor, state, notes, ledger.months)


def _choose_roles(
    decider: Decider,
    label: str | None,
    score: str | None,
    when: str | None,
    cluster: str | None,
) -> Roles:
    """Return the columns to be read, from the options and from the folder."""
    label = decider.choose_label(label, score)
    if decider.certificate.n_clusters is not None:
        cluster = cluster or decider.cluster
    cluster = None if cluster == "none" else cluster
    if when is not None and cluster is not None:
        raise InvalidInputError(
            f"--when must go without clusters, but rows are counted by '{cluster}', all of an id "
            "at once, whatever their dates. Leave out --when, and count a month's file at a time."
        )
    return Roles(label, score, when, cluster)


def _read_table(
    decider: Decider, source: str | Path, roles: Roles, reading: Reading
) -> tuple[LabelledTable, list[str]]:
    """Return the labelled rows of a file, and notes on it."""
    keep = [name for name in (roles.label, roles.when, roles.cluster) if name is not None]
    notes: list[str] = []
    if roles.score is None:
        frame, notes = predict_table(decider.place, source, keep=keep, reading=reading)
        others = [] if decider.folder is None else list(decider.folder.columns.left_out)
    else:
        others = [] if str(source) == "-" else list(column_names(source, reading))
        others = [name for name in others if rank_id(name, sys.maxsize)]
        others = [name for name in others if name not in (roles.score, *keep)]
        frame = read_frame(source, [roles.score, *keep], others, reading)
    frame, unlabelled = skip_unlabelled(frame, roles.label)
    notes = notes + unlabelled
    score = roles.score or "score"
    dates = None
    is_sorted = True
    if roles.when is not None:
        dates = read_dates(frame[roles.when])
        is_sorted = not (dates[1:] < dates[:-1]).any()
    clusters = None
    if roles.cluster is not None:
        clusters = with_gaps(frame[roles.cluster]).to_numpy(dtype=object)
    table = LabelledTable(
        y=read_labels(frame[roles.label], decider.labels, decider.rest),
        scores=read_scores(frame[score], score, str(source)),
        dates=dates,
        clusters=clusters,
        ids={name: frame[name] for name in others if name in frame and name not in keep},
        is_sorted=is_sorted,
    )
    boundary = decider.boundary
    if boundary and boundary._find_origin(table.scores, table.y == decider.labels[1]):
        notes.append(
            f"Some rows of '{source}' trained the model or chose the threshold. A monitor is for "
            "later rows, and earlier ones can hide a rise of the error rates. Leave them out; if "
            "they are counted, move the state away and begin anew."
        )
    return table, notes


def _read_state(state: Path, decider: Decider, roles: Roles) -> tuple[Monitor, Ledger]:
    """Return the monitor and the ledger of a file, or new ones if there is none."""
    fresh = Ledger(roles.contents, is_of_clusters=roles.cluster is not None)
    if not state.exists() and not state.is_symlink():
        return Monitor(decider.certificate), fresh
    try:
        stored = json.loads(state.read_bytes())
        monitor = Monitor.from_dict(stored)
        ledger = fresh
        if any(name in stored for name in fresh.to_fields()):
            ledger = Ledger.from_fields(stored)
    except (RecursionError, ValueError) as error:
        reason = str(error) if isinstance(error, InvalidInputError) else "It is no complete JSON."
        raise InvalidInputError(
            f"'{state}' does not hold the rows counted so far. {reason} Nothing was counted. "
            "Restore the file from a copy, or move it away and count all rows anew."
        ) from None
    if stored["certificate"] != decider.stored:
        raise InvalidInputError(
            f"'{state}' must watch the certificate in '{state.parent}', and watches another. "
            "Nothing was counted. Move the file away to begin anew."
        )
    if (ledger.columns, ledger.is_of_clusters) != (fresh.columns, fresh.is_of_clusters):
        raise InvalidInputError(
            f"Every call must name the same columns for '{state}', because rows counted before are "
            f"recognised by {_join(ledger.columns)}, got {_join(fresh.columns)}. Nothing was "
            "counted. Use the same --score, --label, --when and --cluster, or move the file away "
            "and count all rows anew."
        )
    return monitor, ledger


def _join(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _count_new_rows(
    monitor: Monitor,
    ledger: Ledger,
    table: LabelledTable,
    roles: Roles,
    source: str,
    state: Path,
) -> list[str]:
    """Count the rows that were not counted before; return notes."""
    if not ledger.sequences and not ledger.is_of_clusters:
        ledger.id_column = _choose_id(table.ids)
    hashes, unit_of_row = _hash_table(table, ledger, roles, source)
    repeated = ledger.find_repeated(hashes)
    is_new = ~repeated.is_repeated
    notes = _describe_repeated(repeated.is_repeated, repeated.is_changed, ledger, source, state)
    if notes and not ledger.is_of_clusters:
        notes[0] = f"{notes[0]} They were recognised by {repeated.recognised_by}."
    rows = is_new[unit_of_row]
    y = table.y[rows]
    scores = table.scores[rows]
    if table.dates is None:
        clusters = None if table.clusters is None else table.clusters[rows]
        monitor.update(y, scores, cluster=clusters)
    else:
        if not table.is_sorted:
            notes.append(
                f"Rows are counted in the order of '{roles.when}', not in that of the file."
            )
        notes += _count_months(monitor, ledger.months, y, scores, table.dates[rows])
    ledger.add(hashes, is_new)
    return notes


def _choose_id(ids: dict[str, Any]) -> str | None:
    """Return the column that names the rows of a table: an id without gaps or repetitions."""
    ranks = {}
    for name, column in ids.items():
        cells = with_gaps(column)
        rank = rank_id(name, len(cells))
        if rank and not cells.isna().any() and cells.astype(str).is_unique:
            ranks[name] = rank
    return max(ranks, key=lambda name: ranks[name], default=None)


def _hash_table(
    table: LabelledTable, ledger: Ledger, roles: Roles, source: str
) -> tuple[TableHashes, NDArray[Any]]:
    """Return the hashes of a table's rows or clusters, and the place of each row among these."""
    # Another processor or number of rows may change the last digits of a model's score.
    scores = [f"{score:.6g}" for score in table.scores]
    columns = [scores, [str(label) for label in table.y]]
    dates = None if table.dates is None else [str(date) for date in table.dates]
    if dates is not None:
        columns.append(dates)
    contents = hash_texts(columns)
    if table.clusters is not None:
        names, place = np.unique(table.clusters.astype(str), return_inverse=True)
        ledger.id_column = roles.cluster
        return TableHashes(hash_clusters(contents, place), hash_texts([names.tolist()])), place
    every_row = np.arange(len(contents))
    if ledger.id_column is None:
        return TableHashes(contents), every_row
    if ledger.id_column not in table.ids:
        raise InvalidInputError(
            f"'{source}' must have the column '{ledger.id_column}', by which rows counted before "
            "are recognised, and lacks it. Nothing was counted. Add the column."
        )
    ids = [str(cell) for cell in table.ids[ledger.id_column]]
    # With dates, one id may have a row in every month.
    named = [ids] if dates is None else [ids, dates]
    return TableHashes(contents, hash_texts(named)), every_row


def _describe_repeated(
    is_repeated: BoolArray, is_changed: BoolArray, ledger: Ledger, source: str, state: Path
) -> list[str]:
    """Return notes on what was counted before."""
    n_repeated = int(np.sum(is_repeated))
    n_changed = int(np.sum(is_changed))
    if not n_repeated:
        return []
    unit = f"ids of '{ledger.id_column}'" if ledger.is_of_clusters else "rows"
    n_new = len(is_repeated) - n_repeated
    notes = [
        f"{n_repeated:,} of {len(is_repeated):,} {unit} in '{source}' were counted before and are "
        f"not counted again; {n_new:,} {'is' if n_new == 1 else 'are'} new."
    ]
    if n_changed:
        what = "more or other rows" if ledger.is_of_clusters else "another score or label"
        notes.append(
            f"{n_changed:,} of these {n_repeated:,} came with {what} than when counted. The "
            f"earlier ones stay counted. To count what they have now, move '{state}' away and "
            "count all rows anew."
        )
    return notes


def _count_months(
    monitor: Monitor,
    months: dict[str, MonthCounts],
    y: NDArray[Any],
    scores: FloatArray,
    dates: NDArray[Any],
) -> list[str]:
    """Count rows in the order of their dates, month by month."""
    notes = []
    order = np.argsort(dates, kind="stable")
    of_month = dates.astype("datetime64[M]").astype(str)
    first = min(of_month.tolist(), default="")
    if months and first and first < max(months):
        notes.append(
            f"Rows of {first} come after rows of {max(months)} were counted. The evidence "
            "is in the order of counting."
        )
    for month in np.unique(of_month).tolist():
        rows = order[of_month[order] == month]
        n_before = monitor.n_samples
        wrong_before = monitor.wrong
        monitor.update(y[rows], scores[rows], dates[rows].astype(str))
        counted = months.get(month, MonthCounts((0, 0), (0, 0), ()))
        months[month] = MonthCounts(
            n_samples=_add_change(counted.n_samples, n_before, monitor.n_samples),
            wrong=_add_change(counted.wrong, wrong_before, monitor.wrong),
            e_values=monitor.e_values,
        )
    return notes


def _add_change(
    total: tuple[int, ...], before: tuple[int, ...], after: tuple[int, ...]
) -> tuple[int, ...]:
    return tuple(n + last - first for n, first, last in zip(total, before, after, strict=True))


def print_watched(watched: Watched, *, as_json: bool = False) -> None:
    """Print what a monitor says: alarms, months and classes."""
    monitor = watched.monitor
    print_notes(watched.notes)
    if as_json:
        print_json(_as_facts(watched))
        return
    print_line(monitor.verdict)
    certificate = monitor.certificate
    if watched.months:
        _print_months(watched.months, certificate)
    head = ["", "rows", "wrong", "observed", "95% interval", "guaranteed at most", "evidence"]
    rows = []
    for each in _class_facts(monitor):
        cells = [f"class {each['label']}", each["n_samples"], each["wrong"]]
        cells.append("–" if each["error"] is None else percent(each["error"]))
        # There is no interval of clusters.
        cells.append(" to ".join(map(percent, each["error_interval"] or ())) or "–")
        rows.append([*cells, at_most(each["error_bound"]), each["e_value"]])
    print_table(head, rows)
    if certificate.n_clusters is not None:
        print_line(
            "Observed and guaranteed rates are averages over clusters, each counting once; rows "
            "and wrong ones are counted singly."
        )
    print_line(
        f"An alarm needs evidence of {monitor.e_value_needed:.4g}. It is raised if an error rate "
        "exceeds the guaranteed one; a rise that stays below is not found."
    )
    if monitor.alarm is not None:
        print_line(
            "An alarm stays. Once its cause is mended, certify the model on new rows, move "
            f"'{watched.state}' away and begin anew."
        )
    print_line(f"State: {watched.state}")


def _print_months(months: dict[str, MonthCounts], certificate: Certificate) -> None:
    negative, positive = certificate.labels
    lines = []
    for month, counts in sorted(months.items()):
        flagged, missed = map("{:,} of {:,}".format, counts.wrong, counts.n_samples)
        lines.append((month, missed, flagged, *reversed(counts.e_values)))
    head = ["month", f"class {positive} missed", f"class {negative} flagged"]
    print_table([*head, f"evidence, {positive}", f"evidence, {negative}"], lines)


def _class_facts(monitor: Monitor) -> list[dict[str, Any]]:
    """Return what was counted of each class, as JSON can carry it."""
    classes = []
    for place, label in enumerate(monitor.certificate.labels):
        n_samples = monitor.n_samples[place]
        interval = monitor.error_intervals[place]
        classes.append(
            {
                "label": label,
                "n_samples": n_samples,
                "wrong": monitor.wrong[place],
                "error": monitor.errors[place] if n_samples else None,
                "error_interval": None if interval is None else list(interval),
                "error_bound": monitor.certificate.error_bounds[place],
                "e_value": monitor.e_values[place],
            }
        )
    return classes


def _as_facts(watched: Watched) -> dict[str, Any]:
    """Return what a monitor says as JSON can carry it."""
    monitor = watched.monitor
    months = {
        month: {
            "counts": [list(counts.n_samples), list(counts.wrong)],
            "evidence": list(counts.e_values),
        }
        for month, counts in watched.months.items()
    }
    return {
        "kept": monitor.alarm is None,
        "verdict": monitor.verdict,
        "e_value_needed": monitor.e_value_needed,
        "months": months,
        "notes": watched.notes,
        "classes": _class_facts(monitor),
        "alarms": [asdict(alarm) for alarm in monitor.alarms],
    }
