import json
from pathlib import Path

import numpy as np
import pytest

from lab.suite import data
from lab.suite.data import load_rows, split, suite_datasets


def test_parts_are_stratified_and_share_no_row():
    rows = load_rows("glass6")
    marked = data.Rows(np.arange(len(rows.y), dtype=float)[:, None], rows.y)
    found = split(marked, 0)
    assert sorted([*found.train.X[:, 0], *found.test.X[:, 0]]) == list(range(len(rows.y)))
    for part in (found.train.y, found.test.y):
        assert part.mean() == pytest.approx(rows.y.mean(), abs=0.04)


def stored_halves():
    return json.loads(Path(data.__file__).with_name("halves.json").read_text())


def test_the_stored_halves_hold_every_family_once():
    halves = stored_halves()
    families = {entry.family for entry in suite_datasets()}
    assert sorted([*halves["choose"], *halves["report"]]) == sorted(families)


def test_few_rare_rows_are_drawn_from_the_training_part_alone():
    rows = load_rows("segment0")
    whole, five, ten = (split(rows, 3, rare) for rare in (0, 5, 10))
    assert (int(five.train.y.sum()), int(ten.train.y.sum())) == (5, 10)
    assert int(np.sum(five.train.y == 0)) == min(1000, int(np.sum(whole.train.y == 0)))
    np.testing.assert_array_equal(five.test.X, whole.test.X)
    rare = {tuple(x) for x in ten.train.X[ten.train.y == 1]}
    assert {tuple(x) for x in five.train.X[five.train.y == 1]} <= rare
