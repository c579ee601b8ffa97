"""Scores of very different sizes, and scores that differ in their last digit."""

import warnings

import numpy as np
import pytest

from boundshift import InvalidInputError, find_boundary

ROBUST = ["blend", "logistic", "smoothed"]
SHAPES = [*ROBUST, "student-t"]


def problem():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [500, 50])
    return y, rng.normal(size=550) + 2 * y


@pytest.mark.parametrize("curve", ROBUST)
@pytest.mark.parametrize("row", [0, 540])
@pytest.mark.parametrize("value", [-1e280, 1e280, -1e180, 1e160, -1e120, 1e38])
def test_one_absurd_score_does_not_carry_the_boundary_away(curve, row, value):
    y, s = problem()
    usual = find_boundary(y, s, curve=curve).threshold
    s[row] = value
    assert abs(find_boundary(y, s, curve=curve).threshold - usual) < 0.15


@pytest.mark.parametrize("value", [-1e280, 1e160, 3.5e38, -1e20])
def test_student_t_refuses_what_mean_and_spread_cannot_bear(value):
    y, s = problem()
    s[0] = value
    with pytest.raises(InvalidInputError, match="Drop such rows, or use the curve 'blend'"):
        find_boundary(y, s, curve="student-t")


@pytest.mark.parametrize("curve", [*SHAPES, "kth-point", "support"])
@pytest.mark.parametrize("factor", [1e280, 1e-280, 2.0**401, 2.0**-401])
def test_a_common_factor_moves_the_boundary_along(curve, factor):
    y, s = problem()
    usual = find_boundary(y, s, curve=curve).threshold
    assert find_boundary(y, s * factor, curve=curve).threshold / factor == pytest.approx(usual)


def test_infinite_scores_are_refused_with_advice_that_helps():
    y, s = problem()
    usual = find_boundary(y, s).threshold
    s[0] = -np.inf
    with pytest.raises(InvalidInputError, match="least and the largest of the finite ones"):
        find_boundary(y, s)
    finite = s[np.isfinite(s)]
    found = find_boundary(y, np.clip(s, finite.min(), finite.max()))
    assert found.threshold == pytest.approx(usual, abs=0.1)


@pytest.mark.parametrize("curve", SHAPES)
@pytest.mark.parametrize("sizes", [(50, 5), (5, 5), (1, 1), (500, 3), (3, 500)])
@pytest.mark.parametrize("low", [0.9999999999999999, 0.0, 1e9, -1.0, 1e280, 0.5, 1e-300])
def test_neighbouring_doubles_are_told_apart(curve, sizes, low):
    y = np.repeat([0, 1], sizes)
    s = np.where(y == 1, np.nextafter(low, np.inf), low)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = find_boundary(y, s, curve=curve)
    assert found.wrong == (0, 0)
    assert (found.predict(s) == y).all()


@pytest.mark.parametrize("curve", SHAPES)
@pytest.mark.parametrize("steps", [2, 3, 5, 9, 33, 1025])
def test_doubles_that_lie_a_few_steps_apart_are_told_apart(curve, steps):
    y = np.repeat([0, 1], [50, 5])
    s = np.where(y == 1, 1.0 + steps * np.spacing(1.0), 1.0)
    assert find_boundary(y, s, curve=curve).wrong == (0, 0)
