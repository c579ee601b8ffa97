import numpy as np

from boundshift.models.scoring import are_log_odds, log_probabilities, probabilities


def test_probabilities_are_the_logistic_function():
    log_odds = np.random.default_rng(0).normal(0, 5, 1000)
    found = probabilities(log_odds)
    np.testing.assert_allclose(found[:, 1], 1 / (1 + np.exp(-log_odds)), rtol=1e-14)
    np.testing.assert_allclose(np.log(found[:, 1] / found[:, 0]), log_odds, atol=1e-9)
    np.testing.assert_allclose(log_probabilities(log_odds), np.log(found), atol=1e-15, rtol=1e-12)


def test_logarithms_do_not_underflow():
    found = log_probabilities(np.array([-800.0, 800.0]))
    np.testing.assert_allclose(found, [[0.0, -800.0], [-800.0, 0.0]])


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
