import numpy as np
import pytest

from boundshift.app.workflow import compare_scores
from boundshift.app.workflow.compared_methods import our_thresholds, rival_thresholds
from boundshift.boundary import find_boundary
from boundshift.scores import ScoreSample


def test_ours_are_those_of_the_library():
    y = np.repeat(["no", "yes"], [90, 10])
    scores = np.random.default_rng(0).normal(2.0 * (y == "yes"))
    found = our_thresholds(ScoreSample.from_labels(y, scores))
    assert found == {
        "boundshift": find_boundary(y, scores).threshold,
        "boundshift, minimax": find_boundary(y, scores, rule="minimax").threshold,
        "boundshift, smoothed": find_boundary(y, scores, curve="smoothed").threshold,
        "boundshift, paper": find_boundary(y, scores, curve="paper").threshold,
    }


def test_the_prior_threshold_is_the_log_odds_of_the_classes():
    y = np.repeat([False, True], [90, 10])
    sample = ScoreSample.from_labels(y, np.linspace(-1, 1, 100))
    found = rival_thresholds(sample, log_odds=True)
    assert found["prior threshold"] == pytest.approx(np.log(10 / 90))
    assert "prior threshold" not in rival_thresholds(sample)


def test_scores_are_judged_by_boundaries_found_without_them():
    """Labels that have nothing to do with scores look no better than chance to any method."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        sample = ScoreSample.from_labels(np.arange(60) % 3 == 0, rng.normal(size=60))
        rows = compare_scores(sample)
        found.append([row["balanced_accuracy"] for row in sorted(rows, key=lambda r: r["method"])])
    assert np.mean(found, axis=0).max() < 0.55
