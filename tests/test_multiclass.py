import itertools
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from boundshift import BoundShiftClassifier, find_boundary
from boundshift.curves import as_curve
from boundshift.multiclass import class_biases, fit_biases, joint_biases
from boundshift.rules import GMean, as_rule
from boundshift.scores.sample import ScoreSample
from boundshift.search.minimum import errors_at


def find(is_positive, scores):
    return find_boundary(is_positive, scores)


@pytest.fixture
def three():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [300, 60, 15])
    centres = np.array([[2.0, 0, 0], [0, 2, 0], [0, 0, 2]])
    return y, centres[y] + rng.normal(0, 1, (375, 3))


@pytest.fixture
def two():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [200, 25])
    margin = np.where(y == 1, 1.5, -1.5) + rng.normal(0, 1, 225)
    return y, np.stack([-margin / 2, margin / 2], axis=1), margin


@pytest.mark.parametrize("strategy", ["pairwise", "one-vs-rest"])
def test_two_classes_have_the_binary_boundary(two, strategy):
    y, scores, margin = two
    biases, _ = fit_biases(y, scores, find, strategy)
    assert biases[0] - biases[1] == pytest.approx(find_boundary(y, margin).threshold, abs=1e-9)


@pytest.mark.parametrize("strategy", ["pairwise", "one-vs-rest"])
def test_two_classes_are_predicted_as_by_the_binary_boundary(two, strategy):
    y, scores, margin = two
    biases, _ = fit_biases(y, scores, find, strategy)
    expected = margin > find_boundary(y, margin).threshold
    np.testing.assert_array_equal((scores + biases).argmax(axis=1), expected)


@pytest.mark.parametrize("strategy", ["pairwise", "one-vs-rest"])
def test_biases_sum_to_zero(three, strategy):
    biases, _ = fit_biases(*three, find, strategy)
    assert biases.sum() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("strategy", ["pairwise", "one-vs-rest"])
def test_rare_classes_are_found_more_often(three, strategy):
    y, scores = three
    scores = scores + np.log([300, 60, 15])  # a model that knows how frequent classes are
    biases, _ = fit_biases(y, scores, find, strategy)
    before = balanced_accuracy_score(y, scores.argmax(axis=1))
    assert balanced_accuracy_score(y, (scores + biases).argmax(axis=1)) > before + 0.05


def test_each_pair_is_decided_by_its_own_rows(three):
    y, scores = three
    _, boundaries = fit_biases(y, scores, find)
    rows = (y == 0) | (y == 2)
    expected = find_boundary(y[rows] == 2, (scores[:, 2] - scores[:, 0])[rows])
    assert boundaries[0, 2] == expected
    assert set(boundaries) == {(0, 1), (0, 2), (1, 2)}


def test_scores_shifted_by_class_shift_the_biases_back(three):
    y, scores = three
    offset = np.array([1.0, -3.0, 2.0])
    before, _ = fit_biases(y, scores, find)
    after, _ = fit_biases(y, scores + offset, find)
    np.testing.assert_allclose(after, before - offset, atol=1e-9)


def test_renamed_classes_rename_the_biases(three):
    y, scores = three
    order = np.array([2, 0, 1])
    before, _ = fit_biases(y, scores, find)
    after, _ = fit_biases(order[y], scores[:, np.argsort(order)], find)
    np.testing.assert_allclose(after[order], before, atol=1e-9)


def test_consistent_thresholds_are_met_exactly():
    b = np.array([1.0, -2.0, 0.5, 0.5])
    t = {(i, j): b[i] - b[j] for i in range(4) for j in range(i + 1, 4)}
    weights = {ij: 1.0 + k for k, ij in enumerate(t)}
    np.testing.assert_allclose(class_biases(4, t, weights), b - b.mean(), atol=1e-12)


def test_inconsistent_thresholds_are_met_by_least_squares():
    rng = np.random.default_rng(2)
    pairs = [(i, j) for i in range(4) for j in range(i + 1, 4)]
    t, w = rng.normal(size=6), rng.uniform(0.5, 2, 6)
    design = np.zeros((6, 4))
    for row, (i, j) in enumerate(pairs):
        design[row, [i, j]] = 1.0, -1.0
    root = np.sqrt(w)[:, None]
    expected = np.linalg.lstsq(root * design, root[:, 0] * t, rcond=None)[0]
    found = class_biases(4, dict(zip(pairs, t, strict=True)), dict(zip(pairs, w, strict=True)))
    np.testing.assert_allclose(found, expected - expected.mean(), atol=1e-12)


def test_a_class_without_a_pair_keeps_a_bias_of_zero(three):
    y, scores = three
    known = y != 2
    biases, boundaries = fit_biases(y[known], scores[known], find)
    assert biases[2] == 0.0
    assert set(boundaries) == {(0, 1)}


