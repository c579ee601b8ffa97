"""Margins of models that hide them, and of models that are none of scikit-learn's kind."""

import sys

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoostClassifier
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier, InvalidInputError, find_boundary
from boundshift.models._scoring import raw_margin


def quiet_cat(**options):
    return CatBoostClassifier(
        iterations=20, verbose=0, allow_writing_files=False, thread_count=1, **options
    )


WRAPPERS = {
    "xgboost": xgboost.XGBClassifier(n_estimators=20, n_jobs=1),
    "lightgbm": lightgbm.LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1),
    "catboost": quiet_cat(),
    "network": MLPClassifier((4,), solver="lbfgs", alpha=1.0, max_iter=2000, random_state=0),
    "bayes": GaussianNB(),
}


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("problem", ["data", "three"])
def test_margins_are_the_logarithms_of_the_odds(name, problem, request):
    X, y = request.getfixturevalue(problem)
    model = clone(WRAPPERS[name]).fit(X, y)
    p = np.asarray(model.predict_proba(X), dtype=np.float64)
    margin = raw_margin(model, X).astype(np.float64)
    if margin.ndim == 1:
        margin = np.stack([np.zeros(len(X)), margin], axis=1)
    rows = (p > 1e-4).all(axis=1)
    odds = np.log(p[rows, 1] / p[rows, 0])
    np.testing.assert_allclose(margin[rows, 1] - margin[rows, 0], odds, rtol=2e-3, atol=2e-3)


def test_a_pipeline_is_looked_through(data):
    X, y = data
    piped = make_pipeline(StandardScaler(), GridSearchCV(clone(WRAPPERS["xgboost"]), {}, cv=2))
    piped.fit(X, y)
    booster = piped[-1].best_estimator_.get_booster()
    rows = xgboost.DMatrix(piped[0].transform(X))
    np.testing.assert_array_equal(raw_margin(piped, X), booster.predict(rows, output_margin=True))


# Models that are none of scikit-learn's kind; Boosters are in `test_matrix.py`.


def test_a_class_that_fit_does_not_see_is_missed(three):
    X, y = three
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
