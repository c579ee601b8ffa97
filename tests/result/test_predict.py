"""A boundary is whole, and a missing score is on neither side of it."""

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest

from boundshift import InvalidInputError, find_boundary

Y = [0, 0, 0, 1, 1]
S = [0.0, 1.0, 2.0, 5.0, 6.0]
BOUNDARY = find_boundary(Y, S)


@pytest.mark.parametrize(
    "scores",
    [
        [9.0, float("nan"), 1.0],
        [9.0, None, 1.0],
        pd.Series([9.0, None, 1.0], dtype="Float64"),
        np.array([[9.0], [np.nan], [1.0]]),
        np.array([9.0, np.nan, 1.0], dtype=np.float32),
    ],
)
def test_missing_scores_are_refused_and_counted(scores):
    with pytest.raises(InvalidInputError, match="1 missing among 3"):
        BOUNDARY.predict(scores)


@pytest.mark.parametrize("scores", [["9.0"], "high", [1j], [b"1"], [pd.NA]])
def test_what_is_no_number_is_refused(scores):
    with pytest.raises(InvalidInputError, match="`y_score` must be real numbers"):
        BOUNDARY.predict(scores)


def test_one_score_and_infinite_ones_have_a_label():
    assert BOUNDARY.predict(9.0) == 1
    assert BOUNDARY.predict([[0.0], [np.inf], [-np.inf], [10**20]]).tolist() == [0, 1, 0, 1]
    assert BOUNDARY.predict([]).tolist() == []
    assert BOUNDARY.predict([True, 10]).tolist() == [0, 1]


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_matrix_is_refused_and_its_column_named(rows):
    with pytest.raises(InvalidInputError, match=r"a matrix of the shape .*`scores\[:, 1\]`"):
        BOUNDARY.predict(np.zeros((rows, 2)))


def test_a_status_equals_its_name():
    assert BOUNDARY.status == "OPTIMAL"
    assert f"{BOUNDARY.status}" == "OPTIMAL"
    assert BOUNDARY.status.message.startswith("The optimum")


def test_columns_come_back_as_they_are():
    scores = pd.Series([9.0, 1.0], index=["a", "b"], name="margin")
    expected = pd.Series([1, 0], index=["a", "b"], name="margin")
    pd.testing.assert_series_equal(BOUNDARY.predict(scores), expected)
    found = BOUNDARY.predict(polars.Series("margin", [9.0, 1.0]))
    assert found.equals(polars.Series("margin", [1, 0]), check_names=True)
    assert BOUNDARY.predict(pyarrow.array([9.0, 1.0])).equals(pyarrow.array([1, 0]))
    chunks = pyarrow.chunked_array([[9.0], [], [1.0]], pyarrow.float64())
    assert BOUNDARY.predict(chunks).equals(pyarrow.array([1, 0]))
    assert isinstance(BOUNDARY.predict((9.0, 1.0)), np.ndarray)
