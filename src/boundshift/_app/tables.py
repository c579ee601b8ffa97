"""Whole tables out of files and into them, and the two labels of a column of classes."""

from __future__ import annotations

import ast
import io
import math
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from boundshift._app.cli import visible
from boundshift._typing import IntArray
from boundshift._validation import are_signs, order_labels
from boundshift._writing import is_special, write_whole
from boundshift.exceptions import BoundaryWarning, InvalidInputError, MissingExtraError
from boundshift.streaming._read import arrow
from boundshift.streaming._tables import (
    AS_IT_IS,
    MISSING,
    OpenTable,
    Reading,
    check_names,
    open_table,
    read_batches,
    readable,
)

_ENDINGS = (".csv", ".tsv", ".parquet", ".jsonl", ".xlsx")
_TRUTH = {"false": False, "true": True}
_MOST_SHOWN = 8
_LEAST_ROWS = 10
# What a float holds exactly; a number that is longer, or begins with 0, is a name.
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,14})")
_BYTES = re.compile(r"b('[^'\n]*'|\"[^\"\n]*\")")
_NUMBER = re.compile(r"(?=.*\d)[+-]?(0|[1-9]\d{0,14})?(\.\d{0,15})?(e[+-]?\d{1,2})?", re.IGNORECASE)


def read_arrow(
    opened: OpenTable,
    types: Mapping[str, Any] | None,
    progress: Callable[[str, int, int], None] | None = None,
    *,
    words: bool = False,
) -> Any:
    """Return a whole table, or some columns by type, as Arrow; `words` as in `read_batches`."""
    pa = arrow()
    parts, n_rows = [], 0
    for batch in read_batches(opened, types, words=words):
        parts.append(pa.Table.from_batches([batch]))
        n_rows += len(batch)
        if progress is not None and opened.format == "csv" and opened.stream.seekable():
            progress("read", min(int(opened.stream.tell()), opened.size), opened.size)
    if n_rows == 0:
        raise InvalidInputError(f"The table must have rows, but {opened.name} has none.")
    with readable(opened):
        return pa.concat_tables(parts, promote_options="permissive")


def read_frame(
    path: str | Path,
    columns: Sequence[str] | None = None,
    optional: Sequence[str] = (),
    reading: Reading = AS_IT_IS,
) -> Any:
    """Return a table as it is written: cells of text files as text, others in their own types.

    `columns` are read, None for all; before them those of `optional` that the table has.
    """
    pa = arrow()
    try:
        import pandas  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("pandas", "data") from error

    def wanted(there: Sequence[str]) -> list[str]:
        if columns is None:
            return list(there)
        names = list(dict.fromkeys([*(name for name in optional if name in there), *columns]))
        check_names(opened.name, there, names)
        return names

    with open_table(path, reading) as opened:
        # Objects of JSON have names of their own, known when all of them are read.
        is_json = opened.format == "json"
        kind = pa.string() if opened.format == "csv" else None
        types = None if is_json else dict.fromkeys(wanted(opened.header), kind)
        table = read_arrow(opened, types, words=True)
        with readable(opened):
            if is_json:
                table = table.select(wanted(table.column_names))
            for place, field in enumerate(table.schema):
                if pa.types.is_decimal(field.type):
                    numbers = table.column(place).cast(pa.float64())
                    table = table.set_column(place, field.name, numbers)
            frame = table.to_pandas()
    for name in frame.columns:
        if meant := _read_bytes(frame[name]):
            frame[name] = [meant.get(cell, cell) for cell in frame[name]]
    return frame


def _read_bytes(cells: Iterable[Any]) -> dict[str, str]:
    """Return what texts such as b'sick' mean, with a note; nothing unless all are written so."""
    meant: dict[str, str] = {}
    for cell in cells:
        if cell is None or (isinstance(cell, str) and (cell in meant or cell.strip() in MISSING)):
            continue
        if not isinstance(cell, str) or not _BYTES.fullmatch(cell):
            return {}
        try:
            meant[cell] = ast.literal_eval(cell).decode()
        except (SyntaxError, ValueError):
            return {}
    for text, word in list(meant.items())[:1]:
        said = f"Cells written as bytes are read as text: {text} as {word}."
        warnings.warn(said, BoundaryWarning, stacklevel=3)
    return meant


def check_writable(path: Path) -> None:
    """Raise if no table can be written under such a name."""
    if str(path) != "-" and path.suffix.lower() not in _ENDINGS and not is_special(path):
        raise InvalidInputError(
            f"The output's name must end in one of {', '.join(_ENDINGS)}, got '{path.name}'."
        )


