"""A zone decides in SQL as it does in Python."""

import math
import sqlite3

import duckdb
import numpy as np
import pytest

from boundshift._guarantees.zone import find_zone


def draw(rng, n, p, gap):
    y = np.repeat([0, 1], [n, p])
    return y, rng.normal(size=n + p) + gap * y


@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
@pytest.mark.parametrize("rows", [30, 200], ids=["open", "closed"])
@pytest.mark.parametrize("unsure", [-1, None])
def test_sql_says_what_predict_says(dialect, rows, unsure):
    zone = find_zone(*draw(np.random.default_rng(6), 300, rows, 2.0))
    ends = [e for e in (zone.low, zone.high) if math.isfinite(e)]
    scores = [-9.0, 9.0, 1.0, *ends, *np.nextafter(ends, -np.inf), *np.nextafter(ends, np.inf)]
    connection = sqlite3.connect(":memory:") if dialect == "sqlite" else duckdb.connect()
    connection.execute("CREATE TABLE t (i INTEGER, s DOUBLE PRECISION)")
    for i, score in enumerate([*map(float, scores), None]):
        connection.execute("INSERT INTO t VALUES (?, ?)", (i, score))
    query = f"SELECT {zone.to_sql('s', unsure, dialect=dialect)} FROM t ORDER BY i"
    found = [row[0] for row in connection.execute(query).fetchall()]
    assert found == [*zone.predict(scores, unsure).tolist(), None]
