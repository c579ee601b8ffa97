"""Every number of the report against a second computation, whatever the scores."""

import json
import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    Cost,
    Floors,
    InvalidInputError,
    certify,
    find_boundary,
    find_zone,
)
from boundshift.report import Doubt, Report, RowDetails, collect_facts
from boundshift.report._evidence import PairedRows
from tests.report.problems import (
    NAMES,
    TEST,
    clopper_pearson,
    facts,
    finding,
    report_on,
    rows,
    uniform,
)

LISTS = [
    st.lists(kind, min_size=1, max_size=12) for kind in (st.floats(-1e9, 1e9), st.floats(0, 1))
]


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(LISTS).flatmap(lambda kind: st.tuples(kind, kind)),
    st.booleans(),
    st.sampled_from(["support", "logistic", "smoothed", "clopper-pearson"]),
)
def test_a_report_can_be_made_of_any_scores(scores, tested, curve):
    negative, positive = map(np.array, scores)
    y = np.repeat([0, 1], [len(negative), len(positive)])
    s = np.concatenate([negative, positive])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        boundary = find_boundary(y, s, curve=curve)
    known = collect_facts(y, s, boundary=boundary, test=(y, s) if tested else None)
    json.dumps(known, allow_nan=False)
    assert Report(known).html.endswith("</html>")
    stops = known["stops"]
    thresholds = np.array(stops["threshold"])
    assert np.all(np.diff(thresholds) >= 0)
    assert np.all(np.diff(stops["at"]) >= 0)
    assert thresholds[stops["marks"]["shifted"]] == boundary.threshold
    old = stops["marks"].get("old")
    assert known["old"]["threshold"] == (None if old is None else thresholds[old])
    for i in (0, 500, 1000, stops["marks"]["shifted"]):
        assert stops["wrong"][0][i] == np.sum(negative > thresholds[i])
        assert stops["wrong"][1][i] == np.sum(positive <= thresholds[i])
    for i, values in enumerate((negative, positive)):
        assert sum(known["projection"][i]["counts"]) == len(values)


def test_every_stop_of_the_slider_has_bounds_for_all_thresholds():
    y, s = TEST
    stops = facts()["stops"]
    for i in range(0, len(stops["threshold"]), 100):
        t = stops["threshold"][i]
        k = int(np.sum(s[y == 0] > t)), int(np.sum(s[y == 1] <= t))
        assert stops["bounds"][0][i] == pytest.approx(uniform(k[0], 800, 0.05), rel=3e-3)
        assert stops["bounds"][1][i] == pytest.approx(uniform(k[1], 90, 0.05), rel=1e-4)


def test_a_comparison_that_is_given_is_shown_unchanged():
    given = [
        {"method": "SMOTE", "g_mean": 0.8, "seconds": 1.5},
        {"method": "ours", "g_mean": float("nan"), "note": "failed"},
    ]
    table = collect_facts(*rows(), comparison=given)["comparison"]
    assert [c["title"] for c in table["columns"]] == ["G-mean", "seconds", "note"]
    assert table["rows"][1]["values"] == [None, None, "failed"]
    assert [c["best"] for c in table["columns"]] == [0.8, None, None]


def test_without_test_rows_the_bound_pays_for_the_choice():
    y, s = rows()
    for scores, status in (("training", "nominal"), ("out-of-fold", "cross-fitted")):
        verdict = collect_facts(y, s, scores=scores)["verdict"]
        assert verdict["status"] == status
        assert "at most" not in verdict["sentence"]
    known = collect_facts(y, s)
    t = known["boundary"]["threshold"]
    wrong = int(np.sum(s[y == 0] > t)), int(np.sum(s[y == 1] <= t))
    assert known["verdict"]["status"] == "certified"
    bounds = known["certificate"]["error_bounds"]
    expected = [uniform(k, n, 0.05) for k, n in zip(wrong, (600, 50), strict=True)]
    assert bounds == pytest.approx(expected, rel=3e-3)
    assert bounds == list(certify(y, s, t, chosen_here=True).error_bounds)


