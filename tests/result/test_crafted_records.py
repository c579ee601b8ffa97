"""A stored record that was changed by hand is refused, or is as true as the one before."""

import copy
import json
import math
import warnings

import numpy as np
import pytest

from boundshift import (
    Boundary,
    ClassFloors,
    ClopperPearson,
    Cuts,
    Floors,
    GroupBoundaries,
    InvalidInputError,
    Monitor,
    Zone,
    certify,
    find_boundaries,
    find_boundary,
    find_cuts,
    find_zone,
)
from boundshift._guarantees.bets import Point
from boundshift._guarantees.certificate import Certificate, certify_counts
from boundshift._guarantees.certify import certify_floors
from tests.problems import two_normals

Y, S = two_normals(300, 60, 2.5)
GROUP = np.resize(["a", "b"], 360)
PATIENT = np.arange(360) // 3


def watched(certificate, **options):
    monitor = Monitor(certificate)
    monitor.update(Y, S, when=np.arange(360) // 60, **options)
    return monitor.update(*two_normals(300, 60, 0.5), when=7, **options)


RULE = Floors(recall=0.8, specificity=0.6)
RECORDS = {
    "boundary": find_boundary(Y, S),
    "boundary of the paper": find_boundary(Y, S, curve="paper"),
    "boundary of one class": find_boundary(np.ones(360, int), S, rule=Floors(recall=0.7)),
    "boundary by costs of rows": find_boundary(Y, S, row_cost=1.0 + Y),
    "boundary of floors": find_boundary(Y, S, rule=Floors(recall=0.7, specificity=0.6)),
    "zone": find_zone(Y, S),
    "zone by values": find_zone(Y, S, precision=0.5, npv=0.9),
    "zone of clusters": find_zone(Y, S, cluster=PATIENT, errors=0.2),
    "certificate": certify(Y, S, 1.0),
    "joint certificate": certify(Y, S, 1.0, joint=True),
    "certificate of chosen rows": certify(Y, S, 1.0, chosen_here=True),
    "certificate of many classes": certify_counts((1, 2, 3), (90, 80, 70), ("a", "b", "c")),
    "certificate of one class": certify(np.ones(360, int), S, 1.0),
    "certificate of clusters": certify(Y, S, 1.0, cluster=PATIENT),
    "certificate of drawn rows": certify(Y, S, 1.0, probability=(0.5, 1.0)),
    "certificate of floors": certify_floors(find_boundary(Y, S, rule=RULE), ClopperPearson(), RULE),
    "boundary of clusters": find_boundary(Y, S, rule=Floors(recall=0.6), cluster=PATIENT),
    "groups": find_boundaries(Y, S, GROUP),
    "cuts": find_cuts(Y + (S > 2.5), S),
    "cuts of floors": find_cuts(Y, S, rule=ClassFloors(recall={0: 0.7, 1: 0.6})),
    "monitor": watched(certify(Y, S, 1.0)),
    "fresh monitor": Monitor(certify(Y, S, 1.0)),
}
ODD = (
    None,
    True,
    -1,
    3,
    0.5,
    1.5,
    10**400,
    "NaN",
    "Infinity",
    "-Infinity",
    "",
    [],
    {},
    [1, 2],
    "a",
)


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_every_record_comes_back(record):
    again = type(record).from_json(record.to_json())
    assert again == record


def parents_of_leaves(value):
    """Return (container, key) of every value inside of a stored record."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in list(items):
        yield value, key
        if isinstance(inner, dict | list):
            yield from parents_of_leaves(inner)


def attempt(record, stored):
    """Return what the stored values are read as, or None if they are refused."""
    try:
        return type(record).from_json(json.dumps(stored))
    except InvalidInputError as refused:
        return None if len(str(refused)) < 2000 else refused


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_no_value_of_another_kind_crashes_or_makes_an_impossible_record(record):
    rng = np.random.default_rng(0)
    n_places = sum(1 for _ in parents_of_leaves(record.to_dict()))
    for _ in range(300):
        stored = copy.deepcopy(record.to_dict())
        container, key = list(parents_of_leaves(stored))[rng.integers(n_places)]
        container[key] = copy.deepcopy(ODD[rng.integers(len(ODD))])
        found = attempt(record, stored)
        if found is not None:
            assert_possible(found)
            str(found)
            repr(found)


@pytest.mark.parametrize("record", RECORDS.values(), ids=RECORDS)
def test_no_list_may_be_longer_or_shorter(record):
    stored = record.to_dict()
    for name, value in stored.items():
        if isinstance(value, list) and name not in ("remarks", "labels"):
            for changed in (value[:-1], [*value, value[-1] if value else 0]):
                if changed != value:
                    assert attempt(record, stored | {name: changed}) is None


def assert_possible(found):
    """Raise unless the numbers of a record are what they claim to be."""
    if isinstance(found, Monitor):
        assert_possible(found.certificate)
        assert len(found.classes) == len(found.certificate.labels)
        assert found.rows == sum(found.n_samples)
        assert all(math.isfinite(bet.log_e_value) for bet in found.classes)
    elif isinstance(found, Zone):
        assert found.low <= found.high
        assert all(0.0 < bound <= 1.0 for bound in found.error_bounds)
        assert all(0.0 <= share <= 1.0 for share in found.unsure)
        assert set(found.predict([-1e300, 1e300])) <= {*found.labels, None}
    elif isinstance(found, GroupBoundaries):
        for boundary in (found.common, *found.values()):
            assert_possible(boundary)
    elif isinstance(found, Cuts):
        assert [*found.thresholds] == sorted(found.thresholds)
        assert len(found.predict([-1e300, 1e300])) == 2
        assert all(0.0 <= error <= 1.0 for error in found.errors)
    elif isinstance(found, Boundary):
        assert math.isfinite(found.threshold)
        assert found.plateau[0] <= found.plateau[1]
        assert all(0 <= k <= 1.001 * n for k, n in zip(found.wrong, found.n_samples, strict=True))
    else:
        counts = zip(found.errors, found.error_bounds, found.wrong, found.n_samples, strict=True)
        for error, bound, wrong, n in counts:
            assert 0 <= wrong <= n
            assert math.isnan(error) if n == 0 else 0 <= error <= 1
            assert 0 <= bound <= 1
            if found.method == "clopper-pearson" and n:
                again = certify_counts((wrong, 0), (n, 0), (0, 1), confidence=found.confidence)
                assert bound >= again.error_bounds[0] - 1e-9


CRAFTED = {
    "cuts out of order": ("cuts", {"thresholds": [3.0, 1.0]}),
    "cuts with half a row": ("cuts", {"wrong": [0.5, 0, 0]}),
    "cuts with too many wrong for a floor": ("cuts of floors", {"wrong": [200, 0]}),
    "cuts with a floor at no confidence": ("cuts of floors", {"confidence": None}),
    "cuts with a floor of another band": (
        "cuts of floors",
        {"floors": {"labels": [7], "values": [0.5]}},
    ),
    "a bound below 0": ("certificate", {"error_bounds": [-1.0, 0.1]}),
    "a bound that is too good": ("certificate", {"error_bounds": [0.01, 0.01]}),
    "a bound for other counts": ("certificate", {"wrong": [9, 9]}),
    "more wrong than rows": ("certificate", {"wrong": [999, 1], "n_samples": [100, 60]}),
    "another confidence": ("certificate", {"confidence": 0.99}),
    "joint after all": ("certificate", {"joint": True}),
    "too many rows": ("certificate", {"n_samples": [10**400, 60]}),
    "one label": ("certificate", {"labels": [0, 0]}),
    "other lowest bounds": ("certificate", {"lowest_bounds": [0.0, 0.0]}),
    "another method": ("certificate of chosen rows", {"method": "clopper-pearson"}),
    "better than one threshold": ("certificate of chosen rows", {"error_bounds": [0.01, 0.01]}),
    "more clusters than rows": ("certificate of clusters", {"n_clusters": [900, 900]}),
    "more errors than the bound": ("certificate of clusters", {"errors": [0.9, 0.9]}),
    "clusters of rows": ("certificate of clusters", {"method": "uniform"}),
    "limits in another order": ("zone", {"low": 3.0, "high": 1.0}),
    "a precision alone": ("zone", {"precision": 0.9}),
    "a scale of its own": ("zone", {"scale": "percent"}),
    "a curve of another kind": ("boundary", {"curve": {"name": "g-mean"}}),
    "a rule of another kind": ("boundary", {"rule": {"name": "blend"}}),
    "equal labels": ("boundary", {"labels": ["a", "a"]}),
    "no rows": ("boundary", {"n_samples": [0, 0], "wrong": [0, 0]}),
    "a higher floor": (
        "boundary of floors",
        {"rule": Floors(recall=0.99, specificity=0.6).get_params() | {"name": "floors"}},
    ),
    "a guarantee at another threshold": ("boundary of floors", {"threshold": 9.0}),
    "no hashes": ("boundary", {"chosen_on": {"n_rows": [-3, 3], "deciles": [[], []]}}),
    "a group twice": (
        "groups",
        {"boundaries": {"labels": ["a", "a"], "values": [RECORDS["boundary"].to_dict()] * 2}},
    ),
    "other rows": ("monitor", {"rows": 5}),
}


@pytest.mark.parametrize(("name", "change"), CRAFTED.values(), ids=CRAFTED)
def test_a_crafted_record_is_refused(name, change):
    record = RECORDS[name]
    with pytest.raises(InvalidInputError, match=r"must|cannot"):
        type(record).from_dict(record.to_dict() | change)


BETS = {
    "ratios of NaN": {"log_ratios": ["NaN"] * 7},
    "few ratios": {"log_ratios": [0.0]},
    "starts of NaN": {"log_starts": ["NaN"] * 7},
    "another bound": {"bound": 0.9},
    "no alarm": {"alarm": None},
}


@pytest.mark.parametrize("change", BETS.values(), ids=BETS)
def test_a_crafted_state_of_a_monitor_is_refused(change):
    stored = RECORDS["monitor"].to_dict()
    place = next(k for k, bet in enumerate(stored["classes"]) if bet["alarm"])
    stored["classes"][place] |= change
    with pytest.raises(InvalidInputError, match="must"):
        Monitor.from_dict(stored)


LAST_POINTS = {
    "evidence of NaN": ("log_e_value", "NaN"),
    "less evidence": ("log_e_value", -50.0),
    "more wrong than rows": ("wrong", 10**6),
}


@pytest.mark.parametrize("change", LAST_POINTS.values(), ids=LAST_POINTS)
def test_a_crafted_count_of_a_monitor_is_refused(change):
    stored = RECORDS["monitor"].to_dict()
    last = stored["classes"][0]["last"]
    name, value = change
    last[Point._fields.index(name)] = value
    with pytest.raises(InvalidInputError, match="must"):
        Monitor.from_dict(stored)


def test_a_certificate_of_training_rows_stays_nominal():
    nominal = certify(Y, S, 1.0, origin="training")
    with warnings.catch_warnings(action="error"):
        again = Certificate.from_json(nominal.to_json())
    assert again == nominal
