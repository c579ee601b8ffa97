"""Floors of many classes: kept on fresh rows, and the same whatever the labels."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from sklearn.linear_model import LogisticRegression

from boundshift import (
    BoundaryWarning,
    BoundShiftClassifier,
    ClassFloors,
    CostMatrix,
    Status,
)
from boundshift.multiclass import ClassRows, promise_floors

COSTS = np.array([[0.0, 1.0, 4.0], [5.0, 0.0, 3.0], [50.0, 10.0, 0.0]])
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


def test_floors_that_are_promised_hold_together_as_often_as_stated() -> None:
    rng, kept, runs = np.random.default_rng(0), [], 50
    rule = ClassFloors(recall={0: 0.75, 2: 0.75}, confidence=0.8)
    for _ in range(runs):
        found = promise_floors(ClassRows(*draw((80, 40, 40), rng)), rule, [0, 1, 2])
        if found.status is Status.SHARED:
            kept.append(all(true_recall(found.biases, k) >= 0.75 for k in (0, 2)))
    assert len(kept) > runs / 2
    assert np.mean(kept) >= 0.8 - 2 * np.sqrt(0.16 / len(kept))


def test_a_single_floor_is_not_overdone() -> None:
    rng = np.random.default_rng(1)
    rule = ClassFloors(recall={2: 0.8})
    recalls = [
        true_recall(
            promise_floors(ClassRows(*draw((300, 150, 150), rng)), rule, [0, 1, 2]).biases, 2
        )
        for _ in range(12)
    ]
    assert 0.8 < np.mean(recalls) < 0.95


def test_a_floor_beyond_reach_is_named() -> None:
    rng = np.random.default_rng(2)
    rows = ClassRows(*draw((200, 100, 100), rng))
    found = promise_floors(rows, ClassFloors(recall={"a": 0.97, "b": 0.97}), ["a", "b", "c"])
    assert found.status is Status.UNMET
    assert "below its floor 0.97" in found.detail


def test_too_few_rows_are_counted() -> None:
    rows = ClassRows(*draw((200, 100, 20), np.random.default_rng(3)))
    found = promise_floors(rows, ClassFloors(recall={"c": 0.9}), ["a", "b", "c"])
    assert found.status is Status.UNMET
    assert "takes 29 rows of it" in found.detail


def table(sizes, names, rng=0):
    y, X = draw(sizes, np.random.default_rng(rng))
    return X, np.array(names)[y]


@pytest.mark.parametrize("names", [("a", "b", "c"), ("c", "a", "b"), ("b", "c", "a")])
@pytest.mark.parametrize("kind", ["floors", "costs"])
def test_relabelling_gives_the_permuted_answer(kind: str, names) -> None:
    def rule(labels):
        if kind == "floors":
            return ClassFloors(recall={labels[2]: 0.8, labels[0]: 0.5})
        return CostMatrix(COSTS, labels, prevalence=[0.7, 0.2, 0.1])

    plain, other = (0, 1, 2), names
    fits = []
    for labels in (plain, other):
        X, y = table((400, 150, 120), labels)
        frozen = LogisticRegression().fit(*table((400, 150, 120), labels, rng=9))
        model = BoundShiftClassifier(frozen, cv="prefit", rule=rule(labels)).fit(X, y)
        fits.append(dict(zip(model.classes_, model.biases_, strict=True)))
    for k, label in enumerate(other):
        assert fits[1][label] == pytest.approx(fits[0][k], abs=1e-4)


def test_fit_keeps_rows_apart_and_promises() -> None:
    X, y = table((400, 150, 120), ("usual", "seldom", "rare"))
    rule = ClassFloors(recall={"rare": 0.8})
    model = BoundShiftClassifier(LogisticRegression(), rule=rule).fit(X, y)
    assert {b.status for b in model.boundaries_.values()} == {Status.SHARED}
    assert model.certificate_.status == "certified"
    assert sum(model.certificate_.n_samples) < len(y) / 2
    fresh, truth = table((2000, 2000, 2000), ("usual", "seldom", "rare"), rng=5)
    assert np.mean(model.predict(fresh)[truth == "rare"] == "rare") > 0.8


@pytest.mark.parametrize("settings", [{"cv": None}, {"sizes": (400, 150, 20)}])
def test_what_is_not_promised_says_so(settings) -> None:
    X, y = table(settings.pop("sizes", (400, 150, 120)), ("usual", "seldom", "rare"))
    model = BoundShiftClassifier(
        LogisticRegression(), rule=ClassFloors(recall={"rare": 0.9}), **settings
    )
    with pytest.warns(BoundaryWarning, match="not promised"):
        model.fit(X, y)
    assert {b.status for b in model.boundaries_.values()} == {Status.NOT_PROMISED}
    found = np.mean(model.predict(X)[y == "rare"] == "rare")
    assert found >= 0.8


def test_dear_mistakes_are_made_less_often() -> None:
    X, y = table((600, 150, 60), (0, 1, 2))
    fresh, truth = table((6000, 1500, 600), (0, 1, 2), rng=5)
    plain = LogisticRegression().fit(X, y)
    model = BoundShiftClassifier(LogisticRegression(), rule=CostMatrix(COSTS, [0, 1, 2])).fit(X, y)
    ours, theirs = (COSTS[truth, m.predict(fresh)].mean() for m in (model, plain))
    assert ours < 0.75 * theirs
