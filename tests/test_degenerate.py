"""Degenerate rows: every function answers, or refuses with a sentence; none crashes."""

import warnings
from functools import partial

import numpy as np
import pytest

from boundshift import (
    Boundary,
    BoundaryWarning,
    InvalidInputError,
    certify,
    find_boundaries,
    find_boundary,
    find_zone,
    metrics_at,
    threshold_interval,
)
from boundshift.curves import CURVES
from boundshift.streaming import scan_boundary

FUNCTIONS = {
    "find_boundary": find_boundary,
    **{f"find_boundary, {name}": partial(find_boundary, curve=name) for name in CURVES},
    "find_boundary, paper": lambda y, s: find_boundary(y, s, curve="paper"),
    "find_boundary, weighted": lambda y, s: find_boundary(y, s, sample_weight=[3.0] * len(s)),
    "find_boundary, row_cost": lambda y, s: find_boundary(y, s, row_cost=[2.0] * len(s)),
    "find_boundaries": lambda y, s: find_boundaries(y, s, ["a"] * len(s)),
    "find_zone": lambda y, s: find_zone(y, s, (0.2, 0.2)),
    "certify": lambda y, s: certify(y, s, 0.5),
    "threshold_interval": lambda y, s: threshold_interval(y, s, n_resamples=3, random_state=0),
    "metrics_at": metrics_at,
    "scan_boundary": lambda y, s: scan_boundary([(y, s)]),
}
HALF = np.repeat([0, 1], 10)
REFUSED = {
    "no rows": ([], [], "must"),
    "one row": ([1], [0.5], "two classes, got only 1"),
    "one class": ([0, 0, 0], [0.1, 0.2, 0.3], "two classes, got only 0"),
    "three classes": ([0, 1, 2], [0.1, 0.2, 0.3], "two classes, got 3"),
    "a class for each row": (list(range(20)), np.arange(20.0), "two classes, got"),
    "missing labels only": ([np.nan] * 4, [0.1, 0.2, 0.3, 0.4], "missing"),
    "labels of two kinds": ([0, "a", 0, "a"], [0.1, 0.2, 0.3, 0.4], "labels"),
    "labels that differ by case": (["a", "A", "a"], [0.1, 0.2, 0.3], "blanks or case"),
    "scores that are NaN": (HALF, [np.nan] * 20, "NaN"),
    "scores that are infinite": (HALF, [np.inf] * 20, "finite"),
    "the largest doubles": (HALF, np.where(HALF, 1.7e308, -1.7e308), "at most 1e\\+290"),
    "scores that are text": (HALF, ["0.5"] * 20, "real numbers"),
    "more scores than labels": (HALF, np.arange(21.0), "each of 20 rows, got 21"),
    "scores and labels exchanged": (np.linspace(0, 1, 20), HALF, "two classes, got"),
}
ANSWERED = {
    "two rows": ([0, 1], [0.2, 0.7]),
    "two rows that are reversed": ([0, 1], [0.7, 0.2]),
    "two equal rows": ([0, 1], [0.5, 0.5]),
    "scores that are all the same": (HALF, np.full(20, 3.0)),
    "probabilities that are all the same": (HALF, np.full(20, 0.5)),
    "scores that are all 0": (HALF, np.zeros(20)),
    "hard labels": (HALF, np.r_[np.zeros(8), np.ones(12)]),
    "perfect labels": (HALF, HALF),
    "reversed labels": (HALF, 1 - HALF),
    "one positive row": (np.r_[np.zeros(19), 1], np.arange(20.0)),
    "one positive row below": (np.r_[1, np.zeros(19)], np.arange(20.0)),
    "neighbouring doubles": (HALF, np.nextafter(1.0, np.where(HALF, 2, 0))),
    "the least doubles": (HALF, np.where(HALF, 5e-324, 0.0)),
    "an outlier": (HALF, np.r_[np.arange(19.0), 1e280]),
    "probabilities next to 0 and 1": (HALF, np.where(HALF, 1 - 2.0**-53, 5e-324)),
    "boolean": (HALF.astype(bool), HALF.astype(bool)),
}
# What these functions refuse, and the words they refuse it with.
REFUSED_BY = {
    ("find_zone", "two rows that are reversed"): "must be higher for the positive class",
    ("find_zone", "reversed labels"): "must be higher for the positive class",
    ("find_zone", "one positive row below"): "must be higher for the positive class",
}


def call(function, y, s):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BoundaryWarning)
        return function(y, s)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("rows", REFUSED)
def test_rows_that_no_boundary_divides_are_refused(name, rows):
    y, s, words = REFUSED[rows]
    if name in ("certify", "find_zone") and rows in ("one row", "one class"):
        assert 0 in call(FUNCTIONS[name], y, s).n_samples  # the other class is not known
        return
    with pytest.raises(InvalidInputError, match=words):
        call(FUNCTIONS[name], y, s)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("rows", ANSWERED)
def test_degenerate_rows_are_answered_with_numbers(name, rows):
    y, s = ANSWERED[rows]
    if (name, rows) in REFUSED_BY:
        with pytest.raises(InvalidInputError, match=REFUSED_BY[name, rows]):
            call(FUNCTIONS[name], y, s)
        return
    found = call(FUNCTIONS[name], y, s)
    if isinstance(found, Boundary):
        predicted = found.predict(s)
        y = np.asarray(y)
        s = np.asarray(s, dtype=float)
        assert np.isfinite([found.threshold, *found.errors]).all()
        assert np.isfinite(found.loss) or not found.status.solved
        wrong = [np.sum((predicted != y) & (y == label)) for label in found.labels]
        times = 3 if "weighted" in name else 1
        assert found.wrong == tuple(times * k for k in wrong)
    if name == "threshold_interval":
        assert found[0] <= found[1]
