"""The goal of a report, against counts, bounds and metrics computed a second way."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn import metrics as sk
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    Cost,
    FBeta,
    Floors,
    InvalidInputError,
    Metric,
    find_boundary,
)
from boundshift._words import name_classes
from boundshift.report import collect_facts
from boundshift.rules import Rule
from tests.report.problems import TEST, amounts, clopper_pearson, report_on, rows

METRICS = {
    "f1": sk.f1_score,
    "f2": lambda y, p, **w: sk.fbeta_score(y, p, beta=2, **w),
    "mcc": sk.matthews_corrcoef,
    "kappa": sk.cohen_kappa_score,
    "sum": sk.balanced_accuracy_score,
}
RATES = {
    "recall": sk.recall_score,
    "specificity": lambda y, p: sk.recall_score(y, p, pos_label=0),
    "precision": sk.precision_score,
}


def predicted(facts):
    return (TEST[1] > facts["boundary"]["threshold"]).astype(int)


def wrong(facts):
    y, _ = TEST
    return [int(np.sum((predicted(facts) != y)[y == label])) for label in (0, 1)]


def both_at(metric, facts):
    """Return a metric at the threshold of a report and at the model's own threshold, 0."""
    y, s = TEST
    return [metric(y, made) for made in (predicted(facts), (s > 0.0).astype(int))]


@pytest.mark.parametrize(
    "asked", [{"rule": "g-mean"}, {"rule": None, "choice": {"curve": "paper"}}]
)
def test_a_rule_that_was_not_asked_for_is_no_goal(asked):
    assert report_on(**asked)["goal"] is None


@pytest.mark.parametrize("rule", [Floors(recall=0.8), Floors(flagged=0.2), Floors(precision=0.3)])
def test_a_floor_has_the_bound_of_its_counts_and_only_bounds_wear_the_badge(rule):
    known = report_on(rule)
    alarms, missed = wrong(known)
    flagged = 90 - missed + alarms
    bound = {
        "recall": 1 - clopper_pearson(missed, 90, 0.05),
        "flagged": clopper_pearson(flagged, 890, 0.05),
        "precision": 1 - clopper_pearson(alarms, flagged, 0.05),
    }
    floor = known["goal"]["floors"][0]
    assert floor["shown"] == pytest.approx(bound[floor["name"]])
    pieces = [part for bullet in known["verdict"]["bullets"] for part in bullet]
    bounds = [part for part in pieces + known["goal"]["parts"] if part["status"] == "certified"]
    assert [part["text"].startswith("in the long run at ") for part in bounds] == [True] * 3


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 40), st.integers(1, 40), st.floats(0.05, 1.0))
def test_a_floor_is_never_called_met_without_a_bound(missed, found, floor):
    n = missed + found
    y = np.repeat([0, 1], [50, n])
    s = np.concatenate([np.zeros(50 + missed), np.ones(found)])
    boundary = replace(find_boundary(*rows()), rule=Floors(recall=floor))
    shifted = s + boundary.threshold - 0.5
    state = collect_facts(y, shifted, boundary=boundary, chosen_here=False)["goal"]["state"]
    low = binomtest(found, n).proportion_ci(0.90).low
    assert (state == "met") == (low >= floor - 1e-12)
    assert (state == "missed") == (found / n < floor - 1e-12)


@pytest.mark.filterwarnings("ignore:`y_score` must be on the scale:boundshift.BoundaryWarning")
def test_the_headline_does_not_contradict_that_no_boundary_meets_the_floors():
    y, s = rows()
    with pytest.warns(BoundaryWarning, match="No threshold meets all floors"):
        found = find_boundary(y, s, rule=Floors(recall=0.95, precision=0.9))
    sure = np.where(y == 1, 9.0, -9.0)[-60:]  # rows on which every floor is reached
    goal = collect_facts(y[-60:], sure, boundary=found, chosen_here=False)["goal"]
    assert goal["state"] == "reached"
    assert "On the rows that chose the threshold: no threshold meets" in goal["sentence"]


