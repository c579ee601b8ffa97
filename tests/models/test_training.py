"""Rows that decide: held out for a promise, or of a kernel."""

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    Cost,
    Floors,
    Status,
    certify,
    find_boundary,
)
from boundshift.models._holdout import draw_units

# A kernel.

KERNEL_X, KERNEL_Y = make_classification(400, weights=[0.9], flip_y=0.02, random_state=0)


def test_a_precomputed_kernel_is_cut_both_ways():
    kernel = rbf_kernel(KERNEL_X, gamma=0.1)
    found = BoundShiftClassifier(SVC(kernel="precomputed"), cv=3).fit(kernel, KERNEL_Y)
    scores = cross_val_predict(
        SVC(gamma=0.1), KERNEL_X, KERNEL_Y, cv=StratifiedKFold(3), method="decision_function"
    )
    assert found.threshold_ == pytest.approx(find_boundary(KERNEL_Y, scores).threshold, abs=1e-6)
    assert found.predict(kernel[:7]).shape == (7,)
    # It cannot be cut for a promise.
    model = BoundShiftClassifier(SVC(kernel="precomputed"), rule=Floors(recall=0.8), cv=None)
    with pytest.warns(BoundaryWarning, match="not guaranteed"):
        model.fit(kernel, KERNEL_Y)


# Floors are promised of the deployed model, or said not to be.

N_FEATURES = 60


def draw(rng, n_samples):
    y = np.repeat([0, 1], n_samples)
    return rng.normal(size=(len(y), N_FEATURES)) + 0.3 * y[:, None], y


X, Y = draw(np.random.default_rng(0), (300, 150))


def promise(model=None, recall=0.8, **options):
    rule = options.pop("rule", Floors(recall=recall))
    return BoundShiftClassifier(model or LogisticRegression(), rule=rule, **options)


def test_the_boundary_rests_on_rows_that_the_model_has_not_seen():
    model = promise(LogisticRegression(C=1e4), ensemble=False).fit(X, Y)
    share = model.boundary_.n_samples[1] / 150
    assert 0.2 <= share <= 0.5
    is_held = draw_units(np.arange(450), Y, share, None)
    train = np.flatnonzero(~is_held)
    held = np.flatnonzero(is_held)
    assert model.boundary_.status is Status.OPTIMAL
    assert model.boundary_.n_samples == (np.sum(Y[held] == 0), np.sum(Y[held] == 1))
    plain = LogisticRegression(C=1e4).fit(X[train], Y[train])
    np.testing.assert_allclose(model.estimator_.coef_, plain.coef_)
    assert model.certificate_.status == "certified"
    again = certify(Y[held], model.positive_scores(X[held]), model.boundary_, chosen_here=True)
    # The negative class has no floor, the positive one a better bound than every boundary has.
    assert model.certificate_.error_bounds[0] == again.error_bounds[0]
    assert model.certificate_.error_bounds[1] <= 0.2 < again.error_bounds[1]
    assert f"{len(held)} of 450 rows were held out of training" in model.boundary_.summary()


@pytest.mark.parametrize(
    "options",
    [
        {"rule": Floors(recall=0.8, confidence=None)},
        {"rule": Floors(flagged=0.2)},
        {"rule": Cost(false_negative=2)},
        {"curve": "smoothed"},
    ],
    ids=str,
)
def test_an_estimate_holds_nothing_out(options):
    assert sum(promise(**options).fit(X, Y).boundary_.n_samples) == 450


def test_the_floor_is_kept_by_the_deployed_model_of_many_features():
    rng = np.random.default_rng(1)
    kept = []
    for _ in range(60):
        model = promise(LogisticRegression(C=1e4), cv=2).fit(*draw(rng, (100, 100)))
        assert model.boundary_.status is Status.OPTIMAL
        coef = model.estimator_.coef_[0]
        # The score of a positive row is normal: its true recall is known.
        mean = 0.3 * coef.sum() + model.shifted_estimator().intercept_[0]
        kept.append(stats.norm.sf(0, mean, np.linalg.norm(coef)) >= 0.8)
    assert np.mean(kept) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 60)


def test_training_rows_promise_nothing():
    model = promise(cv=None)
    with pytest.warns(BoundaryWarning, match="which flatter it"):
        model.fit(X, Y)
    assert model.boundary_.status is Status.NOT_GUARANTEED
    assert model.certificate_.status == "nominal"


def test_a_model_trained_elsewhere_needs_no_rows_kept_apart():
    model = promise(LogisticRegression().fit(X[::2], Y[::2]), cv="prefit").fit(X[1::2], Y[1::2])
    assert model.boundary_.status is Status.OPTIMAL
    assert sum(model.boundary_.n_samples) == 225
