"""Every stored run of the authors' code: never a higher loss, and solved wherever theirs is."""

import importlib.util
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


def table():
    path = ROOT / "lab" / "evidence" / "authors_table.py"
    spec = importlib.util.spec_from_file_location("authors_table", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_table_in_the_docs_is_what_the_script_makes():
    page = ROOT / "docs" / "reference_comparison.md"
    assert page.read_text(encoding="utf-8") == table().page()


def test_every_difference_has_a_cause():
    rows = table().rows()
    assert len(rows) == len(CASES)
    assert all(row.cause for row in rows)


def test_dropped_grid_points_are_on_the_constraint_but_for_a_rounding_error():
    module = table()
    dropped = [row for row in module.rows() if "was dropped" in row.cause]
    assert len(dropped) > 5
    for row in dropped:
        best, _ = module.best_grid_point(row.ours)
        assert abs(module.residual(best, row.theirs)) < 1e-14 * row.theirs["D"]


def test_chosen_grid_points_are_on_the_constraint_where_the_run_says_so():
    module = table()
    for run, slack in FIT:
        theirs = run[slack]
        is_on = abs(module.residual(theirs["delta1"], theirs)) < 1e-14 * theirs["D"]
        assert is_on == theirs["solution_found"]
