"""The authors' search, written anew, against what their program chose (processors: 2)."""

from pathlib import Path

import numpy as np
import pytest

from lab.reproduction.authors_grid import solve_on_grid

RUNS = np.load(Path(__file__).parents[2] / "data" / "authors_boundaries.npz")
CHOSEN = {k.removesuffix("/boundaries"): RUNS[k] for k in RUNS.files if k.endswith("/boundaries")}
SLACKS = ("binary", "continuous")


@pytest.mark.parametrize("slack", SLACKS)
def test_boundaries_are_theirs_where_theirs_is_solved(slack):
    distances = []
    for run, chosen in CHOSEN.items():
        scores = RUNS[f"{run}/train_scores"]
        theirs = chosen[SLACKS.index(slack)]
        found = solve_on_grid(RUNS[f"{run}/train_y"], scores, slack=slack, processors=2)
        assert (found is None) == np.isnan(theirs)
        if found is not None:
            distances.append(abs(found.threshold - theirs) / np.ptp(scores))
    assert len(distances) == 14
    # Rounding decides which grid points survive, so another processor may move a few.
    assert np.mean(np.array(distances) < 1e-3) >= 0.75


def test_a_wide_gap_defeats_it():
    # Every delta underflows, and a delta of 0 counts as infeasible.
    scores = np.concatenate([np.linspace(-1, 1, 40), np.linspace(51, 52, 20)])
    assert solve_on_grid(np.repeat([0, 1], [40, 20]), scores) is None
