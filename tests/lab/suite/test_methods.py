"""Methods that decide on stored scores against the estimators that they stand for."""

import re

import numpy as np
import pytest
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import BoundShiftClassifier
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import geometric_mean_score
from lab.experiment import ROOT
from lab.suite import methods
from lab.suite.methods import GOALS, METHODS, aiming_at, choose_methods, default_method

DATASET = "spectf"
G_MEAN = make_scorer(geometric_mean_score)


def tuned(scoring):
    return lambda model: TunedThresholdClassifierCV(model, scoring=scoring, cv=5)


def shifted(**options):
    return lambda model: BoundShiftClassifier(model, **options)


SAME = {
    "tuned/g-mean": ("logistic", "tuned/g-mean", tuned(G_MEAN)),
    "tuned/mcc": ("logistic", "tuned/mcc", tuned("matthews_corrcoef")),
    "tuned/f1": ("logistic", "tuned/f1", tuned("f1")),
    "tuned, margins": ("svm", "tuned/balanced-accuracy", tuned("balanced_accuracy")),
    "default": ("logistic", default_method(), shifted()),
    "default, margins": ("svm", default_method(), shifted()),
} | {metric: ("logistic", aiming_at(metric)[0], shifted(rule=metric)) for metric in GOALS}


@pytest.mark.parametrize("case", SAME)
def test_a_method_on_stored_scores_predicts_as_the_estimator(case, parts_of, fitted_of, untrained):
    model, name, make = SAME[case]
    fitted = fitted_of(model, DATASET)
    (train, test) = parts_of(DATASET)
    method = METHODS[name]
    found = fitted.test(method.source).s > method.decide(fitted).threshold
    expected = make(untrained(model, fitted)).fit(*train).predict(test.X)
    np.testing.assert_array_equal(found, expected == 1)


def test_a_pattern_without_a_method_is_refused():
    with pytest.raises(InvalidInputError, match="'smoted', which matches none"):
        choose_methods(["smote", "smoted"])


def test_the_baseline_of_the_page_decides(fitted_of, monkeypatch):
    page = (ROOT / "lab" / "docs" / "add_to_the_lab.md").read_text("utf-8")
    (example,) = re.findall("```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.setattr("lab.suite.methods.METHODS", dict(METHODS))
    exec(example, {})
    fitted = fitted_of("logistic", DATASET)
    y, s = fitted.out_of_fold
    assert methods.METHODS["rare-median"].decide(fitted).threshold == np.median(s[y == 1])
