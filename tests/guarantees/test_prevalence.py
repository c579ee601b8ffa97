"""The prevalence of new rows if nothing but the frequency of the classes has changed."""

import numpy as np
import pytest
from scipy.stats import binomtest

from boundshift import BoundaryWarning, InvalidInputError, estimate_prevalence


def draw(rng, n, share, distance=2.0):
    y = (rng.random(n) < share).astype(int)
    return y, rng.normal(distance * y)


def two_humps(rng, n, share):
    """Log-odds far from linear: a sigmoid of the score is wrong."""
    y = (rng.random(n) < share).astype(int)
    positive = np.where(rng.random(n) < 0.6, rng.normal(3, 0.4, n), rng.normal(-0.5, 0.4, n))
    return y, np.where(y, positive, rng.normal(size=n))


def heavy_tails(rng, n, share):
    y = (rng.random(n) < share).astype(int)
    return y, 2 * y + rng.standard_t(2, n)


def width_by_delta_method(y, s, new, threshold):
    """The usual interval of the adjusted count at a threshold fixed before."""
    recall = np.mean(s[y == 1] > threshold)
    false = np.mean(s[y == 0] > threshold)
    flagged = np.mean(new > threshold)
    share = (flagged - false) / (recall - false)
    variance = (
        flagged * (1 - flagged) / len(new)
        + share**2 * recall * (1 - recall) / np.sum(y == 1)
        + (1 - share) ** 2 * false * (1 - false) / np.sum(y == 0)
    )
    return 2 * 1.96 * np.sqrt(variance) / (recall - false)


@pytest.mark.parametrize(
    ("make", "n", "known", "new"),
    [
        (two_humps, 1000, 0.2, 0.05),
        (heavy_tails, 1000, 0.1, 0.3),
        (draw, 1000, 0.1, 0.01),
        (draw, 1000, 0.2, 0.2),
        (draw, 200, 0.15, 0.7),
        (lambda rng, n, share: draw(rng, n, share, 4.0), 200, 0.05, 0.7),
    ],
)
def test_the_interval_covers_and_nothing_is_said_to_have_changed(make, n, known, new):
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(100):
        y, s = make(rng, n, known)
        _, later = make(rng, 800, new)
        estimate = estimate_prevalence(y, s, later)
        covered += estimate.interval[0] <= new <= estimate.interval[1]
        assert estimate.explained
    assert binomtest(covered, 100, 0.95, alternative="less").pvalue > 1e-3


def test_the_interval_is_about_as_wide_as_the_delta_methods():
    rng = np.random.default_rng(2)
    ratios = []
    for _ in range(30):
        y, s = draw(rng, 1000, 0.15)
        _, new = draw(rng, 2000, 0.3)
        low, high = estimate_prevalence(y, s, new).interval
        ratios.append((high - low) / width_by_delta_method(y, s, new, 1.0))
    assert 0.7 < np.mean(ratios) < 1.05


def test_warns_of_a_drift_that_no_prevalence_explains():
    rng = np.random.default_rng(4)
    y, s = draw(rng, 1500, 0.2)
    _, new = draw(rng, 1500, 0.2)
    with pytest.warns(BoundaryWarning, match="something else has changed"):
        estimate = estimate_prevalence(y, s, 0.6 * new + 1.0)
    assert not estimate.explained
    assert "No prevalence explains" in str(estimate)


def test_scores_that_separate_nothing_give_no_interval():
    y = np.repeat([0, 1], [90, 10])
    estimate = estimate_prevalence(y, np.tile(np.arange(10.0), 10), np.arange(10.0))
    assert estimate.interval == (0.0, 1.0)


def test_only_the_order_of_scores_and_the_names_of_classes_count():
    rng = np.random.default_rng(7)
    y, s = draw(rng, 500, 0.1)
    _, new = draw(rng, 300, 0.3)
    plain = estimate_prevalence(y, s, new)
    words = np.where(y, "a", "b")
    assert estimate_prevalence(words, np.exp(s), np.exp(new), pos_label="a") == plain
    swapped = estimate_prevalence(1 - y, -s, -new)
    assert swapped.prevalence == pytest.approx(1.0 - plain.prevalence, abs=1e-3)
    assert swapped.p_value == pytest.approx(plain.p_value, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y_score_new": []}, "`y_score_new` must have rows"),
        ({"y_score_new": [np.inf]}, "`y_score_new` must be finite"),
        ({"y_score": [1.0, np.nan]}, "`y_score` must be finite"),
        ({"confidence": 1.0}, "`confidence` must be between 0 and 1"),
        ({"y_true": [1, 1]}, "two classes"),
    ],
)
def test_input_is_checked(change, words):
    given = {"y_true": [0, 1], "y_score": [0.0, 1.0], "y_score_new": [0.5]}
    with pytest.raises(InvalidInputError, match=words):
        estimate_prevalence(**(given | change))
