"""Advice that follows from the evidence: intervals, baselines without a model, names of models."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.ensemble import RandomForestClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from boundshift import BoundShiftClassifier, Cost, Floors, InvalidInputError, find_boundary
from boundshift._ranking import auc_interval
from boundshift.report import Doubt, Report, RowDetails, collect_facts
from tests.report.problems import NAMES, amounts, clopper_pearson, rows


def draw(n, seed, gap):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return y, rng.normal(gap * y)


def report_on(rule, gap, n=(1800, 200), **known):
    found = find_boundary(*draw(n, 0, gap), rule=rule)
    return collect_facts(*draw(n, 1, gap), boundary=found, chosen_here=False, **known)


@pytest.mark.parametrize(("gap", "n"), [(0.0, (60, 12)), (1.0, (300, 25)), (3.0, (80, 40))])
def test_the_interval_of_the_area_covers_it(gap, n):
    """Of 600 samples at most 6.5% may miss the area, which for normal scores is known."""
    true = norm.cdf(gap / np.sqrt(2))
    missed = 0
    for seed in range(600):
        low, high = auc_interval(roc_auc_score(*draw(n, seed, gap)), *n, 0.95)
        missed += not low <= true <= high
    assert missed / 600 <= 0.065


@pytest.mark.parametrize(("auc", "ends"), [(0.0, 0), (1.0, 1)])
def test_the_interval_of_a_perfect_area_has_a_width(auc, ends):
    interval = auc_interval(auc, 50, 5, 0.95)
    assert interval[ends] == auc
    assert abs(interval[0] - interval[1]) > 0.1
    assert interval == pytest.approx(
        tuple(1 - end for end in auc_interval(1 - auc, 50, 5, 0.95)[::-1])
    )


@pytest.mark.parametrize(
    ("rule", "value", "policy"),
    [
        (None, 0.5, "at random"),
        ("f1", 2 * 0.1 / 1.1, "everyone"),
        ("mcc", 0.0, "at random"),
        (Cost(false_negative=20), 1000 * 0.9, "everyone"),
        (Cost(false_negative=2), 1000 * 0.2, "nobody"),
        (Floors(flagged=0.2), 0.2, "at random"),
        (Floors(recall=0.8, confidence=None), np.sqrt(0.8 * 0.2), "at random"),
        (Floors(precision=0.5, recall=0.1, confidence=None), None, "at random"),
    ],
)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_what_needs_no_model_is_computed_by_the_goal(rule, value, policy):
    useful = report_on(rule, 2.0)["judgement"]["usefulness"]
    assert useful["policy"] == policy
    expected = value
    if rule == Floors(flagged=0.2):  # as many as the model flags, if these are more
        expected = pytest.approx(0.2, abs=0.03)
    assert useful["without_model"] == (None if value is None else pytest.approx(expected))


def test_costs_of_rows_are_compared_with_flagging_nobody_and_everyone():
    y, s = rows()
    found = find_boundary(y, s, row_cost=amounts(650, 3))
    y, s = rows(800, 90, seed=1)
    paid = amounts(890, 7)
    useful = collect_facts(
        y, s, boundary=found, chosen_here=False, details=RowDetails(row_cost=paid)
    )["judgement"]["usefulness"]
    nobody = 1000 * paid[y == 1].sum() / 890
    everyone = 1000 * paid[y == 0].sum() / 890
    assert useful["without_model"] == pytest.approx(min(nobody, everyone))
    assert useful["policy"] == "nobody"
    assert useful["gain"][0] < useful["without_model"] - useful["value"] < useful["gain"][1]


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_floor_that_noise_meets_is_not_held_up_as_a_success():
    facts = report_on(Floors(recall=0.5), 0.0)
    assert facts["judgement"]["advice"] == "chance"
    facts = report_on(Floors(specificity=0.1), 0.12, n=(3000, 3000))
    assert (facts["goal"]["state"], facts["judgement"]["advice"]) == ("met", "weak")


@pytest.mark.parametrize("floor", [0.85, 0.9])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_met_floor_beside_do_not_use_it_is_explained(floor):
    """Scores are better than chance, the decision at a high recall is not shown to be."""
    facts = report_on(Floors(recall=floor), 0.35, n=(260, 120))
    assert facts["judgement"]["advice"] in ("not shown", "chance")
    if facts["judgement"]["advice"] == "not shown" and facts["goal"]["state"] == "met":
        assert "reaches it, too" in facts["diagnosis"]["next"]


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_capacity_that_is_exceeded_is_called_so():
    y = np.arange(1000) % 10 == 9
    s = np.arange(1000.0)
    found = find_boundary(y, s, rule=Floors(flagged=0.1, confidence=None))
    for above, word in ((4, "Exceeded, which may be chance"), (60, "Exceeded"), (-1, "Kept on")):
        moved = s + (found.threshold - 899.5) + above
        goal = collect_facts(y, moved, boundary=found, chosen_here=False)["goal"]
        assert goal["word"].startswith(word)
        assert "at most 10%" not in goal["sentence"]


def test_a_doubt_about_ids_names_its_own_remedy():
    doubt = Doubt("Rows of one 'patient' may be alike", "Use --cluster 'patient'.", is_seen=False)
    facts = collect_facts(*rows(), test=rows(800, 90, seed=1), doubt=doubt)
    assert facts["judged_on"] == "test"
    assert facts["diagnosis"]["next"].endswith(
        "Rows of one 'patient' may be alike. Use --cluster 'patient'."
    )
    assert "not show that it is better than chance" not in json_text(facts)
    assert facts["verdict"]["status"] == "nominal"


def json_text(facts):
    return " ".join([facts["diagnosis"]["next"], facts["verdict"]["sentence"]])


def test_nothing_is_compared_with_an_own_threshold_that_is_not_known():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [900, 100])
    X = rng.normal(size=(1000, 2)) + 2 * y[:, None]
    fitted = LogisticRegression().fit(X, y)

    def hundred(rows):
        return 100 * fitted.predict_proba(rows)[:, 1]

    model = BoundShiftClassifier(hundred, cv="prefit").fit(X[::2], y[::2])
    report = model.report(X[1::2], y[1::2], **NAMES)
    assert report.facts["old"]["threshold"] is None
    assert "own" not in repr(report)
    assert "model's own" not in report.html.split("<script")[0].replace("&#39;", "'")
    # A margin between 0 and 100 is not known either, unless it is named.
    s = hundred(X)
    assert collect_facts(y, s)["old"]["threshold"] is None
    assert collect_facts(y, s, old_threshold=50)["old"]["threshold"] == 50.0
    assert collect_facts(y, s / 100, old_threshold=None)["old"]["threshold"] is None
    with pytest.raises(InvalidInputError, match="`old_threshold` must be a finite number"):
        collect_facts(y, s, old_threshold=float("nan"))


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (VotingClassifier([("a", LogisticRegression()), ("b", GaussianNB())], voting="soft"),
         "VotingClassifier"),
        (StackingClassifier([("a", LogisticRegression()), ("b", GaussianNB())]),
         "StackingClassifier"),
        (make_pipeline(GaussianNB()), "GaussianNB"),
        (RandomForestClassifier(10, random_state=0), "RandomForestClassifier"),
    ],
)  # fmt: skip
def test_a_model_is_called_by_its_class(estimator, name):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [200, 60])
    X = rng.normal(size=(260, 2)) + 1.5 * y[:, None]
    model = BoundShiftClassifier(estimator, cv=2).fit(X[::2], y[::2])
    assert model.report(X[1::2], y[1::2]).facts["model"] == name


def test_labels_of_a_report_are_those_of_the_boundary():
    y, s = rows()
    found = find_boundary(np.where(y == 1, "sick", "not sick"), s, pos_label="sick")
    for labels in (np.where(y == 1, "sick", "cured"), np.full(len(y), "sick")):
        with pytest.raises(InvalidInputError, match="must hold the labels 'not sick' and 'sick'"):
            collect_facts(labels, s, boundary=found)
    signs = find_boundary(2 * y - 1, s)
    with pytest.raises(InvalidInputError, match=r"labels -1 and 1, .* got 1"):
        collect_facts(np.ones_like(y), s, boundary=signs)


def test_every_column_is_listed_with_those_left_out_first():
    from boundshift.report import ColumnUse

    uses = [ColumnUse(f"c{i}", "number", "", "numbers") for i in range(14)]
    uses.append(ColumnUse("id", "left out", "", "an id", used=False))
    page = Report(collect_facts(*rows(), columns=uses)).html
    assert page.count("<td>numbers</td>") == 14
    assert page.index('<th scope="row">id<') < page.index('<th scope="row">c0<')
    assert "not shown" not in page


def test_enough_rows_are_not_claimed_where_more_are_asked_for():
    known = collect_facts(*rows(), interval=(-1.2, 0.4), old_threshold=0.0, test=rows(seed=2))
    assert known["judgement"]["asks_for_rows"]
    assert "There are enough" not in " ".join(f["title"] for f in known["diagnosis"]["findings"])


def test_a_budget_beside_a_floor_takes_no_part_of_the_risk():
    y, s = rows()
    found = find_boundary(y, s, rule=Floors(recall=0.7, flagged=0.3))
    y, s = rows(800, 90, seed=1)
    goal = collect_facts(y, s, boundary=found, chosen_here=False)["goal"]
    recall, cap = goal["floors"]
    missed = int(np.sum(s[y == 1] <= found.threshold))
    assert recall["shown"] == pytest.approx(1 - clopper_pearson(missed, 90, 0.05))
    assert cap["shown"] is None
    assert "together" not in goal["sentence"]
    assert f"{int(np.sum(s > found.threshold))} of 890 where 267 were asked for" in goal["sentence"]
