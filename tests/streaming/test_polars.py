"""Polars: lazy frames in batches, frames in memory, expressions."""

import numpy as np
import polars as pl
import pytest

from boundshift import InvalidInputError, find_boundary, streaming
from boundshift.streaming import frames
from tests.streaming.suite import (
    EngineSuite,
    assert_refused_without_scores,
    assert_same_boundary,
    named,
    parts_of,
    problem,
)


def frame_of(parts):
    """Return all parts as one frame."""
    parts = [part for part in map(named, parts) if len(part["label"])]
    columns = [
        pl.concat([pl.Series(name, list(part[name])) for part in parts]) for name in parts[0]
    ]
    return pl.DataFrame([pl.Series("id", np.arange(len(columns[0]))), *columns])


class TestLazyFrame(EngineSuite):
    second = "batch 1"

    @pytest.fixture
    def frame(self, monkeypatch):
        def lazy(parts):
            size = max(len(named(parts[0])["label"]), 1)
            monkeypatch.setattr(frames, "_ROWS_OF_A_BATCH", size)
            return frame_of(parts).lazy()

        return lazy


class TestFrame(EngineSuite):
    second = "rows"

    @pytest.fixture
    def frame(self):
        return frame_of


@pytest.mark.tool(
    "Polars",
    'streaming.scan_boundary(lazy, label="ill", score="margin")',
)
def test_a_lazy_query_over_files(tmp_path):
    y, s = problem()
    for i, part in enumerate(parts_of(y, s, [1000, 2000])):
        frame_of([part]).write_parquet(tmp_path / f"part-{i}.parquet")
    lazy = pl.scan_parquet(tmp_path / "*.parquet").select(
        (pl.col("label") == 1).alias("ill"), (2 * pl.col("score")).alias("margin")
    )
    assert_same_boundary(streaming.scan_boundary(lazy, label="ill", score="margin"), y == 1, 2 * s)


@pytest.mark.parametrize("kind", [pl.Float32, pl.Int64, pl.Decimal(9, 3), pl.UInt8])
def test_scores_of_any_number(kind):
    y, s = problem()
    scores = pl.Series(np.round((s - s.min()) * 10)).cast(kind)
    lazy = pl.LazyFrame({"label": y, "score": scores})
    expected = scores.cast(pl.Float64).to_numpy()
    found = streaming.scan_boundary(lazy, curve="kth-point")
    assert_same_boundary(found, y, expected, curve="kth-point")


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["unused", "good", "fraud"])])
def test_labels_that_are_categories(kind):
    y, s = problem()
    words = np.where(y == 1, "fraud", "good")
    lazy = pl.LazyFrame({"label": pl.Series(words.tolist(), dtype=kind), "score": s})
    assert_same_boundary(
        streaming.scan_boundary(lazy, pos_label="fraud"), words, s, pos_label="fraud"
    )


def test_what_is_no_frame_of_scores_is_refused():
    y, s = problem()
    lazy = frame_of([(y, s)]).lazy()
    with pytest.raises(InvalidInputError, match=r"boundshift\.streaming\.scan_boundary"):
        find_boundary(pl.col("label"), pl.col("score"))
    words = lazy.with_columns(pl.col("score").cast(pl.String))
    assert_refused_without_scores(lazy, words, "string")
    with pytest.raises(InvalidInputError, match="must be a frame, got a Polars Series"):
        streaming.scan_boundary(pl.Series(s))


def test_series_in_memory_are_read_at_once():
    y, s = problem()
    found = find_boundary(pl.Series(y), pl.Series(s))
    assert found.threshold == find_boundary(y, s).threshold


@pytest.mark.parametrize("labels", [(0, 1), ("no", "it's"), (False, True)])
def test_expressions_and_lazy_frames_get_the_labels_of_predict(labels):
    y, s = problem()
    boundary = find_boundary(np.array(labels)[y], s, pos_label=labels[1])
    s = np.append(s[:50], boundary.threshold)
    expected = [*boundary.predict(s).tolist(), None, None]
    lazy = pl.LazyFrame({"margin": [*s.tolist(), float("nan"), None]}, strict=False)
    answer = boundary.predict(lazy)
    assert isinstance(answer, pl.LazyFrame)
    assert answer.collect().to_dict(as_series=False) == {"margin": expected}
    assert lazy.select(boundary.predict(pl.col("margin"))).collect()["margin"].to_list() == expected
    twice = boundary.predict((pl.col("margin") * 2 / 2).alias("label"))
    assert lazy.select(twice).collect()["label"].to_list() == expected
    with pytest.raises(InvalidInputError, match="lazy frame with one column"):
        boundary.predict(lazy.with_columns(other=1))
