"""A boundary as an SQL expression, in the dialect of the database that will run it.

Names are always quoted: a bare `order` or `null` is not a column for a database. Backslashes and
control characters are refused, because their meaning differs between databases, and even between
settings of one database.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from boundshift._validation import nearest_name
from boundshift.exceptions import InvalidInputError


@dataclass(frozen=True)
class Dialect:
    """How a database writes names, texts, numbers and truth values, and how it tests for NaN."""

    quotes: tuple[str, str] = ('"', '"')
    """Around a name; the closing one is doubled inside."""
    apostrophe: str = "''"
    """Inside a text."""
    prefix: str = ""
    """Of a text."""
    double: str = "{}"
    """A double from its digits. They have an exponent, which makes them a double in most dialects.
    In others they are an exact decimal, and a decimal score would be compared with all of its
    digits, unlike the double that `predict` compares."""
    is_nan: str = ""
    """Whether a column is NaN, for databases in which NaN is above every number."""
    booleans: tuple[str, str] = ("FALSE", "TRUE")
    exact_text: str = "{}"
    """A column of texts that is compared letter by letter; some databases ignore the case."""


_DOUBLE = "CAST('{}' AS double precision)"
_EQUALS_NAN = "{} = CAST('NaN' AS double precision)"
# '' was not a quote before Spark 4.
_SPARK = Dialect(("`", "`"), "\\'", is_nan="isnan({})")
DIALECTS = {
    "ansi": Dialect(),
    "bigquery": Dialect(("`", "`"), "\\'"),
    "clickhouse": Dialect(),
    "databricks": _SPARK,
    "duckdb": Dialect(is_nan="isnan({})"),
    "mysql": Dialect(("`", "`"), exact_text="CAST(CONVERT({} USING utf8mb4) AS BINARY)"),
    "polars": Dialect(double=_DOUBLE, is_nan=_EQUALS_NAN),
    "postgres": Dialect(double=_DOUBLE, is_nan=_EQUALS_NAN),
    "snowflake": Dialect(double=_DOUBLE, is_nan=_EQUALS_NAN),
    "spark": _SPARK,
    # SQLite takes a name in double quotes that is no column for a text, above every number.
    "sqlite": Dialect(("`", "`")),
    # Without the N, letters outside of the database's code page would become question marks.
    "sqlserver": Dialect(
        ("[", "]"),
        prefix="N",
        booleans=("CAST(0 AS bit)", "CAST(1 AS bit)"),
        exact_text="{} COLLATE Latin1_General_BIN2",
    ),
    "trino": Dialect(is_nan="is_nan({})"),
}


def label_expression(
    column: str | Sequence[str],
    limits: tuple[float, float],
    labels: tuple[object, object],
    dialect: str,
    *between: object,
) -> str:
    """Return the positive label above the upper limit, the negative one up to the lower limit.

    A label `between` is for scores between the limits, None for NULL.
    """
    written = _find_dialect(dialect)
    name = _quote_name("column", column, written)
    # An infinite limit is beyond every score.
    low, high = (
        _write_double(limit, written) if math.isfinite(limit) else None for limit in limits
    )
    return _case(name, low, high, labels, written, *between)


def group_expression(
    column: str | Sequence[str],
    by: str | Sequence[str],
    thresholds: Mapping[object, float],
    common: float,
    labels: tuple[object, object],
    dialect: str,
) -> str:
    """Return the label by the threshold of the row's group, the common one for other groups."""
    written = _find_dialect(dialect)
    name = _quote_name("column", column, written)
    group = _quote_name("by", by, written)
    if any(isinstance(key, str) for key in thresholds):
        group = written.exact_text.format(group)
    threshold = _write_double(common, written)
    if thresholds:
        cases = " ".join(
            f"WHEN {_literal(key, written)} THEN {_write_double(value, written)}"
            for key, value in thresholds.items()
        )
        threshold = f"CASE {group} {cases} ELSE {threshold} END"
    return _case(name, threshold, threshold, labels, written)


def _case(
    name: str,
    low: str | None,
    high: str | None,
    labels: tuple[object, object],
    written: Dialect,
    *between: object,
) -> str:
    """Return the label of a score, given limits as they are written."""
    negative, positive = (_literal(label, written) for label in labels)
    cases = []
    if written.is_nan:
        cases.append(f"WHEN {written.is_nan.format(name)} THEN NULL")
    if high is not None:
        cases.append(f"WHEN {name} > {high} THEN {positive}")
    if low is not None:
        cases.append(f"WHEN {name} <= {low} THEN {negative}")
    for label in between:
        text = "NULL" if label is None else _literal(label, written)
        cases.append(f"WHEN {name} IS NOT NULL THEN {text}")
    return f"CASE {' '.join(cases)} END"


def _find_dialect(dialect: str) -> Dialect:
    if dialect not in DIALECTS:
        raise InvalidInputError(
            f"must be one of {', '.join(DIALECTS)}, got {dialect!r}."
            f"{nearest_name(dialect, DIALECTS)} Use 'ansi' for other databases.",
            argument="dialect",
        )
    return DIALECTS[dialect]


def _quote_name(argument: str, column: str | Sequence[str], written: Dialect) -> str:
    parts = [column] if isinstance(column, str) else [*column]
    if not parts or not all(isinstance(part, str) and part for part in parts):
        raise InvalidInputError(
            f"must be a name, such as 'score' or ('table', 'score'), got {column!r}.",
            argument=argument,
        )
    opening, closing = written.quotes
    return ".".join(
        opening + _check_text(argument, part).replace(closing, closing * 2) + closing
        for part in parts
    )


def _write_double(number: float, written: Dialect) -> str:
    """Return a finite number to its last digit."""
    return written.double.format(f"{number:.16E}")


def _literal(label: object, written: Dialect) -> str:
    """Return a label or a group as the dialect writes it."""
    label = label.item() if isinstance(label, np.generic) else label
    if isinstance(label, bool):
        return written.booleans[label]
    if isinstance(label, int) or (isinstance(label, float) and math.isfinite(label)):
        return repr(label)
    if isinstance(label, str):
        text = _check_text("labels", label).replace("'", written.apostrophe)
        return f"{written.prefix}'{text}'"
    raise InvalidInputError(
        "Labels and groups must be strings, finite numbers or booleans to be written in SQL, got "
        f"{label!r}. Use boundary.threshold in an expression of your own."
    )


def _check_text(argument: str, text: str) -> str:
    """Return a text that every database reads alike."""
    if re.search(r"[\x00-\x1f\\\ud800-\udfff]|\$\{", text):
        raise InvalidInputError(
            f"must be text without backslashes, control characters and '${{', which "
            f"databases read differently, got {text!r}. Use boundary.threshold in an expression "
            "of your own.",
            argument=argument,
        )
    return text
