"""The authors' search, written anew, against what their program chose (processors: 2)."""

from pathlib import Path

import numpy as np
import pytest

from lab.reproduction.authors_grid import solve_on_grid

RUNS = np.load(Path(__file__).parents[2] / "data" / "authors_boundaries.npz")
CHOSEN = {k.removesuffix("/boundaries"): RUNS[k] for k in RUNS.files if k.endswith("/boundaries")}
SLACKS = ("binary", "continuous")


def _solve(run, slack):
    scores = RUNS[f"{run}/train_scores"]
    found = solve_on_grid(RUNS[f"{run}/train_y"], scores, slack=slack, processors=2)
    return None if found is None else found.threshold


@pytest.mark.parametrize("slack", SLACKS)
def test_solved_where_theirs_is(slack):
    solved = {run: _solve(run, slack) is not None for run in CHOSEN}
    assert solved == {run: not np.isnan(chosen[0]) for run, chosen in CHOSEN.items()}


@pytest.mark.parametrize("slack", SLACKS)
def test_boundaries_are_theirs(slack):
    # Rounding decides which grid points survive, so another processor may move a few.
    distances = []
    for run, chosen in CHOSEN.items():
        theirs = chosen[SLACKS.index(slack)]
        if not np.isnan(theirs):
            spread = np.ptp(RUNS[f"{run}/train_scores"])
            distances.append(abs(_solve(run, slack) - theirs) / spread)
    assert len(distances) == 14
    assert np.mean(np.array(distances) < 1e-3) >= 0.75


def _apart(gap):
    return np.concatenate([np.linspace(-1, 1, 40), np.linspace(0, 1, 20) + 1 + gap])


def test_a_wide_gap_defeats_it():
    # Every delta underflows, and a delta of 0 counts as infeasible.
    assert solve_on_grid(np.repeat([0, 1], [40, 20]), _apart(50)) is None
