"""Advice that follows from the evidence: intervals, decisions without a model, doubts."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom, norm
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    Cost,
    Floors,
    InvalidInputError,
    find_boundary,
)
from boundshift._ranking import auc_interval
from boundshift.report import ColumnUse, Doubt, Report, collect_facts
from tests.report.problems import (
    TEST,
    amounts,
    clopper_pearson,
    finding,
    report_on,
    rows,
    with_costs,
)


def draw(n, seed, gap):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return y, rng.normal(gap * y)


def report_on_normals(rule, gap, n=(1800, 200)):
    found = find_boundary(*draw(n, 0, gap), rule=rule)
    return collect_facts(*draw(n, 1, gap), boundary=found, chosen_here=False)


@pytest.mark.parametrize(("gap", "n"), [(0.0, (60, 12)), (3.0, (80, 40))])
def test_the_interval_of_the_area_covers_it(gap, n):
    """For normal scores the area is known; too many misses are improbable."""
    true = norm.cdf(gap / np.sqrt(2))
    missed = 0
    for seed in range(300):
        low, high = auc_interval(roc_auc_score(*draw(n, seed, gap)), *n, 0.95)
        missed += not low <= true <= high
    assert binom.sf(missed - 1, 300, 0.05) > 0.05


@pytest.mark.parametrize(("auc", "ends"), [(0.0, 0), (1.0, 1)])
def test_the_interval_of_a_perfect_area_has_a_width(auc, ends):
    interval = auc_interval(auc, 50, 5, 0.95)
    assert interval[ends] == auc
    assert abs(interval[0] - interval[1]) > 0.1
    mirrored = auc_interval(1 - auc, 50, 5, 0.95)
    assert interval == pytest.approx((1 - mirrored[1], 1 - mirrored[0]))


@pytest.mark.parametrize(
    ("rule", "value", "policy"),
    [
        (None, 0.5, "at random"),
        ("f1", 2 * 0.1 / 1.1, "everyone"),
        ("mcc", 0.0, "at random"),
        (Cost(false_negative=20), 1000 * 0.9, "everyone"),
        (Cost(false_negative=2), 1000 * 0.2, "nobody"),
        (Floors(flagged=0.2), pytest.approx(0.2, abs=0.03), "at random"),
        (Floors(recall=0.8, confidence=None), np.sqrt(0.8 * 0.2), "at random"),
    ],
)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_what_needs_no_model_is_computed_by_the_goal(rule, value, policy):
    baseline = report_on_normals(rule, 2.0)["judgement"]["usefulness"]["baseline"]
    assert baseline["policy"] == policy
    assert baseline["value"] == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_no_decision_without_a_model_keeps_a_high_precision():
    floors = Floors(precision=0.5, recall=0.1, confidence=None)
    assert report_on_normals(floors, 2.0)["judgement"]["usefulness"]["baseline"] is None


def test_costs_of_rows_are_compared_with_flagging_nobody_and_everyone():
    y, _ = TEST
    details = with_costs(7)
    known = report_on(details=details, choice={"row_cost": amounts(650, 3)})
    useful = known["judgement"]["usefulness"]
    nobody, everyone = (1000 * details.row_cost[y == label].sum() / 890 for label in (1, 0))
    assert nobody < everyone
    assert useful["baseline"]["value"] == pytest.approx(nobody)
    assert useful["baseline"]["policy"] == "nobody"
    assert useful["gain"][0] < nobody - useful["value"] < useful["gain"][1]


@pytest.mark.parametrize(
    ("floors", "gap", "n", "advice"),
    [
        (Floors(recall=0.5), 0.0, (1800, 200), "chance"),
        (Floors(specificity=0.1), 0.12, (3000, 3000), "weak"),
        (Floors(recall=0.9), 0.35, (260, 120), "not shown"),
    ],
)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_floor_that_no_model_is_needed_for_is_not_held_up_as_a_success(floors, gap, n, advice):
    facts = report_on_normals(floors, gap, n)
    assert facts["judgement"]["advice"] == advice
    is_explained = "reaches it, too" in facts["diagnosis"]["next"]
    assert is_explained == (advice == "not shown")


@pytest.mark.parametrize(
    ("above", "state", "word"),
    [
        (-1, "reached", "Kept on these rows, not proved"),
        (4, "reached", "Exceeded, which may be chance"),
        (60, "missed", "Exceeded"),
    ],
)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_cap_is_missed_only_beyond_chance(above, state, word):
    """With 1,000 rows and a cap of 10%, 104 flagged rows are chance, 160 are not."""
    y = np.arange(1000) % 10 == 9
    s = np.arange(1000.0)
    found = find_boundary(y, s, rule=Floors(flagged=0.1, confidence=None))
    found = replace(found, threshold=899.5 - above)
    goal = collect_facts(y, s, boundary=found, chosen_here=False)["goal"]
    assert (goal["state"], goal["word"]) == (state, word)
    assert goal["floors"][0]["budget"] == [100 + above, 100, 1000]


def test_a_budget_beside_a_floor_takes_no_part_of_the_risk():
    known = report_on(Floors(recall=0.7, flagged=0.3))
    recall, cap = known["goal"]["floors"]
    y, s = TEST
    missed = int(np.sum(s[y == 1] <= known["boundary"]["threshold"]))
    assert recall["shown"] == pytest.approx(1 - clopper_pearson(missed, 90, 0.05))
    assert cap["shown"] is None
    assert "together" not in known["goal"]["sentence"]


def test_a_doubt_about_ids_names_its_own_remedy():
    doubt = Doubt("Rows of one 'patient' may be alike", "Use --cluster 'patient'.", is_seen=False)
    facts = report_on(doubt=doubt)
    assert facts["judged_on"] == "test"
    assert facts["judgement"]["advice"] == "test"
    assert facts["diagnosis"]["next"].endswith(f"{doubt.reason}. {doubt.remedy}")
    assert facts["verdict"]["status"] == "nominal"


def test_nothing_is_compared_with_an_own_threshold_that_is_not_known():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [900, 100])
    X = rng.normal(size=(1000, 2)) + 2 * y[:, None]
    fitted = LogisticRegression().fit(X, y)

    def hundred(rows):
        return 100 * fitted.predict_proba(rows)[:, 1]

    model = BoundShiftClassifier(hundred, cv="prefit").fit(X[::2], y[::2])
    assert model.report(X[1::2], y[1::2]).facts["old"]["threshold"] is None
    # A margin between 0 and 100 is not known either, unless it is named.
    s = hundred(X)
    assert collect_facts(y, s)["old"]["threshold"] is None
    assert collect_facts(y, s, old_threshold=50)["old"]["threshold"] == 50.0
    assert collect_facts(y, s / 100, old_threshold=None)["old"]["threshold"] is None


def test_a_model_is_called_by_its_class():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [200, 60])
    X = rng.normal(size=(260, 2)) + 1.5 * y[:, None]
    stacked = StackingClassifier([("a", LogisticRegression()), ("b", GaussianNB())])
    for estimator, name in (
        (stacked, "StackingClassifier"),
        (make_pipeline(GaussianNB()), "GaussianNB"),
    ):
        model = BoundShiftClassifier(estimator, cv=2).fit(X[::2], y[::2])
        assert model.report(X[1::2], y[1::2]).facts["model"] == name


def test_labels_of_a_report_are_those_of_the_boundary():
    y, s = rows()
    found = find_boundary(np.where(y == 1, "sick", "not sick"), s, pos_label="sick")
    for labels in (np.where(y == 1, "sick", "cured"), np.full(len(y), "sick")):
        with pytest.raises(InvalidInputError, match="must hold the labels 'not sick' and 'sick'"):
            collect_facts(labels, s, boundary=found)


def test_every_column_is_listed_with_those_left_out_first():
    uses = [ColumnUse(f"c{i}", "number", "", "numbers") for i in range(14)]
    uses.append(ColumnUse("id", "left out", "", "an id", used=False))
    page = Report(collect_facts(*rows(), columns=uses)).html
    assert page.count("<td>numbers</td>") == 14
    assert page.index('<th scope="row">id<') < page.index('<th scope="row">c0<')


def test_costs_at_which_everyone_is_flagged_are_told_plainly():
    y = np.append(rows()[0], 1)
    s = np.append(rows()[1], -99.0)
    with pytest.warns(BoundaryWarning, match="are on the wrong side of this threshold"):
        found = find_boundary(y, s, rule=Cost(false_negative=1e9), curve="empirical")
    advice = collect_facts(y, s, boundary=found, test=(y, s))["diagnosis"]["next"]
    assert "flagging everyone is cheapest, without any model" in advice


def test_a_search_that_fell_back_is_reported():
    y = np.repeat([0, 1], 20)
    s = np.tile(np.arange(20.0), 2)
    with pytest.warns(BoundaryWarning):
        found = find_boundary(y, s, curve="support")
    known = collect_facts(y, s, boundary=found)
    assert known["judgement"]["advice"] == "no method"
    assert found.status.message in known["diagnosis"]["next"]
    assert finding(known, "status")["level"] == "bad"


# --- Other methods --------------------------------------------------------------------------------


def lead(rule, **others):
    found = find_boundary(*rows(), rule=rule)
    cuts = {"boundshift": found.threshold} | others
    methods = [{"method": name, "threshold": cut} for name, cut in cuts.items()]
    facts = collect_facts(*rows(), boundary=found, test=rows(seed=1), comparison=methods)
    return facts["judgement"]["lead"]


def test_methods_are_asked_first_whether_they_keep_the_floors():
    none = lead(Floors(recall=0.9), high=3.0)
    assert (none["n_keeping"], none["n_others"], none["best"]) == (0, 1, None)
    one = lead(Floors(recall=0.9), high=3.0, low=-9.0)
    assert (one["n_keeping"], one["n_others"], one["best"]) == (1, 2, "low")
    assert one["ours"] > one["theirs"]


def test_a_lead_of_one_row_is_counted_and_may_be_chance():
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
    lead = collect_facts(y, s, boundary=boundary, comparison=methods)["judgement"]["lead"]
    for name, cut in (("ours", boundary.threshold), ("theirs", above)):
        g_mean = np.prod(recall_score(y, s > cut, average=None)) ** 0.5
        assert lead[name] == pytest.approx(g_mean)
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
    assert known["judgement"]["advice"] == "other method"
