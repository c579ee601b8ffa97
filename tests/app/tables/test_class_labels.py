"""One positive class: the rule of the library, asked with the frequencies of the labels."""

import pytest

from boundshift import InvalidInputError
from boundshift.app.tables.class_labels import label_values, order_classes, positive_note
from boundshift.validation import order_labels

PAIRS = [
    [0, 1],
    [-1, 1],
    [False, True],
    [0.0, 1.0],
    [1, 2],
    ["sick", "well"],
    ["fraud", "ok"],
]


@pytest.mark.parametrize("labels", PAIRS, ids=str)
@pytest.mark.parametrize("counts", [(10, 90), (90, 10), (50, 50)])
def test_the_rule_is_the_library_s(labels, counts):
    known = dict(zip(labels, counts, strict=True))
    for order in (labels, labels[::-1]):
        found = order_classes(order, [known[label] for label in order], None, "ill")
        assert found == order_labels(labels, counts=known)


@pytest.mark.parametrize("labels", PAIRS, ids=str)
def test_a_class_can_be_named(labels):
    assert order_classes(labels, [90, 10], str(labels[0]), "ill") == (labels[1], labels[0])


@pytest.mark.parametrize("labels", [["sick", "well"], [1, 2]])
def test_equally_frequent_words_are_asked_for_where_it_matters(labels):
    with pytest.raises(InvalidInputError, match=f"Use --positive {labels[1]}"):
        order_classes(labels, [50, 50], None, "ill", alike=False)
    named = order_classes(labels, [50, 50], str(labels[0]), "ill", alike=False)
    assert named == (labels[1], labels[0])
    assert order_classes(labels, [51, 50], None, "ill", alike=False) == tuple(labels)


@pytest.mark.parametrize("labels", [[0, 1], [-1, 1], [False, True]])
def test_equally_frequent_numbers_say_it_themselves(labels):
    assert order_classes(labels, [50, 50], None, "ill", alike=False) == tuple(labels)


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["true", "FALSE"], [True, False]),
        (["true", "no"], ["true", "no"]),
        (["-1", "+1"], [-1, 1]),
        (["1", "1.5"], [1.0, 1.5]),
    ],
)
def test_text_of_a_file_becomes_what_it_spells(texts, values):
    found = label_values(texts)
    assert found == values
    assert [type(value) for value in found] == [type(value) for value in values]


def test_a_choice_of_ours_is_said():
    assert (
        "'b', the greater of two equally frequent ones (5 of 10 rows)"
        in (positive_note(None, ("a", "b"), (5, 5))[0])
    )
    assert positive_note(None, (False, True), (9, 1)) == []
    assert positive_note("a", ("b", "a"), (9, 1)) == []


@pytest.mark.parametrize("labels", [["Yes", "Yes ", "no"], ["Yes", "YES", "no"], ["a b", "a  B"]])
def test_labels_that_differ_only_by_blanks_or_case_are_refused(labels):
    with pytest.raises(InvalidInputError, match="blanks or case") as refused:
        order_classes(labels, [5] * len(labels), "Yes", "ill")
    assert all(repr(label) in str(refused.value) for label in labels[:2])


@pytest.mark.parametrize(
    "texts",
    [["01", "1"], ["inf", "0"], ["1e400", "0"], ["1" * 5000, "0"], ["1" * 20, "0"], ["1_0"]],
)
def test_what_no_float_holds_stays_text(texts):
    assert label_values(texts) == texts


def test_an_infinite_label_is_refused():
    with pytest.raises(InvalidInputError, match="finite"):
        order_classes([0.0, float("inf")], [5, 5], None, "ill")
