import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import LinearSVC

from boundshift.datasets import make_gaussians
from boundshift.metrics import geometric_mean_score
from lab.rivals import THRESHOLD_RULES, ThresholdClassifier

X, Y = make_gaussians((200, 20), random_state=0)
X_TEST, Y_TEST = make_gaussians((500, 500), random_state=1)
every_rule = pytest.mark.parametrize("rule", THRESHOLD_RULES.values(), ids=THRESHOLD_RULES)


@every_rule
def test_every_rule_beats_the_untouched_classifier(rule):
    untouched = LogisticRegression().fit(X, Y).predict(X_TEST)
    moved = ThresholdClassifier(LogisticRegression(), rule).fit(X, Y).predict(X_TEST)
    assert geometric_mean_score(Y_TEST, moved) > geometric_mean_score(Y_TEST, untouched) + 0.05


@every_rule
def test_the_threshold_is_that_of_the_training_scores(rule):
    fitted = ThresholdClassifier(LogisticRegression(), rule).fit(X, Y)
    p = LogisticRegression().fit(X, Y).predict_proba(X)[:, 1]
    assert fitted.threshold_ == rule(Y, p)
    np.testing.assert_array_equal(fitted.predict(X), p > fitted.threshold_)


@every_rule
def test_cv_decides_on_out_of_fold_scores(rule):
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    fitted = ThresholdClassifier(LogisticRegression(), rule, cv=folds).fit(X, Y)
    p = cross_val_predict(LogisticRegression(), X, Y, cv=folds, method="predict_proba")[:, 1]
    assert fitted.threshold_ == rule(Y, p)


def test_scores_without_probabilities_will_do():
    rule = THRESHOLD_RULES["bayes_minimum_risk"]
    assert ThresholdClassifier(LinearSVC(), rule, cv=3).fit(X, Y).score(X_TEST, Y_TEST) > 0.8
