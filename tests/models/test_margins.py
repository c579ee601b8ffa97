"""Margins of models that hide them, and of models that are none of scikit-learn's kind."""

import sys

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoost, CatBoostClassifier
from scipy.special import expit
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier, InvalidInputError, find_boundary
from boundshift.models import raw_margin


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


# Models that are none of scikit-learn's kind.


def boosters(X, y, n_classes):
    many = n_classes > 2
    classes = {"num_class": n_classes} if many else {}
    return {
        "xgboost": xgboost.train(
            {"objective": "multi:softprob" if many else "binary:logistic", **classes},
            xgboost.DMatrix(X, y),
            num_boost_round=10,
        ),
        "lightgbm": lightgbm.train(
            {"objective": "multiclass" if many else "binary", "verbose": -1, **classes},
            lightgbm.Dataset(X, y),
            num_boost_round=10,
        ),
        "catboost": CatBoost(
            {
                "loss_function": "MultiClass" if many else "Logloss",
                "iterations": 10,
                "verbose": 0,
                "allow_writing_files": False,
            }
        ).fit(X, y),
    }


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost"])
def test_native_boosters_are_scored_and_never_touched(data, name):
    X, y = data
    booster = boosters(X[:300], y[:300], 2)[name]
    before = raw_margin(booster, X)
    clf = BoundShiftClassifier(booster, cv="prefit").fit(X[300:], y[300:])
    assert clf.boundary_ == find_boundary(y[300:], before[300:].astype(np.float64))
    clf.shifted_estimator()
    assert clf.estimator_ is booster
    np.testing.assert_array_equal(raw_margin(booster, X), before)


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost"])
def test_native_boosters_of_many_classes(three, name):
    X, y = three
    booster = boosters(X[:300], y[:300], 3)[name]
    clf = BoundShiftClassifier(booster, cv="prefit").fit(X[300:], y[300:])
    expected = (raw_margin(booster, X) + clf.biases_).argmax(axis=1)
    np.testing.assert_array_equal(clf.predict(X), expected)


def test_a_class_that_fit_does_not_see_is_missed(three):
    X, y = three
    booster = boosters(X, y, 3)["xgboost"]
    with pytest.raises(InvalidInputError, match=r"one column per class \(2: \[0, 1\]\), got 3"):
        BoundShiftClassifier(booster, cv="prefit").fit(X[y < 2], y[y < 2])


def weigh(X):
    return X[:, 1] - X[:, 0]


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
@pytest.mark.parametrize("shape", ["vector", "column", "two columns"])
def test_a_function_is_a_model(dtype, shape):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [200, 20])
    X = rng.normal(size=(220, 2)) + np.array([0, 4]) * y[:, None]

    def model(rows):
        scores = weigh(rows).astype(dtype)
        return {
            "vector": scores,
            "column": scores[:, None],
            "two columns": np.stack([-scores / 2, scores / 2], axis=1),
        }[shape]

    clf = BoundShiftClassifier(model, cv="prefit").fit(X, y)
    expected = find_boundary(y, weigh(X).astype(dtype).astype(np.float64))
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
