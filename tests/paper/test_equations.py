"""The paper's equations against 50 digits, simulation, and the page that lists them."""

import pkgutil
import re
from pathlib import Path
from typing import NamedTuple

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lab.reproduction import equations
from tests.problems import many


class Geometry(NamedTuple):
    n: tuple[int, int]
    radius: tuple[float, float]
    distance: float
    gamma: float = 1.0
    constant: float = 2.0

    @property
    def step(self):
        return tuple(self.gamma * r / k**0.5 for r, k in zip(self.radius, self.n, strict=True))

    @property
    def space(self):
        return self.distance - sum(self.radius) - self.constant * sum(self.step)


GEOMETRIES = st.builds(
    lambda n, radius, gamma, constant, extra: Geometry(
        n,
        radius,
        sum(r + gamma * constant * r / k**0.5 for r, k in zip(radius, n, strict=True))
        + extra * (radius[0] / n[0] ** 0.5 + radius[1] / n[1] ** 0.5),
        gamma,
        constant,
    ),
    st.tuples(st.integers(2, 500), st.integers(2, 500)),
    st.tuples(st.floats(0.1, 5), st.floats(0.1, 5)),
    st.sampled_from([1.0, 2.0]),
    st.sampled_from([0.0, 2.0]),
    st.floats(0.5, 6),
)
DELTAS = st.floats(0.01, 0.99)


def exact_u2(delta1, g):
    """Solve the constraint of Eq. d_hat for u₂ with 50 digits, without the function under test."""
    u1 = mpmath.sqrt(2 * mpmath.log(1 / mpmath.mpf(delta1)))
    terms = [mpmath.mpf(g.gamma) * r / mpmath.sqrt(n) for r, n in zip(g.radius, g.n, strict=True)]
    left = mpmath.mpf(g.distance) - sum(map(mpmath.mpf, g.radius)) - terms[0] * (g.constant + u1)
    return left / terms[1] - g.constant


def exact_delta2(delta1, g):
    return mpmath.exp(-(exact_u2(delta1, g) ** 2) / 2)


def printed_gradient(delta1, g):
    """The paper's dδ₂/dδ₁, letter by letter."""
    (n1, n2) = g.n
    (r1, r2) = g.radius
    root = np.sqrt(2 * np.log(1 / delta1))
    b = g.distance - r1 - r1 / np.sqrt(n1) * (2 + root) - r2
    bracket = b * np.sqrt(n1) / r1 - 2
    exponent = np.exp(-0.5 * (b * np.sqrt(n2) / r2 - 2) ** 2)
    return -bracket * np.sqrt(n2) / (delta1 * np.sqrt(n1)) / root * exponent


@many(200)
@given(GEOMETRIES, DELTAS)
def test_delta2_solves_the_constraint_or_is_nan(g, delta1):
    found = equations.delta2_from_delta1(delta1, g.step, g.space)
    with mpmath.workdps(50):
        u2 = exact_u2(delta1, g)
        assume(abs(u2) > 1e-9)
        expected = float(exact_delta2(delta1, g)) if u2 > 0 else np.nan
    assert found == pytest.approx(expected, rel=1e-9, nan_ok=True)
    if found > 1e-300:
        radii = [
            equations.confidence_radius(r, n, d, g.gamma, g.constant)
            for r, n, d in zip(g.radius, g.n, (delta1, found), strict=True)
        ]
        assert sum(radii) == pytest.approx(g.distance, rel=1e-9)


@many(200)
@given(GEOMETRIES, DELTAS)
def test_loss_and_gradients_agree_with_finite_differences(g, delta1):
    def exact_loss(d):
        deltas = d, exact_delta2(d, g)
        return sum((1 - x) / (n + 1) + x for x, n in zip(deltas, g.n, strict=True))

    with mpmath.workdps(50):
        assume(exact_u2(delta1, g) > 1e-3)
        expected = exact_loss(mpmath.mpf(delta1))
        slope = mpmath.diff(exact_loss, mpmath.mpf(delta1))
        slope2 = mpmath.diff(lambda d: exact_delta2(d, g), mpmath.mpf(delta1))
    assert equations.loss(delta1, g.n, g.step, g.space) == pytest.approx(float(expected), rel=1e-9)
    found = equations.loss_gradient(delta1, g.n, g.step, g.space)
    assert found == pytest.approx(float(slope), rel=1e-7, abs=1e-9)
    found = equations.delta2_gradient(delta1, g.step, g.space)
    assert found == pytest.approx(float(slope2), rel=1e-7, abs=1e-300)


@pytest.mark.parametrize("delta1", [0.05, 0.3, 0.8])
def test_printed_gradient_is_right_only_where_both_classes_are_alike(delta1):
    g = Geometry((120, 15), (1.0, 0.6), 3.5)
    alike = Geometry((40, 40), (1.0, 1.0), 4.0)
    right, same = (equations.delta2_gradient(delta1, x.step, x.space) for x in (g, alike))
    assert abs(printed_gradient(delta1, g) / right - 1) > 0.1
    assert printed_gradient(delta1, alike) == pytest.approx(same)


