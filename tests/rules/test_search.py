"""Settings of rules and curves are searched as scikit-learn searches those of estimators."""

from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from boundshift import BoundShiftClassifier, Cost, FBeta, Smoothed


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
