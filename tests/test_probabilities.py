"""Scores that are probabilities are decided on their log-odds, wherever labelled scores come in."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import expit, logit

from boundshift import (
    Boundary,
    BoundaryWarning,
    Cost,
    InvalidInputError,
    Status,
    find_boundary,
    threshold_interval,
)
from boundshift._scores import ScoreSample
from boundshift.curves import CURVES, SupportRadius
from boundshift.plots._scores import make_lanes

COUNTED = ("clopper-pearson", "empirical")


def draw(seed=0, sizes=(400, 30)):
    """Return labels and log-odds of a rare class."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], sizes)
    return y, rng.normal(2.5 * y - 5, 1.2)


def find(y, s, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        return find_boundary(y, s, **options)


@pytest.mark.parametrize("curve", CURVES)
def test_the_boundary_is_that_of_the_log_odds(curve):
    y, log_odds = draw()
    found = find(y, expit(log_odds), curve=curve)
    expected = find(y, log_odds, curve=curve)
    assert logit(found.threshold) == pytest.approx(expected.threshold, abs=1e-7)
    assert (found.wrong, found.status) == (expected.wrong, expected.status)
    assert found.errors == pytest.approx(expected.errors, abs=1e-7)
    assert logit(found.plateau) == pytest.approx(expected.plateau, abs=1e-7)
    assert (found.scale, expected.scale) == ("probability", "raw")


PROBABILITIES = st.lists(
    st.one_of(st.sampled_from([0.0, 1.0, 0.5]), st.floats(0.0, 1.0)), min_size=2, max_size=25
)


@given(PROBABILITIES, PROBABILITIES, st.sampled_from(COUNTED), st.sampled_from(["sum", "minimax"]))
def test_curves_of_counts_are_as_good_either_way(negative, positive, curve, rule):
    y = np.repeat([0, 1], [len(negative), len(positive)])
    p = np.array(negative + positive)
    # Which class lies above is said by medians, of which those between two rows differ by scale.
    sample = ScoreSample.from_labels(y, p)
    assume(sample.is_reversed == sample.on_scale("auto").is_reversed)
    found, raw = (find(y, p, curve=curve, rule=rule, scale=scale) for scale in ("auto", "raw"))
    # So it is with 0 and 1e-17, whose middles to 0.5 are one double.
    assume((found.status is Status.REVERSED) == (raw.status is Status.REVERSED))
    assert found.loss == pytest.approx(raw.loss, abs=1e-12)


def test_a_cut_stands_in_the_middle_of_its_gap_by_log_odds():
    y = [0, 0, 0, 1, 1]
    p = [0.001, 0.005, 0.01, 0.5, 0.9]
    found = find(y, p, curve="empirical")
    assert logit(found.threshold) == pytest.approx((logit(0.01) + logit(0.5)) / 2)
    assert find(y, p, curve="empirical", scale="raw").threshold == pytest.approx(0.255)


@pytest.mark.parametrize("values", [[0.0, 1.0, 1.0, 0.0, 1.0], [0.3] * 5, [1.0] * 5])
@pytest.mark.parametrize("curve", ["blend", "empirical"])
def test_hard_labels_and_constants_are_decided_as_they_are(values, curve):
    y = [0, 0, 1, 0, 1]
    assert find(y, values, curve=curve) == find(y, values, curve=curve, scale="raw")


def test_what_is_called_a_probability_must_be_one():
    y = [0, 0, 1, 1]
    with pytest.raises(InvalidInputError, match=r"must lie in \[0, 1\] .* from -1 to 2"):
        find_boundary(y, [-1.0, 0.0, 1.0, 2.0], scale="probability")
    with pytest.raises(InvalidInputError, match="`scale` must be one of"):
        find_boundary(y, [0.1, 0.2, 0.3, 0.4], scale="logit")


def test_an_interval_of_probabilities_is_that_of_the_log_odds():
    y, log_odds = draw()
    options = {"n_resamples": 20, "random_state": 0}
    found = threshold_interval(y, expit(log_odds), **options)
    expected = threshold_interval(y, log_odds, **options)
    assert logit(found) == pytest.approx(expected, abs=1e-6)


def test_a_stored_boundary_keeps_its_scale():
    y, log_odds = draw()
    found = find(y, expit(log_odds))
    assert Boundary.from_json(found.to_json()) == found
    without = {k: v for k, v in found.to_dict().items() if k != "scale"}
    assert Boundary.from_dict(without).scale == "raw"


def test_lanes_of_the_paper_show_the_rows_kept():
    y, log_odds = draw()
    p = expit(log_odds)
    p[:40] = 0.0
    found = find(y, p, curve="paper")
    sample = ScoreSample.from_labels(y, p)
    lanes = make_lanes(found, (sample.negative.value, sample.positive.value))
    given_up = tuple(int((~lane.solid).sum()) for lane in lanes)
    assert given_up == found.geometry.slack
    assert all(0 <= place <= 1 for lane in lanes for place in lane.bar)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("ratio", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("curve", ["blend", "logistic", "smoothed", *COUNTED])
def test_a_threshold_on_probabilities_lies_in_its_plateau_and_in_0_to_1(curve, ratio):
    rng = np.random.default_rng(0)
    for exact in (0, 0.2):
        for _ in range(10):
            y = np.append(rng.integers(0, 2, 28), [0, 1])
            p = expit(2 * rng.normal(size=30) + y)
            p[rng.random(30) < exact] = 0.0
            p[rng.random(30) < exact] = 1.0
            found = find_boundary(y, p, curve=curve, rule=Cost(false_negative=ratio))
            low, high = found.plateau
            assert low <= found.threshold <= high <= 1.0
            assert found.wrong == (
                sum(p[y == 0] > found.threshold),
                sum(p[y == 1] <= found.threshold),
            )
            # Only below 0 a row with a probability of 0 is flagged.
            assert (found.threshold < 0) == ((p.min() == 0) and bool(found.predict([0.0])[0]))
            if curve == "empirical":
                cuts = np.linspace(low, high, 9)[1:-1]  # ends are scores, to rounding
                wrong = {(sum(p[y == 0] > t), sum(p[y == 1] <= t)) for t in cuts}
                costs = [(n + ratio * m) / 30 for n, m in wrong]
                assert costs == pytest.approx([found.loss] * len(costs))


def test_a_number_as_fallback_is_a_probability():
    found = find([0, 0, 1], [0.1, 0.2, 0.9], curve=SupportRadius(fallback=0.4))
    assert found.threshold == pytest.approx(0.4)
