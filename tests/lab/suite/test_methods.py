import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import BoundShiftClassifier
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import geometric_mean_score
from lab.suite import methods
from lab.suite.data import load_rows, split
from lab.suite.methods import (
    GOALS,
    METHODS,
    aiming_at,
    choose_methods,
    default_method,
)
from lab.suite.train import MODELS, prepared

DATASET = "spectf"


@pytest.fixture(scope="module")
def parts():
    return split(load_rows(DATASET), 0)


def _predicted(fitted, name):
    method = METHODS[name]
    return (fitted.test(method.source).s > method.decide(fitted).threshold).astype(int)


def _pipeline(model, fitted):
    chosen = dict(part.split("=") for part in fitted.raw.parameters.split(", ") if part)
    numbers = {k: v if v == "scale" else float(v) for k, v in chosen.items()}
    return prepared(MODELS[model].classifier(0, numbers))


SCORINGS = {
    "balanced-accuracy": "balanced_accuracy",
    "g-mean": make_scorer(geometric_mean_score),
    "f1": "f1",
    "mcc": "matthews_corrcoef",
}


@pytest.mark.parametrize(
    ("model", "metric"),
    [
        ("logistic", "g-mean"),
        ("logistic", "mcc"),
        ("logistic", "f1"),
        ("svm", "balanced-accuracy"),
    ],
)
def test_the_tuned_threshold_is_scikit_learns(model, metric, parts, fitted_of):
    fitted = fitted_of(model, DATASET)
    tuner = TunedThresholdClassifierCV(_pipeline(model, fitted), scoring=SCORINGS[metric], cv=5)
    predicted = tuner.fit(parts.train.X, parts.train.y).predict(parts.test.X)
    np.testing.assert_array_equal(_predicted(fitted, f"tuned/{metric}"), predicted)


@pytest.mark.parametrize("model", ["logistic", "svm"])
def test_the_default_is_the_librarys(model, parts, fitted_of):
    fitted = fitted_of(model, DATASET)
    shifted = BoundShiftClassifier(_pipeline(model, fitted)).fit(parts.train.X, parts.train.y)
    np.testing.assert_array_equal(
        _predicted(fitted, default_method()), shifted.predict(parts.test.X)
    )


def test_a_pattern_without_a_method_is_refused():
    with pytest.raises(InvalidInputError, match="'smoted', which matches none"):
        choose_methods(["smote", "smoted"])


@pytest.mark.parametrize("metric", GOALS)
def test_the_first_that_aims_at_a_metric_is_what_a_user_gets(metric, parts, fitted_of):
    fitted = fitted_of("logistic", DATASET)
    asked = BoundShiftClassifier(_pipeline("logistic", fitted), rule=metric)
    asked.fit(parts.train.X, parts.train.y)
    np.testing.assert_array_equal(
        _predicted(fitted, aiming_at(metric)[0]), asked.predict(parts.test.X)
    )


PAGE = Path(__file__).parents[3] / "docs" / "add_to_the_lab.md"


def test_the_baseline_of_the_page_decides(fitted_of, monkeypatch):
    (example,) = re.findall("```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    monkeypatch.setattr("lab.suite.methods.METHODS", dict(METHODS))
    exec(example, {})
    added = methods.METHODS["rare-median"]
    fitted = fitted_of("logistic", DATASET)
    y, s = fitted.out_of_fold
    assert added.decide(fitted).threshold == np.median(s[y == 1])
