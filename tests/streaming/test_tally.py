"""Tallies: merged in any order and grouping, exact counts."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift.streaming.chunk import Chunk
from boundshift.streaming.grid import Grid, Refinement
from boundshift.streaming.request import ScanRequest
from boundshift.streaming.tally import Tally, add_exactly


def chunks_of(rng, count=4):
    for i in range(count):
        y = rng.random(50 * i) < 0.3
        yield Chunk(y, rng.normal(size=len(y)) + y, f"chunk {i}")


def tally_of(chunks, request):
    total = Tally()
    for chunk in chunks:
        total.merge(request.tally([chunk]))
    return total


REQUEST = ScanRequest(pivot=0.1, grid=Grid(-2.0, 2.0, 16))


def test_tallies_merge_in_any_order():
    chunks = list(chunks_of(np.random.default_rng(0)))
    first = tally_of(chunks, REQUEST)
    for order in itertools.permutations(chunks):
        other = tally_of(order, REQUEST)
        for label in (False, True):
            a, b = first.classes[label], other.classes[label]
            assert (a.n, a.low, a.high) == (b.n, b.low, b.high)
            assert np.array_equal(a.counts, b.counts)
            assert a.total == pytest.approx(b.total, rel=1e-15, abs=1e-12)
            assert a.squares == pytest.approx(b.squares, rel=1e-13)


def test_tallies_merge_in_any_grouping():
    chunks = list(chunks_of(np.random.default_rng(1)))
    one, other = tally_of(chunks[:1], REQUEST), tally_of(chunks[1:], REQUEST)
    one.merge(other)
    whole = tally_of(chunks, REQUEST)
    assert np.array_equal(one.classes[True].counts, whole.classes[True].counts)
    assert one.classes[True].n == whole.classes[True].n


def test_a_message_does_not_grow_with_the_rows():
    sizes = []
    for n in (1000, 1_000_000):
        rng = np.random.default_rng(2)
        y = np.arange(n) % 2
        sizes.append(len(pickle.dumps(REQUEST.tally([Chunk(y, rng.normal(size=n), "all")]))))
    assert sizes[1] <= sizes[0] + 64


def test_moments_are_those_of_the_rows():
    rng = np.random.default_rng(3)
    s = 1e6 + rng.normal(size=10_000)
    found = (
        ScanRequest(pivot=1e6)
        .tally([Chunk(np.zeros(100), part, "") for part in np.split(s, 100)])
        .classes[0.0]
    )
    assert found.total[0] / found.n + 1e6 == pytest.approx(s.mean(), rel=1e-15)
    assert found.squares / (found.n - 1) == pytest.approx(s.var(ddof=1), rel=1e-12)


def test_sums_in_two_doubles_lose_nothing():
    total = (0.0, 0.0)
    for number in [1e16, 1.0, -1e16, 1.0]:
        total = add_exactly(total, (number, 0.0))
    assert sum(total) == 2.0


@given(
    st.lists(st.lists(st.integers(-4, 4), min_size=1, max_size=12), min_size=1, max_size=5),
    st.booleans(),
)
def test_points_of_all_chunks_are_put_together(parts, is_weighted):
    cells = Refinement(np.array([-2.5]), np.array([3.5]), np.array([-2.5]), np.array([True]))
    request = ScanRequest(labels=(0, 1), refinement=cells)
    weigh = (lambda s: 1.0 + np.abs(s)) if is_weighted else lambda s: None
    scores = [np.array(part, dtype=np.float64) for part in parts]
    chunks = [Chunk(np.zeros(len(s), int), s, "", weights=weigh(s)) for s in scores]
    values, times = tally_of(chunks, request).of(0).distinct_points()
    inside = np.concatenate(scores)
    inside = inside[(inside > -2.5) & (inside <= 3.5)]
    expected, counts = np.unique(inside, return_counts=True)
    assert np.array_equal(values, expected)
    assert times == pytest.approx(counts * (1.0 + np.abs(expected) if is_weighted else 1))
