"""Every record goes to JSON and comes back whole, or is refused."""

import json

import numpy as np
import pytest

from boundshift import (
    Boundary,
    ClopperPearson,
    Cost,
    Floors,
    GroupBoundaries,
    InvalidInputError,
    Metric,
    Monitor,
    Smoothed,
    SupportRadius,
    Zone,
    certify,
    find_boundaries,
    find_boundary,
    find_zone,
)
from boundshift._promises.certificate import Certificate, certify_counts
from boundshift.curves import SLSQP
from boundshift.rules import GMean
from tests.problems import two_normals

PROBLEM = two_normals(300, 60, 2.5)


def made(kind):
    if kind is Boundary:
        return find_boundary(*PROBLEM, curve="paper")
    if kind is Zone:
        return find_zone(*PROBLEM)
    if kind is Certificate:
        return certify(*PROBLEM, 1.0)
    if kind is GroupBoundaries:
        return find_boundaries(*PROBLEM, np.resize(["a", "b"], 360))
    monitor = Monitor(certify(*PROBLEM, 1.0))
    return monitor.update(*two_normals(300, 60, 0.5))


KINDS = (Boundary, Zone, Certificate, GroupBoundaries, Monitor)


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_comes_back_whole(kind):
    record = made(kind)
    assert kind is not Monitor or record.alarm
    again = kind.from_dict(json.loads(json.dumps(record.to_dict(), allow_nan=False)))
    assert again == record


@pytest.mark.parametrize(
    ("curve", "rule"),
    [
        (None, None),
        (SupportRadius(class_weight=(1.0, 3.0), budget=0.25), "sum"),
        (SupportRadius(alpha=(1, 2), solver=SLSQP(start=0.5), budget=200), "sum"),
        (ClopperPearson(0.9), Floors(recall=0.7)),
        (ClopperPearson(0.9), "minimax"),
        (Smoothed(0.5), Cost(false_negative=20, prevalence=0.01)),
        ("kth-point", GMean(tolerance=0)),
    ],
)
def test_curve_and_rule_come_back_and_decide_again(curve, rule):
    found = find_boundary(*PROBLEM, curve=curve, rule=rule)
    again = Boundary.from_json(found.to_json())
    assert (again, again.curve, again.rule) == (found, found.curve, found.rule)
    assert find_boundary(*PROBLEM, curve=again.curve, rule=again.rule) == found


def test_a_rule_that_json_cannot_carry_is_kept_by_name():
    found = find_boundary(*PROBLEM, curve="smoothed", rule=Metric("f1"))
    again = Boundary.from_json(found.to_json())
    assert again.threshold == found.threshold
    assert "f1" in repr(again.rule)
    assert again.to_json() == found.to_json()


def test_a_class_without_rows_comes_back():
    record = certify_counts((0, 1), (0, 20), ("a", "b"))
    assert Certificate.from_json(record.to_json()).n_samples == (0, 20)


def inside(place, change):
    """Change the first of a list of objects."""
    return lambda stored: {place: [stored[place][0] | change, *stored[place][1:]]}


def of_counts(counts):
    """Return a change of the first group's counts."""

    def change(stored):
        kept = stored["counts"]
        return {"counts": kept | {"values": [counts, *kept["values"][1:]]}}

    return change


