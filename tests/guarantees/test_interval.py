"""The interval of the threshold holds those of other rows as often as asked."""

import numpy as np
import pytest

from boundshift import Cost, Floors, InvalidInputError, find_boundary, threshold_interval
from tests.problems import two_normals

Y, S = two_normals(300, 30, 3.0)


def rounded(rng, y):
    return np.round(rng.normal(size=len(y)) + 2 * y)


def normal(rng, y):
    return rng.normal(size=len(y)) + 2 * y


def forest(rng, y):
    return rng.binomial(50, rng.beta(1 + 2 * y, 6 - 4 * y)) / 50


def zeros(rng, y):
    return np.where(rng.random(len(y)) < 0.8 - 0.5 * y, 0.0, rng.gamma(1.5 + y))


@pytest.mark.parametrize("rule", [Cost(false_negative=20), "f1"])
def test_a_rule_of_frequencies_varies_as_on_other_rows_of_the_same_mix(rule: object) -> None:
    """Of 20,000 rows some are drawn, in another proportion."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [19_000, 1000])
    others = [
        find_boundary(y, normal(rng, y), curve="logistic", rule=rule).threshold for _ in range(40)
    ]
    low, high = threshold_interval(y, normal(rng, y), curve="logistic", rule=rule, random_state=0)
    assert high - low == pytest.approx(2 * 1.96 * 2**0.5 * np.std(others), rel=0.4)
    assert low < np.median(others) < high


def test_more_rows_narrow_it_at_the_rate_of_a_density() -> None:
    rng = np.random.default_rng(0)
    widths = []
    for n in (4000, 64_000):
        y = np.repeat([0, 1], n)
        low, high = threshold_interval(
            y, normal(rng, y), curve="smoothed", random_state=0, n_resamples=200
        )
        widths.append(high - low)
    assert widths[1] == pytest.approx(widths[0] * 16**-0.4, rel=0.3)


def test_more_confidence_is_wider_and_a_seed_repeats_it() -> None:
    narrow, wide, again = (
        threshold_interval(Y, S, c, n_resamples=50, random_state=0) for c in (0.5, 0.95, 0.95)
    )
    assert wide[0] < narrow[0] < find_boundary(Y, S).threshold < narrow[1] < wide[1]
    assert wide == again


def test_the_interval_of_a_probability_is_that_of_its_log_odds() -> None:
    log_odds = threshold_interval(Y, S, random_state=0, n_resamples=50)
    found = threshold_interval(Y, 1 / (1 + np.exp(-S)), random_state=0, n_resamples=50)
    assert np.log(np.array(found) / (1 - np.array(found))) == pytest.approx(log_odds, abs=1e-6)


@pytest.mark.parametrize("n", [1, 2.5, "many"])
def test_the_number_of_draws_is_checked(n: object) -> None:
    with pytest.raises(InvalidInputError, match="`n_resamples` must be a whole number"):
        threshold_interval(Y, S, n_resamples=n)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("draw", [rounded, forest, zeros, normal])
@pytest.mark.parametrize(
    "rule", [None, Floors(recall=0.8), Floors(specificity=0.95), Cost(false_negative=1e4)]
)
def test_the_threshold_found_lies_inside_an_interval_of_some_width(draw, rule) -> None:
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [80, 15])
    for _ in range(4):
        s = draw(rng, y)
        low, high = threshold_interval(y, s, rule=rule, n_resamples=20, random_state=rng)
        assert low <= find_boundary(y, s, rule=rule).threshold <= high
        assert low < high


RARE = Cost(false_negative=1e4)
FLOOR = Floors(recall=0.8, confidence=None)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize(
    ("curve", "rule", "draw"),
    [
        ("empirical", None, normal),
        ("smoothed", None, normal),
        (None, None, normal),
        (None, Floors(recall=0.8), rounded),
        *(("empirical", rule, draw) for rule in (RARE, FLOOR) for draw in (rounded, forest)),
    ],
)
def test_thresholds_of_other_rows_fall_inside_about_as_often_as_asked(curve, rule, draw) -> None:
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [200, 40])
    claims = {"curve": curve, "rule": rule}
    others = np.array([find_boundary(y, draw(rng, y), **claims).threshold for _ in range(80)])
    inside = []
    for _ in range(15):
        drawn = {"n_resamples": 50, "random_state": rng}
        low, high = threshold_interval(y, draw(rng, y), 0.9, **claims, **drawn)
        inside.append(np.mean((low <= others) & (others <= high)))
    assert np.mean(inside) > 0.82
