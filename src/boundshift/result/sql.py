"""A boundary as an SQL expression, in the dialect of the database that will run it.

Names are always quoted: a bare `order`, `null` or `current_timestamp` is no column to a database.
What a label may do to the text around it depends on the dialect: a backslash is a letter in
standard SQL and escapes the next letter in Spark, MySQL, BigQuery and Snowflake.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from boundshift.exceptions import InvalidInputError
from boundshift.validation import nearest_name

__all__ = ["DIALECTS", "group_expression", "label_expression", "zone_expression"]


def _doubled(opening: str, closing: str) -> Callable[[str], str]:
    """Return what quotes a name in which the closing quote is doubled."""
    return lambda name: opening + name.replace(closing, closing * 2) + closing


def _standard_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _postgres_text(text: str) -> str:
    # Whether '\' escapes depends on a setting of the server, but not in an E string.
    quoted = _standard_text(text.replace("\\", "\\\\"))
    return f"E{quoted}" if "\\" in text else quoted


def _mysql_text(text: str) -> str:
    # Whether '\' escapes depends on the mode of the session, but not in hexadecimal digits.
    if "\\" in text:
        return f"_utf8mb4 X'{text.encode().hex().upper()}'"
    return _standard_text(text)


def _snowflake_text(text: str) -> str:
    return _standard_text(text.replace("\\", "\\\\"))


def _spark_text(text: str) -> str:
    # '' was no quote before Spark 4, and ${name} would be replaced by a setting of the session.
    text = text.replace("\\", "\\\\").replace("'", "\\'").replace("$", "\\u0024")
    return f"'{text}'"


def _bigquery_text(text: str) -> str:
    return "'" + _bigquery_escaped(text, "'") + "'"


def _bigquery_name(name: str) -> str:
    return "`" + _bigquery_escaped(name, "`") + "`"


def _bigquery_escaped(text: str, quote: str) -> str:
    """Escape by backslashes; a quoted text must not go on to the next line."""
    text = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
    return text.replace("\n", "\\n").replace("\r", "\\r")


def _spark_name(name: str) -> str:
    if "${" in name:
        raise InvalidInputError(
            "`column` must not hold '${' for Spark, which puts a setting of the session in its "
            f"place, got {name!r}. Rename the column, or use boundary.predict on it."
        )
    return _doubled("`", "`")(name)


def _sqlserver_text(text: str) -> str:
    # Without the N, letters outside of the database's code page would become question marks.
    return "N" + _standard_text(text)


class Dialect(NamedTuple):
    """How a database writes names, texts and truth, and how it is asked for NaN.

    Parameters
    ----------
    name, text : callables
        From a column's name and from a label to what stands in the expression.
    is_nan : str, default=None
        Condition, with {} for the column, that a score is NaN, for databases that hold NaN to be
        above every number.
    booleans : tuple of str, default=("FALSE", "TRUE")
        The two.
    """

    name: Callable[[str], str] = _doubled('"', '"')
    text: Callable[[str], str] = _standard_text
    is_nan: str | None = None
    booleans: tuple[str, str] = ("FALSE", "TRUE")


DIALECTS = {
    "ansi": Dialect(),
    "bigquery": Dialect(_bigquery_name, _bigquery_text),
    "duckdb": Dialect(is_nan="isnan({})"),
    "mysql": Dialect(_doubled("`", "`"), _mysql_text),
    "postgres": Dialect(text=_postgres_text, is_nan="{} = CAST('NaN' AS double precision)"),
    "snowflake": Dialect(text=_snowflake_text, is_nan="{} = CAST('NaN' AS double precision)"),
    "spark": Dialect(_spark_name, _spark_text, "isnan({})"),
    # A name in double quotes that is no column is a text to SQLite, and above every number.
    "sqlite": Dialect(_doubled("`", "`")),
    "sqlserver": Dialect(
        _doubled("[", "]"), _sqlserver_text, booleans=("CAST(0 AS bit)", "CAST(1 AS bit)")
    ),
}


def label_expression(
    column: str | Sequence[str], threshold: float, labels: tuple[Any, Any], dialect: str
) -> str:
    """Return the expression for the label of a row."""
    written, name = _read_names(column, dialect)
    negative, positive = (_literal(label, written) for label in labels)
    cut = _number(threshold)
    return _case(written, name, [(f"> {cut}", positive), (f"<= {cut}", negative)])


def zone_expression(
    column: str | Sequence[str],
    limits: tuple[float, float],
    labels: tuple[Any, Any],
    unsure: object,
    dialect: str,
) -> str:
    """Return the expression for the label of a row, with another one between two limits."""
    written, name = _read_names(column, dialect)
    negative, positive = (_literal(label, written) for label in labels)
    between = "NULL" if unsure is None else _literal(unsure, written)
    # A limit that is infinite is beyond every score.
    cases = [(f"> {_number(limits[1])}", positive)] if math.isfinite(limits[1]) else []
    cases += [(f"<= {_number(limits[0])}", negative)] if math.isfinite(limits[0]) else []
    return _case(written, name, [*cases, ("IS NOT NULL", between)])


def _read_names(column: str | Sequence[str], dialect: str) -> tuple[Dialect, str]:
    """Return the dialect, and the name of the column as it writes it."""
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
    return written, ".".join(written.name(_checked("column", part)) for part in parts)


def _case(written: Dialect, name: str, cases: Sequence[tuple[str, str]]) -> str:
    """Return the first label whose condition a score meets, NULL for a row without a score."""
    without = f"WHEN {written.is_nan.format(name)} THEN NULL " if written.is_nan else ""
    return f"CASE {without}{' '.join(f'WHEN {name} {is_so} THEN {x}' for is_so, x in cases)} END"


def _number(value: float) -> str:
    # With an exponent it is a double everywhere, not a decimal.
    return f"{value:.16E}"


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
    written = DIALECTS[dialect]
    if not isinstance(by, str) or not by:
        raise InvalidInputError(f"`by` must be the name of a column, got {by!r}.")
    name = written.name(_checked("by", by))
    cases = " ".join(
        f"WHEN {name} = {_literal(group, written)} "
        f"THEN {label_expression(column, cut, labels, dialect)}"
        for group, cut in cuts.items()
    )
    return f"CASE {cases} ELSE {otherwise} END"


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
