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
)
from boundshift.rules import Sum

COSTS = [[0.0, 1.0, 4.0], [5.0, 0.0, 3.0], [50.0, 10.0, 0.0]]
LABELS = ("home", "ward", "intensive")


def test_the_total_is_the_mean_cost_of_a_row():
    rule = CostMatrix(COSTS, LABELS)
    losses = np.array([0.5, 1.0, 20.0])
    assert rule.total(losses, LABELS, (80, 15, 5)) == pytest.approx(0.4 + 0.15 + 1.0)
    there = CostMatrix(COSTS, LABELS, prevalence=[0.5, 0.3, 0.2])
    assert there.total(losses, LABELS, (80, 15, 5)) == pytest.approx(0.25 + 0.3 + 4.0)


def test_a_pair_has_the_costs_of_mistaking_one_for_the_other():
    rule = CostMatrix(COSTS, LABELS, prevalence=[0.6, 0.3, 0.1])
    pair = rule.for_pair("home", "intensive")
    assert pair == Cost(false_positive=4.0, false_negative=50.0, prevalence=0.1 / 0.7)
    floors = ClassFloors(recall={"ward": 0.9})
    assert floors.for_pair("home", "ward") == Floors(recall=0.9, confidence=0.95)
    assert floors.for_pair("ward", "home") == Floors(specificity=0.9, confidence=0.95)
    assert floors.for_pair("home", "intensive") == Sum()


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
def test_what_does_not_fit_the_classes_is_refused(settings, sentence):
    X, y = three(LABELS)
    with pytest.raises(InvalidInputError, match=sentence):
        BoundShiftClassifier(LogisticRegression(), **settings).fit(X, y)