ALARM = {
    "label": 0, "row": 1, "when": None, "since_row": 1, "since": None,
    "wrong": 1, "n_samples": 1, "bound": 0.1, "level": 0.05,
}  # fmt: skip
CHANGES = {
    Boundary: [
        {"curve": 3}, {"rule": {"name": 3}}, {"rule": {"name": "cost", "false_positive": []}},
        {"geometry": {"deltas": [0, 0]}}, {"version": 1}, {"version": 3}, {"version": True},
        {"threshold": True}, {"wrong": ["few", 1]}, {"errors": [1.0]}, {"labels": ["yes"]},
        {"status": "BALANCED"}, {"status": []}, {"threshold": "NaN"}, {"loss": 10**400},
        {"labels": 7}, {"labels": [1, 1]}, {"scale": "odds"}, {"format": "boundshift.zone"},
    ],
    Zone: [
        {"low": 9.0, "high": 1.0}, {"low": "NaN"}, {"labels": [1, 1]}, {"errors": [2.0, 0.1]},
        {"n_samples": [-1, 5]}, {"confidence": 3.0}, {"reason": None},
    ],
    Certificate: [
        {"error_bounds": ["a", "b"]}, {"error_bounds": [0.1, 1.5]}, {"error_bounds": ["NaN", 0.1]},
        {"error_bounds": [0.1]}, {"error_bounds": 0.1}, {"errors": ["a", "b"]}, {"wrong": [-1, 0]},
        {"wrong": [1, 10**6]}, {"n_samples": [10**400, 5]}, {"labels": [1, 1]},
        {"labels": [[1], 2]}, {"labels": []}, {"confidence": 1}, {"confidence": "0.95"},
        {"threshold": "a"}, {"threshold": "Infinity"}, {"status": "guaranteed"}, {"joint": 1},
        {"reason": None}, {"method": 3}, {"scale": "odds"},
    ],
    GroupBoundaries: [
        {"version": 2}, {"common": None}, {"rows": -1.0}, {"rows": "Infinity"}, {"boundaries": {}},
        {"boundaries": {"labels": ["a"], "values": []}}, {"counts": {"labels": [], "values": []}},
        {"counts": {"labels": ["a", "a"], "values": [[5, 5, 0, 0]] * 2}}, {"boundaries": ["a"]},
        of_counts([5, 5, 6, 0]), of_counts([5, 5, 0.5, 0]), of_counts([5, 5, 1]),
        lambda stored: {"common": find_boundary(["no", "yes"] * 9, [0, 1] * 9).to_dict()},
    ],
    Monitor: [
        lambda stored: {"classes": stored["classes"][:1]}, {"classes": None}, {"rows": -5},
        lambda stored: {"classes": [{k: v for k, v in c.items() if k != "log_starts"}
                                    for c in stored["classes"]]},
        {"rows": "5"}, {"rows": 1e400}, {"threshold": "x"}, {"certificate": {}},
        inside("classes", {"n_samples": 10**9}), inside("classes", {"n_samples": 3, "wrong": 5}),
        inside("classes", {"log_e_value": "much"}),
        inside("classes", {"log_e_value": "NaN"}), inside("classes", {"log_starts": [0.0]}),
        inside("classes", {"points": [[1, 2]]}),
        inside("classes", {"points": [["a", None, 1, 1, 0.0]]}), inside("classes", {"last": 5}),
        inside("classes", {"last": [1, []]}), inside("classes", {"alarm": "yes"}),
        inside("classes", {"alarm": ALARM | {"level": []}}),
        inside("classes", {"log_e_value": float("inf")}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_record_that_cannot_be_is_refused(kind):
    stored = json.loads(json.dumps(made(kind).to_dict()))
    for change in CHANGES[kind]:
        changed = stored | (change(stored) if callable(change) else change)
        with pytest.raises(InvalidInputError, match=r"must|cannot"):
            kind.from_dict(changed)


@pytest.mark.parametrize("kind", KINDS)
def test_a_missing_field_is_named(kind):
    stored = made(kind).to_dict()
    name = {GroupBoundaries: "common", Monitor: "certificate"}.get(kind, "labels")
    with pytest.raises(InvalidInputError, match=f"must be an object with the fields .*{name}"):
        kind.from_dict({key: value for key, value in stored.items() if key != name})


@pytest.mark.parametrize("kind", [Boundary, Zone, Certificate, Monitor])
@pytest.mark.parametrize(
    "text", ["[" * 10**5, '{"a":' * 10**5, b"\xff\xfe\x00", "9" * 5000, "[]", 7]
)
def test_text_that_is_no_record_is_refused(kind, text):
    with pytest.raises(InvalidInputError, match="must "):
        kind.from_json(text)


def test_labels_that_json_cannot_carry_are_refused():
    y, s = PROBLEM
    days = np.where(y == 1, np.datetime64("2020-01-01"), np.datetime64("2020-01-02"))
    with pytest.raises(InvalidInputError, match="strings, finite numbers or booleans"):
        find_boundaries(y, s, days).to_dict()
