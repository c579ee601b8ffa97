"""Cells of a grid: every double has one, and each knows its largest."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from boundshift.streaming.grid import Grid
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
