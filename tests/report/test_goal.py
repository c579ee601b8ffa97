"""The goal of a report, against counts, bounds and metrics computed a second way."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binomtest
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
from boundshift.report import Report, collect_facts
from boundshift.rules import Rule
from tests.report.problems import NAMES, amounts, clopper_pearson, rows

METRICS = {
    "f1": ("F1", sk.f1_score),
    "f2": ("F2", lambda y, p, **w: sk.fbeta_score(y, p, beta=2, **w)),
    "mcc": ("Matthews correlation (MCC)", sk.matthews_corrcoef),
    "kappa": ("Cohen's kappa", sk.cohen_kappa_score),
    "sum": ("balanced accuracy", sk.balanced_accuracy_score),
}
RATES = {
    "recall": sk.recall_score,
    "specificity": lambda y, p: sk.recall_score(y, p, pos_label=0),
    "precision": sk.precision_score,
}


def report_on(rule, test=(800, 90, 1), prevalence=None, **settings):
    y, s = rows()
    found = find_boundary(y, s, rule=rule, **settings)
    tested = rows(*test[:2], seed=test[2])
    known = {"test": tested, **NAMES, "prevalence": prevalence, "old_threshold": 0.0}
    return collect_facts(y, s, boundary=found, **known), tested


def errors_at(facts, tested):
    (y, s) = tested
    t = facts["boundary"]["threshold"]
    return int(np.sum(s[y == 0] > t)), int(np.sum(s[y == 1] <= t))


def both_at(metric, tested, facts, **counted):
    (y, s) = tested
    t = facts["boundary"]["threshold"]
    return [metric(y, (s > cut).astype(int), **counted) for cut in (t, 0.0)]


def certified(goal):
    return [part["text"] for part in goal["parts"] if part["status"] == "certified"]


@pytest.mark.parametrize("asked", [{"rule": "g-mean"}, {"rule": None, "curve": "paper"}])
def test_a_rule_that_was_not_asked_for_is_no_goal(asked):
    assert report_on(**asked)[0]["goal"] is None


def test_a_floor_is_met_where_its_bound_is():
    known, tested = report_on(Floors(recall=0.8))
    flagged, missed = errors_at(known, tested)
    shown = 1 - clopper_pearson(missed, 90, 0.05)
    goal = known["goal"]
    assert shown >= 0.8
    assert goal["state"] == "met"
    assert goal["floors"][0]["shown"] == pytest.approx(shown)
    low = np.floor(1000 * shown) / 10
    assert goal["sentence"] == (
        "Goal: find at least 80% of sick patients (recall). Met: "
        f"{100 * (90 - missed) / 90:.1f}% on the test rows; in the long run at least {low}% with "
        "95% confidence."
    )
    # One bound is one figure on the page.
    prose = Report(known).html.split("<script")[0]
    assert set(re.findall(r"at least ([\d.]+)% with", prose)) == {f"{low:.1f}"}
    proof = next(f for f in known["diagnosis"]["findings"] if f["key"] == "proof")
    both = sum(clopper_pearson(k, n, 0.025) for k, n in ((flagged, 800), (missed, 90)))
    assert f"at most {np.ceil(1000 * both) / 10:.1f}% in the long run" in proof["text"]
    # Only bounds wear the badge.
    for said, starts in ((known["verdict"], ("in the long run at ", "Of the next 100")),
                         (goal, ("in the long run at ",))):  # fmt: skip
        for part, start in zip(certified(said), starts, strict=True):
            assert part.startswith(start)
    verdict = prose[prose.index('id="goal-title"') : prose.index('id="try"')]
    assert verdict.count('class="badge certified"') == verdict.count('class="covered"') == 3


@pytest.mark.parametrize("rule", [Floors(flagged=0.2), Floors(precision=0.3)])
def test_a_rate_of_all_rows_has_the_bound_of_its_counts(rule):
    known, (y, s) = report_on(rule)
    is_flagged = s > known["boundary"]["threshold"]
    k = int(is_flagged.sum())
    n = len(y)
    alarms = int(is_flagged[y == 0].sum())
    bound = clopper_pearson(k, n, 0.05) if rule.flagged else 1 - clopper_pearson(alarms, k, 0.05)
    assert known["goal"]["floors"][0]["shown"] == pytest.approx(bound)


def test_the_headline_does_not_contradict_that_no_boundary_meets_the_floors():
    y, s = rows()
    with pytest.warns(BoundaryWarning, match="No threshold meets all floors"):
        found = find_boundary(y, s, rule=Floors(recall=0.95, precision=0.9))
    sure = np.where(y == 1, 9.0, -9.0)[-60:]  # rows on which every floor is reached
    goal = collect_facts(y[-60:], sure, boundary=found, chosen_here=False, **NAMES)["goal"]
    assert (goal["state"], goal["word"]) == ("reached", "Not proved")
    assert "Reached" not in goal["sentence"]
    assert "On the rows that chose the threshold: no threshold meets" in goal["sentence"]


def test_several_floors_share_the_risk_and_say_so():
    known, tested = report_on(Floors(recall=0.8, precision=0.3), prevalence=0.1)
    flagged, missed = errors_at(known, tested)
    recall, precision = known["goal"]["floors"]
    assert recall["shown"] == pytest.approx(1 - clopper_pearson(missed, 90, 0.025))
    most = [clopper_pearson(k, n, 0.025 / 2) for k, n in ((flagged, 800), (missed, 90))]
    hits = 0.1 * (1 - most[1])
    false = 0.9 * most[0]
    assert precision["shown"] == pytest.approx(hits / (hits + false))
    assert known["goal"]["sentence"].count("95% confidence in all floors together") == 2
    assert "together" not in report_on(Floors(recall=0.8))[0]["goal"]["sentence"]


def test_a_promise_of_the_choice_itself_is_not_contradicted():
    y, s = rows()
    found = find_boundary(y, s, rule=Floors(recall=0.9))
    assert collect_facts(y, s, boundary=found)["goal"]["state"] == "met"
    by_folds = collect_facts(y, s, boundary=found, scores="out-of-fold")["goal"]
    assert by_folds["state"] == "reached"
    assert "this share is not certified" in by_folds["sentence"]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 40), st.integers(1, 40), st.floats(0.05, 1.0))
def test_a_floor_is_never_called_met_without_a_bound(missed, found, floor):
    n = missed + found
    y = np.repeat([0, 1], [50, n])
    s = np.concatenate([np.zeros(50), np.zeros(missed), np.ones(found)])
    boundary = replace(find_boundary(*rows()), rule=Floors(recall=floor))
    shifted = s + boundary.threshold - 0.5
    state = collect_facts(y, shifted, boundary=boundary, chosen_here=False)["goal"]["state"]
    low = binomtest(found, n).proportion_ci(0.90).low
    assert (state == "met") == (low >= floor - 1e-12)
    assert (state == "missed") == (found / n < floor - 1e-12)


def test_costs_are_told_per_thousand_decisions():
    known, tested = report_on(Cost(false_positive=1, false_negative=20))
    (y, s) = tested
    t = known["boundary"]["threshold"]
    now = 1000 * np.mean(np.where(y == 1, 20 * (s <= t), s > t))
    before = 1000 * np.mean(np.where(y == 1, 20 * (s <= 0), s > 0))
    cost = known["goal"]["aim"]
    assert (cost["now"], cost["before"]) == pytest.approx((now, before))
    p = 90 / 890
    counts = zip(errors_at(known, tested), (800, 90), strict=True)
    most = [beta.isf(0.05 / 2, k + 1, n - k) for k, n in counts]
    assert cost["shown"] == pytest.approx(1000 * (20 * p * most[1] + (1 - p) * most[0]))
    assert (
        f"Lower cost: 1,000 decisions cost {now:.4g} on the test rows instead of {before:.4g} at "
        "the model's own threshold"
    ) in known["goal"]["sentence"]
    assert "in the long run, where 10.1% are sick patients, at most" in certified(known["goal"])[0]


@pytest.mark.parametrize(
    ("rule", "word"), [(Cost(false_negative=20), "Lower cost"), ("f1", "Better")]
)
def test_what_may_be_chance_is_said_to_be(rule, word):
    few, many = (report_on(rule, test=(n, n // 10, 1))[0]["goal"] for n in (100, 60_000))
    assert (few["state"], many["state"]) == ("unsure", "better")
    assert few["sentence"].endswith("so it may be chance.")
    assert many["word"] == f"{word} than at the model's own threshold"
    assert few["word"].endswith("may be chance")
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
    told = name_classes((0, 1), positive_name=positive, case_name=cases, target=target)
    assert (told.positives, told.negatives) == phrases
    assert name_classes((b"0", b"1")).positives == "rows labelled 1"


@pytest.mark.parametrize("rule", METRICS)
def test_the_first_sentence_says_goal_value_bound_and_the_untouched_models(rule):
    title, metric = METRICS[rule]
    facts, tested = report_on(rule)
    now, before = both_at(metric, tested, facts)
    assert facts["goal"]["sentence"].startswith(
        f"Goal: the greatest {title}. Better: {now:.3f} on the test rows instead of {before:.3f} "
        "at the model's own threshold; in the long run"
    )
    counts = zip(errors_at(facts, tested), (800, 90), strict=True)
    u, v = (clopper_pearson(k, n, 0.025) for k, n in counts)
    weight = [800 * (1 - u), 800 * u, 90 * v, 90 * (1 - v)]
    expected = metric([0, 0, 1, 1], [0, 1, 0, 1], sample_weight=weight)
    assert facts["goal"]["aim"]["shown"] == pytest.approx(expected)
    bound = f"at least {np.floor(1000 * expected) / 1000:.3f} with 95% confidence."
    assert [bound in text for text in certified(facts["goal"])] == [True]


def test_a_metric_is_that_of_the_share_where_decisions_are_made():
    facts, (y, s) = report_on(FBeta(prevalence=0.01))
    weight = np.where(y == 1, 0.01 / 90, 0.99 / 800)
    predicted = (s > facts["boundary"]["threshold"]).astype(int)
    expected = sk.f1_score(y, predicted, sample_weight=weight)
    assert facts["goal"]["aim"]["now"] == pytest.approx(expected)
    assert "where 1.0% are sick patients" in facts["goal"]["sentence"]


def test_metrics_of_scikit_learn_are_told_and_not_certified():
    facts, tested = report_on(Metric("jaccard"))
    now, before = both_at(sk.jaccard_score, tested, facts)
    assert facts["goal"]["sentence"].startswith(
        f"Goal: the greatest jaccard. Better: {now:.3f} on the test rows instead of {before:.3f} "
        "at the model's own threshold. The difference"
    )
    assert facts["goal"]["aim"]["shown"] is None


def test_a_worse_metric_is_called_worse_and_a_better_one_unsure_on_rows_that_chose():
    y, s = rows()
    found = find_boundary(y, s, rule="f1")
    seen = collect_facts(y, s, boundary=found, old_threshold=0.0)
    assert seen["goal"]["state"] == "unsure"
    facts = collect_facts(y, s, boundary=found, test=(y, s + 3.0), old_threshold=3.5)
    assert facts["goal"]["state"] == "worse"
    assert ". Worse: " in facts["goal"]["sentence"]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_rate_that_comes_after_floors_is_told_as_itself(rate):
    facts, tested = report_on(Floors(recall=0.5, then=rate))
    now, before = both_at(RATES[rate], tested, facts)
    told = f"{rate.capitalize()}: {100 * now:.1f}% on the test rows instead of {100 * before:.1f}%"
    assert f"and then the greatest {rate}. " in facts["goal"]["sentence"]
    assert told in facts["goal"]["sentence"]
    low, high = facts["goal"]["aim"]["difference"]
    assert low <= now - before <= high
    lead = f"By {rate}, ours is {'ahead of' if now > before else 'behind'} the model's own"
    assert lead in facts["comparison"]["lead"]


def lead(rule, **others):
    y, s = rows()
    found = find_boundary(y, s, rule=rule)
    cuts = {"boundshift": found.threshold} | others
    methods = [{"method": name, "threshold": cut} for name, cut in cuts.items()]
    facts = collect_facts(y, s, boundary=found, test=rows(seed=1), comparison=methods)
    return facts["comparison"]["lead"]


def test_methods_are_asked_first_whether_they_keep_the_floors():
    start = "The others may have had another goal. "
    reach = "reach this one on these rows; ours does."
    assert lead(Floors(recall=0.9), high=3.0) == f"{start}0 of 1 {reach}"
    told = lead(Floors(recall=0.9), high=3.0, low=-9.0)
    assert told.startswith(f"{start}1 of 2 {reach} By G-mean, ours is ahead of low: ")


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
    assert f"1,000 decisions cost {lost:,.0f} on the test rows" in facts["goal"]["sentence"]
    with pytest.raises(InvalidInputError, match=r"`row_cost` must be given to report exactly"):
        model.report(X_test, y_test)


@dataclass(frozen=True)
class Squares(Rule):
    name = "squares"

    def value(self, negative, positive, n_samples):
        return negative**2 + positive**2


def test_a_rule_of_your_own_gets_value_bound_and_comparison():
    facts, tested = report_on(Squares())
    (y, s) = tested
    t = facts["boundary"]["threshold"]
    now, before = (np.mean(s[y == 0] > c) ** 2 + np.mean(s[y == 1] <= c) ** 2 for c in (t, 0.0))
    assert facts["goal"]["sentence"].startswith(
        "Goal: the value of the rule “squares” as low as possible. Better: "
        f"{now:.3f} on the test rows instead of {before:.3f} at the model's own threshold"
    )
    most = zip(errors_at(facts, tested), (800, 90), strict=True)
    shown = sum(clopper_pearson(k, n, 0.025) ** 2 for k, n in most)
    assert facts["goal"]["aim"]["shown"] == pytest.approx(shown)
    assert "By the value of the rule “squares”, ours is ahead" in facts["comparison"]["lead"]
