import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift._scores import Scores, ScoreSample
from tests.problems import many

FINITE = st.floats(-1e6, 1e6, allow_nan=False)


def test_input_is_left_alone():
    s = np.array([3.0, 1.0, 2.0, 0.0])
    ScoreSample.from_labels([0, 1, 0, 1], s)
    assert s.tolist() == [3.0, 1.0, 2.0, 0.0]


@many(200)
@given(st.lists(FINITE, min_size=1, max_size=30))
def test_mean_is_the_exact_mean(values):
    exact = sum(map(Fraction, values)) / len(values)
    scale = max(map(abs, values))
    assert Scores(np.sort(values)).mean == pytest.approx(float(exact), abs=1e-14 * scale)


@many(200)
@given(st.lists(FINITE, min_size=1, max_size=30))
def test_median_is_the_middle(values):
    assert Scores(np.sort(values)).median == pytest.approx(np.median(values), rel=1e-14)


def test_mean_keeps_its_digits_at_a_large_offset():
    values = np.sort(1e9 + 1e-6 * np.random.default_rng(0).normal(size=101))
    exact = math.fsum(v - 1e9 for v in values) / 101
    assert Scores(values).mean - 1e9 == pytest.approx(exact, abs=2e-7)