def test_printed_delta2_hides_infeasibility():
    g = Geometry((100, 25), (1.0, 1.0), 2.5)
    b = g.distance - 1 - 0.1 * 2 - 1
    assert b * 5 - 2 < 0
    assert 0 < np.exp(-0.5 * (b * 5 - 2) ** 2) < 1  # the printed square gives a number
    assert np.isnan(equations.delta2_from_delta1(1.0, g.step, g.space))


def test_iid_error_is_the_chance_of_a_new_extreme():
    draws = np.random.default_rng(0).normal(size=(40_000, 5))
    beyond = np.mean(draws[:, -1] > draws[:, :-1].max(axis=1))
    assert equations.iid_error(4) == pytest.approx(beyond, abs=4 * (0.2 * 0.8 / 40_000) ** 0.5)


def test_bounds_of_distances_add_the_deviation_of_theorem_2():
    deviation = equations.mean_deviation(0.7, 30, 0.05)
    expected = mpmath.mpf("0.7") / mpmath.sqrt(30) * (2 + mpmath.sqrt(2 * mpmath.log(20)))
    assert deviation == pytest.approx(float(expected), rel=1e-14)
    # Hoeffding without the constant 2, for a support of radius 1, one side.
    means = np.random.default_rng(1).uniform(-1, 1, (5000, 20)).mean(axis=1)
    assert np.mean(means > equations.mean_deviation(1.0, 20, 0.05, constant=0.0)) <= 0.05
    low, high = equations.distance_bounds(0.4, 0.7, 30, 0.05)
    assert (low, high) == pytest.approx((0.4 - deviation, 0.4 + deviation), rel=1e-12)
    # A fresh point uses the triangle inequality twice.
    fresh = equations.fresh_point_distance(0.7, 0.7, 30, 0.05)
    assert fresh == pytest.approx(0.7 + 2 * deviation)
    assert equations.boundary(-1.5, 0.7, 30, 0.05) == pytest.approx(-0.8 + deviation, rel=1e-14)
    assert equations.slack_loss(0.25, [1, 0, 2.5], 0.1) == pytest.approx(0.6, rel=1e-14)


def test_minimum_distance_classifier_takes_the_nearer_mean():
    rng = np.random.default_rng(2)
    negative = rng.normal(0, 1, (30, 4))
    positive = rng.normal(1, 2, (10, 4))
    w, b = equations.minimum_distance(negative, positive)
    points = rng.normal(0.5, 2, (500, 4))
    far = [np.linalg.norm(points - c.mean(axis=0), axis=1) for c in (negative, positive)]
    assert ((points @ w + b > 0) == (far[1] < far[0])).all()
    # The printed bias does not: 3 is nearer to 2 than to 5.
    w, b = equations.minimum_distance(np.array([[2.0]]), np.array([[5.0]]))
    assert 3.0 * w[0] + b < 0 < 3.0 * w[0] - 0.5 * 3.0


# --- docs/explanation/the_paper.md ----------------------------------------------------------------

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "the_paper.md"
LABELS = (
    "iid_error", "Theorem 2", "di_bounds", "test_point_bound", "R_hat_upper_bound", "cost_function",
    "d_hat", "delta2_from_delta1", "dL/dδ₁", "dδ₂/dδ₁", "new_bias", "cost_slacks", "Algorithm 1",
    "Minimum-distance classifier", "continuous slack",
)  # fmt: skip


def table():
    """Read the table: one (paper, functions, tests) per row."""
    code = PAGE.read_text(encoding="utf-8").partition("## In code")[2]
    lines = [line for line in code.splitlines() if line[:1] == "|"]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[2:]]


def names(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_every_row_names_functions_and_tests():
    for row in table():
        _, functions, tests = row
        assert names(functions), row
        assert all(callable(pkgutil.resolve_name(name)) for name in names(functions)), row
        assert names(tests), row
        assert all((PAGE.parents[2] / name).exists() for name in names(tests)), row


def test_every_label_of_the_paper_and_every_equation_has_a_row():
    rows = table()
    assert [label for label in LABELS if not any(label in row[0] for row in rows)] == []
    listed = {name for _, functions, _ in rows for name in names(functions)}
    assert {f"lab.reproduction.equations.{name}" for name in equations.__all__} <= listed


@pytest.mark.parametrize("number", range(1, 13))
def test_every_numbered_equation_is_shown_as_printed_and_as_computed(number):
    page = PAGE.read_text(encoding="utf-8").partition("## In code")[0]
    section = page.partition(f"### ({number}) ")[2].partition("\n### ")[0]
    printed, _, ours = section.partition("\nOurs:\n\n$$")
    assert "\nPrinted:\n\n$$" in printed
    assert ours.strip().rpartition("\n\n")[2]  # the reason, or that it is the same
    assert any(cell[0].startswith(f"({number}) ") for cell in table())