def test_a_floor_that_is_guaranteed_is_not_called_unproved():
    found = find_boundary(*rows(), rule=Floors(recall=0.8))
    assert found.guaranteed
    few_rows = rows(200, 12, seed=1)
    known = collect_facts(*few_rows, boundary=found, chosen_here=False)
    goal = known["goal"]
    assert goal["floors"][0]["shown"] < 0.8
    assert (goal["state"], goal["word"]) == ("met", "Met")
    assert "guaranteed with 95% confidence when the threshold was chosen" in goal["sentence"]
    sentences = (known["diagnosis"]["next"], goal["sentence"])
    assert not any("not proved" in sentence.lower() for sentence in sentences)


def test_several_floors_share_the_risk():
    known = report_on(Floors(recall=0.8, precision=0.3), prevalence=0.1)
    flagged, missed = wrong(known)
    recall, precision = known["goal"]["floors"]
    assert recall["shown"] == pytest.approx(1 - clopper_pearson(missed, 90, 0.025))
    most = [clopper_pearson(k, n, 0.025 / 2) for k, n in ((flagged, 800), (missed, 90))]
    hits = 0.1 * (1 - most[1])
    assert precision["shown"] == pytest.approx(hits / (hits + 0.9 * most[0]))
    assert known["goal"]["sentence"].count("in all floors together") == 2


def test_a_guarantee_of_the_choice_itself_is_not_contradicted():
    y, s = rows()
    found = find_boundary(y, s, rule=Floors(recall=0.9))
    assert collect_facts(y, s, boundary=found)["goal"]["state"] == "met"
    by_folds = collect_facts(y, s, boundary=found, scores="out-of-fold")["goal"]
    assert by_folds["state"] == "reached"
    assert "this share is not certified" in by_folds["sentence"]


