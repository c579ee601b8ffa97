"""A floor asked of a classifier is promised of the model that is deployed, or said not to be."""

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedKFold
from sklearn.svm import SVC

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    ClopperPearson,
    Cost,
    Floors,
    Smoothed,
    Status,
    certify,
)
from boundshift.models.training import find_demands, hold_out

N_FEATURES = 60


def draw(rng: np.random.Generator, n_samples: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    y = np.repeat([0, 1], n_samples)
    return rng.normal(size=(len(y), N_FEATURES)) + 0.3 * y[:, None], y


X, Y = draw(np.random.default_rng(0), (300, 150))


@pytest.mark.parametrize("floor", [0.7, 0.8, 0.9, 0.95])
def test_the_fewest_rows_are_those_that_can_promise_a_floor_if_none_is_wrong(floor: float) -> None:
    ((least, good, rows),) = find_demands(ClopperPearson(), Floors(recall=floor), {0: 900, 1: 50})
    assert rows == 50
    assert good > least
    assert stats.beta.ppf(0.95, 1, least) <= 1 - floor < stats.beta.ppf(0.95, 1, least - 1)


def test_no_promise_is_asked_for_by_other_rules_and_by_estimates() -> None:
    assert find_demands(ClopperPearson(), Cost(), {0: 500, 1: 500}) is None
    assert find_demands(Smoothed(), Floors(recall=0.8), {0: 500, 1: 500}) is None


def test_the_boundary_rests_on_rows_that_the_model_has_not_seen() -> None:
    model = BoundShiftClassifier(
        LogisticRegression(C=1e4), rule=Floors(recall=0.8), ensemble=False
    ).fit(X, Y)
    share = model.boundary_.n_samples[1] / 150
    assert 0.2 <= share <= 0.5
    train, held = hold_out(Y, share, 5, None, None, {})
    assert model.boundary_.status is Status.OPTIMAL
    assert model.boundary_.n_samples == (np.sum(Y[held] == 0), np.sum(Y[held] == 1))
    plain = LogisticRegression(C=1e4).fit(X[train], Y[train])
    np.testing.assert_allclose(model.estimator_.coef_, plain.coef_)
    assert model.certificate_.status == "certified"
    scores = model.positive_scores(X[held])
    again = certify(Y[held], scores, model.boundary_, chosen_here=True)
    # The negative class has no floor, the positive one a better bound than every boundary has.
    assert model.certificate_.error_bounds[0] == again.error_bounds[0]
    assert model.certificate_.error_bounds[1] <= 0.2 < again.error_bounds[1]


def test_the_summary_says_how_many_rows_were_held_out() -> None:
    model = BoundShiftClassifier(LogisticRegression(), rule=Floors(recall=0.8)).fit(X, Y)
    held = sum(model.boundary_.n_samples)
    sentence = f"{held} of 450 rows were held out of training to choose it."
    assert sentence in model.boundary_.summary()
    for rule in (Floors(recall=0.8, confidence=None), Floors(flagged=0.2)):
        estimate = BoundShiftClassifier(LogisticRegression(), rule=rule).fit(X, Y)
        assert "held out" not in estimate.boundary_.summary()
        assert sum(estimate.boundary_.n_samples) == 450


def test_a_cap_beside_a_floor_needs_no_rows_of_its_own() -> None:
    alone, both, promised = (
        find_demands(ClopperPearson(), floors, {0: 300, 1: 150})
        for floors in (
            Floors(recall=0.8),
            Floors(recall=0.8, flagged=0.02),
            Floors(recall=0.8, flagged=0.02, confidence=0.95),
        )
    )
    assert alone == both
    assert len(promised) == 2


def test_the_floor_is_kept_by_the_deployed_model_of_many_features() -> None:
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(60):
        model = BoundShiftClassifier(LogisticRegression(C=1e4), rule=Floors(recall=0.8), cv=2)
        model.fit(*draw(rng, (100, 100)))
        assert model.boundary_.status is Status.OPTIMAL
        coef = model.estimator_.coef_[0]
        # The score of a positive row is normal: its true recall is known.
        mean = 0.3 * coef.sum() + model.shifted_estimator().intercept_[0]
        kept.append(stats.norm.sf(0, mean, np.linalg.norm(coef)) >= 0.8)
    assert np.mean(kept) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 60)


def test_with_too_few_rows_it_says_not_promised_and_how_many_it_takes() -> None:
    few = np.r_[:100, 300:350]
    model = BoundShiftClassifier(LogisticRegression(), rule=Floors(recall=0.9))
    with pytest.warns(BoundaryWarning, match="29 rows kept apart, so 58 in all .* there are 50"):
        model.fit(X[few], Y[few])
    assert model.boundary_.status is Status.NOT_PROMISED
    assert model.certificate_.status == "cross-fitted"
    assert sum(model.boundary_.n_samples) == 150


def test_training_rows_promise_nothing() -> None:
    model = BoundShiftClassifier(LogisticRegression(), rule=Floors(recall=0.8), cv=None)
    with pytest.warns(BoundaryWarning, match="which flatter it"):
        model.fit(X, Y)
    assert model.boundary_.status is Status.NOT_PROMISED
    assert model.certificate_.status == "nominal"


def test_a_model_trained_elsewhere_needs_no_rows_kept_apart() -> None:
    trained = LogisticRegression().fit(X[::2], Y[::2])
    model = BoundShiftClassifier(trained, rule=Floors(recall=0.8), cv="prefit")
    model.fit(X[1::2], Y[1::2])
    assert model.boundary_.status is Status.OPTIMAL
    assert sum(model.boundary_.n_samples) == 225


def test_rows_that_belong_together_stay_together() -> None:
    groups = np.arange(len(Y)) % 90
    splits = list(GroupKFold(5).split(X, Y, groups))
    _, held = hold_out(Y, 0.3, splits, None, X, {})
    apart = set(groups[held])
    train, _ = hold_out(Y, 0.3, splits, None, X, {})
    assert not apart & set(groups[train])
    assert np.sum(Y[held] == 1) >= 45
    model = BoundShiftClassifier(LogisticRegression(), rule=Floors(recall=0.8), cv=splits)
    model.fit(X, Y)
    assert sum(model.boundary_.n_samples) == 90


def test_a_splitter_is_asked_for_its_parts() -> None:
    cv = StratifiedKFold(4)
    model = BoundShiftClassifier(LogisticRegression(), rule=Floors(recall=0.8), cv=cv).fit(X, Y)
    assert model.boundary_.n_samples == (75, 38)


def test_a_seed_draws_other_rows_and_none_always_the_same() -> None:
    first, again = (hold_out(Y, 0.3, 5, None, None, {})[1] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(hold_out(Y, 0.3, 5, 1, None, {})[1])


def test_the_rarer_class_is_the_rarer_one_among_rows_kept_apart() -> None:
    y = np.repeat([1, 0], [50, 51])
    _, held = hold_out(y, 0.5, 5, None, None, {})
    assert np.mean(y[held]) < 0.5


def test_a_kernel_cannot_be_cut_so_nothing_is_promised() -> None:
    model = BoundShiftClassifier(SVC(kernel="precomputed"), rule=Floors(recall=0.8), cv=None)
    with pytest.warns(BoundaryWarning, match="not promised"):
        model.fit(X @ X.T, Y)
