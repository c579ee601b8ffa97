"""Every number of the report against a second computation, whatever the scores."""

import json
import math
import re
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, f1_score

from boundshift import BoundaryWarning, Cost, Floors, InvalidInputError, certify, find_boundary
from boundshift.report import Doubt, Report, RowDetails, collect_facts
from tests.report.problems import clopper_pearson, facts, rows, uniform


def counts(y, s, t):
    tn, fp, fn, tp = confusion_matrix(y, s > t).ravel()
    return tn, fp, fn, tp


def finding(known, key):
    return next((f for f in known["diagnosis"]["findings"] if f["key"] == key), None)


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from([st.floats(-1e9, 1e9), st.floats(0, 1)]).flatmap(
        lambda kind: st.tuples(
            st.lists(kind, min_size=1, max_size=12), st.lists(kind, min_size=1, max_size=12)
        )
    ),
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
    y, s = rows(800, 90, seed=1)
    stops = facts()["stops"]
    for i in range(0, len(stops["threshold"]), 100):
        t = stops["threshold"][i]
        k = int(np.sum(s[y == 0] > t)), int(np.sum(s[y == 1] <= t))
        assert stops["bounds"][0][i] == pytest.approx(uniform(k[0], 800, 0.05), rel=3e-3)
        assert stops["bounds"][1][i] == pytest.approx(uniform(k[1], 90, 0.05), rel=1e-4)


def test_metrics_of_the_comparison_are_those_of_scikit_learn():
    y, s = rows(800, 90, seed=1)
    table = facts()["comparison"]
    titles = [column["title"] for column in table["columns"]]
    for row, t in zip(table["rows"], (0.0, facts()["boundary"]["threshold"]), strict=True):
        cells = dict(zip(titles, row["values"], strict=True))
        assert cells["F1"] == pytest.approx(f1_score(y, s > t))
        assert cells["balanced accuracy"] == pytest.approx(balanced_accuracy_score(y, s > t))
        assert cells["threshold"] == t


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
    _, fp, fn, _ = counts(y, s, t)
    assert known["verdict"]["status"] == "certified"
    bounds = known["certificate"]["error_bounds"]
    assert bounds == pytest.approx([uniform(fp, 600, 0.05), uniform(fn, 50, 0.05)], rel=3e-3)
    assert bounds == list(certify(y, s, t, chosen_here=True).error_bounds)


def test_bounds_of_clusters_are_claimed_and_those_of_rows_are_not():
    y, s = rows(200, 60, seed=1)
    cluster = np.repeat(np.arange(len(y)), 5)  # every patient came five times
    visits = np.repeat(y, 5), np.repeat(s, 5)
    known = collect_facts(*rows(), test=visits, details=RowDetails(cluster=cluster))
    t = known["boundary"]["threshold"]
    bounds = certify(*visits, t, cluster=cluster).error_bounds
    assert "Averaged over 60 clusters of rows labelled 1" in known["verdict"]["sentence"]
    told = f"at most {math.ceil(1000 * bounds[1]) / 10}% with 95% confidence."
    assert told in known["verdict"]["sentence"]
    assert known["verdict"]["status"] == "certified"
    assert "1,300 test rows in 260 clusters" in known["verdict"]["note"]
    assert bounds[1] > certify(*visits, t).error_bounds[1]  # of rows it would be too narrow
    assert known["certificate"]["status"] == "nominal"
    assert finding(known, "proof")["level"] == "good"
    found = find_boundary(*rows(), rule=Floors(recall=0.6, precision=0.2, confidence=None))
    goal = collect_facts(*rows(), boundary=found, test=visits, details=RowDetails(cluster=cluster))
    recall, precision = goal["goal"]["floors"]
    each = certify(*visits, found.threshold, 0.975, cluster=cluster)
    assert recall["reached"] == pytest.approx(1 - each.errors[1])
    assert recall["shown"] == pytest.approx(1 - each.error_bounds[1])
    assert precision["shown"] is None
    with pytest.raises(InvalidInputError, match="`cluster` must go with test rows"):
        collect_facts(*visits, details=RowDetails(cluster=cluster))


def test_rates_of_clusters_stand_beside_their_bounds():
    y, s = rows(200, 60, seed=1)
    visits = np.where(y == 1, np.where(s > np.median(s[y == 1]), 1, 9), 2)  # the ill come often
    known = collect_facts(
        *rows(),
        boundary=find_boundary(*rows(), rule=Cost(false_negative=9)),
        test=(np.repeat(y, visits), np.repeat(s, visits)),
        details=RowDetails(cluster=np.repeat(np.arange(len(y)), visits)),
        comparison=[{"method": "shifted"}, {"method": "low", "threshold": -9.0}],
        old_threshold=0.0,
    )
    cuts = known["boundary"]["threshold"], 0.0
    now, before = (100 * np.mean(s[y == 1] <= cut) for cut in cuts)
    told = known["judgement"]["missed"]
    assert (told["share"], told["before"]) == pytest.approx((now / 100, before / 100))
    missed = np.repeat(s <= cuts[0], visits)[np.repeat(y, visits) == 1]
    assert (told["wrong"], told["n"]) == (missed.sum(), len(missed))
    assert f"Counted by row, it misses {100 * missed.mean():.1f}%." in known["verdict"]["sentence"]
    assert abs(100 * missed.mean() - now) > 5  # averages and rows differ here
    assert (known["goal"]["state"], known["goal"]["aim"]["difference"]) == ("unsure", None)
    assert known["comparison"]["better"] is None
    assert "by resampling" not in Report(known).html


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
    assert finding(known, "proof")["text"] == f"{reason}."
    assert (known["goal"] or {"state": "alone"})["state"] in ("alone", "reached")
    assert known["judgement"]["advice"] == "test"
    assert known["diagnosis"]["next"].endswith(f"{reason}. Use fresh ones.")
    assert "tested on 650 rows kept apart" in Report(fresh).html
    page = Report(known).html
    assert "counted on 650 rows, which are no test" in page
    for wrong in ("tested on", "test rows", "other rows", "The difference lies"):
        assert wrong not in page.replace("class 0 (other rows)", "")


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
    y = np.repeat([0, 1], [1000, 1000])
    s = np.where(y == 1, 5.0, -5.0) + np.linspace(-1, 1, 2000)
    test_scores = s.copy()
    test_scores[-3:] = -5.0
    verdict = collect_facts(y, s, test=(y, test_scores), old_threshold=0.0)["verdict"]
    assert verdict["sentence"].startswith(
        "Out of 1,000 rows labelled 1, the new threshold misses about 3, as the model's own "
        "threshold does,"
    )


