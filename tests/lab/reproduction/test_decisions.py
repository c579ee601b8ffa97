"""Classifiers are the authors', and decisions on their scores those of the estimators."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logit
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier, SupportRadius, find_boundary
from lab.baselines import Retrained, bayes_risk_threshold, cost_threshold, prior_threshold
from lab.data.paper import paper_split
from lab.records import read_records, write_records
from lab.reproduction.decisions import Row, judge
from lab.reproduction.methods import METHODS
from lab.reproduction.problems import PROBLEMS
from lab.reproduction.train import (
    ClassifierOptions,
    FittedSeed,
    collect_scores,
    make_classifier,
    weight_norm,
    with_probabilities,
)
from lab.training import decision_scores, fit_quietly

RUNS = np.load(Path(__file__).parents[2] / "data" / "rivals_and_splits.npz")


def trained(split, model="untouched", state=0):
    return collect_scores(split, "logistic-regression", model, state, ClassifierOptions())


@pytest.fixture(scope="module")
def hepatitis():
    return paper_split("hepatitis", 2, protocol="authors")


def test_the_grid_is_the_papers():
    search = make_classifier("rbf-machine", ClassifierOptions())
    assert search.param_grid == {
        "C": [0.1, 1, 10, 100, 500, 2000, 10000],
        "gamma": ["scale", "auto", 1, 0.1, 0.05, 0.01, 0.005, 0.001, 0.0001],
    }
    assert search.cv == 5


def test_the_search_scores_and_probabilities_are_the_authors(hepatitis):
    search = make_classifier("rbf-machine", ClassifierOptions(grid={"C": [100], "gamma": [0.001]}))
    model = search.fit(hepatitis.X_train, hepatitis.y_train).best_estimator_
    scores = decision_scores(model, hepatitis.X_test) - model.intercept_[0]
    np.testing.assert_allclose(scores, RUNS["hepatitis_2/test_scores"], atol=1e-9)
    probable = with_probabilities(model, hepatitis.X_train, hepatitis.y_train)
    found = probable.predict_proba(hepatitis.X_test)[:, 1]
    np.testing.assert_allclose(found, RUNS["hepatitis_2/test_proba"], atol=1e-6)


def test_a_networks_scores_are_the_logits_of_its_probabilities(hepatitis, small):
    network = make_classifier("network", small)
    fit_quietly(network, hepatitis.X_train, hepatitis.y_train)
    probabilities = network.predict_proba(hepatitis.X_test)[:, 1]
    scores = decision_scores(network, hepatitis.X_test)
    np.testing.assert_allclose(scores, logit(probabilities), atol=1e-9)
    assert weight_norm(network) == pytest.approx(np.sqrt((network.coefs_[-1] ** 2).sum()))


@pytest.fixture(scope="module")
def whole():
    return PROBLEMS["synthetic-raw"].split(0, "honest")


@pytest.fixture(scope="module")
def fitted(seed_of):
    return seed_of("synthetic-raw")


@pytest.mark.parametrize(("model", "how"), [("smote", "smote"), ("balanced-weights", "balanced")])
def test_retrained_models_are_the_baselines(whole, model, how):
    baseline = Retrained(LogisticRegression(), how, 7).fit(whole.X_train, whole.y_train)
    expected = baseline.estimator_.predict(whole.X_test)
    np.testing.assert_array_equal(trained(whole, model, 7).test > 0, expected == 1)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("boundshift-default", {"cv": None}),
        ("boundshift-default-oof", {"ensemble": False}),
        ("boundshift-support", {"cv": None, "curve": "support"}),
        ("boundshift-support-oof", {"curve": "support", "ensemble": False}),
    ],
)
def test_decisions_from_scores_are_those_of_the_estimators(whole, fitted, name, options):
    method = METHODS[name]
    _, found = fitted.predict(method.source, method.decide(fitted))
    shifted = BoundShiftClassifier(LogisticRegression(), **options)
    expected = shifted.fit(whole.X_train, whole.y_train).predict(whole.X_test)
    np.testing.assert_array_equal(found, expected == 1)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("bayes-minimum-risk", bayes_risk_threshold),
        ("thresholding", cost_threshold),
        ("prior-threshold", prior_threshold),
    ],
)
def test_baselines_decide_on_probabilities_of_the_training_rows(whole, fitted, name, rule):
    model = LogisticRegression().fit(whole.X_train, whole.y_train)
    threshold = rule(whole.y_train, model.predict_proba(whole.X_train)[:, 1])
    _, found = fitted.predict("training", METHODS[name].decide(fitted))
    np.testing.assert_array_equal(found, model.predict_proba(whole.X_test)[:, 1] > threshold)


def test_continuous_slack_is_measured_in_units_of_the_weight_norm(fitted):
    found = METHODS["paper-exact"].decide(FittedSeed(fitted.models, "continuous"))
    y, scores = fitted.sample("training")
    curve = replace(SupportRadius.authors(), slack="continuous")
    expected = find_boundary(y, scores / fitted.unit, curve=curve)
    assert found.threshold / fitted.unit == pytest.approx(expected.threshold)
    assert found.loss == pytest.approx(expected.loss)
    assert found.loss != pytest.approx(find_boundary(y, scores, curve=curve).loss)


def test_without_a_solution_the_papers_method_keeps_the_models_boundary(seed_of):
    scores = seed_of("pima", "paper").scores("training")
    noise = np.random.default_rng(0).normal(size=len(scores.train))
    hopeless = FittedSeed({"untouched": replace(scores, train=noise)}, "binary")
    for name in ("paper-exact", "paper-grid"):
        decision = METHODS[name].decide(hopeless)
        assert (decision.solved, decision.threshold) == (False, 0.0)


def test_rows_survive_the_file(tmp_path, fitted):
    run = {"protocol": "honest", "problem": "synthetic-raw", "seed": 0, "kept": True}
    run["slack_kind"] = "binary"
    row = judge(fitted, METHODS["untouched"], **run)
    rows = [row, replace(row, message='with, comma and "quotes"\nand lines', solved=False)]
    for name in ("rows.csv", "rows.csv.gz"):
        read = read_records(write_records(tmp_path / name, rows, digits=6), Row)
        assert [r.message for r in read] == [r.message for r in rows]
        assert [r.solved for r in read] == [True, False]
        assert abs(read[0].g_mean - row.g_mean) < 1e-6
        assert math.isnan(read[0].delta_negative)
