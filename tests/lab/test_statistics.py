from itertools import product

import numpy as np
import pytest

from lab.statistics import compare, holm


def _holm_by_definition(p_values):
    """The least level at which the step-down procedure rejects each hypothesis."""
    ordered = sorted(p_values.values())
    m = len(ordered)

    def rejected(level):
        count = 0
        while count < m and ordered[count] * (m - count) <= level:
            count += 1
        return set(ordered[:count])

    levels = sorted({min(1.0, p * (m - i)) for i, p in enumerate(ordered)} | {1.0})
    return {
        name: next((a for a in levels if p in rejected(a)), 1.0) for name, p in p_values.items()
    }


def test_holm_is_the_step_down_procedure():
    rng = np.random.default_rng(1)
    for size in range(1, 8):
        p_values = {str(i): float(p) for i, p in enumerate(rng.random(size) ** 3)}
        assert holm(p_values) == pytest.approx(_holm_by_definition(p_values))


def test_p_value_is_near_the_exact_one():
    rng = np.random.default_rng(0)
    difference = rng.normal(0.4, 1, 12)
    ranks = np.argsort(np.argsort(np.abs(difference))) + 1
    seen = ranks[difference > 0].sum()
    middle = ranks.sum() / 2
    signs = np.array(list(product([0, 1], repeat=12)))
    exact = np.mean(np.abs(signs @ ranks - middle) >= abs(seen - middle))
    assert compare(difference, np.zeros(12)).p_value == pytest.approx(exact, abs=0.03)


def test_ties_count_for_nobody():
    pair = compare(np.array([0.8, 0.9, 0.7]), np.array([0.7, 0.9, 0.8]))
    assert (pair.wins, pair.ties, pair.losses, pair.p_value) == (1, 1, 1, 1.0)
