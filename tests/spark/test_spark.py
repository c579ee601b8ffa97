"""Spark frames in a real session: the suite of all engines, vectors, labels, SQL."""

from decimal import Decimal
from functools import reduce

import numpy as np
import pyarrow as pa
import pytest

from boundshift import InvalidInputError, find_boundary, streaming
from boundshift.streaming import cell_scores, driver
from boundshift.streaming.chunk import Chunk
from tests.streaming.sources.suite import EngineSuite, assert_same_boundary, parts_of, problem

pytestmark = [
    pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def column(values):
    """Return an Arrow array of the kind that Spark would read."""
    values = values.tolist() if isinstance(values, np.ndarray) else list(values)
    is_decimal = values and isinstance(values[0], Decimal)
    return pa.array(values, pa.decimal128(12, 6) if is_decimal else None)


def frame_of(spark, parts):
    """Return a frame with a partition for each part."""
    tables = [pa.table({"label": column(y), "score": column(s)}) for y, s in parts if len(y)]
    frames = [spark.createDataFrame(t).coalesce(1) for t in tables]
    frame = reduce(lambda a, b: a.union(b), frames)
    assert frame.rdd.getNumPartitions() == len(frames)
    return frame


class TestSparkFrame(EngineSuite):
    second = "partition 1"

    @pytest.fixture
    def find(self, spark):
        return lambda parts, **options: streaming.scan_boundary(frame_of(spark, parts), **options)


@pytest.mark.parametrize("curve", ["logistic", "smoothed"])
def test_many_rows_around_the_boundary_are_read_on_the_workers(spark, monkeypatch, curve):
    from boundshift.streaming.sources import spark_

    monkeypatch.setattr(spark_, "_MERGED_AT_ONCE", 2)
    monkeypatch.setattr(spark_, "_MOST_COLLECTED", 0)
    y, s = problem()
    found = streaming.scan_boundary(frame_of(spark, parts_of(y, s, [600] * 5)), curve=curve)
    assert_same_boundary(found, y, s, curve=curve)


def test_nodes_are_counted_by_a_query(spark, monkeypatch):
    monkeypatch.setattr(cell_scores, "_FEW_NODES", 0)
    y, s = problem()
    for curve in ("smoothed", "logistic"):
        found = streaming.scan_boundary(frame_of(spark, [(y, s)]), curve=curve)
        assert_same_boundary(found, y, s, curve=curve)


@pytest.mark.parametrize(
    "scores",
    [
        lambda s: s,
        lambda s: s * 1e300,
        lambda s: s * 1e-300,
        lambda s: 1e6 + 1e-3 * s,
        lambda s: np.where(s > 3.3, 1e9, s),
        lambda s: np.round(s),
        lambda s: s.astype(np.float32),
        lambda s: np.round(100 * s).astype(np.int64),
        lambda s: np.zeros(len(s)),
    ],
    ids=["plain", "huge", "tiny", "shifted", "outliers", "ties", "float32", "whole", "one value"],
)
def test_a_query_finds_what_a_request_finds(spark, scores):
    from boundshift.streaming.sources import spark_

    y, s = problem()
    s = np.asarray(scores(s))
    frame = frame_of(spark, parts_of(y, s, [1000, 1, 1999]))
    source = spark_.from_columns(frame, "label", "score")
    request = driver._first_request(source.peek(), None)
    found = source.scan(request, lambda *_: None)
    expected = request.tally([Chunk(y, s, "all")])
    for label in (0, 1):
        a, b = found.classes[label], expected.classes[label]
        assert (a.n, a.low, a.high) == (b.n, b.low, b.high)
        spread = (b.high - b.low) or 1.0
        assert sum(a.total) == pytest.approx(sum(b.total), rel=1e-12, abs=1e-12 * spread * b.n)
        assert a.squares == pytest.approx(b.squares, rel=1e-10)
        np.testing.assert_array_equal(a.counts, b.counts)
        np.testing.assert_allclose(a.sums, b.sums, rtol=1e-9, atol=1e-9 * spread)


@pytest.mark.parametrize("curve", ["student-t", "smoothed"])
def test_a_class_far_narrower_than_a_cell(spark, curve):
    y, s = problem()
    tight = 300.3 + 1e-9 * np.random.default_rng(0).normal(size=len(s))
    s = np.where(y == 1, tight, 1e3 * s)
    found = streaming.scan_boundary(frame_of(spark, [(y, s)]), curve=curve)
    expected = find_boundary(y, s, curve=curve)
    assert found.threshold == pytest.approx(expected.threshold, rel=1e-9)


def test_a_class_that_is_not_among_the_first_rows(spark, monkeypatch):
    from boundshift.streaming.sources import spark_

    monkeypatch.setattr(spark_, "_PEEKED_ROWS", 64)
    y, s = problem()
    order = np.argsort(y, kind="stable")
    y, s = y[order], s[order]
    for labels in (y, y.astype(float), y.astype(bool), np.where(y == 1, "b", "a")):
        frame = frame_of(spark, parts_of(labels, s, [1000, 1000, 1000]))
        assert_same_boundary(streaming.scan_boundary(frame), labels, s)
    third = np.append(y, [2, 2])
    with pytest.raises(InvalidInputError, match=r"two classes.*2"):
        streaming.scan_boundary(frame_of(spark, [(third, np.append(s, [0.0, 1.0]))]))
    missing = np.append(y, [np.nan, np.nan])
    with pytest.raises(InvalidInputError, match="2 missing in partition 0"):
        streaming.scan_boundary(frame_of(spark, [(missing, np.append(s, [0.0, 1.0]))]))


def test_scores_that_are_no_numbers_are_refused(spark):
    y, s = problem()
    frame = frame_of(spark, [(y, s)]).selectExpr("label", "CAST(score AS STRING) AS score")
    with pytest.raises(InvalidInputError, match="real numbers, got string values in column"):
        streaming.scan_boundary(frame)


@pytest.mark.parametrize("kind", ["vector", "array"])
def test_vectors_give_their_last_element(spark, kind):
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as F  # noqa: N812

    y, s = problem()
    pair = F.array(-F.col("score"), F.col("score"))
    frame = frame_of(spark, [(y, s)]).withColumn(
        "rawPrediction", array_to_vector(pair) if kind == "vector" else pair
    )
    found = streaming.scan_boundary(frame, score="rawPrediction", curve="smoothed")
    assert_same_boundary(found, y, s, curve="smoothed")
    first = streaming.scan_boundary(
        frame, score="rawPrediction", element=0, curve="kth-point", pos_label=0
    )
    assert_same_boundary(first, y, -s, curve="kth-point", pos_label=0)


HOSTILE = ["it's", "\\", "\\' or 1=1 --", "${spark.app.name}", "a\nb", 'x"`]', "\u0416\U0001f600"]


@pytest.mark.parametrize("label", HOSTILE)
@pytest.mark.parametrize("name", ["score", "order", "null", "a.b", "x`y", "it's \\"])
def test_columns_and_sql_get_the_labels_of_predict(spark, label, name):
    from pyspark.sql import functions as F  # noqa: N812

    y, s = problem()
    boundary = find_boundary(np.where(y == 1, label, "no"), s, pos_label=label)
    s = np.append(s[:50], boundary.threshold)
    expected = [*boundary.predict(s).tolist(), None, None]
    rows = [(float(v),) for v in [*s, np.nan]] + [(None,)]
    frame = spark.createDataFrame(rows, "score double")
    found = frame.select(boundary.predict(F.col("score"))).collect()
    assert [row[0] for row in found] == expected
    renamed = frame.withColumnRenamed("score", name)
    found = renamed.selectExpr(boundary.to_sql(name, dialect="spark")).collect()
    assert [row[0] for row in found] == expected


def test_columns_without_a_frame_are_refused(spark):
    from pyspark.sql import functions as F  # noqa: N812

    with pytest.raises(InvalidInputError, match=r"boundshift\.streaming\.scan_boundary"):
        find_boundary(F.col("label"), F.col("score"))
    y, s = problem()
    with pytest.raises(InvalidInputError, match="`score` must name one of the columns"):
        streaming.scan_boundary(frame_of(spark, [(y, s)]), score="margin")


@pytest.mark.usefixtures("spark")
def test_the_example_of_spark_ml_runs(capsys):
    import importlib.util
    from pathlib import Path

    path = Path(__file__).parents[2] / "examples" / "spark_ml.py"
    spec = importlib.util.spec_from_file_location("spark_ml", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(rows=20_000)
    shown = capsys.readouterr().out
    recalls = [
        [float(value) for value in line.rpartition(": ")[2].split(", ")]
        for line in shown.splitlines()
        if line.startswith("recall by class")
    ]
    assert min(recalls[1]) > min(recalls[0])
    assert "WHEN `score` > " in shown
