"""What a data scientist writes first for each of ten goals does what it says, or names the line."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, precision_score, recall_score
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import boundshift
from boundshift import (
    BoundShiftClassifier,
    Cost,
    Floors,
    Status,
    certify,
    compare_boundaries,
    find_boundary,
)

MODEL = LogisticRegression()


@pytest.fixture(scope="module")
def rows():
    X, y = make_classification(12_000, weights=[0.9], class_sep=1.2, random_state=3)
    return train_test_split(X, y, stratify=y, random_state=0)


@pytest.fixture(scope="module")
def scores(rows):
    X, X_new, y, y_new = rows
    trained = LogisticRegression().fit(X, y)
    return y_new, trained.predict_proba(X_new)[:, 1]


def predict_new(rows, model):
    X, X_new, y, y_new = rows
    return y_new, model.fit(X, y).predict(X_new)


def test_f1_is_better_than_the_model_s_own(rows):
    own = f1_score(*predict_new(rows, LogisticRegression()))
    assert f1_score(*predict_new(rows, BoundShiftClassifier(MODEL, rule="f1"))) > own


def test_a_recall_floor_is_kept_on_new_rows(rows):
    model = BoundShiftClassifier(MODEL, rule=Floors(recall=0.8), random_state=0)
    assert recall_score(*predict_new(rows, model)) >= 0.8
    assert model.boundary_.status is Status.OPTIMAL


def test_a_precision_floor_is_kept_on_new_rows(rows):
    model = BoundShiftClassifier(MODEL, rule=Floors(precision=0.6), random_state=0)
    assert precision_score(*predict_new(rows, model)) >= 0.6


def cost_of(y, predicted, alarm=1, miss=20):
    return alarm * np.sum((y == 0) & (predicted == 1)) + miss * np.sum((y == 1) & (predicted == 0))


def test_costs_come_out_lower(rows):
    own = cost_of(*predict_new(rows, LogisticRegression()))
    costs = BoundShiftClassifier(MODEL, rule=Cost(false_positive=1, false_negative=20))
    assert cost_of(*predict_new(rows, costs)) < own / 2


def test_costs_by_row_come_out_lower(scores):
    y, s = scores
    amounts = np.random.default_rng(0).lognormal(3, 1, len(y))
    chosen = find_boundary(y, s, row_cost=amounts).threshold
    lost = {t: amounts[(s > t) != y].sum() for t in (chosen, 0.5)}
    assert lost[chosen] <= lost[0.5]


def test_weights_count_like_repeated_rows(scores):
    y, s = scores
    often = np.where(np.arange(len(y)) % 2, 1, 2)
    weighted = find_boundary(y, s, sample_weight=often, rule="f1", curve="empirical")
    repeated = find_boundary(np.repeat(y, often), np.repeat(s, often), rule="f1", curve="empirical")
    assert weighted.threshold == pytest.approx(repeated.threshold, abs=1e-12)


def test_weights_in_fit_move_the_boundary(rows):
    X, _, y, _ = rows
    plain = BoundShiftClassifier(MODEL, rule="f1").fit(X, y)
    weighted = BoundShiftClassifier(MODEL, rule="f1").fit(
        X, y, sample_weight=np.where(y == 1, 2.0, 1.0)
    )
    assert weighted.threshold_ != plain.threshold_


def test_a_rarer_class_where_one_decides_lifts_the_threshold(scores):
    here = find_boundary(*scores, rule=Cost(false_negative=20)).threshold
    there = find_boundary(*scores, rule=Cost(false_negative=20, prevalence=0.001)).threshold
    assert there > here


def test_a_saved_model_decides_alike(rows, tmp_path):
    X, X_new, y, _ = rows
    model = BoundShiftClassifier(MODEL).fit(X, y)
    boundshift.save(model, tmp_path / "model.skops")
    loaded = boundshift.load(tmp_path / "model.skops")
    assert loaded.predict(X_new).tolist() == model.predict(X_new).tolist()


def test_the_threshold_is_a_probability_that_one_can_compare_with(rows):
    X, X_new, y, _ = rows
    model = BoundShiftClassifier(MODEL).fit(X, y)
    by_hand = model.predict_proba(X_new)[:, 1] > model.threshold_
    np.testing.assert_array_equal(model.predict(X_new), by_hand)


def test_a_certificate_takes_the_model_s_probabilities(rows):
    X, X_new, y, y_new = rows
    model = BoundShiftClassifier(MODEL).fit(X, y)
    found = certify(y_new, model.predict_proba(X_new)[:, 1], model.boundary_)
    missed = 1 - recall_score(y_new, model.predict(X_new))
    assert found.errors[1] == pytest.approx(missed)
    assert found.error_bounds[1] > missed


def test_weights_need_no_name_of_a_step(rows):
    X, _, y, _ = rows
    model = BoundShiftClassifier(make_pipeline(StandardScaler(), MODEL), rule="f1")
    model.fit(X, y, sample_weight=np.where(y == 1, 2.0, 1.0))
    assert model.boundary_.n_samples == (np.sum(y == 0), 2 * np.sum(y == 1))


def test_one_word_takes_the_place_of_scikit_learn_s_class(rows):
    X, X_new, y, y_new = rows
    for kind in (TunedThresholdClassifierCV, BoundShiftClassifier):
        model = kind(MODEL).fit(X, y)
        own = model.estimator_
        np.testing.assert_array_equal(model.predict_proba(X_new), own.predict_proba(X_new))
        np.testing.assert_array_equal(model.decision_function(X_new), own.decision_function(X_new))
        assert recall_score(y_new, model.predict(X_new)) > recall_score(y_new, own.predict(X_new))


def test_two_boundaries_are_compared_on_the_same_rows(scores):
    y, s = scores
    new = find_boundary(y[::2], s[::2])
    compared = compare_boundaries(y[1::2], s[1::2], 0.5, s[1::2], new)
    assert "0.95" in str(compared) or "95%" in str(compared)


def test_many_classes_need_no_other_line():
    X, y = make_classification(
        6000, n_classes=3, n_informative=6, weights=[0.9, 0.07, 0.03], random_state=0
    )
    X, X_new, y, y_new = train_test_split(X, y, stratify=y, random_state=0)
    recalls = [
        recall_score(y_new, model.fit(X, y).predict(X_new), average="macro")
        for model in (LogisticRegression(), BoundShiftClassifier(MODEL))
    ]
    assert recalls[1] > recalls[0] + 0.1
