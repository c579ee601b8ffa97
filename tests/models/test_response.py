"""Which response becomes the score, and in which order its columns are."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import softmax

from boundshift import InvalidInputError
from boundshift.models._scoring import Response, choose_method, read_response


def read(classes, response, method, known):
    """Read a fitted model with a canned response."""
    model = SimpleNamespace(classes_=np.array(classes), **{method: lambda X: np.array(response)})
    return read_response(model, None, method, np.array(known))


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
        ([0, 1], [[1.0], [-2.0]], "decision_function", [0, 1], [1.0, -2.0]),
        ([0, 1], [0.25, 1.0], "predict_proba", [0, 1], [[0.75, 0.25], [0, 1]]),
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
