"""What the pages that compare with other packages rest on."""

import math

import numpy as np
import pytest

from lab.claims.controllers import (
    DEFAULT,
    OURS,
    ask_mapie,
    contenders,
    holds,
    is_kept,
    is_thrifty,
    simulate,
)
from lab.claims.row_costs import Costs, load
from lab.claims.simulation import SHAPES, Problem
from lab.claims.zones import conformal_limits, mapie_limits, summarise, true_shares
from lab.experiment import version_of

needs_mapie = pytest.mark.skipif(version_of("mapie") is None, reason="MAPIE is not installed")
needs_empulse = pytest.mark.skipif(version_of("empulse") is None, reason="empulse is not installed")


def test_the_same_draw_gives_the_same_rates():
    first = simulate({"recall": 0.8}, 200, 0.5, 3, with_mapie=False)
    assert first == simulate({"recall": 0.8}, 200, 0.5, 3, with_mapie=False)
    assert first[OURS] is not None


def test_without_mapie_only_floors_answer():
    assert list(contenders({"recall": 0.8}, with_mapie=False)) == [OURS]


@needs_mapie
@pytest.mark.parametrize("in_sequence", [False, True])
def test_mapie_keeps_a_recall_floor_among_its_own_rows(in_sequence):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 500)
    p = np.clip(rng.normal(0.3 + 0.4 * y, 0.15), 0, 1)
    threshold = ask_mapie({"recall": 0.8}, y, p, in_sequence)
    assert 0 < threshold < 0.7
    assert np.mean(p[y == 1] >= threshold) > 0.8


@needs_mapie
def test_mapie_has_no_answer_to_a_floor_out_of_reach():
    y = np.repeat([0, 1], 50)
    p = np.full(100, 0.5)
    assert ask_mapie({"precision": 0.9}, y, p, in_sequence=False) is None


def test_a_floor_holds_only_where_all_of_them_do():
    asked = {"recall": 0.7, "precision": 0.4}
    assert holds(asked, {"recall": 0.7, "precision": 0.4})
    assert not holds(asked, {"recall": 0.9, "precision": 0.39})


def test_verdicts_see_broken_promises_and_waste():
    side = {"p_value": 1e-9, "gain": -0.1, "gain_error": 0.01}
    fine = {"p_value": 0.3, "gain": -0.01, "gain_error": 0.01}
    bad, good = ([{"sides": {OURS: s, DEFAULT: s}}] for s in (side, fine))
    assert not is_kept(bad, OURS)
    assert not is_thrifty(bad, DEFAULT)
    assert is_kept(good, OURS)
    assert is_thrifty(good, DEFAULT)


def test_conformal_limits_err_as_promised_on_average():
    # Of n + 1 exchangeable scores each is equally often the new one: the error is exactly
    # 1 - rank / (n + 1) on average.
    problem = Problem.with_error(SHAPES["normal"], 0.25)
    rng = np.random.default_rng(0)
    errors = [
        true_shares(problem, conformal_limits(*problem.draw((39, 59), rng)))[:2]
        for _ in range(3000)
    ]
    np.testing.assert_allclose(np.mean(errors, axis=0), (0.05, 0.05), atol=0.002)


def test_too_few_rows_have_no_conformal_limit():
    low, high = conformal_limits(np.repeat([0, 1], 18), np.arange(36.0))
    assert (low, high) == (-math.inf, math.inf)


def test_shares_of_a_zone_agree_with_a_count():
    problem = Problem.with_error(SHAPES["skewed"], 0.2)
    y, scores = problem.draw((100_000, 100_000), np.random.default_rng(0))
    low, high = problem.distance / 2 - 0.5, problem.distance / 2 + 1
    unsure = np.mean((scores > low) & (scores <= high))
    counted = np.mean(scores[y == 0] > high), np.mean(scores[y == 1] <= low), unsure
    np.testing.assert_allclose(true_shares(problem, (low, high)), counted, atol=0.005)


@needs_mapie
def test_mapie_abstains_between_its_limits():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 1000)
    limits = mapie_limits(y, rng.normal(0.35 + 0.3 * y, 0.15))
    assert limits is not None
    assert 0.3 < limits[0] < limits[1] < 0.7


def test_no_answer_keeps_both_promises_and_leaves_all_unsure():
    summary = summarise([None, (0.06, 0.01, 0.2), (0.01, 0.06, 0.3)])
    assert summary["broken"] == [1, 1]
    assert summary["both_broken"] == 2
    assert summary["no_answer"] == 1
    assert summary["unsure"] == pytest.approx(0.5)


def test_savings_are_one_for_the_truth_and_zero_for_the_cheaper_constant():
    y = np.array([0, 0, 1])
    costs = Costs(np.zeros(3), np.zeros(3), np.array([1.0, 2.0, 3.0]), np.array([9.0, 9.0, 5.0]))
    assert costs.savings(y, y == 1) == 1
    assert costs.savings(y, np.array([True, True, True])) == 0
    assert costs.of_a_wrong_decision(y).tolist() == [1, 2, 5]


@needs_empulse
def test_savings_and_costs_agree_with_empulse():
    from empulse.metrics import savings_score

    _, _, y, costs = load("load_upsell_bank_telemarketing")
    flagged = np.random.default_rng(0).random(len(y)) < 0.3
    theirs = savings_score(y, flagged.astype(float), baseline="zero_one", **costs._asdict())
    assert costs.savings(y, flagged) == pytest.approx(theirs)
    assert costs.fp_cost.tolist() == [1.0] * len(y)
    assert costs.of_a_wrong_decision(y).min() >= 0
