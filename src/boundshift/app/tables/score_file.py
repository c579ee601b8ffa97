"""Labels and scores of any system out of a file, batch by batch, as a sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from boundshift.app.tables.class_labels import label_values, order_classes
from boundshift.exceptions import InvalidInputError
from boundshift.scores import ScoreSample
from boundshift.streaming.sources.batches import OpenTable, arrow, open_table, read_batches

__all__ = ["ScoreRows", "check_two_columns", "read_rows", "read_scores"]

Show = Callable[[str, int, int], None]

_MOST_LABELS = 1000


def read_scores(
    path: str | Path,
    score: str,
    label: str,
    *,
    positive: str | None = None,
    alike: bool = True,
    progress: Show | None = None,
) -> ScoreSample:
    """Read two columns of a table in batches; the rest of the file is never held.

    Parameters
    ----------
    path : str or Path
        CSV, TSV, Parquet, Feather, JSON lines or Excel; "-" is standard input.
    score : str
        Column of the scores, higher for the positive class.
    label : str
        Column of the labels.
    positive : str, default=None
        The positive label, as it is written in the file. None takes the greater of 0 and 1, -1
        and 1, false and true, and else the rarer one.
    alike : bool, default=True
        Whether the rule to come treats both classes alike. If not, two equally frequent words
        need a `positive`.
    progress : callable, default=None
        Called with ("read", done, in all) now and then.

    Returns
    -------
    ScoreSample

    Raises
    ------
    InvalidInputError
        If the file cannot be read, a column is missing, a score is not a number, a label is
        missing, or there are not two classes.
    """
    rows = read_rows(path, score, label, positive=positive, alike=alike, progress=progress)
    sample = ScoreSample.from_labels(rows.is_positive, rows.scores)
    return replace(sample, labels=rows.labels)


class ScoreRows(NamedTuple):
    """Rows of a file: which are positive, their scores, the labels, and columns beside them."""

    is_positive: NDArray[np.bool_]
    scores: NDArray[np.float64]
    labels: tuple[Any, Any]
    numbers: NDArray[np.float64] | None = None
    groups: list[Any] | None = None


def read_rows(
    path: str | Path,
    score: str,
    label: str,
    *,
    positive: str | None = None,
    alike: bool = True,
    numbers: str | None = None,
    groups: str | None = None,
    progress: Show | None = None,
) -> ScoreRows:
    """Read the columns of `read_scores` row by row, and one of numbers or of groups beside them."""
    check_two_columns(score, label, numbers, groups)
    pa = arrow()
    scores, codes, n_rows = [], [], 0
    beside: list[NDArray[np.float64]] = []
    named: list[Any] = []
    known: dict[Any, int] = {}
    with open_table(path) as opened:
        words = pa.dictionary(pa.int32(), pa.string()) if opened.format == "csv" else None
        kinds = {score: pa.float64(), label: words}
        kinds |= {name: pa.float64() for name in (numbers,) if name}
        kinds |= {name: words for name in (groups,) if name}
        for batch in read_batches(opened, kinds):
            scores.append(_numbers(opened, score, batch.column(score)))
            codes.append(_codes(opened, label, batch.column(label), known))
            if numbers is not None:
                beside.append(_numbers(opened, numbers, batch.column(numbers), "Numbers"))
            if groups is not None:
                named += batch.column(groups).to_pylist()
            if progress is not None and opened.size:
                n_rows += len(batch)
                progress("read", _place(opened, n_rows, len(scores)), opened.size)
        if not known:
            raise InvalidInputError(f"The table must have rows, but {opened.name} has none.")
        values = label_values(list(known)) if opened.format == "csv" else list(known)
    classes = np.concatenate(codes)
    counts = np.bincount(classes, minlength=len(values)).tolist()
    labels = order_classes(values, counts, positive, label, alike=alike)
    is_positive = np.array([str(value) == str(labels[1]) for value in values])
    return ScoreRows(
        is_positive[classes],
        np.concatenate(scores),
        labels,
        np.concatenate(beside) if beside else None,
        named if groups is not None else None,
    )


def check_two_columns(score: str, label: str, *beside: str | None) -> None:
    """Raise if scores and labels, or what stands beside them, are to come from one column."""
    if score == label:
        raise InvalidInputError(
            f"Scores and labels must be two columns, got '{score}' for both. Say with --label "
            "which column holds the classes."
        )
    for name in beside:
        if name in (score, label):
            raise InvalidInputError(
                f"A column must be one thing, got '{name}' as scores or labels and beside them. "
                "Name another column."
            )


def _place(table: OpenTable, rows: int, batches: int) -> int:
    """Return how far a file is read, in the unit of its size."""
    if table.format in ("parquet", "feather"):
        return rows if table.format == "parquet" else batches
    raw = table.stream.raw
    return min(int(raw.tell()), table.size) if raw.seekable() else 0


def _numbers(
    table: OpenTable, name: str, column: Any, called: str = "Scores"
) -> NDArray[np.float64]:
    """Return scores as numbers; missing ones are refused."""
    bad, what = column.null_count, "missing"
    if not bad:
        # Arrow's own way to NumPy loads pandas first.
        values = np.asarray(np.from_dlpack(column), dtype=np.float64)
        bad, what = len(values) - int(np.isfinite(values).sum()), "NaN or infinite"
    if bad:
        raise InvalidInputError(
            f"{called} must be finite numbers, but column '{name}' of {table.name} has "
            f"{bad} that are {what}. Drop those rows."
        )
    return values


def _codes(table: OpenTable, name: str, column: Any, known: dict[Any, int]) -> NDArray[np.int32]:
    """Return labels as numbers, the same in every batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from boundshift.streaming.sources.files_ import as_labels

    column = as_labels(column, name, table.name)
    lacking = column.null_count
    if column.type in (pa.float16(), pa.float32(), pa.float64()):
        lacking += pc.sum(pc.is_nan(column)).as_py() or 0
    if lacking:
        raise InvalidInputError(
            f"Every row must have a label, but column '{name}' of {table.name} lacks "
            f"{lacking}. Drop those rows."
        )
    encoded = column if hasattr(column, "indices") else column.dictionary_encode()
    places = [known.setdefault(value, len(known)) for value in encoded.dictionary.to_pylist()]
    if len(known) > _MOST_LABELS:
        raise InvalidInputError(
            f"Labels must be of two classes, but column '{name}' of {table.name} has more than "
            f"{_MOST_LABELS} different values. Choose the column that says which class a row has."
        )
    codes: NDArray[np.int32] = np.array(places, dtype=np.int32)[np.from_dlpack(encoded.indices)]
    return codes
