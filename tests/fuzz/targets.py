"""Readers of bytes under fire: only InvalidInputError or a right answer ever comes out.

Each target takes a random generator and attacks one reader once. The tests run each for some
seconds; ``make fuzz`` runs them for as long as SECONDS says.
"""

from __future__ import annotations

import copy
import io
import json
import math
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from boundshift import Boundary, InvalidInputError, Monitor, certify, find_boundary, load, save
from boundshift._app.scores import ScoreTable
from boundshift._app.tables import read_frame
from boundshift._guarantees.zone import find_zone
from boundshift._tables import MISSING
from boundshift.streaming import scan_boundary

__all__ = ["TARGETS"]

_CELLS = [
    "1", "0", "-1.5", "1e3", "1e400", "inf", "nan", "NA", "", " ", "yes", "no", "Yes ", "01", "€3",
    "1,5", '"', '""', '"a', 'a"b', '"a,b"', '"a\nb"', "\x00", "\x1b[2J", "é", "\u202e", "\ud7ff",
    "true", "FALSE", "14/12/2021", "9" * 400, "'", ";", "\t", "|", "\\", "{", "[1]", "null",
]  # fmt: skip
_ODD_VALUES: list[object] = [
    None, True, -1, 0, 0.5, 10**400, 1e308, "NaN", "Infinity", "", [], {}, [1], [1, 2], "a",
    {"a": 1}, "\ud800", "certified", [["NaN"]],
]  # fmt: skip
_ENDS = ["\n", "\r\n", "\r", "\n\n"]


def mutated(raw: bytes, rng: random.Random) -> bytes:
    """Return bytes with some changed, doubled, dropped, moved or put in."""
    data = bytearray(raw)
    for _ in range(rng.randint(1, 6)):
        if not data:
            return bytes(data)
        start = rng.randrange(len(data))
        stop = min(len(data), start + rng.choice([1, 1, 2, 8, 64]))
        kind = rng.randrange(6)
        if kind == 0:
            data[start] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[start:stop]
        elif kind == 2:
            data[start:start] = data[start:stop]
        elif kind == 3:
            data[start:start] = rng.choice(_CELLS).encode("utf-8", "replace")
        elif kind == 4:
            data[start:stop] = rng.randbytes(stop - start)
        else:
            del data[stop:]
    return bytes(data)


def attempt(work: Callable[[], object]) -> object:
    """Return an answer, or None where the input is refused as it should be."""
    try:
        return work()
    except InvalidInputError as refused:
        text = str(refused)
        assert text, "an error without a sentence"
        assert len(text) < 5000, "an error that nobody reads"
        return None


def read_scores(path: Path) -> object:
    """Return the scores of a file as a sample."""
    table = ScoreTable([path], "risk", "ill")
    rows = table.rows
    return rows.sample(table.labels)


@cache
def scratch() -> Path:
    """Return a folder for the files of this run."""
    return Path(tempfile.mkdtemp(prefix="fuzz-"))


def written(name: str, content: bytes) -> Path:
    """Write a file of this run."""
    path = scratch() / name
    path.write_bytes(content)
    return path


def labels_and_scores(rng: random.Random) -> None:
    """Attack `find_boundary`; a threshold must separate as it says."""
    odd = [0.0, -0.0, 1.0, 5e-324, 1e-300, 0.5, 1 - 2**-53, 1e16, 3.4e38, math.inf, math.nan]
    words: list[list[object]] = [[0, 1], ["a", "b"], [True, False], [None, 1], [math.nan, "a"]]
    classes = rng.choice([*words, [0, 1], ["a", "b"], [-1, 1]])
    n = rng.choice([1, 2, 3, 10, 40])
    y = [rng.choice(classes) for _ in range(n)]
    s = [rng.gauss(0, 1) if rng.random() < 0.8 else rng.choice(odd) for _ in range(n)]
    found = attempt(lambda: find_boundary(y, s))
    if found is not None:
        assert isinstance(found, Boundary)
        assert not math.isnan(found.threshold)
        called = np.asarray(s) > found.threshold
        is_positive = np.array([label == found.labels[1] for label in y])
        wrong = int((called & ~is_positive).sum()), int((~called & is_positive).sum())
        assert found.wrong == wrong, (found.wrong, wrong)


def csv(rng: random.Random) -> None:
    """Attack the readers of CSV; both must see the same rows."""
    end = rng.choice(_ENDS)
    rows = [
        ",".join(rng.choice(_CELLS[:9] if rng.random() < 0.7 else _CELLS) for _ in range(2))
        for _ in range(rng.randint(0, 12))
    ]
    text = end.join(["risk,ill", *rows, ""])
    raw = text.encode("utf-8")
    if rng.random() < 0.5:
        raw = mutated(raw, rng)
    path = written("t.csv", raw)
    frame = attempt(lambda: read_frame(path))
    sample = attempt(lambda: read_scores(path))
    if sample is not None:
        assert frame is not None, "one reader takes what the other refuses"
        # Rows without a label are left out.
        labelled = ~frame["ill"].isin(MISSING)  # type: ignore[index]
        assert sum(sample.n_samples) == labelled.sum()  # type: ignore[attr-defined]


