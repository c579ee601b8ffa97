"""The grid, scores by cells against the same scores sorted, and tallies in any order."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from boundshift.scores import Scores
from boundshift.streaming.cells import Cells, CellScores, Grid, Look, Questions
from boundshift.streaming.chunks import Chunk
from boundshift.streaming.tally import ScanRequest, Tally
from tests.problems import many

REQUEST = ScanRequest(Grid.around(np.linspace(-2.0, 2.0, 9), 16))


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


def by_cells(values, points=True):
    """Return a class by cells, with everything collected or nothing."""
    grid = Grid.around(values, 8)
    chunks = [Chunk(np.repeat([0, 1], [len(values), 2]), np.append(values, [0.0, 1.0]), "all")]
    tally = ScanRequest(grid).tally(chunks)
    found = [tally.of(0), tally.of(1)]
    cells = Cells.from_grid(grid, found, None)
    if points:
        plan = cells.plan(Questions([np.arange(len(cells.tops))]), grid, 1.0)
        again = ScanRequest(grid, labels=(0, 1), look=plan[1]).tally(chunks)
        cells = cells.refined(*plan, [again.of(0), again.of(1)])
    questions = Questions()
    extremes = float(values.min()), float(values.max())
    return CellScores.of_class(cells, 0, extremes, questions, None), questions


@pytest.mark.parametrize("mirrored", [False, True])
@many(30)
@given(values=arrays.arrays(np.float64, st.integers(2, 40), elements=st.integers(-9, 9)))
def test_collected_cells_answer_as_sorted_scores(mirrored, values):
    cells, questions = by_cells(values)
    exact = Scores(np.sort(values))
    if mirrored:
        cells, exact = cells.mirrored(), exact.mirrored()
    t, ranks = np.linspace(-10, 10, 81), np.arange(len(values))
    assert np.array_equal(cells.count_at_most(t), exact.count_at_most(t))
    assert np.array_equal(cells.count_below(t), exact.count_below(t))
    assert np.array_equal(cells.at(ranks), exact.at(ranks))
    for name in ("n", "minimum", "maximum", "median"):
        assert getattr(cells, name) == getattr(exact, name)
    for name in ("mean", "std"):
        assert getattr(cells, name) == pytest.approx(getattr(exact, name), abs=1e-12)
    assert np.array_equal(cells.positions, np.unique(exact.value))
    assert cells.exact
    assert not questions


@pytest.mark.parametrize("mirrored", [False, True])
def test_an_answer_from_inside_a_cell_leaves_a_question(mirrored):
    values = np.random.default_rng(4).normal(size=200)
    cells, questions = by_cells(values, points=False)
    exact = Scores(np.sort(values))
    if mirrored:
        cells, exact = cells.mirrored(), exact.mirrored()
    assert cells.at([0, 199]).tolist() == [exact.minimum, exact.maximum]
    tops = cells.positions
    assert np.array_equal(cells.count_at_most(tops), exact.count_at_most(tops))
    assert not questions
    cells.at(50)
    assert len(questions.cells) == 1
    cells.count_at_most(0.1)
    assert len(questions.cells) == 2


def chunks_of(rng, count=4):
    for i in range(count):
        y = rng.random(50 * i) < 0.3
        yield Chunk(y, rng.normal(size=len(y)) + y, f"chunk {i}")


def tally_of(chunks, request):
    total = Tally()
    for chunk in chunks:
        total.merge(request.tally([chunk]))
    return total


def test_tallies_merge_in_any_order():
    chunks = list(chunks_of(np.random.default_rng(0)))
    first = tally_of(chunks, REQUEST)
    for order in itertools.permutations(chunks):
        other = tally_of(order, REQUEST)
        for label in (False, True):
            a, b = first.classes[label], other.classes[label]
            assert (a.n_rows, a.lows, a.highs) == (b.n_rows, b.lows, b.highs)
            assert np.array_equal(a.totals[:2], b.totals[:2])
            assert a.totals[2] == pytest.approx(b.totals[2], rel=1e-13)


def test_a_message_does_not_grow_with_the_rows():
    sizes = []
    for n in (1000, 1_000_000):
        rng = np.random.default_rng(2)
        y = np.arange(n) % 2
        sizes.append(len(pickle.dumps(REQUEST.tally([Chunk(y, rng.normal(size=n), "all")]))))
    assert sizes[1] <= sizes[0] + 64


@given(
    st.lists(st.lists(st.integers(-4, 4), min_size=1, max_size=12), min_size=1, max_size=5),
    st.booleans(),
)
def test_points_of_all_chunks_are_put_together(parts, is_weighted):
    flags = np.ones(REQUEST.grid.size, np.bool_)
    look = Look(np.array([-2.0]), np.array([3.5]), np.array([True]), flags)
    request = ScanRequest(REQUEST.grid, labels=(0, 1), look=look)
    weigh = (lambda s: 1.0 + np.abs(s)) if is_weighted else lambda s: None
    scores = [np.array(part, dtype=np.float64) for part in parts]
    chunks = [Chunk(np.zeros(len(s), int), s, "", weights=weigh(s)) for s in scores]
    values, times, rows = tally_of(chunks, request).of(0).distinct_points()
    inside = np.concatenate(scores)
    expected, counts = np.unique(inside[(inside >= -2.0) & (inside <= 3.5)], return_counts=True)
    assert np.array_equal(values, expected)
    assert np.array_equal(rows, counts)
    assert times == pytest.approx(counts * (1.0 + np.abs(expected) if is_weighted else 1))
