"""Labelled rows that came after a fit: its monitor, and its certificate on other rows."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from boundshift._app.columns import Spelling, as_features, rank_id, read_cells
from boundshift._app.folder import Folder, predict_table, read_folder
from boundshift._app.scores import doubt_repeats
from boundshift._app.tables import match_label, read_frame, with_gaps
from boundshift._promises.certificate import Certificate
from boundshift._promises.monitor import Monitor
from boundshift._result.records import MOST_ROWS, read_json
from boundshift._writing import write_whole
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._read import arrow
from boundshift.streaming._tables import AS_IT_IS, Reading, column_names

_STATE, _CERTIFICATE = "monitor.json", "certificate.json"


def watch_table(
    place: str | Path,
    source: str | Path,
    *,
    label: str | None = None,
    score: str | None = None,
    when: str | None = None,
    cluster: str | None = None,
    reading: Reading = AS_IT_IS,
) -> tuple[Monitor, Path, list[str], dict[str, Any]]:
    """Count the labelled rows of a file, and keep the state beside the certificate.

    Arguments are the options of ``boundshift monitor``. `place` is a folder that `boundshift fit`
    wrote, or a JSON file with a certificate. The state of certificate.json is monitor.json, that
    of risk.json is risk.monitor.json. The folder's model scores the rows unless a column does.
    Returns the monitor, where its state is, notes, and by month the rows and the wrong ones of each
    class and the evidence at its end.
    """
    place = Path(place)
    path = place / _CERTIFICATE if place.is_dir() else place
    if not path.is_file():
        raise InvalidInputError(
            f"'{place}' must be a folder that `boundshift fit` wrote, with {_CERTIFICATE}, or a "
            "JSON file with a certificate, and is not."
        )
    state = path.with_name(_STATE if path.name == _CERTIFICATE else f"{path.stem}.{_STATE}")
    before = state.read_bytes() if state.is_file() else b""
    certificate = read_json(path.read_bytes(), f"'{path}'")
    begun = read_json(before or b"{}", f"'{state}'")
    monitor = Monitor(Certificate.from_dict(certificate))
    if begun:
        if begun.get("certificate") != certificate:
            raise InvalidInputError(
                f"'{state}' must watch the certificate in '{path}', and watches another. Move "
                "it away to begin anew."
            )
        monitor = Monitor.from_dict(begun)
        _check_counted(begun, state)
    if place.is_dir():
        folder = read_folder(place)
        _check_threshold(folder, monitor, path)
        label = label or folder.target
        if monitor.certificate.n_clusters is not None:
            cluster = cluster or folder.cluster
    elif label is None or score is None:
        raise InvalidInputError(
            f"'{place}' does not say where labels and scores stand. Say it with --label and "
            "--score."
        )
    cluster = None if cluster == "none" else cluster
    if when is not None and cluster is not None:
        raise InvalidInputError(
            f"--when must go without clusters, got them by '{cluster}': all rows of an id count in "
            "one step, whatever their dates. Leave out --when, and count a month's file at a time."
        )
    files = list(begun.get("files", ()))
    months = dict(begun.get("months", {}))
    if str(source) != "-":
        files.append(hashlib.sha256(Path(source).read_bytes()).hexdigest())
        if files[-1] in files[:-1]:
            note = f"'{source}' has been counted before and is not counted again."
            return monitor, state, [note], months
    keep = [name for name in (label, when, cluster) if name is not None]
    notes: list[str] = []
    if score is None:
        frame, notes = predict_table(place, source, keep=keep, reading=reading)
        cells = frame["score"]
    else:
        frame = read_frame(source, [score, *keep], reading=reading)
        cells = read_cells(frame[score], Spelling(), score, str(source))
    scores = cells.to_numpy(dtype=np.float64)
    y = read_labels(frame[label], monitor.certificate.labels)
    if when is None:
        ids = None if cluster is None else with_gaps(frame[cluster]).to_numpy(dtype=object)
        monitor.update(y, scores, cluster=ids)
    else:
        notes += _count_months(monitor, months, y, scores, frame[when])
    if before != (state.read_bytes() if state.is_file() else b""):
        raise InvalidInputError(
            f"One call at a time must count into '{state}', and another one did meanwhile. Nothing "
            "was counted. Run this again."
        )
    write_whole(state, json.dumps(monitor.to_dict() | {"files": files, "months": months}) + "\n")
    return monitor, state, notes, months


def _check_threshold(folder: Folder, monitor: Monitor, path: Path) -> None:
    """Raise if a folder's certificate is about another threshold than that of its model."""
    threshold = folder.model.boundary_.threshold
    if monitor.threshold != threshold:
        raise InvalidInputError(
            f"'{path}' must certify the threshold of model.skops, {threshold!r}, but it certifies "
            f"{monitor.threshold!r}. Run the fit again."
        )


