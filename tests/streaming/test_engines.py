"""Every engine by the suite, and what only one of them has. Spark is tested beside this folder."""

import runpy
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

from boundshift import InvalidInputError, streaming
from boundshift.streaming import _frames as frames
from tests.streaming.suite import EngineSuite, assert_same_boundary, parts_of, problem
from tests.streaming.test_files import table_of


class TestChunks(EngineSuite):
    second = "chunk 1"
    has_names = False

    @pytest.fixture(params=["list", "function"])
    def frame(self, request):
        def chunks(parts):
            made = [tuple(part.values()) for part in parts]
            return made if request.param == "list" else lambda: iter(made)

        return chunks


class TestArrow(EngineSuite):
    second = "(rows|batch)"

    @pytest.fixture(params=["table", "dataset"])
    def frame(self, request):
        if request.param == "table":
            return table_of
        return lambda parts: pa.dataset.dataset(table_of(parts))


class TestPolarsLazyFrame(EngineSuite):
    second = "batch 1"

    @pytest.fixture
    def frame(self, monkeypatch):
        def lazy(parts):
            monkeypatch.setattr(frames, "ROWS_AT_ONCE", max(len(parts[0]["label"]), 100))
            return pl.from_arrow(table_of(parts)).lazy()

        return lazy


@pytest.fixture
def connection():
    """Return a database in memory."""
    with duckdb.connect() as connection:
        yield connection


class TestDuckDB(EngineSuite):
    second = "batch"

    @pytest.fixture
    def frame(self, connection):
        def relation(parts):
            connection.register("arrow_rows", table_of(parts))
            connection.execute("CREATE OR REPLACE TABLE scores AS SELECT * FROM arrow_rows")
            return connection.table("scores")

        return relation


NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.float64(): pd.Float64Dtype()}


def dask_frame(parts):
    """Return a frame with a partition for each part."""
    tables = [pa.table({name: pa.array(part[name]) for name in part}) for part in parts]
    made = [t.to_pandas(types_mapper=NULLABLE.get).assign(id=0) for t in tables]
    return dd.from_delayed([dask.delayed(frame) for frame in made], verify_meta=False)


class TestDask(EngineSuite):
    second = "partition 1"

    @pytest.fixture
    def frame(self):
        with dask.config.set(scheduler="threads"):
            yield dask_frame


@pytest.mark.tool("DuckDB", 'streaming.scan_boundary(data, label="ill", score="margin")')
@pytest.mark.tool("Polars", 'streaming.scan_boundary(data, label="ill", score="margin")')
def test_a_query_over_files_is_data(connection, tmp_path):
    y, s = problem()
    for i, part in enumerate(parts_of((y, s), [1000, 2000])):
        pa.parquet.write_table(table_of([part]), tmp_path / f"part-{i}.parquet")
    query = f"SELECT label = 1 AS ill, score * 2 AS margin FROM '{tmp_path}/*.parquet'"
    lazy = pl.scan_parquet(tmp_path / "*.parquet").select(
        (pl.col("label") == 1).alias("ill"), (2 * pl.col("score")).alias("margin")
    )
    for data in (connection.sql(query), lazy):
        found = streaming.scan_boundary(data, label="ill", score="margin")
        assert_same_boundary(found, y == 1, 2 * s)


def test_names_are_names_whatever_they_hold(connection):
    y, s = problem()
    connection.register("arrow_rows", pa.table({"a.b": y, 'x"y; --': s}))
    how = {"label": "a.b", "score": 'x"y; --', "curve": "empirical"}
    found = streaming.scan_boundary(connection.table("arrow_rows"), **how)
    assert_same_boundary(found, y, s, curve="empirical")


@pytest.mark.parametrize("kind", [pl.Float32, pl.Int64, pl.Decimal(9, 3), pl.UInt8])
def test_scores_of_any_number(kind):
    y, s = problem()
    scores = pl.Series(np.round((s - s.min()) * 10)).cast(kind)
    expected = scores.cast(pl.Float64).to_numpy()
    for data in (
        pl.DataFrame({"label": y, "score": scores}),
        table_of([{"label": y, "score": scores.to_arrow()}]),
    ):
        found = streaming.scan_boundary(data, curve="empirical")
        assert_same_boundary(found, y, expected, curve="empirical")


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["unused", "good", "fraud"])])
def test_labels_that_are_categories(kind):
    y, s = problem()
    words = np.where(y == 1, "fraud", "good")
    lazy = pl.LazyFrame({"label": pl.Series(words.tolist(), dtype=kind), "score": s})
    found = streaming.scan_boundary(lazy, pos_label="fraud")
    assert_same_boundary(found, words, s, pos_label="fraud")


@pytest.mark.tool("Dask", 'streaming.scan_boundary(frame, curve="smoothed")')
def test_dask_arrays_become_a_frame_and_take_the_labels():
    y, s = problem()
    labels = da.from_array(y, chunks=1000)
    scores = da.from_array(s, chunks=1000)
    columns = [labels.to_dask_dataframe("label"), scores.to_dask_dataframe("score")]
    frame = dd.concat(columns, axis=1)
    found = streaming.scan_boundary(frame, curve="smoothed")
    assert_same_boundary(found, y, s, curve="smoothed")
    decided = scores.map_blocks(found.predict, dtype=y.dtype)
    assert np.array_equal(decided.compute(), found.predict(s))


@pytest.mark.parametrize(
    "data", [5, duckdb, pl.Series([1.0]), da.zeros(3), pa.array([1.0]), pl.col("score")], ids=str
)
def test_what_is_no_data_is_refused(data, connection):
    with pytest.raises(InvalidInputError, match="`data` must be"):
        streaming.scan_boundary(connection if data is duckdb else data)


def test_the_example_of_training_with_dask_runs(capsys, monkeypatch):
    path = Path(__file__).parents[2] / "examples" / "dask_incremental.py"
    example = runpy.run_path(str(path))
    monkeypatch.setitem(example["main"].__globals__, "ROWS", 20_000)
    monkeypatch.setitem(example["main"].__globals__, "CHUNK", 5_000)
    example["main"]()
    untouched, shifted = (
        float(line.split()[-1]) for line in capsys.readouterr().out.splitlines()[-2:]
    )
    assert shifted > untouched + 0.1
