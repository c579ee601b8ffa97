"""Settings of rules and curves are searched as scikit-learn searches those of estimators."""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier, Cost, FBeta, Smoothed


def test_a_grid_over_a_rule_is_the_grid_of_its_objects():
    X, y = make_classification(600, weights=[0.9], random_state=0)
    model = BoundShiftClassifier(LogisticRegression(), rule=Cost(), cv=2)
    grids = {"rule__false_negative": [1, 50]}, {"rule": [Cost(), Cost(false_negative=50)]}
    found, expected = (GridSearchCV(model, g, scoring="recall", cv=2).fit(X, y) for g in grids)
    assert found.best_estimator_.rule == Cost(false_negative=50)
    scores = found.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(scores, expected.cv_results_["mean_test_score"])
    assert scores[0] < scores[1]


def test_a_setting_replaces_the_rule_and_leaves_the_given_one():
    rule = FBeta(2, prevalence=0.1)
    curve = Smoothed()
    model = BoundShiftClassifier(LogisticRegression(), rule=rule, curve=curve)
    assert model.get_params()["rule__beta"] == 2
    copy = clone(model).set_params(rule__beta=3, curve__bandwidth=0.5, cv=3, estimator__C=7)
    assert (copy.rule, copy.curve) == (FBeta(3, prevalence=0.1), Smoothed(0.5))
    assert (copy.cv, copy.estimator.C) == (3, 7)
    assert (model.rule, model.curve) == (rule, curve) == (FBeta(2, prevalence=0.1), Smoothed())
    steps = make_pipeline(StandardScaler(), BoundShiftClassifier(LogisticRegression(), rule="cost"))
    steps.set_params(boundshiftclassifier__rule__false_negative=5)
    assert steps[-1].rule == Cost(false_negative=5)
    assert steps[-1].set_params(rule=FBeta(), rule__beta=2).rule == FBeta(2)
