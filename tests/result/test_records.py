"""Every record goes to JSON and comes back whole, or is refused."""

import numpy as np
import pytest

from boundshift import (
    Boundary,
    ClopperPearson,
    Cost,
    Floors,
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
from boundshift._guarantees.certificate import Certificate
from boundshift.rules import GMean
from tests.problems import two_normals

PROBLEM = two_normals(300, 60, 2.5)


@pytest.mark.parametrize(
    ("curve", "rule"),
    [
        (None, None),
        (SupportRadius(penalty="count", budget=0.25), "sum"),
        (SupportRadius(alpha=(1, 2), budget=200), "sum"),
        (ClopperPearson(0.9), Floors(recall=0.7)),
        (ClopperPearson(0.9), "minimax"),
        (Smoothed(0.5), Cost(false_negative=20, prevalence=0.01)),
        ("empirical", GMean()),
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


RECORDS = [
    find_boundary(*PROBLEM, curve="paper"),
    find_zone(*PROBLEM),
    certify(*PROBLEM, 1.0),
    find_boundaries(*PROBLEM, np.resize(["a", "b"], 360)),
    Monitor(certify(*PROBLEM, 1.0)),
]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_another_format_or_version_is_refused_and_a_missing_field_named(record):
    stored = record.to_dict()
    for change in ({"version": 0}, {"version": 9}, {"format": "boundshift.model"}):
        with pytest.raises(InvalidInputError, match=r"'format': |'version' of"):
            type(record).from_dict(stored | change)
    name = list(stored)[2]
    with pytest.raises(InvalidInputError, match=f"must have the fields .*missing: {name}"):
        type(record).from_dict({key: value for key, value in stored.items() if key != name})


@pytest.mark.parametrize("kind", [Boundary, Zone, Certificate, Monitor])
@pytest.mark.parametrize("text", ["[" * 10**5, b"\xff\xfe\x00", "9" * 5000, "[]", 7])
def test_text_that_is_no_record_is_refused(kind, text):
    with pytest.raises(InvalidInputError, match="must "):
        kind.from_json(text)


def test_labels_that_json_cannot_carry_are_refused():
    y, s = PROBLEM
    days = np.where(y == 1, np.datetime64("2020-01-01"), np.datetime64("2020-01-02"))
    with pytest.raises(InvalidInputError, match="strings, finite numbers or booleans"):
        find_boundaries(y, s, days).to_dict()
