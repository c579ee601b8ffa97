"""The grid of the first pass, and the size of what a pass finds."""

import pickle

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from boundshift.streaming._cells import Grid
from boundshift.streaming._read import Chunk, Values
from boundshift.streaming._tally import ScanRequest
from tests.problems import many


@many(60)
@given(
    seen=arrays.arrays(np.float64, 12, elements=st.floats(-1e6, 1e6)),
    scores=arrays.arrays(np.float64, 40, elements=st.floats(-1e290, 1e290)),
)
def test_a_score_lies_in_the_cell_that_its_tops_say(seen, scores):
    grid = Grid.around(seen, 64)
    assert np.all(np.diff(grid.tops) > 0)
    finite = grid.tops[:-1]
    scores = np.concatenate([scores, seen, finite, np.nextafter(finite, np.inf), [-np.inf, np.inf]])
    # A product with the least doubles vanishes.
    scores = scores[(np.abs(scores) > 1e-200) | (scores == 0)]
    expected = np.searchsorted(grid.tops, scores, side="left")
    assert np.array_equal(grid.cells_of(scores), expected)


def test_a_message_does_not_grow_with_the_rows():
    request = ScanRequest(Grid.around(np.linspace(-2.0, 2.0, 9), 16))
    sizes = []
    for n in (1000, 1_000_000):
        y, s = np.arange(n) % 2, np.random.default_rng(2).normal(size=n)
        sizes.append(len(pickle.dumps(request.tally([Chunk(Values(y), s, "all")]))))
    assert sizes[1] <= sizes[0] + 64
