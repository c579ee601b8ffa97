import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV

from boundshift import BoundShiftClassifier, SupportRadius, find_boundary
from boundshift.metrics import geometric_mean_score
from lab.baselines import (
    BalancedWeights,
    SMOTEClassifier,
    bayes_risk_threshold,
    cost_threshold,
    prior_threshold,
)
from lab.data.paper import PaperSplit
from lab.records import read_records, write_records
from lab.reproduction.methods import METHODS
from lab.reproduction.problems import PROBLEMS
from lab.reproduction.run import evaluate
from lab.reproduction.tables import Row
from lab.reproduction.train import ClassifierOptions, FittedSeed, collect_scores

RUN = {"protocol": "honest", "problem": "synthetic-raw", "seed": 0, "kept": True}


@pytest.fixture(scope="module")
def split():
    # Small, and of one feature's worth of signal, so that nothing is perfect.
    whole = PROBLEMS["synthetic-raw"].split(3, "honest")
    rows = np.concatenate([np.flatnonzero(whole.y_train == 1), np.arange(200)])
    rows = np.unique(rows)
    return whole._replace(X_train=whole.X_train[rows], y_train=whole.y_train[rows])


@pytest.fixture(scope="module")
def trained(split):
    return collect_scores(split, "logistic-regression", "untouched", 0, ClassifierOptions())


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("tuned-balanced-accuracy", balanced_accuracy_score),
        ("tuned-g-mean", geometric_mean_score),
    ],
)
def test_the_tuner_is_scikit_learns(name, metric):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1], [50, 12]))
    X = rng.normal(y[:, None], 1.2, (len(y), 2))
    tuner = TunedThresholdClassifierCV(
        LogisticRegression(),
        scoring=make_scorer(metric),
        response_method="decision_function",
        cv=5,
    ).fit(X, y)
    split = PaperSplit(X, X, y, y)
    scores = collect_scores(split, "logistic-regression", "untouched", 0, ClassifierOptions())
    decided = METHODS[name].decide(FittedSeed({"untouched": scores}, "binary"))
    assert decided.threshold == pytest.approx(tuner.best_threshold_)


@pytest.mark.parametrize(
    ("model", "baseline"),
    [
        ("smote", SMOTEClassifier(LogisticRegression(), random_state=7)),
        ("balanced-weights", BalancedWeights(LogisticRegression())),
    ],
)
def test_retrained_models_are_the_baselines(split, model, baseline):
    found = collect_scores(split, "logistic-regression", model, 7, ClassifierOptions())
    expected = baseline.fit(split.X_train, split.y_train).predict(split.X_test)
    np.testing.assert_array_equal(found.test > 0, expected == 1)
    assert len(found.train) == 0


@pytest.fixture(scope="module")
def whole():
    return PROBLEMS["synthetic-raw"].split(0, "honest")


@pytest.fixture(scope="module")
def fitted(seed_of):
    return seed_of("synthetic-raw")


@pytest.mark.parametrize(
    ("name", "baseline"),
    [
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
def test_decisions_from_scores_are_those_of_the_estimators(whole, fitted, name, baseline):
    method = METHODS[name]
    _, found = fitted.predict(method.source, method.decide(fitted))
    expected = baseline.fit(whole.X_train, whole.y_train).predict(whole.X_test)
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
    expected = find_boundary(
        y, scores / fitted.unit, curve=SupportRadius.authors(slack="continuous")
    )
    assert found.threshold / fitted.unit == pytest.approx(expected.threshold)
    raw = find_boundary(y, scores, curve=SupportRadius.authors(slack="continuous"))
    assert found.loss == pytest.approx(expected.loss)
    assert found.loss != pytest.approx(raw.loss)


def test_without_a_solution_the_papers_method_keeps_the_models_boundary(seed_of):
    scores = seed_of("pima", "paper").scores("training")
    noise = np.random.default_rng(0).normal(size=len(scores.train))
    hopeless = FittedSeed({"untouched": replace(scores, train=noise)}, "binary")
    for name in ("paper-exact", "paper-grid"):
        decision = METHODS[name].decide(hopeless)
        assert (decision.solved, decision.threshold) == (False, 0.0)


def test_rows_survive_the_file(tmp_path, seed_of):
    row = evaluate(seed_of("synthetic-raw"), METHODS["untouched"], **RUN)
    rows = [row, replace(row, message='with, comma and "quotes"\nand lines', solved=False)]
    for name in ("rows.csv", "rows.csv.gz"):
        read = read_records(write_records(tmp_path / name, rows, digits=6), Row)
        assert [r.message for r in read] == [r.message for r in rows]
        assert [r.solved for r in read] == [True, False]
        assert abs(read[0].g_mean - row.g_mean) < 1e-6
        assert math.isnan(read[0].delta_negative)
