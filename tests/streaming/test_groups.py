"""Tallies of groups: counted by engines, added, stored, and decided on as in memory."""

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dask.distributed import Client, LocalCluster
from pyarrow import csv, parquet

from boundshift import InvalidInputError, certify, find_boundaries
from boundshift.rules import Cost, Floors
from boundshift.streaming import GroupTallies, Tally, tally_sql

pytestmark = pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")


def draw(n=4000, seed=0, kind="normal"):
    """Return labels, scores and groups of very different sizes, one of them with one class."""
    rng = np.random.default_rng(seed)
    site = rng.choice(["north", "south", "tiny"], n, p=[0.6, 0.37, 0.03])
    y = (rng.random(n) < 0.2).astype(np.int64)
    s = rng.normal(size=n) + 2.0 * y + 0.5 * (site == "south")
    if kind == "probabilities":
        s = 1 / (1 + np.exp(-s))
    if kind == "ties":
        s = s.round(1)
    site[y == 0] = np.where(rng.random(np.sum(y == 0)) < 0.01, "quiet", site[y == 0])
    return y, s, site


def table_of(y, s, site):
    return pa.table({"label": y, "score": s, "site": site})


ENGINES = {
    "arrow": lambda table, path: table,
    "pandas": lambda table, path: table.to_pandas(),
    "polars": lambda table, path: pl.from_arrow(table),
    "duckdb": lambda table, path: duckdb.from_arrow(table),
    "parquet": lambda table, path: parquet.write_table(table, path, row_group_size=700) or path,
    "csv": lambda table, path: csv.write_csv(table, path) or path,
    "dask": lambda table, path: dd.from_pandas(table.to_pandas(), npartitions=5),
}


def assert_same_tallies(tallies, y, s, site):
    assert set(tallies) == set(site.tolist())
    for name, tally in tallies.items():
        own = site == name
        expected = Tally.of([(y[own], s[own])])
        assert tally.n_rows == expected.n_rows
        thresholds = np.quantile(s[own], [0.1, 0.5, 0.9])
        is_inside = tally._bins(1).are_inside(thresholds) if len(tally.classes) == 2 else True
        for threshold in thresholds[~np.asarray(is_inside)]:
            assert tally.certify(threshold).wrong == certify(y[own], s[own], threshold).wrong


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("groups", ["words", "numbers", "categories"])
def test_each_group_has_the_tally_of_its_rows(engine, groups, tmp_path):
    y, s, site = draw()
    if groups == "numbers":
        site = np.unique(site, return_inverse=True)[1]
    table = table_of(y, s, site)
    if groups == "categories":
        table = table.set_column(2, "site", table["site"].dictionary_encode())
    path = tmp_path / ("t.csv" if engine == "csv" else "t.parquet")
    assert_same_tallies(Tally.of(ENGINES[engine](table, path), by="site"), y, s, site)


def test_workers_of_a_cluster_name_groups_by_themselves():
    y, s, site = draw()
    order = np.argsort(site)
    sorted_rows = table_of(y[order], s[order], site[order])
    frame = dd.from_pandas(sorted_rows.to_pandas(), npartitions=10)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster):
        assert_same_tallies(Tally.of(frame, by="site"), y, s, site)


def test_categories_without_rows_are_no_groups():
    y, s, site = draw(300)
    frame = pd.DataFrame({"label": y, "score": s, "site": pd.Categorical(site)})
    few = frame[frame["site"] == "north"]
    assert list(Tally.of(few, by="site")) == ["north"]


def test_tallies_are_added_stored_and_counted_in_sql(tmp_path):
    y, s, site = draw()
    site[:1500] = np.where(site[:1500] == "north", "east", site[:1500])
    days = [table_of(y[part], s[part], site[part]) for part in (slice(1500), slice(1500, None))]
    first, second = (Tally.of(day, by="site") for day in days)
    assert_same_tallies(first + second, y, s, site)
    (first + second).to_parquet(tmp_path / "tallies.parquet")
    stored = GroupTallies.from_parquet(tmp_path / "tallies.parquet")
    assert_same_tallies(stored, y, s, site)
    rows = pa.concat_tables(days)  # noqa: F841
    query = tally_sql("label", "score", "rows", by="site", dialect="duckdb")
    counted = GroupTallies.from_frame(duckdb.sql(query).to_arrow_table())
    assert_same_tallies(counted, y, s, site)
    assert repr(counted) == repr(stored)
    assert counted.find_boundaries().keys() == stored.find_boundaries().keys()


CASES = [
    {},
    {"rule": Cost(false_negative=4)},
    {"curve": "smoothed", "prior_rows": 0},
    {"curve": "empirical", "prior_rows": 0},
    {"rule": Floors(recall=0.8)},
    {"rule": Floors(flagged=0.1, confidence=None)},
]


@pytest.mark.parametrize("n_rows", [4_000, 60_000])
@pytest.mark.parametrize("kind", ["normal", "probabilities", "ties"])
def test_boundaries_are_within_their_resolution_of_those_in_memory(kind, n_rows):
    y, s, site = draw(n_rows, seed=n_rows, kind=kind)
    tallies = Tally.of(table_of(y, s, site), by="site")
    for options in CASES:
        found = tallies.find_boundaries(**options)
        expected = find_boundaries(y, s, site, **options)
        assert found.prior_rows == expected.prior_rows
        assert found.common.scale == expected.common.scale
        for group, boundary in expected.items():
            distance = abs(found[group].threshold - boundary.threshold)
            assert distance <= found[group].resolution + 1e-9
            assert found[group].status == boundary.status
            if n_rows == 4_000 and ("rule" in options or "curve" in options):
                assert found[group].wrong == boundary.wrong
            if group != "quiet":
                flagged = s[site == group] > found[group].threshold
                truth = y[site == group] == 1
                assert found[group].wrong == (np.sum(flagged & ~truth), np.sum(~flagged & truth))


REFUSED = {
    "weight": ({"weight": "score"}, "cannot be combined with `weight` or `at`"),
    "at": ({"at": [0.5]}, "cannot be combined with `weight` or `at`"),
    "column": ({"by": "sites"}, "has no column 'sites'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_groups_do_not_support_is_refused(case):
    options, message = REFUSED[case]
    with pytest.raises(InvalidInputError, match=message):
        Tally.of(table_of(*draw(100)), **{"by": "site"} | options)


def test_unusable_groups_sources_and_curves_are_refused():
    y, s, site = draw(300)
    rows = pd.DataFrame({"label": y, "score": s, "site": site}).astype({"site": object})
    rows.loc[[3, 5], "site"] = None
    for frame in (rows, pa.Table.from_pandas(rows), dd.from_pandas(rows, npartitions=1)):
        with pytest.raises(InvalidInputError, match=r"`by` must name the group .* 2 missing"):
            Tally.of(frame, by="site")
    with pytest.raises(InvalidInputError, match="`by` must be left out for pairs"):
        Tally.of([(y, s)], by="site")
    with pytest.raises(InvalidInputError, match="Pass prior_rows=0, a smooth curve"):
        Tally.of(table_of(y, s, site), by="site").find_boundaries(curve="empirical")
    with pytest.raises(InvalidInputError, match="must have a column 'group_name'"):
        GroupTallies.from_frame(Tally.of([(y, s)]).to_arrow())
