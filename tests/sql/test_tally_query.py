"""One query counts labelled scores in every database as NumPy does."""

import numpy as np
import pyarrow as pa
import pytest

from boundshift.streaming import GroupTallies, Tally, tally_sql
from boundshift.streaming._bins import bins_of
from tests.sql.test_databases import DATABASES, databases, postgres  # noqa: F401
from tests.streaming.test_groups import assert_same_tallies
from tests.streaming.test_tally import SCORES, draw

QUERIES = {"duckdb": databases.duck_rows, "clickhouse": databases.clickhouse_rows}


@pytest.fixture(params=["postgres", *sorted(DATABASES.keys() & QUERIES.keys())])
def run(request):
    """Return a dialect, and the function that runs a query in its database."""
    if request.param == "postgres":
        return "postgres", request.getfixturevalue("postgres").rows_of
    return request.param, QUERIES[request.param]


@pytest.mark.parametrize("weight", [None, "weight"])
def test_databases_count_as_numpy_does(run, weight):
    dialect, rows_of = run
    y, s = map(np.concatenate, zip(*(draw(300, kind=kind) for kind in SCORES), strict=True))
    w = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 1e6], len(y))
    query = tally_sql("label", "score", "{table}", weight=weight, dialect=dialect)
    rows = list(zip(y.tolist(), s.tolist(), w.tolist(), strict=True))
    found = Tally.from_frame(pa.Table.from_pylist(rows_of(query, rows)))
    assert found.is_weighted == (weight is not None)
    for label, tally in found.classes.items():
        is_own = (y == label) & ((w > 0) | (weight is None))
        bins, place = np.unique(bins_of(s[is_own]), return_inverse=True)
        tally = tally.take(np.argsort(tally.bin))
        np.testing.assert_array_equal(tally.bin, bins)
        np.testing.assert_array_equal(tally.rows, np.bincount(place))
        amount = w[is_own] if weight else None
        np.testing.assert_allclose(tally.weight, np.bincount(place, amount), rtol=1e-12)
        for k in range(0, len(bins), 50):
            inside = s[is_own][place == k]
            assert (tally.low[k], tally.high[k]) == (inside.min(), inside.max())
            mean = np.average(inside, weights=amount[place == k] if weight else None)
            assert tally.mean[k] == pytest.approx(mean, rel=1e-9)


def test_databases_count_by_group(run):
    dialect, rows_of = run
    y, s = draw(2_000)
    site = np.random.default_rng(0).choice([1.5, 2.5], len(y))
    query = tally_sql("label", "score", "{table}", by="weight", dialect=dialect)
    rows = list(zip(y.tolist(), s.tolist(), site.tolist(), strict=True))
    found = GroupTallies.from_frame(pa.Table.from_pylist(rows_of(query, rows)))
    assert_same_tallies(found, y, s, site)
