"""Intervals of metrics: against closed forms, and by simulation."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest
from sklearn import metrics

from boundshift import InvalidInputError, metric_intervals


def draw(rng, n, rate=0.2, distance=2.0):
    y = (rng.random(n) < rate).astype(int)
    return y, rng.normal(distance * y)


def row_of(table, name):
    place = table["metric"].tolist().index(name)
    return {column: values[place] for column, values in table.items()}


def test_values_are_those_of_scikit_learn():
    y, s = draw(np.random.default_rng(0), 400)
    table = metric_intervals(y, s, 1.0)
    predicted = s > 1.0
    expected = {
        "recall": metrics.recall_score(y, predicted),
        "specificity": metrics.recall_score(y, predicted, pos_label=0),
        "precision": metrics.precision_score(y, predicted),
        "npv": metrics.precision_score(y, predicted, pos_label=0),
        "accuracy": metrics.accuracy_score(y, predicted),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, predicted),
        "f1": metrics.f1_score(y, predicted),
        "f0.5": metrics.fbeta_score(y, predicted, beta=0.5),
        "f2": metrics.fbeta_score(y, predicted, beta=2),
        "mcc": metrics.matthews_corrcoef(y, predicted),
        "kappa": metrics.cohen_kappa_score(y, predicted),
    }
    assert {name: row_of(table, name)["value"] for name in expected} == pytest.approx(expected)


def test_rates_have_the_exact_interval():
    y, s = draw(np.random.default_rng(2), 300)
    hits = int(np.sum((y == 1) & (s > 1.0)))
    expected = binomtest(hits, int(y.sum())).proportion_ci(0.95, method="exact")
    recall = row_of(metric_intervals(y, s, 1.0), "recall")
    assert recall["exact"]
    assert (recall["low"], recall["high"]) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_the_interval_of_f1_covers_by_enumeration(share):
    # Given the rows that are positive or predicted so, the true positives among them are binomial.
    rows = 40
    truth = 2 * share / (1 + share)
    covered = 0.0
    for hits in range(rows + 1):
        misses = (rows - hits) // 2
        y = np.repeat([1, 1, 0, 0], [hits, misses, rows - hits - misses, 30])
        s = np.repeat([1.0, 0.0, 1.0, 0.0], [hits, misses, rows - hits - misses, 30])
        if not 0 < y.sum() < len(y):
            continue
        f1 = row_of(metric_intervals(y, s, 0.5), "f1")
        covered += (f1["low"] <= truth <= f1["high"]) * binom.pmf(hits, rows, share)
    assert covered >= 0.95


def draw_clusters(rng, n_clusters, size=10):
    cluster = np.repeat(np.arange(n_clusters), size)
    y = (rng.random(len(cluster)) < 0.3).astype(int)
    s = rng.normal(2.0 * y) + rng.normal(size=n_clusters)[cluster]
    return y, s, cluster


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda rng, n: (*draw(rng, n, 0.3), None), 100),
        (lambda rng, n: (*draw(rng, n, 0.05), None), 500),
        (draw_clusters, 12),
        (draw_clusters, 20),
    ],
)
def test_metrics_without_an_exact_interval_cover(make, size):
    rng = np.random.default_rng(3)
    truth = metric_intervals(*make(np.random.default_rng(4), 100_000)[:2], 1.0)["value"]
    covered = np.zeros(len(truth))
    for _ in range(50):
        y, s, cluster = make(rng, size)
        table = metric_intervals(y, s, 1.0, cluster=cluster)
        inside = (table["low"] <= truth) & (truth <= table["high"])
        covered += inside
        assert np.all((table["low"] <= table["value"]) & (table["value"] <= table["high"]))
    for name, count in zip(table["metric"], covered, strict=True):
        assert binomtest(int(count), 50, 0.95, alternative="less").pvalue > 1e-3, name


def test_two_clusters_are_too_few():
    y, s = draw(np.random.default_rng(7), 40)
    with pytest.raises(InvalidInputError, match="at least 3 clusters"):
        metric_intervals(y, s, 1.0, cluster=np.arange(40) % 2)


def test_the_same_seed_gives_the_same_intervals():
    y, s = draw(np.random.default_rng(8), 100)
    first = metric_intervals(y, s, 1.0)
    second = metric_intervals(y, s, 1.0)
    assert all(np.array_equal(first[name], second[name]) for name in first)
