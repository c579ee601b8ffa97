"""Labelled rows out of a file into the monitor that a folder keeps."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from boundshift._app.columns import Cells, Spelling, read_cells
from boundshift._app.folder import predict_table
from boundshift._app.tables import match_label, read_frame, with_gaps
from boundshift._promises.certificate import Certificate
from boundshift._promises.monitor import Monitor
from boundshift._result.records import read_json
from boundshift._validation import as_share
from boundshift._writing import write_whole
from boundshift.exceptions import InvalidInputError
from boundshift.streaming._tables import AS_IT_IS, Reading

_STATE, _CERTIFICATE = "monitor.json", "certificate.json"
_PATIENCE = 60.0  # seconds to wait for another call


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
    confidence: float | None = None,
    again: bool = False,
    trust: bool = False,
    reading: Reading = AS_IT_IS,
) -> Watched:
    """Count the labelled rows of a file, and keep the state beside the certificate.

    Arguments are the options of ``boundshift monitor``. `place` is a folder that `boundshift fit`
    wrote, or a JSON file with a certificate or a monitor. The state of certificate.json is
    monitor.json, that of risk.json is risk.monitor.json.
    """
    place = Path(place)
    with _locked(_read_state(place)[0]):
        state, stored = _read_state(place)
        monitor = _open_monitor(stored, confidence)
        files: list[str] = list(stored.get("files", ()))
        if str(source) != "-":
            with Path(source).open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            if digest in files and not again:
                note = f"'{source}' has been counted before and is not counted again."
                return Watched(monitor, state, [f"{note} Use --again if it is."])
            files.append(digest)
        rows, notes = _read_rows(place, source, monitor, label, score, when, trust, reading)
        monitor.update(*rows)
        write_whole(state, json.dumps(monitor.to_dict() | {"files": files}) + "\n")
        return Watched(monitor, state, notes)


@contextmanager
def _locked(state: Path) -> Iterator[None]:
    """Let one call at a time count: what another one writes meanwhile would be lost."""
    state = Path(os.path.realpath(state))
    lock = state.with_name(f".{state.name}.lock")
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            break
        except FileExistsError:
            if time.monotonic() > end:
                raise InvalidInputError(
                    f"One call at a time must count into '{state}', and '{lock}' says that another "
                    f"has been at it for {_PATIENCE:g} seconds. Nothing was counted. Wait and "
                    "run this again; if no other call is running, delete that file."
                ) from None
            time.sleep(0.05)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _read_state(place: Path) -> tuple[Path, Mapping[str, Any]]:
    """Return where the state is kept, and what there is: a monitor, or a certificate."""
    path = place / _CERTIFICATE if place.is_dir() else place
    if not path.is_file():
        raise InvalidInputError(
            f"'{place}' must be a folder that `boundshift fit` wrote, with {_CERTIFICATE}, or a "
            "JSON file with a certificate, and is not."
        )
    stored = _read_json(path)
    if stored.get("format") == "boundshift.monitor":
        return path, stored
    is_usual = path.name == _CERTIFICATE
    state = path.with_name(_STATE if is_usual else f"{path.stem}.{_STATE}")
    if not state.is_file():
        return state, stored
    begun = _read_json(state)
    if begun.get("certificate") != stored:
        raise InvalidInputError(
            f"'{state}' must watch the certificate in '{path}', and watches another. Move it away "
            "to begin anew."
        )
    return state, begun


def _read_json(path: Path) -> Mapping[str, Any]:
    stored = read_json(path.read_bytes(), f"'{path}'")
    if not isinstance(stored, Mapping):
        raise InvalidInputError(f"'{path}' must hold a JSON object, and does not.")
    return stored


def _open_monitor(stored: Mapping[str, Any], confidence: float | None) -> Monitor:
    """Return the monitor that goes on, or one that begins."""
    if stored.get("format") != "boundshift.monitor":
        level = 0.95 if confidence is None else confidence
        return Monitor(Certificate.from_dict(stored), confidence=level)
    monitor = Monitor.from_dict(stored)
    if confidence is not None and as_share("confidence", confidence) != monitor.confidence:
        raise InvalidInputError(
            f"`confidence` must stay as the monitor began, {monitor.confidence:g}, got "
            f"{confidence:g}. Leave it out, or begin anew from the certificate."
        )
    return monitor


def _read_rows(
    place: Path,
    source: str | Path,
    monitor: Monitor,
    label: str | None,
    score: str | None,
    when: str | None,
    trust: bool,
    reading: Reading,
) -> tuple[tuple[Any, Any, Any], list[str]]:
    """Return labels, scores and dates of the rows, scored by the folder's model if need be."""
    if label is None:
        path = place / "columns.json"
        if not path.is_file():
            raise InvalidInputError(
                f"'{place}' does not say where labels stand. Say it with --label."
            )
        label = str(_read_json(path)["target"])
    carried = [label] if when is None else [label, when]
    notes: list[str] = []
    if score is not None:
        frame = read_frame(source, [score, *carried], reading=reading)
        scores = read_cells(frame[score], Spelling(Cells.NUMBER), score, str(source))
    elif place.is_dir():
        how: dict[str, Any] = {"keep": carried, "trust": trust, "reading": reading}
        frame, notes = predict_table(place, source, **how)
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
    dates = None
    if when is not None:
        lacking = int(with_gaps(frame[when]).isna().sum())
        if lacking:
            raise InvalidInputError(
                f"Every row must have a date, but column '{when}' lacks {lacking}."
            )
        dates = [str(text) for text in frame[when]]
    known = {
        text: match_label(text, monitor.certificate.labels, label) for text in set(map(str, cells))
    }
    y = np.empty(len(cells), dtype=object)
    y[:] = [known[str(text)] for text in cells]
    return (y, scores.to_numpy(dtype=np.float64), dates), notes