@pytest.mark.parametrize("strategy", ["pairwise", "one-vs-rest"])
def test_rows_without_a_score_are_left_out(three, strategy):
    y, scores = three
    spoiled = np.vstack([scores, np.full((4, 3), np.nan)])
    spoiled[-4:, 0] = 1.0
    labels = np.append(y, [2, 2, 2, 2])
    biases, _ = fit_biases(labels, spoiled, find, strategy)
    np.testing.assert_array_equal(biases, fit_biases(y, scores, find, strategy)[0])


@pytest.mark.parametrize("strategy", ["joint", "pairwise", "one-vs-rest"])
def test_classifier_adds_its_biases(three, strategy):
    y, X = three
    labels = np.array(["a", "b", "c"])[y]
    model = BoundShiftClassifier(LogisticRegression(), multi_class=strategy).fit(X, labels)
    shifted = model.estimator_.decision_function(X) + model.biases_
    np.testing.assert_array_equal(model.decision_function(X), shifted)
    np.testing.assert_array_equal(model.predict(X), model.classes_[shifted.argmax(axis=1)])


def test_the_default_of_the_classifier_is_joint(three):
    y, X = three
    model = BoundShiftClassifier(LogisticRegression(), cv=None).fit(X, y)
    scores = model.estimator_.decision_function(X)
    expected = joint_biases(y, scores, as_curve("logistic"), GMean(f1_weight=0))
    np.testing.assert_allclose(model.biases_, expected, atol=1e-12)


@pytest.mark.parametrize("options", [{"bound": "support"}, {"alpha": 2.0}, {"rule": "cost"}])
def test_joint_is_pairwise_where_there_is_nothing_to_share(three, options):
    y, X = three
    fits = [
        BoundShiftClassifier(LogisticRegression(), cv=None, multi_class=how, **options).fit(X, y)
        for how in ("joint", "pairwise")
    ]
    np.testing.assert_array_equal(fits[0].biases_, fits[1].biases_)


def test_classifier_names_its_boundaries_by_label(three):
    y, X = three
    model = BoundShiftClassifier(LogisticRegression()).fit(X, np.array(["a", "b", "c"])[y])
    assert set(model.boundaries_) == {("a", "b"), ("a", "c"), ("b", "c")}


def total_loss(y, scores, curve, biases):
    """Sum over pairs of minus the logarithm of the G-mean, with curves evaluated exactly."""
    total = 0.0
    for i, j in itertools.combinations(range(scores.shape[1]), 2):
        rows = (y == i) | (y == j)
        sample = ScoreSample.from_labels(y[rows] == j, (scores[:, j] - scores[:, i])[rows])
        u, v = errors_at(curve, sample, np.array([biases[i] - biases[j]]))
        total -= 0.5 * math.log((1 - u[0]) * (1 - v[0]))
    return total


@pytest.mark.parametrize("name", ["smoothed", "student-t"])
def test_no_other_joint_biases_near_by_are_better(three, name):
    y, scores = three
    curve = as_curve(name)
    biases = joint_biases(y, scores, curve, GMean(f1_weight=0))
    best = total_loss(y, scores, curve, biases)
    rng = np.random.default_rng(1)
    for size in (0.05, 0.3, 2.0):
        for _ in range(100):
            assert best <= total_loss(y, scores, curve, biases + rng.normal(0, size, 3)) + 2e-4


@pytest.mark.parametrize("rule", ["sum", "minimax", "g-mean", "metric"])
def test_joint_biases_of_two_classes_are_the_binary_boundary(rule):
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1], [200, 30])
    scores = np.stack([np.zeros(230), rng.normal(size=230) + 2 * y], axis=1)
    biases = joint_biases(y, scores, as_curve("student-t"), as_rule(rule))
    boundary = find_boundary(y, scores[:, 1], bound="student-t", rule=rule)
    assert biases[0] - biases[1] == pytest.approx(boundary.threshold, abs=0.02)
    assert biases.sum() == pytest.approx(0, abs=1e-12)


def test_joint_biases_follow_the_order_of_classes_and_the_unit_of_scores(three):
    y, scores = three
    biases = joint_biases(y, scores, as_curve("smoothed"), GMean())
    order = np.array([2, 0, 1])
    moved = joint_biases(np.argsort(order)[y], scores[:, order], as_curve("smoothed"), GMean())
    np.testing.assert_allclose(moved, biases[order], atol=0.02)
    scaled = joint_biases(y, 1024 * scores + 5, as_curve("smoothed"), GMean())
    np.testing.assert_allclose(scaled, 1024 * biases, atol=0.02 * 1024)


def test_joint_bias_of_a_class_without_rows_is_zero(three):
    y, scores = three
    wider = np.insert(scores, 1, np.nan, axis=1)
    biases = joint_biases(np.array([0, 2, 3])[y], wider, as_curve("smoothed"), GMean())
    expected = joint_biases(y, scores, as_curve("smoothed"), GMean())
    assert biases[1] == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(biases[[0, 2, 3]], expected, atol=1e-12)
