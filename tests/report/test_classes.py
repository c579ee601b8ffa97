"""The report on many classes, against scikit-learn and bounds computed a second way."""

import json
import re

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from boundshift import BoundaryWarning, BoundShiftClassifier, ClassFloors, CostMatrix
from boundshift.report import Report
from tests.report.problems import clopper_pearson, finding

LABELS = np.array(["cold", "flu", "tb"])
COSTS = CostMatrix([[0, 1, 1], [5, 0, 5], [40, 40, 0]], LABELS)


def ill(rule=None, n=3000, separation=1.0, **settings):
    """Return a model of three illnesses, and rows that it has not seen."""
    X, y = make_classification(
        n + 2000, n_classes=3, n_informative=5, weights=[0.85, 0.1], class_sep=separation,
        random_state=1,
    )  # fmt: skip
    y = LABELS[y]
    model = BoundShiftClassifier(LogisticRegression(max_iter=1000), rule=rule, **settings)
    return model.fit(X[:2000], y[:2000]), X[2000:], y[2000:]


@pytest.fixture(scope="module")
def told():
    model, X, y = ill()
    own = LABELS[np.argmax(model.predict_proba(X), axis=1)]
    facts = model.report(X, y, case_name="patients").facts
    return facts, y, model.predict(X), own


def test_every_class_is_counted(told):
    facts, y, predicted, own = told
    json.dumps(facts, allow_nan=False)
    assert facts["matrix"] == sk.confusion_matrix(y, predicted).tolist()
    recalls, before = (sk.recall_score(y, p, average=None) for p in (predicted, own))
    precisions = sk.precision_score(y, predicted, average=None)
    for k, row in enumerate(facts["classes"]):
        assert (row["label"], row["n"]) == (LABELS[k], np.sum(y == LABELS[k]))
        assert row["recall"] == pytest.approx(recalls[k])
        assert row["recall_before"] == pytest.approx(before[k])
        assert row["precision"] == pytest.approx(precisions[k])
        wrong = np.sum(predicted[y == LABELS[k]] != LABELS[k])
        assert row["most_missed"] == pytest.approx(clopper_pearson(wrong, row["n"], 0.05 / 3))
    for row, made in zip(facts["comparison"]["rows"], (own, predicted), strict=True):
        assert row["mean recall"] == pytest.approx(sk.balanced_accuracy_score(y, made))
        assert row["least recall"] == pytest.approx(sk.recall_score(y, made, average=None).min())
        assert row["macro F1"] == pytest.approx(sk.f1_score(y, made, average="macro"))
        assert row["accuracy"] == pytest.approx(sk.accuracy_score(y, made))


def test_the_verdict_is_made_of_those_counts(told):
    facts, y, predicted, own = told
    now, before = (sk.recall_score(y, p, average=None) for p in (predicted, own))
    k = int(np.argmin(now))
    n = np.sum(y == LABELS[k])
    wrong = np.sum(predicted[y == LABELS[k]] != LABELS[k])
    most = np.ceil(1000 * clopper_pearson(wrong, n, 0.05 / 3)) / 10
    missed, right = facts["verdict"]["sentences"]
    assert f"Class {LABELS[k]} is missed most: " in missed
    means = [f"{100 * (1 - recalls.mean()):.1f}%" for recalls in (now, before)]
    counts = [f"{round(100 * (1 - recalls[k]))}" for recalls in (now, before)]
    figures = re.findall(r"\d[\d.]*%?", missed.split("out of 100")[1])
    assert figures == [counts[0], f"{most}%", "95%", f"{counts[1]}.", "3", *means]
    precisions = sk.precision_score(y, predicted, average=None)
    k = int(np.argmin(precisions))
    assert f"called {LABELS[k]}, about {round(100 * precisions[k])} are right" in right
    assert f"Of all decisions, {100 * np.mean(y == predicted):.1f}% are right" in right
    assert finding(facts, "change")["level"] == "good"
    assert facts["diagnosis"]["advice"] == "care"


def test_every_figure_and_the_answer_stand_on_the_page(told):
    facts = told[0]
    page = Report(facts).html
    bullets = [*facts["verdict"]["sentences"], facts["diagnosis"]["next"]]
    assert sorted(page.index(text[:30]) for text in bullets) == [
        page.index(text[:30]) for text in bullets
    ]
    for row in facts["classes"]:
        assert f"<td>{100 * row['recall']:.1f}%</td>" in page
        assert f"<td>{np.ceil(1000 * row['most_missed']) / 10:.1f}%</td>" in page
    assert page.count('<td class="right"') == 3
    assert "<script" not in page


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_model_that_guesses_is_not_advised():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = rng.choice(LABELS, 1500)
    model = BoundShiftClassifier(LogisticRegression()).fit(X[:700], y[:700])
    facts = model.report(X[700:], y[700:]).facts
    assert facts["diagnosis"]["advice"] == "not shown"
    total = sum(row["most_missed"] for row in facts["classes"])
    assert total > 2  # the errors of a guess add up to 2 of 3 classes
    assert (
        f"at most {np.ceil(1000 * total) / 10:.1f}% in the long run"
        in finding(facts, "proof")["text"]
    )


