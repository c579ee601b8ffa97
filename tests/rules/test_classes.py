"""Rules that name every class, and what they refuse."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundShiftClassifier,
    ClassFloors,
    Cost,
    CostMatrix,
    Floors,
    InvalidInputError,
    find_boundary,
)
from boundshift.rules import Sum

COSTS = [[0.0, 1.0, 4.0], [5.0, 0.0, 3.0], [50.0, 10.0, 0.0]]
LABELS = ("home", "ward", "intensive")


def test_costs_follow_the_labels_not_their_order() -> None:
    rule = CostMatrix(COSTS, LABELS)
    turned = rule.losses(("intensive", "home", "ward"))
    assert turned.tolist() == [[0.0, 50.0, 10.0], [4.0, 0.0, 1.0], [3.0, 5.0, 0.0]]


def test_the_total_is_the_mean_cost_of_a_row() -> None:
    rule = CostMatrix(COSTS, LABELS)
    losses = np.array([0.5, 1.0, 20.0])
    assert rule.total(losses, LABELS, (80, 15, 5)) == pytest.approx(0.4 + 0.15 + 1.0)
    there = CostMatrix(COSTS, LABELS, prevalence=[0.5, 0.3, 0.2])
    assert there.total(losses, LABELS, (80, 15, 5)) == pytest.approx(0.25 + 0.3 + 4.0)


def test_a_pair_has_the_costs_of_mistaking_one_for_the_other() -> None:
    rule = CostMatrix(COSTS, LABELS, prevalence=[0.6, 0.3, 0.1])
    pair = rule.for_pair("home", "intensive")
    assert pair == Cost(false_positive=4.0, false_negative=50.0, prevalence=0.1 / 0.7)
    floors = ClassFloors(recall={"ward": 0.9})
    assert floors.for_pair("home", "ward") == Floors(recall=0.9, confidence=0.95)
    assert floors.for_pair("ward", "home") == Floors(specificity=0.9, confidence=0.95)
    assert floors.for_pair("home", "intensive") == Sum()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: CostMatrix(COSTS, ("a", "b")), "three or more distinct classes"),
        (lambda: CostMatrix(COSTS, ("a", "b", "b")), "three or more distinct classes"),
        (lambda: CostMatrix([[0, 1], [1, 0]], LABELS), "must have 3 rows and columns"),
        (lambda: CostMatrix("cheap", LABELS), "must have 3 rows and columns"),
        (lambda: CostMatrix(np.full((3, 3), np.nan), LABELS), "must be numbers of at most"),
        (lambda: CostMatrix(np.ones((3, 3)), LABELS), "must differ within a row"),
        (lambda: CostMatrix(COSTS, LABELS, [0.5, 0.5]), "a share for each of 3 labels"),
        (lambda: CostMatrix(COSTS, LABELS, [0.5, 0.3, 0.3]), "must sum to 1, got 1.1"),
        (lambda: CostMatrix(COSTS, LABELS, [1.2, -0.1, -0.1]), "between 0 and 1"),
        (lambda: ClassFloors(), "must be a mapping from labels to floors"),
        (lambda: ClassFloors(recall=0.9), "must be a mapping from labels to floors"),
        (lambda: ClassFloors(recall={"a": 1.0}), "must be below 1"),
        (lambda: ClassFloors(recall={"a": 0.0}), "must be"),
        (lambda: ClassFloors(recall={"a": 0.5}, then="f1"), "`then` must be"),
        (lambda: ClassFloors(recall={"a": 0.5}, confidence=2), "`confidence` must"),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(make, sentence: str) -> None:
    with pytest.raises(InvalidInputError, match=sentence):
        make()


def three(labels):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(3), [120, 60, 40])
    return rng.normal(size=(220, 3)) + 2 * np.eye(3)[y], np.array(labels, dtype=object)[y]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rule": CostMatrix(COSTS, ("a", "b", "c"))}, "must be the classes of y"),
        ({"rule": ClassFloors(recall={"zoo": 0.5})}, "must name classes of y"),
        ({"rule": CostMatrix(COSTS, LABELS), "curve": "smoothed"}, "`curve` must be None"),
        ({"rule": CostMatrix(COSTS, LABELS), "multi_class": "pairwise"}, "must be 'joint'"),
        ({"rule": Floors(recall=0.9)}, "ClassFloors"),
        ({"rule": Cost(false_negative=20)}, "CostMatrix"),
    ],
)
def test_what_does_not_fit_the_classes_is_refused(settings, sentence: str) -> None:
    X, y = three(LABELS)
    with pytest.raises(InvalidInputError, match=sentence):
        BoundShiftClassifier(LogisticRegression(), **settings).fit(X, y)


@pytest.mark.parametrize("rule", [CostMatrix(COSTS, LABELS), ClassFloors(recall={1: 0.9})])
def test_two_classes_have_rules_of_their_own(rule) -> None:
    with pytest.raises(InvalidInputError, match="must be about two classes here"):
        find_boundary([0, 0, 1, 1], [0.0, 1.0, 2.0, 3.0], rule=rule)


@pytest.mark.parametrize("name", ["cost-matrix", "class-floors"])
def test_a_name_alone_says_too_little(name: str) -> None:
    with pytest.raises(InvalidInputError, match="must say"):
        find_boundary([0, 1], [0.0, 1.0], rule=name)
