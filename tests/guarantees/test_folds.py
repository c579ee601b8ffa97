"""Fold models and rows without labels bound the error rate of the more frequent class."""

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from boundshift import BoundaryWarning, BoundShiftClassifier, InvalidInputError
from boundshift.curves._clusters import bound_mean
from boundshift.curves._uniform import uniform_bound


def draw(rng, n, share=0.15):
    y = (rng.random(n) < share).astype(int)
    return rng.normal(size=(n, 3)) + [1.5, 0.8, 0] * y[:, None], y


@pytest.mark.parametrize(
    "model", [LogisticRegression(), LinearSVC(), DecisionTreeClassifier(max_depth=4)]
)
@pytest.mark.parametrize("turned", [False, True])
def test_the_bound_is_that_of_the_formula(model, turned):
    rng = np.random.default_rng(0)
    (X, y) = draw(rng, 900)
    (unlabelled, _) = draw(rng, 500)
    y = 1 - y if turned else y  # the positive class, 0 or 1, is the rarer one or the common one
    shifted = BoundShiftClassifier(model, ensemble=True, pos_label=1).fit(X, y)
    t = shifted.threshold_
    common = int(turned)
    sample = shifted.deciding_sample_
    parts = shifted._deciding.fold
    errors = []
    alone = []
    decided = shifted.predict(unlabelled)
    for j, part in enumerate(shifted.estimators_):
        here = (parts == j) & (sample.y == common)
        wrong = int(np.sum((sample.scores[here] > t) != bool(common)))
        errors.append(float(uniform_bound(wrong, int(here.sum()), 0.1 / 10)))
        has = hasattr(part, "predict_proba")
        scores = part.predict_proba(unlabelled)[:, 1] if has else part.decision_function(unlabelled)
        alone.append((decided != common) & ((scores > t) == bool(common)))
    share = stats.beta.ppf(0.025, np.sum(y == common), np.sum(y != common) + 1)
    expected = np.mean(errors) + bound_mean(np.mean(alone, axis=0), 0.025) / share
    found = shifted.certify_unlabelled(unlabelled, confidence=0.9)
    assert found.error_bounds[common] == pytest.approx(min(expected, 1.0))
    assert found.error_bounds[1 - common] == 1.0
    assert (found.status, found.method) == ("certified", "folds")
    assert found.lowest_bounds[common] <= found.error_bounds[common]
    assert f"class {1 - common}, the rarer one, has no bound" in found.reason
    with pytest.raises(InvalidInputError, match="certificate of single rows"):
        found.next_rows(10)


@pytest.mark.parametrize("model", [LogisticRegression(), DecisionTreeClassifier(max_depth=5)])
def test_the_bound_holds_for_the_deployed_model(model):
    rng = np.random.default_rng(1)
    broken = 0
    fresh, truth = draw(rng, 50_000)
    for _ in range(20):
        (X, y) = draw(rng, 600)
        (unlabelled, _) = draw(rng, 600)
        shifted = BoundShiftClassifier(model, ensemble=True).fit(X, y)
        error = np.mean(shifted.predict(fresh[truth == 0]) != 0)
        broken += shifted.certify_unlabelled(unlabelled).error_bounds[0] < error
    assert broken <= 3


@pytest.mark.parametrize(
    ("options", "more"),
    [
        ({"ensemble": False}, {}),
        ({"cv": None}, {}),
        ({}, {"sample_weight": np.ones(300)}),
        ({"cv": GroupKFold(5), "ensemble": True}, {"groups": np.arange(300) // 3}),
        ({"cv": ShuffleSplit(5, test_size=0.5, random_state=0), "ensemble": True}, {}),
    ],
)
def test_labels_are_needed_elsewhere(options, more):
    X, y = draw(np.random.default_rng(2), 300)
    shifted = BoundShiftClassifier(LogisticRegression(), **options).fit(X, y, **more)
    with pytest.raises(InvalidInputError, match="Rows without labels certify two classes"):
        shifted.certify_unlabelled(X)


@pytest.mark.parametrize("names", [(0, 1), ("well", "ill")])
def test_rows_of_fit_are_no_rows_without_labels_and_a_stored_model_has_lost_them(names):
    X, y = draw(np.random.default_rng(3), 300)
    shifted = BoundShiftClassifier(LogisticRegression(), ensemble=True).fit(X, np.array(names)[y])
    with pytest.warns(BoundaryWarning, match="rows were used in fit"):
        assert shifted.certify_unlabelled(X).status == "nominal"
    with pytest.raises(InvalidInputError, match="were fitted in this session"):
        pickle.loads(pickle.dumps(shifted)).certify_unlabelled(X)
