"""Scores of very different sizes, and scores that differ in their last digit."""

import numpy as np
import pytest

from boundshift import find_boundary
from tests.problems import two_normals

SMOOTH = ["blend", "logistic", "smoothed"]


@pytest.mark.parametrize("curve", SMOOTH)
@pytest.mark.parametrize("row", [0, 540])
@pytest.mark.parametrize("value", [-1e280, 1e280, -1e120, 1e38])
def test_one_absurd_score_does_not_carry_the_boundary_away(curve, row, value):
    y, s = two_normals(500, 50, 2.0)
    usual = find_boundary(y, s, curve=curve).threshold
    s[row] = value
    assert abs(find_boundary(y, s, curve=curve).threshold - usual) < 0.15


@pytest.mark.parametrize("curve", [*SMOOTH, "empirical", "support"])
@pytest.mark.parametrize("factor", [1e280, 1e-280, 2.0**401, 2.0**-401])
def test_a_common_factor_moves_the_boundary_along(curve, factor):
    y, s = two_normals(500, 50, 2.0)
    usual = find_boundary(y, s, curve=curve).threshold
    assert find_boundary(y, s * factor, curve=curve).threshold / factor == pytest.approx(usual)


@pytest.mark.parametrize("curve", SMOOTH)
@pytest.mark.parametrize("sizes", [(50, 5), (5, 5), (500, 3), (3, 500)])
@pytest.mark.parametrize("low", [0.0, 1e9, -1.0, 0.5])
@pytest.mark.parametrize("steps", [1, 5, 1025])
def test_doubles_that_lie_a_few_steps_apart_are_told_apart(curve, sizes, low, steps):
    y = np.repeat([0, 1], sizes)
    s = low + steps * np.spacing(abs(low)) * y
    found = find_boundary(y, s, curve=curve)
    assert found.wrong == (0, 0)
    assert (found.predict(s) == y).all()
