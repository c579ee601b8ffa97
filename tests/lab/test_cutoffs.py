"""The best F1 beside the package optimal-classification-cutoffs."""

import numpy as np
import pytest

from boundshift import find_boundary

cutoffs = pytest.importorskip("optimal_cutoffs")


def f1_at(y, p, threshold):
    flagged = p > threshold
    return 2 * np.sum(flagged & (y == 1)) / (np.sum(flagged) + np.sum(y == 1))


def test_f1_is_the_best_of_all_gaps_and_never_below_the_package_where_scores_are_tied():
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(10, 200))
        y = (rng.random(n) < rng.uniform(0.1, 0.6)).astype(int)
        y[:4] = 0, 1, 0, 1
        p = np.clip(rng.normal(0.3 + 0.3 * y, 0.2), 0.001, 0.999)
        p = np.round(p, int(rng.integers(1, 4)))
        ours = f1_at(y, p, find_boundary(y, p, curve="empirical", rule="f1").threshold)
        found = cutoffs.get_optimal_threshold(y, p, metric="f1", comparison=">")
        theirs = f1_at(y, p, float(np.ravel(found.thresholds)[0]))
        best = max(f1_at(y, p, threshold) for threshold in [-1.0, *p])
        assert ours == pytest.approx(best, abs=1e-12)
        assert ours >= theirs - 1e-12
