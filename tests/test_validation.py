"""What passes validation comes out clean; refusals are in test_wrong_requests."""

import numpy as np
import pytest

from boundshift import InvalidInputError
from boundshift._validation import as_pair, as_positive, as_rows, as_scores


@pytest.mark.parametrize("value", [1, 0.5, np.float32(2), np.int8(3), 5e-324])
def test_positive_numbers_of_any_type_become_floats(value):
    found = as_positive("x", value)
    assert type(found) is float
    assert found == float(value)


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, True, "1", None, 1j, [1]])
def test_everything_else_is_not_a_positive_number(value):
    with pytest.raises(InvalidInputError, match="`x` must be a positive finite number, got"):
        as_positive("x", value)


def test_zero_is_allowed_where_it_is():
    assert as_positive("x", 0, zero=True) == 0.0


@pytest.mark.parametrize("value", [(1, 2), [1.0, 2.0], np.array([1, 2])])
def test_a_pair_is_negative_then_positive(value):
    assert as_pair("x", value) == (1.0, 2.0)
    assert as_pair("x", np.float32(2)) == (2.0, 2.0)


@pytest.mark.parametrize("value", [(1,), (1, 2, 3), "12", None, np.ones((2, 2))])
def test_a_pair_is_two_numbers(value):
    with pytest.raises(InvalidInputError, match="`x` must be"):
        as_pair("x", value)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", "?", "O"])
def test_scores_of_any_number_type_become_float64(dtype):
    found = as_scores(np.array([0, 1, 1], dtype=dtype))
    assert found.dtype == np.float64
    assert found.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 1], [1, 2], [False, True], ["a", "b"], [0.5, 1.5], [b"a", b"b"]]
)
def test_the_greater_label_is_positive_and_plain_python(labels):
    is_positive, _, found = as_rows(np.array(labels)[[0, 1, 1, 0]], np.arange(4.0))
    assert is_positive.tolist() == [False, True, True, False]
    assert found == tuple(labels)
    assert [type(label) for label in found] == [type(label) for label in labels]
