import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from boundshift._scores import LogOdds, Scores, ScoreSample

PROBABILITY = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 5e-324, 1 - 2.0**-53]),
    st.floats(0.0, 1.0),
    st.floats(-40.0, 36.0).map(lambda odds: float(1 / (1 + np.exp(-odds)))),
)


def sample_of(negative, positive):
    return ScoreSample(Scores(np.sort(negative)), Scores(np.sort(positive)))


@given(st.lists(st.floats(1e-300, 1 - 1e-12), min_size=1))
def test_log_odds_are_those_of_scipy(values):
    p = np.array(values)
    np.testing.assert_allclose(LogOdds().of(p), logit(p), rtol=1e-12, atol=1e-15)


def test_outside_has_no_log_odds():
    assert np.isnan(LogOdds().of(np.array([-0.1, 1.1, np.nan]))).all()


@given(st.lists(PROBABILITY, min_size=2, max_size=30), st.floats(-800, 800))
def test_a_threshold_decides_every_row_as_its_log_odds_do(values, value):
    p = np.array(values)
    decided = sample_of(p, p).on_scale("auto")
    if decided.log_odds is not None:
        log_odds = decided.negative.value
        threshold = decided.log_odds.to_threshold(value)
        np.testing.assert_array_equal(np.sort(p) > threshold, log_odds > value)


@given(st.lists(PROBABILITY, min_size=2, max_size=30), st.data())
def test_a_threshold_at_a_row_leaves_the_row_negative(values, data):
    p = np.sort(np.array(values))
    decided = sample_of(p, p).on_scale("auto")
    if decided.log_odds is not None:
        row = data.draw(st.integers(0, len(p) - 1))
        at = decided.negative.value[row]
        np.testing.assert_array_equal(p > decided.to_threshold(at), decided.negative.value > at)


@given(
    st.lists(st.integers(0, 100), min_size=2, max_size=30),
    st.one_of(st.floats(-0.5, 1.5), st.integers(0, 100).map(lambda k: k / 100)),
)
def test_a_given_threshold_finds_its_place_among_the_log_odds(hundredths, threshold):
    p = np.sort(np.array(hundredths) / 100)
    decided = sample_of(p, p).on_scale("auto")
    if decided.log_odds is not None:
        place = decided.from_units(threshold)
        np.testing.assert_array_equal(decided.negative.value > place, p > threshold)


def test_exact_zeros_and_ones_stand_half_the_odds_beyond_the_others():
    decided = sample_of([0.0, 0.2, 0.5], [0.5, 0.75, 1.0]).on_scale("auto")
    # Odds of 0.2 are 1/4, of 0.75 they are 3.
    assert decided.negative.minimum == pytest.approx(np.log(1 / 8))
    assert decided.positive.maximum == pytest.approx(np.log(6))
