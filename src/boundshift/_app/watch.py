"""Labelled rows out of a file into the monitor that a folder keeps."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boundshift._app.columns import Cells, Spelling, read_cells
from boundshift._app.folder import predict_table, read_folder
from boundshift._app.tables import match_label, read_frame, with_gaps
from boundshift._promises.certificate import Certificate
from boundshift._promises.monitor import Monitor
from boundshift._result.records import read_json
from boundshift._writing import write_whole
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._tables import AS_IT_IS, Reading

_STATE, _CERTIFICATE = "monitor.json", "certificate.json"


class Watched(NamedTuple):
    """A monitor after a file was counted, where its state is, and what the user should know."""

    monitor: Monitor
    state: Path
    notes: list[str]


def watch_table(
    place: str | Path,
    source: str | Path,
    *,
    label: str | None = None,
    score: str | None = None,
    when: str | None = None,
    reading: Reading = AS_IT_IS,
) -> Watched:
    """Count the labelled rows of a file, and keep the state beside the certificate.

    Arguments are the options of ``boundshift monitor``. `place` is a folder that `boundshift fit`
    wrote, or a JSON file with a certificate. The state of certificate.json is monitor.json, that
    of risk.json is risk.monitor.json.
    """
    place = Path(place)
    path = place / _CERTIFICATE if place.is_dir() else place
    if not path.is_file():
        raise InvalidInputError(
            f"'{place}' must be a folder that `boundshift fit` wrote, with {_CERTIFICATE}, or a "
            "JSON file with a certificate, and is not."
        )
    state = path.with_name(_STATE if path.name == _CERTIFICATE else f"{path.stem}.{_STATE}")
    with _locked(state):
        certificate = _read_object(path)
        monitor, files = Monitor(Certificate.from_dict(certificate)), []
        if state.is_file():
            begun = _read_object(state)
            if begun.get("certificate") != certificate:
                raise InvalidInputError(
                    f"'{state}' must watch the certificate in '{path}', and watches another. Move "
                    "it away to begin anew."
                )
            monitor, files = Monitor.from_dict(begun), list(begun.get("files", ()))
        if str(source) != "-":
            with Path(source).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest in files:
                note = f"'{source}' has been counted before and is not counted again."
                return Watched(monitor, state, [note])
            files.append(digest)
        labels = monitor.certificate.labels
        keep = [] if when is None else [when]
        y, scores, frame, notes = read_labelled(place, source, label, score, keep, labels, reading)
        dates = None if when is None else _read_dates(frame[when], when)
        monitor.update(y, scores, dates)
        write_whole(state, json.dumps(monitor.to_dict() | {"files": files}) + "\n")
        return Watched(monitor, state, notes)


@contextmanager
def _locked(state: Path) -> Iterator[None]:
    """Let one call at a time count: what another one writes meanwhile would be lost."""
    lock = state.with_name(f".{state.name}.lock")
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        raise InvalidInputError(
            f"One call at a time must count into '{state}', and '{lock}' says that another is at "
            "it. Nothing was counted. Run this again later; if no other call is running, delete "
            "that file."
        ) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _read_object(path: Path) -> Mapping[str, Any]:
    stored = read_json(path.read_bytes(), f"'{path}'")
    if not isinstance(stored, Mapping):
        raise InvalidInputError(f"'{path}' must hold a JSON object, and does not.")
    return stored


def read_labelled(
    place: Path,
    source: str | Path,
    label: str | None,
    score: str | None,
    keep: Sequence[str],
    labels: Sequence[Any],
    reading: Reading,
) -> tuple[Any, Any, Any, list[str]]:
    """Return labels, scores, a frame with columns to keep, and notes.

    The folder's model scores the rows unless a column has their scores.
    """
    if label is None:
        if not place.is_dir():
            raise InvalidInputError(
                f"'{place}' does not say where labels stand. Say it with --label."
            )
        label = read_folder(place).target
    keep = [label, *keep]
    notes: list[str] = []
    if score is not None:
        frame = read_frame(source, [score, *keep], reading=reading)
        scores = read_cells(frame[score], Spelling(Cells.NUMBER), score, str(source))
    elif place.is_dir():
        frame, notes = predict_table(place, source, keep=keep, reading=reading)
        scores = frame["score"]
    else:
        raise InvalidInputError(
            "A certificate alone cannot score rows. Say with --score which column has their scores."
        )
    cells = with_gaps(frame[label])
    if cells.isna().any():
        raise InvalidInputError(
            f"Every row must have a label, but column '{label}' lacks some. Drop those rows: "
            "they can be counted once their label is known."
        )
    known = {text: match_label(text, labels, label) for text in set(map(str, cells))}
    y = np.empty(len(cells), dtype=object)
    y[:] = [known[str(text)] for text in cells]
    return y, scores.to_numpy(dtype=np.float64), frame, notes


def _read_dates(column: Any, name: str) -> list[str]:
    lacking = int(with_gaps(column).isna().sum())
    if lacking:
        raise InvalidInputError(f"Every row must have a date, but column '{name}' lacks {lacking}.")
    return [str(text) for text in column]
