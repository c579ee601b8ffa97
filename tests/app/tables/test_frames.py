import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from boundshift.app.tables import column_names, read_frame, write_frame


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


def test_decimals_are_numbers(tmp_path):
    price = pa.array([1, 2]).cast(pa.decimal128(22, 2))
    parquet.write_table(pa.table({"price": price}), tmp_path / "t.parquet")
    assert read_frame(tmp_path / "t.parquet")["price"].dtype == np.float64
