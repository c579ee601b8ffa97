import itertools
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    InvalidInputError,
    Status,
    find_boundary,
)
from boundshift._multiclass import pairs
from boundshift._multiclass.biases import find_biases
from boundshift._scores import ScoreSample
from boundshift.curves import Smoothed, SupportRadius, as_curve
from boundshift.rules import GMean, Sum, as_rule

STRATEGIES = ["joint", "pairwise"]


def find(y, scores, strategy="pairwise", curve="logistic", rule="g-mean", **options):
    return find_biases(y, scores, as_curve(curve), as_rule(rule), strategy, **options)


@pytest.fixture
def three():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [300, 60, 15])
    centres = np.array([[2.0, 0, 0], [0, 2, 0], [0, 0, 2]])
    return y, centres[y] + rng.normal(0, 1, (375, 3))


@pytest.mark.parametrize(
    ("strategy", "rule", "tolerance"),
    [
        ("pairwise", "g-mean", 1e-9),
        # Joint losses are linear between tabulated thresholds.
        ("joint", "sum", 0.02),
        ("joint", "minimax", 0.02),
        ("joint", GMean(), 0.02),
    ],
)
def test_two_classes_have_the_binary_boundary(strategy, rule, tolerance):
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [200, 25])
    margin = np.where(y == 1, 1.5, -1.5) + rng.normal(0, 1, 225)
    scores = np.stack([-margin / 2, margin / 2], axis=1)
    biases = find(y, scores, strategy, "smoothed", rule).biases
    boundary = find_boundary(y, margin, curve="smoothed", rule=rule)
    assert biases[0] - biases[1] == pytest.approx(boundary.threshold, abs=tolerance)
    assert biases.sum() == pytest.approx(0, abs=1e-12)


def test_pairwise_biases_reconcile_the_thresholds_of_each_pairs_own_rows(three):
    y, scores = three
    thresholds = {}
    weights = {}
    for i, j in itertools.combinations(range(3), 2):
        rows = (y == i) | (y == j)
        margin = (scores[:, j] - scores[:, i])[rows]
        own = find_boundary(y[rows] == j, margin, curve="logistic")
        thresholds[i, j] = own.threshold
        weights[i, j] = 1 / (1 / own.n_samples[0] + 1 / own.n_samples[1])
    # The thresholds contradict each other; weighted least squares reconciles them.
    design = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
    root = np.sqrt(list(weights.values()))
    expected = np.linalg.lstsq(root[:, None] * design, root * list(thresholds.values()), rcond=None)
    np.testing.assert_allclose(find(y, scores).biases, expected[0], atol=1e-12)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("curve", ["logistic", "empirical"])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_boundaries_tell_what_the_biases_decide(three, strategy, curve):
    y, scores = three
    biases, boundaries, _ = find(y, scores, strategy, curve)
    assert set(boundaries) == {(0, 1), (0, 2), (1, 2)}
    for (i, j), found in boundaries.items():
        rows = (y == i) | (y == j)
        difference = (scores[:, j] - scores[:, i])[rows]
        is_second = y[rows] == j
        assert found.threshold == biases[i] - biases[j]
        assert found.labels == (i, j)
        above = (scores + biases)[rows][:, j] > (scores + biases)[rows][:, i]
        assert found.wrong == (np.sum(above & ~is_second), np.sum(~above & is_second))
        sample = ScoreSample.from_labels(is_second, difference)
        errors = as_curve(curve).errors(sample)(np.array([found.threshold]))
        assert found.errors == (errors[0][0], errors[1][0])
        rule = GMean()
        assert found.loss == pytest.approx(rule.value(*errors, sample.n_samples)[0])
        assert found.status is Status.SHARED
        assert found.geometry is None


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_rows_without_a_score_and_classes_without_a_pair_decide_nothing(three, strategy):
    y, scores = three
    known = y != 2
    found = find(y[known], scores[known], strategy)
    assert found.biases[2] == 0.0
    assert set(found.boundaries) == {(0, 1)}
    spoiled = np.vstack([scores, np.full((4, 3), np.nan)])
    spoiled[-4:, 0] = 1.0
    labels = np.append(y, [2, 2, 2, 2])
    found = find(labels, spoiled, strategy)
    np.testing.assert_array_equal(found.biases, find(y, scores, strategy).biases)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_many_classes_are_each_compared_with_the_closest_and_the_largest(monkeypatch, strategy):
    rng = np.random.default_rng(0)
    n_classes = 20
    # Classes on a line: the closest ones are neighbours.
    y = np.repeat(np.arange(n_classes), np.append(200, np.full(n_classes - 1, 40)))
    place = np.repeat(y, 2).reshape(-1, 2) + rng.normal(0, 0.8, (len(y), 2))
    scores = -((place[:, :1] - np.arange(n_classes)) ** 2) - rng.normal(0, 0.5, n_classes)
    every = find(y[::2], scores[::2], strategy)
    monkeypatch.setattr(pairs, "_FEW_CLASSES", 10)
    some = find(y[::2], scores[::2], strategy)
    assert len(every.boundaries) == math.comb(n_classes, 2)
    assert {(0, k) for k in range(1, n_classes)} < set(some.boundaries)
    assert {(k, k + 1) for k in range(n_classes - 1)} < set(some.boundaries)
    assert len(some.boundaries) < math.comb(n_classes, 2) / 2
    recalls = []
    for biases in (every.biases, some.biases):
        is_right = np.argmax(scores[1::2] + biases, axis=1) == y[1::2]
        recalls.append(np.mean([is_right[y[1::2] == k].mean() for k in range(n_classes)]))
    assert recalls[1] > recalls[0] - 0.02


# Joint biases.


