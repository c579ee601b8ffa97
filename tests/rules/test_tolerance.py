"""Among boundaries whose G-mean is nearly the best: fewest errors of the class with more rows."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift import find_boundary
from boundshift.rules import GMean
from tests.problems import many, two_normals

TOLERANCE = 0.05


@many(150)
@given(st.integers(0, 2**32 - 1))
def test_counts_by_hand_agree(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [rng.integers(20, 60), rng.integers(2, 15)])
    s = np.round(rng.normal(size=len(y)) + 1.5 * y, rng.integers(0, 3))
    if np.median(s[y == 1]) <= np.median(s[y == 0]):
        return
    points = np.unique(s)
    cuts = [points[0] - 1, *(points[1:] + points[:-1]) / 2, points[-1] + 1]
    values = [np.sqrt(np.mean(s[y == 0] <= t) * np.mean(s[y == 1] > t)) for t in cuts]
    least = max(values) - TOLERANCE * (1 - np.sum(y == 1) / np.sum(y == 0)) - 1e-12
    ends = []  # from each best gap upwards, while the G-mean is nearly the best
    for place in (i for i, value in enumerate(values) if value >= max(values) - 1e-12):
        while place + 1 < len(cuts) and values[place + 1] >= least:
            place += 1
        ends.append(np.sum(s[y == 0] > cuts[place]))
    found = find_boundary(y, s, curve="empirical", rule=GMean(tolerance=TOLERANCE))
    assert found.wrong[0] in ends


@pytest.mark.parametrize(
    ("curve", "tolerance"),
    [*itertools.product(["smoothed", "logistic", "blend"], [0.0025, 0.02]), ("empirical", 0.02)],
)
def test_the_tolerance_is_used_up_and_not_exceeded(curve, tolerance):
    y, s = two_normals(2000, 100, 2.0)
    best = find_boundary(y, s, curve=curve, rule=GMean(tolerance=0))
    near = find_boundary(y, s, curve=curve, rule=GMean(tolerance=tolerance))
    assert near.threshold > best.threshold
    assert near.errors[0] < best.errors[0]
    assert best.loss + tolerance / 3 < near.loss <= best.loss + tolerance + 1e-12


def test_a_gap_between_the_classes_and_equally_frequent_classes_have_no_tolerance():
    y = np.repeat([0, 1], [1000, 8])
    s = np.concatenate([np.linspace(-1, 1, 1000), np.linspace(9, 11, 8)])
    for curve in ("empirical", "blend", "logistic", "smoothed"):
        alone, near = (find_boundary(y, s, curve=curve, rule=GMean(t)).threshold for t in (0, 0.02))
        assert near == alone
    y, s = two_normals(100, 100, 2.0)
    plain, wide = (find_boundary(y, s, rule=GMean(tolerance=t)).threshold for t in (0, 0.1))
    assert plain == wide


@pytest.mark.parametrize("n", [20, 2000, 20_000])
def test_a_growing_majority_takes_no_recall_from_the_rare_class(n):
    rng = np.random.default_rng(4)
    positive = rng.normal(3, 1, 20)
    recalls = []
    for _ in range(10):
        s = np.concatenate([rng.normal(0, 1, n), positive])
        t = find_boundary(np.repeat([0, 1], [n, 20]), s, curve="blend").threshold
        recalls.append(np.mean(rng.normal(3, 1, 20_000) > t))
    assert np.mean(recalls) > 0.9
