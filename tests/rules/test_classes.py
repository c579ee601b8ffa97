"""Rules that name the classes: biases by counting, floors kept on fresh rows."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    ClassFloors,
    Cost,
    CostMatrix,
    Floors,
    InvalidInputError,
    Status,
    SupportRadius,
)
from boundshift._multiclass.counting import class_losses, search_biases
from boundshift._multiclass.floors import ClassRows, guarantee_floors
from boundshift.rules import Sum

COSTS = np.array([[0.0, 1.0, 4.0], [5.0, 0.0, 3.0], [50.0, 10.0, 0.0]])
LABELS = ("home", "ward", "intensive")
DISTANCE = 2.2


def draw(sizes, rng):
    y = np.repeat(np.arange(3), sizes)
    return y, rng.normal(size=(len(y), 3)) + DISTANCE * np.eye(3)[y]


def true_recall(biases, k: int) -> float:
    """Integrate over the class's own score: both others must stay below it."""
    others = [b for j, b in enumerate(biases) if j != k]

    def found(z: float) -> float:
        own = DISTANCE + z + biases[k]
        return float(stats.norm.pdf(z) * np.prod([stats.norm.cdf(own - b) for b in others]))

    return float(quad(found, -8, 8)[0])


def test_floors_that_are_promised_hold_together_as_often_as_stated():
    rng = np.random.default_rng(0)
    kept = []
    runs = 30
    rule = ClassFloors(recall={0: 0.75, 2: 0.75}, confidence=0.8)
    for _ in range(runs):
        found = guarantee_floors(ClassRows(*draw((80, 40, 40), rng)), rule, [0, 1, 2])
        if found.status is Status.SHARED:
            kept.append(all(true_recall(found.biases, k) >= 0.75 for k in (0, 2)))
    assert len(kept) > runs / 2
    assert np.mean(kept) >= 0.8 - 2 * np.sqrt(0.16 / len(kept))


@pytest.mark.parametrize(
    ("sizes", "recall", "said"),
    [
        ((200, 100, 100), {"a": 0.97, "b": 0.97}, "does not guarantee its floor 0.97"),
        ((200, 100, 20), {"c": 0.9}, "takes 29 rows of it"),
    ],
)
def test_a_floor_beyond_reach_is_named(sizes, recall, said):
    rows = ClassRows(*draw(sizes, np.random.default_rng(2)))
    found = guarantee_floors(rows, ClassFloors(recall=recall), ["a", "b", "c"])
    assert found.status is Status.UNMET
    assert said in found.detail


def table(sizes, names, rng=0):
    y, X = draw(sizes, np.random.default_rng(rng))
    return X, np.array(names)[y]


