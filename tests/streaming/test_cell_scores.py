"""Scores known by cells against the same scores sorted."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from boundshift.scores import Scores
from boundshift.streaming.binning import Binning
from boundshift.streaming.cell_scores import CellScores
from boundshift.streaming.cells import Cells, Cuts, OpenQuestions
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.grid import Grid
from boundshift.streaming.request import ScanRequest
from tests.problems import many


def by_cells(values, points=True):
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
def test_collected_cells_answer_as_sorted_scores(mirrored, values):
    if np.ptp(values) == 0:
        return
    cells, questions = by_cells(values)
    exact = Scores(np.sort(values))
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
    assert np.array_equal(np.unique(cells.positions), np.unique(exact.positions))
    assert cells.exact
    assert not questions


def test_an_answer_from_inside_a_cell_leaves_a_question():
    values = np.random.default_rng(4).normal(size=200)
    cells, questions = by_cells(values, points=False)
    assert cells.at([0, 199]).tolist() == [values.min(), values.max()]
    assert not questions
    cells.at(50)
    assert len(questions.cells) == 1
    few, many = Binning(-3.0, 3.0, 0.5), Binning(-3.0, 3.0, 0.001)
    for binning in (few, many):
        assert cells.binned(
            binning.low, binning.high, binning.cell, binning.sign
        ).sum() == pytest.approx(200)
    assert questions.binnings == [(0, many)]
    assert [c.at.tolist() for c in questions.cuts] == [few.nodes.tolist()]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("margin", [0.0, 0.02, 0.7])
def test_cells_divided_at_the_nodes_count_as_their_scores_do(sign, margin):
    rng = np.random.default_rng(7)
    values = [np.round(rng.normal(size=n), 3) for n in (3000, 40)]
    grid, request = Grid(-3.0, 3.0, 24), ScanRequest(labels=(0, 1), pivot=0.0)
    chunk = Chunk(np.repeat([0, 1], [3000, 40]), np.concatenate(values), "all")
    found = ScanRequest(grid=grid).tally([chunk]).classes
    cells = Cells.from_first_pass([found[0], found[1]], grid, 0.0)
    binning = Binning(-2.21, 2.4, 0.37, sign)
    questions = OpenQuestions()
    plan = cells.plan(OpenQuestions(cuts=[Cuts(binning.nodes + 0.3 * margin, margin, 1.0)]))
    tally = replace(request, refinement=plan[1]).tally([chunk])
    cells = cells.refined(*plan, [tally.of(0), tally.of(1)])
    for i, exact in enumerate(values):
        scores = CellScores(cells, i, found[i], 0.0, questions, {})
        np.testing.assert_allclose(
            scores.binned(binning.low, binning.high, binning.cell, binning.sign),
            binning.count(exact),
            atol=1e-10,
        )
    assert not questions
    assert (sum(plan[1].collected) > 0) == (margin > 0)