@pytest.mark.parametrize(("gap", "advice"), [(5.0, "use"), (2.0, "care"), (0.3, "chance")])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_the_advice_follows_the_separation(gap, advice):
    known = collect_facts(*rows(gap=gap), test=rows(seed=4, gap=gap))
    assert known["judgement"]["advice"] == advice
    assert (finding(known, "proof")["level"] == "bad") == (gap == 0.3)


@pytest.mark.parametrize(("recall", "level"), [(0.88, "caution"), (0.5, "good"), (0.99, "good")])
def test_enough_rows_are_those_that_prove_the_goal(recall, level):
    y, s = rows(400, 400, seed=1)
    t = float(np.sort(s[y == 1])[39])  # 40 of 400 are missed
    found = find_boundary(*rows(), rule=Floors(recall=0.5, confidence=None))
    found = replace(found, threshold=t, rule=Floors(recall=recall, confidence=None))
    known = {"boundary": found, "test": (y, s)}
    by_row = finding(collect_facts(*rows(), **known), "rows")
    details = RowDetails(cluster=np.arange(800))
    by_cluster = finding(collect_facts(*rows(), details=details, **known), "rows")
    assert by_row["level"] == by_cluster["level"] == level
    if level == "caution":
        k = next(k for k in range(40, 999) if clopper_pearson(k, 10 * k, 0.05) <= 1 - recall)
        told = re.search(r"At this rate ([\d,]+) rows labelled 1", by_row["advice"])[1]
        assert int(told.replace(",", "")) == pytest.approx(10 * k, rel=0.02)
        assert by_cluster["advice"].endswith("More clusters are needed to prove it.")


def test_costs_at_which_everyone_is_flagged_are_told_plainly():
    y, s = rows()
    y = np.append(y, 1)
    s = np.append(s, s.min() - 1)
    with pytest.warns(BoundaryWarning, match="are on the wrong side of this threshold"):
        found = find_boundary(y, s, rule=Cost(false_negative=1e9), curve="empirical")
    told = collect_facts(y, s, boundary=found, test=(y, s))["diagnosis"]["next"]
    assert told == "Do not use it: at these costs flagging everyone is cheapest, without any model."


@pytest.mark.parametrize(("above", "state"), [(0, "reached"), (4, "reached"), (60, "missed")])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_cap_is_missed_only_beyond_chance(above, state):
    """With 1,000 rows and a cap of 10%, 104 flagged rows are chance, 160 are not."""
    y = np.arange(1000) % 10 == 9
    s = np.arange(1000.0)
    cap = Floors(flagged=0.1, confidence=None)
    found = replace(find_boundary(y, s, rule=cap), threshold=899.5 - above)
    goal = collect_facts(y, s, boundary=found, test=(y, s))["goal"]
    assert goal["state"] == state
    assert f"{100 + above} of 1,000 where 100 were asked for" in goal["sentence"]
    assert ("may be chance" in goal["sentence"]) == (above == 4)


@pytest.mark.parametrize(("interval", "level"), [((-1.2, -0.4), "good"), ((-1.2, 0.4), "caution")])
def test_a_shift_whose_interval_holds_the_old_threshold_is_uncertain(interval, level):
    known = collect_facts(*rows(), interval=interval, old_threshold=0.0)
    assert finding(known, "stability")["level"] == level


def test_a_search_that_fell_back_is_reported():
    y = np.repeat([0, 1], 20)
    s = np.tile(np.arange(20.0), 2)
    with pytest.warns(BoundaryWarning):
        found = find_boundary(y, s, curve="support")
    known = collect_facts(y, s, boundary=found)
    assert known["judgement"]["advice"] == "no method"
    assert found.status.message in known["diagnosis"]["next"]
    assert finding(known, "status")["level"] == "bad"


KNOWN = find_boundary(*rows())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"test": ([0, 1], [0.0, float("nan")])}, "`test`: `y_score` must be finite"),
        ({"test": ([0, 2], [0.0, 1.0])}, "`test` must hold the labels 0 and 1"),
        ({"boundary": KNOWN, "pos_label": 0}, "`pos_label` must be that of the boundary"),
        ({"test": rows(), "chosen_here": False}, "`chosen_here` must be True"),
        ({"chosen_here": False}, "`chosen_here` must be True"),
        ({"confidence": 95}, "`confidence` must be between 0 and 1"),
        ({"comparison": [{"g_mean": 1}]}, "`comparison` must be a list of mappings"),
        ({"scores": "maybe"}, "`scores` must be one of"),
        ({"details": RowDetails(groups={"a": ["b"]})}, "one value for each of 650 rows"),
        ({"details": RowDetails(probability=np.full(650, 2.0))}, "must lie from 0 to 1"),
    ],
)
def test_wrong_input_is_refused_in_words(change, message):
    with pytest.raises(InvalidInputError, match=message):
        collect_facts(*rows(), **change)
