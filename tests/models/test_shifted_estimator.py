"""A copy of the model that carries the shift itself predicts alike, row for row."""

import copy

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoostClassifier
from scipy.special import expit, logit
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LogisticRegression,
    Perceptron,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC

from boundshift import BoundShiftClassifier, InvalidInputError
from boundshift.models import raw_margin, shift_module

ROWS = 6000
MODELS = {
    "logistic regression": LogisticRegression(),
    "no intercept": LogisticRegression(fit_intercept=False),
    "linear machine": LinearSVC(random_state=0),
    "machine": SVC(),
    "linear kernel": SVC(kernel="linear"),
    "nu machine": NuSVC(nu=0.1),
    "stochastic gradient": SGDClassifier(random_state=0),
    "perceptron": Perceptron(random_state=0),
    "ridge": RidgeClassifier(fit_intercept=False),
    "network": MLPClassifier((4,), solver="lbfgs", alpha=1.0, max_iter=3000, random_state=0),
    "discriminant": LinearDiscriminantAnalysis(),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "search": GridSearchCV(make_pipeline(StandardScaler(), LinearSVC(random_state=0)), {}, cv=2),
    "gradient boosting": GradientBoostingClassifier(n_estimators=8, learning_rate=0.3),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=8),
    "xgboost": xgboost.XGBClassifier(n_estimators=8, n_jobs=1),
    "xgboost forest": xgboost.XGBRFClassifier(n_estimators=8, n_jobs=1),
    "lightgbm": lightgbm.LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1),
    "lightgbm forest": lightgbm.LGBMClassifier(
        n_estimators=8,
        boosting_type="rf",
        bagging_freq=1,
        bagging_fraction=0.5,
        verbose=-1,
        n_jobs=1,
    ),
    "catboost": CatBoostClassifier(
        iterations=8, verbose=0, allow_writing_files=False, thread_count=1
    ),
}
# Its margin is a sum over trees, of which the log-odds are the mean.
SUMS = {"lightgbm forest"}
VOTING = {"machine", "linear kernel", "nu machine"}


def shift(name, X, y):
    method = "margin" if name in SUMS else "auto"
    options = {"cv": 2, "ensemble": False, "response_method": method}
    return BoundShiftClassifier(MODELS[name], **options).fit(X, y)


