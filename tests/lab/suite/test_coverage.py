import numpy as np
import pytest
from scipy.stats import binom

from lab.suite.coverage import claims_covered, coverage, least_share
from tests.lab.suite_rows import row


def certified(bounds, recalls, sizes=(100, 20), **values):
    names = ("negative", "positive")
    pairs = {}
    for name, numbers in (("certified", bounds), ("recall", recalls), ("test", sizes)):
        pairs |= {f"{name}_{label}": n for label, n in zip(names, numbers, strict=True)}
    return row(certificate="cross-fitted", **pairs, **values)


def test_an_error_at_the_bound_is_covered_and_one_above_is_not():
    rows = [certified((0.1, 0.3), (0.9, 0.7)), certified((0.1, 0.3), (0.89, 0.65))]
    assert coverage(rows).covered == 0.5
    assert coverage(rows).n == 4
    assert coverage(rows).width == pytest.approx(np.mean([0, 0, -0.01, -0.05]))


def test_only_errors_that_chance_does_not_explain_contradict():
    by_chance, beyond = certified((0.1, 0.3), (0.85, 0.7)), certified((0.1, 0.3), (0.8, 0.7))
    assert binom.sf(14, 100, 0.1) > 0.05 > binom.sf(19, 100, 0.1)
    assert coverage([by_chance]).contradicted == 0.0
    assert coverage([beyond]).contradicted == 0.5


def test_a_true_bound_is_contradicted_by_chance_in_at_most_a_twentieth():
    rng = np.random.default_rng(0)
    rows = [
        certified((0.1, 0.3), (1 - rng.binomial(100, 0.1) / 100, 1 - rng.binomial(20, 0.3) / 20))
        for _ in range(2000)
    ]
    assert 0.02 < coverage(rows).contradicted <= 0.05


def test_models_that_were_trained_otherwise_have_no_certificate():
    rows = [certified((0.1, 0.3), (0.9, 0.7)), row(method="smote")]
    assert coverage(rows).n == 2


def test_the_least_share_is_the_point_where_a_binomial_test_rejects():
    for n in (26, 65, 130):
        k = round(least_share(n) * n)
        assert binom.cdf(k, n, 0.95) >= 0.05 > binom.cdf(k - 1, n, 0.95)


def test_trials_are_counted_by_blocks_and_not_by_seeds():
    rows = [certified((0.1, 0.3), (0.9, 0.7), seed=seed) for seed in range(9)]
    assert coverage(rows).least == least_share(2)


def test_claims_are_compared_with_test_errors():
    claimed = row(claim_negative=0.1, claim_positive=0.1, recall_negative=0.95, recall_positive=0.5)
    assert claims_covered([claimed, row(method="untouched")]) == 0.5
