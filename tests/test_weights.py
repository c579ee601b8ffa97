"""Weights count as frequencies, costs by row as amounts."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundShiftClassifier,
    Floors,
    InvalidInputError,
    find_boundary,
)
from boundshift._scores import ScoreSample
from boundshift.curves import as_curve
from tests.problems import many

# Weights above 2 claim more rows than there are, which is warned of.
pytestmark = pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
ESTIMATING = ["blend", "smoothed", "logistic", "empirical"]
COUNTING = ["clopper-pearson", "support", "paper"]


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [300, 25])
    return y, rng.normal(size=325) + 2 * y, rng.integers(1, 6, 325)


@pytest.mark.parametrize("curve", ESTIMATING)
@pytest.mark.parametrize("rule", ["g-mean", "sum", "minimax", "f1", "mcc", "cost"])
def test_a_weight_is_the_row_as_many_times(problem, curve, rule):
    y, s, w = problem
    weighted = find_boundary(y, s, curve=curve, rule=rule, sample_weight=w)
    repeated = find_boundary(np.repeat(y, w), np.repeat(s, w), curve=curve, rule=rule)
    assert weighted.threshold == pytest.approx(repeated.threshold, abs=1e-8)
    assert weighted.errors == pytest.approx(repeated.errors, abs=1e-9)
    assert weighted.wrong == repeated.wrong
    assert weighted.n_samples == repeated.n_samples


@pytest.mark.parametrize("curve", ESTIMATING)
def test_fractions_lie_between_whole_numbers_and_zero_is_no_row(problem, curve):
    y, s, _ = problem
    half = find_boundary(y, s, curve=curve, sample_weight=np.full(325, 0.5))
    more = find_boundary(y, s, curve=curve, sample_weight=np.where(y == 1, 1.7, 1.0))
    assert half.n_samples == (150.0, 12.5)
    assert more.n_samples == pytest.approx((300, 42.5))
    dropped = np.where(np.arange(325) < 100, 0, 1)
    without = find_boundary(y[100:], s[100:], curve=curve)
    found = find_boundary(y, s, curve=curve, sample_weight=dropped)
    assert found.threshold == pytest.approx(without.threshold, abs=1e-8)


@st.composite
def split_rows(draw):
    """Return labels, scores and weights, and the same rows in parts whose weights add up."""
    n = draw(st.integers(8, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = np.append(rng.integers(0, 2, n), [0, 0, 0, 1, 1, 1])
    s = np.round(rng.normal(size=len(y)) + 2 * y, draw(st.sampled_from([1, 6])))
    weight = rng.choice([1.0, 1.7, 2.0, 3.5], len(y))
    part = rng.choice([0.5, 0.7, 1.0], len(y))
    order = rng.permutation(2 * len(y))
    apart = np.tile(y, 2)[order], np.tile(s, 2)[order], np.append(part, weight - part)[order]
    return (y, s, weight), apart


@pytest.mark.parametrize("curve", ESTIMATING)
def test_parts_of_a_row_are_the_row(curve):
    @many(60)
    @given(split_rows())
    def check(rows):
        s = rows[0][1]
        at = np.linspace(s.min() - 1, s.max() + 1, 101)
        whole, parts = (
            ScoreSample.from_labels(*given[:2], sample_weight=given[2]) for given in rows
        )
        assert parts.n_samples == pytest.approx(whole.n_samples)
        found, expected = (as_curve(curve).errors(sample)(at) for sample in (parts, whole))
        np.testing.assert_allclose(found, expected, atol=1e-9)

    check()


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


def splits(n, times):
    """Return five splits that keep all copies of a row together."""
    part = np.repeat(np.arange(n) % 5, times)
    return [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for k in range(5)]


@pytest.mark.parametrize(("rule", "classes"), [("g-mean", 2), ("cost", 2), ("g-mean", 3)])
def test_in_fit_a_weight_is_the_row_as_many_times_where_folds_keep_copies_together(
    table, rule, classes
):
    X, y, w = table
    if classes == 3:
        y = np.where((y == 1) & (np.arange(220) % 2 == 0), 2, y)
    inner = LogisticRegression(tol=1e-10, max_iter=1000)
    weighted = BoundShiftClassifier(inner, rule=rule, cv=splits(220, 1))
    repeated = BoundShiftClassifier(inner, rule=rule, cv=splits(220, w))
    weighted.fit(X, y, sample_weight=w)
    repeated.fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    if classes == 2:
        assert weighted.threshold_ == pytest.approx(repeated.threshold_, abs=1e-4)
        assert weighted.boundary_.n_samples == repeated.boundary_.n_samples
    else:
        np.testing.assert_allclose(weighted.biases_, repeated.biases_, atol=1e-3)


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
        ({}, {"sample_weight": 0.001}, "a sum of 0.18 for 0"),
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
    found, wrong = model.certificate_, ((s > model.threshold_) != y)[10:]
    assert (found.status, found.n_samples) == ("nominal", (290, 25))
    assert found.wrong == tuple(int(wrong[y[10:] == k].sum()) for k in (0, 1))
    assert "Rows have weights" in str(found)
