"""A boundary as an SQL expression, in the dialect of the database that will run it.

Names are always quoted: a bare `order` or `null` is no column to a database. Backslashes and
control characters are refused, since databases, and even settings of one, differ in their meaning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from boundshift._validation import nearest_name
from boundshift.exceptions import InvalidInputError


class Dialect(NamedTuple):
    """How a database writes names, texts and truth values, and how it tests for NaN."""

    quotes: tuple[str, str] = ('"', '"')  # around a name; the closing one is doubled inside
    apostrophe: str = "''"  # inside a text
    prefix: str = ""  # of a text
    is_nan: str = ""  # where NaN is above every number; {} is the column
    booleans: tuple[str, str] = ("FALSE", "TRUE")


_CAST_NAN = "{} = CAST('NaN' AS double precision)"
DIALECTS = {
    "ansi": Dialect(),
    "bigquery": Dialect(("`", "`"), "\\'"),
    "duckdb": Dialect(is_nan="isnan({})"),
    "mysql": Dialect(("`", "`")),
    "postgres": Dialect(is_nan=_CAST_NAN),
    "snowflake": Dialect(is_nan=_CAST_NAN),
    # '' was no quote before Spark 4.
    "spark": Dialect(("`", "`"), "\\'", is_nan="isnan({})"),
    # SQLite takes a name in double quotes that is no column for a text, above every number.
    "sqlite": Dialect(("`", "`")),
    # Without the N, letters outside of the database's code page would become question marks.
    "sqlserver": Dialect(("[", "]"), prefix="N", booleans=("CAST(0 AS bit)", "CAST(1 AS bit)")),
}


def label_expression(
    column: str | Sequence[str],
    limits: tuple[float, float],
    labels: tuple[Any, Any],
    dialect: str,
    *between: object,
) -> str:
    """Return the positive label above the upper limit, the negative one up to the lower limit.

    A label `between` is for scores between the limits, None for NULL.
    """
    if dialect not in DIALECTS:
        raise InvalidInputError(
            f"`dialect` must be one of {', '.join(DIALECTS)}, got {dialect!r}."
            f"{nearest_name(dialect, DIALECTS)} Use 'ansi' for other databases."
        )
    written = DIALECTS[dialect]
    parts = [column] if isinstance(column, str) else [*column]
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise InvalidInputError(
            f"`column` must be a name, such as 'score' or ('table', 'score'), got {column!r}."
        )
    opening, closing = written.quotes
    name = ".".join(
        opening + _checked("column", part).replace(closing, closing * 2) + closing for part in parts
    )
    negative, positive = (_literal(label, written) for label in labels)
    # With an exponent a number is a double everywhere. An infinite limit is beyond every score.
    cases = [(f"> {limits[1]:.16E}", positive)] if math.isfinite(limits[1]) else []
    cases += [(f"<= {limits[0]:.16E}", negative)] if math.isfinite(limits[0]) else []
    cases += [
        ("IS NOT NULL", "NULL" if label is None else _literal(label, written)) for label in between
    ]
    nan = f"WHEN {written.is_nan.format(name)} THEN NULL " if written.is_nan else ""
    return f"CASE {nan}{' '.join(f'WHEN {name} {test} THEN {label}' for test, label in cases)} END"


def _literal(label: object, written: Dialect) -> str:
    """Return a label as the dialect writes it."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, bool):
        return written.booleans[label]
    if isinstance(label, int) or (isinstance(label, float) and math.isfinite(label)):
        return repr(label)
    if isinstance(label, str):
        text = _checked("labels", label).replace("'", written.apostrophe)
        return f"{written.prefix}'{text}'"
    raise InvalidInputError(
        f"Labels must be strings, finite numbers or booleans to be written in SQL, got {label!r}. "
        "Use boundary.threshold in an expression of your own."
    )


def _checked(what: str, text: str) -> str:
    """Return a text that every database reads alike."""
    if re.search(r"[\x00-\x1f\\\ud800-\udfff]|\$\{", text):
        raise InvalidInputError(
            f"`{what}` must be text without backslashes, control characters and '${{', which "
            f"databases read differently, got {text!r}. Use boundary.threshold in an expression "
            "of your own."
        )
    return text
