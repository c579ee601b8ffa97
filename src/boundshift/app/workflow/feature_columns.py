"""Which columns of a table a model may learn from, and why the others are left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from boundshift.app.tables.frames import Kind
from boundshift.exceptions import InvalidInputError

__all__ = ["Columns", "as_features", "choose_columns", "kind_of"]

_ID_NAME = re.compile(r"(^|[_ .-])(id|uuid|guid|index|key|rownames|unnamed: 0)$|^$", re.IGNORECASE)
# Text with more different values than this share of the rows names rows instead of grouping them.
_NAMING_SHARE = 0.5
_FEW_ROWS = 20


@dataclass(frozen=True)
class Columns:
    """What is read from a table.

    Parameters
    ----------
    kinds : dict from str to {"number", "category"}
        Columns to learn from.
    left_out : dict from str to str, default={}
        The others, and why.
    """

    kinds: Mapping[str, Kind]
    left_out: Mapping[str, str] = field(default_factory=dict)

    def of(self, kind: Kind) -> list[str]:
        """Return the names of one kind."""
        return [name for name, found in self.kinds.items() if found == kind]


def choose_columns(frame: Any, target: str) -> Columns:
    """Sort a table's columns into numbers, categories and what a model cannot learn from.

    Left out are dates, columns that never vary or are empty, and columns that name rows: numbers
    that count them or are called an id, and text of which most values are different.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table.
    target : str
        Column to be predicted, which is no feature.

    Returns
    -------
    Columns

    Raises
    ------
    InvalidInputError
        If no column is left.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": [1, 2, 3], "age": [40, 50, None], "ill": [0, 1, 0]})
    >>> choose_columns(frame, "ill")
    Columns(kinds={'age': 'number'}, left_out={'id': 'it counts or names the rows'})
    """
    kinds: dict[str, Kind] = {}
    left_out = {}
    for name in frame.columns:
        if name != target:
            reason = _reason(frame[name], str(name))
            if reason:
                left_out[str(name)] = reason
            else:
                kinds[str(name)] = kind_of(frame[name])
    if not kinds:
        raise InvalidInputError(
            f"A model needs at least one column to learn from besides '{target}', got none: "
            + "; ".join(f"'{name}': {why}" for name, why in left_out.items())
        )
    return Columns(kinds, left_out)


def kind_of(column: Any) -> Kind:
    """Return what a column holds; true and false are categories."""
    return "number" if _is_number(column) else "category"


def _is_number(column: Any) -> bool:
    """Return whether a column holds numbers."""
    from pandas.api import types

    return bool(types.is_numeric_dtype(column)) and not types.is_bool_dtype(column)


def _reason(column: Any, name: str) -> str:
    """Return why a column is left out, or nothing."""
    from pandas.api import types

    given = column.dropna()
    if given.empty:
        return "it is empty"
    if types.is_datetime64_any_dtype(column) or _holds_dates(given):
        return "it holds dates; turn them into numbers, such as an age in days, to use them"
    if _holds_containers(given):
        return "it holds lists or records"
    distinct = given.nunique()
    if distinct == 1:
        return "it never varies"
    if _is_number(column):
        return "it counts or names the rows" if _counts(given, name, distinct) else ""
    if distinct > _NAMING_SHARE * len(given) and (len(given) > _FEW_ROWS or _ID_NAME.search(name)):
        return "most of its values are different, as names or free text are"
    return ""


def _holds_dates(given: Any) -> bool:
    """Return whether the values are dates or times as Python objects."""
    import datetime

    return isinstance(given.iloc[0], datetime.date | datetime.time | datetime.timedelta)


def _holds_containers(given: Any) -> bool:
    """Return whether the values are nested, as JSON's may be."""
    first = given.iloc[0]
    return isinstance(first, list | dict) or getattr(first, "ndim", 0) > 0


def _counts(given: Any, name: str, distinct: int) -> bool:
    """Return whether whole numbers are all different and are called an id, or leave no gap."""
    if distinct < len(given) or (given % 1 != 0).any():
        return False
    no_gap = given.max() - given.min() == len(given) - 1 and given.is_monotonic_increasing
    return bool(_ID_NAME.search(name)) or bool(no_gap)


def as_features(frame: Any, columns: Columns) -> Any:
    """Return the columns to learn from: numbers as floats, categories as text.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [40, 50], "smokes": [True, None]})
    >>> as_features(frame, Columns({"age": "number", "smokes": "category"})).values.tolist()
    [[40.0, 'true'], [50.0, nan]]
    """
    import numpy as np
    import pandas as pd

    features = {}
    for name, kind in columns.kinds.items():
        if kind == "number":
            features[name] = pd.to_numeric(frame[name]).astype(np.float64)
            if np.isinf(features[name]).any():
                raise InvalidInputError(
                    f"Numbers must be finite, but column '{name}' holds infinity. Leave those "
                    "cells empty, or clip them."
                )
        else:
            features[name] = frame[name].astype(object).map(_as_text, na_action="ignore")
            features[name] = features[name].astype(object).where(frame[name].notna(), np.nan)
    return pd.DataFrame(features, index=frame.index)


def _as_text(value: object) -> str:
    """Return a category as the text by which a file spells it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
