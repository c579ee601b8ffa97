"""Records on disk: tidy text with one line a record, and scores of trainings."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd
from joblib import Memory, Parallel, delayed

from boundshift._writing import write_whole

Record = TypeVar("Record")


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

    def fill(self, trainings: Iterable[tuple[Any, ...]], jobs: int = 1) -> None:
        """Train what is not there; what fails is tried again, and reported, where it is read."""
        absent = [each for each in trainings if not self.make.check_call_in_cache(*each)]
        Parallel(jobs, verbose=1)(delayed(self.attempt)(*training) for training in absent)


def write_records(
    path: Path, records: Sequence[Any], *, digits: int, without: Sequence[str] = ()
) -> Path:
    """Write dataclasses as comma-separated text, compressed if the name ends in ``.gz``."""
    table = pd.DataFrame(map(asdict, records)).drop(columns=list(without))
    raw = table.to_csv(
        index=False, float_format=f"%.{digits}g", na_rep="nan", lineterminator="\n"
    ).encode()
    # Without a time in it, the same records give the same file.
    return write_whole(path, gzip.compress(raw, mtime=0) if path.suffix == ".gz" else raw)


def read_records(path: Path, kind: type[Record]) -> list[Record]:
    """Read what :func:`write_records` wrote; a field that was left out has its default."""
    known = {f.name: str(f.type) for f in fields(kind)}  # type: ignore[arg-type]
    text = [name for name, written in known.items() if written == "str"]
    table = pd.read_csv(
        path, na_values=dict.fromkeys(set(known) - set(text), "nan"), keep_default_na=False
    )
    table = table.astype({n: known[n] for n in table.columns})
    return [kind(**row) for row in table.to_dict("records")]
