"""A certificate and a monitor come back from JSON as they were, or are refused."""

import json

import numpy as np
import pytest

from boundshift import InvalidInputError, Monitor, certify
from boundshift.promises.stored import certificate_from_dict, certificate_to_dict


@pytest.fixture
def certificate():
    y = np.arange(200) % 4 == 0
    return certify(y, y + np.linspace(-0.6, 0.6, 200), 0.5)


CHANGES = {
    "bounds in words": {"error_bounds": ["a", "b"]},
    "a bound above 1": {"error_bounds": [0.1, 1.5]},
    "a bound that is unknown": {"error_bounds": ["NaN", 0.1]},
    "one bound": {"error_bounds": [0.1]},
    "bounds as a number": {"error_bounds": 0.1},
    "errors in words": {"errors": ["a", "b"]},
    "counts below 0": {"wrong": [-1, 0]},
    "more wrong than there are": {"wrong": [1, 10**6]},
    "a count without end": {"n_samples": [10**400, 5]},
    "equal labels": {"labels": [1, 1]},
    "a label that is a list": {"labels": [[1], 2]},
    "no labels": {"labels": []},
    "confidence of 1": {"confidence": 1},
    "confidence as text": {"confidence": "0.95"},
    "threshold in words": {"threshold": "a"},
    "an infinite threshold": {"threshold": "Infinity"},
    "a status of its own": {"status": "guaranteed"},
    "joint as a number": {"joint": 1},
    "a reason that is none": {"reason": None},
    "a method that is none": {"method": 3},
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_certificate_that_cannot_be_is_not_read(certificate, change):
    stored = certificate_to_dict(certificate)
    with pytest.raises(InvalidInputError, match="certify again"):
        certificate_from_dict(stored | CHANGES[change])


def test_a_class_without_rows_comes_back():
    from boundshift.promises.certificate import certify_counts

    stored = json.loads(
        json.dumps(certificate_to_dict(certify_counts((0, 1), (0, 20), ("a", "b"))))
    )
    assert certificate_from_dict(stored).n_samples == (0, 20)


@pytest.fixture
def stored(certificate):
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.3
    monitor = Monitor(certificate)
    monitor.update(y, rng.random(300))
    assert monitor.alarm
    return json.loads(monitor.to_json())


def change_class(**changes):
    def changed(stored):
        stored["classes"][0] |= changes
        return stored

    return changed


ALARM = {
    "row": 1, "when": None, "since_row": 1, "since": None,
    "wrong": 1, "n_samples": 1, "bound": 0.1, "level": 0.05,
}  # fmt: skip
STATES = {
    "fewer classes": lambda stored: stored | {"classes": stored["classes"][:1]},
    "more classes": lambda stored: stored | {"classes": stored["classes"] * 2},
    "no classes": lambda stored: stored | {"classes": None},
    "rows below 0": lambda stored: stored | {"rows": -5},
    "rows in words": lambda stored: stored | {"rows": "5"},
    "infinite rows": lambda stored: stored | {"rows": 1e400},
    "a threshold in words": lambda stored: stored | {"threshold": "x"},
    "another certificate": lambda stored: stored | {"certificate": {}},
    "more rows of a class than of all": change_class(n_samples=10**9),
    "more wrong than there are": change_class(n_samples=3, wrong=5),
    "a fraction of a row": change_class(n_samples=3.5),
    "evidence in words": change_class(log_e_value="much"),
    "unknown evidence": change_class(log_e_value="NaN"),
    "too few starts": change_class(log_starts=[0.0]),
    "unknown starts": change_class(log_starts=["NaN"] * 7),
    "points that are none": change_class(points=[[1, 2]]),
    "points in words": change_class(points=[["a", None, 1, 1, 0.0]]),
    "last as a number": change_class(last=5),
    "a date that is a list": change_class(last=[1, []]),
    "an alarm in words": change_class(alarm="yes"),
    "an alarm of another kind": change_class(alarm={"row": 1}),
    "an alarm of no level": change_class(alarm=ALARM | {"level": []}),
    "an alarm at no row": change_class(alarm=ALARM | {"row": -1}),
    "endless evidence": change_class(log_e_value=float("inf")),
}


@pytest.mark.parametrize("what", STATES)
def test_a_state_that_cannot_be_is_not_read(stored, what):
    with pytest.raises(InvalidInputError):
        Monitor.from_dict(STATES[what](stored))


def test_a_state_comes_back_whole(stored):
    assert json.loads(Monitor.from_dict(stored).to_json()) == stored


@pytest.mark.parametrize("text", ["[" * 10**5, "{", b"\xff", "[]", "9" * 5000])
def test_text_that_is_no_state_is_refused(text):
    with pytest.raises(InvalidInputError):
        Monitor.from_json(text)


def test_a_file_of_other_bytes_is_no_state(tmp_path):
    (tmp_path / "monitor.json").write_bytes(b"\xff\xfe\x80")
    with pytest.raises(InvalidInputError, match="must be JSON"):
        Monitor.load(tmp_path / "monitor.json")
