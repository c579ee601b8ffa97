import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LinearRegression

from boundshift import InvalidInputError
from boundshift.models.scoring import (
    Response,
    choose_method,
    find_methods,
    probabilities,
    read_response,
)


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


def test_a_function_is_taken_as_it_is():
    assert find_methods(LinearRegression(), len) == (len,)


# Which of them becomes the score.

LOG_ODDS = np.array([-3.0, 0.5, 2.0])
P = 1 / (1 + np.exp(-LOG_ODDS))
BOTH = np.stack([1 - P, P], axis=1)
MANY = np.random.default_rng(0).normal(size=(9, 3))
NONE = np.full(3, np.nan)
MARGIN, PROBABILITY = ("decision_function", True), ("predict_proba", True)


@pytest.mark.parametrize(
    ("margin", "found", "asked", "chosen"),
    [
        (LOG_ODDS, BOTH, "auto", MARGIN),
        (2 * LOG_ODDS, BOTH, "auto", PROBABILITY),
        (2 * LOG_ODDS, BOTH, "decision_function", ("decision_function", False)),
        (LOG_ODDS, BOTH, "decision_function", MARGIN),
        (LOG_ODDS.astype(np.float32), BOTH.astype(np.float32), "auto", MARGIN),
        (MANY + 7, softmax(MANY, axis=1), "auto", MARGIN),
        (2 * MANY, softmax(MANY, axis=1), "auto", PROBABILITY),
        (
            np.vstack([np.stack([-LOG_ODDS / 2, NONE, LOG_ODDS / 2], axis=1), NONE]),
            np.vstack([np.stack([1 - P, NONE, P], axis=1), NONE]),
            "auto",
            MARGIN,
        ),
    ],
    ids=[
        *("log-odds", "other", "other, asked for", "asked for", "float32"),
        *("many", "many, other", "unknown class"),
    ],
)
def test_a_margin_is_the_score_if_it_is_the_log_odds_or_asked_for(margin, found, asked, chosen):
    assert choose_method([{"decision_function": margin, "predict_proba": found}], asked) == chosen


def test_every_part_must_agree():
    parts = [{"margin": k * LOG_ODDS, "predict_proba": BOTH} for k in (1, 2)]
    assert choose_method(parts) == ("predict_proba", True)
    assert choose_method([{"decision_function": LOG_ODDS}]) == ("decision_function", False)


# What is read.


@pytest.mark.parametrize(
    ("classes", "response", "method", "known", "expected"),
    [
        ([0, 1], [1.0, -2.0], "decision_function", [0, 1], [1.0, -2.0]),
        ([0, 1], [[1.0], [-2.0]], "decision_function", [0, 1], [1.0, -2.0]),
        ([0, 1], [0.25, 1.0], "predict_proba", [0, 1], [[0.75, 0.25], [0, 1]]),
        (["b", "a"], [[0.7, 0.3]], "predict_proba", ["a", "b"], [[0.3, 0.7]]),
        (["b", "a"], [2.0], "decision_function", ["a", "b"], [-2.0]),
        (["b", "a"], [0.25], "predict_proba", ["a", "b"], [[0.25, 0.75]]),
        ([2, 0, 1], [[1.0, 2.0, 3.0]], "decision_function", [0, 1, 2], [[2.0, 3.0, 1.0]]),
        ([0, 2], [[0.5, 0.5]], "predict_proba", [0, 1, 2], [[0.5, np.nan, 0.5]]),
        ([0, 2], [3.0], "decision_function", [0, 1, 2], [[-1.5, np.nan, 1.5]]),
        ([1], [[1.0]], "predict_proba", [0, 1], [[np.nan, np.nan]]),
    ],
)
def test_columns_are_in_the_order_of_the_classes(classes, response, method, known, expected):
    np.testing.assert_array_equal(read(classes, response, method, known), expected)


def test_columns_that_are_not_classes_are_refused():
    with pytest.raises(InvalidInputError, match=r"one column per class \(4: .*\), got 6"):
        read(range(4), np.zeros((2, 6)), "decision_function", range(4))


def test_probabilities_become_log_odds_and_zeros_half_the_smallest_positive_one():
    raw = np.array([[1.0, 0.0], [0.75, 0.25], [0.0, 1.0], [0.5, 0.5]])
    found = Response.learn("predict_proba", raw).scores(raw)
    expected = [np.log(0.125), np.log(1 / 3), np.log(1 / 0.25), 0.0]
    np.testing.assert_allclose(found, expected, atol=1e-15)


def test_two_columns_of_a_function_become_their_difference():
    raw = np.array([[1.0, 4.0], [2.0, 0.5]])
    assert Response.learn(len, raw).scores(raw).tolist() == [3.0, -1.5]


# Log-odds and probabilities.


def test_probabilities_are_the_logistic_function():
    log_odds = np.random.default_rng(0).normal(0, 5, 1000)
    found = probabilities(log_odds)
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(-log_odds)), rtol=1e-14)
    np.testing.assert_allclose(np.log(found[:, 1] / found[:, 0]), log_odds, atol=1e-9)
    np.testing.assert_allclose(
        probabilities(log_odds, log=True), np.log(found), atol=1e-15, rtol=1e-12
    )


def test_logarithms_do_not_underflow():
    found = probabilities(np.array([-800.0, 800.0]), log=True)
    np.testing.assert_allclose(found, [[0.0, -800.0], [-800.0, 0.0]])


def test_probabilities_of_many_classes_are_the_softmax():
    scores = np.random.default_rng(0).normal(0, 3, (500, 4))
    powers = np.exp(scores)
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities(scores), expected, rtol=1e-13)
    np.testing.assert_allclose(probabilities(scores, log=True), np.log(expected), rtol=1e-10)
