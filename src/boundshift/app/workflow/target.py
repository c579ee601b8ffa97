"""The column to be predicted: which rows have a label, and which class is positive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from boundshift.app.tables.cells import with_gaps
from boundshift.app.tables.class_labels import label_values, match_label, order_classes
from boundshift.exceptions import InvalidInputError

__all__ = ["drop_labels", "read_target"]

_LEAST_ROWS = 10
_MOST_CLASSES = 50


def drop_labels(frame: Any, target: str, ignore: Sequence[str]) -> tuple[Any, list[str]]:
    """Return a table without the rows that have certain labels, and how many those were.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"ill": ["no", "yes", "unknown"]})
    >>> drop_labels(frame, "ill", ["unknown"])[1]
    ["1 row with the label 'unknown' is left out, as asked."]
    """
    notes = []
    for text in ignore:
        column = with_gaps(frame[target])
        found = list(column.dropna().unique())
        values = _plain_labels(found, target)
        chosen = match_label(text, values, target)
        raw = [cell for cell, value in zip(found, values, strict=True) if value == chosen]
        dropped = column.isin(raw)
        n = int(dropped.sum())
        rows = "1 row with the label {} is" if n == 1 else f"{n:,} rows with the label {{}} are"
        notes.append(f"{rows.format(repr(chosen))} left out, as asked.")
        frame = frame[~dropped]
    return frame, notes


def read_target(
    frame: Any, target: str, positive: str | None = None, *, alike: bool = True
) -> tuple[Any, NDArray[np.int64], tuple[Any, Any]]:
    """Return the rows that have a label, their class as 0 or 1, and the labels.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        Column to be predicted.
    positive : str, default=None
        The positive label as text. None takes the greater of 0 and 1, -1 and 1, false and true,
        and else the rarer one.
    alike : bool, default=True
        Whether the rule to come treats both classes alike.

    Returns
    -------
    frame : pandas.DataFrame
        Without the rows that have no label.
    y : array of int
        1 for the positive class.
    labels : tuple
        Labels (negative, positive).

    Raises
    ------
    InvalidInputError
        If the column is not there, has no two classes, or one has fewer than 10 rows.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": range(30), "ill": ["no"] * 20 + ["yes"] * 10})
    >>> kept, y, labels = read_target(frame, "ill")
    >>> len(kept), int(y.sum()), labels
    (30, 10, ('no', 'yes'))
    """
    column = with_gaps(frame[target])
    kept, given = frame[column.notna()], column.dropna()
    sizes = given.value_counts()
    values = _plain_labels(list(sizes.index), target)
    if not values:
        raise InvalidInputError(f"Column '{target}' must hold labels, and is empty.")
    if len(values) > _MOST_CLASSES:
        raise InvalidInputError(
            f"Two classes are needed, but column '{target}' holds {len(values)} different values. "
            "Choose the column that says which class a row has."
        )
    labels = order_classes(values, sizes.tolist(), positive, target, alike=alike)
    is_positive = {
        raw: str(value) == str(labels[1]) for raw, value in zip(sizes.index, values, strict=True)
    }
    y = np.asarray(given.map(is_positive), dtype=np.bool_)
    rarer = min(int(y.sum()), len(y) - int(y.sum()))
    if rarer < _LEAST_ROWS:
        raise InvalidInputError(
            f"Each class needs at least {_LEAST_ROWS} rows, to learn from and to be judged on; the "
            f"rarer one of '{target}' has {rarer}. Collect more, or give scores of your own model "
            "to `boundshift threshold`."
        )
    return kept, y.astype(np.int64), labels


def _plain_labels(found: list[Any], target: str) -> list[Any]:
    """Return labels as Python values; text as the numbers that it spells."""
    if any(isinstance(value, list | dict | bytes) or getattr(value, "ndim", 0) for value in found):
        raise InvalidInputError(
            f"Column '{target}' must hold a label in each row, and holds lists, records or bytes. "
            "Choose the column that says which class a row has."
        )
    if all(isinstance(value, str) for value in found):
        found = label_values(found)
    return [_python(value) for value in found]


def _python(value: Any) -> Any:
    """Return a label as a Python value; 1.0 is 1, since a gap turns whole numbers into floats."""
    value = value.item() if hasattr(value, "item") else value
    return int(value) if isinstance(value, float) and value.is_integer() else value
