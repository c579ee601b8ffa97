"""What a data scientist writes first for each of ten goals does what it says, or names the line."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score
from sklearn.model_selection import TunedThresholdClassifierCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import (
    BoundShiftClassifier,
    Floors,
    Status,
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


def test_a_recall_floor_is_kept_on_new_rows(rows):
    model = BoundShiftClassifier(MODEL, rule=Floors(recall=0.8), random_state=0)
    assert recall_score(*predict_new(rows, model)) >= 0.8
    assert model.boundary_.status is Status.OPTIMAL


def test_a_precision_floor_is_kept_on_new_rows(rows):
    model = BoundShiftClassifier(MODEL, rule=Floors(precision=0.6), random_state=0)
    assert precision_score(*predict_new(rows, model)) >= 0.6


def test_the_threshold_is_a_probability_that_one_can_compare_with(rows):
    X, X_new, y, _ = rows
    model = BoundShiftClassifier(MODEL).fit(X, y)
    by_hand = model.predict_proba(X_new)[:, 1] > model.threshold_
    np.testing.assert_array_equal(model.predict(X_new), by_hand)


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
