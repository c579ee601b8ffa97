"""The paper's method against brute force over every level, and its parts in many digits."""

import math
import warnings
from unittest.mock import patch

import mpmath
import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from boundshift import BoundaryWarning, SupportRadius, find_boundary
from boundshift._scores import ScoreSample
from boundshift.curves._paper import exact
from boundshift.curves._paper.division import split_space
from boundshift.curves._paper.levels import SupportProblem
from lab.reproduction.slsqp import solve_locally
from tests import exhaustive
from tests.exhaustive import Options
from tests.problems import (
    KINDS,
    OPTIONS,
    classes,
    draw_classes,
    labelled,
    many,
    tied_classes,
    upright,
)

PRESETS = [SupportRadius, SupportRadius.authors, SupportRadius.paper]


def find(pair, curve):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        return find_boundary(*labelled(*pair), curve=curve, scale="raw")


def find_with(pair, options: Options):
    return find(pair, SupportRadius(**options._asdict()))


def problem_of(pair, curve) -> SupportProblem:
    return SupportProblem(ScoreSample.from_labels(*labelled(*pair)), curve)


# --- Slack ----------------------------------------------------------------------------------------


@many(100)
@given(st.integers(2, 60), st.integers(2, 60), st.integers(1, 100))
@example(60, 40, 29)  # 0.29 * 100 is 28.999999999999996
def test_budget_as_a_share_is_a_whole_number_of_rows(n, p, percent):
    rng = np.random.default_rng(0)
    curve = SupportRadius(budget=percent / 100, centre="mean")
    problem = problem_of((rng.normal(0, 1, n), rng.normal(1, 1, p)), curve)
    removed = int(problem.removed[:, problem.last].sum())
    assert removed == min(percent * (n + p) // 100, max(n - 2, 0) + max(p - 2, 0))


# --- The division of the free space ---------------------------------------------------------------


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
        ends = []
        for sign in (-1, 1):
            z = mpmath.log(k2 / k1)
            step = mpmath.mpf("1e-6")
            while sign * f(z) >= 0:
                z = z + sign * step
                step = 2 * step
            ends.append(z)
        z = mpmath.findroot(f, tuple(ends), solver="anderson")
        return float(1 / (1 + mpmath.exp(-z)))


@pytest.mark.parametrize("k", [(8, 5), (30, 70), (900, 4), (1e4, 3e4), (1e6, 1e5), (1e12, 2e12)])
@pytest.mark.parametrize("w", [(1, 1), (0.9, 0.5), (5, 0.1)])
def test_share_has_all_digits_where_the_loss_underflows(k, w):
    theta, _, _ = split_space(columns(*k), columns(*w))
    assert theta[0] == pytest.approx(exact_share(k, w), rel=1e-13)


@pytest.mark.parametrize(
    ("k", "w", "theta", "loss"),
    [
        ((0.0, 0.0), (0.5, 0.25), None, 0.75),  # no space
        ((np.inf, 3.0), (1.0, 1.0), None, math.exp(-4.5)),  # a point needs none
        ((np.inf, 0.0), (1.0, 0.5), None, 0.5),
        ((np.inf, np.inf), (1.0, 1.0), None, 0.0),
        # Little space goes to the class that gains most, and of equal ones to the positive.
        ((0.1, 0.1), (0.9, 0.5), 1.0, None),
        ((0.1, 0.1), (0.5, 0.9), 0.0, None),
        ((0.5, 0.5), (0.5, 0.5), 0.0, None),
    ],
)
def test_division_at_the_extremes(k, w, theta, loss):
    found = split_space(columns(*k), columns(*w))
    assert theta is None or found[0][0] == theta
    assert loss is None or found[2][0] == pytest.approx(loss, rel=1e-12)


# --- The optimum of all levels --------------------------------------------------------------------


def tolerated(pair):
    """Return how far a threshold may be: two steps of float32 keep it between its scores."""
    rows = np.concatenate(pair)
    return 1e-9 * float(np.ptp(rows)) + 2 * float(np.spacing(np.float32(np.abs(rows).max())))


def check_optimum(pair, options):
    """Compare loss, threshold and slack with the best of every local minimum of every level."""
    found = find_with(pair, options)
    every = exhaustive.candidates(*pair, options)
    assert found.status.solved == bool(every)
    if not every:
        return
    best = min(c.loss for c in every)
    assert found.loss == pytest.approx(best, rel=1e-12, abs=0)
    equals = [c for c in every if c.loss <= best * (1 + 1e-10)]
    tolerance = tolerated(pair)
    if np.ptp([c.threshold for c in equals]) < tolerance:  # else boundaries are equally good
        assert found.threshold == pytest.approx(equals[0].threshold, rel=0, abs=tolerance)
    if len({c.slack for c in equals}) == 1:
        assert found.geometry.slack == equals[0].slack


@many(1000)
@given(classes() | tied_classes(), OPTIONS)
def test_optimum_is_that_of_brute_force_also_among_ties(pair, options):
    check_optimum(pair, options)


@pytest.mark.parametrize("preset", [Options(), Options(0.3, 2.0, "two-sided", centre="mean")])
@pytest.mark.parametrize("kind", ["normal", "heavy", "two humps", "rounded"])
def test_optimum_of_hundreds_of_levels_agrees_with_brute_force(kind, preset):
    check_optimum(upright(*draw_classes(np.random.default_rng(5), kind, 350, 40, 1.0)), preset)


@many(60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS), st.sampled_from([0.1, 1, 4]), OPTIONS)
def test_no_level_that_wins_is_pruned(seed, kind, gap, options):
    rng = np.random.default_rng(seed)
    pair = draw_classes(rng, kind, int(rng.integers(500, 2000)), int(rng.integers(2, 500)), gap)
    settings = SupportRadius(**options._asdict() | {"stop_at_zero": False})
    problem = problem_of(upright(*pair), settings)
    levels = problem.levels(np.arange(problem.last + 1))
    levels = levels.take(levels.feasible)
    losses = levels.constant + split_space(levels.ratio, levels.weight)[2]
    with patch.multiple(exact, _CHUNK=1000, _FIRST_LOOK=20):
        pruned = exact.solve(problem)
    assert (pruned is None) == (not len(losses))
    if pruned is not None:
        assert pruned.loss == pytest.approx(losses.min(), rel=1e-12, abs=0)


