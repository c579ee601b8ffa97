"""A boundary as an SQL expression, in the dialect of the database that will run it.

Names are always quoted: a bare `order` or `null` is no column to a database. A backslash in a
label is a letter in standard SQL and escapes the next letter in Spark, MySQL, BigQuery and
Snowflake.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boundshift._validation import nearest_name
from boundshift.exceptions import InvalidInputError


def _quoted(opening: str, closing: str) -> Callable[[str], str]:
    """Return the function that quotes text, in which the closing quote is doubled."""
    return lambda text: opening + text.replace(closing, closing * 2) + closing


_text = _quoted("'", "'")


def _postgres_text(text: str) -> str:
    # Whether '\' escapes depends on a setting of the server, but not in an E string.
    return f"E{_text(_doubled(text))}" if "\\" in text else _text(text)


def _mysql_text(text: str) -> str:
    # Whether '\' escapes depends on the mode of the session, but not in hexadecimal digits.
    return f"_utf8mb4 X'{text.encode().hex().upper()}'" if "\\" in text else _text(text)


def _snowflake_text(text: str) -> str:
    return _text(_doubled(text))


def _spark_text(text: str) -> str:
    # '' was no quote before Spark 4, and ${name} would be replaced by a setting of the session.
    return "'" + _doubled(text).replace("'", "\\'").replace("$", "\\u0024") + "'"


def _spark_name(name: str) -> str:
    if "${" in name:
        raise InvalidInputError(
            "`column` must not hold '${' for Spark, which puts a setting of the session in its "
            f"place, got {name!r}. Rename the column, or use boundary.predict on it."
        )
    return _quoted("`", "`")(name)


def _bigquery(quote: str) -> Callable[[str], str]:
    """Return the function that escapes by backslashes; a text must not span lines."""

    def write(text: str) -> str:
        text = _doubled(text).replace(quote, "\\" + quote)
        return quote + text.replace("\n", "\\n").replace("\r", "\\r") + quote

    return write


def _doubled(text: str) -> str:
    return text.replace("\\", "\\\\")


def _sqlserver_text(text: str) -> str:
    # Without the N, letters outside of the database's code page would become question marks.
    return "N" + _text(text)


class Dialect(NamedTuple):
    """How a database writes column names, texts and truth values, and how it tests for NaN."""

    name: Callable[[str], str] = _quoted('"', '"')
    text: Callable[[str], str] = _text
    # For databases that order NaN above every number; {} is the column.
    is_nan: str | None = None
    booleans: tuple[str, str] = ("FALSE", "TRUE")


DIALECTS = {
    "ansi": Dialect(),
    "bigquery": Dialect(_bigquery("`"), _bigquery("'")),
    "duckdb": Dialect(is_nan="isnan({})"),
    "mysql": Dialect(_quoted("`", "`"), _mysql_text),
    "postgres": Dialect(text=_postgres_text, is_nan="{} = CAST('NaN' AS double precision)"),
    "snowflake": Dialect(text=_snowflake_text, is_nan="{} = CAST('NaN' AS double precision)"),
    "spark": Dialect(_spark_name, _spark_text, "isnan({})"),
    # SQLite takes a name in double quotes that is no column for a text, above every number.
    "sqlite": Dialect(_quoted("`", "`")),
    "sqlserver": Dialect(
        _quoted("[", "]"), _sqlserver_text, booleans=("CAST(0 AS bit)", "CAST(1 AS bit)")
    ),
}


def label_expression(
    column: str | Sequence[str], threshold: float, labels: tuple[Any, Any], dialect: str
) -> str:
    """Return the expression for the label of a row."""
    return _case(column, dialect, labels, (threshold, threshold), [])


def zone_expression(
    column: str | Sequence[str],
    limits: tuple[float, float],
    labels: tuple[Any, Any],
    unsure: object,
    dialect: str,
) -> str:
    """Return the expression for the label of a row, with another one between two limits."""
    return _case(column, dialect, labels, limits, [unsure])


def group_expression(
    column: str | Sequence[str],
    by: str,
    cuts: Mapping[Any, float],
    common: float,
    labels: tuple[Any, Any],
    dialect: str,
) -> str:
    """Return the expression for the label of a row whose group has a threshold of its own."""
    otherwise = label_expression(column, common, labels, dialect)
    if not isinstance(by, str) or not by:
        raise InvalidInputError(f"`by` must be the name of a column, got {by!r}.")
    written = DIALECTS[dialect]
    name = written.name(_checked("by", by))
    cases = " ".join(
        f"WHEN {name} = {_literal(group, written)} "
        f"THEN {label_expression(column, cut, labels, dialect)}"
        for group, cut in cuts.items()
    )
    return f"CASE {cases} ELSE {otherwise} END"


def _case(
    column: str | Sequence[str],
    dialect: str,
    labels: tuple[Any, Any],
    limits: tuple[float, float],
    otherwise: list[object],
) -> str:
    """Return the label above the upper limit, up to the lower one, and otherwise."""
    if dialect not in DIALECTS:
        raise InvalidInputError(
            f"`dialect` must be one of {', '.join(DIALECTS)}, got {dialect!r}."
            f"{nearest_name(dialect, DIALECTS)} Use 'ansi' for other databases."
        )
    written = DIALECTS[dialect]
    parts = [column] if isinstance(column, str) else list(column)
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise InvalidInputError(
            f"`column` must be a name, or names such as ('table', 'score'), got {column!r}."
        )
    name = ".".join(written.name(_checked("column", part)) for part in parts)
    negative, positive = (_literal(label, written) for label in labels)
    # With an exponent a number is a double everywhere. An infinite limit is beyond every score.
    cases = [(f"> {limits[1]:.16E}", positive)] if math.isfinite(limits[1]) else []
    cases += [(f"<= {limits[0]:.16E}", negative)] if math.isfinite(limits[0]) else []
    cases += [
        ("IS NOT NULL", "NULL" if label is None else _literal(label, written))
        for label in otherwise
    ]
    nan = f"WHEN {written.is_nan.format(name)} THEN NULL " if written.is_nan else ""
    return f"CASE {nan}{' '.join(f'WHEN {name} {test} THEN {label}' for test, label in cases)} END"


def _literal(label: object, written: Dialect) -> str:
    """Return a label as the dialect writes it."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, bool):
        return written.booleans[label]
    if isinstance(label, int) or (isinstance(label, float) and math.isfinite(label)):
        return repr(label)
    if isinstance(label, str):
        return written.text(_checked("labels", label))
    raise InvalidInputError(
        f"Labels must be strings, finite numbers or booleans to be written in SQL, got {label!r}. "
        "Use boundary.threshold in an expression of your own."
    )


def _checked(what: str, text: str) -> str:
    """Return a text that databases can hold."""
    if re.search("[\x00\ud800-\udfff]", text):
        raise InvalidInputError(
            f"`{what}` must be text that databases can hold, got {text!r} with a NUL or half of a "
            "letter. Use boundary.threshold in an expression of your own."
        )
    return text