def draw(n_classes):
    weights = [0.9] if n_classes == 2 else [0.75, 0.15]
    return make_classification(
        ROWS + 600, n_features=6, n_informative=5, n_redundant=0, n_classes=n_classes,
        weights=weights, class_sep=1.2, random_state=1,
    )  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_the_copy_decides_alike_row_for_row(problem, name):
    X, y = problem
    clf = shift(name, X[ROWS:], y[ROWS:])
    if name in VOTING and len(clf.classes_) > 2:
        with pytest.raises(InvalidInputError, match="of two classes, got one of 3"):
            clf.shifted_estimator()
        return
    copied = clf.shifted_estimator()
    found = np.asarray(copied.predict(X)).ravel()
    np.testing.assert_array_equal(found, clf.predict(X))
    own = np.asarray(clf.estimator_.predict(X)).ravel()
    two = len(clf.classes_) == 2
    on_probabilities = two and clf.boundary_.scale == "probability"
    unmoved = 0.5 if on_probabilities else 0.0
    assert (found != own).any() == np.any(clf.threshold_ != unmoved if two else clf.biases_)
    if on_probabilities:
        log_odds = logit(np.clip(clf.predict_proba(X)[:, 1], 1e-12, 1 - 1e-12))
        expected = expit(log_odds - logit(clf.threshold_))
        np.testing.assert_allclose(copied.predict_proba(X)[:, 1], expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("name", ["logistic regression", "machine", "gradient boosting"])
def test_the_first_class_may_be_positive(two, name):
    X, y = two
    options = {"cv": 2, "ensemble": False, "pos_label": 0}
    clf = BoundShiftClassifier(MODELS[name], **options).fit(X[ROWS:], y[ROWS:])
    np.testing.assert_array_equal(clf.shifted_estimator().predict(X), clf.predict(X))


def test_classes_of_any_order_are_shifted_in_place():
    X, y = draw(3)
    labels = ["c", "a", "b"]
    model = CatBoostClassifier(
        iterations=5, verbose=0, allow_writing_files=False, thread_count=1, class_names=labels
    )
    y = np.array(labels)[y]
    clf = BoundShiftClassifier(model.fit(X[ROWS:], y[ROWS:]), cv="prefit").fit(X[:600], y[:600])
    assert clf.estimator_.classes_.tolist() == ["c", "a", "b"]
    assert clf.classes_.tolist() == ["a", "b", "c"]
    found = clf.shifted_estimator().predict(X).ravel()
    np.testing.assert_array_equal(found, clf.predict(X))


@pytest.mark.parametrize("name", [n for n in MODELS if n not in ("lightgbm forest", "search")])
def test_the_model_itself_stays(two, name):
    X, y = two
    clf = BoundShiftClassifier(copy.deepcopy(MODELS[name]), cv=None).fit(X[ROWS:], y[ROWS:])
    before = clf.positive_scores(X[:500])
    clf.shifted_estimator()
    np.testing.assert_array_equal(clf.positive_scores(X[:500]), before)


def test_the_intercept_is_the_papers(two):
    X, y = two
    clf = BoundShiftClassifier(LogisticRegression()).fit(X[ROWS:], y[ROWS:])
    linear = clf.shifted_estimator()
    np.testing.assert_array_equal(linear.coef_, clf.estimator_.coef_)
    np.testing.assert_allclose(linear.intercept_, clf.estimator_.intercept_ - logit(clf.threshold_))
    p = linear.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(p > 0.5, clf.predict(X) == 1)


def test_a_frozen_model_is_thawed(two):
    X, y = two
    frozen = FrozenEstimator(LogisticRegression().fit(X[ROWS:], y[ROWS:]))
    clf = BoundShiftClassifier(frozen).fit(X[:600], y[:600])
    assert type(clf.shifted_estimator()) is LogisticRegression


def test_early_stopping_is_kept(two):
    X, y = two
    rows, held_out = (X[ROWS:], y[ROWS:]), (X[:600], y[:600])
    first = lightgbm.train(
        {"objective": "binary", "learning_rate": 0.9, "verbose": -1},
        lightgbm.Dataset(*rows),
        num_boost_round=200,
        valid_sets=[lightgbm.Dataset(*held_out)],
        callbacks=[lightgbm.early_stopping(2, verbose=False)],
        keep_training_booster=True,
    )
    assert first.num_trees() > first.best_iteration
    second = xgboost.XGBClassifier(n_estimators=200, learning_rate=0.9, early_stopping_rounds=2)
    second.fit(*rows, eval_set=[held_out], verbose=False)
    assert second.get_booster().num_boosted_rounds() > second.best_iteration + 1
    for model in (first, second):
        clf = BoundShiftClassifier(model, cv="prefit").fit(X[600:1200], y[600:1200])
        moved = raw_margin(clf.shifted_estimator(), X)
        np.testing.assert_array_equal(moved > 0, clf.predict(X) == 1)


# What cannot be.


def test_a_model_without_an_intercept_is_refused(two):
    X, y = two
    clf = BoundShiftClassifier(RandomForestClassifier(5), ensemble=False)
    with pytest.raises(InvalidInputError, match="must be the model's own margins"):
        clf.fit(X[ROWS:], y[ROWS:]).shifted_estimator()


def test_a_margin_without_an_intercept_is_refused(two):
    from sklearn.naive_bayes import GaussianNB

    X, y = two
    clf = BoundShiftClassifier(GaussianNB(), ensemble=False).fit(X[ROWS:], y[ROWS:])
    with pytest.raises(InvalidInputError, match="intercept can carry the shift, got GaussianNB"):
        clf.shifted_estimator()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (xgboost.XGBClassifier(n_estimators=3, booster="dart"), "booster='dart'"),
        (
            lightgbm.LGBMClassifier(n_estimators=3, linear_tree=True, verbose=-1, n_jobs=1),
            "linear_tree=True",
        ),
    ],
    ids=["dart", "linear tree"],
)
def test_boosters_whose_leaves_cannot_carry_it_are_refused(two, model, message):
    X, y = two
    clf = BoundShiftClassifier(model, cv=None).fit(X[ROWS:], y[ROWS:])
    with pytest.raises(InvalidInputError, match=message):
        clf.shifted_estimator()


def test_nothing_is_shifted_before_fit():
    with pytest.raises(NotFittedError):
        BoundShiftClassifier(LogisticRegression()).shifted_estimator()


def test_only_modules_are_shifted_in_place():
    with pytest.raises(InvalidInputError, match="must be a PyTorch module, got LogisticRegression"):
        shift_module(LogisticRegression(), 1.0)
