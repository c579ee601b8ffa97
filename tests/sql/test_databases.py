"""Databases label scores as `predict` does, whatever the type of the column and the threshold."""

import warnings
from dataclasses import replace
from decimal import Decimal
from importlib.util import find_spec

import numpy as np
import pytest
import sqlglot

from boundshift import GroupBoundaries, find_boundary
from boundshift._result.sql import DIALECTS
from tests.sql import databases

BOUNDARY = find_boundary([0, 0, 0, 1, 1], [0.1, 0.7, 1.3, 4.1, 5.7], curve="empirical")
NAN = float("nan")
INFINITY = float("inf")
DATABASES = {
    "ansi": databases.sqlite,
    "sqlite": databases.sqlite,
    "duckdb": databases.duck,
    "polars": databases.polars_frame,
}
# ClickHouse as a library has half a gigabyte, so it is tested only where someone has it.
if find_spec("chdb") is not None:
    DATABASES["clickhouse"] = databases.clickhouse
# How sqlglot calls the dialects that it knows by another name.
PARSED_AS = {"ansi": "", "polars": "postgres", "sqlserver": "tsql"}


@pytest.fixture(scope="module")
def postgres():
    if not databases.has_postgres():
        pytest.skip("PostgreSQL is not installed.")
    server = databases.Postgres()
    yield server
    server.stop()


@pytest.fixture(params=[*DATABASES, "postgres"])
def database(request):
    """Return a dialect and its database."""
    if request.param == "postgres":
        return "postgres", request.getfixturevalue("postgres")
    return request.param, DATABASES[request.param]


def values_around(threshold, kind):
    """Return scores of a column's type that lie near the threshold, and special ones."""
    if kind == "decimal":
        step = Decimal("0.000001")
        nearest = Decimal(threshold).quantize(step)
        return [None, nearest - step, nearest, nearest + step, Decimal("0.000000")]
    dtype = np.dtype(np.float32 if kind == "float32" else np.float64).type
    with np.errstate(over="ignore", under="ignore"):
        nearest = dtype(threshold)
        near = [np.nextafter(nearest, dtype(-INFINITY)), nearest]
        near.append(np.nextafter(nearest, dtype(INFINITY)))
    return [None, NAN, -INFINITY, INFINITY, -0.0, 0.0, *map(float, near)]


def predict(boundary, values):
    """Return labels by Python, with None for scores that are missing."""
    is_missing = [value is None or value != value for value in values]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scores that look like probabilities
        labels = boundary.predict([0 if m else v for v, m in zip(values, is_missing, strict=True)])
    return [None if m else label for label, m in zip(labels.tolist(), is_missing, strict=True)]


def check(database, threshold, kind):
    dialect, run = database
    boundary = replace(BOUNDARY, threshold=threshold)
    values = values_around(threshold, kind)
    expression = boundary.to_sql("score", dialect=dialect)
    assert run(expression, kind, [(None, v) for v in values]) == predict(boundary, values)


@pytest.mark.parametrize("kind", databases.KINDS)
@pytest.mark.parametrize("threshold", [0.0, -0.0, 0.1, 0.3, 1 / 3, -2.7, 16777217.0, 123456.789])
def test_labels_are_those_of_predict(database, threshold, kind):
    check(database, threshold, kind)


@pytest.mark.parametrize("threshold", [5e-324, -2.3e-308, 1e-40, 1.7e290])
def test_labels_are_those_of_predict_at_the_ends_of_the_doubles(database, threshold):
    check(database, threshold, "double")


@pytest.mark.parametrize("kind", databases.KINDS)
def test_labels_are_those_of_predict_at_any_threshold(database, kind):
    """Many thresholds are tried in one query, each as the threshold of a group."""
    dialect, run = database
    rng = np.random.default_rng(0)
    thresholds = rng.normal(size=300) * 10.0 ** rng.integers(-12, 12, 300)
    if kind == "decimal":
        # Decimal scores that are equal to a threshold, which a double writes in another way.
        thresholds = rng.integers(-(10**11), 10**11, 300) / 1e6
    if kind == "float32":
        thresholds = thresholds.astype(np.float32).astype(float)
    boundaries = {
        f"{number}": replace(BOUNDARY, threshold=threshold)
        for number, threshold in enumerate(thresholds.tolist())
    }
    rows = []
    expected = []
    for group, boundary in boundaries.items():
        values = values_around(boundary.threshold, kind)
        rows += [(group, value) for value in values]
        expected += predict(boundary, values)
    groups = GroupBoundaries(boundaries, BOUNDARY, 20.0)
    assert run(groups.to_sql("score", "site", dialect=dialect), kind, rows) == expected


@pytest.fixture
def sites():
    """Return boundaries of groups that a careless comparison takes for each other."""
    thresholds = {"A": 1.0, "a": 2.0, "it's": 3.0, "Ж": 4.0, "": 5.0}
    boundaries = {site: replace(BOUNDARY, threshold=t) for site, t in thresholds.items()}
    return GroupBoundaries(boundaries, replace(BOUNDARY, threshold=3.5), 20.0)


def test_groups_are_labelled_as_predict_labels_them(database, sites):
    dialect, run = database
    rows = [
        (site, score)
        for site in ("A", "a", "it's", "Ж", "", "new", None)
        for score in (0.5, 1.0, 1.5, 2.5, 3.25, 3.75, 4.5, 9.0)
    ]
    by = np.array([site for site, _ in rows], dtype=object)
    expected = sites.predict([score for _, score in rows], by).tolist()
    expression = sites.to_sql("score", "site", dialect=dialect)
    assert run(expression, "double", rows) == expected
    assert run(expression, "double", [("a", None), ("a", NAN)]) == [None, None]


def test_groups_without_any_group_have_the_common_threshold(database):
    dialect, run = database
    expression = GroupBoundaries({}, BOUNDARY, 20.0).to_sql("score", "site", dialect=dialect)
    assert expression == BOUNDARY.to_sql("score", dialect=dialect)
    assert run(expression, "double", [("a", 9.0), (None, 0.0)]) == [1, 0]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("labels", [("no", "it's"), (0, 1), (False, True)])
def test_each_dialect_can_be_parsed(dialect, labels, sites):
    boundary = replace(BOUNDARY, labels=labels)
    common = replace(sites, common=boundary)
    for expression in (
        boundary.to_sql("score", dialect=dialect),
        boundary.to_sql(("table", "score"), dialect=dialect),
        common.to_sql("score", "site", dialect=dialect),
    ):
        parsed = sqlglot.parse_one(expression, read=PARSED_AS.get(dialect, dialect))
        assert isinstance(parsed, sqlglot.exp.Case)
        assert {column.name for column in parsed.find_all(sqlglot.exp.Column)} <= {"score", "site"}


@pytest.mark.parametrize("dialect", sorted({*DIALECTS} - {"sqlserver"}))
def test_each_dialect_means_the_same_to_duckdb(dialect):
    """Sqlglot translates an expression to a database that can be run."""
    read = PARSED_AS.get(dialect, dialect)
    expression = BOUNDARY.to_sql("score", dialect=dialect)
    translated = sqlglot.transpile(expression, read=read, write="duckdb")[0]
    values = [value for value in values_around(BOUNDARY.threshold, "double") if value == value]
    found = databases.duck(translated, "double", [(None, value) for value in values])
    assert found == predict(BOUNDARY, values)
