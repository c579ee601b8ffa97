"""The mergeable summary: any order, any grouping, exact counts."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from boundshift.scores.sample import Binning, ClassScores
from boundshift.streaming.cell_scores import CellScores
from boundshift.streaming.cells import Cells, Cuts, OpenQuestions
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.grid import Grid
from boundshift.streaming.request import ScanRequest
from boundshift.streaming.tally import Tally, add_exactly
from tests.problems import many


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


def test_sums_in_two_doubles_lose_nothing():
    total = (0.0, 0.0)
    for number in [1e16, 1.0, -1e16, 1.0]:
        total = add_exactly(total, (number, 0.0))
    assert sum(total) == 2.0


def summarised(values, points=True):
    """Return a class by cells, with everything collected or nothing."""
    grid = Grid(float(values.min()), float(values.max()), 8)
    chunks = [Chunk(np.repeat([0, 1], [len(values), 2]), np.append(values, [0.0, 1.0]), "all")]
    request = ScanRequest(grid=grid)
    found = list(request.tally(chunks).classes.values())
    cells = Cells.from_first_pass(found, grid, 0.0)
    if points:
        plan = cells.plan(OpenQuestions([np.arange(grid.size)]))
        again = ScanRequest(labels=(0, 1), refinement=plan[1]).tally(chunks)
        cells = cells.refined(*plan, [again.classes[0], again.classes[1]])
    questions = OpenQuestions()
    return CellScores(cells, 0, found[0], 0.0, questions, {}), questions


@pytest.mark.parametrize("mirrored", [False, True])
@many(30)
@given(values=arrays.arrays(np.float64, st.integers(2, 40), elements=st.integers(-9, 9)))
def test_gathered_cells_answer_as_sorted_scores(mirrored, values):
    if np.ptp(values) == 0:
        return
    cells, questions = summarised(values)
    exact = ClassScores(np.sort(values))
    if mirrored:
        cells, exact = cells.mirrored(), exact.mirrored()
    t = np.linspace(-10, 10, 81)
    ranks = np.arange(len(values))
    assert np.array_equal(cells.count_at_most(t), exact.count_at_most(t))
    assert np.array_equal(cells.count_below(t), exact.count_below(t))
    assert np.array_equal(cells.at(ranks), exact.at(ranks))
    for name in ("n", "minimum", "maximum", "median"):
        assert getattr(cells, name) == getattr(exact, name)
    for name in ("mean", "std"):
        assert getattr(cells, name) == pytest.approx(getattr(exact, name), abs=1e-12)
    for rank in (0, len(values) // 2, len(values) - 1):
        sums, expected = cells.sums_from(rank), exact.sums_from(rank)
        every = np.arange(len(values) + 1)
        assert sums(every) == pytest.approx(expected(every), abs=1e-9)
    assert np.array_equal(np.unique(cells.positions), np.unique(exact.positions))
    assert cells.exact
    assert not questions


def test_an_answer_from_inside_a_cell_is_noted():
    values = np.random.default_rng(4).normal(size=200)
    cells, questions = summarised(values, points=False)
    assert cells.at([0, 199]).tolist() == [values.min(), values.max()]
    assert not questions
    cells.at(50)
    assert len(questions.cells) == 1
    few, many = Binning(-3.0, 3.0, 0.5), Binning(-3.0, 3.0, 0.001)
    for binning in (few, many):
        assert cells.binned(binning).sum() == pytest.approx(200)
    assert questions.binnings == [(0, many)]
    assert [c.at.tolist() for c in questions.cuts] == [few.nodes.tolist()]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("doubt", [0.0, 0.02, 0.7])
def test_cells_divided_at_the_nodes_count_as_their_scores_do(sign, doubt):
    rng = np.random.default_rng(7)
    values = [np.round(rng.normal(size=n), 3) for n in (3000, 40)]
    grid, request = Grid(-3.0, 3.0, 24), ScanRequest(labels=(0, 1), pivot=0.0)
    chunk = Chunk(np.repeat([0, 1], [3000, 40]), np.concatenate(values), "all")
    found = ScanRequest(grid=grid).tally([chunk]).classes
    cells = Cells.from_first_pass([found[0], found[1]], grid, 0.0)
    binning = Binning(-2.21, 2.4, 0.37, sign)
    questions = OpenQuestions()
    plan = cells.plan(OpenQuestions(cuts=[Cuts(binning.nodes + 0.3 * doubt, doubt, 1.0)]))
    tally = replace(request, refinement=plan[1]).tally([chunk])
    cells = cells.refined(*plan, [tally.of(0), tally.of(1)])
    for i, exact in enumerate(values):
        scores = CellScores(cells, i, found[i], 0.0, questions, {})
        np.testing.assert_allclose(scores.binned(binning), binning.count(exact), atol=1e-10)
    assert not questions
    assert (sum(plan[1].collected) > 0) == (doubt > 0)


@pytest.mark.parametrize("mirrored", [False, True])
def test_bounds_hold_for_scores_that_are_not_known(mirrored):
    values = np.random.default_rng(5).normal(size=300)
    cells, questions = summarised(values, points=False)
    exact = ClassScores(np.sort(values))
    if mirrored:
        cells, exact = cells.mirrored(), exact.mirrored()
    rank = np.arange(300)
    low, high = cells.between(rank)
    assert np.all(low <= exact.at(rank))
    assert np.all(exact.at(rank) <= high)
    down, up = cells.cell_ranks(np.arange(301))
    assert np.all((down <= np.arange(301)) & (np.arange(301) <= up))
    assert cells.exact is False
    assert not questions