def test_bounds_of_clusters_are_claimed_and_those_of_rows_are_not():
    y, s = rows(200, 60, seed=1)
    details = RowDetails(cluster=np.repeat(np.arange(len(y)), 5))  # everyone came five times
    visits = np.repeat(y, 5), np.repeat(s, 5)
    known = report_on(Cost(false_negative=9), test=visits, details=details)
    bounds = certify(*visits, known["boundary"]["threshold"], cluster=details.cluster).error_bounds
    assert known["judgement"]["missed"]["bound"] == bounds[1]
    assert known["verdict"]["status"] == "certified"
    assert known["certificate"]["status"] == "nominal"
    assert (known["goal"]["state"], known["goal"]["aim"]["difference"]) == ("unsure", None)
    assert "by resampling" not in Report(known).html
    floors = Floors(recall=0.6, precision=0.2, confidence=None)
    goal = report_on(floors, test=visits, details=details)
    recall, precision = goal["goal"]["floors"]
    each = certify(*visits, goal["boundary"]["threshold"], 0.975, cluster=details.cluster)
    assert recall["reached"] == pytest.approx(1 - each.errors[1])
    assert recall["shown"] == pytest.approx(1 - each.error_bounds[1])
    assert precision["shown"] is None
    with pytest.raises(InvalidInputError, match="`cluster` must go with test rows"):
        collect_facts(*visits, details=details)