@pytest.mark.parametrize("names", [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")])
@pytest.mark.parametrize("kind", ["floors", "costs"])
def test_relabelling_gives_the_permuted_answer(kind: str, names):
    def rule(labels):
        if kind == "floors":
            return ClassFloors(recall={labels[2]: 0.8, labels[0]: 0.5})
        return CostMatrix(COSTS, labels, prevalence=[0.7, 0.2, 0.1])

    plain = (0, 1, 2)
    other = names
    fits = []
    for labels in (plain, other):
        X, y = table((400, 150, 120), labels)
        frozen = LogisticRegression().fit(*table((400, 150, 120), labels, rng=9))
        model = BoundShiftClassifier(frozen, cv="prefit", rule=rule(labels)).fit(X, y)
        fits.append(dict(zip(model.classes_, model.biases_, strict=True)))
    for k, label in enumerate(other):
        assert fits[1][label] == pytest.approx(fits[0][k], abs=1e-4)


def test_fit_keeps_rows_apart_and_guarantees():
    X, y = table((400, 150, 120), ("usual", "seldom", "rare"))
    rule = ClassFloors(recall={"rare": 0.8})
    model = BoundShiftClassifier(LogisticRegression(), rule=rule).fit(X, y)
    assert {b.status for b in model.boundaries_.values()} == {Status.SHARED}
    promised = "All recall floors hold together with 0.95 confidence."
    assert all(promised in b.message for b in model.boundaries_.values())
    certificate = model.certificate_
    assert certificate.status == "certified"
    assert certificate.n_samples == (60, 75, 200)  # half of each class
    # The bound of any biases is wider than the floor, which is promised of those chosen.
    assert certificate.error_bounds[certificate.labels.index("rare")] > 0.2
    assert "the guaranteed floors, which hold with 0.95 confidence" in certificate.reason
    fresh, truth = table((2000, 2000, 2000), ("usual", "seldom", "rare"), rng=5)
    assert np.mean(model.predict(fresh)[truth == "rare"] == "rare") > 0.8


@pytest.mark.parametrize("settings", [{"cv": None}, {"sizes": (400, 150, 20)}])
def test_what_is_not_guaranteed_says_so(settings):
    X, y = table(settings.pop("sizes", (400, 150, 120)), ("usual", "seldom", "rare"))
    model = BoundShiftClassifier(
        LogisticRegression(), rule=ClassFloors(recall={"rare": 0.9}), **settings
    )
    with pytest.warns(BoundaryWarning, match="not guaranteed"):
        model.fit(X, y)
    assert {b.status for b in model.boundaries_.values()} == {Status.NOT_GUARANTEED}
    found = np.mean(model.predict(X)[y == "rare"] == "rare")
    assert found >= 0.8


# Biases by counting, beside every cut of a fine grid.


def draw_costs(seed: int, sizes=(40, 20, 10), distance: float = 1.5):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    scores = rng.normal(size=(len(y), len(sizes))) + distance * np.eye(len(sizes))[y]
    return y, scores, rng.uniform(0.5, 5.0, (len(sizes), len(sizes))) * (1 - np.eye(len(sizes)))


@pytest.mark.parametrize("seed", range(8))
def test_no_pair_of_biases_on_a_fine_grid_is_much_cheaper(seed: int):
    y, scores, costs = draw_costs(seed)
    weights = np.array([0.5, 0.3, 0.2])
    biases = search_biases(y, scores, costs, lambda losses: losses @ weights)
    reached = class_losses(y, scores, biases, costs) @ weights
    grid = np.linspace(-6, 6, 49)
    tried = (
        class_losses(y, scores, np.array([0.0, a, b]), costs) @ weights
        for a, b in itertools.product(grid, grid)
    )
    assert reached <= min(tried) * 1.03


def test_a_class_that_a_model_did_not_know_wins_nowhere():
    y, scores, costs = draw_costs(1)
    scores[y == 0, 2] = -np.inf
    biases = search_biases(y, scores, costs, lambda losses: losses.sum(axis=-1))
    assert np.isfinite(biases).all()
    assert not np.any(np.argmax(scores + biases, axis=1)[y == 0] == 2)


# What a rule is.


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


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rule": CostMatrix(COSTS, ("a", "b", "c"))}, "must be the classes of y"),
        ({"rule": ClassFloors(recall={"zoo": 0.5})}, "must name classes of y"),
        ({"rule": CostMatrix(COSTS, LABELS), "curve": "smoothed"}, "`curve` must be None"),
        ({"rule": CostMatrix(COSTS, LABELS), "multi_class": "pairwise"}, "`multi_class` 'joint'"),
        ({"rule": Floors(recall=0.9)}, "ClassFloors"),
        ({"rule": Floors(recall=0.9), "multi_class": "pairwise"}, "must treat classes alike"),
        ({"curve": SupportRadius(alpha=(1, 2))}, "must treat classes alike"),
        ({"rule": Cost(false_negative=20)}, "CostMatrix"),
    ],
)
def test_what_does_not_fit_the_classes_is_refused(settings, sentence):
    X, y = table((120, 60, 40), LABELS)
    with pytest.raises(InvalidInputError, match=sentence):
        BoundShiftClassifier(LogisticRegression(), **settings).fit(X, y)
