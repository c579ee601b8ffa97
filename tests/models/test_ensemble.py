"""The mean of the folds' models: what is deployed, and that it decides as its parts do."""

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import (
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
    TimeSeriesSplit,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from boundshift import BoundShiftClassifier
from boundshift.models._cross_fit import MANY_RARE_ROWS
from boundshift.models._mean import MeanOfModels, collapse_linear, mean_scores
from boundshift.models._scoring import SUREST


def draw(n_classes):
    weights = [0.9] if n_classes == 2 else [0.7, 0.2]
    return make_classification(
        900, n_features=6, n_informative=5, n_redundant=0, n_classes=n_classes,
        weights=weights, class_sep=0.8, random_state=1,
    )  # fmt: skip


TWO = draw(2)


@pytest.fixture(scope="module", params=[2, 3])
def problem(request):
    X, y = draw(request.param)
    return X * [1, 10, 0.1, 1, 100, 1] + [0, 5, 0, 1e4, 0, 0], y


LINEAR = {
    "logistic regression": LogisticRegression(max_iter=2000),
    "ridge": RidgeClassifier(),
    "standardised": make_pipeline(StandardScaler(), LogisticRegression()),
    "no middle": make_pipeline(StandardScaler(with_mean=False), LogisticRegression()),
    "two scalers": make_pipeline(StandardScaler(), StandardScaler(), RidgeClassifier()),
    "products": make_pipeline(
        PolynomialFeatures(2), StandardScaler(), LogisticRegression(max_iter=2000)
    ),
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_linear_models_become_one_of_the_same_kind(problem, name):
    X, y = problem
    clf = BoundShiftClassifier(LINEAR[name], cv=3).fit(X, y)
    assert type(clf.estimator_) is type(LINEAR[name])
    parts = [part.decision_function(X) for part in clf.estimators_]
    expected = np.mean(parts, axis=0)
    np.testing.assert_allclose(
        clf.estimator_.decision_function(X), expected, rtol=1e-7, atol=1e-7 * abs(expected).max()
    )
    moved = clf.shifted_estimator()
    assert np.mean(moved.predict(X) == clf.predict(X)) > 0.999


def test_it_is_log_odds_that_are_averaged(problem):
    X, y = problem
    clf = BoundShiftClassifier(HistGradientBoostingClassifier(max_iter=5), cv=3, ensemble=True)
    clf.fit(X, y)
    if len(clf.classes_) == 2:
        own = expit(np.mean([part.decision_function(X) for part in clf.estimators_], axis=0))
        np.testing.assert_allclose(clf.predict_proba(X)[:, 1], own, rtol=1e-9)
        np.testing.assert_array_equal(clf.predict(X), clf.predict_proba(X)[:, 1] > clf.threshold_)
    else:
        parts = [log_softmax(part.decision_function(X), axis=1) for part in clf.estimators_]
        scores = np.mean(parts, axis=0)
        np.testing.assert_allclose(clf.predict_proba(X), softmax(scores, axis=1), rtol=1e-9)
        expected = clf.classes_[(scores + clf.biases_).argmax(axis=1)]
        np.testing.assert_array_equal(clf.predict(X), expected)


def test_one_model_that_is_too_sure_does_not_outvote_the_others():
    """Where a class has three rows with nearly one value, naive Bayes has log-odds of millions."""
    X, y = draw(2)
    keep = np.concatenate([np.flatnonzero(y == 0)[:300], np.flatnonzero(y == 1)[:5]])
    X[:, 3] = np.where(y == 1, 0.1 * np.round(X[:, 3]), X[:, 3])
    clf = BoundShiftClassifier(GaussianNB(), ensemble=True).fit(X[keep], y[keep])
    joint = [part.predict_joint_log_proba(X) for part in clf.estimators_]
    log_odds = np.stack([found[:, 1] - found[:, 0] for found in joint])
    is_sure = np.abs(log_odds).max(axis=0) > 36
    assert 0.1 < is_sure.mean() < 0.9
    middle = np.where(is_sure, np.median(log_odds, axis=0), log_odds.mean(axis=0))
    np.testing.assert_allclose(clf.decision_function(X), middle, rtol=1e-9)
    np.testing.assert_array_equal(clf.predict(X), expit(middle) > clf.threshold_)
    outvoted = (expit(log_odds.mean(axis=0)) > clf.threshold_) != clf.predict(X)
    assert (is_sure & outvoted).any()


class Counted(ClassifierMixin, BaseEstimator):
    """A naive Bayes that counts its fits, and whose `fit` returns nothing."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        self.inner_ = GaussianNB().fit(X, y)
        self.classes_ = self.inner_.classes_

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


@pytest.mark.parametrize(
    ("ensemble", "rare", "fits", "why"),
    [
        ("auto", MANY_RARE_ROWS - 1, 5, "5 fold models is deployed: the rarest class has fewer"),
        ("auto", MANY_RARE_ROWS, 6, "One model is deployed"),
        (True, MANY_RARE_ROWS, 5, "5 fold models is deployed: ensemble=True"),
        (False, 50, 6, "One model is deployed"),
    ],
)
def test_a_mean_is_deployed_where_rare_rows_are_few(ensemble, rare, fits, why):
    X, y = make_classification(1500, n_informative=5, weights=[0.8], random_state=1)
    keep = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:rare]])
    Counted.fits = 0
    clf = BoundShiftClassifier(Counted(), ensemble=ensemble).fit(X[keep], y[keep])
    assert Counted.fits == fits
    assert hasattr(clf, "estimators_") == (fits == 5)
    assert clf.boundary_.n_samples[1] == rare
    assert why in clf.deployment_
    assert repr(clf).endswith(f"# {clf.deployment_} The positive class is 1.")
    assert clf.deployment_ in clf.report(X + 0.5, y).html


def test_the_same_scores_decide_either_way():
    X, y = TWO
    options = {"estimator": RandomForestClassifier(10, random_state=0), "cv": 3}
    mean, one = (BoundShiftClassifier(**options, ensemble=e).fit(X, y) for e in (True, False))
    assert mean.boundary_.wrong == one.boundary_.wrong
    assert mean.threshold_ == pytest.approx(one.threshold_, abs=0.01)
    assert mean.certificate_.error_bounds == one.certificate_.error_bounds
    assert (mean.predict_proba(X) != one.predict_proba(X)).any()


@pytest.mark.parametrize(
    ("cv", "deploys_mean"),
    [
        (RepeatedStratifiedKFold(n_splits=2, n_repeats=2, random_state=0), 4),
        (StratifiedShuffleSplit(1, test_size=0.5, random_state=0), None),
        (TimeSeriesSplit(3), None),
    ],
    ids=["repeats", "one part", "time"],
)
def test_auto_is_a_mean_where_the_folds_train_on_every_row(cv, deploys_mean):
    X, y = TWO
    clf = BoundShiftClassifier(LogisticRegression(), cv=cv).fit(X, y)
    assert len(getattr(clf, "estimators_", [])) == (deploys_mean or 0)
    asked = BoundShiftClassifier(LogisticRegression(), cv=cv, ensemble=True).fit(X, y)
    assert asked.boundary_ == clf.boundary_


def test_a_class_that_a_part_does_not_know_has_the_mean_of_the_others():
    first = np.log([[0.5, 0.25, 0.25]])
    second = np.log([[0.5, 0.5, 1.0]])
    second[0, 2] = np.nan
    both = np.concatenate([first, second])
    found = mean_scores(both, np.array([0, 0]), is_log_odds=True)
    np.testing.assert_allclose(np.exp(found), [[0.5, np.sqrt(0.125), 0.25]])


class Squared(StandardScaler):
    """A scaler of somebody's own."""

    def transform(self, X, copy=None):
        return super().transform(X) ** 2


def test_steps_that_learn_otherwise_are_not_collapsed():
    X, y = TWO
    for step in (Squared(), MinMaxScaler()):
        clf = BoundShiftClassifier(make_pipeline(step, LogisticRegression()), ensemble=True)
        assert isinstance(clf.fit(X, y).estimator_, MeanOfModels)
    models = [
        make_pipeline(PolynomialFeatures(degree), LogisticRegression(max_iter=5000)).fit(X, y)
        for degree in (1, 2)
    ]
    assert collapse_linear(models) is None
    assert collapse_linear([models[0], models[0][-1]]) is None


def draw_few(n_rare):
    """Draw rows to train on, few of them rare."""
    X, y = make_classification(
        6000, n_features=8, n_informative=4, weights=[0.9], class_sep=1.2, random_state=0
    )
    kept = np.concatenate([np.flatnonzero(y[:3000] == 0)[:300], np.flatnonzero(y == 1)[:n_rare]])
    return X[kept], y[kept]


@pytest.mark.filterwarnings("ignore:The scores take two values")
@pytest.mark.parametrize(
    ("model", "options", "n_rare", "n_models"),
    [
        (DecisionTreeClassifier(random_state=0), {}, 20, 25),
        (KNeighborsClassifier(), {"ensemble": True}, 20, 25),
        (DecisionTreeClassifier(random_state=0), {"cv": StratifiedKFold(5)}, 20, 5),
        (DecisionTreeClassifier(random_state=0), {"ensemble": True}, 120, 5),
        (DecisionTreeClassifier(random_state=0), {"ensemble": False}, 20, 0),
        (GaussianNB(), {}, 20, 5),
        (LogisticRegression(), {}, 20, 5),
    ],
)
def test_folds_are_repeated_for_few_rare_rows_and_few_distinct_scores(
    model, options, n_rare, n_models
):
    X, y = draw_few(n_rare)
    clf = BoundShiftClassifier(model, **options).fit(X, y)
    assert len(getattr(clf, "estimators_", [])) == n_models
    again = BoundShiftClassifier(model, **options).fit(X, y)
    np.testing.assert_array_equal(clf.deciding_sample_.scores, again.deciding_sample_.scores)


def test_repeated_folds_score_each_row_by_the_mean_of_five_models_without_it():
    X, y = draw_few(20)
    clf = BoundShiftClassifier(DecisionTreeClassifier(random_state=0)).fit(X, y)
    # A tree grown on all rows but some fits every row it has seen, so wrong votes are of others.
    votes = np.stack([model.predict(X) for model in clf.estimators_]).reshape(5, 5, -1)
    wrong = (votes != y).sum(axis=(0, 1))
    # A sure tree's log-odds are ln 2: its probability of 0 counts as half of the least other one.
    score = np.where(y == 1, 1, -1) * np.log(2) * (1 - 2 * wrong / 5)
    np.testing.assert_allclose(clf.deciding_sample_.scores, expit(score), atol=1e-12)


def test_the_median_of_an_even_number_of_models_is_midway():
    scores = np.array([-1.0, 3.0, 5.0, 3 * SUREST, 1.0, 2.0])
    found = mean_scores(scores, np.array([0, 0, 0, 0, 1, 1]), is_log_odds=True)
    assert found.tolist() == [4.0, 1.5]
