"""The SQL expression says what predict says, whatever labels and columns are called."""

import sqlite3
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundshift import InvalidInputError, find_boundary

BOUNDARY = find_boundary([0, 0, 0, 1, 1], [0.1, 0.7, 1.3, 4.1, 5.7])
SCORES = [-1e300, 0.0, *np.nextafter(BOUNDARY.threshold, [-9, 9]), BOUNDARY.threshold, 1e300]
LABELS = [
    "it's",
    "\\",
    "\\' OR 1=1 --",
    "'; drop table t; --",
    'x"`]',
    "Ж😀",
    "a\nb",
    "",
    "%s ${x}",
]
COLUMNS = [
    "score",
    "order",
    "null",
    "current_timestamp",
    "my score",
    'a"b',
    "a`b",
    "a]b",
    "a\\",
    "é",
]


def run_on(base, expression, column, scores):
    name = '"' + column.replace('"', '""') + '"'
    base.execute(f"create table t (row integer, {name} double)")
    base.executemany("insert into t values (?, ?)", list(enumerate(scores)))
    rows = base.execute(f"select {expression} from t order by row").fetchall()
    base.close()
    return [row[0] for row in rows]


def run_sqlite(*asked):
    return run_on(sqlite3.connect(":memory:"), *asked)


def run_duckdb(*asked):
    return run_on(duckdb.connect(), *asked)


ENGINES = [(run_sqlite, "sqlite"), (run_sqlite, "ansi"), (run_duckdb, "duckdb")]


@pytest.mark.parametrize(("run", "dialect"), ENGINES)
@pytest.mark.parametrize("label", LABELS)
def test_hostile_labels_come_back_as_they_are(run, dialect, label):
    boundary = replace(BOUNDARY, labels=("no", label))
    found = run(boundary.to_sql("s", dialect=dialect), "s", SCORES)
    assert found == boundary.predict(SCORES).tolist()


@pytest.mark.parametrize(("run", "dialect"), ENGINES)
@pytest.mark.parametrize("column", COLUMNS)
def test_hostile_columns_are_columns(run, dialect, column):
    found = run(BOUNDARY.to_sql(column, dialect=dialect), column, SCORES)
    assert found == BOUNDARY.predict(SCORES).tolist()


@given(label=st.text(st.characters(codec="utf-8", exclude_characters="\0")))
@settings(max_examples=50, deadline=None)
def test_any_text_is_a_label(label):
    boundary = replace(BOUNDARY, labels=("~no~", label))
    for run, dialect in ENGINES[1:]:
        assert run(boundary.to_sql("s", dialect=dialect), "s", [9.0]) == [label]


@pytest.mark.parametrize(("run", "dialect"), ENGINES)
@pytest.mark.parametrize(
    "labels",
    [(np.float64(0.0), np.float64(1.0)), (np.int64(-1), np.int64(1)), (False, True), (1e22, 2e-7)],
)
def test_labels_of_numpy_are_plain(run, dialect, labels):
    expression = replace(BOUNDARY, labels=labels).to_sql("s", dialect=dialect)
    assert "np." not in expression
    assert run(expression, "s", [0.0, 9.0]) == list(labels)


@pytest.mark.parametrize(("run", "dialect"), ENGINES)
def test_a_row_without_a_score_gets_no_label(run, dialect):
    expression = BOUNDARY.to_sql("s", dialect=dialect)
    assert run(expression, "s", [None, float("nan"), 9.0]) == [None, None, 1]


@pytest.mark.parametrize(("run", "dialect"), ENGINES)
def test_the_threshold_keeps_its_last_digit(run, dialect):
    rng = np.random.default_rng(0)
    for threshold in rng.normal(size=100) * 10.0 ** rng.integers(-12, 12, 100):
        boundary = replace(BOUNDARY, threshold=float(threshold))
        scores = [np.nextafter(threshold, -np.inf), threshold, np.nextafter(threshold, np.inf)]
        found = run(boundary.to_sql("s", dialect=dialect), "s", [float(s) for s in scores])
        assert found == [0, 0, 1]


def test_a_column_that_is_not_there_is_no_text_to_sqlite():
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        run_sqlite(BOUNDARY.to_sql("typo", dialect="sqlite"), "score", [0.0])


def test_a_column_may_be_named_with_its_table():
    assert run_sqlite(BOUNDARY.to_sql(("t", "s")), "s", [9.0]) == [1]
    assert '"t.s"' in BOUNDARY.to_sql("t.s")


@pytest.mark.parametrize(
    ("dialect", "column", "label"),
    [
        ("ansi", '"a`]""\\"', "'\\''${x}'"),
        ("bigquery", '`a\\`]"\\\\`', "'\\\\\\'${x}'"),
        ("duckdb", '"a`]""\\"', "'\\''${x}'"),
        ("mysql", '`a``]"\\`', "_utf8mb4 X'5C27247B787D'"),
        ("postgres", '"a`]""\\"', "E'\\\\''${x}'"),
        ("snowflake", '"a`]""\\"', "'\\\\''${x}'"),
        ("spark", '`a``]"\\`', "'\\\\\\'\\u0024{x}'"),
        ("sqlite", '`a``]"\\`', "'\\''${x}'"),
        ("sqlserver", '[a`]]"\\]', "N'\\''${x}'"),
    ],
)
def test_each_dialect_escapes_as_its_manual_says(dialect, column, label):
    expression = replace(BOUNDARY, labels=("no", "\\'${x}")).to_sql('a`]"\\', dialect=dialect)
    assert f"WHEN {column} > " in expression
    assert f"THEN {label} WHEN" in expression


def test_truth_is_a_bit_in_sqlserver():
    expression = replace(BOUNDARY, labels=(False, True)).to_sql("s", dialect="sqlserver")
    assert expression.endswith("THEN CAST(0 AS bit) END")


@pytest.mark.parametrize(
    ("labels", "column", "dialect", "message"),
    [
        ((0, 1), "s", "orcale", "`dialect` must be one of"),
        ((0, 1), "", "ansi", "`column` must be a name"),
        ((0, 1), (), "ansi", "`column` must be a name"),
        ((0, 1), "a\0b", "ansi", "`column` must be text"),
        ((0, 1), "${x}", "spark", "Rename the column"),
        ((0, float("inf")), "s", "ansi", "Labels must be strings, finite numbers"),
        (("a", "b\0"), "s", "ansi", "`labels` must be text"),
        ((np.datetime64("2020"), np.datetime64("2021")), "s", "ansi", "written in SQL"),
    ],
)
def test_what_cannot_be_written_is_refused(labels, column, dialect, message):
    with pytest.raises(InvalidInputError, match=message):
        replace(BOUNDARY, labels=labels).to_sql(column, dialect=dialect)
