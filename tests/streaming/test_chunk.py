"""Chunks: rows by their class."""

import numpy as np
import pytest

from boundshift.streaming.chunk import Chunk


@pytest.mark.parametrize("share", [0.01, 0.5, 0.97])
@pytest.mark.parametrize("categories", [None, ("no", "yes")])
def test_a_split_is_that_of_masks(share, categories):
    rng = np.random.default_rng(0)
    y, s, w = (rng.random(500) < share).astype(np.int8), rng.normal(size=500), rng.random(500)
    labels = (0, 1) if categories is None else categories
    found = Chunk(y, s, "all", categories, w).split(labels)
    assert [label for label, _ in found] == list(labels)
    for i, (_, rows) in enumerate(found):
        assert np.array_equal(rows.scores, s[y == i])
        assert np.array_equal(rows.weights, w[y == i])


def test_a_split_leaves_no_row_out():
    y = np.array([0.0, 1.0, np.nan])
    assert Chunk(y, np.zeros(3), "all").split((0.0, 1.0)) is None
    assert Chunk(y[:2], np.zeros(2), "all").split((0.0,)) is None


def test_classes_without_rows_are_left_out():
    (found,) = Chunk(np.zeros(3), np.arange(3.0), "all").split((0.0, 1.0))
    assert found[0] == 0.0
    assert found[1].scores.tolist() == [0.0, 1.0, 2.0]
