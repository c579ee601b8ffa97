from dataclasses import replace

import numpy as np
import pytest
from imblearn.metrics import geometric_mean_score as imblearn_geometric_mean
from sklearn import metrics
from sklearn.metrics import fbeta_score, precision_score, recall_score

from boundshift import Cost, find_boundary
from boundshift.exceptions import InvalidInputError
from boundshift.metrics import METRICS, binary_metrics, geometric_mean_score, metrics_at

RNG = np.random.default_rng(0)
Y_TRUE = RNG.integers(0, 2, 200)
Y_PRED = np.where(RNG.random(200) < 0.3, 1 - Y_TRUE, Y_TRUE)
EXPECTED = {
    "accuracy": metrics.accuracy_score,
    "g_mean": imblearn_geometric_mean,
    "f1": metrics.f1_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "mcc": metrics.matthews_corrcoef,
    "recall_positive": metrics.recall_score,
    "recall_negative": lambda y, p: metrics.recall_score(y, p, pos_label=0),
}


def test_agrees_with_the_library_of_record():
    words = np.array(["no", "yes"])
    found = binary_metrics(words[Y_TRUE], words[Y_PRED], pos_label="yes")
    assert found == pytest.approx({k: metric(Y_TRUE, Y_PRED) for k, metric in EXPECTED.items()})


def test_geometric_mean_of_many_classes():
    y_true = RNG.integers(0, 4, 300)
    y_pred = np.where(RNG.random(300) < 0.4, RNG.integers(0, 4, 300), y_true)
    expected = imblearn_geometric_mean(y_true, y_pred)
    assert geometric_mean_score(y_true, y_pred) == pytest.approx(expected)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("gap", [2, -1], ids=["above chance", "below chance"])
def test_metrics_at_every_cut_are_scikit_learns(tied, gap):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [16, 6])
    s = rng.normal(size=22) + gap * y
    s = np.round(s) if tied else s
    table = metrics_at(y, s)
    assert set(table) == {"threshold", *METRICS}
    assert len(table["threshold"]) == len(np.unique(s)) + 1
    for i, t in enumerate(table["threshold"]):
        p = (s > t).astype(int)
        expected = {
            "recall": recall_score(y, p),
            "specificity": recall_score(y, p, pos_label=0),
            "precision": precision_score(y, p, zero_division=1),
            "npv": precision_score(y, p, pos_label=0, zero_division=1),
            "flagged": p.mean(),
            "f1": metrics.f1_score(y, p),
            "f0.5": fbeta_score(y, p, beta=0.5),
            "f2": fbeta_score(y, p, beta=2),
            "mcc": metrics.matthews_corrcoef(y, p),
            "kappa": metrics.cohen_kappa_score(y, p),
            "youden": metrics.balanced_accuracy_score(y, p, adjusted=True),
            "balanced_accuracy": metrics.balanced_accuracy_score(y, p),
            "accuracy": metrics.accuracy_score(y, p),
            "cost": np.mean(y != p),
        }
        found = {name: table[name][i] for name in expected}
        assert found == pytest.approx(expected, abs=1e-12)


def test_one_threshold_is_a_number_a_list_or_a_boundary():
    y = np.array([0, 0, 0, 0, 1, 1])
    s = np.array([0, 1, 2, 3, 2.5, 4])
    boundary = replace(find_boundary(y, s), threshold=2.2)
    for thresholds in (2.2, np.float64(2.2), np.array(2.2), [2.2], boundary):
        table = metrics_at(y, s, thresholds)
        assert table["threshold"].tolist() == [2.2]
        assert table["precision"].tolist() == [precision_score(y, s > 2.2)]


def test_metrics_at_another_prevalence_follow_it():
    y = [0, 0, 0, 0, 1, 1]
    s = [0, 1, 2, 3, 2.5, 4]
    here, rare = (metrics_at(y, s, [2.2], prevalence=p) for p in (None, 0.01))
    assert rare["recall"] == here["recall"]
    assert rare["precision"][0] == pytest.approx(0.01 / (0.01 + 0.99 * 0.25))


def test_the_net_benefit_of_probabilities_takes_each_cut_as_the_users_own():
    rng = np.random.default_rng(1)
    y = (rng.random(300) < 0.2).astype(int)
    p = np.clip(0.2 + 0.3 * y + 0.2 * rng.normal(size=300), 0.01, 0.99)
    cuts = np.array([0.05, 0.2, 0.5, 0.8])
    table = metrics_at(y, p, cuts)
    for i, t in enumerate(cuts):
        hits = np.mean((p > t) & (y == 1))
        alarms = np.mean((p > t) & (y == 0))
        assert table["net_benefit"][i] == pytest.approx(hits - alarms * t / (1 - t), abs=1e-12)
    np.testing.assert_allclose(
        table["standardised_net_benefit"], table["net_benefit"] / y.mean(), atol=1e-12
    )


def test_scores_that_are_no_probabilities_have_a_net_benefit_by_costs_only():
    y = [0, 0, 0, 0, 1, 1]
    s = [0, 1, 2, 3, 2.5, 4]
    assert np.isnan(metrics_at(y, s)["net_benefit"]).all()
    table = metrics_at(y, s, [2.2], costs=Cost(false_negative=4), prevalence=0.1)
    assert table["net_benefit"] == pytest.approx(0.1 - 0.9 * 0.25 / 4)
    assert table["cost"] == pytest.approx(0.9 * 0.25)


def test_a_boundary_says_which_class_is_positive():
    labels = np.array(["ill", "well"])[[0, 0, 1, 1, 1]]
    s = [5, 4, 3, 2, 4.5]
    boundary = find_boundary(labels, s, rule="f1", pos_label="ill", curve="empirical")
    assert metrics_at(labels, s, boundary)["recall"] == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda b: binary_metrics([0, 0, 0], [0, 1, 0]), "3 negative and 0 positive"),
        (lambda b: geometric_mean_score([0, 1], [0, 1, 1]), r"\(2,\) and \(3,\)"),
        (lambda b: metrics_at([0, 0, 1], [1, 2, 3], b, pos_label=0), "`pos_label` must be that"),
        (lambda b: metrics_at([0, 1], [0, 1], costs=(1, 2)), "`costs` must be a Cost"),
        (
            lambda b: metrics_at([0, 1], [0, 1], costs=Cost(prevalence=0.1), prevalence=0.2),
            "no other prevalence than 0.2",
        ),
        *(
            (lambda b, bad=bad: metrics_at([0, 0, 1], [0, 1, 2], bad), "`thresholds` must be")
            for bad in ([np.nan], "3", [[1.0, 2.0]], np.inf)
        ),
    ],
)
def test_wrong_requests_for_metrics_are_refused(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call(find_boundary([0, 0, 1, 1], [0, 1, 2, 3]))
