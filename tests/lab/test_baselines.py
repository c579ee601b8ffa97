"""Cost thresholds against brute force, and against the authors' results, run by run."""

from pathlib import Path

import numpy as np
import pytest

from boundshift._app.comparison import tuned_threshold
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics
from lab.baselines import bayes_risk_threshold, cost_threshold, prior_threshold

RUNS = np.load(Path(__file__).parents[1] / "data" / "rivals_and_splits.npz")
NAMES = sorted(key.removesuffix("/bmr") for key in RUNS.files if key.endswith("/bmr"))


def problem(seed, n=60):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    y[:2] = 0, 1
    return y, np.round(np.clip(0.3 + 0.25 * y + rng.normal(0, 0.2, n), 0, 1), 2)


def cost(y, p, threshold):
    positive, size = p > threshold, np.bincount(y)
    return size[1] * np.sum(positive & (y == 0)) + size[0] * np.sum(~positive & (y == 1))


@pytest.mark.parametrize("seed", range(8))
def test_no_cut_costs_less(seed):
    y, p = problem(seed)
    values = np.unique(p)
    cuts = [-np.inf, *(values[:-1] + values[1:]) / 2, np.inf]
    found = cost_threshold(y, p)
    assert cost(y, p, found) == pytest.approx(min(cost(y, p, cut) for cut in cuts))
    np.testing.assert_array_equal(p > found, p > tuned_threshold(y, p))


def test_the_lowest_complement_in_the_gap_is_taken():
    # The gap is (0.2, 0.9]; of the complements 0.9, 0.8 and 0.1 the lowest in it is 0.8.
    assert cost_threshold([0, 0, 1], [0.1, 0.2, 0.9]) == pytest.approx(0.8)


def calibrated(y, p, new):
    """Share of positive rows on the edge of the ROC curve's hull that each new score falls on."""
    cuts = [np.inf, *np.unique(p)[::-1]]
    points = [(np.sum((p >= c) & (y == 0)), np.sum((p >= c) & (y == 1))) for c in cuts]
    hull = [0]
    while hull[-1] < len(points) - 1:
        x0, y0 = points[hull[-1]]
        later = range(hull[-1] + 1, len(points))
        angle = [np.arctan2(points[j][1] - y0, points[j][0] - x0).round(12) for j in later]
        hull.append(max(zip(angle, later, strict=True))[1])
    edges = np.array([cuts[k] for k in hull[1:]])[::-1]
    steps = np.diff([points[k] for k in hull], axis=0)[::-1]
    shares = steps[:, 1] / steps.sum(axis=1)
    return shares[np.maximum(np.searchsorted(edges, new, side="right") - 1, 0)]


@pytest.mark.parametrize("seed", range(8))
def test_bayes_risk_predicts_what_costs_less(seed):
    y, p = problem(seed)
    new = np.linspace(-0.5, 1.5, 997)
    share = calibrated(y, p, new)
    gain = share * np.sum(y == 0) - (1 - share) * np.sum(y == 1)
    clear = np.abs(gain) > 1e-9
    predicted = new > bayes_risk_threshold(y, p)
    assert (predicted[clear] == (gain[clear] > 0)).all()
    assert bayes_risk_threshold([1, 0], [0.2, 0.8]) == np.inf  # negative on a tie


def test_probabilities_are_required_where_they_are_used():
    for function in (cost_threshold, prior_threshold):
        with pytest.raises(InvalidInputError, match="must be probabilities"):
            function([0, 1], [-1.0, 3.0])


@pytest.mark.parametrize("run", NAMES)
def test_the_authors_results_are_met(run):
    training = RUNS[f"{run}/train_y"], RUNS[f"{run}/train_proba"]
    for method, key in ((bayes_risk_threshold, "bmr"), (cost_threshold, "threshold")):
        flagged = RUNS[f"{run}/test_proba"] > method(*training)
        scores = binary_metrics(RUNS[f"{run}/test_y"], flagged)
        found = [scores["accuracy"], scores["g_mean"], scores["f1"]]
        np.testing.assert_allclose(found, RUNS[f"{run}/{key}"], atol=1e-12)
