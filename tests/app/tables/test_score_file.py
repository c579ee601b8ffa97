import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from boundshift import InvalidInputError
from boundshift.app.tables import read_scores
from boundshift.streaming.sources import batches


def test_a_quoted_line_break_is_part_of_a_cell(tmp_path):
    (tmp_path / "t.csv").write_text('note,score,ill\n"two\nlines",1,no\n"one",2,yes\n')
    sample = read_scores(tmp_path / "t.csv", "score", "ill")
    assert sample.to_rows()[1].tolist() == [1.0, 2.0]


def test_labels_keep_their_codes_from_block_to_block(tmp_path, monkeypatch):
    """The first block has one class only, and the next meets the other one first."""
    monkeypatch.setattr(batches, "_BLOCK", 1 << 12)
    y = np.r_[np.zeros(3000, int), 1, np.zeros(500, int), np.ones(500, int)]
    s = np.arange(len(y)) / 7
    lines = [f"{a},{'no' if b == 0 else 'yes'}" for a, b in zip(s, y, strict=True)]
    (tmp_path / "t.csv").write_text("score,ill\n" + "\n".join(lines))
    told = []
    sample = read_scores(tmp_path / "t.csv", "score", "ill", progress=lambda *at: told.append(at))
    labels, scores = sample.to_rows()
    assert (labels == np.repeat(["no", "yes"], [3500, 501])).all()
    assert scores.tolist() == [*s[y == 0], *s[y == 1]]
    assert len(told) > 5
    assert told[-1][1] == told[-1][2]


@pytest.mark.parametrize("kind", [pa.float32(), pa.int16(), pa.decimal128(22, 3)])
def test_scores_of_any_number_type(tmp_path, kind):
    table = pa.table({"s": pa.array([1, 2, 3, 4]).cast(kind), "y": [False, False, True, True]})
    parquet.write_table(table, tmp_path / "t.parquet")
    sample = read_scores(tmp_path / "t.parquet", "s", "y")
    assert sample.to_rows()[1].tolist() == [1, 2, 3, 4]
    assert sample.labels == (False, True)


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


def test_one_and_one_point_nought_are_one_label(tmp_path):
    (tmp_path / "t.csv").write_text("s,y\n1,0\n2,1\n3,1.0\n")
    sample = read_scores(tmp_path / "t.csv", "s", "y")
    assert sample.labels == (0.0, 1.0)
    assert sample.n_samples == (1, 2)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0.0, 1.0, float("nan")], "lacks 1"),
        ([0.0, 1.0, float("inf")], "finite"),
        ([["a"], ["b"], ["a"]], "list"),
    ],
)
def test_labels_that_are_none_are_refused(tmp_path, labels, words):
    table = pa.table({"score": [1.0, 2.0, 3.0], "ill": labels})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match=words):
        read_scores(tmp_path / "t.parquet", "score", "ill", positive="1.0")