@pytest.mark.parametrize("rule", [None, COSTS, ClassFloors(recall={"tb": 0.3})])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_rows_of_fit_certify_nothing(rule):
    model, X, y = ill(rule)
    with pytest.warns(BoundaryWarning, match="were used in fit"):
        report = model.fit(X, y).report(X, y)
    assert report.facts["verdict"]["status"] == "nominal"
    assert "confidence" not in repr(report)
    assert report.facts["diagnosis"]["advice"] == "test"
    assert "3,000 of these 3,000 rows were used in fit" in report.facts["diagnosis"]["next"]
    assert "good" not in {f["level"] for f in report.facts["diagnosis"]["findings"]}
    assert (report.facts["goal"] or {"state": "unsure"})["state"] in ("unsure", "reached")
    assert "tested on" not in report.html
    assert "test rows" not in report.html


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize(("floor", "state"), [(0.5, "met"), (0.95, "missed")])
def test_floors_are_judged_by_bounds(floor, state):
    model, X, y = ill(ClassFloors(recall={"tb": floor}))
    report = model.report(X, y)
    n = np.sum(y == "tb")
    missed = np.sum(model.predict(X)[y == "tb"] != "tb")
    shown = 1 - clopper_pearson(missed, n, 0.05 / 3)
    assert (shown >= floor) == (state == "met")
    assert report.facts["goal"]["state"] == state
    (judged,) = report.facts["goal"]["floors"]
    assert (judged["asked"], judged["reached"]) == (floor, pytest.approx(1 - missed / n))
    assert judged["shown"] == pytest.approx(shown)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_rule_set_after_fit_is_not_judged():
    model, X, y = ill(ClassFloors(recall={"tb": 0.5}))
    before = model.report(X, y).facts["goal"]
    assert model.set_params(rule=COSTS).report(X, y).facts["goal"] == before


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_goal_that_is_not_proved_says_how_many_rows_would_prove_it():
    model, X, y = ill(separation=4.0)
    n = np.sum(y == "tb")
    missed = np.sum(model.predict(X)[y == "tb"] != "tb")
    shown = 1 - clopper_pearson(missed, n, 0.05 / 3)
    floor = (1 - missed / n + shown) / 2  # seen, but not shown
    model.rule_ = ClassFloors(recall={"tb": floor})
    facts = model.report(X, y).facts
    assert facts["goal"]["word"] == "Not proved on these rows"
    found = finding(facts, "rows")
    assert found["level"] == "caution"
    assert found["title"] == "There are too few rows labelled tb to prove the goal"
    told = re.search(r"At this rate ([\d,]+) rows labelled tb", found["advice"])[1]
    needed = next(
        m for m in range(n, 9**6)
        if clopper_pearson(np.ceil(m * missed / n), m, 0.05 / 3) <= 1 - floor
    )  # fmt: skip
    assert n < int(told.replace(",", "")) == pytest.approx(needed, rel=0.02)
    assert facts["diagnosis"]["advice"] == "use"


def test_costs_are_those_of_a_thousand_decisions():
    model, X, y = ill(COSTS)
    own = LABELS[np.argmax(model.predict_proba(X), axis=1)]
    prices = np.array(COSTS.costs)
    place = {label: k for k, label in enumerate(LABELS)}
    now, before = (
        1000 * np.mean([prices[place[a], place[b]] for a, b in zip(y, made, strict=True)])
        for made in (model.predict(X), own)
    )
    report = model.report(X, y)
    assert now < before
    assert report.facts["goal"]["state"] == "better"
    assert f"1,000 decisions cost {now:,.4g} on the test rows instead of {before:,.4g}" in repr(
        report
    )


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize(
    "rule", [None, COSTS, ClassFloors(recall={"tb": 0.3}), ClassFloors(recall={"flu": 0.3})]
)
def test_rows_of_a_class_without_any_are_asked_for_first(rule):
    model, X, y = ill(rule, separation=4.0)
    here = y != "tb"
    facts = model.report(X[here], y[here]).facts
    assert facts["diagnosis"]["advice"] == "add rows"
    assert finding(facts, "rows")["title"] == "There are no rows labelled tb"
    assert finding(facts, "change")["level"] == "caution"
    assert facts["classes"][2]["recall"] is None
    assert facts["classes"][2]["most_missed"] == 1.0
    assert Report(facts).html.endswith("</html>")
    titles = " ".join(f["title"] for f in facts["diagnosis"]["findings"])
    assert "every class is" not in titles
    assert "Averaged over the 2 classes with rows" in facts["verdict"]["sentence"]
    if rule is COSTS:
        assert facts["goal"]["state"] == "unsure"
    if isinstance(rule, ClassFloors):
        is_asked = "tb" in rule.recall
        assert facts["goal"]["state"] == ("reached" if is_asked else "met")
        assert ("There are no rows labelled tb." in facts["goal"]["sentence"]) == is_asked


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"by": "age"}, "`by` must be left out in a report on 3 classes"),
        ({"prevalence": 0.1}, "`prevalence` must be left out"),
        ({"positive_name": "sick"}, "`positive_name` must be left out"),
        ({"confidence": 95}, "`confidence` must be between 0 and 1"),
        ({"y": ["cold", "mumps"]}, "`y` must hold labels of `fit`, .* got 'mumps'"),
        ({"y": ["cold"]}, "inconsistent numbers of samples"),
    ],
)
def test_wrong_input_is_refused_in_words(given, message):
    model, X, y = ill(n=20)
    with pytest.raises(ValueError, match=message):
        model.report(X[:2], **({"y": y[:2]} | given))
