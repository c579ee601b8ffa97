from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import chi2, rankdata

from lab.statistics import (
    average_ranks,
    compare,
    critical_difference,
    friedman,
    groups_alike,
    holm,
)


def _friedman_by_hand(table):
    """Friedman's statistic with Conover's correction for ties."""
    ranks = np.array([rankdata(line) for line in table])
    n, k = ranks.shape
    spread = (ranks**2).sum() - n * k * (k + 1) ** 2 / 4
    between = ((ranks.sum(axis=0) - n * (k + 1) / 2) ** 2).sum()
    return (k - 1) * between / spread


@pytest.mark.parametrize("digits", [1, 8])
def test_friedman_is_the_textbook_formula_with_and_without_ties(digits):
    table = np.random.default_rng(0).random((12, 5)).round(digits)
    found = friedman(table)
    assert found.chi_square == pytest.approx(_friedman_by_hand(table))
    assert found.p_value == pytest.approx(chi2.sf(found.chi_square, 4))


def test_methods_that_are_all_alike_are_not_told_apart():
    assert friedman(np.ones((4, 3))).p_value == 1.0
    assert friedman(np.ones((4, 3))).f_p_value == 1.0


def test_methods_always_in_the_same_order_are_told_apart():
    found = friedman(np.tile([1.0, 2.0, 3.0], (10, 1)))
    assert found.f == np.inf
    assert found.f_p_value == 0.0


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (10, 3.164)])
def test_critical_values_are_those_of_demsars_table(k, q):
    n = 30
    assert critical_difference(k, n) == pytest.approx(q * np.sqrt(k * (k + 1) / 6 / n), rel=5e-4)


def _holm_by_definition(p_values):
    """The least level at which the step-down procedure rejects each hypothesis."""
    ordered = sorted(p_values.values())
    m = len(ordered)

    def rejected(level):
        count = 0
        while count < m and ordered[count] * (m - count) <= level:
            count += 1
        return set(ordered[:count])

    levels = sorted({min(1.0, p * (m - i)) for i, p in enumerate(ordered)} | {1.0})
    return {
        name: next((a for a in levels if p in rejected(a)), 1.0) for name, p in p_values.items()
    }


def test_holm_is_the_step_down_procedure():
    rng = np.random.default_rng(1)
    for size in range(1, 8):
        p_values = {str(i): float(p) for i, p in enumerate(rng.random(size) ** 3)}
        assert holm(p_values) == pytest.approx(_holm_by_definition(p_values))


def test_runs_are_all_that_cannot_be_made_longer():
    rng = np.random.default_rng(2)
    for _ in range(50):
        ranks = sorted(rng.random(7) * 6)
        alike = {
            (i, j) for i, j in combinations(range(7), 2) if ranks[j] - ranks[i] <= 1.5
        }  # fmt: skip
        longest = {
            (i, j) for i, j in alike if (i - 1, j) not in alike and (i, j + 1) not in alike
        }  # fmt: skip
        assert set(groups_alike(ranks, 1.5)) == longest


def test_ranks_share_ties_and_ignore_the_last_digits():
    assert average_ranks([[0.3, 0.1 + 0.2, 0.1]]).tolist() == [1.5, 1.5, 3.0]


def test_p_value_is_near_the_exact_one():
    rng = np.random.default_rng(0)
    difference = rng.normal(0.4, 1, 12)
    ranks = np.argsort(np.argsort(np.abs(difference))) + 1
    seen = ranks[difference > 0].sum()
    middle = ranks.sum() / 2
    signs = np.array(list(product([0, 1], repeat=12)))
    exact = np.mean(np.abs(signs @ ranks - middle) >= abs(seen - middle))
    assert compare(difference, np.zeros(12)).p_value == pytest.approx(exact, abs=0.03)


def test_failed_seeds_are_left_out_of_pairs():
    pair = compare(np.array([0.5, np.nan, 0.7]), np.array([0.4, 0.1, np.nan]))
    assert (pair.wins, pair.ties, pair.losses) == (1, 0, 0)
