import numpy as np
import pytest

from boundshift import InvalidInputError, estimate_prevalence, find_boundary


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


def test_is_the_adjusted_count_at_the_boundary():
    rng = np.random.default_rng(0)
    (y, s) = draw(rng, 2000, 0.1)
    (_, new) = draw(rng, 500, 0.3)
    found = estimate_prevalence(y, s, new, threshold=1.0)
    false = np.mean(s[y == 0] > 1)
    recall = np.mean(s[y == 1] > 1)
    share = np.mean(new > 1)
    assert found.prevalence == pytest.approx((share - false) / (recall - false))
    assert found.interval[0] < found.prevalence < found.interval[1]


@pytest.mark.parametrize("threshold", [None, 1.0])
@pytest.mark.parametrize(
    ("make", "known", "new"),
    [(two_humps, 0.2, 0.05), (heavy_tails, 0.1, 0.3), (draw, 0.1, 0.01), (draw, 0.2, 0.2)],
)
def test_the_interval_covers_whatever_the_scores_look_like(make, known, new, threshold):
    rng = np.random.default_rng(1)
    runs = 30
    covered = 0
    for _ in range(runs):
        (y, s) = make(rng, 1000, known)
        (_, later) = make(rng, 800, new)
        low, high = estimate_prevalence(y, s, later, threshold=threshold).interval
        covered += low <= new <= high
    assert covered / runs >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / runs)


def test_a_drift_that_no_prevalence_explains_is_said():
    rng = np.random.default_rng(4)
    (y, s) = draw(rng, 1500, 0.2)
    (_, new) = draw(rng, 1500, 0.2)
    found = estimate_prevalence(y, s, 0.6 * new + 1.0)
    assert not found.explained
    assert "No prevalence explains" in str(found)


@pytest.mark.parametrize("new", [0.0, 0.3, 1.0])
def test_a_shift_of_the_prevalence_alone_is_explained(new):
    rng = np.random.default_rng(1)
    runs = 40
    pairs = [(draw(rng, 300, 0.2), draw(rng, 200, new)[1]) for _ in range(runs)]
    found = [estimate_prevalence(y, s, later, 0.8).explained for (y, s), later in pairs]
    assert np.mean(found) >= 0.8


def test_labels_and_the_boundary_bring_what_they_know():
    apart = np.repeat([0, 1], [90, 10]), np.tile(np.arange(10.0), 10)
    found = estimate_prevalence(*apart, np.arange(10.0), threshold=4.0)  # separates nothing
    assert (found.prevalence, found.interval) == (0.1, (0.0, 1.0))
    rng = np.random.default_rng(7)
    (y, s) = draw(rng, 500, 0.1)
    (_, new) = draw(rng, 300, 0.3)
    words = np.where(y, "a", "b")
    plain = estimate_prevalence(y, s, new)
    assert estimate_prevalence(words, s, new, pos_label="a") == plain
    boundary = find_boundary(words, s, pos_label="a", rule="sum")
    fixed = estimate_prevalence(words, s, new, threshold=boundary)
    assert fixed.prevalence == plain.prevalence
    assert plain.interval[0] <= fixed.interval[0] <= fixed.interval[1] <= plain.interval[1]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y_score_new": []}, "`y_score_new` must have rows"),
        ({"y_score_new": [np.inf]}, "`y_score_new` must be finite"),
        ({"y_score": [1.0, np.nan]}, "`y_score` must be finite"),
        ({"confidence": 1.0}, "`confidence` must be between 0 and 1"),
        ({"threshold": "high"}, "`threshold` must be a finite number"),
        ({"y_true": [1, 1]}, "two classes"),
    ],
)
def test_input_is_checked(change, words):
    given = {"y_true": [0, 1], "y_score": [0.0, 1.0], "y_score_new": [0.5]}
    with pytest.raises(InvalidInputError, match=words):
        estimate_prevalence(**(given | change))
