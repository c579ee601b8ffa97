"""The band of equal local levels, beside Bolshev's recursion in many digits and simulation."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from boundshift.curves._uniform import MOST_ROWS, crossing_probability, local_level, uniform_bound


def quantiles(n: int, level: float) -> np.ndarray:
    rank = np.arange(1, n + 1)
    return stats.beta(rank, n - rank + 1).isf(level)


def bolshev(n: int, level: float) -> float:
    """Sum over where the first bound fails, in 60 digits: the terms cancel."""
    with mpmath.workdps(60):
        b = [mpmath.mpf(float(q)) for q in quantiles(n, level)]
        kept = [mpmath.mpf(1)]  # probability that m uniform numbers keep the first m bounds
        for m in range(1, n + 1):
            first = (
                mpmath.binomial(m, i - 1) * kept[i - 1] * (b[m - 1] - b[i - 1]) ** (m - i + 1)
                for i in range(1, m)
            )
            kept.append(b[m - 1] ** m - sum(first))
        fails = (
            mpmath.binomial(n, i - 1) * kept[i - 1] * (1 - b[i - 1]) ** (n - i + 1)
            for i in range(1, n + 1)
        )
        return float(sum(fails))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 60])
@pytest.mark.parametrize("level", [0.3, 0.05, 1e-3, 1e-7])
def test_the_crossing_probability_is_that_of_another_recursion(n: int, level: float) -> None:
    assert crossing_probability(n, level) == pytest.approx(bolshev(n, level), rel=1e-5)


@pytest.mark.parametrize("n", [1500, 2500])
def test_groups_of_bounds_err_to_the_safe_side(n: int) -> None:
    exact, grouped = (crossing_probability(n, 1e-3, size) for size in (0.0, 0.2))
    assert exact < grouped < 1.3 * exact


@pytest.mark.parametrize("n", [2, 13, 100, 499, 501, 2000, 2001, 9000])
@pytest.mark.parametrize("delta", [0.3, 0.05, 0.0125, 1e-4])
def test_the_level_never_exceeds_the_exact_one_and_stays_near(n: int, delta: float) -> None:
    reached = crossing_probability(n, local_level(n, delta))
    assert (0.99 if n <= 2000 else 0.6) * delta <= reached <= delta


@pytest.mark.parametrize("n", [5, 40, 300])
def test_all_bounds_hold_together_as_often_as_stated(n: int) -> None:
    draws = np.sort(np.random.default_rng(n).random((40_000, n)), axis=1)
    holds = np.all(draws <= uniform_bound(np.arange(n), n, 0.1), axis=1).mean()
    assert holds == pytest.approx(0.9, abs=3 * np.sqrt(0.09 / 40_000))


def test_very_many_rows_have_the_better_of_two_at_half_the_price() -> None:
    n = 10 * MOST_ROWS
    dkw = 0.3 + np.sqrt(np.log(2 / 0.05) / (2 * n))
    union = stats.beta.isf(0.05 / (2 * (n + 1)), 1, n)
    assert uniform_bound([0, 0.3 * n], n, 0.05) == pytest.approx([union, dkw])


def test_a_level_that_cannot_be_computed_is_none() -> None:
    assert local_level(MOST_ROWS + 1, 0.05) is None
    assert local_level(10, 1e-12) is None
