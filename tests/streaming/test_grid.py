"""Cells of a grid: every double has one, and each knows its largest."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from boundshift.streaming.grid import Grid, Refinement
from tests.problems import many


@many(60)
@given(
    low=st.floats(-1e6, 1e6),
    width=st.floats(1e-6, 1e6),
    scores=arrays.arrays(np.float64, 40, elements=st.floats(-1e7, 1e7)),
)
def test_tops_are_the_largest_numbers_of_their_cells(low, width, scores):
    grid = Grid(low, low + width, 16)
    tops = grid.tops()
    cell = grid.cells_of(scores - grid.origin)
    assert np.array_equal(np.searchsorted(tops, scores, side="left"), cell)
    inner = tops[:-1]
    assert np.array_equal(grid.cells_of(inner - grid.origin), np.arange(len(inner)))
    above = np.nextafter(inner, np.inf)
    assert np.all(grid.cells_of(above - grid.origin) > np.arange(len(inner)))


@many(60)
@given(
    low=st.floats(-10, 10),
    width=st.floats(1e-3, 10),
    scores=arrays.arrays(np.float64, 40, elements=st.floats(-30, 30)),
)
def test_rows_in_cells_are_selected_and_none_beyond_them(low, width, scores):
    edges = low + width * np.array([0.0, 0.1, 0.6, 1.0])
    lows, tops = edges[[0, 2]], edges[[1, 3]]
    refinement = Refinement(lows, tops, lows, np.ones(2, dtype=np.bool_))
    scores = np.concatenate([scores, edges, np.nextafter(edges, np.inf)])
    selected = np.zeros(len(scores), dtype=np.bool_)
    selected[refinement.select(scores)] = True
    inside = ((scores[:, None] > lows) & (scores[:, None] <= tops)).any(axis=1)
    assert selected[inside].all()
    near = width / 1000
    assert not selected[(scores < edges[0] - near) | (scores > edges[-1] + near)].any()
    assert not selected[(scores > edges[1] + near) & (scores < edges[2] - near)].any()
