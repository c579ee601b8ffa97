import json
from importlib import resources

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from boundshift.exceptions import InvalidInputError
from lab.data.common import fetch_common
from lab.suite import data
from lab.suite.data import folds_of, load_rows, split, suite_datasets
from lab.suite.halves import half_of, in_half


def test_every_data_set_is_imbalanced_and_has_a_minority():
    assert all(d.imbalance > 3 and d.n_minority >= 20 for d in suite_datasets())


def test_parts_are_stratified_and_share_no_row():
    rows = load_rows("glass6")
    marked = data.Rows(np.arange(len(rows.y), dtype=float)[:, None], rows.y)
    found = split(marked, 0)
    assert sorted([*found.train.X[:, 0], *found.test.X[:, 0]]) == list(range(len(rows.y)))
    for part in (found.train.y, found.test.y, found.train.y[found.held]):
        assert part.mean() == pytest.approx(rows.y.mean(), abs=0.04)
    assert len(found.held) == pytest.approx(len(found.train.y) / 4, abs=1)


def test_seeds_draw_other_rows():
    rows = load_rows("glass6")
    assert not np.array_equal(split(rows, 0).train.X, split(rows, 1).train.X)


def test_a_large_data_set_is_sampled_always_in_the_same_way(monkeypatch):
    monkeypatch.setattr(data, "MOST_ROWS", 100)
    first, again = load_rows("ecoli1"), load_rows("ecoli1")
    assert len(first.y) == 100
    np.testing.assert_array_equal(first.X, again.X)
    assert first.y.mean() == pytest.approx(77 / 336, abs=0.01)


def test_missing_values_are_left_to_the_training_part():
    kept, filled = load_rows("hepatitis").X, fetch_common("hepatitis").data
    missing = np.isnan(kept)
    assert missing.any()
    assert np.isfinite(filled).all()
    np.testing.assert_array_equal(kept[~missing], filled[~missing])


def test_folds_are_scikit_learns():
    y = np.random.default_rng(0).permutation(np.repeat([0, 1], [40, 10]))
    expected = [unseen for _, unseen in StratifiedKFold(5).split(y, y)]
    assert [np.flatnonzero(folds_of(y) == k).tolist() for k in range(5)] == [
        rows.tolist() for rows in expected
    ]


def stored_halves():
    text = resources.files("lab.suite").joinpath("halves.json").read_text()
    return json.loads(text)


def test_the_stored_halves_hold_every_family_once():
    halves = stored_halves()
    families = {entry.family for entry in suite_datasets()}
    assert sorted([*halves["choose"], *halves["report"]]) == sorted(families)


def test_halves_are_alike_in_size():
    rows = [
        sum(e.n_minority for e in suite_datasets() if e.family in half)
        for half in stored_halves().values()
    ]
    assert 0.75 < rows[0] / rows[1] < 1.33


def test_a_half_is_chosen_by_family():
    assert in_half("yeast", "both")
    assert in_half("yeast", half_of("yeast"))
    with pytest.raises(InvalidInputError, match="half"):
        in_half("yeast", "third")


def test_few_rare_rows_are_drawn_from_the_training_part_alone():
    rows = load_rows("segment0")
    whole, five, ten = (split(rows, 3, rare) for rare in (0, 5, 10))
    assert (int(five.train.y.sum()), int(ten.train.y.sum())) == (5, 10)
    assert int(np.sum(five.train.y == 0)) == min(1000, int(np.sum(whole.train.y == 0)))
    np.testing.assert_array_equal(five.test.X, whole.test.X)
    rare = {tuple(x) for x in ten.train.X[ten.train.y == 1]}
    assert {tuple(x) for x in five.train.X[five.train.y == 1]} <= rare


def test_more_rare_rows_than_there_are_cannot_be_drawn():
    with pytest.raises(ValueError, match="fewer than 20 minority rows"):
        split(load_rows("dermatology-6"), 0, 20)
