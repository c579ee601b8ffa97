"""Counting in SQL: one query that any engine can run, and what its result means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from boundshift.streaming._bins import (
    BAD_WEIGHT_BIN,
    BIN_BITS,
    INFINITE_BIN,
    MISSING_BIN,
    bin_columns,
)
from boundshift.streaming._count import PassRequest
from boundshift.streaming._read import as_chunk, as_labels, encode_groups
from boundshift.streaming._tally import ClassTally, Column, Counts

if TYPE_CHECKING:
    import pyarrow as pa


class Words(NamedTuple):
    """What a dialect calls doubles and integers of 64 bits, and what encloses a name."""

    double: str = "DOUBLE"
    integer: str = "BIGINT"
    quote: str = '"'


DIALECTS: Mapping[str, Words] = {
    "ansi": Words("DOUBLE PRECISION"),
    "bigquery": Words("FLOAT64", "INT64", "`"),
    "clickhouse": Words("Nullable(Float64)", "Nullable(Int64)"),
    "databricks": Words(quote="`"),
    "duckdb": Words(),
    "postgres": Words("DOUBLE PRECISION"),
    "snowflake": Words(),
    "spark": Words(quote="`"),
    "trino": Words(),
}


def quote_name(name: str, dialect: str) -> str:
    """Return the name of a column as the dialect writes it."""
    quote = DIALECTS[dialect].quote
    return quote + name.replace(quote, 2 * quote) + quote


_FAULTS = {
    MISSING_BIN: ("y_score", "NaN"),
    INFINITE_BIN: ("y_score", "infinite or larger"),
    BAD_WEIGHT_BIN: ("sample_weight", "a weight below 0, missing or infinite"),
}


def count_query(request: PassRequest, columns: Mapping[str, str], table: str, dialect: str) -> str:
    """Return the query that counts what a pass asks for.

    `columns` are the label, the score and, if rows have some, the weight and the group (`by`), as
    the dialect writes them. The result has a row for each label and bin that holds rows.
    """
    words = DIALECTS[dialect]
    numbers = [
        f"CAST({columns[name]} AS {words.double}) AS {name}"
        for name in ("score", "weight")
        if name in columns
    ]
    keys = {"label": columns["label"]}
    if "by" in columns:
        keys["group_name"] = columns["by"]
    names = [f"{column} AS {name}" for name, column in keys.items()]
    query = f"SELECT {', '.join(names + numbers)} FROM {table}"
    # Every step is a query of the step before, which adds a column.
    for name, expression in _steps(request, words).items():
        query = f"SELECT step.*, {expression} AS {name} FROM ({query}) step"
    # ClickHouse would take a bare name for the amount of that name.
    tests = [] if request.ranges is None else ["step.part IS NOT NULL"]
    amounts = {"n_rows": "COUNT(*)", "low": "MIN(step.score)", "high": "MAX(step.score)"}
    bins = "step.bin"
    if "weight" in columns:
        tests.append("(step.weight IS NULL OR step.weight <> 0)")
        amounts["mean"] = "SUM(step.weight * step.distance) / SUM(step.weight)"
        amounts["weight"] = "SUM(step.weight)"
        amounts["squares"] = "SUM(step.weight * step.weight)"
        bins = f"CASE WHEN step.weight BETWEEN 0 AND 1E290 THEN {bins} ELSE {BAD_WEIGHT_BIN} END"
    else:
        amounts["mean"] = "AVG(step.distance)"
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    selected = ", ".join(f"{expression} AS {name}" for name, expression in amounts.items())
    key_names = ", ".join(f"step.{name} AS {name}" for name in keys)
    by = ", ".join(f"step.{name}" for name in keys)
    return (
        f"SELECT {key_names}, step.part AS part, {bins} AS bin, {selected} "
        f"FROM ({query}) step{where} GROUP BY {by}, step.part, {bins}"
    )


def _steps(request: PassRequest, words: Words) -> dict[str, str]:
    """Return the part, the distance and the bin of a row, each in terms of those before it."""
    ranges = request.ranges
    if ranges is None:
        above = [f"CASE WHEN score > {_number(cut)} THEN 1 ELSE 0 END" for cut in request.cuts]
        part = {"part": " + ".join(above) or "0", "distance": "score"}
        return part | bin_columns("distance", words.double, words.integer)
    inside = [
        f"WHEN score BETWEEN {_number(low)} AND {_number(high)} THEN "
        for low, high in zip(ranges.lows, ranges.highs, strict=True)
    ]
    part = {"part": _cases(inside, range(len(inside)))}
    if ranges.origins is None:
        return part | {"distance": "score", "bin": "score"}
    origin = _cases(inside, [_number(origin) for origin in ranges.origins])
    part["distance"] = f"score - {origin}"
    return part | bin_columns("distance", words.double, words.integer)


def _cases(tests: list[str], values: Iterable[object]) -> str:
    cases = " ".join(f"{test}{value}" for test, value in zip(tests, values, strict=True))
    return f"CASE {cases} END"


def _number(value: float) -> str:
    """Return a double with all of its digits; with an exponent it is a double in every dialect."""
    return f"{value:.17E}"


def counts_of(table: pa.Table, request: PassRequest, location: str) -> Counts:
    """Return the counts of an Arrow table that the query of a pass gave."""
    counts = Counts(is_weighted="weight" in table.column_names)
    labels = as_labels(table["label"], "label", location)
    entries = as_chunk({"label": labels, "score": table["low"]}, location)
    columns = {
        name: np.asarray(table[name].to_numpy())
        for name in table.column_names
        if name not in ("label", "group_name")
    }
    rows = columns["n_rows"].astype(np.int64)
    bins = columns["bin"]
    for bin_of_faults, (column, kind) in _FAULTS.items():
        counts.add_fault(column, kind, location, rows[bins == bin_of_faults].sum())
    if "group_name" in table.column_names:
        codes, names = encode_groups(as_labels(table["group_name"], "group_name", location))
        columns["part"] = counts.number_groups(codes, names)
        counts.add_fault("by", "missing", location, rows[codes < 0].sum())
    present, _ = entries.distinct()
    is_labelled = np.zeros(len(rows), dtype=np.bool_)
    for label in present:
        is_own = entries.has(label)
        is_labelled |= is_own
        is_good = is_own & ~np.isin(bins, [*_FAULTS])
        own = {name: values[is_good] for name, values in columns.items()}
        counts.add(label, _class_tally(own, request))
    counts.add_fault("y_true", "missing", location, rows[~is_labelled].sum())
    return counts


def _class_tally(columns: Mapping[str, Column], request: PassRequest) -> ClassTally:
    part = columns["part"].astype(np.int64)
    bins = columns["bin"]
    mean = columns["mean"].astype(np.float64)
    if request.ranges is not None and request.ranges.origins is not None:
        mean = request.ranges.origins[part] + mean
    if request.ranges is not None and request.ranges.origins is None:
        bins = bins.astype(np.float64).view(np.int64)
    else:
        bins = (part << BIN_BITS) + bins.astype(np.int64)
    low = columns["low"].astype(np.float64)
    high = columns["high"].astype(np.float64)
    rows = columns["n_rows"].astype(np.int64)
    weight = columns.get("weight", rows).astype(np.float64)
    squares = columns.get("squares", rows).astype(np.float64)
    return ClassTally(bins, rows, weight, squares, np.clip(mean, low, high), low, high)