@pytest.mark.filterwarnings("ignore:The positive class has the lower scores")
def test_clusters_that_show_nothing_are_not_called_reversed_in_the_details():
    y = np.repeat([0, 1], [600, 200])
    s = np.random.default_rng(0).normal(size=800) - 0.5 * y
    facts = collect_facts(y, s, test=(y, s), details=RowDetails(cluster=np.arange(800) // 100))
    assert facts["diagnosis"]["advice"] == "chance"
    assert find_boundary(y, s).status == "REVERSED"
    assert "lower scores" not in Report(facts).html


@pytest.mark.parametrize("rule", [None, "f1", Cost(false_negative=9), Floors(recall=0.5)])
def test_a_page_on_rows_of_fit_has_nothing_in_green(rule):
    found = find_boundary(*rows(gap=5.0), rule=rule)
    reason = "650 of these 650 rows were used in fit; use rows that the model has not seen"
    probability = 1 / (1 + np.exp(-rows(gap=5.0)[1]))
    seen = {"boundary": found, "chosen_here": False, "details": RowDetails(probability)}
    known = collect_facts(*rows(gap=5.0), doubt=Doubt(reason, "Use fresh ones."), **seen)
    fresh = collect_facts(*rows(gap=5.0), **seen)
    assert "good" in {f["level"] for f in fresh["diagnosis"]["findings"]}
    assert "good" not in {f["level"] for f in known["diagnosis"]["findings"]}
    assert (known["goal"] or {"state": "alone"})["state"] in ("alone", "reached")
    assert known["judgement"]["advice"] == "test"
    assert known["diagnosis"]["next"].endswith(f"{reason}. Use fresh ones.")
    page = Report(known).html
    for wrong in ("tested on", "test rows", "other rows", "The difference lies"):
        assert wrong not in page


def test_probabilities_have_their_own_threshold_and_crowded_ones_log_odds():
    y, s = rows()
    known = collect_facts(np.append(y, 0), np.append(s, 1e9))
    assert known["old"]["threshold"] is None
    assert known["axis"]["high"] < 100  # one far outlier does not squeeze the axis
    assert known["projection"][0]["outside"] == 1
    known = collect_facts(y, 1 / (1 + np.exp(-(s - 4))))
    assert known["old"]["threshold"] == 0.5
    assert known["axis"]["kind"] == "log-odds"
    stops = known["stops"]["threshold"]
    assert np.all(np.diff(stops) > 0)
    assert min(stops) < 0.01 < max(stops)


def test_rare_errors_are_counted_out_of_more_rows():
    y = np.repeat([0, 1], 1000)
    s = np.where(y == 1, 5.0, -5.0) + np.linspace(-1, 1, 2000)
    missed = np.append(s[:-3], [-5.0] * 3)
    verdict = collect_facts(y, s, test=(y, missed))["verdict"]
    assert re.match(r"Out of 1,000 rows labelled 1, \D+ about 3\b", verdict["sentence"])


@pytest.mark.parametrize("recall", [0.88, 0.5])
def test_rows_are_too_few_where_the_goal_is_reached_and_not_proved(recall):
    y, s = rows(400, 400, seed=1)
    found = find_boundary(*rows(), rule=Floors(recall=0.5, confidence=None))
    t = float(np.sort(s[y == 1])[39])  # 40 of 400 are missed
    found = replace(found, threshold=t, rule=Floors(recall=recall, confidence=None))
    known = {"boundary": found, "test": (y, s)}
    by_row = finding(collect_facts(*rows(), **known), "rows")
    details = RowDetails(cluster=np.arange(800))
    by_cluster = finding(collect_facts(*rows(), details=details, **known), "rows")
    if recall == 0.5:
        assert by_row is by_cluster is None
    else:
        k = next(k for k in range(40, 999) if clopper_pearson(k, 10 * k, 0.05) <= 1 - recall)
        needed = re.search(r"At this rate ([\d,]+) rows labelled 1", by_row["advice"])[1]
        assert int(needed.replace(",", "")) == pytest.approx(10 * k, rel=0.02)
        assert by_cluster["advice"].endswith("More clusters are needed to prove it.")


@pytest.mark.parametrize(("high", "level"), [(-0.4, None), (0.4, "caution")])
def test_a_shift_whose_interval_holds_the_old_threshold_is_uncertain(high, level):
    found = finding(report_on(interval=(-1.2, high)), "stability")
    assert (found and found["level"]) == level


# --- Calibration, groups, pairs of decisions and the unsure zone ----------------------------------


def calibration(truth, said):
    known = collect_facts(truth, truth + said, details=RowDetails(said), confidence=0.999)
    return known["judgement"]["calibration"]


def test_honest_probabilities_are_called_so_and_doubled_ones_are_not():
    rng = np.random.default_rng(0)
    p = rng.uniform(0, 0.4, 20_000)
    truth = rng.random(20_000) < p
    assert calibration(truth, p)["n_off"] == 0
    doubled = calibration(truth, 2 * p)
    assert doubled["n_off"] == 10
    assert (doubled["mean"], doubled["share"]) == pytest.approx((2 * p.mean(), truth.mean()))


def test_groups_are_counted():
    y, s = TEST
    towns = np.random.default_rng(5).choice(["Bonn", "Rome", None], len(y))
    known = report_on(details=RowDetails(groups={"town": towns, "same": np.zeros(len(y))}))
    assert [table["column"] for table in known["subgroups"]] == ["town"]
    table = known["subgroups"][0]["rows"]
    assert {row["level"] for row in table} == {"Bonn", "Rome", "(missing)"}
    assert [row["n"] for row in table] == sorted((row["n"] for row in table), reverse=True)
    bonn = towns == "Bonn"
    flagged = s > known["boundary"]["threshold"]
    _, fp, fn, tp = confusion_matrix(y[bonn], flagged[bonn]).ravel()
    row = next(row for row in table if row["level"] == "Bonn")
    assert row["positives"] == tp + fn
    assert row["recall"]["share"] == tp / (tp + fn)
    assert row["false_alarm_rate"]["share"] == fp / (row["n"] - tp - fn)
    assert row["precision"]["share"] == tp / (tp + fp)
    interval = binomtest(int(tp), int(tp + fn)).proportion_ci(0.95)
    ends = row["recall"]["low"], row["recall"]["high"]
    assert ends == pytest.approx((interval.low, interval.high))


def paired(n, has_cost):
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.2
    score = rng.normal(size=n) + 1.5 * truth
    cost = rng.gamma(2, 30.0, n) if has_cost else None
    return PairedRows(truth, score > 0.7, cost), score > 1.4


def gain(negative, positive):
    return -negative - 2 * positive


@pytest.mark.parametrize("is_compared", [False, True])
@pytest.mark.parametrize(("n", "has_cost"), [(900, False), (4000, False), (900, True)])
def test_an_interval_is_that_of_a_bootstrap_of_rows(n, has_cost, is_compared):
    known, other = paired(n, has_cost)
    other = other if is_compared else None
    rng = np.random.default_rng(1)
    values = []
    for _ in range(2000):
        drawn = rng.integers(0, n, n)
        cost = None if known.cost is None else known.cost[drawn]
        again = PairedRows(known.is_positive[drawn], known.flagged[drawn], cost)
        value = gain(*again.errors())
        if is_compared:
            value -= gain(*again.errors(other[drawn]))
        values.append(value)
    expected = np.percentile(values, [2.5, 97.5])
    found = known.interval(gain, 0.95, 4000, other)
    assert found == pytest.approx(tuple(expected), abs=0.12 * np.ptp(expected))
    assert known.interval(gain, 0.95, 200, known.flagged) == (0.0, 0.0)


def test_costs_are_summed_and_shared_by_the_rows_of_a_class():
    known, _ = paired(900, has_cost=True)
    paid = np.where(known.flagged != known.is_positive, known.cost, 0.0)
    expected = paid[~known.is_positive].mean(), paid[known.is_positive].mean()
    assert known.errors() == pytest.approx(expected)


def visit(seed, n_samples=(400, 120)):
    return rows(*n_samples, seed=seed, gap=2.2)


def test_both_sides_of_a_zone_are_counted_row_by_row():
    y, s = visit(1)
    zone = find_zone(*visit(0), errors=(0.05, 0.1))
    known = collect_facts(y, s, **NAMES, zone=zone)
    alarms = sum(score > zone.high for score in s[y == 0])
    misses = sum(score <= zone.low for score in s[y == 1])
    left = [100 * np.mean((zone.low < s[y == i]) & (s[y == i] <= zone.high)) for i in (0, 1)]
    figures = [re.findall(r"[\d.]+", side) for side in known["zone"]["sides"]]
    assert figures == [
        [str(alarms), "400", f"{left[0]:.1f}", "."],
        [str(misses), "120", f"{left[1]:.1f}", "."],
    ]
    assert known["zone"]["unsure"] == pytest.approx(np.mean((zone.low < s) & (s <= zone.high)))
    page = Report(known).html
    assert all(side in page for side in known["zone"]["sides"])
    assert "unsure zone" not in Report(facts()).html


@pytest.mark.parametrize(
    ("scored", "said"),
    [
        (visit(2, (400, 20)), "Patients with a score above"),
        (
            visit(3, (20, 20)),
            "There are too few rows to decide safely. A person must decide 100.0%",
        ),
        ((visit(4)[0], visit(4)[1] + 20 * visit(4)[0]), "one threshold keeps both guarantees"),
    ],
)
def test_a_limit_that_is_missing_or_shared_is_said(scored, said):
    zone = collect_facts(*scored, **NAMES, zone=find_zone(*scored))["zone"]
    assert said in zone["sentence"]


def test_an_own_threshold_beyond_all_scores_is_no_warning():
    details = RowDetails(cluster=np.arange(520) // 2)
    known = collect_facts(*visit(0), test=visit(1), old_threshold=99.0, details=details)
    assert "The model's own threshold missed 100.0%" in known["verdict"]["sentences"][0]


def test_a_limit_below_every_probability_is_not_a_number_to_read():
    y = np.repeat([0, 1], [400, 120])
    s = np.concatenate([np.linspace(0, 0.9, 400), np.tile([0.0, 0.5, 0.7, 0.9], 30)])
    zone = find_zone(y, s, errors=(0.1, 0.1))
    assert -1e-9 < zone.low < 0
    told = collect_facts(y, s, **NAMES, zone=zone)["zone"]
    assert "None is called healthy: too many sick patients score lowest" in told["sentence"]
    page = Report(collect_facts(y, s, **NAMES, zone=zone)).html
    assert "In the long run at most 10.0% of healthy patients are called sick" in page
    assert "e-3" not in page.split("The unsure zone")[1].split("</section>")[0]


# --- A classifier, and input that is refused ------------------------------------------------------


@pytest.fixture(scope="module")
def shifted():
    rng = np.random.default_rng(0)
    n = 1500
    y = (rng.random(n) < 0.15).astype(int)
    frame = pd.DataFrame({"age": rng.normal(1.5 * y), "size": rng.normal(1.0 * y)})
    model = BoundShiftClassifier(LogisticRegression()).fit(frame[:700], y[:700])
    return model, frame[700:], y[700:]


def test_a_classifier_reports_on_rows_it_has_not_seen(shifted):
    model, X, y = shifted
    report = model.report(X, y, positive_name="churners", case_name="customers")
    wrong = int(np.sum(model.predict(X)[y == 1] == 0))
    assert report.facts["certificate"]["wrong"][1] == wrong
    assert report.facts["chosen_on"] == list(model.boundary_.n_samples)
    assert report.facts["verdict"]["status"] == "certified"
    assert repr(report) == report.facts["verdict"]["sentence"]
    own = model.estimator_.predict_proba(X)[:, 1].mean()
    assert report.facts["judgement"]["calibration"]["mean"] == pytest.approx(own)
    with pytest.raises(InvalidInputError, match="`by` must name columns of X, got 'half'"):
        model.report(X, y, by="half")
    with pytest.raises(InvalidInputError, match="2 to 12 different values, got 'age'"):
        model.report(X, y, by="age")


KNOWN = find_boundary(*rows())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test": ([0, 1], [0.0, math.nan])}, "`test`: `y_score` must be finite"),
        ({"test": ([0, 2], [0.0, 1.0])}, "`test` must hold the labels 0 and 1"),
        ({"boundary": KNOWN, "pos_label": 0}, "`pos_label` must be that of the boundary"),
        ({"test": rows(), "chosen_here": False}, "`chosen_here` must be True"),
        ({"chosen_here": False}, "`chosen_here` must be True"),
        ({"confidence": 95}, "`confidence` must be between 0 and 1"),
        ({"comparison": [{"g_mean": 1}]}, "`comparison` must be a list of mappings"),
        ({"scores": "maybe"}, "`scores` must be one of"),
        ({"old_threshold": math.nan}, "`old_threshold` must be a finite number"),
        ({"details": RowDetails(groups={"a": ["b"]})}, "one value for each of 650 rows"),
        ({"details": RowDetails(probability=np.full(650, 2.0))}, "must lie from 0 to 1"),
    ],
)
def test_wrong_input_is_refused_in_words(change, message):
    with pytest.raises(InvalidInputError, match=message):
        collect_facts(*rows(), **change)
