"""A boundary goes to JSON and comes back whole, its curve and rule as objects."""

import json

import pytest

from boundshift import (
    SLSQP,
    Boundary,
    ClopperPearson,
    Cost,
    Floors,
    GMean,
    InvalidInputError,
    Metric,
    Smoothed,
    SupportRadius,
    find_boundary,
)
from tests.problems import two_normals


@pytest.fixture
def problem():
    return two_normals(300, 60, 2.5)


@pytest.mark.parametrize(
    ("curve", "rule"),
    [
        (None, None),
        ("paper", None),
        (SupportRadius(class_weight={0: 1.0, 1: 3.0}, budget=0.25), "sum"),
        (SupportRadius(alpha=(1, 2), solver=SLSQP(start=0.5), budget=200), "sum"),
        (ClopperPearson(0.9), Floors(recall=0.7)),
        (ClopperPearson(0.9), Floors(specificity=0.7)),
        (Smoothed(0.5), Cost(false_negative=20, prevalence=0.01)),
        ("kth-point", GMean(tolerance=0)),
    ],
)
def test_what_was_stored_comes_back(problem, curve, rule):
    found = find_boundary(*problem, curve=curve, rule=rule)
    again = Boundary.from_json(found.to_json())
    assert again == found
    assert (again.curve, again.rule) == (found.curve, found.rule)
    assert again.curve.solve is not None


def test_a_stored_curve_can_be_solved_again(problem):
    found = find_boundary(*problem, curve=ClopperPearson(0.9), rule="minimax")
    again = Boundary.from_json(found.to_json())
    assert find_boundary(*problem, curve=again.curve, rule=again.rule) == found


def test_a_rule_that_json_cannot_carry_is_kept_by_name(problem):
    found = find_boundary(*problem, curve="smoothed", rule=Metric("f1"))
    again = Boundary.from_json(found.to_json())
    assert again.threshold == found.threshold
    assert "f1" in repr(again.rule)
    assert again.to_json() == found.to_json()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"curve": 3}, "'curve' must be a name"),
        ({"rule": {"name": 3}}, "'rule' must be a name"),
        ({"geometry": {"deltas": [0, 0]}}, "'geometry' must have the fields"),
        ({"version": 3}, "newer boundshift"),
        ({"status": "BALANCED"}, "'status' must be one of"),
    ],
)
def test_a_damaged_record_is_refused(problem, changed, message):
    stored = find_boundary(*problem).to_dict() | changed
    with pytest.raises(InvalidInputError, match=message):
        Boundary.from_json(json.dumps(stored))


@pytest.mark.parametrize(
    ("field", "value"),
    [("threshold", "NaN"), ("status", []), ("status", {}), ("loss", 10**400), ("labels", 7)],
)
def test_fields_that_no_boundary_has_are_refused(field, value):
    stored = find_boundary([0, 0, 0, 1, 1], [0, 1, 2, 5, 6]).to_dict() | {field: value}
    with pytest.raises(InvalidInputError, match=field):
        Boundary.from_dict(stored)


@pytest.mark.parametrize("text", ["[" * 10**5, '{"a":' * 10**5, b"\xff\xfe\x00", "9" * 5000, 7])
def test_json_that_cannot_be_read_is_refused(text):
    with pytest.raises(InvalidInputError, match="must "):
        Boundary.from_json(text)
