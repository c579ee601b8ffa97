import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift.curves import paper
from boundshift.curves.paper import Geometry
from lab.reproduction import equations
from tests.problems import many

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
    (n1, n2), (r1, r2) = g.n, g.radius
    root = np.sqrt(2 * np.log(1 / delta1))
    b = g.distance - r1 - r1 / np.sqrt(n1) * (2 + root) - r2
    bracket = b * np.sqrt(n1) / r1 - 2
    exponent = np.exp(-0.5 * (b * np.sqrt(n2) / r2 - 2) ** 2)
    return -bracket * np.sqrt(n2) / (delta1 * np.sqrt(n1)) / root * exponent


@many(200)
@given(GEOMETRIES, DELTAS)
def test_delta2_solves_the_constraint(g, delta1):
    with mpmath.workdps(50):
        if exact_u2(delta1, g) > 1e-9:
            expected = float(exact_delta2(delta1, g))
            assert paper.delta2_from_delta1(delta1, g) == pytest.approx(expected, rel=1e-9)


@many(200)
@given(GEOMETRIES, DELTAS)
def test_delta2_is_nan_where_the_constraint_cannot_hold(g, delta1):
    with mpmath.workdps(50):
        if exact_u2(delta1, g) < -1e-9:
            assert np.isnan(paper.delta2_from_delta1(delta1, g))


@many(200)
@given(GEOMETRIES, DELTAS)
def test_corrected_gradient_agrees_with_finite_differences(g, delta1):
    with mpmath.workdps(50):
        if exact_u2(delta1, g) > 1e-3:
            slope = mpmath.diff(lambda d: exact_delta2(d, g), mpmath.mpf(delta1))
            found = paper.delta2_gradient(delta1, g)
            assert found == pytest.approx(float(slope), rel=1e-7, abs=1e-300)


@pytest.mark.parametrize("delta1", [0.05, 0.3, 0.8])
def test_printed_gradient_disagrees_with_finite_differences(delta1):
    g = Geometry((120, 15), (1.0, 0.6), 3.5)
    with mpmath.workdps(50):
        slope = float(mpmath.diff(lambda d: exact_delta2(d, g), mpmath.mpf(delta1)))
    assert abs(printed_gradient(delta1, g) / slope - 1) > 0.1


@pytest.mark.parametrize("delta1", [0.05, 0.3, 0.8])
def test_printed_gradient_is_right_where_both_classes_are_alike(delta1):
    # It confuses the classes, so it can only be right where they cannot be told apart.
    g = Geometry((40, 40), (1.0, 1.0), 4.0)
    assert printed_gradient(delta1, g) == pytest.approx(paper.delta2_gradient(delta1, g))


@many(200)
@given(GEOMETRIES, DELTAS, st.sampled_from([(1.0, 1.0), (1.0, 5.0)]))
def test_loss_gradient_agrees_with_finite_differences(g, delta1, weight):
    def exact_loss(d):
        deltas = d, exact_delta2(d, g)
        return sum(v * ((1 - x) / (n + 1) + x) for v, x, n in zip(weight, deltas, g.n, strict=True))

    with mpmath.workdps(50):
        if exact_u2(delta1, g) > 1e-3:
            slope = float(mpmath.diff(exact_loss, mpmath.mpf(delta1)))
            found = paper.loss_gradient(delta1, g, weight)
            assert found == pytest.approx(slope, rel=1e-7, abs=1e-9)


@many(100)
@given(GEOMETRIES, DELTAS)
def test_loss_is_the_sum_of_both_average_errors(g, delta1):
    delta2 = float(paper.delta2_from_delta1(delta1, g))
    if not np.isnan(delta2):
        expected = sum(1 / (n + 1) + n / (n + 1) * d for n, d in zip(g.n, (delta1, delta2)))  # noqa: B905
        assert paper.loss(delta1, g) == pytest.approx(expected, rel=1e-12)


