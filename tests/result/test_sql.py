"""The SQL expression says what predict says, whatever labels and columns are called."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import partial

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundshift import find_boundary

BOUNDARY = find_boundary([0, 0, 0, 1, 1], [0.1, 0.7, 1.3, 4.1, 5.7])
SCORES = [-1e300, 0.0, *np.nextafter(BOUNDARY.threshold, [-9, 9]), BOUNDARY.threshold, 1e300]
LABELS = ["it's", "'; drop table t; --", 'x"`]', "Ж😀", "", "%s $x"]
COLUMNS = ["score", "order", "null", "current_timestamp", "my score", 'a"b', "a`b", "a]b", "é"]


def run_on(connect, expression, column, scores):
    """Return the labels that a database gives to scores."""
    name = '"' + column.replace('"', '""') + '"'
    with closing(connect(":memory:")) as base:
        base.execute(f"create table t (row integer, {name} double)")
        base.executemany("insert into t values (?, ?)", list(enumerate(scores)))
        found = base.execute(f"select {expression} from t order by row").fetchall()
    return [label for (label,) in found]


run_sqlite = partial(run_on, sqlite3.connect)
run_duckdb = partial(run_on, duckdb.connect)
ENGINES = [
    pytest.param(run_sqlite, "sqlite", id="sqlite"),
    pytest.param(run_sqlite, "ansi", id="ansi"),
    pytest.param(run_duckdb, "duckdb", id="duckdb"),
]


@pytest.mark.parametrize(("run", "dialect"), ENGINES)
def test_hostile_labels_and_columns_come_back(run, dialect):
    for label in LABELS:
        boundary = replace(BOUNDARY, labels=("no", label))
        found = run(boundary.to_sql("s", dialect=dialect), "s", SCORES)
        assert found == boundary.predict(SCORES).tolist()
    for column in COLUMNS:
        found = run(BOUNDARY.to_sql(column, dialect=dialect), column, SCORES)
        assert found == BOUNDARY.predict(SCORES).tolist()


@given(
    label=st.text(st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters="\\$"))
)
@settings(max_examples=25, deadline=None)
def test_any_text_is_a_label(label):
    boundary = replace(BOUNDARY, labels=("~no~", label))
    for run, dialect in ((run_sqlite, "ansi"), (run_duckdb, "duckdb")):
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
    for threshold in rng.normal(size=30) * 10.0 ** rng.integers(-12, 12, 30):
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
        ("ansi", '"a`]"""', "'it''s'"),
        ("bigquery", '`a``]"`', "'it\\'s'"),
        ("duckdb", '"a`]"""', "'it''s'"),
        ("mysql", '`a``]"`', "'it''s'"),
        ("postgres", '"a`]"""', "'it''s'"),
        ("snowflake", '"a`]"""', "'it''s'"),
        ("spark", '`a``]"`', "'it\\'s'"),
        ("sqlite", '`a``]"`', "'it''s'"),
        ("sqlserver", '[a`]]"]', "N'it''s'"),
    ],
)
def test_each_dialect_quotes_as_its_manual_says(dialect, column, label):
    expression = replace(BOUNDARY, labels=(False, "it's")).to_sql('a`]"', dialect=dialect)
    assert f"WHEN {column} > " in expression
    assert f"THEN {label} WHEN" in expression
    assert expression.endswith(f"THEN {'CAST(0 AS bit)' if label[0] == 'N' else 'FALSE'} END")
