"""Spark frames in a real session: the suite of all engines, vectors, labels, SQL."""

import runpy
from dataclasses import replace
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

from boundshift import GroupBoundaries, InvalidInputError, find_boundary, streaming
from tests.sql.test_databases import BOUNDARY, predict, values_around
from tests.streaming.suite import EngineSuite, assert_same_boundary, parts_of, problem
from tests.streaming.test_files import table_of
from tests.streaming.test_groups import assert_same_tallies
from tests.streaming.test_groups import draw as draw_groups
from tests.streaming.test_groups import table_of as table_of_groups

pytest.importorskip("pyspark")

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def frame_of(spark, parts):
    """Return a frame with a partition for each part."""
    tables = [table_of([part]).drop("id") for part in parts if len(part["label"])]
    frames = [spark.createDataFrame(table).coalesce(1) for table in tables]
    frame = reduce(lambda a, b: a.union(b), frames)
    assert frame.rdd.getNumPartitions() == len(frames)
    return frame


class TestSparkFrame(EngineSuite):
    second = "the frame"

    @pytest.fixture
    def frame(self, spark):
        return lambda parts: frame_of(spark, parts)


@pytest.mark.tool("Spark", 'streaming.scan_boundary(frame, score="rawPrediction")')
@pytest.mark.parametrize("kind", ["vector", "array"])
def test_vectors_give_their_last_element(spark, kind):
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F  # noqa: N812

    y, s = problem()
    pair = F.array(-F.col("score"), F.col("score"))
    frame = frame_of(spark, parts_of((y, s), [3000])).withColumn(
        "rawPrediction", array_to_vector(pair) if kind == "vector" else pair
    )
    assert_same_boundary(streaming.scan_boundary(frame, score="rawPrediction"), y, s)
    how = {"curve": "empirical", "pos_label": 0}
    first = streaming.scan_boundary(frame, score="rawPrediction", element=0, **how)
    assert_same_boundary(first, y, -s, **how)


def test_groups_are_counted_in_sql(spark):
    y, s, site = draw_groups()
    frame = spark.createDataFrame(table_of_groups(y, s, site)).repartition(7)
    assert_same_tallies(streaming.Tally.of(frame, by="site"), y, s, site)
    missing = frame.selectExpr("label", "score", "nullif(site, 'tiny') AS site")
    with pytest.raises(InvalidInputError, match=r"`by` must name the group .* missing in the fr"):
        streaming.Tally.of(missing, by="site")


HOSTILE = [("it's", "score"), ("' or 1=1 --", "a.b"), ("$x", "order"), ('x"`]', "x`y"), ("Ж", "$")]


@pytest.mark.parametrize(("label", "name"), HOSTILE)
def test_sql_gives_the_labels_of_predict(spark, label, name):
    y, s = problem()
    boundary = find_boundary(np.where(y == 1, label, "no"), s, pos_label=label)
    s = np.append(s[:50], boundary.threshold)
    expected = [*boundary.predict(s).tolist(), None, None]
    rows = [(float(v),) for v in [*s, np.nan]] + [(None,)]
    frame = spark.createDataFrame(rows, "score double").withColumnRenamed("score", name)
    found = frame.selectExpr(boundary.to_sql(name, dialect="spark")).collect()
    assert [row[0] for row in found] == expected


@pytest.mark.parametrize("dialect", ["spark", "databricks"])
@pytest.mark.parametrize(
    ("kind", "column"),
    [("double", "double"), ("float32", "float"), ("decimal", "decimal(18, 6)")],
)
def test_sql_gives_the_labels_of_predict_for_any_type_of_column(spark, dialect, kind, column):
    for threshold in (0.0, -0.0, 0.1, 0.3, -2.7, 16777217.0, 123456.789):
        boundary = replace(BOUNDARY, threshold=threshold)
        values = values_around(threshold, kind)
        frame = spark.createDataFrame([(value,) for value in values], f"score {column}")
        found = frame.selectExpr(boundary.to_sql("score", dialect=dialect)).collect()
        assert [label for (label,) in found] == predict(boundary, values)


def test_sql_of_groups_gives_the_labels_of_predict(spark):
    sites = GroupBoundaries(
        {"A": replace(BOUNDARY, threshold=1.0), "it's": replace(BOUNDARY, threshold=2.0)},
        BOUNDARY,
        20.0,
    )
    rows = [(site, score) for site in ("A", "a", "it's", None) for score in (0.5, 1.0, 1.5, 9.0)]
    expected = sites.predict([score for _, score in rows], np.array([site for site, _ in rows]))
    frame = spark.createDataFrame(rows, "site string, score double")
    found = frame.selectExpr(sites.to_sql("score", "site", dialect="spark")).collect()
    assert [label for (label,) in found] == expected.tolist()


@pytest.mark.usefixtures("spark")
def test_the_example_of_spark_ml_runs(capsys):
    path = Path(__file__).parents[2] / "examples" / "spark_ml.py"
    runpy.run_path(str(path))["main"](rows=20_000)
    shown = capsys.readouterr().out
    recalls = [
        [float(value) for value in line.rpartition(": ")[2].split(", ")]
        for line in shown.splitlines()
        if line.startswith("recall by class")
    ]
    assert min(recalls[1]) > min(recalls[0])
    assert "WHEN `score` > " in shown
