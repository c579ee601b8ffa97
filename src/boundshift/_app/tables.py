"""Whole tables out of files and into them, and the two labels of a column of classes."""

from __future__ import annotations

import ast
import math
import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from boundshift._app.cli import Show, visible
from boundshift._app.opening import AS_IT_IS, Reading, open_table
from boundshift._tables import MISSING, OpenTable, arrow, read_batches, readable
from boundshift._typing import IntArray
from boundshift._validation import are_signs, order_labels
from boundshift._words import row_count
from boundshift._writing import is_special, write_whole
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    from pyarrow import Table as ArrowTable

Label: TypeAlias = Any
"""Of a class: a text, a number or a truth value."""
Labels = tuple[Label, Label]
"""Of the negative and of the positive class."""

_ENDINGS = (".csv", ".tsv", ".parquet")
_TRUTH = {"false": False, "true": True}
_MOST_SHOWN = 8
_MOST_LABELS = 50  # of one against the rest; a column with more is no column of classes
_LEAST_ROWS = 10
# What a float holds exactly; a number that is longer, or begins with 0, is a name.
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,14})")
_NUMBER = re.compile(r"(?=.*\d)[+-]?(0|[1-9]\d{0,14})?(\.\d{0,15})?(e[+-]?\d{1,2})?", re.IGNORECASE)
_BYTES = re.compile(r"b('[ -&(-~]*'|\"[ -!#-~]*\")")


def read_arrow(
    opened: OpenTable,
    types: Mapping[str, Any],
    *,
    words: bool = False,
    progress: Show = lambda what, done, total: None,
) -> Any:
    """Return columns of a table by type as Arrow; `words` as in `read_batches`."""
    pa = arrow()
    parts: list[ArrowTable] = []
    for part in read_batches(opened, types, words=words):
        parts.append(pa.Table.from_batches([part]))
        if opened.format == "parquet":
            progress("read", sum(map(len, parts)), opened.stream.metadata.num_rows)
        elif isinstance(opened.stream, pa.OSFile):  # neither compressed nor a pipe
            progress("read", opened.stream.tell(), opened.stream.size())
    if not any(map(len, parts)):
        raise InvalidInputError(f"The table must have rows, but {opened.name} has none.")
    with readable(opened):
        return pa.concat_tables(parts, promote_options="permissive")


def read_frame(
    path: str | Path,
    columns: Sequence[str] | None = None,
    optional: Sequence[str] = (),
    reading: Reading = AS_IT_IS,
) -> pd.DataFrame:
    """Return a table as it is written: cells of text files as text, others in their own types.

    `columns` are read, None for all; before them those of `optional` that the table has.
    """
    pa = arrow()
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("pandas", "data") from error
    with open_table(path, reading) as opened:
        names = opened.header
        if columns is not None:
            names = (*(name for name in optional if name in names), *columns)
        kind = pa.string() if opened.format == "csv" else None
        table = read_arrow(opened, dict.fromkeys(names, kind), words=True)
        with readable(opened):
            frame = table.to_pandas()
    for name in frame.columns:
        if meant := _read_bytes(frame[name]):
            frame[name] = [meant.get(cell, cell) for cell in frame[name]]
    return frame


def _read_bytes(cells: Iterable[object]) -> dict[str, str]:
    """Return what texts such as b'sick' mean, with a note; nothing unless all are written so."""
    meant: dict[str, str] = {}
    for cell in cells:
        if cell is None or (isinstance(cell, str) and cell.strip() in MISSING):
            continue
        if not isinstance(cell, str) or not _BYTES.fullmatch(cell):
            return {}
        meant[cell] = ast.literal_eval(cell).decode(errors="replace")
    if meant:
        text, word = next(iter(meant.items()))
        said = f"Cells written as bytes are read as text: {text} as {word}."
        warnings.warn(said, BoundaryWarning, stacklevel=3)
    return meant


