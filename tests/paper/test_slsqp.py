import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift import (
    SLSQP,
    BoundaryWarning,
    InvalidInputError,
    Status,
    SupportRadius,
    find_boundary,
)
from tests.problems import classes, labelled, many

PRESETS = {None: SupportRadius, "authors": SupportRadius.authors, "paper": SupportRadius.paper}


def find(pair, preset=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        return find_boundary(*labelled(*pair), curve=PRESETS[preset](**settings))


STARTS = st.sampled_from([1.0, 0.5, 1e-3, 1e-12, 1e-300])
NAMES = st.sampled_from([None, "authors", "paper"])


@many(150)
@given(classes(most=12), STARTS, NAMES)
def test_local_optimum_is_never_below_the_exact_one(pair, start, preset):
    exact = find(pair, preset=preset)
    local = find(pair, preset=preset, solver=SLSQP(start=start))
    if exact.status.solved:
        assert local.loss >= exact.loss * (1 - 1e-9)


@many(100)
@given(classes(most=12), STARTS, NAMES)
def test_solved_wherever_the_exact_solver_is(pair, start, preset):
    exact = find(pair, preset=preset)
    local = find(pair, preset=preset, solver=SLSQP(start=start))
    assert exact.status.solved == local.status.solved


@pytest.fixture
def gap():
    rng = np.random.default_rng(0)
    return rng.normal(0, 1, 200), rng.normal(9, 1, 12)


def test_a_start_near_the_optimum_finds_it(gap):
    exact = find(gap, stop_at_zero=True)
    local = find(gap, stop_at_zero=True, solver=SLSQP(start=exact.geometry.deltas[0]))
    assert local.loss == pytest.approx(exact.loss, rel=1e-6)


def test_a_start_at_one_stays_at_an_end(gap):
    # δ = 1 is a local minimum, which is why the paper's optimiser needs more than its start.
    exact = find(gap, preset="authors")
    local = find(gap, preset="authors", solver=SLSQP(start=1.0))
    assert local.geometry.deltas[0] == pytest.approx(1.0, abs=1e-6)
    assert local.loss > exact.loss + 0.1


def test_status_says_that_the_optimum_is_local(gap):
    assert find(gap, solver=SLSQP()).status is Status.LOCAL


def test_a_class_of_equal_scores_is_certain_of_itself():
    pair = np.zeros(5), np.array([3.0, 4.0, 5.0])
    assert find(pair, solver=SLSQP()).loss == pytest.approx(find(pair).loss, rel=1e-9)


@pytest.mark.parametrize("start", [0, -1, 1.5, np.nan, "x"])
def test_start_is_a_confidence(gap, start):
    with pytest.raises(InvalidInputError, match=r"`start` must be .* got"):
        find(gap, solver=SLSQP(start=start))
