"""Calibration, groups and pairs, against scikit-learn and plain counting."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, recall_score

from boundshift import BoundShiftClassifier, InvalidInputError, find_boundary
from boundshift.report import Report, RowDetails, collect_facts
from tests.report.problems import NAMES, rows


def calibration(truth, said, **settings):
    details = RowDetails(probability=said)
    found = collect_facts(truth, truth + said, details=details, **settings)["diagnosis"]["findings"]
    return next(finding for finding in found if finding["key"] == "calibration")


def test_honest_probabilities_are_called_so_and_doubled_ones_are_not():
    rng = np.random.default_rng(0)
    p = rng.uniform(0, 0.4, 20_000)
    truth = rng.random(20_000) < p
    honest, doubled = (calibration(truth, said, confidence=0.999) for said in (p, 2 * p))
    assert honest["level"] == "good"
    assert doubled["level"] == "caution"
    means = f"own probability is {200 * p.mean():.1f}%, and {100 * truth.mean():.1f}% are"
    assert means in doubled["text"]


def test_groups_are_counted():
    y, s = tested = rows(800, 90, seed=1)
    towns = np.random.default_rng(5).choice(["Bonn", "Rome", None], len(y))
    details = RowDetails(groups={"town": towns, "same": np.zeros(len(y))})
    known = collect_facts(*rows(), test=tested, details=details, **NAMES)
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
    interval = binomtest(int(tp), int(tp + fn)).proportion_ci(0.95)
    assert (row["recall"]["low"], row["recall"]["high"]) == pytest.approx(
        (interval.low, interval.high)
    )


def test_a_lead_of_one_row_is_said():
    y = np.repeat([0, 1], [60, 40])
    s = np.concatenate([np.linspace(-3, 1, 60), np.linspace(-1, 3.01, 40)])
    best = find_boundary(y, s)
    # The other one does not flag the next row, a negative one.
    above = np.min(s[(s > best.threshold) & (y == 0)])
    boundary = replace(best, threshold=np.max(s[s < above]))
    methods = [
        {"method": "boundshift", "threshold": boundary.threshold},
        {"method": "tuned", "threshold": above},
    ]
    ours, tuned = (
        np.prod(recall_score(y, s > cut, average=None)) ** 0.5
        for cut in (boundary.threshold, above)
    )
    lead = collect_facts(y, s, boundary=boundary, comparison=methods)["judgement"]["lead"]
    assert (lead["ours"], lead["theirs"], lead["best"]) == (
        pytest.approx(ours), pytest.approx(tuned), "tuned",
    )  # fmt: skip
    assert (lead["more_found"], lead["more_flagged"]) == (0, 1)
    assert lead["interval"][0] <= 0 <= lead["interval"][1]


def test_a_method_that_is_better_beyond_chance_is_advised():
    y, s = rows(4000, 1000, seed=3)
    best = find_boundary(y, s, curve="empirical")
    known = collect_facts(
        y,
        s,
        boundary=replace(best, threshold=best.threshold + 1.5),
        chosen_here=False,
        comparison=[{"method": "boundshift"}, {"method": "tuned", "threshold": best.threshold}],
    )
    assert known["judgement"]["lead"]["is_better_method"]
    assert known["diagnosis"]["next"].startswith("Use tuned instead")


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
    assert isinstance(report, Report)
    wrong = int(np.sum(model.predict(X)[y == 1] == 0))
    assert report.facts["certificate"]["wrong"][1] == wrong
    assert report.facts["chosen_on"] == list(model.boundary_.n_samples)
    assert report.facts["verdict"]["status"] == "certified"
    assert repr(report).startswith("Out of 100 churners, the new threshold misses")
    own = 100 * model.estimator_.predict_proba(X)[:, 1].mean()
    assert f"own probability is {own:.1f}%" in report.html


def test_groups_of_a_classifier_are_named_columns(shifted):
    model, X, y = shifted
    with pytest.raises(InvalidInputError, match="`by` must name columns of X, got 'half'"):
        model.report(X, y, by="half")
    with pytest.raises(InvalidInputError, match="2 to 12 different values, got 'age'"):
        model.report(X, y, by="age")
