"""Claims by levels: bounds hold the claims of the sorted scores, and few levels decide."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift.curves import SupportRadius
from boundshift.curves.support import _levels
from boundshift.rules import Cost, Minimax
from boundshift.scores.sample import ClassScores
from boundshift.streaming.cell_scores import CellScores
from boundshift.streaming.cells import Cells, OpenQuestions
from boundshift.streaming.chunk import Chunk
from boundshift.streaming.grid import Grid
from boundshift.streaming.request import ScanRequest
from boundshift.support.claims import BoundedClaims, deciding_boundaries
from boundshift.support.windows import Windows
from tests.problems import many

CURVES = [SupportRadius(), SupportRadius(radius="two-sided", constant=2.0, gamma=2.0)]
PLACES = np.linspace(-8.0, 8.0, 161)


def with_known_middle(values):
    """Return a class by cells of which those around its median are known."""
    chunks = [Chunk(np.repeat([0, 1], [len(values), 2]), np.append(values, [-9.0, 9.0]), "all")]
    grid = Grid(-9.0, 9.0, 64)
    found = list(ScanRequest(grid=grid).tally(chunks).classes.values())
    cells = Cells.from_first_pass(found, grid, 0.0)
    ranks = [(len(values) - 1) // 2, len(values) // 2, len(values) // 4, 3 * len(values) // 4]
    middle = np.sort(values)[ranks]
    middle = np.append(middle, [middle[0] - 0.6, middle[0] + 0.6])
    wanted = np.unique(np.searchsorted(cells.tops, np.linspace(middle.min(), middle.max(), 200)))
    plan = cells.plan(OpenQuestions([wanted]))
    again = ScanRequest(labels=(0, 1), refinement=plan[1]).tally(chunks)
    cells = cells.refined(*plan, [again.of(0), again.of(1)])
    questions = OpenQuestions()
    return CellScores(cells, 0, found[0], 0.0, questions, {}), questions


@pytest.mark.parametrize("curve", CURVES)
@many(25)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(5, 400))
def test_bounds_hold_the_claims_of_the_scores(curve, seed, n):
    values = np.random.default_rng(seed).normal(size=n)
    scores, questions = with_known_middle(values)
    exact = curve._claims(Windows(ClassScores(np.sort(values)), curve.centre), _levels(n))
    windows = Windows(scores, curve.centre)
    assert not questions
    known = BoundedClaims.of(curve, windows, _levels(n))
    assert not questions
    assert np.all(known.least.at(PLACES) <= exact.at(PLACES) + 1e-9)
    assert np.all(known.most.at(PLACES) >= exact.at(PLACES) - 1e-9)
    # Whoever has the least claim somewhere is among those that may decide there.
    winners = np.unique(exact.at(PLACES[60:100]).argmin(axis=1))
    least = exact.least(PLACES[60:100]) < 1
    assert known.deciding(PLACES[60:100])[winners].all() or not least.any()


@pytest.mark.parametrize("rule", [Minimax(), Cost(false_positive=1.0, false_negative=10.0)])
def test_the_best_boundary_lies_between_the_deciding_ones(rule):
    rng = np.random.default_rng(3)
    below, above = rng.normal(size=3000), rng.normal(size=300) + 3
    curve = SupportRadius()
    facing = [with_known_middle(below)[0], with_known_middle(-above)[0]]
    known = [BoundedClaims.of(curve, Windows(c, curve.centre), _levels(c.n)) for c in facing]
    value = lambda *claims: rule.value(*claims, (3000, 300))  # noqa: E731
    t = deciding_boundaries(tuple(known), value, (-8.0, 8.0), 0.0)
    exact = [
        curve._claims(Windows(ClassScores(np.sort(v)), curve.centre), _levels(len(v)))
        for v in (below, -above)
    ]
    places = np.linspace(-6.0, 6.0, 4001)
    best = places[value(exact[0].least(places), exact[1].least(-places)).argmin()]
    assert t[0] <= best <= t[-1]
    assert t[-1] - t[0] < 2.0
    assert known[0].deciding(t).sum() < len(_levels(3000)) / 2


def test_a_boundary_that_may_lie_beyond_the_ends_is_not_looked_for():
    known = BoundedClaims.of(
        SupportRadius(),
        Windows(with_known_middle(np.linspace(-1, 1, 50))[0], "median"),
        _levels(50),
    )
    assert deciding_boundaries((known, known), lambda a, b: 0 * a, (-3.0, 3.0), 0.0) is None
