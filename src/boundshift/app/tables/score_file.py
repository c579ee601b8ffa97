"""Labels and scores of any system out of a file, batch by batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.exceptions import InvalidInputError
from boundshift.streaming.sources.batches import Source, arrow, open_source, read_batches

__all__ = [
    "LabelledScores",
    "label_values",
    "match_label",
    "one_column_twice",
    "positive_last",
    "read_scores",
]

Show = Callable[[str, int, int], None]

_MOST_LABELS = 1000


@dataclass(frozen=True, eq=False)
class LabelledScores:
    """Scores of labelled rows.

    Parameters
    ----------
    y_score : array of shape (n_samples,)
        Scores.
    is_positive : array of bool of shape (n_samples,)
        Which rows belong to the positive class.
    labels : tuple
        Labels of the two classes (negative, positive).
    """

    y_score: NDArray[np.float64]
    is_positive: NDArray[np.bool_]
    labels: tuple[Any, Any]

    @property
    def y_true(self) -> NDArray[Any]:
        """Labels of the rows."""
        return np.array(self.labels)[self.is_positive.astype(np.intp)]

    @property
    def pos_label(self) -> Any:
        """The positive label."""
        return self.labels[1]


def read_scores(
    source: str | Path,
    score: str,
    label: str,
    *,
    positive: str | None = None,
    progress: Show | None = None,
) -> LabelledScores:
    r"""Read two columns of a table in batches; the rest of the file is never held.

    Parameters
    ----------
    source : str or Path
        CSV, TSV, Parquet, Feather or JSON lines; "-" is standard input.
    score : str
        Column of the scores, higher for the positive class.
    label : str
        Column of the labels.
    positive : str, default=None
        The positive label, as it is written in the file; all others are negative. None takes the
        greater of two numbers, and the rarer of two words.
    progress : callable, default=None
        Called with ("read", done, in all) now and then.

    Returns
    -------
    LabelledScores

    Raises
    ------
    InvalidInputError
        If the file cannot be read, a column is missing, a score is not a number, a label is
        missing, or there are not two classes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.csv"
    ...     _ = path.write_text("score,ill\n0.5,yes\n0.25,no\n")
    ...     rows = read_scores(path, "score", "ill")
    >>> rows.y_score.tolist(), rows.y_true.tolist(), rows.labels
    ([0.5, 0.25], ['yes', 'no'], ('no', 'yes'))
    """
    if score == label:
        raise one_column_twice(score)
    pa = arrow()
    scores, codes, rows = [], [], 0
    known: dict[Any, int] = {}
    with open_source(source) as opened:
        kinds = {label: pa.dictionary(pa.int32(), pa.string()) if opened.format == "csv" else None}
        for batch in read_batches(opened, {score: pa.float64()} | kinds):
            scores.append(_numbers(opened, score, batch.column(score)))
            codes.append(_codes(opened, label, batch.column(label), known))
            if progress is not None and opened.size:
                rows += len(batch)
                progress("read", _place(opened, rows, len(scores)), opened.size)
        if not known:
            raise InvalidInputError(f"The table must have rows, but {opened.name} has none.")
        values = label_values(list(known)) if opened.format == "csv" else list(known)
    classes = np.concatenate(codes)
    counts = np.bincount(classes, minlength=len(values)).tolist()
    labels = positive_last(values, counts, positive, label)
    is_positive = np.array([str(value) == str(labels[1]) for value in values])
    return LabelledScores(np.concatenate(scores), is_positive[classes], labels)


def _place(source: Source, rows: int, batches: int) -> int:
    """Return how far a file is read, in the unit of its size."""
    if source.format in ("parquet", "feather"):
        return rows if source.format == "parquet" else batches
    raw = source.stream.raw
    return min(int(raw.tell()), source.size) if raw.seekable() else 0


def _numbers(source: Source, name: str, column: Any) -> NDArray[np.float64]:
    """Return scores as numbers; missing ones are refused."""
    bad, what = column.null_count, "missing"
    if not bad:
        # Arrow's own way to NumPy loads pandas first.
        values = np.asarray(np.from_dlpack(column), dtype=np.float64)
        bad, what = len(values) - int(np.isfinite(values).sum()), "NaN or infinite"
    if bad:
        raise InvalidInputError(
            f"Scores must be finite numbers, but column '{name}' of {source.name} has "
            f"{bad} that are {what}. Drop those rows."
        )
    return values


def _codes(source: Source, name: str, column: Any, known: dict[Any, int]) -> NDArray[np.int32]:
    """Return labels as numbers, the same in every batch."""
    if column.null_count:
        raise InvalidInputError(
            f"Every row must have a label, but column '{name}' of {source.name} lacks "
            f"{column.null_count}. Drop those rows."
        )
    encoded = column if hasattr(column, "indices") else column.dictionary_encode()
    places = [known.setdefault(value, len(known)) for value in encoded.dictionary.to_pylist()]
    if len(known) > _MOST_LABELS:
        raise InvalidInputError(
            f"Labels must be of two classes, but column '{name}' of {source.name} has more than "
            f"{_MOST_LABELS} different values. Choose the column that says which class a row has."
        )
    codes: NDArray[np.int32] = np.array(places, dtype=np.int32)[np.from_dlpack(encoded.indices)]
    return codes


def one_column_twice(name: str) -> InvalidInputError:
    """Return the error for scores and labels in one column."""
    return InvalidInputError(
        f"Scores and labels must be two columns, got '{name}' for both. Say with --label which "
        "column holds the classes."
    )


def label_values(texts: list[str]) -> list[Any]:
    """Return labels read as text as the numbers they are, if they all are.

    Examples
    --------
    >>> label_values(["0", "1"]), label_values(["no", "1"])
    ([0, 1], ['no', '1'])
    """
    if all(re.fullmatch(r"[+-]?\d+", text) for text in texts):
        return [int(text) for text in texts]
    try:
        return [float(text) for text in texts]
    except ValueError:
        return list(texts)


def positive_last(
    values: Sequence[Any], counts: Sequence[int], positive: str | None, column: str
) -> tuple[Any, Any]:
    """Return the two labels (negative, positive); with `positive`, all others are negative.

    Examples
    --------
    >>> positive_last(["malignant", "benign"], [10, 90], None, "finding")
    ('benign', 'malignant')
    >>> positive_last(["benign", "malignant", "unclear"], [80, 10, 10], "malignant", "finding")
    ('not malignant', 'malignant')
    """
    totals: dict[Any, int] = {}
    for value, count in zip(values, counts, strict=True):
        totals[value] = totals.get(value, 0) + count
    distinct = sorted(totals, key=lambda value: (str(type(value)), value))
    shown = ", ".join(repr(v) for v in distinct[:8]) + (", …" if len(distinct) > 8 else "")
    if len(distinct) == 1:
        raise InvalidInputError(
            f"Two classes are needed, but column '{column}' holds only {shown}. A boundary needs "
            "rows on either side."
        )
    if positive is None and len(distinct) > 2:
        raise InvalidInputError(
            f"Two classes are needed, but column '{column}' holds {len(distinct)}: {shown}. "
            "Say with --positive which one is to be found among the rest."
        )
    if positive is None:
        if all(isinstance(value, str) for value in distinct):
            distinct.sort(key=lambda value: -totals[value])
        return _storable(distinct[0]), _storable(distinct[1])
    chosen = match_label(positive, distinct, column)
    others = [value for value in distinct if value != chosen]
    if len(others) == 1:
        return _storable(others[0]), _storable(chosen)
    return f"not {chosen}", str(chosen)


def _storable(label: Any) -> Any:
    """Return a label as JSON knows it: a date, for one, as text."""
    return label if isinstance(label, str | int | float) else str(label)


def match_label(text: str, labels: list[Any], column: str) -> Any:
    """Return the label that is written so.

    Examples
    --------
    >>> match_label("1", [0, 1], "ill"), match_label("true", [False, True], "ill")
    (1, True)
    >>> match_label("yes", ["Yes", "yes"], "ill")
    'yes'
    """
    alike: list[Callable[[Any], bool]] = [
        lambda label: text == str(label),
        lambda label: text.casefold() == str(label).casefold(),
        lambda label: isinstance(label, int | float) and _equal(text, label),
    ]
    for is_alike in alike:
        for label in labels:
            if is_alike(label):
                return label
    shown = ", ".join(repr(label) for label in labels[:8])
    raise InvalidInputError(
        f"The positive class must be one of the labels in column '{column}' ({shown}), got "
        f"'{text}'."
    )


def _equal(text: str, number: float) -> bool:
    """Return whether a text is a number."""
    try:
        return float(text) == number
    except ValueError:
        return False
