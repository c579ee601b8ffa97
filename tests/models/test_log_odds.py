import numpy as np
import pytest

from boundshift.models.log_odds import are_log_odds, log_probabilities, probabilities


@pytest.fixture
def close():
    """Log-odds at the boundary, and so near that their probability rounds to one half."""
    return np.array([0.0, -0.0, 5e-324, -5e-324, 1e-17, -1e-17, 2e-16, -2e-16])


@pytest.mark.parametrize("function", [probabilities, log_probabilities])
def test_the_winner_is_ahead_however_closely(close, function):
    found = function(close)
    np.testing.assert_array_equal(found.argmax(axis=1), close > 0)
    assert (found[:, 0] != found[:, 1]).all()


def test_no_probability_is_one_half(close):
    found = probabilities(close)
    np.testing.assert_array_equal(found[:, 1] > 0.5, close > 0)
    np.testing.assert_array_equal(found[:, 1] >= 0.5, close > 0)
    assert (found.sum(axis=1) == 1).all()


def test_probabilities_are_the_logistic_function():
    log_odds = np.random.default_rng(0).normal(0, 5, 1000)
    found = probabilities(log_odds)
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(-log_odds)), rtol=1e-14)
    np.testing.assert_allclose(np.log(found[:, 1] / found[:, 0]), log_odds, atol=1e-9)
    np.testing.assert_allclose(log_probabilities(log_odds), np.log(found), atol=1e-15, rtol=1e-12)


def test_logarithms_do_not_underflow():
    found = log_probabilities(np.array([-800.0, 800.0]))
    np.testing.assert_allclose(found, [[0.0, -800.0], [-800.0, 0.0]])


@pytest.mark.parametrize("function", [probabilities, log_probabilities])
def test_of_many_classes_the_winner_is_alone_ahead(function):
    ties = np.array([[1.0, 1.0, 1.0], [0.3, 0.3, 0.1], [1.0, 1.0 + 2e-16, 0.0], [0, 5e-324, 0]])
    found = function(ties)
    winner = ties.argmax(axis=1)
    for row, first in zip(found, winner, strict=True):
        assert (np.delete(row, first) < row[first]).all()


def test_probabilities_of_many_classes_are_the_softmax():
    scores = np.random.default_rng(0).normal(0, 3, (500, 4))
    powers = np.exp(scores)
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(probabilities(scores), expected, rtol=1e-13)
    np.testing.assert_allclose(log_probabilities(scores), np.log(expected), rtol=1e-10)


def test_two_columns_are_log_odds_by_their_difference():
    p = np.array([[0.2, 0.8], [0.6, 0.4]])
    assert are_log_odds(np.log(p) - 3, p)
    assert not are_log_odds(np.log(p) * 1.01, p)
