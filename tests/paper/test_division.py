import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift.curves.paper import bound_loss, split_space
from tests.exhaustive import minima
from tests.problems import many

RATIOS = st.floats(-3, 4).map(lambda e: 10.0**e)
WEIGHTS = st.floats(-3, 3).map(lambda e: 10.0**e)


def columns(*values):
    return np.array(values, dtype=float)[:, None]


def exact_share(k, w):
    """Return the stationary share with a falling slope of −L', with 60 digits."""
    with mpmath.workdps(60):
        k1, k2, w1, w2 = map(mpmath.mpf, (*k, *w))

        def f(z):
            share = 1 / (1 + mpmath.exp(-z))
            rest = 1 / (1 + mpmath.exp(z))
            squares = (k1 * share) ** 2 - (k2 * rest) ** 2
            return mpmath.log(w1 * k1**2 / (w2 * k2**2)) + z - squares / 2

        # The share that makes both exponents equal is where the minimum is for large ratios.
        start = mpmath.log(k2 / k1)
        low, high = start, start
        step = mpmath.mpf("1e-6")
        while f(low) <= 0:
            low -= step
            step *= 2
        step = mpmath.mpf("1e-6")
        while f(high) >= 0:
            high += step
            step *= 2
        return mpmath.findroot(f, (low, high), solver="anderson")


@many(800)
@given(RATIOS, RATIOS, WEIGHTS, WEIGHTS)
def test_loss_is_that_of_a_dense_search(k1, k2, w1, w2):
    split = split_space(columns(k1, k2), columns(w1, w2))
    best = min(value for _, value in minima(1.0, (1 / k1, 1 / k2), (w1, w2)))
    assert split.loss[0] == pytest.approx(best, rel=1e-9, abs=1e-300)


@many(800)
@given(RATIOS, RATIOS, WEIGHTS, WEIGHTS)
def test_share_is_that_of_a_dense_search(k1, k2, w1, w2):
    split = split_space(columns(k1, k2), columns(w1, w2))
    found = sorted(minima(1.0, (1 / k1, 1 / k2), (w1, w2)), key=lambda pair: pair[1])
    if found[1][1] > found[0][1] * (1 + 1e-9):  # else two shares are equally good
        assert split.theta[0] == pytest.approx(found[0][0], abs=1e-10)


@pytest.mark.parametrize("k", [(8, 5), (30, 70), (900, 4), (1e4, 3e4), (1e6, 1e5), (1e12, 2e12)])
@pytest.mark.parametrize("w", [(1, 1), (0.9, 0.5), (5, 0.1)])
def test_share_has_all_digits_where_the_loss_underflows(k, w):
    z = exact_share(k, w)
    split = split_space(columns(*k), columns(*w))
    assert split.theta[0] == pytest.approx(float(1 / (1 + mpmath.exp(-z))), rel=1e-13)


@many(200)
@given(RATIOS, RATIOS, WEIGHTS, WEIGHTS)
def test_swapped_classes_swap_the_shares(k1, k2, w1, w2):
    split = split_space(columns(k1, k2), columns(w1, w2))
    swapped = split_space(columns(k2, k1), columns(w2, w1))
    ends = minima(1.0, (1 / k1, 1 / k2), (w1, w2))[:2]
    if abs(ends[0][1] - ends[1][1]) > 1e-12 * ends[0][1]:  # else both ends are equally good
        assert swapped.theta[0] == pytest.approx(1 - split.theta[0], abs=1e-12)


@many(200)
@given(st.lists(st.tuples(RATIOS, RATIOS, WEIGHTS, WEIGHTS), min_size=2, max_size=8))
def test_problems_solved_together_are_solved_as_alone(rows):
    k, w = np.array([r[:2] for r in rows]).T, np.array([r[2:] for r in rows]).T
    together = split_space(k, w).theta
    alone = [split_space(k[:, [i]], w[:, [i]]).theta[0] for i in range(len(rows))]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


@many(200)
@given(RATIOS, RATIOS, WEIGHTS, WEIGHTS, st.integers(2, 40))
def test_the_loss_lies_between_its_bounds(k1, k2, w1, w2, n):
    k, w = columns(k1, k2), columns(w1, w2)
    lower, upper = bound_loss(k, w, np.linspace(0, 1, n))
    loss = split_space(k, w).loss[0]
    assert lower[0] * (1 - 1e-14) <= loss <= upper[0] * (1 + 1e-14)


def test_lower_bound_reaches_the_loss_as_shares_get_finer():
    k, w = columns(6.0, 3.0), columns(0.9, 0.6)
    lower, _ = bound_loss(k, w, np.linspace(0, 1, 20_001))
    assert lower[0] == pytest.approx(split_space(k, w).loss[0], rel=1e-3)


def test_u_is_the_share_in_steps():
    split = split_space(columns(8.0, 5.0), columns(1.0, 1.0))
    expected = [[8.0 * split.theta[0]], [5.0 * (1 - split.theta[0])]]
    np.testing.assert_allclose(split.u, expected, rtol=1e-14)


def test_no_space_leaves_both_confidences_at_one():
    split = split_space(columns(0.0, 0.0), columns(0.5, 0.25))
    assert split.loss[0] == 0.75


def test_a_point_needs_no_space():
    split = split_space(columns(np.inf, 3.0), columns(1.0, 1.0))
    assert split.loss[0] == pytest.approx(np.exp(-4.5), rel=1e-12)


def test_a_point_without_space_is_still_certain():
    split = split_space(columns(np.inf, 0.0), columns(1.0, 0.5))
    assert split.loss[0] == 0.5


def test_two_points_cost_nothing():
    assert split_space(columns(np.inf, np.inf), columns(1.0, 1.0)).loss[0] == 0.0


@pytest.mark.parametrize(("w", "theta"), [((0.9, 0.5), 0.0), ((0.5, 0.9), 1.0)])
def test_little_space_goes_to_the_class_that_gains_most(w, theta):
    # With k = 0.1 the loss is about w1 + w2 − w θ² k²/2: the heavier class gets everything.
    heavier = split_space(columns(0.1, 0.1), columns(*w))
    assert heavier.theta[0] == 1 - theta


def test_of_equal_ends_the_positive_class_gets_the_space():
    split = split_space(columns(0.5, 0.5), columns(0.5, 0.5))
    assert split.theta[0] == 0.0
