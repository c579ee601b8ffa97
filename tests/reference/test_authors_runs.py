"""Every stored run of the authors' code: never a higher loss, and solved wherever theirs is."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from boundshift import BoundaryWarning, Status, SupportRadius, find_boundary

DATA = Path(__file__).parent / "data"
ROOT = Path(__file__).parents[2]
SCORES = np.load(DATA / "authors_runs.npz")
RUNS = json.loads((DATA / "authors_runs.json").read_text(encoding="utf-8"))
CASES = [(run, slack) for run in RUNS for slack in ("binary", "continuous")]


def name(case):
    run, slack = case
    return f"{run['dataset']}-{run['seed']}-{slack}"


def solve(run, slack, **options):
    key = f"{run['dataset']}_{run['seed']}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        return find_boundary(
            SCORES[f"{key}/train_y"],
            SCORES[f"{key}/train_scores"],
            curve=SupportRadius.authors(slack=slack, **options),
        )


SOUND = [case for case in CASES if case[0][case[1]]["solution_found"]]
FIT = [case for case in CASES if case[0][case[1]]["is_fit"]]
UNFIT = [case for case in CASES if not case[0][case[1]]["is_fit"]]


def test_all_runs_are_stored():
    assert len(CASES) == 56


@pytest.mark.parametrize("case", SOUND, ids=name)
def test_loss_is_no_higher_than_the_authors(case):
    run, slack = case
    assert solve(run, slack).loss <= run[slack]["loss"] + 1e-9


@pytest.mark.parametrize("case", FIT, ids=name)
def test_solved_wherever_the_authors_are(case):
    assert solve(*case).status in (Status.OPTIMAL, Status.RELAXED)


@pytest.mark.parametrize("case", UNFIT, ids=name)
def test_the_full_budget_solves_what_the_authors_could_not(case):
    assert solve(*case, budget="all").status.solved


@pytest.mark.parametrize("case", [c for c in FIT if c[1] == "binary"], ids=name)
def test_the_default_solves_every_run(case):
    run, _ = case
    key = f"{run['dataset']}_{run['seed']}"
    found = find_boundary(SCORES[f"{key}/train_y"], SCORES[f"{key}/train_scores"])
    assert found.status.solved


def at_the_authors_level(run, slack):
    """Keep the points the authors kept, found anew from the scores."""
    theirs = run[slack]
    key = f"{run['dataset']}_{run['seed']}"
    y, s = SCORES[f"{key}/train_y"], SCORES[f"{key}/train_scores"]
    kept = []
    for label, m in ((0, theirs["num_reduced_1"]), (1, theirs["num_reduced_2"])):
        scores = s[y == label]
        order = np.argsort(np.abs(scores - scores.mean()))
        kept.append(scores[order[: len(scores) - m]])
    return kept


@pytest.mark.parametrize("case", FIT, ids=name)
def test_stored_radii_are_those_of_the_kept_points(case):
    run, slack = case
    kept = at_the_authors_level(run, slack)
    radii = [np.abs(c - c.mean()).max() for c in kept]
    assert radii == pytest.approx([run[slack]["R1"], run[slack]["R2"]], rel=1e-9)
