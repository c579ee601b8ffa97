"""The goal of a report, against counts and bounds computed a second way."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest

from boundshift import BoundaryWarning, Cost, Floors, find_boundary
from boundshift.report import collect_facts, render_report
from boundshift.words import at_least, at_most, percent, read_names
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
    assert known["goal"]["word"] == "Not proved"
    assert " Not proved: " in known["goal"]["sentence"]


def test_a_floor_that_is_missed_says_by_how_much():
    y, s = rows()
    found = find_boundary(y, s, rule=Floors(recall=0.9))
    worse = s - 2.5  # rows of another kind
    known = collect_facts(y, s, boundary=found, test=(y, worse), names=NAMES)
    recall = np.mean(worse[y == 1] > found.threshold)
    assert recall < 0.9
    assert known["goal"]["state"] == "missed"
    assert (
        f"{100 * recall:.1f}% on the test rows, {90 - float(f'{100 * recall:.1f}'):.4g} points "
        "below the goal" in known["goal"]["sentence"]
    )


def test_points_are_those_between_the_printed_shares():
    y, s = rows()
    found = find_boundary(y, s, rule=Floors(recall=0.9))
    n = 29  # 28 of 29 are 96.55%: 96.6%, rounded down 96.5%
    few = np.repeat([0, 1], [200, n])
    at = np.concatenate([np.full(200, -9.0), np.full(n - 1, 9.0), [-9.0]])
    sentence = collect_facts(few, at, boundary=found, chosen_here=False)["goal"]["sentence"]
    assert "96.6% on the test rows, 6.6 points above the goal" in sentence


def test_a_share_that_rounds_to_the_goal_is_still_said_to_be_below():
    y, s = rows()
    found = find_boundary(y, s, rule=Floors(recall=0.9))
    few = np.repeat([0, 1], [200, 2000])
    at = np.concatenate([np.full(200, -9.0), np.full(1799, 9.0), np.full(201, -9.0)])
    sentence = collect_facts(few, at, boundary=found, chosen_here=False)["goal"]["sentence"]
    assert "Missed: 90.0% on the test rows, less than 0.1 points below the goal" in sentence


def test_the_headline_does_not_contradict_that_no_boundary_meets_the_floors():
    y, s = rows()
    with pytest.warns(BoundaryWarning, match="No boundary meets all floors"):
        found = find_boundary(y, s, rule=Floors(recall=0.95, precision=0.9))
    assert found.status.name == "UNMET"
    sure = np.where(y == 1, 9.0, -9.0)[-60:]  # rows on which every floor is reached
    goal = collect_facts(y[-60:], sure, boundary=found, chosen_here=False, names=NAMES)["goal"]
    assert goal["state"] == "reached"
    assert goal["word"] == "Not proved"
    assert "Reached" not in goal["sentence"]
    assert "On the rows that chose the threshold: no boundary meets" in goal["sentence"]


def test_bounds_of_several_floors_say_that_they_hold_together():
    known, _ = report_on(Floors(recall=0.8, specificity=0.8))
    told = known["goal"]["sentence"]
    assert told.count("with 95% confidence in all floors together") == 2
    one, _ = report_on(Floors(recall=0.8))
    assert "together" not in one["goal"]["sentence"]


def test_one_bound_is_one_figure_on_the_page():
    known, tested = report_on(Floors(recall=0.8))
    flagged, missed = errors_at(known, tested)
    most = [np.ceil(1000 * clopper_pearson(k, n, 0.05)) / 10
            for k, n in ((flagged, 800), (missed, 90))]  # fmt: skip
    page = render_report(known)
    prose = page.split("<script")[0]
    assert set(re.findall(r"at least ([\d.]+)% with", prose)) == {f"{100 - most[1]:.1f}"}
    sick = re.findall(r"misses at most ([\d.]+)% of sick", prose)
    assert sick[0] == f"{most[1]:.1f}"
    proof = next(f for f in known["diagnosis"]["findings"] if f["key"] == "proof")
    both = sum(clopper_pearson(k, n, 0.025) for k, n in ((flagged, 800), (missed, 90)))
    assert re.findall(r"([\d.]+)%", proof["text"]) == [
        "95", f"{np.ceil(1000 * both) / 10:.1f}", "100"
    ]  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 5000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_share_and_its_complement_add_up_to_a_hundred(counts):
    k, n = counts
    share = round(Fraction(1000 * k, n))
    assert percent(k / n) == f"{share // 10}.{share % 10}%"
    assert float(percent(k / n)[:-1]) + float(percent(1 - k / n)[:-1]) == pytest.approx(100)
    bound = clopper_pearson(k, n, 0.05)
    assert float(at_most(bound)[:-1]) + float(at_least(1 - bound)[:-1]) == pytest.approx(100)


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
    told = f"Lower cost: 1,000 decisions cost {now:.4g} instead of {before:.4g} at the model's own"
    assert told in known["goal"]["sentence"]


def test_a_lower_cost_is_shown_only_where_the_pairs_show_it():
    few = report_on(Cost(false_negative=20), test=(200, 20, 1))[0]["goal"]
    many = report_on(Cost(false_negative=20), test=(40_000, 4_000, 1))[0]["goal"]
    assert few["cost"]["difference"][1] > 0 > many["cost"]["difference"][1]
    assert (few["state"], many["state"]) == ("unsure", "better")
    assert many["word"] == "Lower cost than at the model's own threshold"
    assert few["word"] == f"{many['word']}, may be chance"
    assert "Met" not in many["sentence"]


def test_the_prevalence_of_the_rule_counts_the_alarms():
    known, tested = report_on(Cost(false_negative=20, prevalence=0.01))
    flagged, missed = errors_at(known, tested)
    hits, false = 0.01 * (1 - missed / 90), 0.99 * flagged / 800
    assert known["verdict"]["alarms"]["precision"] == pytest.approx(hits / (hits + false))
    assert f"a precision of {100 * hits / (hits + false):.1f}%" in known["verdict"]["sentence"]


def test_a_certified_half_beside_a_model_that_guesses_is_called_no_proof():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 30])
    with pytest.warns(BoundaryWarning, match="300 of 300 rows of class 0 are on the wrong side"):
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
