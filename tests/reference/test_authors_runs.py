"""Every stored run of the authors' code: never a higher loss, and solved wherever theirs is."""

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from boundshift import BoundaryWarning, Status, SupportRadius, find_boundary

DATA = Path(__file__).parent / "data"
SCORES = np.load(DATA / "authors_runs.npz")
RUNS = json.loads((DATA / "authors_runs.json").read_text(encoding="utf-8"))


def rows_of(run):
    key = f"{run['dataset']}_{run['seed']}"
    return SCORES[f"{key}/train_y"], SCORES[f"{key}/train_scores"]


def test_all_runs_are_stored():
    assert len(RUNS) == 28


@pytest.mark.parametrize("slack", ["binary", "continuous"])
@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{run['dataset']}-{run['seed']}")
def test_solved_wherever_the_authors_are_and_with_no_higher_loss(run, slack):
    (y, s) = rows_of(run)
    theirs = run[slack]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        authors = replace(SupportRadius.authors(), slack=slack)
        found = find_boundary(y, s, curve=authors)
        free = find_boundary(y, s, curve=replace(authors, budget="all"))
    assert free.status.solved  # the full budget solves what the authors could not
    if theirs["solution_found"]:
        assert found.loss <= theirs["loss"] + 1e-9
    if theirs["is_fit"]:
        assert found.status in (Status.OPTIMAL, Status.RELAXED)
        assert find_boundary(y, s).status.solved
        # The stored radii are those of the points that they kept, counted anew.
        for label, m, radius in (
            (0, theirs["num_reduced_1"], theirs["R1"]),
            (1, theirs["num_reduced_2"], theirs["R2"]),
        ):
            scores = s[y == label]
            order = np.argsort(np.abs(scores - scores.mean()))
            kept = scores[order[: len(scores) - m]]
            assert np.abs(kept - kept.mean()).max() == pytest.approx(radius, rel=1e-9)
