"""The failure probability that several promises share, at the fewest rows that suffice."""

import numpy as np
import pytest

from boundshift import (
    ClassFloors,
    ClopperPearson,
    Floors,
    Status,
    find_boundary,
    find_zone,
    rows_needed,
)
from boundshift._multiclass import ClassRows, promise_floors
from boundshift._promises.certify import certify_floors
from boundshift.curves._uniform import uniform_bound
from tests.problems import two_normals


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("missing", [0, 1])
def test_two_floors_of_clusters_share_the_failure_probability(missing):
    n = rows_needed(error=0.1, confidence=0.975, clustered=True) - missing
    y, ids = np.repeat([0, 1], n), np.arange(2 * n)
    rule = Floors(recall=0.9, specificity=0.9, confidence=0.95)
    found = find_boundary(y, y + ids / 1e3, rule=rule, cluster=ids)
    assert (found.status is Status.UNMET) == bool(missing)


@pytest.mark.parametrize("missing", [0, 1])
def test_both_predictive_values_share_the_failure_probability(missing):
    n = rows_needed(error=0.1, confidence=0.975)  # rows that must all be right for 0.9
    # The lower limit stands on a score, which is not among the rows that are counted.
    y = np.repeat([0, 1], [n + 1 - missing, n - missing])
    y = np.insert(y, n + 1 - missing, np.tile([1, 0], 10))
    zone = find_zone(y, np.arange(float(len(y))), precision=0.9, npv=0.9)
    assert np.isinf([zone.low, zone.high]).tolist() == [bool(missing)] * 2


@pytest.mark.parametrize("missing", [0, 1])
def test_a_floor_of_a_class_is_tested_at_its_confidence(missing):
    # One row of each class is wrong, at any bias that leaves the others right.
    n = next(n for n in range(2, 99) if 1 - 0.9**n - n * 0.1 * 0.9 ** (n - 1) >= 0.95) - missing
    y = np.repeat([0, 1, 2], n)
    right = np.eye(3)[y]
    tested = right.copy()
    tested[::n] = 100 * np.eye(3)[(y[::n] + 1) % 3]
    rule = ClassFloors(recall={0: 0.9, 1: 0.9, 2: 0.9}, confidence=0.95)
    found = promise_floors(ClassRows(y, tested), rule, [0, 1, 2], ClassRows(y, right))
    assert (found.status is Status.UNMET) == bool(missing)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_an_unmet_floor_of_two_has_the_band_at_what_the_tests_leave():
    rule, curve = Floors(recall=0.95, specificity=0.95), ClopperPearson(0.95)
    boundary = find_boundary(*two_normals(300, 60, 1.0), rule=rule, curve=curve)
    found = certify_floors(boundary, curve, rule)
    bounds = [
        float(uniform_bound(k, n, 0.05 - 0.05 / 2))
        for k, n in zip(boundary.wrong, boundary.n_samples, strict=True)
    ]
    assert any(b == pytest.approx(f) for b, f in zip(bounds, found.error_bounds, strict=True))