def total_loss(y, scores, curve, biases):
    """Sum over pairs of minus the logarithm of the G-mean, with curves evaluated exactly."""
    total = 0.0
    for i, j in itertools.combinations(range(scores.shape[1]), 2):
        rows = (y == i) | (y == j)
        sample = ScoreSample.from_labels(y[rows] == j, (scores[:, j] - scores[:, i])[rows])
        u, v = curve.errors(sample)(np.array([biases[i] - biases[j]]))
        total -= 0.5 * math.log((1 - u[0]) * (1 - v[0]))
    return total


@pytest.mark.parametrize("curve", [Smoothed(), Smoothed(2.0)], ids=str)
def test_no_other_joint_biases_near_by_are_better(three, curve):
    y, scores = three
    biases = find(y, scores, "joint", curve).biases
    best = total_loss(y, scores, curve, biases)
    rng = np.random.default_rng(1)
    for size in (0.05, 0.3, 2.0):
        for _ in range(40):
            assert best <= total_loss(y, scores, curve, biases + rng.normal(0, size, 3)) + 2e-4


def test_joint_is_pairwise_for_the_paper_whose_errors_are_counted(three):
    joint, pairwise = (find(*three, how, "support", "sum") for how in ("joint", "pairwise"))
    np.testing.assert_array_equal(joint.biases, pairwise.biases)
    for found in joint.boundaries.values():
        counted = (k / n for k, n in zip(found.wrong, found.n_samples, strict=True))
        assert found.errors == pytest.approx(tuple(counted))


# The classifier.


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_classifier_adds_its_biases_and_names_boundaries_by_label(three, strategy):
    y, X = three
    model = BoundShiftClassifier(LogisticRegression(), multi_class=strategy, cv=None)
    model.fit(X, np.array(["a", "b", "c"])[y])
    assert set(model.boundaries_) == {("a", "b"), ("a", "c"), ("b", "c")}
    rows = y != 1
    s = model.estimator_.decision_function(X)[rows]
    predicted = model.boundaries_["a", "c"].predict(s[:, 2] - s[:, 0])
    shifted = s + model.biases_
    np.testing.assert_array_equal(predicted == "c", shifted[:, 2] > shifted[:, 0])
    winners = model.classes_[shifted.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(X)[rows], winners)


@pytest.mark.parametrize("strategy", ["joint", "pairwise"])
def test_classes_that_cannot_be_told_apart_are_said_to_be(three, strategy):
    y, X = three
    X = np.where(y[:, None] == 2, 0.0, X)
    labels = np.where((y == 2) & (np.arange(len(y)) % 2 == 0), 3, y)
    model = BoundShiftClassifier(LogisticRegression(), cv=None, multi_class=strategy)
    with pytest.warns(BoundaryWarning, match="binary problems behind the class biases need a"):
        model.fit(X, labels)


def test_the_paper_says_where_it_fell_back(three):
    y, scores = three
    overlapping = np.random.default_rng(0).normal(size=scores.shape)
    for strategy in STRATEGIES:
        statuses = find(y, overlapping, strategy, SupportRadius.paper(), Sum()).statuses
        assert not all(status.solved for status in statuses)


# Scores far away, and classes of very few rows.


@pytest.mark.parametrize("rows", [1, 2, 3])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_class_of_few_rows_is_never_held_back(rows, strategy):
    rng = np.random.default_rng(rows)
    y = np.repeat([0, 1, 2], [300, 100, rows])
    scores = rng.normal(size=(len(y), 3)) - [0.0, 1.0, 3.0]
    scores[np.arange(len(y)), y] += 6
    if rows == 1:
        scores[-1, 2] = np.nan  # no fold's model knew it
    biases = find(y, scores, strategy, "smoothed").biases
    assert biases[2] >= biases[:2].max() - 1e-12
    assert biases.sum() == pytest.approx(0, abs=1e-9)


def test_the_only_row_of_a_class_is_told_of():
    rng = np.random.default_rng(0)
    y = np.append(np.repeat([0, 1], [100, 40]), 2)
    X = rng.normal(size=(141, 3)) + y[:, None]
    with pytest.warns(BoundaryWarning, match="only row of 2 cannot be left out") as caught:
        BoundShiftClassifier(LogisticRegression()).fit(X, y)
    assert caught[0].filename == __file__


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("sizes", [(60, 40, 20, 10), (50, 50, 50)])
@pytest.mark.parametrize(
    ("strategy", "curve", "rule"),
    [
        ("joint", "empirical", "g-mean"),
        ("joint", "clopper-pearson", "sum"),
        ("joint", "logistic", "minimax"),
        ("pairwise", "logistic", "g-mean"),
    ],
)
def test_no_order_of_the_labels_changes_the_biases(strategy, curve, rule, sizes):
    rng = np.random.default_rng(0)
    y = np.repeat(range(len(sizes)), sizes)
    scores = rng.normal(size=(len(y), len(sizes)))
    scores[np.arange(len(y)), y] += 1.2
    before = find(y, scores, strategy, curve, rule).biases
    for order in [
        range(len(sizes))[::-1],
        np.roll(range(len(sizes)), 1),
        (1, 0, *range(2, len(sizes))),
    ]:
        number = np.argsort(order)
        after = find(number[y], scores[:, list(order)], strategy, curve, rule).biases
        np.testing.assert_allclose(after[number], before, rtol=0, atol=1e-9)


@pytest.mark.parametrize("bad", [[np.nan] * 3, [np.inf, 0, 1]])
def test_rows_without_scores_are_refused(bad):
    with pytest.raises(InvalidInputError, match="1 rows that are infinite or all NaN"):
        find(np.arange(3), np.array([[0.0, 1, 2], bad, [2, 1, 0]]))
