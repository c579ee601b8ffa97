"""Models that are none of scikit-learn's kind; margins of the others are in `test_matrix.py`."""

import sys

import numpy as np
import pytest
import xgboost
from scipy.special import expit
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier, InvalidInputError, find_boundary


def test_a_class_that_fit_does_not_see_is_missed():
    X, y = make_classification(600, n_informative=5, n_classes=3, random_state=0)
    params = {"objective": "multi:softprob", "num_class": 3}
    booster = xgboost.train(params, xgboost.DMatrix(X, y), num_boost_round=2)
    with pytest.raises(InvalidInputError, match=r"one column per class \(2: \[0, 1\]\), got 3"):
        BoundShiftClassifier(booster, cv="prefit").fit(X[y < 2], y[y < 2])


@pytest.mark.parametrize("shape", ["vector", "column", "two columns"])
def test_a_function_is_a_model(shape):
    y = np.repeat([0, 1], [200, 20])
    X = np.random.default_rng(0).normal(size=(220, 2)) + np.array([0, 4]) * y[:, None]

    def model(rows):
        scores = (rows[:, 1] - rows[:, 0]).astype(np.float16)
        if shape == "two columns":
            return np.stack([-scores / 2, scores / 2], axis=1)
        return scores if shape == "vector" else scores[:, None]

    clf = BoundShiftClassifier(model, cv="prefit").fit(X, y)
    expected = find_boundary(y, (X[:, 1] - X[:, 0]).astype(np.float16).astype(np.float64))
    assert clf.threshold_ == pytest.approx(expected.threshold, rel=1e-9)


class Duck:
    """A trained classifier that knows nothing of scikit-learn."""

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-X[:, 0]))
        return np.stack([1 - p, p], axis=1)


def test_a_classifier_of_ones_own():
    y = np.repeat([0, 1], [200, 20])
    X = np.random.default_rng(0).normal(size=(220, 2)) + 4 * y[:, None]
    clf = BoundShiftClassifier(Duck(), cv="prefit").fit(X, y)
    assert clf.threshold_ == pytest.approx(expit(find_boundary(y, X[:, 0]).threshold))
    np.testing.assert_array_equal(clf.predict_proba(X), Duck().predict_proba(X))
    with pytest.raises(InvalidInputError, match="`cv` must be 'prefit' for a Duck"):
        BoundShiftClassifier(Duck()).fit(X, y)


def test_no_library_is_imported_to_look(data, monkeypatch):
    for name in ("xgboost", "lightgbm", "catboost", "torch", "skorch", "skops", "onnx"):
        monkeypatch.setitem(sys.modules, name, None)
    BoundShiftClassifier(LogisticRegression(), cv=2).fit(*data).shifted_estimator()
