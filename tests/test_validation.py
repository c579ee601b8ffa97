from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from boundshift import BoundShiftClassifier, InvalidInputError, certify, find_boundary
from boundshift.curves import SupportRadius
from boundshift.validation import (
    as_choice,
    as_pair,
    as_positive,
    as_scores,
    split_by_label,
)


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


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.array(2.0)])
def test_one_number_counts_for_both_classes(value):
    assert as_pair("x", value) == (2.0, 2.0)


@pytest.mark.parametrize("value", [(1, 2), [1.0, 2.0], np.array([1, 2])])
def test_a_pair_is_negative_then_positive(value):
    assert as_pair("x", value) == (1.0, 2.0)


@pytest.mark.parametrize("value", [(1,), (1, 2, 3), "12", None, np.ones((2, 2))])
def test_a_pair_is_two_numbers(value):
    with pytest.raises(InvalidInputError, match="`x` must be"):
        as_pair("x", value)


def test_choice_lists_what_is_allowed():
    with pytest.raises(InvalidInputError, match="`x` must be one of 'a', 'b', got 'c'"):
        as_choice("x", "c", ("a", "b"))


@pytest.mark.parametrize("value", [True, None, np.nan, np.inf, "edge", [0.0]])
def test_fallback_is_a_name_or_a_finite_number(value):
    with pytest.raises(InvalidInputError, match="`fallback` must be 'edges', 'means' or a finite"):
        SupportRadius(fallback=value)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8", "?", "O"])
def test_scores_of_any_number_type_become_float64(dtype):
    found = as_scores(np.array([0, 1, 1], dtype=dtype))
    assert found.dtype == np.float64
    assert found.tolist() == [0.0, 1.0, 1.0]


def test_objects_that_are_no_numbers_say_why():
    with pytest.raises(InvalidInputError, match=r"got object values \(.*float"):
        as_scores(np.array([0.5, None, {}], dtype=object))


@pytest.mark.parametrize(
    "labels", [[0, 1], [-1, 1], [1, 2], [False, True], ["a", "b"], [0.5, 1.5], [b"a", b"b"]]
)
def test_the_greater_label_is_positive(labels):
    y = np.array(labels)[[0, 1, 1, 0]]
    negative, positive, found = split_by_label(y, np.array([1.0, 2.0, 3.0, 4.0]))
    assert (negative.tolist(), positive.tolist()) == ([1.0, 4.0], [2.0, 3.0])
    assert found == tuple(labels)


def test_labels_are_plain_python():
    _, _, labels = split_by_label(np.array([3, 7]), np.zeros(2))
    assert [type(label) for label in labels] == [int, int]


def test_many_classes_are_shown_in_part():
    with pytest.raises(InvalidInputError, match="got 9: 0, 1, 2, 3, 4, …"):
        split_by_label(np.arange(9), np.zeros(9))


@pytest.mark.parametrize("label", [pd.NA, pd.NaT, np.array([0, 1]), [1], {}, float("nan")])
def test_a_positive_class_that_is_no_label_is_refused(label):
    with pytest.raises(InvalidInputError, match="`pos_label` must be one of"):
        find_boundary([0, 0, 1, 1], [1, 2, 3, 4], pos_label=label)


@pytest.mark.parametrize("scores", [[1, 2, 3, 10**400], [[1], [1, 2], [1], [2]]])
def test_scores_that_no_array_holds_are_refused(scores):
    with pytest.raises(InvalidInputError, match="`y_score` must be"):
        find_boundary([0, 0, 1, 1], scores)


@pytest.mark.parametrize("threshold", ["0.5", Decimal("0.5"), None, pd.NA, 10**400, -(10**400)])
def test_thresholds_that_are_no_numbers_are_refused(threshold):
    with pytest.raises(InvalidInputError, match="`threshold` must be"):
        certify([0, 0, 1, 1], [1, 2, 3, 4], threshold)


@pytest.mark.parametrize("missing", [float("nan"), None, pd.NA, np.datetime64("NaT")])
def test_missing_labels_in_a_list_are_no_class(missing):
    from sklearn.linear_model import LogisticRegression

    scores = np.arange(20.0)
    labels = ["a"] * 10 + ["b"] * 10
    labels[3] = labels[15] = missing
    for decide in (
        lambda: find_boundary(labels, scores),
        lambda: BoundShiftClassifier(LogisticRegression()).fit(scores[:, None], labels),
        lambda: BoundShiftClassifier(LogisticRegression()).fit(
            scores[:, None], pd.Series(labels, dtype=object)
        ),
    ):
        with pytest.raises(InvalidInputError, match=r"2 missing .* among 20"):
            decide()


@pytest.mark.parametrize("twin", ["Yes ", "YES", "  yes"])
@pytest.mark.parametrize("others", [["no"], []])
def test_labels_that_differ_by_blanks_or_case_only_are_listed(twin, others):
    from sklearn.linear_model import LogisticRegression

    labels = (["Yes", twin, *others] * 10)[:20]
    scores = np.arange(20.0)
    for decide in (
        lambda: find_boundary(labels, scores),
        lambda: BoundShiftClassifier(LogisticRegression()).fit(scores[:, None], labels),
    ):
        with pytest.raises(InvalidInputError, match="blanks or case") as caught:
            decide()
        assert repr("Yes") in str(caught.value)
        assert repr(twin) in str(caught.value)


def test_numbers_among_words_are_not_turned_into_words():
    from sklearn.linear_model import LogisticRegression

    with pytest.raises(InvalidInputError, match="labels of one kind"):
        BoundShiftClassifier(LogisticRegression()).fit(np.eye(4), ["a", 1, "a", 1])


@pytest.mark.parametrize("kind", ["tuples", "records", "bytes without a type"])
def test_labels_of_several_parts_are_refused(kind):
    pairs = [(0, "a"), (0, "a"), (1, "b"), (1, "b")]
    labels = {
        "tuples": np.fromiter(pairs, dtype=object),
        "records": np.array(pairs, dtype=[("number", int), ("word", "U1")]),
        "bytes without a type": np.array([b"ab", b"ab", b"cd", b"cd"], dtype="V2"),
    }[kind]
    for more in ({}, {"sample_weight": [2.0, 2.0, 2.0, 2.0]}):
        with pytest.raises(InvalidInputError, match="one value for each row, got records or"):
            find_boundary(labels, [0.0, 1.0, 2.0, 3.0], **more)
