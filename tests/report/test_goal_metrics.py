"""The first sentence of a report whose goal is a metric, or costs or weights by row."""

import numpy as np
import pytest
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
from boundshift.report import collect_facts, render_report
from boundshift.report.evidence import RowDetails
from tests.report.problems import NAMES, clopper_pearson, rows

METRICS = {
    "f1": ("F1", sk.f1_score),
    "f2": ("F2", lambda y, p, **w: sk.fbeta_score(y, p, beta=2, **w)),
    "mcc": ("Matthews correlation (MCC)", sk.matthews_corrcoef),
    "kappa": ("Cohen's kappa", sk.cohen_kappa_score),
    "youden": (
        "Youden's J",
        lambda y, p, **w: 2 * sk.balanced_accuracy_score(y, p, **w) - 1,
    ),
    "sum": ("balanced accuracy", sk.balanced_accuracy_score),
    "g-mean": (
        "G-mean",
        lambda y, p, **w: np.prod(sk.recall_score(y, p, average=None, **w)) ** 0.5,
    ),
}


def report_on(rule, test=(800, 90, 1), details=None, sizes=(), **settings):
    y, s = rows(*sizes)
    found = find_boundary(y, s, rule=rule, **settings)
    tested = rows(*test[:2], seed=test[2])
    facts = collect_facts(y, s, boundary=found, test=tested, names=NAMES, details=details)
    return facts, tested


def both_at(metric, tested, facts, **counted):
    (y, s), t = tested, facts["boundary"]["threshold"]
    return [metric(y, (s > cut).astype(int), **counted) for cut in (t, 0.0)]


@pytest.mark.parametrize("rule", ["f1", "f2", "mcc", "kappa", "youden", "sum"])
def test_the_first_sentence_says_goal_value_and_the_untouched_models(rule):
    title, metric = METRICS[rule]
    facts, tested = report_on(rule)
    now, before = both_at(metric, tested, facts)
    assert facts["goal"]["sentence"].startswith(
        f"Goal: the greatest {title}. Better: {now:.3f} on the test rows instead of {before:.3f} "
        "at the model's own threshold; in the long run"
    )
    page = render_report(facts)
    assert page.index("The goal") < page.index("The verdict")


@pytest.mark.parametrize("rule", ["f1", "mcc", "youden"])
def test_what_is_certified_is_the_metric_at_both_bounds(rule):
    facts, (y, s) = report_on(rule)
    t = facts["boundary"]["threshold"]
    counts = ((np.sum(s[y == 0] > t), 800), (np.sum(s[y == 1] <= t), 90))
    u, v = (clopper_pearson(int(k), n, 0.025) for k, n in counts)
    hits, false, missed, spared = 90 * (1 - v), 800 * u, 90 * v, 800 * (1 - u)
    weight = [spared, false, missed, hits]
    metric = METRICS[rule][1]
    expected = metric([0, 0, 1, 1], [0, 1, 0, 1], sample_weight=weight)
    assert facts["goal"]["aim"]["shown"] == pytest.approx(expected)
    claimed = [p["text"] for p in facts["goal"]["parts"] if p["status"] == "certified"]
    assert len(claimed) == 1
    assert f"at least {np.floor(1000 * expected) / 1000:.3f} with 95% confidence." in claimed[0]


def test_a_metric_is_that_of_the_share_where_decisions_are_made():
    facts, (y, s) = report_on(FBeta(prevalence=0.01))
    weight = np.where(y == 1, 0.01 / 90, 0.99 / 800)
    predicted = (s > facts["boundary"]["threshold"]).astype(int)
    assert facts["goal"]["aim"]["now"] == pytest.approx(
        sk.f1_score(y, predicted, sample_weight=weight)
    )
    assert "where 1.0% are sick patients" in facts["goal"]["sentence"]


def test_metrics_of_scikit_learn_are_told_and_not_certified():
    facts, tested = report_on(Metric("jaccard"))
    now, before = both_at(sk.jaccard_score, tested, facts)
    assert facts["goal"]["sentence"].startswith(
        f"Goal: the greatest jaccard. Better: {now:.3f} on the test rows instead of {before:.3f} "
        "at the model's own threshold. The difference"
    )
    assert facts["goal"]["aim"]["shown"] is None


def test_the_larger_error_is_to_be_low():
    facts, (y, s) = report_on("minimax")
    t = facts["boundary"]["threshold"]
    worse = [max(np.mean(s[y == 0] > cut), np.mean(s[y == 1] <= cut)) for cut in (t, 0.0)]
    assert facts["goal"]["sentence"].startswith(
        "Goal: the larger of the two error rates as low as possible. Better: "
        f"{100 * worse[0]:.1f}% on the test rows instead of {100 * worse[1]:.1f}%"
    )


