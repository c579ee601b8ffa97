"""The folder that a fit leaves behind: written whole or not at all, read back, and applied."""

from __future__ import annotations

import json
import os
import shlex
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boundshift._app.cli import check_new
from boundshift._app.columns import Column, Columns, Reason, Spelling, as_features
from boundshift._app.fit import FittedTable
from boundshift._app.opening import AS_IT_IS, Reading
from boundshift._app.tables import read_frame
from boundshift._classifier import BoundShiftClassifier
from boundshift._guarantees.zone import Zone
from boundshift._result.boundary import Boundary
from boundshift._result.records import check_format
from boundshift.exceptions import InvalidInputError
from boundshift.models._store import load, save
from boundshift.report._evidence import own_probability

FILES = (
    *("report.html", "model.skops", "boundary.json"),
    *("certificate.json", "comparison.csv", "columns.json"),
)
"""What a folder holds."""
ZONE_FILE = "zone.json"
"""What it holds beside them where an unsure zone was asked for."""

Facts = dict[str, Any]
"""What a report says, as plain values."""

_OURS = ("score", "probability", "prediction")
_FORMAT = "boundshift.columns"
_VERSION = 5


def write_folder(
    fitted: FittedTable,
    facts: Facts,
    out: str | Path,
    *,
    force: bool = False,
    zone: Zone | None = None,
) -> list[Path]:
    """Write report, model, boundary, certificate, comparison and columns; all of them or none.

    `facts` are from :func:`report_facts`. With `force`, a folder that an earlier fit left is
    replaced. `zone` is written as zone.json.
    """
    import pandas as pd

    from boundshift.report import Report

    check_folder(Path(out), force)
    place = Path(os.path.realpath(out))
    place.parent.mkdir(parents=True, exist_ok=True)
    texts = {
        "certificate.json": fitted.certificate.to_json(),
        "columns.json": _columns_json(fitted),
    }
    if zone is not None:
        texts[ZONE_FILE] = zone.to_json()
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name[:100]}.") as passing:
        fresh = Path(passing) / "fresh"
        fresh.mkdir()
        Report(facts).save(fresh / "report.html")
        save(fitted.model, fresh / "model.skops")
        save(fitted.boundary, fresh / "boundary.json")
        pd.DataFrame(fitted.comparison).to_csv(fresh / "comparison.csv", index=False)
        for name, text in texts.items():
            (fresh / name).write_text(text + "\n", encoding="utf-8")
        put_in_place(fresh, place, force)
    return [Path(out) / name for name in dict.fromkeys((*FILES, *texts))]


def put_in_place(fresh: Path, place: Path, force: bool) -> None:
    """Give a folder its name; with `force`, one of a fit that had it ends where that one was."""
    if force and place.is_dir():
        check_folder(place, force)
        fresh.chmod(stat.S_IMODE(place.stat().st_mode))  # as closed to others as the old one
        place.rename(fresh.with_name("old"))
    try:
        fresh.rename(place)  # Fails where a folder with anything in it, or a file, has come.
    except OSError as error:
        if not os.path.lexists(place) and fresh.with_name("old").exists():
            fresh.with_name("old").rename(place)
        elif os.path.lexists(place):
            raise InvalidInputError(
                f"'{place}' must be left as it was until the fit is written, but another run wrote "
                "it meanwhile. It is left as it is: run the fit again with another --out."
            ) from error
        raise


def check_folder(out: Path, force: bool) -> None:
    """Raise unless a place is free, or with `force` is an empty folder or holds only a fit."""
    check_new(out, force)
    there = {path.name for path in out.iterdir()} if out.is_dir() else set()
    foreign = sorted(there - {*FILES, ZONE_FILE})
    if there and not {"columns.json", "model.skops"} <= there:
        foreign = sorted(there)
    if foreign or (os.path.lexists(out) and not out.is_dir()):
        raise InvalidInputError(
            f"'{out}' must hold a fit and nothing else to be replaced, and is or holds "
            f"'{[*foreign, out.name][0]}'. It is left as it is: choose another --out."
        )