@many(100)
@given(GEOMETRIES, DELTAS)
def test_both_confidence_radii_fill_the_distance(g, delta1):
    delta2 = paper.delta2_from_delta1(delta1, g)
    if delta2 > 1e-300:
        radii = [
            equations.confidence_radius(r, n, d, g.gamma, g.constant)
            for r, n, d in zip(g.radius, g.n, (delta1, delta2), strict=True)
        ]
        assert sum(radii) == pytest.approx(g.distance, rel=1e-9)


def test_printed_delta2_hides_infeasibility():
    g = Geometry((100, 25), (1.0, 1.0), 2.5)
    b = g.distance - 1 - 0.1 * 2 - 1
    assert b * 5 - 2 < 0
    assert 0 < np.exp(-0.5 * (b * 5 - 2) ** 2) < 1  # the printed square gives a number
    assert np.isnan(paper.delta2_from_delta1(1.0, g))


def test_iid_error_is_the_chance_of_a_new_extreme():
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(40_000, 5))
    beyond = np.mean(draws[:, -1] > draws[:, :-1].max(axis=1))
    assert equations.iid_error(4) == pytest.approx(beyond, abs=4 * (0.2 * 0.8 / 40_000) ** 0.5)


def test_mean_deviation_is_theorem_2():
    expected = mpmath.mpf("0.7") / mpmath.sqrt(30) * (2 + mpmath.sqrt(2 * mpmath.log(20)))
    assert equations.mean_deviation(0.7, 30, 0.05) == pytest.approx(float(expected), rel=1e-14)


def test_mean_deviation_holds_on_bounded_scores():
    # Hoeffding without the constant 2, for a support of radius 1, one side.
    rng = np.random.default_rng(1)
    means = rng.uniform(-1, 1, (5000, 20)).mean(axis=1)
    bound = equations.mean_deviation(1.0, 20, 0.05, constant=0.0)
    assert np.mean(means > bound) <= 0.05


def test_distance_bounds_lie_a_deviation_apart():
    low, high = equations.distance_bounds(0.4, 0.7, 30, 0.05)
    deviation = equations.mean_deviation(0.7, 30, 0.05)
    assert (high - 0.4, 0.4 - low) == pytest.approx((deviation, deviation), rel=1e-12)


def test_fresh_point_uses_the_triangle_inequality_twice():
    once = equations.confidence_radius(0.7, 30, 0.05) - 0.7
    assert equations.fresh_point_distance(0.7, 0.7, 30, 0.05) - 0.7 == pytest.approx(2 * once)


def test_boundary_is_the_end_of_the_negative_confidence_radius():
    expected = -1.5 + 0.7 + 0.7 / 30**0.5 * (2 + (2 * np.log(20)) ** 0.5)
    assert equations.boundary(-1.5, 0.7, 30, 0.05) == pytest.approx(expected, rel=1e-14)


def test_slack_loss_adds_the_price_of_all_slack():
    expected = 0.25 + 0.1 * (1 + 0 + 2.5)
    assert equations.slack_loss(0.25, [1, 0, 2.5], 0.1) == pytest.approx(expected, rel=1e-14)


def test_minimum_distance_classifier_takes_the_nearer_mean():
    rng = np.random.default_rng(2)
    negative, positive = rng.normal(0, 1, (30, 4)), rng.normal(1, 2, (10, 4))
    w, b = equations.minimum_distance(negative, positive)
    points = rng.normal(0.5, 2, (500, 4))
    far = [np.linalg.norm(points - c.mean(axis=0), axis=1) for c in (negative, positive)]
    assert ((points @ w + b > 0) == (far[1] < far[0])).all()


def test_printed_bias_of_the_minimum_distance_classifier_does_not():
    negative, positive = np.array([[2.0]]), np.array([[5.0]])
    w, b = equations.minimum_distance(negative, positive)
    point, printed = np.array([3.0]), 0.5 * 3.0
    assert point @ w + b < 0  # 3 is nearer to 2 than to 5
    assert point @ w - printed > 0
