import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score, fbeta_score, make_scorer, matthews_corrcoef

from boundshift import InvalidInputError, find_boundary
from boundshift.rules import (
    RULES,
    Cost,
    FBeta,
    Floors,
    GMean,
    Metric,
    Minimax,
    Rule,
    Sum,
    Youden,
    as_rule,
)

RATE = st.floats(0, 1)


def one(rule: Rule, negative: float, positive: float, n: tuple[int, int] = (90, 10)) -> float:
    return float(rule.value(np.array([negative]), np.array([positive]), n)[0])


def test_every_rule_is_known_by_its_name() -> None:
    assert all(RULES[name].name == name for name in RULES)
    assert {"cost", "floors", "g-mean", "kappa", "mcc", "minimax", "sum"} <= set(RULES)


@pytest.mark.parametrize(
    "rule",
    [
        Cost(1, 20),
        Cost(1, 20, prevalence=0.01),
        Floors(recall=0.9),
        Floors(specificity=0.9),
        GMean(),
        GMean(0),
        Metric("f1"),
        Minimax(),
        Sum(),
    ],
    ids=str,
)
@settings(deadline=None)
@given(a=RATE, b=RATE, c=RATE, d=RATE)
def test_rules_grow_with_each_error(rule: Rule, a: float, b: float, c: float, d: float) -> None:
    lower, upper = one(rule, min(a, b), min(c, d)), one(rule, max(a, b), max(c, d))
    assert lower <= upper + 1e-12


def test_sum_adds_and_minimax_takes_the_larger() -> None:
    assert one(Sum(), 0.2, 0.3) == pytest.approx(0.5)
    assert one(Minimax(), 0.2, 0.3) == 0.3


def test_g_mean_is_that_of_the_recalls() -> None:
    assert one(GMean(0), 0.2, 0.3) == pytest.approx(1 - (0.8 * 0.7) ** 0.5)
    assert one(GMean(), 0.2, 1.0) == 1.0


def test_cost_multiplies_costs_with_frequencies() -> None:
    assert one(Cost(1, 20), 0.2, 0.1) == pytest.approx(0.9 * 0.2 + 0.1 * 20 * 0.1)


def test_cost_takes_the_frequencies_of_deployment() -> None:
    assert one(Cost(prevalence=0.75), 0.4, 0.2) == pytest.approx(0.25 * 0.4 + 0.75 * 0.2)


@pytest.mark.parametrize("rule", [Floors(recall=0.9), Floors(specificity=0.9)])
def test_the_floor_comes_first(rule: Floors) -> None:
    met, broken = ((0.9, 0.1), (0.0, 0.11))
    if rule.specificity:
        met, broken = met[::-1], broken[::-1]
    assert one(rule, *met) < one(rule, *broken)
    assert not rule.missed(*met, (90, 10))
    assert list(rule.missed(*broken, (90, 10)).values()) == pytest.approx([0.01])


@pytest.mark.parametrize(("name", "function"), [("f1", f1_score), ("matthews_corrcoef", None)])
def test_metric_equals_scikit_learn_on_rows(name: str, function: object) -> None:
    y = np.repeat([0, 1], [90, 10])
    predicted = np.concatenate([np.repeat([0, 1], [81, 9]), np.repeat([0, 1], [3, 7])])
    expected = (function or matthews_corrcoef)(y, predicted)
    assert one(Metric(name), 0.1, 0.3) == pytest.approx(-expected)


def test_metric_takes_a_function_and_its_direction() -> None:
    def error(y: object, p: object, sample_weight: object) -> float:
        return float(np.average(np.not_equal(y, p), weights=sample_weight))

    assert one(Metric(error, greater_is_better=False), 0.1, 0.3) == pytest.approx(0.12)


def test_metric_takes_a_scorer_with_its_arguments() -> None:
    scorer = make_scorer(fbeta_score, beta=2)
    assert one(Metric(scorer), 0.1, 0.3) == pytest.approx(one(FBeta(beta=2), 0.1, 0.3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Cost(1, -1), "`false_negative` must be a positive"),
        (lambda: Cost((1, 20)), "`false_positive` must be a positive"),
        (lambda: Cost(prevalence=0), "`prevalence` must be a positive"),
        (lambda: Cost(prevalence=1), "`prevalence` must be between 0 and 1"),
        (lambda: as_rule("least"), "`rule` must be a Rule or one of 'cost'"),
        (lambda: as_rule("gmean"), "Did you mean 'g-mean'"),
        (lambda: as_rule("floors"), "which floor"),
        (lambda: as_rule("metric"), "which metric"),
        (lambda: Metric("f1x"), "Did you mean 'f1'"),
        (lambda: Metric("roc_auc"), "has no boundary"),
        (lambda: Metric(3), "must be a function of labels and predictions"),
        (lambda: Metric(lambda y, p: 0.0), "must take sample_weight"),
        (lambda: one(Metric(lambda y, p, sample_weight: [1]), 0.1, 0.1), "must give one number"),
        (lambda: Youden(prevalence=0.1), "`prevalence` must be left out of Youden"),
    ],
)
def test_bad_arguments(make: object, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("curve", ["smoothed", "logistic", "student-t"])
def test_a_metric_is_asked_for_a_few_hundred_values_and_finds_its_best(curve: str) -> None:
    calls = 0

    def counted(y: object, p: object, sample_weight: object) -> float:
        nonlocal calls
        calls += 1
        return float(f1_score(y, p, sample_weight=sample_weight))

    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [2000, 100])
    s = rng.normal(size=2100) + 2 * y
    found = find_boundary(y, s, curve=curve, rule=Metric(counted))
    best = find_boundary(y, s, curve=curve, rule="f1")
    assert calls < 600
    assert found.loss == pytest.approx(best.loss, abs=1e-6)