def test_what_may_be_chance_is_said_to_be():
    few, many = (report_on("f1", test=(n, n // 10, 1))[0]["goal"] for n in (300, 60_000))
    assert few["word"].endswith("may be chance")
    assert few["sentence"].endswith("so that it may be chance.")
    assert many["state"] == "better"
    assert many["word"] == "Better than at the model's own threshold"
    assert "chance" not in many["sentence"]


def test_rows_that_chose_the_threshold_prove_nothing_better():
    y, s = rows()
    facts = collect_facts(y, s, boundary=find_boundary(y, s, rule="youden"), names=NAMES)
    assert facts["goal"]["state"] == "unsure"
    assert "on the rows that chose the threshold" in facts["goal"]["sentence"]


def test_a_worse_metric_is_called_worse():
    y, s = rows()
    found = find_boundary(y, s, rule="f1")
    facts = collect_facts(y, s, boundary=found, test=(y, s + 3.0), old_threshold=3.5)
    assert facts["goal"]["state"] == "worse"
    assert ". Worse: " in facts["goal"]["sentence"]


def test_what_comes_after_floors_is_told_after_them():
    facts, tested = report_on(Floors(recall=0.8, then="f1"))
    now, before = both_at(sk.f1_score, tested, facts)
    wish = "Goal: find at least 80% of sick patients and then the greatest F1. Met: "
    assert facts["goal"]["sentence"].startswith(wish)
    told = f"F1: {now:.3f} on the test rows instead of {before:.3f} at the model's own threshold"
    assert told in facts["goal"]["sentence"]
    assert facts["goal"]["word"] == "Met"


RATES = {
    "recall": sk.recall_score,
    "specificity": lambda y, p: sk.recall_score(y, p, pos_label=0),
    "precision": sk.precision_score,
}


@pytest.mark.parametrize("rate", RATES)
def test_a_rate_that_comes_after_floors_is_told_as_itself(rate):
    if rate == "recall":
        # Nothing else is asked for, so nearly every row is flagged, and that is said.
        with pytest.warns(BoundaryWarning, match="nearly every row is predicted as 1"):
            facts, tested = report_on(Floors(recall=0.5, then=rate))
    else:
        facts, tested = report_on(Floors(recall=0.5, then=rate))
    now, before = both_at(RATES[rate], tested, facts)
    sentence = facts["goal"]["sentence"]
    assert f"and then the greatest {rate}. " in sentence
    told = f"{rate.capitalize()}: {100 * now:.1f}% on the test rows instead of {100 * before:.1f}%"
    assert told in sentence
    low, high = facts["goal"]["aim"]["difference"]
    assert low <= now - before <= high
    one_lead = f"By {rate}, ours is {'ahead of' if now > before else 'behind'} model's own"
    assert one_lead in facts["comparison"]["paired"]["lead"]


def test_the_rule_of_a_curve_that_was_not_asked_for_is_no_goal():
    assert report_on(None, curve="paper")[0]["goal"] is None


def amounts(n, seed):
    return np.random.default_rng(seed).gamma(2, 30, n)


def test_costs_by_row_are_told_in_their_unit_for_a_thousand_decisions():
    y, _ = rows()
    paid = amounts(890, 7)
    facts, (y_test, s_test) = report_on(
        None,
        row_cost=amounts(len(y), 3),
        details=RowDetails(row_cost=paid, column="amount"),
    )
    cuts = facts["boundary"]["threshold"], 0.0
    now, before = (1000 * np.mean(paid * ((s_test > cut) != (y_test == 1))) for cut in cuts)
    word = "Lower cost" if now < before else "Higher cost"
    share = f"{100 * abs(1 - now / before):.1f}% {'less' if now < before else 'more'}"
    assert facts["goal"]["sentence"].startswith(
        f"Goal: the least cost of wrong decisions, by column 'amount'. {word}: 1,000 decisions "
        f"cost {now:,.0f} on the test rows instead of {before:,.0f} at the model's own threshold, "
        f"{share}. The difference lies between "
    )
    assert facts["goal"]["cost"] is None  # No price of a miss to put into the field.
    assert all(p["status"] is None for p in facts["goal"]["parts"])


@pytest.mark.parametrize("rule", ["g-mean", "f1"])
def test_weights_count_in_the_goal(rule):
    y, _ = rows()
    weight = amounts(890, 7)
    facts, tested = report_on(
        rule,
        sample_weight=amounts(len(y), 3) / 60,
        details=RowDetails(sample_weight=weight, column="times"),
    )
    title, metric = METRICS[rule]
    now, before = both_at(metric, tested, facts, sample_weight=weight)
    assert facts["goal"]["aim"]["now"] == pytest.approx(now)
    start = f"Goal: the greatest {title}, each row counted by its weight in column 'times'. "
    assert facts["goal"]["sentence"].startswith(start)
    assert f"{now:.3f} on the test rows instead of {before:.3f}" in facts["goal"]["sentence"]
    assert all(p["status"] is None for p in facts["goal"]["parts"])


def test_weighted_costs_are_those_of_a_thousand_weighted_decisions():
    y, _ = rows()
    weight = amounts(890, 7)
    facts, (y_test, s_test) = report_on(
        Cost(false_negative=20),
        sample_weight=amounts(len(y), 3) / 60,
        details=RowDetails(sample_weight=weight, column="times"),
    )
    wrong = (s_test > facts["boundary"]["threshold"]) != (y_test == 1)
    paid = 1000 * np.average(wrong * np.where(y_test == 1, 20, 1), weights=weight)
    assert facts["goal"]["aim"]["now"] == pytest.approx(paid)
    assert f"1,000 decisions cost {paid:.4g} on the test rows" in facts["goal"]["sentence"]


def test_weighted_floors_are_reached_and_never_certified():
    y, _ = rows()
    weight = amounts(890, 7)
    facts, (y_test, s_test) = report_on(
        Floors(recall=0.8),
        curve="smoothed",
        sample_weight=amounts(len(y), 3) / 60,
        details=RowDetails(sample_weight=weight),
    )
    found = (s_test > facts["boundary"]["threshold"])[y_test == 1]
    recall = np.average(found, weights=weight[y_test == 1])
    assert facts["goal"]["floors"][0]["reached"] == pytest.approx(recall)
    assert facts["goal"]["floors"][0]["shown"] is None


METHODS = [{"method": "boundshift", "threshold": None}, {"method": "low", "threshold": -1.5}]


@pytest.mark.parametrize(
    ("rule", "title"),
    [("f1", "F1"), (Cost(false_negative=50), "cost of 1,000 decisions"), (None, "G-mean")],
)
def test_methods_are_compared_by_the_goal(rule, title):
    y, s = rows()
    found = find_boundary(y, s, rule=rule)
    methods = [dict(METHODS[0], threshold=found.threshold), METHODS[1]]
    facts = collect_facts(y, s, boundary=found, test=rows(seed=1), comparison=methods)
    asked = "" if rule is None else "The others may have had another goal. "
    assert facts["comparison"]["paired"]["lead"].startswith(f"{asked}By {title}, ours is ")
    assert "best of" not in facts["comparison"]["paired"]["lead"]


def test_methods_are_asked_first_whether_they_keep_the_floors():
    y, s = rows()
    found = find_boundary(y, s, rule=Floors(recall=0.9))
    methods = [
        {"method": "boundshift", "threshold": found.threshold},
        {"method": "high", "threshold": 3.0},
    ]
    lead = collect_facts(y, s, boundary=found, test=rows(seed=1), comparison=methods)
    assert lead["comparison"]["paired"]["lead"] == (
        "Of 1 other method, which may have had another goal, none reaches this one on these rows; "
        "ours does."
    )
    methods.append({"method": "low", "threshold": -9.0})
    lead = collect_facts(y, s, boundary=found, test=rows(seed=1), comparison=methods)
    assert lead["comparison"]["paired"]["lead"].startswith(
        "Of 2 other methods, which may have had another goal, low reaches this one on these rows; "
        "ours does. By G-mean, ours is ahead of low: "
    )


def fitted(**known):
    rng = np.random.default_rng(5)
    y = (rng.random(1200) < 0.25).astype(int)
    X = rng.normal(size=(1200, 2)) + y[:, None]
    model = BoundShiftClassifier(LogisticRegression()).fit(X[:600], y[:600], **known)
    return model, X[600:], y[600:]


def test_a_classifier_fitted_by_row_costs_reports_them():
    paid = amounts(600, 2)
    model, X, y = fitted(row_cost=amounts(600, 1))
    facts = model.report(X, y, row_cost=paid).facts
    lost = 1000 * np.mean(paid * (model.predict(X) != y))
    assert f"1,000 decisions cost {lost:,.0f} on the test rows" in facts["goal"]["sentence"]
    with pytest.raises(InvalidInputError, match=r"`row_cost` must be given"):
        model.report(X, y)


def test_costs_that_did_not_choose_the_boundary_are_refused():
    model, X, y = fitted()
    with pytest.raises(InvalidInputError, match=r"`row_cost` must be left out"):
        model.report(X, y, row_cost=amounts(600, 1))
    with pytest.raises(InvalidInputError, match=r"without `sample_weight`"):
        RowDetails(row_cost=[1.0], sample_weight=[1.0]).check(1)
