"""Tests in order by enumeration of all outcomes, by a second program, and by simulation."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from scipy.stats import t as student

from boundshift import Floors, Status, find_boundary
from boundshift.curves._sequence import largest_floor, pass_in_order, starting_places
from tests.problems import many


def pass_one_by_one(wrong, n, floor, delta):
    """Return the numbers of rows that pass, a test at a time, as the procedure is defined."""
    places = starting_places(floor, delta, max(n))
    own = [0.0] * len(n)
    for place in places:
        at = next((i for i, rows in enumerate(n) if rows >= place), None)
        if at is not None:
            own[at] += delta / len(places)
    passed = []
    handed_on = 0.0
    for i, (k, rows) in enumerate(zip(wrong, n, strict=True)):
        level = own[i] + handed_on
        if level > 0 and binom.cdf(k, rows, 1 - floor) <= level:
            passed.append(i)
            handed_on = level
        else:
            handed_on = 0.0
    return passed


@many(100)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([0.1, 0.5, 0.8]), st.booleans(), st.integers(2, 400)
)
def test_it_is_the_procedure_test_by_test(seed, floor, tied, rows):
    rng = np.random.default_rng(seed)
    right = rng.random(rows) < rng.uniform(floor, 1)
    n = np.arange(rows + 1)
    wrong = np.concatenate([[0], np.cumsum(~right)])
    if tied:
        kept = np.unique(rng.integers(0, rows + 1, size=1 + rows // 8))
        n = n[kept]
        wrong = wrong[kept]
    passed = pass_in_order(wrong, n, floor, 0.1)
    assert np.flatnonzero(passed).tolist() == pass_one_by_one(wrong, n, floor, 0.1)


@pytest.mark.parametrize(("floor", "delta"), [(0.3, 0.3), (0.5, 0.4), (0.2, 0.1)])
def test_a_share_at_the_floor_throughout_passes_as_seldom_as_stated(floor, delta):
    """All sequences of 13 rows, each right with the floor as its probability."""
    rows = 13
    n = np.arange(rows + 1)
    assert len(starting_places(floor, delta, rows)) > 1
    chance = 0.0
    for right in product([0, 1], repeat=rows):
        wrong = np.concatenate([[0], np.cumsum(1 - np.array(right))])
        if pass_in_order(wrong, n, floor, delta).any():
            hits = sum(right)
            chance += floor**hits * (1 - floor) ** (rows - hits)
    assert 0 < chance <= delta


@pytest.mark.parametrize("seed", range(6))
def test_tied_scores_of_any_shares_pass_as_seldom_as_stated(seed):
    """All counts of 14 rows with three scores, whose shares of positives rise and fall."""
    rng = np.random.default_rng(seed)
    rows = 14
    floor = 0.4
    delta = 0.3
    mass = rng.dirichlet(np.ones(3))
    right = np.clip(floor + rng.uniform(-0.3, 0.3, 3), 0.01, 0.99)
    cells = np.concatenate([mass * right, mass * (1 - right)])
    # What is true where the rows with the first one, two and three scores are flagged.
    truth = np.cumsum(mass * right) / np.cumsum(mass)
    broken = 0.0
    for counts in _counts(rows, 6):
        hits = np.array(counts[:3])
        alarms = np.array(counts[3:])
        seen = hits + alarms > 0
        n = np.cumsum(hits + alarms)[seen]
        wrong = np.cumsum(alarms)[seen]
        if (pass_in_order(wrong, n, floor, delta) & (truth[seen] < floor)).any():
            ways = factorial(rows) / prod(factorial(k) for k in counts)
            broken += ways * float(np.prod(cells ** np.array(counts)))
    assert broken <= delta


def _counts(total, cells):
    """Yield all ways to put some rows into some cells."""
    if cells == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for others in _counts(total - first, cells - 1):
            yield (first, *others)


@many(200)
@given(
    st.floats(0.01, 0.99),
    st.sampled_from([0.2, 0.05, 0.001]),
    st.integers(1, 5000),
)
def test_a_place_is_one_at_which_rows_that_are_all_right_pass(floor, delta, most):
    places = starting_places(floor, delta, most)
    assert places == sorted(places)
    for place in places:
        assert floor**place <= delta / len(places) * (1 + 1e-6)


@many(100)
@given(st.integers(0, 2**32 - 1), st.integers(5, 600), st.floats(0.3, 0.95))
def test_the_largest_floor_passes_somewhere(seed, rows, share):
    rng = np.random.default_rng(seed)
    wrong = np.concatenate([[0], np.cumsum(rng.random(rows) > share)])
    n = np.arange(rows + 1)
    largest = largest_floor(wrong, n, 0.9, 0.05)
    assert 0 <= largest <= 0.9
    if largest:
        assert pass_in_order(wrong, n, largest, 0.05).any()


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize(("floor", "prevalence"), [(0.6, 0.5), (0.5, 0.3)])
def test_a_precision_that_rises_and_falls_is_kept_and_found(floor, prevalence):
    rng = np.random.default_rng(5)
    runs = 300
    distance = 2.0
    kept = 0
    answered = 0
    for _ in range(runs):
        # Among the highest scores both classes are as frequent as anywhere.
        y = (rng.random(2000) < prevalence).astype(int)
        s = rng.standard_t(1.5, 2000) + distance * y
        found = find_boundary(y, s, rule=Floors(precision=floor, then="recall"))
        hits = prevalence * student.sf(found.threshold - distance, 1.5)
        alarms = (1 - prevalence) * student.sf(found.threshold, 1.5)
        answered += found.status is not Status.UNMET
        kept += found.status is Status.UNMET or hits / (hits + alarms) >= floor
    assert answered >= 0.95 * runs
    assert kept / runs >= 0.95 - 2 * (0.05 * 0.95 / runs) ** 0.5