def _columns_json(fitted: FittedTable) -> str:
    """Return what a prediction must know of the table."""
    columns: dict[str, Any] = {}
    for name, column in fitted.columns.items():
        if column.spelling is not None:
            known = {"why": column.why, "missing": column.missing, "seen": column.seen}
            columns[name] = asdict(column.spelling) | known
    facts = {"format": _FORMAT, "version": _VERSION, "columns": columns}
    prepared = fitted.prepared
    facts |= {"target": prepared.target, "cluster": prepared.cluster, "rest": prepared.rest}
    left_out = {name: why.name.lower() for name, why in fitted.columns.left_out.items()}
    return json.dumps(facts | {"left_out": left_out}, indent=1, ensure_ascii=False)


class Folder(NamedTuple):
    """A fit that was read back."""

    model: BoundShiftClassifier
    columns: Columns
    target: str
    cluster: str | None = None
    rest: tuple[str, ...] = ()


def read_folder(folder: Path) -> Folder:
    """Read the model of a folder, and what is said there of its table."""
    path = folder / "columns.json"
    if not path.is_file() or not (folder / "model.skops").is_file():
        raise InvalidInputError(
            f"'{folder}' must be a folder that `boundshift fit` wrote, with model.skops and "
            "columns.json, and is not."
        )
    columns = Columns()
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
        check_format(facts, _FORMAT, _VERSION, ("columns", "left_out", "target", "cluster", "rest"))
        for name, stored in facts["columns"].items():
            why, missing, seen = (stored.pop(key) for key in ("why", "missing", "seen"))
            columns[name] = Column(Spelling(**stored), why, missing, tuple(seen))
        for name, why in facts["left_out"].items():
            columns[name] = Column(reason=Reason[why.upper()])
    except (ValueError, AttributeError, LookupError, TypeError) as error:
        raise InvalidInputError(
            f"'{path}' is not as this `boundshift fit` writes it: {error} Run the fit again."
        ) from error
    model = load(folder / "model.skops")
    if not isinstance(model, BoundShiftClassifier):
        raise InvalidInputError(
            f"model.skops of '{folder}' must hold the fitted classifier of `boundshift fit`, got "
            f"{type(model).__name__}. Run the fit again."
        )
    return Folder(model, columns, facts["target"], facts["cluster"], tuple(facts["rest"]))


def report_facts(
    fitted: FittedTable,
    out: str | Path,
    names: Mapping[str, Any] | None = None,
    *,
    zone: Zone | None = None,
) -> Facts:
    """Return the facts of the report of a fit.

    `out` is the folder that will hold the model, for the lines that show how to use it; `names`
    are what things are called, as in :func:`boundshift.report.collect_facts`; `zone` was found on
    the test rows.
    """
    from boundshift.report import ColumnUse, collect_facts
    from boundshift.report._judgement import Advice

    known = fitted.columns
    target = fitted.prepared.target
    suspicions = {suspect.column: suspect.evidence for suspect in fitted.prepared.suspects}
    predict = f"boundshift predict {shlex.quote(str(out))} new.csv --out predictions.csv"
    facts = collect_facts(
        *fitted.deciding.to_rows(),
        boundary=fitted.boundary,
        old_threshold=fitted.model.own_threshold_,
        test=fitted.judged,
        scores="out-of-fold",
        comparison=fitted.comparison,
        confidence=fitted.certificate.confidence,
        interval=fitted.interval,
        model=fitted.name,
        **{"title": f"Predicting {target}", "target": target, **(names or {})},
        details=fitted.details,
        columns=[
            ColumnUse(
                name,
                kind,
                known[name].missing,
                why,
                used=known[name].reason is None,
                suspicion=suspicions.get(name, ""),
                importance=fitted.importance.get(name),
            )
            for name, kind, why in known.described()
        ],
        zone=zone,
        shell=f"{predict} --threshold {{threshold}}",
        top=f"{predict} --top {{top}}",
    )
    note = f"{facts['verdict']['note']} {' '.join(fitted.remarks)}".strip()
    if suspicions:
        answer = "Check this column first" if len(suspicions) == 1 else "Check these columns first"
        facts["diagnosis"] |= {
            "advice": Advice.CHECK,
            "answer": answer,
            "level": "caution",
            "next": f"{answer}: {', '.join(suspicions)}. Fit again with --drop for each that is "
            "known only after the outcome, or else with --keep-suspects.",
        }
    return facts | {"verdict": facts["verdict"] | {"note": note}}