@cache
def parquet_file() -> bytes:
    """Return a small file of columns."""
    import pyarrow as pa
    from pyarrow import parquet

    words = pa.array(["a", "b", "a"] * 20)
    numbers = pa.array([1.0, 2.0, 3.0] * 20)
    buffer = io.BytesIO()
    table = pa.table({"risk": numbers, "ill": words, "town": words.dictionary_encode()})
    parquet.write_table(table, buffer)
    return buffer.getvalue()


def columns(rng: random.Random) -> None:
    """Attack the readers of Parquet."""
    path = written("t.parquet", mutated(parquet_file(), rng))
    frame = attempt(lambda: read_frame(path))
    sample = attempt(lambda: read_scores(path))
    if sample is not None and frame is not None:
        # Rows without a label are left out.
        labelled = ~frame["ill"].isin(MISSING)  # type: ignore[index]
        assert sum(sample.n_samples) == labelled.sum()  # type: ignore[attr-defined]
    passed = attempt(lambda: scan_boundary(path, label="ill", score="risk"))
    if passed is not None and sample is not None:
        assert passed.n_samples == sample.n_samples  # type: ignore[attr-defined]


def changed_json(text: str, rng: random.Random) -> bytes:
    """Return JSON with values of other kinds, somewhere in it, or with other bytes."""
    facts = json.loads(text)
    for _ in range(rng.randint(0, 3)):
        inside = facts
        while True:
            places = list(inside) if isinstance(inside, dict) else list(range(len(inside)))
            if not places:
                break
            place = rng.choice(places)
            if isinstance(inside[place], dict | list) and rng.random() < 0.7:
                inside = inside[place]
                continue
            inside[place] = copy.deepcopy(rng.choice(_ODD_VALUES))
            break
    raw = json.dumps(facts).encode()
    return mutated(raw, rng) if rng.random() < 0.4 else raw


@cache
def record_texts() -> dict[type, str]:
    """Return a stored boundary, a monitor that has raised an alarm, and a zone."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 4 == 0
    monitor = Monitor(certify(y, y + np.linspace(-0.6, 0.6, 200), 0.5))
    monitor.update(y, rng.random(200))
    zone = find_zone([0] * 99 + [1] * 99, np.arange(198.0) % 120)
    boundary = find_boundary([0, 0, 0, 1, 1, 1], [0, 1, 3, 2, 5, 6])
    return {type(record): record.to_json() for record in (boundary, monitor, zone)}


def records(rng: random.Random) -> None:
    """Attack the readers of records."""
    kind, text = rng.choice(list(record_texts().items()))
    raw = changed_json(text, rng)
    found = attempt(lambda: kind.from_json(raw))  # type: ignore[attr-defined]
    assert found is None or isinstance(found, kind)


@cache
def stored_model() -> bytes:
    """Return a stored forest."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(60, n_features=4, random_state=0)
    path = scratch() / "model.skops"
    save(RandomForestClassifier(2, max_depth=3, random_state=0).fit(X, y), path, overwrite=True)
    return path.read_bytes()


def skops(rng: random.Random) -> None:
    """Damage a stored model; what is still read predicts."""
    path = written("m.skops", mutated(stored_model(), rng))
    model = attempt(lambda: load(path))
    if model is not None:
        model.predict(np.random.default_rng(0).normal(size=(20, 4)))  # type: ignore[attr-defined]


@cache
def fitted_folder() -> Path:
    """Return a fitted folder and a table for it."""
    import pandas as pd

    from boundshift._app.fit import fit_table
    from boundshift._app.folder import report_facts, write_folder

    rng = np.random.default_rng(0)
    y = np.arange(80) % 4 == 0
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=80) + y,
            "smokes": rng.random(80) < 0.5,
            "town": np.resize(["a", "b", None], 80),
            "ill": np.where(y, "yes", "no"),
        }
    )
    frame.to_csv(scratch() / "new.csv", index=False)
    fitted = fit_table(frame, "ill")
    write_folder(fitted, report_facts(fitted, "fit"), scratch() / "fit")
    return scratch() / "fit"


def fit_folder(rng: random.Random) -> None:
    """Attack the reader of tables for a fitted folder."""
    from boundshift._app.folder import predict_table

    folder = fitted_folder()
    table = written("attacked.csv", mutated((scratch() / "new.csv").read_bytes(), rng))
    found = attempt(lambda: predict_table(folder, table))
    if found is not None:
        predictions, _ = found  # type: ignore[misc]
        assert len(predictions) > 0
        assert not predictions["prediction"].isna().any()


TARGETS: dict[str, Callable[[random.Random], None]] = {
    "labels and scores": labels_and_scores,
    "CSV": csv,
    "Parquet": columns,
    "records": records,
    "skops": skops,
    "fit folder": fit_folder,
}
