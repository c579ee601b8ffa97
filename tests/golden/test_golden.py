"""Every curve with every rule decides 500 problems as the golden file says."""

import numpy as np
import pytest

from tests.golden.freeze import GOLDEN, by_problem, differences
from tests.golden.problems import N_PROBLEMS, decide

PARTS = 10


@pytest.fixture(scope="module")
def golden():
    return by_problem(np.load(GOLDEN))


@pytest.mark.parametrize("part", range(PARTS))
def test_decisions_are_those_of_the_golden_file(golden, part):
    said = [
        line
        for seed in range(part, N_PROBLEMS, PARTS)
        for line in differences(seed, golden[seed], decide(seed), 1e-9)
    ]
    assert said == []
