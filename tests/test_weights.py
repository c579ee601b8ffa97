"""Weights are importances, and costs by row amounts."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundShiftClassifier,
    Floors,
    InvalidInputError,
    find_boundary,
)
from boundshift._scores import ScoreSample

# Weights above 2 claim more rows than there are, which is warned of.
pytestmark = pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
ESTIMATING = ["blend", "smoothed", "logistic", "empirical"]
COUNTING = ["clopper-pearson", "support", "paper"]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 25])
    return y, rng.normal(size=325) + 2 * y, rng.integers(1, 6, 325)


RULE_NAMES = ["g-mean", "sum", "minimax", "f1", "mcc", "cost"]


@pytest.mark.parametrize("weight", [2, 0.5, 1e-6, 1000.0])
@pytest.mark.parametrize("curve", ESTIMATING)
@pytest.mark.parametrize("rule", RULE_NAMES)
def test_a_weight_that_all_rows_share_changes_nothing(problem, curve, rule, weight):
    y, s, _ = problem
    weighted = find_boundary(y, s, curve=curve, rule=rule, sample_weight=np.full(325, weight))
    plain = find_boundary(y, s, curve=curve, rule=rule)
    assert weighted.threshold == pytest.approx(plain.threshold, abs=1e-8)
    assert weighted.errors == pytest.approx(plain.errors, abs=1e-9)
    assert weighted.n_samples == pytest.approx((300 * weight, 25 * weight))
    assert weighted.wrong == pytest.approx(np.multiply(plain.wrong, weight))
    assert weighted.status is plain.status


@pytest.mark.parametrize("curve", ESTIMATING)
@pytest.mark.parametrize("rule", RULE_NAMES)
def test_only_ratios_of_weights_matter(problem, curve, rule):
    y, s, w = problem
    small, large = (
        find_boundary(y, s, curve=curve, rule=rule, sample_weight=w * unit) for unit in (1e-9, 1e9)
    )
    assert small.threshold == pytest.approx(large.threshold, abs=1e-8)
    assert small.errors == pytest.approx(large.errors, abs=1e-9)


@pytest.mark.parametrize("curve", ESTIMATING)
def test_a_weight_of_zero_is_no_row(problem, curve):
    y, s, _ = problem
    dropped = np.where(np.arange(325) < 100, 0, 1)
    without = find_boundary(y[100:], s[100:], curve=curve)
    found = find_boundary(y, s, curve=curve, sample_weight=dropped)
    assert found.threshold == pytest.approx(without.threshold, abs=1e-8)


def test_weighted_errors_are_counted_by_hand(problem):
    y, s, w = problem
    found = find_boundary(y, s, curve="empirical", rule="sum", sample_weight=w)
    losses = [
        w[(y == 0) & (s > t)].sum() / w[y == 0].sum()
        + w[(y == 1) & (s <= t)].sum() / w[y == 1].sum()
        for t in s
    ]
    assert found.loss == pytest.approx(min(losses))
    is_wrong = (s > found.threshold) != y
    assert found.wrong == pytest.approx([w[is_wrong & (y == k)].sum() for k in (0, 1)])


@pytest.mark.parametrize("weight", [2.0, 7.0])
def test_weights_make_no_atoms_and_leave_smoothing_on(problem, weight):
    y, s, _ = problem
    assert len(np.unique(s)) == len(s)
    sample = ScoreSample.from_labels(y, s, sample_weight=np.full(325, weight))
    assert len(sample.atoms) == 0
    repeated = ScoreSample.from_labels(y, np.round(s), sample_weight=np.full(325, 0.1))
    plain = ScoreSample.from_labels(y, np.round(s))
    np.testing.assert_array_equal(repeated.atoms, plain.atoms)
    assert len(plain.atoms) > 3


def test_effective_rows_are_those_of_kish(problem):
    y, s, w = problem
    for k, scores in enumerate(ScoreSample.from_labels(y, s, sample_weight=w).classes):
        own = w[y == k]
        assert scores.effective_n == pytest.approx(own.sum() ** 2 / np.sum(own**2))
        spread = own.sum() ** 2 / (own.sum() ** 2 - np.sum(own**2))
        mean = np.average(s[y == k], weights=own)
        variance = np.average((s[y == k] - mean) ** 2, weights=own) * spread
        assert (scores.mean, scores.std) == pytest.approx((mean, np.sqrt(variance)))


def test_thresholds_of_weighted_rows_err_no_more_than_their_effective_number_explains():
    # Weights of 1 and 3 by chance: effective are 4/5 of the rows.
    rng = np.random.default_rng(0)
    deviations = {"plain": [], "weighted": []}
    y = np.repeat([0, 1], [400, 50])
    for _ in range(150):
        s = rng.normal(size=450) + 2 * y
        weight = rng.choice([1.0, 3.0], 450)
        deviations["plain"].append(find_boundary(y, s).threshold - 1)
        deviations["weighted"].append(find_boundary(y, s, sample_weight=weight).threshold - 1)
    plain, weighted = (np.sqrt(np.mean(np.square(d))) for d in deviations.values())
    assert weighted < 1.2 * plain


@pytest.mark.parametrize("curve", COUNTING)
def test_curves_that_count_rows_refuse(problem, curve):
    y, s, w = problem
    with pytest.raises(InvalidInputError, match="`sample_weight` must be left out with the curve"):
        find_boundary(y, s, curve=curve, sample_weight=w)


@pytest.mark.parametrize("tied", [False, True])
def test_no_other_boundary_costs_less(tied):
    rng = np.random.default_rng(2)
    for _ in range(100):
        y = np.append(rng.integers(0, 2, 30), [0, 1])
        s = rng.normal(size=32) + y
        s = np.round(s) if tied else s
        cost = rng.exponential(size=32) * 100
        found = find_boundary(y, s, row_cost=cost)
        points = np.unique(s)
        cuts = [points[0] - 1, *((points[1:] + points[:-1]) / 2), points[-1] + 1]
        best = min(cost[(s > t) != y].sum() for t in cuts)
        assert cost[found.predict(s) != y].sum() == pytest.approx(best)
        assert found.loss == pytest.approx(best / 32)


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, pd.DataFrame])
def test_two_columns_are_the_costs_of_a_false_alarm_and_of_a_miss(pos_label, form):
    rng = np.random.default_rng(3)
    y = np.append(rng.integers(0, 2, 60), [0, 1])
    s = rng.normal(size=62) + (y == pos_label)
    both = rng.exponential(size=(62, 2)) * [1, 20]
    own = [both[i, 1] if y[i] == pos_label else both[i, 0] for i in range(62)]
    found = find_boundary(y, s, row_cost=form(both), pos_label=pos_label)
    assert found == find_boundary(y, s, row_cost=own, pos_label=pos_label)
    assert found != find_boundary(y, s, row_cost=both[:, 0], pos_label=pos_label)


# The classifier.


@pytest.fixture
def table():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [180, 40])
    X = rng.normal(size=(220, 3)) + y[:, None]
    return X, y, rng.integers(1, 4, 220)


@pytest.mark.parametrize(("rule", "classes"), [("g-mean", 2), ("cost", 2), ("g-mean", 3)])
def test_in_fit_a_weight_that_all_rows_share_changes_nothing(table, rule, classes):
    X, y, _ = table
    if classes == 3:
        y = np.where((y == 1) & (np.arange(220) % 2 == 0), 2, y)
    inner = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000)
    plain = BoundShiftClassifier(inner, rule=rule).fit(X, y)
    weighted = BoundShiftClassifier(inner, rule=rule).fit(X, y, sample_weight=np.full(220, 3.0))
    if classes == 2:
        assert weighted.threshold_ == pytest.approx(plain.threshold_, abs=1e-4)
    else:
        np.testing.assert_allclose(weighted.biases_, plain.biases_, atol=1e-3)


@pytest.mark.parametrize("counts", [True, False])
def test_with_routing_the_boundary_is_asked_for_by_name(table, counts):
    X, y, w = table
    with sklearn.config_context(enable_metadata_routing=True):
        inner = LogisticRegression().set_fit_request(sample_weight=not counts)
        model = BoundShiftClassifier(inner).set_fit_request(sample_weight=counts)
        model.fit(X, y, sample_weight=w)
    expected = (w[y == 0].sum(), w[y == 1].sum()) if counts else (180, 40)
    assert model.boundary_.n_samples == expected


def test_a_row_cost_decides_in_the_classifier_and_the_model_does_not_see_it(table):
    X, y, _ = table
    cost = np.random.default_rng(0).exponential(100, 220)
    inner = LogisticRegression().fit(X, y)
    found = BoundShiftClassifier(inner, cv="prefit").fit(X, y, row_cost=cost)
    expected = find_boundary(y, inner.predict_proba(X)[:, 1], row_cost=cost)
    assert found.threshold_ == expected.threshold
    assert found.boundary_.loss == expected.loss


@pytest.mark.parametrize(
    ("model", "metadata", "message"),
    [
        ({"curve": "paper"}, {"sample_weight": 1}, "must be left out with the curve 'support'"),
        ({"rule": Floors(recall=0.9)}, {"sample_weight": 1}, "set_fit_request"),
        ({}, {"sample_weight": -1}, "got -1 and 219 more"),
        ({"rule": "f1"}, {"row_cost": 1}, "another rule than 'cost'"),
        ({}, {"row_cost": 1, "sample_weight": 1}, "cannot be combined"),
    ],
)
def test_the_classifier_refuses_what_it_would_ignore(table, model, metadata, message):
    X, y, _ = table
    filled = {name: np.full(220, float(value)) for name, value in metadata.items()}
    with pytest.raises(InvalidInputError, match=message):
        BoundShiftClassifier(LogisticRegression(), **model).fit(X, y, **filled)


# Certificates.


def test_a_weighted_certificate_is_nominal_and_counts_rows(problem):
    y, s, w = problem
    w[:10] = 0
    model = BoundShiftClassifier(lambda X: X[:, 0], cv="prefit").fit(s[:, None], y, sample_weight=w)
    found = model.certificate_
    wrong = ((s > model.threshold_) != y)[10:]
    assert (found.status, found.n_samples) == ("nominal", (290, 25))
    assert found.wrong == tuple(int(wrong[y[10:] == k].sum()) for k in (0, 1))
    assert "Rows have weights" in str(found)
