"""DuckDB: relations, read in batches."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from boundshift import InvalidInputError, find_boundary, streaming
from tests.streaming.suite import (
    EngineSuite,
    assert_refused_without_scores,
    assert_same_boundary,
    parts_of,
    problem,
)
from tests.streaming.test_local import table_of


@pytest.fixture
def connection():
    """Return a database in memory."""
    with duckdb.connect() as connection:
        yield connection


def relation_of(connection, parts):
    """Return all parts as a table of the database."""
    rows = table_of(parts)
    connection.register("arrow_rows", rows)
    connection.execute("CREATE OR REPLACE TABLE scores AS SELECT * FROM arrow_rows")
    return connection.table("scores")


class TestRelation(EngineSuite):
    second = "the relation"

    @pytest.fixture
    def frame(self, connection):
        return lambda parts: relation_of(connection, parts)


@pytest.mark.tool(
    "DuckDB",
    'streaming.scan_boundary(connection.sql(query), label="ill", score="margin")',
)
def test_a_query_over_files_is_a_relation(connection, tmp_path):
    y, s = problem()
    for i, part in enumerate(parts_of(y, s, [1000, 2000])):
        pa.parquet.write_table(table_of([part]), tmp_path / f"part-{i}.parquet")
    query = f"SELECT label = 1 AS ill, score * 2 AS margin FROM '{tmp_path}/*.parquet'"
    found = streaming.scan_boundary(connection.sql(query), label="ill", score="margin")
    assert_same_boundary(found, y == 1, 2 * s)
    certificate = streaming.scan_certificate(
        connection.sql(query), found, label="ill", score="margin"
    )
    assert sum(certificate.n_samples) == len(y)


def test_scores_whose_squares_no_double_holds(connection):
    y, s = problem()
    s = np.where(y == 1, s + 3, s) * 1e200
    s[:10000:100] *= 1e3
    assert_same_boundary(streaming.scan_boundary(relation_of(connection, [(y, s)])), y, s)


def test_rows_drawn_anew_in_each_pass_are_noticed(connection):
    query = "SELECT i % 2 AS label, random() + i % 2 AS score FROM range(20000) t(i)"
    with pytest.raises(InvalidInputError, match="must be the same in every pass"):
        streaming.scan_boundary(connection.sql(query), curve="kth-point")


def test_names_are_names_whatever_they_hold(connection):
    y, s = problem()
    connection.register("arrow_rows", pa.table({"a.b": y, 'x"y; --': s}))
    found = streaming.scan_boundary(
        connection.table("arrow_rows"), label="a.b", score='x"y; --', curve="kth-point"
    )
    assert_same_boundary(found, y, s, curve="kth-point")


def test_what_is_no_relation_of_scores_is_refused(connection):
    y, s = problem()
    relation = relation_of(connection, [(y, s)])
    words = relation.select("label, score::VARCHAR AS score")
    assert_refused_without_scores(relation, words, "varchar")
    with pytest.raises(InvalidInputError, match="must be a relation, got a DuckDB"):
        streaming.scan_boundary(connection)


@pytest.mark.parametrize("label", ["it's", "\\", "a\nb", 'x"`]', "Ж😀"])
def test_expressions_and_relations_get_the_labels_of_predict(connection, label):
    y, s = problem()
    boundary = find_boundary(np.where(y == 1, label, "no"), s, pos_label=label)
    s = np.append(s[:50], boundary.threshold)
    expected = [*boundary.predict(s).tolist(), None, None]
    scores = pa.table({"score": pa.array([*s, np.nan, None], from_pandas=False)})
    connection.register("given", scores)
    relation = connection.table("given")
    labelled = relation.select(boundary.predict(duckdb.ColumnExpression("score")).alias("label"))
    assert [row[0] for row in labelled.fetchall()] == expected
    answer = boundary.predict(relation)
    assert type(answer) is type(relation)
    assert answer.columns == ["score"]
    assert [row[0] for row in answer.fetchall()] == expected
    sql = boundary.to_sql("score", dialect="duckdb")
    assert [row[0] for row in relation.select(sql).fetchall()] == expected
    with pytest.raises(InvalidInputError, match="relation with one column"):
        boundary.predict(relation.select("score, score AS other"))
