"""The goal of a report, against counts and bounds computed a second way."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from boundshift import Cost, Floors, find_boundary
from boundshift.report import collect_facts, render_report
from boundshift.view.words import read_names
from tests.report.problems import NAMES, clopper_pearson, rows


def report_on(rule, test=(800, 90, 1), **settings):
    y, s = rows()
    found = find_boundary(y, s, rule=rule)
    tested = rows(*test[:2], seed=test[2])
    return collect_facts(y, s, boundary=found, test=tested, names=NAMES, **settings), tested


def errors_at(known, tested):
    (y, s), t = tested, known["boundary"]["threshold"]
    return int(np.sum(s[y == 0] > t)), int(np.sum(s[y == 1] <= t))


def test_a_rule_without_a_goal_has_none():
    assert report_on("g-mean")[0]["goal"] is None


def test_a_floor_is_met_where_its_bound_is():
    known, tested = report_on(Floors(recall=0.8))
    _, missed = errors_at(known, tested)
    shown = 1 - clopper_pearson(missed, 90, 0.05)
    goal = known["goal"]
    assert shown >= 0.8
    assert goal["state"] == "met"
    assert goal["floors"][0]["shown"] == pytest.approx(shown)
    low = np.floor(1000 * shown) / 10
    assert goal["sentence"] == (
        "Goal: find at least 80% of sick patients. Met: "
        f"{100 * (90 - missed) / 90:.1f}% on the test rows; in the long run at least {low}% with "
        f"95% confidence, {low - 80:.1f} points above the goal."
    )


def test_a_floor_that_only_the_rows_reach_is_not_called_met():
    known, tested = report_on(Floors(recall=0.9), test=(800, 20, 1))
    _, missed = errors_at(known, tested)
    assert 1 - missed / 20 >= 0.9 > 1 - clopper_pearson(missed, 20, 0.05)
    assert known["goal"]["state"] == "reached"
    assert "Reached, not proved" in known["goal"]["sentence"]


def test_a_floor_that_is_missed_says_by_how_much():
    y, s = rows()
    found = find_boundary(y, s, rule=Floors(recall=0.9))
    worse = s - 2.5  # rows of another kind
    known = collect_facts(y, s, boundary=found, test=(y, worse), names=NAMES)
    recall = np.mean(worse[y == 1] > found.threshold)
    assert recall < 0.9
    assert known["goal"]["state"] == "missed"
    assert (
        f"{90 - np.floor(1000 * recall) / 10:.1f} points below the goal"
        in (known["goal"]["sentence"])
    )


def test_several_floors_share_the_risk():
    known, tested = report_on(Floors(recall=0.8, precision=0.3), prevalence=0.1)
    flagged, missed = errors_at(known, tested)
    recall, precision = known["goal"]["floors"]
    assert recall["shown"] == pytest.approx(1 - clopper_pearson(missed, 90, 0.025))
    most = [clopper_pearson(k, n, 0.025 / 3) for k, n in ((flagged, 800), (missed, 90))]
    hits, false = 0.1 * (1 - most[1]), 0.9 * most[0]
    assert precision["shown"] == pytest.approx(hits / (hits + false))


def test_a_promise_of_the_choice_itself_is_not_contradicted():
    y, s = rows()
    found = find_boundary(y, s, rule=Floors(recall=0.9))
    known = collect_facts(y, s, boundary=found)
    assert found.status.name == "OPTIMAL"
    assert known["goal"]["state"] == "met"
    by_folds = collect_facts(y, s, boundary=found, scores="out-of-fold")["goal"]
    assert by_folds["state"] == "reached"
    assert "nothing is certified" in by_folds["sentence"]


def test_costs_are_told_per_thousand_decisions():
    known, tested = report_on(Cost(false_positive=1, false_negative=20))
    (y, s), t = tested, known["boundary"]["threshold"]
    now = 1000 * np.mean(np.where(y == 1, 20 * (s <= t), s > t))
    before = 1000 * np.mean(np.where(y == 1, 20 * (s <= 0), s > 0))
    cost = known["goal"]["cost"]
    assert (cost["now"], cost["before"]) == pytest.approx((now, before))
    flagged, missed = errors_at(known, tested)
    p = 90 / 890
    most = [beta.isf(0.05 / 3, k + 1, n - k) for k, n in ((flagged, 800), (missed, 90))]
    assert cost["at_most"] == pytest.approx(1000 * (20 * p * most[1] + (1 - p) * most[0]))
    assert f"1,000 decisions cost {now:.4g} instead of {before:.4g}" in known["goal"]["sentence"]


def test_a_lower_cost_is_met_only_where_the_pairs_show_it():
    few = report_on(Cost(1, 20), test=(200, 20, 1))[0]["goal"]
    many = report_on(Cost(1, 20), test=(40_000, 4_000, 1))[0]["goal"]
    assert few["cost"]["difference"][1] > 0 > many["cost"]["difference"][1]
    assert (few["state"], many["state"]) == ("reached", "met")


def test_the_prevalence_of_the_rule_counts_the_alarms():
    known, tested = report_on(Cost(1, 20, prevalence=0.01))
    flagged, missed = errors_at(known, tested)
    hits, false = 0.01 * (1 - missed / 90), 0.99 * flagged / 800
    assert known["verdict"]["alarms"]["precision"] == pytest.approx(hits / (hits + false))
    assert f"a precision of {100 * hits / (hits + false):.1f}%" in known["verdict"]["sentence"]


def test_a_certified_half_beside_a_model_that_guesses_is_called_no_proof():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 30])
    found = find_boundary(y, rng.normal(size=330), rule=Floors(recall=0.9))
    known = collect_facts(y, rng.normal(size=330), boundary=found, chosen_here=False)
    assert known["verdict"]["status"] == "certified"
    assert known["diagnosis"]["good_enough"] in ("no", "unproved")
    assert "do not show that it is better than guessing" in known["verdict"]["caution"]
    page = render_report(known)
    first = page.index(known["verdict"]["caution"])
    assert first < page.index('id="try"')


def test_only_the_bound_wears_the_badge():
    known, _ = report_on(Floors(recall=0.8))
    for parts in (known["verdict"]["parts"], known["goal"]["parts"]):
        claimed = [part["text"] for part in parts if part["status"] == "certified"]
        assert len(claimed) == 1
        assert claimed[0].startswith("in the long run at ")
    page = render_report(known)
    verdict = page[page.index('id="goal-title"') : page.index('id="try"')]
    assert verdict.count('class="badge certified"') == 2
    assert verdict.count('class="covered"') == 2


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 40), st.integers(1, 40), st.floats(0.05, 1.0))
def test_a_floor_is_never_called_met_without_a_bound(missed, found, floor):
    n = missed + found
    y = np.repeat([0, 1], [50, n])
    s = np.concatenate([np.zeros(50), np.zeros(missed), np.ones(found)])
    boundary = replace(find_boundary(*rows()), rule=Floors(recall=floor))
    known = collect_facts(y, s + boundary.threshold - 0.5, boundary=boundary, chosen_here=False)[
        "goal"
    ]
    low = binomtest(found, n).proportion_ci(0.90).low
    assert (known["state"] == "met") == (low >= floor - 1e-12)
    assert (known["state"] == "missed") == (found / n < floor - 1e-12)


def test_names_read_naturally():
    told = read_names({"positive": "churners", "unit": "customers"}, (0, 1))
    assert (told.positives, told.negatives) == ("churners", "other customers")
    assert told.title == "Telling churners from other customers"
    cases = {
        "sick": "sick patients",
        "diabetes": "diabetes patients",
        "people with flu": "people with flu",
        "ill patients": "ill patients",
        "previous": "previous patients",
    }
    for name, phrase in cases.items():
        assert read_names({"positive": name, "unit": "patients"}, (0, 1)).positives == phrase
