"""Rules against scikit-learn's metrics: value by value and gap by gap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    make_scorer,
    matthews_corrcoef,
)

from boundshift import find_boundary, rules
from boundshift.metrics import geometric_mean_score
from boundshift.rules import MCC, Cost, FBeta, Floors, GMean, Kappa, Metric, Minimax, Sum, as_rule
from tests.docs.pages import read
from tests.problems import many, two_normals

RATE = st.floats(0, 1)
METRICS = {
    "f1": lambda y, p, w=None: fbeta_score(y, p, beta=1, zero_division=0, sample_weight=w),
    "f2": lambda y, p, w=None: fbeta_score(y, p, beta=2, zero_division=0, sample_weight=w),
    "mcc": lambda y, p, w=None: matthews_corrcoef(y, p, sample_weight=w),
    "kappa": lambda y, p, w=None: cohen_kappa_score(y, p, sample_weight=w),
}


def one(rule, negative, positive, n=(90, 10)):
    return float(rule.value(np.array([negative]), np.array([positive]), n)[0])


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_with_counts_a_rule_is_the_best_of_its_metric_over_all_gaps(name):
    metric = METRICS[name]

    @many(15)
    @given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 30), st.booleans())
    def check(seed, p, n, tied):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [n, p])
        s = rng.normal(size=n + p) + rng.choice([0.0, 1.0, 3.0]) * y
        s = np.round(s) if tied else s
        if np.median(s[y == 1]) < np.median(s[y == 0]) and as_rule(name).symmetric:
            s = -s
        found = find_boundary(y, s, curve="empirical", rule=name)
        best = max(metric(y, (s > t).astype(int)) for t in [s.min() - 1, *s])
        # A boundary below chance is never the best: the metric of one class for all is 0.
        assert metric(y, found.predict(s)) == pytest.approx(max(best, 0), abs=1e-12)
        assert -found.loss == pytest.approx(max(best, 0), abs=1e-12)

    check()


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("prevalence", [0.5, 0.01])
def test_the_prevalence_is_that_of_weighted_rows(name, prevalence):
    y = np.repeat([0, 1], [90, 10])
    p = np.concatenate([np.repeat([0, 1], [81, 9]), np.repeat([0, 1], [3, 7])])
    weight = np.where(y == 1, prevalence / 10, (1 - prevalence) / 90)
    rule = as_rule(name).at_prevalence(prevalence)
    assert -one(rule, 0.1, 0.3) == pytest.approx(METRICS[name](y, p, weight), abs=1e-12)


GROWING = [
    Cost(false_negative=20), Cost(false_negative=20, prevalence=0.01), Floors(recall=0.9),
    Floors(specificity=0.9), GMean(), Metric("f1"), Minimax(), Sum(), FBeta(), FBeta(2), MCC(),
    Kappa(), MCC(prevalence=0.01),
]  # fmt: skip


@pytest.mark.parametrize("rule", GROWING, ids=str)
def test_rules_grow_with_each_error(rule):
    @many(20 if rule.costly else 100)
    @given(a=RATE, b=RATE, c=RATE, d=RATE)
    def check(a, b, c, d):
        lower = one(rule, min(a, b), min(c, d))
        upper = one(rule, max(a, b), max(c, d))
        assert lower <= upper + 1e-12

    check()


NAMES = {
    accuracy_score: ["accuracy", "accuracy_score"],
    balanced_accuracy_score: ["balanced_accuracy", "balanced_accuracy_score", "youden", "sum",
                              "informedness"],
    cohen_kappa_score: ["cohen_kappa", "cohen_kappa_score"],
    f1_score: ["f1_score"],
    geometric_mean_score: [GMean()],
    matthews_corrcoef: ["matthews_corrcoef"],
}  # fmt: skip


@pytest.mark.parametrize("metric", NAMES)
def test_names_of_metrics_are_rules_that_put_that_metric_first(metric):
    y, s = two_normals(70, 30, 1.0)
    best = max(metric(y, s > t) for t in s)
    for name in NAMES[metric]:
        found = find_boundary(y, s, curve="empirical", rule=name)
        assert metric(y, found.predict(s)) == pytest.approx(best)
    assert as_rule("geometric_mean_score") == as_rule("geometric_mean") == GMean()


def share_wrong(y, p, sample_weight):
    return np.average(np.not_equal(y, p), weights=sample_weight)


@pytest.mark.parametrize(
    ("rule", "errors", "expected"),
    [
        (Sum(), (0.2, 0.3), 0.5),
        (Minimax(), (0.2, 0.3), 0.3),
        (GMean(), (0.2, 0.3), 1 - (0.8 * 0.7) ** 0.5),
        (Cost(false_negative=20), (0.2, 0.1), 0.9 * 0.2 + 0.1 * 20 * 0.1),
        (Cost(prevalence=0.75), (0.4, 0.2), 0.25 * 0.4 + 0.75 * 0.2),
        (Metric(make_scorer(fbeta_score, beta=2)), (0.1, 0.3), one(FBeta(2), 0.1, 0.3)),
        (Metric("matthews_corrcoef"), (0.1, 0.3), one(MCC(), 0.1, 0.3)),
        (Metric(share_wrong, greater_is_better=False), (0.1, 0.3), 0.12),
    ],
)
def test_values_by_hand(rule, errors, expected):
    assert one(rule, *errors) == pytest.approx(expected)


@pytest.mark.parametrize("rounding", [9, 1])
@pytest.mark.parametrize("curve", ["smoothed", "logistic"])
def test_a_metric_is_called_a_few_hundred_times_and_finds_its_best(curve, rounding):
    calls = 0

    def counted(y, p, sample_weight):
        nonlocal calls
        calls += 1
        return float(f1_score(y, p, sample_weight=sample_weight))

    y, s = two_normals(2000, 100, 2.0)
    found = find_boundary(np.array(["no", "yes"])[y], s.round(rounding), curve=curve,
                          rule=Metric(counted), pos_label="yes")  # fmt: skip
    best = find_boundary(y, s.round(rounding), curve=curve, rule="f1")
    assert calls < 600
    assert found.loss == pytest.approx(best.loss, abs=1e-6)


def test_every_public_rule_can_be_read_from_a_record():
    public = [getattr(rules, name) for name in rules.__all__]
    assert {rule for rule in public if hasattr(rule, "name")} == set(rules.RULES.values())


@pytest.mark.parametrize("name", rules.NAMED)
def test_every_name_of_a_rule_is_in_the_table_of_the_docs(name):
    table = read("reference/rules_and_curves.md").partition("## Rules")[2]
    assert f"`{name}`" in table.partition("Names of scikit-learn's metrics")[0]
