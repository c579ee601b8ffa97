import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from boundshift import InvalidInputError
from boundshift.models import Response, find_methods, read_response
from boundshift.models.scoring import check_response_method, choose_method


class Scorer:
    """A fitted model with a canned response."""

    def __init__(self, classes, response):
        self.classes_ = np.array(classes)
        self._response = np.array(response, dtype=float)

    def decision_function(self, X):
        return self._response

    predict_proba = decision_function


def read(classes, response, method, known):
    return read_response(Scorer(classes, response), None, method, np.array(known))


@pytest.mark.parametrize(
    ("estimator", "methods"),
    [
        (LogisticRegression(), ("decision_function", "predict_proba")),
        (SVC(), ("decision_function",)),
        (GaussianNB(), ("margin", "predict_proba")),
        (RandomForestClassifier(), ("predict_proba",)),
    ],
    ids=str,
)
def test_a_margin_is_read_before_probabilities(estimator, methods):
    assert find_methods(estimator) == methods


def test_a_function_is_taken_as_it_is():
    assert find_methods(LinearRegression(), len) == (len,)


@pytest.mark.parametrize("method", ["auto", "decision_function", "predict_proba"])
def test_an_estimator_without_a_score_says_what_to_do(method):
    with pytest.raises(InvalidInputError) as caught:
        check_response_method(method, LinearRegression())
    message = str(caught.value)
    assert "`estimator` must have" in message
    assert "got LinearRegression without" in message
    assert "pass a function" in message


def test_an_unknown_method_lists_the_known_ones():
    with pytest.raises(InvalidInputError, match=r"must be 'auto', .* got 'predict'"):
        check_response_method("predict", LogisticRegression())


# Which of them becomes the score.

LOG_ODDS = np.array([-3.0, 0.5, 2.0])
P = 1 / (1 + np.exp(-LOG_ODDS))
BOTH = np.stack([1 - P, P], axis=1)


def choose(margin, found=BOTH, asked="auto"):
    return choose_method([{"decision_function": np.asarray(margin), "predict_proba": found}], asked)


def test_a_margin_that_is_the_log_odds_is_the_score():
    assert choose(LOG_ODDS) == ("decision_function", True)


def test_a_margin_that_is_not_gives_way_to_the_log_odds():
    assert choose(2 * LOG_ODDS) == ("predict_proba", True)


def test_a_margin_that_is_asked_for_stays():
    assert choose(2 * LOG_ODDS, asked="decision_function") == ("decision_function", False)
    assert choose(LOG_ODDS, asked="decision_function") == ("decision_function", True)


def test_float32_is_near_enough():
    assert choose(LOG_ODDS.astype(np.float32), BOTH.astype(np.float32)) == (
        "decision_function",
        True,
    )


def test_every_part_must_agree():
    parts = [{"margin": k * LOG_ODDS, "predict_proba": BOTH} for k in (1, 2)]
    assert choose_method(parts) == ("predict_proba", True)


def test_margins_of_many_classes_are_log_odds_by_their_softmax():
    margin = np.random.default_rng(0).normal(size=(9, 3))
    p = np.exp(margin) / np.exp(margin).sum(axis=1, keepdims=True)
    assert choose(margin + 7, p) == ("decision_function", True)
    assert choose(2 * margin, p) == ("predict_proba", True)


def test_a_class_the_model_did_not_know_does_not_count():
    margin = np.stack([-LOG_ODDS / 2, np.full(3, np.nan), LOG_ODDS / 2], axis=1)
    p = np.stack([1 - P, np.full(3, np.nan), P], axis=1)
    silent = np.full((1, 3), np.nan)
    assert choose(np.vstack([margin, silent]), np.vstack([p, silent])) == (
        "decision_function",
        True,
    )


def test_without_probabilities_a_margin_is_no_log_odds():
    assert choose_method([{"decision_function": LOG_ODDS}]) == ("decision_function", False)


# What is read.


def test_one_margin_of_two_classes_stays_one_column():
    assert read([0, 1], [1.0, -2.0], "decision_function", [0, 1]).tolist() == [1.0, -2.0]


def test_a_single_column_is_flattened():
    assert read([0, 1], [[1.0], [-2.0]], "decision_function", [0, 1]).tolist() == [1.0, -2.0]


def test_one_column_of_probabilities_is_that_of_the_positive_class():
    assert read([0, 1], [0.25, 1.0], "predict_proba", [0, 1]).tolist() == [[0.75, 0.25], [0, 1]]


def test_columns_are_put_in_the_order_of_the_classes():
    assert read(["b", "a"], [[0.7, 0.3]], "predict_proba", ["a", "b"]).tolist() == [[0.3, 0.7]]
    assert read(["b", "a"], [2.0], "decision_function", ["a", "b"]).tolist() == [-2.0]
    assert read(["b", "a"], [0.25], "predict_proba", ["a", "b"]).tolist() == [[0.25, 0.75]]
    found = read(["c", "a", "b"], [[1.0, 2.0, 3.0]], "decision_function", ["a", "b", "c"])
    assert found.tolist() == [[2.0, 3.0, 1.0]]


def test_a_class_the_model_did_not_know_is_nan():
    found = read([0, 2], [[0.5, 0.5]], "predict_proba", [0, 1, 2])
    np.testing.assert_array_equal(found, [[0.5, np.nan, 0.5]])


def test_a_margin_between_two_of_three_classes_is_split_between_them():
    found = read([0, 2], [3.0], "decision_function", [0, 1, 2])
    np.testing.assert_array_equal(found, [[-1.5, np.nan, 1.5]])


def test_a_model_of_one_class_says_nothing():
    found = read([1], [[1.0], [1.0]], "predict_proba", [0, 1])
    assert np.isnan(found).all()


def test_columns_that_are_not_classes_are_refused():
    with pytest.raises(InvalidInputError, match=r"one column per class \(4: .*\), got 6"):
        read(range(4), np.zeros((2, 6)), "decision_function", range(4))


def test_probabilities_become_log_odds():
    p = np.array([0.1, 0.5, 0.8])
    raw = np.stack([1 - p, p], axis=1)
    found = Response.learn("predict_proba", raw).scores(raw)
    np.testing.assert_allclose(found, np.log(p / (1 - p)), rtol=1e-14, atol=1e-15)


def test_probabilities_of_zero_count_as_half_the_smallest_positive_one():
    raw = np.array([[1.0, 0.0], [0.75, 0.25], [0.0, 1.0], [0.5, 0.5]])
    found = Response.learn("predict_proba", raw).scores(raw)
    floors = 0.25, 0.125
    assert found[0] == pytest.approx(np.log(floors[1] / 1.0))
    assert found[2] == pytest.approx(np.log(1.0 / floors[0]))


def test_saturated_probabilities_give_finite_scores():
    raw = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert np.isfinite(Response.learn("predict_proba", raw).scores(raw)).all()


def test_scores_rise_with_the_probability_also_at_the_floor():
    learned = Response.learn("predict_proba", np.array([[0.7, 0.3], [0.2, 0.8]]))
    p = np.linspace(0, 1, 1001)
    assert (np.diff(learned.scores(np.stack([1 - p, p], axis=1))) >= 0).all()


def test_margins_are_left_alone():
    raw = np.array([3.0, -1.0])
    assert Response.learn("decision_function", raw).scores(raw) is raw


def test_two_columns_of_a_function_become_their_difference():
    raw = np.array([[1.0, 4.0], [2.0, 0.5]])
    assert Response.learn(len, raw).scores(raw).tolist() == [3.0, -1.5]
