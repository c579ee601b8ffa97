"""Splits and scores of the suite against scikit-learn's own."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import cross_val_predict

from lab.suite import data
from lab.suite.data import load_rows, split, suite_datasets
from lab.suite.train import MODELS, platt

RESPONSE = {"logistic": "decision_function", "forest": "predict_proba"}


def test_parts_are_stratified_and_share_no_row():
    rows = load_rows("glass6")
    marked = data.Rows(np.arange(len(rows.y), dtype=float)[:, None], rows.y)
    found = split(marked, 0)
    assert sorted([*found.train.X[:, 0], *found.test.X[:, 0]]) == list(range(len(rows.y)))
    for part in (found.train.y, found.test.y):
        assert part.mean() == pytest.approx(rows.y.mean(), abs=0.04)


def test_the_stored_halves_hold_every_family_once():
    halves = json.loads(Path(data.__file__).with_name("halves.json").read_text())
    families = {entry.family for entry in suite_datasets()}
    assert sorted([*halves["choose"], *halves["report"]]) == sorted(families)


def test_few_rare_rows_are_drawn_from_the_training_part_alone():
    rows = load_rows("segment0")
    whole, five, ten = (split(rows, 3, rare) for rare in (0, 5, 10))
    assert (int(five.train.y.sum()), int(ten.train.y.sum())) == (5, 10)
    assert int(np.sum(five.train.y == 0)) == min(1000, int(np.sum(whole.train.y == 0)))
    np.testing.assert_array_equal(five.test.X, whole.test.X)
    rare = {tuple(x) for x in ten.train.X[ten.train.y == 1]}
    assert {tuple(x) for x in five.train.X[five.train.y == 1]} <= rare


@pytest.mark.parametrize("model", RESPONSE)
def test_out_of_fold_scores_are_scikit_learns(model, parts_of, fitted_of, untrained):
    fitted = fitted_of(model)
    (train, _) = parts_of()
    found = cross_val_predict(untrained(model, fitted), *train, cv=5, method=RESPONSE[model])
    found = found[:, 1] if found.ndim == 2 else found
    np.testing.assert_allclose(fitted.raw.out_of_fold, found, atol=1e-9)


def test_the_network_scores_rows_by_its_last_sum(parts_of, fitted_of, untrained):
    fitted = fitted_of("mlp")
    (train, test) = parts_of()
    probability = 1 / (1 + np.exp(-fitted.raw.test))
    with pytest.warns(match="Maximum iterations"):
        model = untrained("mlp", fitted).fit(*train)
    np.testing.assert_allclose(probability, model.predict_proba(test.X)[:, 1], atol=1e-9)


def test_platts_sigmoid_is_scikit_learns(fitted_of):
    y, s = fitted_of("svm").out_of_fold
    machine = MODELS["svm"].make().fit(s[:, None], y)
    scores = machine.decision_function(s[:, None])
    calibrated = CalibratedClassifierCV(FrozenEstimator(machine)).fit(s[:, None], y)
    slope, shift = platt(y, scores)
    expected = calibrated.predict_proba(s[:, None])[:, 1]
    np.testing.assert_allclose(1 / (1 + np.exp(-slope * scores - shift)), expected, atol=0.02)


@pytest.mark.parametrize("model", ["logistic", "svm", "forest"])
def test_a_threshold_of_probabilities_divides_all_rows_alike(model, fitted_of):
    fitted = fitted_of(model)
    for source in ("training", "out-of-fold"):
        p = fitted.probabilities(source)
        s = fitted.sample(source).s
        for t in (-0.1, *np.unique(p)[:: max(1, len(p) // 10)], 0.5, 1.0):
            np.testing.assert_array_equal(s > fitted.at_probability(t).threshold, p > t)
