from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift.scores import outward_sums
from boundshift.scores.outward_sums import OutwardSums


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=40), st.data())
def test_sums_are_those_of_distances_from_the_reference(values, data):
    values = sorted(values)
    rank = data.draw(st.integers(0, len(values) - 1))
    expected = [
        sum(abs(v - values[rank]) for v in values[min(k, rank) : max(k, rank)])
        for k in range(len(values) + 1)
    ]
    sums = OutwardSums(np.array(values, dtype=float), rank)
    assert sums(np.arange(len(values) + 1)).tolist() == expected
    assert [float(sums(k)) for k in range(len(values) + 1)] == expected


@pytest.mark.parametrize("rank", [0, 1, 500, 998, 999])
def test_sums_go_on_from_chunk_to_chunk(rank, monkeypatch):
    monkeypatch.setattr(outward_sums, "_CHUNK", 64)
    values = np.sort(np.random.default_rng(0).integers(0, 10**6, 1000)).astype(float)
    sums = OutwardSums(values, rank)(np.arange(1001))
    distances = np.abs(values - values[rank])
    assert sums[:rank].tolist() == [distances[k:rank].sum() for k in range(rank)]
    assert sums[rank:].tolist() == [distances[rank:k].sum() for k in range(rank, 1001)]


def test_a_sum_knows_nothing_of_scores_beyond_it():
    values = np.sort(np.random.default_rng(0).normal(size=99))
    far = np.concatenate([[-1e18], values, [1e18]])
    near, with_far = OutwardSums(values, 50), OutwardSums(far, 51)
    np.testing.assert_array_equal(with_far(np.arange(1, 101)), near(np.arange(100)))


def test_sums_lose_no_digits_to_an_offset_of_all_scores():
    values = np.sort(np.round(np.random.default_rng(0).normal(size=5000), 9) + 1e6)
    sums = OutwardSums(values, 2500)(np.array([0, 5000]))
    exact = [
        sum((abs(Fraction(v) - Fraction(values[2500])) for v in part), Fraction())
        for part in (values[:2500].tolist(), values[2500:].tolist())
    ]
    np.testing.assert_allclose(sums, [float(e) for e in exact], rtol=1e-13)


def test_sums_take_a_quarter_of_the_scores_space():
    sums = OutwardSums(np.arange(1e5), 500)
    assert sums._stored.nbytes < 0.26 * 8e5
