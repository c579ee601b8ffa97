"""Out-of-bag scores decide: one fit, and no row is judged by a tree that saw it."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier, Floors, InvalidInputError, find_boundary


@pytest.fixture(scope="module")
def data():
    return make_classification(800, weights=[0.9], flip_y=0.02, random_state=0)


BAGS = {
    "forest": RandomForestClassifier(40, random_state=0),
    "extra trees": ExtraTreesClassifier(40, bootstrap=True, random_state=0),
    "bagging": BaggingClassifier(n_estimators=40, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), RandomForestClassifier(40, random_state=0)),
}


@pytest.mark.parametrize("name", BAGS)
def test_out_of_bag_probabilities_decide_as_log_odds(data, name):
    X, y = data
    clf = BoundShiftClassifier(BAGS[name], cv="oob", curve="smoothed", rule="sum").fit(X, y)
    forest = clone(BAGS[name])
    last = forest[-1] if name == "pipeline" else forest
    last.set_params(oob_score=True)
    forest.fit(X, y)
    p = last.oob_decision_function_[:, 1]
    assert clf.boundary_ == find_boundary(y, p, curve="smoothed", rule="sum")
    own = clf.estimator_.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(clf.predict(X), 1 * (own > clf.threshold_))
    assert not hasattr(clf, "estimators_")


def test_rows_without_a_bag_do_not_decide(data):
    X, y = data
    few = RandomForestClassifier(4, random_state=0)
    clf = BoundShiftClassifier(few, cv="oob").fit(X, y)
    assert sum(clf.boundary_.n_samples) < len(y)
    bagging = BaggingClassifier(n_estimators=4, random_state=0)
    assert sum(BoundShiftClassifier(bagging, cv="oob").fit(X, y).boundary_.n_samples) < len(y)


def test_many_classes(data):
    X, y = make_classification(
        900, n_classes=3, n_informative=5, weights=[0.7, 0.2], random_state=0
    )
    labels = np.array(["c", "a", "b"])[y]
    clf = BoundShiftClassifier(BAGS["forest"], cv="oob").fit(X[:600], labels[:600])
    found = balanced_accuracy_score(labels[600:], clf.predict(X[600:]))
    plain = clone(BAGS["forest"]).fit(X[:600], labels[:600]).predict(X[600:])
    assert found >= balanced_accuracy_score(labels[600:], plain)


def test_a_floor_is_decided_on_rows_kept_apart(data):
    X, y = data
    clf = BoundShiftClassifier(BAGS["forest"], cv="oob", rule=Floors(recall=0.6)).fit(X, y)
    assert sum(clf.boundary_.n_samples) < len(y)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (LogisticRegression(), {}, "a model without bags, got LogisticRegression"),
        (ExtraTreesClassifier(), {}, "`bootstrap` must be True for cv='oob', got False"),
        (RandomForestClassifier(), {"ensemble": True}, "`ensemble` must be False or 'auto' with"),
        (
            RandomForestClassifier(),
            {"response_method": "decision_function"},
            "`response_method` must be 'auto' or 'predict_proba' with cv='oob'",
        ),
        (
            make_pipeline(SelectKBest(k=3), RandomForestClassifier()),
            {},
            "must not learn from labels for cv='oob', got 'selectkbest'",
        ),
        (RandomForestClassifier(1), {}, None),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:The scores take two values only")
def test_what_cannot_be_is_refused(data, model, options, message):
    X, y = data
    clf = BoundShiftClassifier(model, cv="oob", **options)
    if message is None:
        assert clf.fit(X, y).boundary_.n_samples[1] > 0
        return
    with pytest.raises(InvalidInputError) as caught:
        clf.fit(X, y)
    assert message in str(caught.value)


def test_other_words_are_no_cv(data):
    with pytest.raises(InvalidInputError, match="`cv` must be one of 'prefit', 'oob', got 'x'"):
        BoundShiftClassifier(LogisticRegression(), cv="x").fit(*data)
