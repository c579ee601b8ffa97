"""Fold models whose scores are on different scales: a warning, and nothing is stretched."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import BoundaryWarning, BoundShiftClassifier


def g_mean(y, predicted):
    return np.sqrt(recall_score(y, predicted) * recall_score(y, predicted, pos_label=0))


class Stretched(ClassifierMixin, BaseEstimator):
    """A logistic regression; every second one has other margins."""

    fits = 0

    def __init__(self, change=None):
        self.change = change

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_
        type(self).fits += 1
        self.is_changed_ = type(self).fits % 2 == 0
        return self

    def decision_function(self, X):
        margin = self.inner_.decision_function(X)
        return self.change(margin) if self.is_changed_ else margin


@pytest.fixture(scope="module")
def data():
    return make_classification(800, weights=[0.9], random_state=0)


def test_few_rare_rows_do_not_let_one_fold_decide_alone():
    X, y = make_classification(
        9000, 12, n_informative=5, n_clusters_per_class=2, weights=[0.9], class_sep=0.9,
        flip_y=0.01, random_state=72,
    )  # fmt: skip
    rows = np.concatenate([np.flatnonzero(y == 0)[:500], np.flatnonzero(y == 1)[:5]])
    rest = np.setdiff1d(np.arange(len(y)), rows)
    model = HistGradientBoostingClassifier(max_iter=40, min_samples_leaf=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        ours = BoundShiftClassifier(model, ensemble=True).fit(X[rows], y[rows])
    tuned = TunedThresholdClassifierCV(model, scoring=make_scorer(g_mean)).fit(X[rows], y[rows])
    assert np.abs(ours.decision_function(X)).max() < 100
    assert g_mean(y[rest], ours.predict(X[rest])) > g_mean(y[rest], tuned.predict(X[rest])) - 0.05


def test_wild_folds_are_told(data):
    with pytest.warns(BoundaryWarning, match=r"spread 1\.41e\+04 times as wide as those"):
        BoundShiftClassifier(Stretched(lambda s: 1e4 * s), cv=4).fit(*data)


@pytest.mark.parametrize(
    "change",
    [
        lambda s: 3 * s,
        np.zeros_like,
        lambda s: np.where(s > 2, s, -5.0),
        lambda s: -5 + 1e-12 * s,
        lambda s: np.round(s / 4) * 4,
    ],
    ids=["a little", "constant", "tied", "constant but for rounding", "steps"],
)
def test_ties_and_chance_are_not(data, change):
    Stretched.fits = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BoundaryWarning)
        BoundShiftClassifier(Stretched(change), cv=4).fit(*data)
    assert not [w for w in caught if "times as wide" in str(w.message)]
