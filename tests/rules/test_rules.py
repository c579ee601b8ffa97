import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    fbeta_score,
    make_scorer,
    matthews_corrcoef,
)

from boundshift import BoundShiftClassifier, InvalidInputError, find_boundary, threshold_interval
from boundshift.metrics import geometric_mean_score
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
        Cost(false_negative=20),
        Cost(false_negative=20, prevalence=0.01),
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


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("accuracy", accuracy_score),
        ("accuracy_score", accuracy_score),
        ("balanced_accuracy", balanced_accuracy_score),
        ("balanced_accuracy_score", balanced_accuracy_score),
        ("cohen_kappa", cohen_kappa_score),
        ("cohen_kappa_score", cohen_kappa_score),
        ("f1_score", f1_score),
        ("geometric_mean_score", geometric_mean_score),
        ("matthews_corrcoef", matthews_corrcoef),
    ],
)
def test_names_of_metrics_are_rules_that_put_that_metric_first(name: str, metric: object) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [70, 30])
    s = rng.normal(size=100) + y
    rule = as_rule(name)
    if isinstance(rule, GMean):
        rule = GMean(0)
    found = find_boundary(y, s, curve="empirical", rule=rule)
    best = max(metric(y, s > t) for t in s)
    assert metric(y, found.predict(s)) == pytest.approx(best)


def test_costs_go_by_name_and_beta_comes_first() -> None:
    with pytest.raises(TypeError, match="positional"):
        Cost(1, 20)
    assert FBeta(2) == FBeta(beta=2)
    assert FBeta(2, prevalence=0.1).prevalence == 0.1


def test_sum_adds_and_minimax_takes_the_larger() -> None:
    assert one(Sum(), 0.2, 0.3) == pytest.approx(0.5)
    assert one(Minimax(), 0.2, 0.3) == 0.3


def test_g_mean_is_that_of_the_recalls() -> None:
    assert one(GMean(0), 0.2, 0.3) == pytest.approx(1 - (0.8 * 0.7) ** 0.5)
    assert one(GMean(), 0.2, 1.0) == 1.0


def test_cost_multiplies_costs_with_frequencies() -> None:
    assert one(Cost(false_negative=20), 0.2, 0.1) == pytest.approx(0.9 * 0.2 + 0.1 * 20 * 0.1)


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
        (lambda: Cost(false_negative=-1), "`false_negative` must be a positive"),
        (lambda: Cost(false_positive=(1, 20)), "`false_positive` must be a positive"),
        (lambda: Cost(prevalence=0), "`prevalence` must be a positive"),
        (lambda: Cost(prevalence=1), "`prevalence` must be between 0 and 1"),
        (lambda: as_rule("least"), "`rule` must be a Rule or one of 'cost'"),
        (lambda: as_rule("gmean"), "Did you mean 'g-mean'"),
        (lambda: as_rule("balanced"), r"'balanced_accuracy'.*Did you mean 'balanced_accuracy'"),
        (lambda: as_rule("fbeta_score"), r"pass FBeta\(3\)"),
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


@pytest.mark.parametrize("labels", [(1, 2), (-1, 1), (False, True), ("no", "yes"), (3, 1)])
@pytest.mark.parametrize("named", [0, 1])
@pytest.mark.parametrize("curve", ["empirical", "smoothed"])
def test_a_scorer_that_names_a_label_gets_the_labels_of_the_rows(labels, named, curve) -> None:
    rng = np.random.default_rng(1)
    codes = np.repeat([0, 1], [150, 50])
    s = rng.normal(size=200) + 1.5 * codes
    y = np.array(labels)[codes]
    rule = Metric(make_scorer(f1_score, pos_label=labels[named]))
    found = find_boundary(y, s, curve=curve, rule=rule, pos_label=labels[1])
    # F1 of either class, by the rule that has no scorer: of the other one with the roles changed.
    turned = find_boundary(1 - codes, -s, curve=curve, rule=FBeta(), pos_label=1)
    plain = find_boundary(codes, s, curve=curve, rule=FBeta(), pos_label=1)
    expected = (-turned.threshold, turned.loss) if named == 0 else (plain.threshold, plain.loss)
    assert (found.threshold, found.loss) == pytest.approx(expected, abs=1e-4)
    reached = f1_score(y, found.predict(s), pos_label=labels[named])
    if curve == "empirical":
        assert -found.loss == pytest.approx(reached)
    found.to_dict()


def test_a_scorer_gets_the_labels_in_the_classifier_and_in_an_interval() -> None:
    rng = np.random.default_rng(1)
    y = np.repeat(["no", "yes"], [150, 50])
    X = rng.normal(size=(200, 1)) + 1.5 * (y == "yes")[:, None]
    rule = Metric(make_scorer(f1_score, pos_label="yes"))
    plain = Metric(f1_score)
    assert threshold_interval(
        y, X[:, 0], curve="student-t", rule=rule, pos_label="yes", n_resamples=5, random_state=0
    ) == threshold_interval(
        y, X[:, 0], curve="student-t", rule=plain, pos_label="yes", n_resamples=5, random_state=0
    )
    found, expected = (
        BoundShiftClassifier(LogisticRegression(), rule=r, pos_label="yes").fit(X, y)
        for r in (rule, plain)
    )
    assert found.threshold_ == expected.threshold_


def test_a_scorer_that_names_another_label_is_refused() -> None:
    rule = Metric(make_scorer(f1_score, pos_label="ill"))
    with pytest.raises(InvalidInputError, match="`metric` must name labels of the rows, 'no' and"):
        find_boundary(["no", "no", "yes", "yes"], [1, 2, 3, 4], rule=rule, pos_label="yes")
    with pytest.raises(InvalidInputError, match="`labels` must be two different"):
        Metric("f1", labels=("yes",))
