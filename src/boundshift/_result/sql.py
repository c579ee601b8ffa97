"""A boundary as an SQL expression, in the dialect of the database that will run it.

Names are always quoted: a bare `order` or `null` is no column to a database. Backslashes and
control characters are refused, since databases, and even settings of one, differ in their meaning.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boundshift._validation import nearest_name
from boundshift.exceptions import InvalidInputError


class Dialect(NamedTuple):
    """How a database writes names, texts and truth values, and how it tests for NaN."""

    quotes: tuple[str, str] = ('"', '"')  # around a name; the closing one is doubled inside
    apostrophe: str = "''"  # inside a text
    prefix: str = ""  # of a text
    is_nan: str | None = None  # where NaN is above every number; {} is the column
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
    written = _as_dialect(dialect)
    parts = [column] if isinstance(column, str) or not column else column
    name = ".".join(_name("column", part, written) for part in parts)
    negative, positive = (_literal(label, written) for label in labels)
    # With an exponent a number is a double everywhere. An infinite limit is beyond every score.
    cases = [(f"> {limits[1]:.16E}", positive)] if math.isfinite(limits[1]) else []
    cases += [(f"<= {limits[0]:.16E}", negative)] if math.isfinite(limits[0]) else []
    cases += [
        ("IS NOT NULL", "NULL" if label is None else _literal(label, written)) for label in between
    ]
    nan = f"WHEN {written.is_nan.format(name)} THEN NULL " if written.is_nan else ""
    return f"CASE {nan}{' '.join(f'WHEN {name} {test} THEN {label}' for test, label in cases)} END"


def group_expression(
    column: str | Sequence[str],
    by: str,
    cuts: Mapping[Any, float],
    common: float,
    labels: tuple[Any, Any],
    dialect: str,
) -> str:
    """Return the expression for the label of a row whose group has a threshold of its own."""
    otherwise = label_expression(column, (common, common), labels, dialect)
    written = _as_dialect(dialect)
    name = _name("by", by, written)
    cases = " ".join(
        f"WHEN {name} = {_literal(group, written)} "
        f"THEN {label_expression(column, (cut, cut), labels, dialect)}"
        for group, cut in cuts.items()
    )
    return f"CASE {cases} ELSE {otherwise} END"


def _as_dialect(dialect: str) -> Dialect:
    if dialect not in DIALECTS:
        raise InvalidInputError(
            f"`dialect` must be one of {', '.join(DIALECTS)}, got {dialect!r}."
            f"{nearest_name(dialect, DIALECTS)} Use 'ansi' for other databases."
        )
    return DIALECTS[dialect]


def _name(argument: str, name: object, written: Dialect) -> str:
    """Return a quoted name of a column."""
    if not isinstance(name, str) or not name:
        raise InvalidInputError(
            f"`{argument}` must be a name, such as 'score' or ('table', 'score'), got {name!r}."
        )
    opening, closing = written.quotes
    return opening + _checked(argument, name).replace(closing, closing * 2) + closing


def _literal(label: object, written: Dialect) -> str:
    """Return a label as the dialect writes it."""
    if isinstance(label, np.generic):
        label = label.item()
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
