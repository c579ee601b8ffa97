"""Thresholds against brute force and the authors' results, and retrained models."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
)
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from boundshift.datasets import make_gaussians
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import binary_metrics, geometric_mean_score
from lab.baselines import (
    bayes_risk_threshold,
    best_cut,
    cost_threshold,
    fit_balanced,
    fit_smote,
    prior_threshold,
)
from lab.benchmark.methods import METRICS, MISS

RUNS = np.load(Path(__file__).parents[1] / "data" / "rivals_and_splits.npz")
X, Y = make_gaussians((200, 20), random_state=0)
NAMES = sorted(key.removesuffix("/bmr") for key in RUNS.files if key.endswith("/bmr"))


def problem(seed, n=60):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.25).astype(int)
    y[:2] = 0, 1
    return y, np.round(np.clip(0.3 + 0.25 * y + rng.normal(0, 0.2, n), 0, 1), 2)


def cost(y, p, threshold):
    positive = p > threshold
    size = np.bincount(y)
    return size[1] * np.sum(positive & (y == 0)) + size[0] * np.sum(~positive & (y == 1))


@pytest.mark.parametrize("seed", range(8))
def test_no_cut_costs_less(seed):
    y, p = problem(seed)
    values = np.unique(p)
    cuts = [-np.inf, *(values[:-1] + values[1:]) / 2, np.inf]
    found = cost_threshold(y, p)
    assert cost(y, p, found) == pytest.approx(min(cost(y, p, cut) for cut in cuts))
    balanced = best_cut(y, p, METRICS["balanced-accuracy"], 0.5)
    np.testing.assert_array_equal(p > found, p > balanced)


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


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("metric", METRICS)
def test_no_cut_has_a_better_metric(seed, metric):
    y, p = problem(seed)
    references = {
        "balanced-accuracy": balanced_accuracy_score,
        "g-mean": geometric_mean_score,
        "f1": f1_score,
        "mcc": matthews_corrcoef,
        "kappa": cohen_kappa_score,
        "cost": lambda y, flagged: -(MISS * np.sum(y > flagged) + np.sum(y < flagged)) / len(y),
    }
    values = np.unique(p)
    cuts = [-np.inf, *(values[:-1] + values[1:]) / 2, np.inf]
    best = max(references[metric](y, p > cut) for cut in cuts)
    cut = best_cut(y, p, METRICS[metric], y.mean())
    assert references[metric](y, p > cut) == pytest.approx(best)


def test_the_lowest_of_equally_good_cuts_wins():
    # One false positive below 0.2, or one false negative below 0.4.
    assert (
        0.1 <= best_cut(np.array([0, 1, 0, 1]), [0.1, 0.2, 0.3, 0.4], METRICS["g-mean"], 0.5) < 0.2
    )


# Half-way cases round to even, so the middle falls on the lower float once and on the higher once.
@pytest.mark.parametrize("low", [0.5, np.nextafter(0.5, 1)])
def test_neighbouring_floats_are_still_separated(low):
    high = np.nextafter(low, 1)
    assert low <= best_cut(np.array([0, 1]), [low, high], METRICS["g-mean"], 0.5) < high


@pytest.mark.parametrize("sizes", [[150, 50, 20], [200, 3], [200, 1], [50, 50]])
def test_smote_fills_every_class_up(sizes):
    labels = np.repeat(range(len(sizes)), sizes)
    base = GaussianNB()
    fitted = fit_smote(base, X[: len(labels)], labels, seed=0)
    assert fitted.class_count_.tolist() == [max(sizes)] * len(sizes)
    assert not hasattr(base, "class_count_")


@pytest.mark.parametrize(
    "base",
    [
        HistGradientBoostingClassifier(max_iter=5),
        make_pipeline(StandardScaler(), LogisticRegression()),
        GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}, cv=2),
    ],
    ids=lambda base: type(base).__name__,
)
def test_balanced_weights_are_set_wherever_a_classifier_has_them(base):
    params = fit_balanced(base, X, Y).get_params()
    assert [v for name, v in params.items() if name.endswith("class_weight")] == ["balanced"]


def test_balanced_weights_are_passed_where_a_classifier_takes_them():
    expected = GaussianNB().fit(X, Y, compute_sample_weight("balanced", Y)).class_prior_
    assert (fit_balanced(GaussianNB(), X, Y).class_prior_ == expected).all()
    piped = fit_balanced(make_pipeline(StandardScaler(), GaussianNB()), X, Y)
    assert piped[-1].class_prior_ == pytest.approx(expected)
    with pytest.raises(InvalidInputError, match="got KNeighborsClassifier"):
        fit_balanced(KNeighborsClassifier(), X, Y)
