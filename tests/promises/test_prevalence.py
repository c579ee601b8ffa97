import numpy as np
import pytest
from scipy.special import expit, logit
from sklearn.linear_model import LogisticRegression

from boundshift import InvalidInputError, estimate_prevalence, guard_prevalence


def draw(rng, n, share, distance=2.0):
    y = (rng.random(n) < share).astype(int)
    return y, rng.normal(distance * y)


def expectation_maximisation(y, s, new):
    """Saerens' algorithm as it is written, on probabilities of scikit-learn's sigmoid."""
    sigmoid = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(s[:, None], y)
    p = sigmoid.predict_proba(new[:, None])[:, 1]
    known = share = y.mean()
    for _ in range(5000):
        up, down = p * share / known, (1 - p) * (1 - share) / (1 - known)
        share = np.mean(up / (up + down))
    return share


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_is_where_expectation_maximisation_ends(share):
    rng = np.random.default_rng(0)
    (y, s), (_, new) = draw(rng, 2000, 0.1), draw(rng, 500, share)
    found = estimate_prevalence(y, s, new, n_resamples=100)
    assert found.prevalence == pytest.approx(expectation_maximisation(y, s, new), abs=2e-3)


def test_interval_and_tests_hold_as_often_as_they_say():
    rng = np.random.default_rng(1)
    runs, covered, shown, misfit = 40, 0, 0, 0
    for _ in range(runs):
        (y, s), (_, new) = draw(rng, 300, 0.2), draw(rng, 200, 0.2)
        found = estimate_prevalence(y, s, new, n_resamples=100, random_state=rng)
        covered += found.interval[0] <= 0.2 <= found.interval[1]
        shown += found.shift_p_value <= 0.05
        misfit += found.fit_p_value <= 0.05
    error = 3 * np.sqrt(0.05 * 0.95 / runs)
    assert covered / runs >= 0.95 - error
    assert shown / runs <= 0.05 + error
    assert misfit / runs <= 0.05 + error


def test_a_fourfold_shift_is_shown_and_followed():
    rng = np.random.default_rng(2)
    (y, s), (_, new) = draw(rng, 1500, 0.1), draw(rng, 800, 0.4)
    found = estimate_prevalence(y, s, new)
    assert found.interval[0] < 0.4 < found.interval[1]
    assert guard_prevalence(found) == found.prevalence - found.standard_error


def test_what_is_followed_never_passes_the_known_share():
    rng = np.random.default_rng(8)
    (y, s), (_, new) = draw(rng, 300, 0.2), draw(rng, 60, 0.2)
    found = estimate_prevalence(y, s, new, n_resamples=100)
    assert abs(found.prevalence - found.known_prevalence) < found.standard_error
    assert guard_prevalence(found, level=0.999) == found.known_prevalence


def test_the_standard_error_is_that_of_other_draws():
    rng = np.random.default_rng(9)
    pairs = [(draw(rng, 300, 0.2), draw(rng, 200, 0.3)[1]) for _ in range(25)]
    found = [estimate_prevalence(y, s, new, n_resamples=100) for (y, s), new in pairs]
    spread = np.std([each.prevalence for each in found], ddof=1)
    assert np.mean([each.standard_error for each in found]) == pytest.approx(spread, rel=0.35)


def test_a_class_that_becomes_rarer_is_shown():
    # On the scale of log-odds a share near 0 is so uncertain that it hid a fourfold shift.
    rng = np.random.default_rng(4)
    shown, excluded = 0, 0
    for _ in range(20):
        (y, s), (_, new) = draw(rng, 400, 0.1), draw(rng, 300, 0.025)
        found = estimate_prevalence(y, s, new, n_resamples=100, random_state=rng)
        shown += found.shift_p_value <= 0.05
        excluded += found.interval[1] < found.known_prevalence
    assert shown >= excluded > 0
    assert shown >= 14


def test_a_drift_that_no_share_explains_is_reported_not_followed():
    rng = np.random.default_rng(4)
    (y, s), (_, new) = draw(rng, 1500, 0.2), draw(rng, 1500, 0.2)
    found = estimate_prevalence(y, s, 0.6 * new + 1.0)
    assert found.fit_p_value < 0.01
    assert guard_prevalence(found) is None
    assert f"{found.fit_p_value:.3g}" in str(found)


def test_classes_far_apart_and_one_class_alone_have_an_answer():
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [90, 10])
    apart = estimate_prevalence(y, y + 0.01 * rng.random(100), np.repeat([0.0, 1.0], [60, 40]))
    assert apart.prevalence == pytest.approx(0.4, abs=0.02)
    alone = estimate_prevalence(y, y + 0.01 * rng.random(100), np.zeros(50))
    assert 0 < alone.prevalence < 0.03


def test_scores_of_any_scale_have_the_same_answer():
    rng = np.random.default_rng(6)
    (y, s), (_, new) = draw(rng, 500, 0.1), draw(rng, 300, 0.3)
    plain = estimate_prevalence(y, s, new)
    moved = estimate_prevalence(y, 1e6 * s + 5, 1e6 * new + 5)
    assert moved.prevalence == pytest.approx(plain.prevalence, rel=1e-6)


def test_labels_of_any_kind_serve():
    rng = np.random.default_rng(7)
    (y, s), (_, new) = draw(rng, 500, 0.1), draw(rng, 300, 0.3)
    words = np.where(y, "a", "b")
    found = estimate_prevalence(words, s, new, pos_label="a")
    assert found == estimate_prevalence(y, s, new)
    assert expit(logit(found.prevalence)) == pytest.approx(found.prevalence)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"y_score_new": []}, "`y_score_new` must have rows"),
        ({"y_score_new": [np.inf]}, "`y_score_new` must be finite"),
        ({"y_score": [1.0, np.nan]}, "`y_score` must be finite"),
        ({"n_resamples": 10}, "at least 100"),
        ({"confidence": 1.0}, "`confidence` must be between 0 and 1"),
        ({"y_true": [1, 1]}, "two classes"),
    ],
)
def test_input_is_checked(change, words):
    given = {"y_true": [0, 1], "y_score": [0.0, 1.0], "y_score_new": [0.5]}
    with pytest.raises(InvalidInputError, match=words):
        estimate_prevalence(**(given | change))
