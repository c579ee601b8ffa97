"""Counters: many rows by cells, however they come."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift.streaming import counter as module
from boundshift.streaming.counter import CellCounter
from boundshift.streaming.grid import Grid


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=12),
    st.booleans(),
    st.integers(0, 2**32 - 1),
)
def test_counts_and_sums_are_those_of_all_rows(sizes, is_weighted, seed):
    rng = np.random.default_rng(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_ROWS", 50)
        counter = CellCounter("test", 7, is_weighted)
        cells, values, weights = [], [], []
        for n in sizes:
            cells.append(rng.integers(0, 7, n))
            values.append(rng.normal(size=n))
            weights.append(rng.random(n))
            own = weights[-1] if is_weighted else None
            at, written = counter.reserve(n, own)
            at[:], written[:] = cells[-1], values[-1] * (1.0 if own is None else own)
        counter.finish()
    cell, value, weight = (np.concatenate(v) for v in (cells, values, weights))
    times = weight if is_weighted else np.ones(len(cell))
    for i in range(7):
        own = cell == i
        assert counter.rows[i] == own.sum()
        assert counter.counts[i] == pytest.approx(times[own].sum(), rel=1e-12, abs=1e-12)
        assert counter.sums[i] == pytest.approx((times * value)[own].sum(), rel=1e-9, abs=1e-12)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=30))
def test_known_ends_change_no_cell(scores):
    grid = Grid(-3.0, 5.0, 64)
    offset = np.array(scores) - grid.origin
    cells = np.empty(len(offset), np.int64)
    grid.put_cells(offset, cells, (float(offset.min()), float(offset.max())))
    assert np.array_equal(cells, grid.cells_of(offset))
