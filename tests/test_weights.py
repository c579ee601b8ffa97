"""Weights count as frequencies, costs by row as amounts."""

import numpy as np
import pytest

from boundshift import Boundary, BoundaryWarning, GMean, InvalidInputError, find_boundary

# Weights above 2 claim more rows than there are, which is warned of.
pytestmark = pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
ESTIMATING = ["blend", "smoothed", "logistic", "student-t", "kth-point", "empirical"]
COUNTING = ["clopper-pearson", "dkw", "bernstein", "support", "paper"]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 25])
    return y, rng.normal(size=325) + 2 * y, rng.integers(1, 6, 325)


@pytest.mark.parametrize("curve", ESTIMATING)
@pytest.mark.parametrize("rule", ["g-mean", "sum", "minimax", "f1", "mcc", "cost"])
def test_a_weight_is_the_row_as_many_times(problem, curve, rule):
    y, s, w = problem
    weighted = find_boundary(y, s, curve=curve, rule=rule, sample_weight=w)
    repeated = find_boundary(np.repeat(y, w), np.repeat(s, w), curve=curve, rule=rule)
    assert weighted.threshold == pytest.approx(repeated.threshold, abs=1e-8)
    assert weighted.errors == pytest.approx(repeated.errors, abs=1e-9)
    assert weighted.wrong == repeated.wrong
    assert weighted.n_samples == repeated.n_samples


@pytest.mark.parametrize("curve", ESTIMATING)
def test_fractions_lie_between_whole_numbers_and_zero_is_no_row(problem, curve):
    y, s, _ = problem
    half = find_boundary(y, s, curve=curve, sample_weight=np.full(325, 0.5))
    more = find_boundary(y, s, curve=curve, sample_weight=np.where(y == 1, 1.7, 1.0))
    assert half.n_samples == (150.0, 12.5)
    assert more.n_samples == pytest.approx((300, 42.5))
    dropped = np.where(np.arange(325) < 100, 0, 1)
    without = find_boundary(y[100:], s[100:], curve=curve)
    found = find_boundary(y, s, curve=curve, sample_weight=dropped)
    assert found.threshold == pytest.approx(without.threshold, abs=1e-8)


def test_heavier_positives_lower_the_boundary_of_a_cost(problem):
    y, s, _ = problem
    heavy = find_boundary(y, s, rule="cost", sample_weight=np.where(y == 1, 50, 1))
    assert heavy.threshold < find_boundary(y, s, rule="cost").threshold - 0.5


def test_a_weighted_record_is_stored_and_comes_back(problem):
    y, s, w = problem
    found = find_boundary(y, s, sample_weight=w + 0.25)
    assert Boundary.from_json(found.to_json()) == found


@pytest.mark.parametrize("curve", COUNTING)
def test_curves_that_count_rows_refuse(problem, curve):
    y, s, w = problem
    with pytest.raises(InvalidInputError, match="`sample_weight` must be left out with the curve"):
        find_boundary(y, s, curve=curve, sample_weight=w)


def test_uneven_weights_are_warned_of():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [50, 50])
    s, w = rng.normal(size=100) + y, np.where(np.arange(100) % 25 == 0, 100.0, 1.0)
    with pytest.warns(BoundaryWarning, match="Kish"):
        find_boundary(y, s, rule=GMean(), sample_weight=w)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (np.ones(3), "one weight for each of 325 rows"),
        (np.full(325, -1.0), "at least 0, got -1"),
        (np.full(325, np.nan), "must be finite"),
        (np.full(325, 0.001), "must sum to at least 2"),
        (["x"] * 325, "must be numbers"),
    ],
)
def test_bad_weights_get_a_sentence(problem, weight, message):
    y, s, _ = problem
    with pytest.raises(InvalidInputError, match=message):
        find_boundary(y, s, sample_weight=weight)


@pytest.mark.parametrize("tied", [False, True])
def test_no_other_boundary_costs_less(tied):
    rng = np.random.default_rng(2)
    for _ in range(100):
        y = np.append(rng.integers(0, 2, 30), [0, 1])
        s = rng.normal(size=32) + y
        s = np.round(s) if tied else s
        cost = rng.exponential(size=32) * 100
        found = find_boundary(y, s, row_cost=cost)
        points = np.unique(s)
        cuts = [points[0] - 1, *((points[1:] + points[:-1]) / 2), points[-1] + 1]
        best = min(cost[(s > t) != y].sum() for t in cuts)
        assert cost[found.predict(s) != y].sum() == pytest.approx(best)
        assert found.loss == pytest.approx(best / 32)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"row_cost": np.ones(3)}, "one cost for each of 325"),
        ({"row_cost": np.full(325, -1.0)}, "at least 0"),
        ({"row_cost": np.zeros(325)}, "not all 0"),
        ({"row_cost": np.ones(325), "rule": "f1"}, "any rule but 'cost'"),
        ({"row_cost": np.ones(325), "curve": "smoothed"}, "must go without curve"),
        ({"row_cost": np.ones(325), "sample_weight": np.ones(325)}, "must go without"),
    ],
)
def test_bad_costs_get_a_sentence(problem, arguments, message):
    y, s, _ = problem
    with pytest.raises(InvalidInputError, match=message):
        find_boundary(y, s, **arguments)