def predict_table(
    folder: str | Path,
    source: str | Path,
    *,
    keep: Sequence[str] = (),
    threshold: float | None = None,
    top: int | None = None,
    zone: Zone | None = None,
    reading: Reading = AS_IT_IS,
) -> tuple[Any, list[str]]:
    """Apply a model that a fit left in a folder to a new table, whose columns are found by name.

    Arguments are the options of ``boundshift predict``. Without `threshold`, `top` and `zone` the
    boundary of the fit decides. Of equal scores `top` takes the first rows. Returns a frame and
    notes on what is unusual about the new table. The frame has the columns left out of training
    and those to `keep`, or else the number of the row; the score; the model's own probability, if
    it has one; and the prediction.
    """
    model, columns, *_ = read_folder(Path(folder))
    boundary = model.boundary_
    stored = Path(folder) / "boundary.json"
    labels = boundary.labels
    n_ways = sum(wish is not None for wish in (threshold, top, zone))
    if n_ways > 1:
        raise InvalidInputError(
            "Only one of --threshold, --top and --zone must be given: it decides. Leave one out."
        )
    if zone is not None and [*map(str, zone.labels)] != [*map(str, labels)]:
        raise InvalidInputError(
            f"must be about {labels[0]!r} and {labels[1]!r}, the positive one last, as the "
            f"model is, got {zone.labels!r}. Find it with --positive {labels[1]}.",
            argument="zone",
        )
    if set(keep) & set(_OURS):
        raise InvalidInputError(
            f"must not name columns of the predictions, {', '.join(_OURS)}, got "
            f"{', '.join(keep)}. Rename them first.",
            argument="keep",
        )
    if not n_ways and stored.is_file():
        edited = Boundary.from_json(stored.read_bytes()).threshold
        if edited != boundary.threshold:
            raise InvalidInputError(
                f"'{stored}' must have the threshold of model.skops, {boundary.threshold!r}, got "
                f"{edited!r}. Use --threshold to decide by another, or run the fit again."
            )
    beside = [
        name
        for name, why in columns.left_out.items()
        if why is not Reason.NESTED and name not in (*keep, *_OURS)
    ]
    frame = read_frame(source, list(dict.fromkeys([*keep, *columns.features])), beside, reading)
    if top is not None and top > len(frame):
        raise InvalidInputError(
            f"must be at most the number of rows, {len(frame):,}, got {top:,}. Use a smaller one.",
            argument="top",
        )
    X = as_features(frame, columns, "standard input" if str(source) == "-" else str(source))
    found = frame[[*(name for name in beside if name in frame), *keep]].copy()
    if found.columns.empty:
        found["row"] = np.arange(1, len(frame) + 1)
    found["score"] = scores = model.positive_scores(X)
    if (own := own_probability(model, X)) is not None:
        found["probability"] = own
    if zone is not None:
        found["prediction"] = zone.predict(scores, "unsure")
    elif top is not None:
        found["prediction"] = labels[1]
        found = found.iloc[np.argsort(-scores, kind="stable")[:top]]
    else:
        cut = boundary.threshold if threshold is None else threshold
        found["prediction"] = np.array(labels, dtype=object)[(scores > cut).astype(int)]
    found.attrs["positive"] = labels[1]
    return found, _new_cells(X, columns)


def _new_cells(X: Any, columns: Columns) -> list[str]:
    """Say which columns have gaps or categories that the table of the fit had not."""
    notes = []
    for name in columns.features:
        column = columns[name]
        lacking = int(X[name].isna().sum())
        if lacking and not column.missing:
            notes.append(
                f"Column '{name}' lacks {lacking:,} of {len(X):,} values here and none in "
                "training, so the model has not learned what a gap means."
            )
        unseen = sorted(set(X[name].dropna()) - set(column.seen)) if column.seen else []
        if unseen:
            shown = ", ".join(unseen[:5]) + (", …" if len(unseen) > 5 else "")
            notes.append(f"Column '{name}' has values not seen in training: {shown}.")
    return notes
