"""Which rows are held out for guaranteed floors: a random sample, whole groups, no copies."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    ClassFloors,
    Cost,
    Floors,
    InvalidInputError,
    Status,
    rows_needed,
)
from boundshift.models._holdout import draw_units, find_units

N = 600
Y = np.repeat([0, 1], [400, 200])
X = np.random.default_rng(0).normal(size=(N, 3)) + Y[:, None]
FLOOR = Floors(recall=0.8)


def guarantee(model=None, **options):
    model = LogisticRegression() if model is None else model
    return BoundShiftClassifier(model, **{"rule": FLOOR} | options)


def most_broken(n, delta=0.05):
    """Return how many of n guarantees may be broken; more have a probability of 1e-4."""
    return stats.binom.ppf(1 - 1e-4, n, delta)


# A random sample.


def draw_patients(rng, n_large=46, n_small=150, n_healthy=200):
    """Return visits of ill patients, some with 100 that are easy to find, and of healthy ones."""
    sizes = np.repeat([100, 1, 1], [n_large, n_small, n_healthy])
    centres = np.repeat([3.0, 1.0, -1.0], [n_large, n_small, n_healthy])
    patient = np.repeat(np.arange(len(sizes)), sizes)
    x = centres[patient] + rng.normal(size=len(patient))
    return x[:, None], (centres[patient] > 0).astype(int), patient


@pytest.mark.parametrize("cv", [StratifiedGroupKFold(5), GroupKFold(5)], ids=str)
def test_a_floor_over_patients_holds_if_large_ones_are_easy(cv):
    rng = np.random.default_rng(1)
    broken = 0
    n_fits = 12
    for _ in range(n_fits):
        x, y, patient = draw_patients(rng)
        model = guarantee(rule=Floors(recall=0.7), cv=cv, ensemble=False)
        model.fit(x, y, groups=patient)
        assert model.boundary_.guaranteed
        line = model.shifted_estimator()
        cut = -line.intercept_[0] / line.coef_[0, 0]
        large, small = stats.norm.sf(cut, [3.0, 1.0])
        broken += (46 * large + 150 * small) / 196 < 0.7
    assert broken <= most_broken(n_fits)


def test_a_floor_holds_in_a_table_that_is_sorted():
    rng = np.random.default_rng(2)
    broken = 0
    n_fits = 30
    for _ in range(n_fits):
        y = rng.permutation(Y)
        x = rng.normal(size=N) + y
        order = np.argsort(-x)
        model = guarantee(cv=StratifiedKFold(5)).fit(x[order, None], y[order])
        line = model.shifted_estimator()
        broken += stats.norm.sf(-line.intercept_[0] / line.coef_[0, 0], 1.0) < 0.8
    assert broken <= most_broken(n_fits)


def test_each_kind_of_group_has_its_share():
    unit = np.repeat(np.arange(300), 2)
    y = np.concatenate([np.tile([0, 0], 200), np.tile([0, 1], 60), np.tile([1, 1], 40)])
    is_drawn = draw_units(unit, y, 0.3, 0)
    assert [is_drawn[:200].sum(), is_drawn[200:260].sum(), is_drawn[260:].sum()] == [60, 18, 12]


def test_a_seed_draws_other_rows():
    first, again, other = (draw_units(np.arange(N), Y, 0.3, seed) for seed in (None, None, 1))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_rarer_class_of_all_rows_is_positive_if_as_many_of_both_are_held_out():
    y = np.array(["common", "rare"])[np.repeat([0, 1], [201, 200])]
    rows = np.random.default_rng(0).normal(size=(401, 3)) + (y == "rare")[:, None]
    model = guarantee(holdout=0.5).fit(rows, y)
    assert model.boundary_.labels == ("common", "rare")
    assert model.boundary_.n_samples == (101, 100)


# Splitters cut the other rows only.

GROUPS = np.arange(N) % 150
SPLITTERS = {
    "a list of one": [(np.arange(0, N, 2), np.arange(1, N, 2))],
    "a list": list(StratifiedKFold(4).split(X, Y)),
    "masks": [(np.arange(N) % 2 == 0, np.arange(N) % 2 == 1)],
    "predefined": PredefinedSplit(np.arange(N) % 3),
    "shuffled": StratifiedShuffleSplit(3, test_size=0.1, random_state=0),
    "folds": StratifiedKFold(4),
    "number": 4,
}


@pytest.mark.parametrize("cv", SPLITTERS.values(), ids=SPLITTERS)
def test_every_splitter_goes_with_floors(cv):
    model = guarantee(cv=cv, holdout=0.3).fit(X, Y)
    assert model.boundary_.status is Status.OPTIMAL
    assert model.boundary_.n_samples == (120, 60)
    assert "180 of 600 rows were held out" in model.boundary_.message


@pytest.mark.parametrize("cv", [GroupKFold(5), list(GroupKFold(5).split(X, Y, GROUPS))])
def test_whole_groups_are_held_out_with_a_splitter_or_its_splits(cv):
    model = guarantee(cv=cv, holdout=0.4).fit(X, Y, groups=GROUPS)
    held = model.deciding_sample_.rows
    assert len(set(GROUPS[held])) == 60
    assert not set(GROUPS[held]) & set(np.delete(GROUPS, held))
    assert model.boundary_.guaranteed


def test_groups_are_counted_to_see_whether_there_are_enough():
    with pytest.warns(BoundaryWarning, match="14 groups kept apart, so 28 in all .* there are 20"):
        guarantee(cv=GroupKFold(5)).fit(X, Y, groups=np.arange(N) % 20)


# The share.


@pytest.mark.parametrize("share", [0.1, 0.25, 0.7])
def test_the_share_that_is_asked_for_is_held_out(share):
    model = guarantee(holdout=share).fit(X, Y)
    assert model.boundary_.n_samples == (400 * share, 200 * share)


@pytest.mark.parametrize(("holdout", "n_positive", "times"), [(0.05, 200, 20), (None, 20, 2)])
def test_too_few_rows_for_the_floor_say_how_many_it_takes(holdout, n_positive, times):
    rows = slice(0, 400 + n_positive)
    least = rows_needed(FLOOR)
    words = f"{least} rows kept apart, so {least * times} in all of which there are {n_positive}"
    with pytest.warns(BoundaryWarning, match=words):
        model = guarantee(holdout=holdout).fit(X[rows], Y[rows])
    assert model.boundary_.status is Status.NOT_GUARANTEED
    assert model.certificate_.status == "cross-fitted"
    assert model.boundary_.n_samples == (400, n_positive)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"holdout": 1.0}, "`holdout` must be"),
        ({"holdout": 0.3, "cv": None}, "`holdout` must be None with cv=None"),
        ({"holdout": 0.3, "cv": "prefit"}, "with a model that is trained already"),
        ({"holdout": 0.3, "rule": Cost()}, "with a rule that guarantees no floors"),
        ({"chosen_among": 0}, "`chosen_among` must be a whole number from 1, got 0"),
    ],
    ids=str,
)
def test_a_share_that_cannot_be_used_is_refused(options, words):
    model = LogisticRegression().fit(X, Y)
    with pytest.raises(InvalidInputError, match=words):
        guarantee(model, **options).fit(X, Y)


# Copies.


def draw_noise(rng, n_common=500, n_rare=30, times=15):
    """Return rows that tell nothing, those of the rare class several times."""
    rows = rng.normal(size=(n_common + n_rare, 5))
    y = np.repeat([0, 1], [n_common, n_rare])
    index = np.concatenate([np.arange(n_common), np.repeat(np.arange(n_rare) + n_common, times)])
    return rows[index], y[index]


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_copies_of_rare_rows_guarantee_nothing_that_is_false():
    rng = np.random.default_rng(3)
    broken = 0
    fresh = rng.normal(size=(4000, 5))
    for seed in range(6):
        rows, y = draw_noise(rng)
        forest = RandomForestClassifier(20, random_state=seed)
        with pytest.warns(BoundaryWarning, match="420 in all"):
            model = guarantee(forest, rule=Floors(recall=0.7)).fit(rows, y)
        if model.boundary_.guaranteed:
            broken += np.mean(model.predict(fresh)) < 0.7
            assert model.certificate_.n_samples[1] <= 15
    assert broken <= 1


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_copies_count_once_for_a_model_that_is_trained_elsewhere():
    trained = LogisticRegression().fit(X[::2], Y[::2])
    rows = X[1::2]
    y = Y[1::2]
    once = guarantee(trained, cv="prefit").fit(rows, y)
    copied = guarantee(trained, cv="prefit").fit(np.tile(rows, (9, 1)), np.tile(y, 9))
    assert copied.threshold_ == once.threshold_
    assert copied.certificate_ == once.certificate_


def test_copies_stay_together_and_join_groups():
    rows = np.random.default_rng(0).normal(size=(40, 2))
    rows[[2, 4]] = rows[0]
    y = np.arange(40) % 2
    units = find_units(rows, y, None)
    assert units.number[0] == units.number[2] == units.number[4]
    assert (units.n_copies, units.count(y == 0), units.count(y == 1)) == (2, 18, 20)
    kept = units.keep_one(np.arange(40), y)
    assert kept.tolist() == np.delete(np.arange(40), [2, 4]).tolist()
    joined = find_units(rows, y, np.arange(40) // 3)
    assert joined.number.tolist() == [0] * 6 + (np.arange(34) // 3 + 1).tolist()
    assert joined.keep_one(np.arange(40), y).tolist() == np.arange(40).tolist()


@pytest.mark.parametrize("share", [0.5, 0.02])
def test_rows_with_few_values_are_no_copies(share):
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < share).astype(int)
    rows = np.c_[rng.integers(18, 95, 3000), np.round(rng.normal(size=3000) + y, 1), y]
    assert len(np.unique(rows, axis=0)) < 2900
    assert find_units(rows, y, None).n_copies == 0


def test_copies_of_one_class_are_found_among_rows_with_few_values():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 12, (1000, 4))
    y = np.repeat([0, 1], [970, 30])
    index = np.concatenate([np.arange(970), np.repeat(np.arange(970, 1000), 15)])
    units = find_units(rows[index], y[index], None)
    assert units.count(y[index] == 1) == 30
    assert units.count(y[index] == 0) == 970


def test_sparse_copies_are_found():
    rows = np.where(X > 0.5, X, 0.0)
    index = np.r_[np.arange(N), np.arange(N)]
    dense = find_units(rows[index], Y[index], None)
    assert find_units(sparse.csr_array(rows[index]), Y[index], None).n_copies == dense.n_copies


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_floors_of_classes_count_copies_once():
    rows, y = load_iris(return_X_y=True)
    model = guarantee(LogisticRegression(max_iter=1000), rule=ClassFloors(recall={2: 0.5}))
    n = model.fit(np.tile(rows, (4, 1)), np.tile(y, 4)).certificate_.n_samples
    assert sum(n) <= 75


# One of several fits.


@pytest.mark.parametrize("chosen_among", [1, 8])
def test_the_best_of_several_fits_keeps_its_floor_if_the_risk_is_shared(chosen_among):
    rng = np.random.default_rng(4)
    broken = 0
    n_runs = 60
    for _ in range(n_runs):
        y = np.repeat([0, 1], [150, 150])
        rows = rng.normal(size=(300, 8)) + y[:, None]
        fits = [
            guarantee(
                lambda X, k=k: X[:, k], cv="prefit", chosen_among=chosen_among, pos_label=1
            ).fit(rows, y)
            for k in range(8)
        ]
        best = max(fits, key=lambda fit: fit.threshold_)
        broken += stats.norm.sf(best.threshold_, 1.0) < 0.8
    if chosen_among == 8:
        assert broken <= most_broken(n_runs)
    else:
        assert broken > most_broken(n_runs)


def test_the_shared_risk_is_that_of_the_floors_and_of_the_certificate():
    model = guarantee(chosen_among=5).fit(X, Y)
    assert model.curve_.confidence == pytest.approx(0.99)
    assert model.certificate_.confidence == pytest.approx(0.99)
    assert "one of 5 fits may be chosen" in model.boundary_.message
    plain = BoundShiftClassifier(LogisticRegression(), chosen_among=5).fit(X, Y)
    assert plain.certificate_.confidence == pytest.approx(0.99)
