import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from boundshift import InvalidInputError
from boundshift.app.tables import column_names, read_frame, read_scores, write_frame
from boundshift.streaming.sources import batches as module


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": [40.0, None, 60.0] * 40,
            "town": ["Rome", None, "Bonn, Germany"] * 40,
            "score": rng.normal(size=120),
            "ill": np.arange(120) % 3 // 2,
        }
    )


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "jsonl"])
def test_a_table_is_read_as_it_was_written(tmp_path, frame, ending):
    path = tmp_path / f"t.{ending}"
    write_frame(frame, path)
    found = read_frame(path)
    pd.testing.assert_frame_equal(found, frame, check_dtype=False)
    assert column_names(path) == list(frame.columns)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "feather", "jsonl"])
def test_columns_are_read_as_the_kinds_asked_for(tmp_path, frame, ending):
    path = tmp_path / f"t.{ending}"
    write_frame(frame, path)
    found = read_frame(path, {"ill": "category", "age": "number"})
    assert list(found.columns) == ["ill", "age"]
    assert found["ill"].tolist() == [str(label) for label in frame["ill"]]
    assert found["age"].dtype == np.float64


def test_words_for_missing_values_are_gaps(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,x\n?,NA\nNaN,\nnull,y\n")
    found = read_frame(tmp_path / "t.csv")
    assert found["a"].isna().tolist() == [False, True, True, True]
    assert found["b"].isna().tolist() == [False, True, True, False]


def test_a_quoted_line_break_is_part_of_a_cell(tmp_path):
    (tmp_path / "t.csv").write_text('note,score,ill\n"two\nlines",1,no\n"one",2,yes\n')
    rows = read_scores(tmp_path / "t.csv", "score", "ill")
    assert rows.y_score.tolist() == [1.0, 2.0]


def test_labels_keep_their_codes_from_block_to_block(tmp_path, monkeypatch):
    """The first block has one class only, and the next meets the other one first."""
    monkeypatch.setattr(module, "_BLOCK", 1 << 12)
    y = np.r_[np.zeros(3000, int), 1, np.zeros(500, int), np.ones(500, int)]
    s = np.arange(len(y)) / 7
    lines = [f"{a},{'no' if b == 0 else 'yes'}" for a, b in zip(s, y, strict=True)]
    (tmp_path / "t.csv").write_text("score,ill\n" + "\n".join(lines))
    told = []
    rows = read_scores(tmp_path / "t.csv", "score", "ill", progress=lambda *at: told.append(at))
    assert (rows.is_positive == (y == 1)).all()
    assert rows.y_score.tolist() == s.tolist()
    assert len(told) > 5
    assert told[-1][1] == told[-1][2]


@pytest.mark.parametrize("kind", [pa.float32(), pa.int16(), pa.decimal128(22, 3)])
def test_scores_of_any_number_type(tmp_path, kind):
    table = pa.table({"s": pa.array([1, 2, 3, 4]).cast(kind), "y": [False, False, True, True]})
    parquet.write_table(table, tmp_path / "t.parquet")
    rows = read_scores(tmp_path / "t.parquet", "s", "y")
    assert rows.y_score.tolist() == [1, 2, 3, 4]
    assert rows.labels == (False, True)


def test_labels_as_categories(tmp_path):
    labels = pa.array(["no", "no", "yes"]).dictionary_encode()
    feather.write_feather(
        pa.table({"s": [1.0, 2.0, 3.0], "y": labels}), str(tmp_path / "t.feather")
    )
    assert read_scores(tmp_path / "t.feather", "s", "y").labels == ("no", "yes")


def test_nested_scores_are_refused(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"s": {"a": 1}, "y": 0}\n{"s": {"a": 2}, "y": 1}\n')
    with pytest.raises(InvalidInputError, match="must hold numbers, got struct"):
        read_scores(tmp_path / "t.jsonl", "s", "y")


def test_a_column_of_numbers_is_no_label(tmp_path):
    lines = [f"{i / 7},{i / 3}" for i in range(1500)]
    (tmp_path / "t.csv").write_text("s,y\n" + "\n".join(lines))
    with pytest.raises(InvalidInputError, match="more than 1000 different values"):
        read_scores(tmp_path / "t.csv", "s", "y")


def test_decimals_are_numbers(tmp_path):
    price = pa.array([1, 2]).cast(pa.decimal128(22, 2))
    parquet.write_table(pa.table({"price": price}), tmp_path / "t.parquet")
    assert read_frame(tmp_path / "t.parquet")["price"].dtype == np.float64


def test_one_and_one_point_nought_are_one_label(tmp_path):
    (tmp_path / "t.csv").write_text("s,y\n1,0\n2,1\n3,1.0\n")
    rows = read_scores(tmp_path / "t.csv", "s", "y")
    assert rows.labels == (0.0, 1.0)
    assert rows.is_positive.tolist() == [False, True, True]
