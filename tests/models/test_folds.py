"""Splits, weights and models that a stranger may bring."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from boundshift import BoundShiftClassifier, Floors, InvalidInputError, find_boundary


@pytest.fixture(scope="module")
def data():
    return make_classification(300, n_features=6, weights=[0.85], random_state=0)


def splits(n, folds=2):
    rows = np.arange(n)
    return [(rows[rows % folds != k], rows[rows % folds == k]) for k in range(folds)]


@pytest.mark.parametrize("shared", [1, 300])
def test_rows_in_both_parts_of_a_split_are_refused(data, shared):
    X, y = data
    first, second = splits(len(y))
    train = np.arange(len(y)) if shared == len(y) else np.append(first[0], first[1][0])
    test = np.arange(len(y)) if shared == len(y) else first[1]
    with pytest.raises(InvalidInputError, match=f"got {shared} row.s. in both of part 1 of 2"):
        BoundShiftClassifier(LogisticRegression(), cv=[(train, test), second]).fit(X, y)


def test_no_split_at_all_is_refused(data):
    X, y = data
    used = iter(splits(len(y)))
    list(used)
    for cv in ([], used):
        with pytest.raises(InvalidInputError, match="must give at least one split, got none"):
            BoundShiftClassifier(LogisticRegression(), cv=cv).fit(X, y)


def test_test_parts_of_one_class_are_refused(data):
    X, y = data
    test = np.flatnonzero(y == 0)[:20]
    cv = [(np.setdiff1d(np.arange(len(y)), test), test)]
    with pytest.raises(InvalidInputError, match=r"at least two classes in all, got \[0\]"):
        BoundShiftClassifier(LogisticRegression(), cv=cv).fit(X, y)


def test_masks_are_splits_too(data):
    X, y = data
    masks = [
        (np.isin(np.arange(len(y)), train), np.isin(np.arange(len(y)), test))
        for train, test in splits(len(y))
    ]
    found, expected = (
        BoundShiftClassifier(LogisticRegression(), cv=cv).fit(X, y) for cv in (masks, splits(300))
    )
    assert found.threshold_ == expected.threshold_


@pytest.mark.parametrize("weight", [np.ones(299), np.ones((300, 2)), 1.0])
def test_weights_of_another_length_are_refused(data, weight):
    with pytest.raises(InvalidInputError, match=r"one value for each of 300 rows|one-dimensional"):
        BoundShiftClassifier(LogisticRegression()).fit(*data, sample_weight=weight)


def test_a_generator_is_no_random_state(data):
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInputError, match=r"got a Generator. Draw an int from it"):
        BoundShiftClassifier(LogisticRegression(), random_state=rng).fit(*data)


class Silent(ClassifierMixin, BaseEstimator):
    """A model whose `fit` returns nothing."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_

    def decision_function(self, X):
        return self.inner_.decision_function(X)


@pytest.mark.parametrize("options", [{}, {"ensemble": False}, {"cv": None}], ids=str)
def test_a_fit_that_returns_nothing_will_do(data, options):
    X, y = data
    found = BoundShiftClassifier(Silent(), **options).fit(X, y)
    margin = {"response_method": "decision_function"}
    expected = BoundShiftClassifier(LogisticRegression(), **options, **margin).fit(X, y)
    assert found.threshold_ == expected.threshold_


def test_a_precomputed_kernel_is_cut_both_ways(data):
    X, y = data
    kernel = rbf_kernel(X, gamma=0.1)
    found = BoundShiftClassifier(SVC(kernel="precomputed"), cv=3).fit(kernel, y)
    own = SVC(gamma=0.1)
    scores = cross_val_predict(own, X, y, cv=StratifiedKFold(3), method="decision_function")
    assert found.threshold_ == pytest.approx(find_boundary(y, scores).threshold, abs=1e-6)
    assert found.predict(kernel[:7]).shape == (7,)
    with pytest.raises(InvalidInputError, match="with a precomputed kernel, got True"):
        BoundShiftClassifier(SVC(kernel="precomputed"), ensemble=True).fit(kernel, y)


FLOORS = {"rule": Floors(recall=0.6)}


@pytest.mark.parametrize("cv", [3.5, [(1, 2)], [([0.5], [1])], [1, 2], [("a", "b")], {}], ids=str)
@pytest.mark.parametrize("options", [{}, FLOORS], ids=["plain", "floors"])
def test_what_gives_no_rows_is_no_cv(data, cv, options):
    with pytest.raises(ValueError, match="cv"):
        BoundShiftClassifier(LogisticRegression(), cv=cv, **options).fit(*data)


@pytest.mark.parametrize("seed", [-1, 2**32, "a", 1.5])
@pytest.mark.parametrize("options", [{}, FLOORS], ids=["plain", "floors"])
def test_a_seed_out_of_range_is_refused(data, seed, options):
    with pytest.raises(InvalidInputError, match=r"`random_state` must be a whole number from 0"):
        BoundShiftClassifier(LogisticRegression(), random_state=seed, **options).fit(*data)


@pytest.mark.parametrize("bad", [-1.0, np.nan, "x"])
def test_weights_below_nought_or_unknown_are_refused(data, bad):
    weight = np.ones(300, dtype=object)
    weight[7] = bad
    with pytest.raises(InvalidInputError, match="`sample_weight` must be"):
        BoundShiftClassifier(LogisticRegression()).fit(*data, sample_weight=weight)


@pytest.mark.parametrize("cv", [5, None])
def test_groups_that_no_splitter_takes_are_refused(data, cv):
    with pytest.raises(InvalidInputError, match=r"`groups` must go with .* Use cv=GroupKFold"):
        BoundShiftClassifier(LogisticRegression(), cv=cv).fit(*data, groups=np.zeros(300))
