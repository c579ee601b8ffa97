from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier, SupportRadius, find_boundary
from lab.reproduction.fitted import FittedSeed
from lab.reproduction.methods import METHODS, post_hoc_rivals
from lab.reproduction.problems import PROBLEMS
from lab.rivals import THRESHOLD_RULES, ThresholdClassifier
from tests.lab.reproduction_seeds import seed_of


def _ruled(name):
    return ThresholdClassifier(LogisticRegression(), THRESHOLD_RULES[name])


@pytest.fixture(scope="module")
def split():
    return PROBLEMS["synthetic-raw"].split(0, "honest")


@pytest.fixture(scope="module")
def fitted(cache):
    return seed_of(cache, "synthetic-raw", "honest")


@pytest.mark.parametrize(
    ("name", "rival"),
    [
        ("bayes-minimum-risk", _ruled("bayes_minimum_risk")),
        ("thresholding", _ruled("cost_thresholding")),
        ("prior-threshold", _ruled("prior_threshold")),
        ("boundshift-default", BoundShiftClassifier(LogisticRegression(), cv=None)),
        ("boundshift-default-oof", BoundShiftClassifier(LogisticRegression(), ensemble=False)),
        (
            "boundshift-support",
            BoundShiftClassifier(LogisticRegression(), cv=None, curve="support"),
        ),
        (
            "boundshift-support-oof",
            BoundShiftClassifier(LogisticRegression(), curve="support", ensemble=False),
        ),
    ],
)
def test_decisions_from_scores_are_those_of_the_estimators(split, fitted, name, rival):
    method = METHODS[name]
    _, found = fitted.predict(method.source, method.decide(fitted))
    expected = rival.fit(split.X_train, split.y_train).predict(split.X_test)
    np.testing.assert_array_equal(found, expected == 1)


def test_continuous_slack_is_measured_in_units_of_the_weight_norm(fitted):
    found = METHODS["paper-exact"].decide(FittedSeed(fitted.models, "continuous"))
    y, scores = fitted.sample("training")
    expected = find_boundary(
        y, scores / fitted.unit, curve=SupportRadius.authors(slack="continuous")
    )
    assert found.threshold / fitted.unit == pytest.approx(expected.threshold)
    raw = find_boundary(y, scores, curve=SupportRadius.authors(slack="continuous"))
    assert found.loss == pytest.approx(expected.loss)
    assert found.loss != pytest.approx(raw.loss)


def test_without_a_solution_the_papers_method_keeps_the_models_boundary(cache):
    scores = seed_of(cache, "pima", "paper").scores("training")
    noise = np.random.default_rng(0).normal(size=len(scores.train))
    hopeless = FittedSeed({"untouched": replace(scores, train=noise)}, "binary")
    for name in ("paper-exact", "paper-grid"):
        decision = METHODS[name].decide(hopeless)
        assert (decision.solved, decision.threshold) == (False, 0.0)


def test_the_papers_six_come_first():
    titles = [m.title for m in METHODS.values()][:6]
    assert titles == ["Baseline", "SMOTE", "BW", "BMR", "Thresh", "Paper's method, as coded"]


def test_retrained_methods_and_ours_are_no_post_hoc_rivals():
    assert {"smote", "balanced-weights", "paper-exact", "boundshift-default"}.isdisjoint(
        post_hoc_rivals()
    )