def test_exact_where_every_confidence_underflows():
    # Two classes of radius 1 and n rows, 2000 apart: delta is exp(-(999 n**0.5)**2 / 2).
    found = find((np.array([-1.0, 1.0] * 8), np.array([-1.0, 1.0] * 8) + 2000), SupportRadius())
    assert found.geometry.deltas == (0.0, 0.0)
    assert found.threshold == pytest.approx(1000, rel=1e-12)
    assert found.geometry.log_deltas[0] == pytest.approx(-(999**2) * 16 / 2, rel=1e-12)


@many(300)
@given(classes(), OPTIONS)
def test_geometry_adds_up(pair, options):
    found = find_with(pair, options)
    known = found.geometry
    assume(found.status.solved)
    tolerance = tolerated(pair)
    low = known.supports[0][1]
    high = known.supports[1][0]
    # Where both classes touch, the threshold stands within steps of float32 of their common score.
    touches = low == high and abs(found.threshold - low) <= tolerance
    assert low <= found.threshold < high or touches
    if min(known.radii) > 0:  # a point needs no space, and so has no unique radius
        first, second = known.confidence_radii
        places = [known.means[0] + first, known.means[1] - second]
        assert places == pytest.approx([found.threshold] * 2, abs=tolerance)
    kept = [n - m for n, m in zip(found.n_samples, known.slack, strict=True)]
    claims = [(1 - d) / (n + 1) + d for d, n in zip(known.deltas, kept, strict=True)]
    slack = np.divide(known.slack, found.n_samples)
    assert found.errors == pytest.approx(np.minimum(1.0, claims + slack), rel=1e-12)
    if options.slack == "binary":
        sizes = found.n_samples if options.penalty == "proportional" else (1, 1)
        price = sum(a * m / n for a, m, n in zip(options.alpha, known.slack, sizes, strict=True))
        assert found.loss == pytest.approx(sum(claims) + price, rel=1e-12)


# --- SLSQP ----------------------------------------------------------------------------------------


@many(100)
@given(classes(most=12), st.sampled_from(PRESETS))
def test_local_optimum_exists_with_the_exact_one_and_is_never_below_it(pair, preset):
    problem = problem_of(upright(*pair), preset())
    best = exact.solve(problem)
    local = solve_locally(problem)
    assert (best is None) == (local is None)
    assert best is None or local.loss >= best.loss * (1 - 1e-9)


def test_the_local_optimiser_stays_at_its_start():
    rng = np.random.default_rng(0)
    gap = rng.normal(0, 1, 200), rng.normal(9, 1, 12)
    # δ = 1 is a local minimum, which is why the paper's optimiser needs more than its start.
    problem = problem_of(gap, SupportRadius.authors())
    local = solve_locally(problem)
    assert local.u[0] == pytest.approx(0.0, abs=1e-3)
    assert local.loss > exact.solve(problem).loss + 0.1


def test_a_class_of_equal_scores_is_certain_of_itself():
    pair = np.zeros(5), np.array([3.0, 4.0, 5.0])
    problem = problem_of(pair, SupportRadius())
    assert solve_locally(problem).loss == pytest.approx(exact.solve(problem).loss, rel=1e-9)