def read_bytes(path: Path) -> bytes:
    """Return the content of a small file; "-" is standard input."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


def check_writable(path: Path) -> None:
    """Raise if no table can be written under such a name."""
    if str(path) != "-" and path.suffix.lower() not in _ENDINGS and not is_special(path):
        raise InvalidInputError(
            f"The output's name must end in one of {', '.join(_ENDINGS)}, got '{path.name}'."
        )


def write_frame(frame: pd.DataFrame, path: Path, *, new: bool = False) -> None:
    """Write a pandas DataFrame in the format that the file's name says; "-" is standard output.

    With `new`, a file that is there is an error.
    """
    ending = path.suffix.lower()
    if ending == ".parquet":
        write_whole(path, frame.to_parquet(), new=new)
        return
    text = frame.to_csv(index=False, sep="\t" if ending == ".tsv" else ",")
    if str(path) == "-":
        # A pipe gets every character as it is; a terminal would obey some of them.
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
    else:
        write_whole(path, text, new=new)


def with_gaps(column: pd.Series) -> pd.Series:
    """Return a column with its words for a missing value as missing, and bytes as text."""
    if column.dtype.kind != "O":
        return column
    cells = column.astype(object)
    if any(isinstance(value, bytes) for value in cells):
        cells = cells.map(
            lambda v: v.decode(errors="backslashreplace") if isinstance(v, bytes) else v
        )
    is_gap = cells.isna() | cells.map(lambda v: isinstance(v, str) and v.strip() in MISSING)
    return cells.where(~is_gap.astype(bool), np.nan)


# --- Labels ---------------------------------------------------------------------------------------


def label_values(texts: Sequence[str]) -> list[Label]:
    """Return labels read as text as the numbers or booleans they are, if they all are."""
    meant = _read_bytes(texts)
    texts = [meant.get(text, text) for text in texts]
    bare = [text.strip() for text in texts]
    if all(text.casefold() in _TRUTH for text in bare):
        return [_TRUTH[text.casefold()] for text in bare]
    for pattern, kind in ((_WHOLE, int), (_NUMBER, float)):
        if all(pattern.fullmatch(text) for text in bare):
            return [kind(text) for text in bare]
    return _merge_spellings(texts)


def _merge_spellings(texts: Sequence[str]) -> list[str]:
    """Return labels in which Yes, YES and yes are one, with a note."""
    spellings: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        spellings.setdefault(" ".join(text.split()).casefold(), []).append(text)
    chosen = {text: max(variants) for variants in spellings.values() for text in variants}
    for variants in spellings.values():
        if len(variants) > 1:
            others = sorted(set(variants) - {max(variants)})
            warnings.warn(
                f"The labels {', '.join(map(repr, others))} are read as {max(variants)!r}.",
                BoundaryWarning,
                stacklevel=3,
            )
    return [chosen[text] for text in texts]


def order_classes(
    values: Sequence[Label],
    counts: Sequence[int],
    positive: str | None,
    column: str,
    *,
    symmetric: bool = True,
) -> Labels:
    """Return the two labels of a column (negative, positive).

    `values` and `counts` are the labels and their numbers of rows. `positive` is the positive label
    as text; None takes the greater of 0 and 1, -1 and 1, false and true, and else the rarer one. If
    the rule is not `symmetric`, one of two equally frequent words must be named.
    """
    totals: Counter[Label] = Counter()
    for value, count in zip(values, counts, strict=True):
        totals[value] += count
    if 2 < len(totals) <= _MOST_LABELS and positive is not None:
        chosen = match_label(positive, totals, column)
        others = [f"{label!r} ({row_count(n)})" for label, n in totals.items() if label != chosen]
        warnings.warn(
            f"The labels {', '.join(others)} are one class, 'not {chosen}'. To leave out the rows "
            "of a label, use fit --ignore LABEL.",
            BoundaryWarning,
            stacklevel=2,
        )
        return f"not {chosen}", str(chosen)
    if len(totals) != 2:
        most = [f"{label!r} ({row_count(n)})" for label, n in totals.most_common(_MOST_SHOWN)]
        more = ", …" if len(totals) > _MOST_SHOWN else ""
        raise InvalidInputError(
            f"Two classes are needed, but column '{column}' holds {len(totals):,}: "
            f"{', '.join(most)}{more}. Name another column, or use --positive LABEL for one "
            "class against all others, or drop the rows of a label such as 'unknown' with `fit "
            "--ignore LABEL`. For one decision among many classes use BoundShiftClassifier in "
            "Python."
        )
    chosen = None if positive is None else match_label(positive, totals, column)
    low, high = order_labels(totals, chosen, counts=totals, symmetric=symmetric)
    # JSON stores a date, for one, as text.
    low, high = (v if isinstance(v, str | int | float) else str(v) for v in (low, high))
    return low, high


def match_label(text: str, labels: Iterable[Label], column: str) -> Label:
    """Return the label that is written so: exactly, in another case, or as an equal number."""
    labels = list(labels)
    for spelled in (str, lambda label: str(label).casefold(), _as_number):
        for label in labels:
            if spelled(label) == spelled(text):
                return label
    shown = ", ".join(map(repr, labels[:_MOST_SHOWN]))
    raise InvalidInputError(
        f"A label must occur in column '{column}' ({shown}), got '{text}'. Use one of these."
    )


def _as_number(label: Label) -> float:
    try:
        return float(label)
    except (TypeError, ValueError):
        return math.nan


def positive_note(positive: str | None, labels: Labels, n_samples: tuple[int, int]) -> list[str]:
    """Return the note on a positive class that neither the user nor its name chose."""
    if positive is not None or are_signs(labels):
        return []
    few = n_samples[1]
    rows = sum(n_samples)
    why = "the rarer one" if 2 * few < rows else "the greater of two equally frequent ones"
    said = f"The positive class is {labels[1]!r}, {why} ({few:,} of {rows:,} rows)."
    return [f"{said} Use --positive to choose."]


def note_unlabelled(n: int, column: str) -> list[str]:
    """Return the note that rows without a label are left out."""
    verb = "is" if n == 1 else "are"
    return [f"{row_count(n)} without a value of '{column}' {verb} left out."] if n else []


def drop_labels(
    frame: pd.DataFrame, target: str, ignore: Sequence[str]
) -> tuple[pd.DataFrame, list[str]]:
    """Return a table without the rows of some labels, and how many those were."""
    notes = []
    for text in ignore:
        labels = _read_labels(with_gaps(frame[target]))
        chosen = match_label(text, labels.dropna().unique().tolist(), target)
        n = int((labels == chosen).sum())
        verb = "is" if n == 1 else "are"
        notes.append(f"{row_count(n)} with the label {chosen!r} {verb} left out, as asked.")
        frame = frame[labels != chosen]
    return frame, notes


def read_target(
    frame: pd.DataFrame, target: str, positive: str | None = None, *, symmetric: bool = True
) -> tuple[pd.DataFrame, IntArray, Labels, tuple[str, ...]]:
    """Return the rows that have a label, their class as 0 or 1, the labels, and the merged ones.

    If there are more than two labels, all but the positive one are merged into one class.

    `positive` and `symmetric` are as in :func:`order_classes`.
    """
    labels = _read_labels(with_gaps(frame[target]))
    sizes = labels.value_counts()
    distinct = sizes.index.tolist()
    classes = order_classes(distinct, sizes.tolist(), positive, target, symmetric=symmetric)
    has_label = labels.notna()
    y = (labels[has_label].map(str) == str(classes[1])).to_numpy(dtype=np.int64)
    n_positive = int(y.sum())
    rarer = min(n_positive, len(y) - n_positive)
    if rarer < _LEAST_ROWS:
        raise InvalidInputError(
            f"Each class needs at least {_LEAST_ROWS} rows, to learn from and to be judged on; the "
            f"rarer one of '{target}' has {rarer}. Collect more, or give scores of your own model "
            "to `boundshift threshold`."
        )
    negatives = tuple(str(label) for label in distinct if str(label) != str(classes[1]))
    merged = negatives if len(negatives) > 1 else ()
    return frame[has_label], y, classes, merged


def _read_labels(cells: pd.Series) -> pd.Series:
    """Return a column's labels as Python values; text as the numbers that it spells."""
    import pandas as pd

    distinct = cells.dropna().unique().tolist()
    values = distinct
    if all(isinstance(value, str) for value in distinct):
        values = label_values(distinct)
    # A gap turns whole numbers into floats, here and in pandas' own map.
    values = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values]
    value_of = dict(zip(distinct, values, strict=True))
    return pd.Series([value_of.get(cell, np.nan) for cell in cells], cells.index, dtype=object)
