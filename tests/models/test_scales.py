"""Fold models with scales of their own are put on one, with a warning."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from boundshift import BoundaryWarning, BoundShiftClassifier
from boundshift.models.scales import find_factors


class Stretched(LogisticRegression):
    """A logistic regression; every second one has margins ten thousand times as wide."""

    count = 0

    def fit(self, X, y):
        super().fit(X, y)
        type(self).count += 1
        if type(self).count % 2:
            self.coef_, self.intercept_ = 1e4 * self.coef_, 1e4 * self.intercept_
        return self


class StretchedDuck(ClassifierMixin, BaseEstimator):
    """The same, of a kind that is not collapsed."""

    def fit(self, X, y):
        self.inner_ = Stretched().fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def decision_function(self, X):
        return self.inner_.decision_function(X)


@pytest.fixture(scope="module")
def data():
    return make_classification(1200, weights=[0.9], random_state=0)


@pytest.mark.parametrize("model", [Stretched(), StretchedDuck()], ids=["linear", "other"])
def test_a_wild_fold_does_not_decide_alone(data, model):
    X, y = data
    Stretched.count = 0
    wild = BoundShiftClassifier(model, cv=4, response_method="decision_function")
    with pytest.warns(BoundaryWarning, match="times as wide as those of another; they were put"):
        wild.fit(X[:800], y[:800])
    plain = BoundShiftClassifier(LogisticRegression(), cv=4).fit(X[:800], y[:800])
    assert np.mean(wild.predict(X[800:]) == plain.predict(X[800:])) > 0.95


def test_equal_scales_stay_as_they_are():
    scores = np.random.default_rng(0).normal(size=(5, 8))
    assert find_factors(list(scores)) is None
    assert find_factors([np.zeros(5), np.ones(5)]) is None
    assert find_factors([scores[0]]) is None


def test_factors_leave_the_common_scale():
    scores = np.random.default_rng(0).normal(size=(4, 300, 3))
    factors = find_factors([part * 10.0**k for k, part in enumerate(scores)])
    assert np.prod(factors) == pytest.approx(1)
    np.testing.assert_allclose(np.diff(np.log10(factors)), -1, atol=0.1)
