"""Biases of many classes by counting, beside every cut of a fine grid."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundshift.multiclass import class_losses, search_biases


def draw(seed: int, sizes=(40, 20, 10), distance: float = 1.5):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    scores = rng.normal(size=(len(y), len(sizes))) + distance * np.eye(len(sizes))[y]
    return y, scores, rng.uniform(0.5, 5.0, (len(sizes), len(sizes))) * (1 - np.eye(len(sizes)))


def by_hand(y, scores, biases, costs):
    """Return each class's mean loss, one row after the other."""
    lost = [[] for _ in costs]
    for true, row in zip(y, scores, strict=True):
        called = max(range(len(row)), key=lambda j: row[j] + biases[j])
        lost[true].append(costs[true][called])
    return [float(np.mean(values)) for values in lost]


@given(st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_losses_are_those_of_every_row_by_hand(seed: int) -> None:
    y, scores, costs = draw(seed)
    biases = np.random.default_rng(seed).normal(size=3)
    assert class_losses(y, scores, biases, costs) == pytest.approx(
        by_hand(y, scores, biases, costs)
    )


@pytest.mark.parametrize("seed", range(8))
def test_no_pair_of_biases_on_a_fine_grid_is_much_cheaper(seed: int) -> None:
    y, scores, costs = draw(seed)
    weights = np.array([0.5, 0.3, 0.2])
    biases = search_biases(y, scores, costs, lambda losses: losses @ weights)
    reached = class_losses(y, scores, biases, costs) @ weights
    grid = np.linspace(-6, 6, 49)
    tried = (
        class_losses(y, scores, np.array([0.0, a, b]), costs) @ weights
        for a, b in itertools.product(grid, grid)
    )
    assert reached <= min(tried) * 1.03


@given(st.permutations(range(4)), st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_other_labels_have_the_same_answer(order, seed: int) -> None:
    y, scores, costs = draw(seed, (30, 20, 20, 5))
    order = np.array(order)
    number = np.argsort(order)
    weights = np.array([0.4, 0.3, 0.2, 0.1])
    biases = search_biases(y, scores, costs, lambda losses: losses @ weights)
    permuted = search_biases(
        number[y],
        scores[:, order],
        costs[np.ix_(order, order)],
        lambda losses: losses @ weights[order],
    )
    assert permuted == pytest.approx(biases[order], abs=1e-12)


def test_many_rows_are_thinned_and_the_best_place_is_still_found() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [20_000, 3000, 500])
    scores = rng.normal(size=(len(y), 3)) + 2 * np.eye(3)[y]
    biases = search_biases(y, scores, 1 - np.eye(3), lambda losses: losses.sum(axis=-1))
    # Balanced classes of equal spread: no bias is the best there is.
    assert np.abs(biases).max() < 0.25


def test_the_value_never_exceeds_that_of_a_start() -> None:
    y = np.repeat([0, 1, 2], [6, 3, 1])
    scores = np.eye(3)[[0, 0, 0, 0, 0, 1, 1, 1, 0, 0]] + [0.5, 0.0, 0.0]  # full of ties
    start = np.array([0.3, 0.0, -0.3])
    biases = search_biases(y, scores, 1 - np.eye(3), lambda losses: losses.sum(axis=-1), [start])
    for other in (start, np.zeros(3)):
        ours, theirs = (class_losses(y, scores, b, 1 - np.eye(3)).sum() for b in (biases, other))
        assert ours <= theirs + 1e-12


def test_a_class_that_a_model_did_not_know_wins_nowhere() -> None:
    y, scores, costs = draw(1)
    scores[y == 0, 2] = -np.inf
    biases = search_biases(y, scores, costs, lambda losses: losses.sum(axis=-1))
    assert np.isfinite(biases).all()
    assert not np.any(np.argmax(scores + biases, axis=1)[y == 0] == 2)