def write_frame(frame: Any, path: str | Path, *, new: bool = False) -> None:
    """Write a pandas DataFrame in the format that the file's name says; "-" is standard output.

    With `new`, a file that is there is an error.
    """
    path = Path(path)
    check_writable(path)
    ending = path.suffix.lower()
    content: str | bytes
    if ending == ".parquet":
        content = frame.to_parquet()
    elif ending == ".xlsx":
        content = _as_workbook(frame, path)
    elif ending == ".jsonl":
        content = frame.to_json(orient="records", lines=True, force_ascii=False)
    else:
        content = frame.to_csv(index=False, sep="\t" if ending == ".tsv" else ",")
    if str(path) == "-":
        # A pipe gets every character as it is; a terminal would obey some of them.
        text = str(content)
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
    else:
        write_whole(path, content, new=new)


def _as_workbook(frame: Any, path: Path) -> bytes:
    """Return an Excel file with one sheet; text that looks like a formula stays text."""
    try:
        import pandas as pd
        from openpyxl.utils.exceptions import IllegalCharacterError
    except ImportError:
        raise MissingExtraError("openpyxl", "cli") from None
    buffer = io.BytesIO()
    try:
        with pd.ExcelWriter(buffer, engine="openpyxl") as book:
            frame.to_excel(book, index=False)
            for row in book.book.active.iter_rows():
                for cell in row:
                    cell.data_type = "s" if cell.data_type == "f" else cell.data_type
    except (IllegalCharacterError, ValueError) as error:
        raise InvalidInputError(
            f"An Excel file must be able to hold the table, and {path} cannot: {error}. Write CSV "
            "or Parquet."
        ) from error
    return buffer.getvalue()


def with_gaps(column: Any) -> Any:
    """Return a column with its words for a missing value as missing, and bytes as text."""
    import numpy as np
    from pandas.api import types

    if str(column.dtype) == "category":
        column = column.astype(object)
    if not (types.is_object_dtype(column) or types.is_string_dtype(column)):
        return column
    texts = column.astype(object)
    if any(isinstance(value, bytes) for value in texts):
        texts = texts.map(_decoded)
    is_gap = texts.isna() | texts.map(lambda v: isinstance(v, str) and v.strip() in MISSING)
    return texts.where(~is_gap, np.nan)


def _decoded(value: Any) -> Any:
    try:
        return value.decode("utf-8") if isinstance(value, bytes) else value
    except UnicodeDecodeError:
        return value


def label_values(texts: Sequence[str]) -> list[Any]:
    """Return labels read as text as the numbers or booleans they are, if they all are."""
    meant = _read_bytes(texts)
    texts = [meant.get(text, text) for text in texts]
    bare = [text.strip() for text in texts]
    if all(_WHOLE.fullmatch(text) for text in bare):
        return [int(text) for text in bare]
    if all(text.casefold() in _TRUTH for text in bare):
        return [_TRUTH[text.casefold()] for text in bare]
    if all(_NUMBER.fullmatch(text) for text in bare):
        return [float(text) for text in bare]
    return texts


def order_classes(
    values: Sequence[Any],
    counts: Sequence[int],
    positive: str | None,
    column: str,
    *,
    symmetric: bool = True,
) -> tuple[Any, Any]:
    """Return the two labels of a column (negative, positive).

    `values` and `counts` are the labels and their numbers of rows. `positive` is the positive label
    as text; None takes the greater of 0 and 1, -1 and 1, false and true, and else the rarer one. If
    the rule is not `symmetric`, one of two equally frequent words must be named.
    """
    totals: Counter[Any] = Counter()
    for value, count in zip(values, counts, strict=True):
        totals[value] += count
    distinct = sorted(totals, key=lambda value: (str(type(value)), value))
    _check_spellings(distinct, column)
    if len(distinct) == 1:
        raise InvalidInputError(
            f"Two classes are needed, but column '{column}' holds only {distinct[0]!r}. A boundary "
            "needs rows on either side."
        )
    chosen = None if positive is None else match_label(positive, distinct, column)
    if len(distinct) > 2:
        raise InvalidInputError(
            f"Two classes are needed, but column '{column}' holds {len(distinct)}: "
            f"{_shown(distinct, totals)}. Drop the rows of a label such as 'unknown' with "
            "`fit --ignore LABEL`, or give all classes but one the same label. For one decision "
            "among many classes use BoundShiftClassifier in Python."
        )
    low, high = distinct
    if chosen is not None:
        low, high = (high, low) if chosen == low else (low, high)
    elif not symmetric and totals[low] == totals[high] and not are_signs((low, high)):
        raise InvalidInputError(
            f"The positive class must be named where a rule does not treat {low!r} and {high!r} "
            f"alike, got neither, and both have {totals[low]} rows. Use --positive {high}, for "
            "example."
        )
    else:
        low, high = order_labels(distinct, counts=totals, symmetric=symmetric)
    # JSON stores a date, for one, as text.
    low, high = (v if isinstance(v, str | int | float) else str(v) for v in (low, high))
    return low, high


