"""The error rate of a cluster that was not among those tested."""

import numpy as np
import pytest
from scipy.stats import beta, binomtest

from boundshift import Certificate, InvalidInputError, certify
from boundshift._guarantees.new_clusters import bound_new_cluster, choose_rank, failure_probability
from boundshift.curves._clusters import bound_mean


def rows_of(wrong, n):
    """Return labels, scores and IDs of clusters of negative rows, some of them above 0."""
    ids = np.repeat(np.arange(len(n)), n)
    place = np.arange(len(ids)) - np.repeat(np.cumsum(n) - n, n)
    return np.zeros(len(ids), dtype=int), np.where(place < np.repeat(wrong, n), 1.0, -1.0), ids


def bound(wrong, n, **options):
    y, s, ids = rows_of(wrong, n)
    options = {"pos_label": 1, "cluster": ids, "about": "new clusters"} | options
    return certify(y, s, 0.0, **options)


@pytest.mark.parametrize(("n_clusters", "rank", "level"), [(16, 0, 0.0), (40, 1, 0.3), (9, 2, 0.5)])
def test_the_failure_probability_is_that_of_the_worst_distribution(n_clusters, rank, level):
    # Rates are distinct, and each bound is the rate itself, or far too low at its level.
    rng = np.random.default_rng(0)
    draws = 20_000
    rates = rng.random((draws, n_clusters))
    bounds = np.where(rng.random((draws, n_clusters)) < level, 0.0, rates)
    chosen = np.sort(bounds, axis=1)[:, -1 - rank]
    failed = int(np.sum(rng.random(draws) > chosen))
    expected = failure_probability(rank, level, n_clusters)
    assert binomtest(failed, draws, expected).pvalue > 1e-3


@pytest.mark.parametrize("n_clusters", [20, 33, 100, 400])
def test_the_order_statistic_uses_up_the_failure_probability(n_clusters):
    rank, level = choose_rank(n_clusters, 0.05)
    assert failure_probability(rank, level, n_clusters) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("n_clusters", "size", "between"),
    [(20, 200, 5.0), (60, 15, 5.0), (60, 300, 20.0), (150, 50, 1e6)],
)
def test_a_new_cluster_keeps_the_bound(n_clusters, size, between):
    rng = np.random.default_rng(1)
    runs = 400
    broken = 0
    above_average = 0
    for _ in range(runs):
        rates = rng.beta(0.1 * between, 0.9 * between, n_clusters + 1)
        n = rng.integers(size // 2, 2 * size, n_clusters)
        wrong = rng.binomial(n, rates[:-1])
        broken += bound_new_cluster(wrong, n, 0.05) < rates[-1]
        above_average += bound_mean(wrong / n, 0.05) < rates[-1]
    assert binomtest(broken, runs, 0.05, alternative="greater").pvalue > 1e-3
    if size == 300:
        assert above_average > 0.15 * runs


def test_the_bound_by_hand():
    wrong = np.arange(20)
    n = np.full(20, 50)
    rank, level = choose_rank(20, 0.05)
    assert rank == 0
    certificate = bound(wrong, n)
    assert certificate.error_bounds[0] == pytest.approx(beta.ppf(1 - level, 20, 31))
    assert certificate.lowest_bounds[0] == pytest.approx(beta.ppf(1 - level, 1, 50))
    assert certificate.errors[0] == pytest.approx(np.mean(wrong / 50))
    assert (certificate.method, certificate.status) == ("new clusters", "certified")
    assert certificate.n_clusters == (20, 0)
    assert Certificate.from_json(certificate.to_json()).error_bounds == certificate.error_bounds


def test_too_few_clusters_are_said_to_be_too_few():
    certificate = bound(np.ones(16, dtype=int), np.full(16, 100))
    assert certificate.error_bounds == (1.0, 1.0)
    assert "16 clusters of class 0 support a confidence of at most 0.94" in certificate.reason
    assert "20 are needed" in certificate.reason
    assert bound(np.ones(16, dtype=int), np.full(16, 100), confidence=0.94).error_bounds[0] < 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"about": "new clusters"}, "`about` 'new clusters' must go with `cluster`"),
        ({"about": "sites"}, "`about` must be one of"),
        ({"unlabelled_cluster": [1]}, "`unlabelled_cluster` must go with `unlabelled`"),
    ],
)
def test_refuses(options, message):
    with pytest.raises(InvalidInputError, match=message):
        certify([0, 1, 0, 1], [0.0, 1.0, 1.0, 0.0], 0.5, **options)
