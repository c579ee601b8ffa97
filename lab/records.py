"""Records on disk: tidy text with one line a record, facts as JSON, and scores of trainings."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import math
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from joblib import Memory, Parallel, delayed

from boundshift.exceptions import InvalidInputError
from boundshift.writing import write_whole

Record = TypeVar("Record")
Progress = Callable[[str, int, int], None]
"""Called with what is going on, how many steps are done, and how many there are."""


def say_nothing(what: str, done: int, total: int) -> None:
    """Tell nobody about the progress."""


def as_count(name: str, value: object, remedy: str) -> int:
    """Refuse what is no number of things."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise InvalidInputError(
            f"`{name}` must be a whole number of at least 1, got {value!r}. {remedy}"
        )
    return value


class ScoreCache:
    """Scores of trainings on disk, so that a run that was interrupted goes on where it stopped.

    `train` is a function of a module; its arguments hold all that changes the scores, apart from
    those in `ignore`.
    """

    def __init__(self, folder: Path, train: Callable[..., Any], ignore: Sequence[str] = ()) -> None:
        self.make = Memory(folder, verbose=0).cache(train, ignore=list(ignore))

    def attempt(self, *training: Any) -> Any:
        """Return the scores, or the error that stood in the way."""
        try:
            return self.make(*training)
        except Exception as error:
            return error

    def fill(
        self,
        trainings: Iterable[tuple[Any, ...]],
        *,
        jobs: int = 1,
        progress: Progress = say_nothing,
    ) -> None:
        """Train what is not there; what fails is tried again, and reported, where it is read."""
        absent = [each for each in trainings if not self.make.check_call_in_cache(*each)]
        # Progress stays behind, since a terminal cannot be sent to another process.
        trained = Parallel(jobs, return_as="generator_unordered")(
            delayed(self._store)(training) for training in absent
        )
        for done, _ in enumerate(trained, 1):
            progress("training", done, len(absent))

    def _store(self, training: tuple[Any, ...]) -> None:
        self.attempt(*training)


def write_records(
    path: Path, records: Sequence[Any], *, digits: int, without: Container[str] = ()
) -> Path:
    """Write dataclasses as comma-separated text, compressed if the name ends in ``.gz``."""
    names = [field.name for field in fields(records[0]) if field.name not in without]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    for record in records:
        values = (getattr(record, name) for name in names)
        writer.writerow([f"{v:.{digits}g}" if isinstance(v, float) else str(v) for v in values])
    raw = text.getvalue().encode("utf-8")
    # Without a time in it, the same records give the same file.
    return write_whole(path, gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """Read what :func:`write_records` wrote; a field that was left out has its default."""
    readers: dict[str, Any] = {"str": str, "int": int, "float": float, "bool": "True".__eq__}
    lines = csv.DictReader(io.StringIO(_raw(path).decode("utf-8")))
    there = set(lines.fieldnames or ())
    read = [(f.name, readers[str(f.type)]) for f in fields(kind) if f.name in there]  # type: ignore[arg-type]
    return [kind(**{name: reader(line[name]) for name, reader in read}) for line in lines]


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file of records, as text, however it is compressed."""
    return hashlib.sha256(_raw(path)).hexdigest()


def _raw(path: Path) -> bytes:
    raw = path.read_bytes()
    return gzip.decompress(raw) if path.suffix == ".gz" else raw


def to_json(facts: Any, *, digits: int = 6) -> str:
    """Write facts as JSON, a line for what holds plain values only; NaN becomes null.

    Examples
    --------
    >>> print(to_json({"a": {"b": 1 / 3, "c": float("nan")}, "d": [1, 2]}, digits=3))
    {
    "a": {"b": 0.333, "c": null},
    "d": [1, 2]
    }
    """
    inner = facts.values() if isinstance(facts, dict) else facts
    if not isinstance(facts, dict | list) or not any(isinstance(v, dict | list) for v in inner):
        return json.dumps(_plain(facts, digits))
    if isinstance(facts, dict):
        parts = [f"{json.dumps(key)}: {to_json(v, digits=digits)}" for key, v in facts.items()]
        return "{\n" + ",\n".join(parts) + "\n}"
    return "[\n" + ",\n".join(to_json(each, digits=digits) for each in facts) + "\n]"


def _plain(value: Any, digits: int) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, digits) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value