def _check_spellings(distinct: Sequence[Any], column: str) -> None:
    """Raise if a label is infinite, or two labels differ by nothing but blanks or case."""
    groups: dict[str, list[Any]] = {}
    for value in distinct:
        if isinstance(value, float) and not math.isfinite(value):
            raise InvalidInputError(
                f"Labels must be words or finite numbers, but column '{column}' holds {value!r}. "
                "Choose the column that says which class a row has."
            )
        if not str(value).strip():
            raise InvalidInputError(
                f"Every row must have a label, but column '{column}' holds blanks in some. Drop "
                "those rows."
            )
        groups.setdefault(" ".join(str(value).split()).casefold(), []).append(value)
    for same in groups.values():
        if len(same) > 1:
            raise InvalidInputError(
                f"Labels must differ by more than blanks or case, but column '{column}' holds "
                f"{_shown(same)}. Spell each class in one way."
            )


def _shown(labels: Sequence[Any], counts: Mapping[Any, int] | None = None) -> str:
    """Return the first few labels, with their numbers of rows where these are known."""
    more = ", …" if len(labels) > _MOST_SHOWN else ""
    rows = {label: f" ({count:,} rows)" for label, count in (counts or {}).items()}
    return ", ".join(f"{label!r}{rows.get(label, '')}" for label in labels[:_MOST_SHOWN]) + more


def match_label(text: str, labels: Iterable[Any], column: str) -> Any:
    """Return the label that is written so: exactly, in another case, or as an equal number."""
    labels = list(labels)
    matches: list[Callable[[Any], bool]] = [
        lambda label: text == str(label),
        lambda label: text.casefold() == str(label).casefold(),
        lambda label: isinstance(label, int | float) and _equal(text, label),
    ]
    for is_match in matches:
        for label in labels:
            if is_match(label):
                return label
    raise InvalidInputError(
        f"A label must occur in column '{column}' ({_shown(labels)}), got '{text}'. Use one of "
        "these."
    )


def _equal(text: str, number: float) -> bool:
    try:
        return float(text) == number
    except ValueError:
        return False


def positive_note(
    positive: str | None, labels: tuple[Any, Any], n_samples: tuple[int, int]
) -> list[str]:
    """Return the note on a positive class that neither the user nor its name chose."""
    if positive is not None or are_signs(labels):
        return []
    few, all_rows = n_samples[1], sum(n_samples)
    why = "the rarer one" if few < n_samples[0] else "the greater of two equally frequent ones"
    return [
        f"The positive class is {labels[1]!r}, {why} ({few} of {all_rows} rows). Use --positive "
        "to choose."
    ]


def drop_labels(frame: Any, target: str, ignore: Sequence[str]) -> tuple[Any, list[str]]:
    """Return a table without the rows of some labels, and how many those were."""
    notes = []
    for text in ignore:
        column = with_gaps(frame[target])
        found = list(column.dropna().unique())
        values = _plain_labels(found, target)
        chosen = match_label(text, values, target)
        dropped = column.isin([c for c, v in zip(found, values, strict=True) if v == chosen])
        n = int(dropped.sum())
        rows = "1 row with the label {} is" if n == 1 else f"{n:,} rows with the label {{}} are"
        notes.append(f"{rows.format(repr(chosen))} left out, as asked.")
        frame = frame[~dropped]
    return frame, notes


def read_target(
    frame: Any, target: str, positive: str | None = None, *, symmetric: bool = True
) -> tuple[Any, IntArray, tuple[Any, Any]]:
    """Return the rows that have a label, their class as 0 or 1, and the labels.

    `positive` and `symmetric` are as in :func:`order_classes`.
    """
    import numpy as np

    column = with_gaps(frame[target])
    kept, given = frame[column.notna()], column.dropna()
    sizes = given.value_counts()
    sizes = sizes[sizes > 0]
    values = _plain_labels(list(sizes.index), target)
    if not values:
        raise InvalidInputError(f"Column '{target}' must hold labels, and is empty.")
    labels = order_classes(values, sizes.tolist(), positive, target, symmetric=symmetric)
    chosen = [cell for cell, v in zip(sizes.index, values, strict=True) if str(v) == str(labels[1])]
    y = np.asarray(given.isin(chosen), dtype=np.int64)
    rarer = min(int(y.sum()), len(y) - int(y.sum()))
    if rarer < _LEAST_ROWS:
        raise InvalidInputError(
            f"Each class needs at least {_LEAST_ROWS} rows, to learn from and to be judged on; the "
            f"rarer one of '{target}' has {rarer}. Collect more, or give scores of your own model "
            "to `boundshift threshold`."
        )
    return kept, y, labels


def _plain_labels(found: list[Any], target: str) -> list[Any]:
    """Return labels as Python values; text as the numbers that it spells."""
    if any(isinstance(value, list | dict | bytes) or getattr(value, "ndim", 0) for value in found):
        raise InvalidInputError(
            f"Column '{target}' must hold a label in each row, and holds lists, records or bytes. "
            "Choose the column that says which class a row has."
        )
    if all(isinstance(value, str) for value in found):
        found = label_values(found)
    plain = [value.item() if hasattr(value, "item") else value for value in found]
    # A gap turns whole numbers into floats.
    return [int(v) if isinstance(v, float) and v.is_integer() else v for v in plain]