@pytest.mark.parametrize("rule", [Cost(false_negative=20), "f1"])
def test_what_may_be_chance_is_said_to_be(rule):
    few, many = (report_on(rule, test=rows(n, n // 10, 1))["goal"] for n in (100, 60_000))
    assert (few["state"], many["state"]) == ("unsure", "better")
    assert "chance" in few["sentence"]
    assert "chance" not in many["sentence"]


@pytest.mark.parametrize(
    ("names", "phrases"),
    [
        (("churners", "customers", None), ("churners", "other customers")),
        (("who churn", "customers", None), ("customers who churn", "other customers")),
        (("with a claim", "policies", None), ("policies with a claim", "other policies")),
        (("ill patients", "patients", None), ("ill patients", "other patients")),
        (("Kündiger", "Kunden", None), ("Kündiger", "other Kunden")),
        (("sick", None, None), ("sick rows", "other rows")),
        (("people with flu", None, None), ("people with flu", "other rows")),
        (("previous", None, None), ("previous rows", "other rows")),
        ((None, "customers", "churn"), ("customers with churn = 1", "customers with churn = 0")),
        ((None, None, None), ("rows labelled 1", "rows labelled 0")),
    ],
)
def test_names_read_naturally(names, phrases):
    positive, cases, target = names
    named = name_classes((b"0", 1), positive_name=positive, case_name=cases, target=target)
    assert (named.positives, named.negatives) == phrases


@pytest.mark.parametrize("rule", METRICS)
def test_the_goal_has_its_value_its_bound_and_that_of_the_own_threshold(rule):
    facts = report_on(rule)
    aim = facts["goal"]["aim"]
    assert [aim["now"], aim["before"]] == pytest.approx(both_at(METRICS[rule], facts))
    u, v = (clopper_pearson(k, n, 0.025) for k, n in zip(wrong(facts), (800, 90), strict=True))
    weight = [800 * (1 - u), 800 * u, 90 * v, 90 * (1 - v)]
    expected = METRICS[rule]([0, 0, 1, 1], [0, 1, 0, 1], sample_weight=weight)
    assert aim["shown"] == pytest.approx(expected)
    bound = f"at least {np.floor(1000 * expected) / 1000:.3f} with 95% confidence."
    assert bound in facts["goal"]["sentence"]


def test_a_metric_is_that_of_the_share_where_decisions_are_made():
    facts = report_on(FBeta(prevalence=0.01))
    y, _ = TEST
    weight = np.where(y == 1, 0.01 / 90, 0.99 / 800)
    expected = sk.f1_score(y, predicted(facts), sample_weight=weight)
    assert facts["goal"]["aim"]["now"] == pytest.approx(expected)
    assert "where 1.0% are sick patients" in facts["goal"]["sentence"]


def test_metrics_of_scikit_learn_are_told_and_not_certified():
    facts = report_on(Metric("jaccard"))
    aim = facts["goal"]["aim"]
    assert [aim["now"], aim["before"]] == pytest.approx(both_at(sk.jaccard_score, facts))
    assert aim["shown"] is None


def test_a_metric_of_scikit_learn_has_its_proper_name():
    sentence = report_on(Metric("matthews_corrcoef"))["goal"]["sentence"]
    assert "the greatest Matthews correlation coefficient" in sentence


def test_a_worse_metric_is_called_worse_and_a_better_one_unsure_on_rows_that_chose():
    y, s = rows()
    found = find_boundary(y, s, rule="f1")
    seen = collect_facts(y, s, boundary=found, old_threshold=0.0)
    assert seen["goal"]["state"] == "unsure"
    facts = collect_facts(y, s, boundary=found, test=(y, s + 3.0), old_threshold=3.5)
    assert facts["goal"]["state"] == "worse"
    assert facts["judgement"]["advice"] == "own threshold"


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_rate_that_comes_after_floors_is_told_as_itself(rate):
    facts = report_on(Floors(recall=0.5, then=rate))
    now, before = both_at(RATES[rate], facts)
    aim = facts["goal"]["aim"]
    assert (aim["now"], aim["before"]) == pytest.approx((now, before))
    assert aim["difference"][0] <= now - before <= aim["difference"][1]
    lead = facts["judgement"]["lead"]
    assert (lead["ours"], lead["theirs"]) == pytest.approx((now, before))


def test_a_classifier_fitted_by_row_costs_reports_them():
    rng = np.random.default_rng(5)
    y = (rng.random(1200) < 0.25).astype(int)
    X = rng.normal(size=(1200, 2)) + y[:, None]
    paid = amounts(1200, 2)
    (X, X_test), (y, y_test), (paid, owed) = (np.split(each, 2) for each in (X, y, paid))
    model = BoundShiftClassifier(LogisticRegression())
    with pytest.raises(InvalidInputError, match=r"`row_cost` must be given to report exactly"):
        model.fit(X, y).report(X_test, y_test, row_cost=owed)
    model.fit(X, y, row_cost=paid)
    facts = model.report(X_test, y_test, row_cost=owed).facts
    lost = 1000 * np.mean(owed * (model.predict(X_test) != y_test))
    assert facts["goal"]["aim"]["now"] == pytest.approx(lost)
    with pytest.raises(InvalidInputError, match=r"`row_cost` must be given to report exactly"):
        model.report(X_test, y_test)


@dataclass(frozen=True)
class Squares(Rule):
    name = "squares"

    def value(self, negative, positive, n_samples):
        return negative**2 + positive**2


def test_a_rule_of_your_own_gets_value_bound_and_comparison():
    facts = report_on(Squares())
    aim = facts["goal"]["aim"]
    counts = list(zip(wrong(facts), (800, 90), strict=True))
    assert aim["now"] == pytest.approx(sum((k / n) ** 2 for k, n in counts))
    bounds = [clopper_pearson(k, n, 0.025) for k, n in counts]
    assert aim["shown"] == pytest.approx(sum(bound**2 for bound in bounds))
    assert facts["judgement"]["lead"]["best"] is not None