def _check_counted(begun: dict[str, Any], state: Path) -> None:
    """Raise unless the lists of files and months that were counted are as they were written."""
    files = begun.get("files", [])
    months = begun.get("months", {})
    are_hashes = isinstance(files, list) and all(isinstance(file, str) for file in files)
    is_table = isinstance(months, dict)
    if not are_hashes or not is_table or not all(map(_is_month, months.values())):
        raise InvalidInputError(
            f"'{state}' must list the files and months that were counted, but its 'files' or "
            "'months' are of another kind. It was damaged or changed: restore it from a copy, or "
            "move it away to begin anew."
        )


def _is_month(month: Any) -> bool:
    """Return whether a month has rows and wrong ones of two classes, and the evidence of each."""
    if not isinstance(month, dict) or month.keys() != {"counts", "evidence"}:
        return False
    counts = month["counts"]
    evidence = month["evidence"]
    lists = [counts, evidence, *(counts if isinstance(counts, list) else ())]
    if not all(isinstance(each, list) and len(each) == 2 for each in lists):
        return False
    numbers = [*counts[0], *counts[1]]
    are_whole = all(type(number) is int and 0 <= number <= MOST_ROWS for number in numbers)
    return are_whole and all(type(number) is float and number >= 0.0 for number in evidence)


def _count_months(
    monitor: Monitor, months: dict[str, Any], y: Any, scores: Any, column: Any
) -> list[str]:
    """Count rows in the order of their dates, month by month."""
    dates, notes = read_dates(column), []
    if (dates[1:] < dates[:-1]).any():
        notes.append(f"Rows are counted in the order of '{column.name}', not in that of the file.")
    order = np.argsort(dates, kind="stable")
    of_month = dates.astype("datetime64[M]").astype(str)
    first = min(of_month.tolist())
    if months and first < max(months):
        notes.append(
            f"Rows of {first} come after rows of {max(months)} were counted. The evidence "
            "is in the order of counting."
        )
    for month in np.unique(of_month):
        rows = order[of_month[order] == month]
        before = np.array([monitor.n_samples, monitor.wrong])
        monitor.update(y[rows], scores[rows], dates[rows].astype(str))
        added = np.array([monitor.n_samples, monitor.wrong]) - before
        counts = added + np.array(months.get(month, {}).get("counts", [[0, 0], [0, 0]]))
        months[month] = {"counts": counts.tolist(), "evidence": list(monitor.e_values)}
    return notes


def read_labels(column: Any, labels: Sequence[Any]) -> Any:
    """Return a column's labels, written as the known ones."""
    cells, name = with_gaps(column), str(column.name)
    if cells.isna().any():
        raise InvalidInputError(
            f"Every row must have a label, but column '{name}' lacks some. Drop those rows: "
            "they can be counted once their label is known."
        )
    known = {text: match_label(text, labels, name) for text in set(map(str, cells))}
    y = np.empty(len(cells), dtype=object)
    y[:] = [known[str(text)] for text in cells]
    return y


def read_dates(column: Any) -> Any:
    """Return a column of dates; a time of day is left out."""
    import pandas as pd

    texts = pd.Series([re.split("[T ]", str(cell).strip())[0] for cell in column])
    ways = [pd.to_datetime(texts, format=f, errors="coerce") for f in ("%Y-%m-%d", "%d.%m.%Y")]
    for dates in ways:
        if dates.notna().all():
            return dates.to_numpy(dtype="datetime64[D]")
    wrong = texts[min(ways, key=lambda dates: dates.isna().sum()).isna()].iloc[0]
    raise InvalidInputError(
        f"Dates must be written as 2026-03-31 or 31.03.2026, all in one way, got '{wrong}' in "
        f"column '{column.name}'. Write the year first."
    )


def certify_table(
    folder: str | Path,
    source: str | Path,
    *,
    label: str | None = None,
    confidence: float = 0.95,
    cluster: str | None = None,
    reading: Reading = AS_IT_IS,
) -> Certificate:
    """Certify the boundary of a fitted folder on other labelled rows.

    Arguments are the options of ``boundshift certify``. Rows that the model was trained on certify
    nothing, and a warning says how many there are.
    """
    fit = read_folder(Path(folder))
    name, by = label or fit.target, None if cluster == "none" else cluster or fit.cluster
    ids: list[str] = []
    if by is None and cluster != "none":
        there = fit.columns if str(source) == "-" else column_names(source, reading)
        ids = [each for each in there if each != name and rank_id(each, sys.maxsize)]
    names = [*fit.columns.features, name, *([] if by is None else [by])]
    frame = read_frame(source, list(dict.fromkeys(names)), ids, reading)
    y = read_labels(frame[name], fit.model.boundary_.labels)
    X = as_features(frame, fit.columns, str(source))
    groups = None if by is None else with_gaps(frame[by]).to_numpy(dtype=object)
    found = fit.model.certify(X, np.array(y.tolist()), confidence, cluster=groups)
    for each in ids:
        if each in frame and found.certified:
            known = with_gaps(frame[each]).dropna().astype(str).tolist()
            if doubt := doubt_repeats(each, arrow().chunked_array([known])):
                found = replace(found, status="nominal", reason=doubt)
    return found
