"""One rule says which class is positive, whoever asks."""

import numpy as np
import pytest

from boundshift import (
    Floors,
    InvalidInputError,
    certify,
    find_boundary,
)
from boundshift._validation import order_labels

SIGNS = [(0, 1), (-1, 1), (False, True), (0.0, 1.0)]


@pytest.mark.parametrize("labels", SIGNS)
@pytest.mark.parametrize("counts", [None, (10, 90), (90, 10), (50, 50)])
@pytest.mark.parametrize("symmetric", [True, False])
def test_signs_point_to_the_greater(labels, counts, symmetric):
    known = None if counts is None else dict(zip(labels, counts, strict=True))
    assert order_labels(labels[::-1], counts=known, symmetric=symmetric) == labels


@pytest.mark.parametrize("symmetric", [True, False])
def test_of_counted_words_the_rarer_is_positive(symmetric):
    counts = {"ok": 90, "fraud": 10}
    assert order_labels(counts, counts=counts, symmetric=symmetric) == ("ok", "fraud")
    assert order_labels([1, 2], counts={1: 3, 2: 4}, symmetric=symmetric) == (2, 1)


def test_other_words_point_to_the_greater_unless_it_matters():
    assert order_labels(["ok", "fraud"]) == ("fraud", "ok")
    counts = {"ok": 50, "fraud": 50}
    assert order_labels(counts, counts=counts) == ("fraud", "ok")
    with pytest.raises(InvalidInputError, match="Both are equally frequent"):
        order_labels(counts, counts=counts, symmetric=False)


@pytest.fixture
def frauds():
    rng = np.random.default_rng(0)
    y = np.repeat(["ok", "fraud"], [400, 100])
    return y, rng.normal(size=500) + 2 * (y == "fraud")


def test_a_floor_protects_the_class_that_is_named(frauds):
    y, s = frauds
    found = find_boundary(y, s, rule=Floors(recall=0.8), pos_label="fraud")
    assert np.mean(found.predict(s[y == "fraud"]) == "fraud") >= 0.8


def test_a_certificate_takes_the_labels_of_the_boundary(frauds):
    y, s = frauds
    boundary = find_boundary(y, s, pos_label="fraud")
    assert certify(y, s, boundary).labels == boundary.labels == ("ok", "fraud")
    assert certify(y, s, boundary).wrong == boundary.wrong
    with pytest.raises(InvalidInputError, match="must be that of the boundary"):
        certify(y, s, boundary, pos_label="ok")
