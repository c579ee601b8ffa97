"""The failure probability that several guarantees share, at the fewest rows that suffice."""

import itertools

import numpy as np
import pytest
from scipy import stats

from boundshift import (
    ClassFloors,
    ClopperPearson,
    Floors,
    Status,
    certify,
    find_boundary,
    find_zone,
    rows_needed,
)
from boundshift._guarantees.certify import certify_floors
from boundshift._multiclass import floors
from boundshift._multiclass.floors import ClassRows, guarantee_floors
from boundshift.curves._uniform import uniform_bound
from tests.problems import two_normals


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("missing", [0, 1])
def test_two_floors_of_clusters_share_the_failure_probability(missing):
    n = rows_needed(error=0.1, confidence=0.975, clustered=True) - missing
    y = np.repeat([0, 1], n)
    ids = np.arange(2 * n)
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
    found = guarantee_floors(ClassRows(y, tested), rule, [0, 1, 2], ClassRows(y, right))
    assert (found.status is Status.UNMET) == bool(missing)


# Shares of a class around -100, 0, 10 and 100: each floor of 0.6 binds where the other class is
# dense, so a lucky sample of either class draws the threshold to its own floor.
NEGATIVE = (0.57, 0.06, 0.37, 0.0)
POSITIVE = (0.0, 0.37, 0.06, 0.57)
PLACES = np.array([-100.0, 0.0, 10.0, 100.0])


def draw_places(rng, shares):
    return rng.choice(PLACES, 1000, p=shares) + rng.uniform(-1, 1, 1000)


def share_below(t, shares):
    return shares @ np.clip((t - PLACES + 1) / 2, 0, 1)


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_two_floors_are_broken_together_as_seldom_as_stated():
    """Not shared, the failure probability of 0.3 would become 0.46."""
    rng = np.random.default_rng(0)
    runs = 200
    broken = 0
    rule = Floors(recall=0.6, specificity=0.6, then="sum", confidence=0.7)
    y = np.repeat([0, 1], 1000)
    for _ in range(runs):
        s = np.append(draw_places(rng, NEGATIVE), draw_places(rng, POSITIVE))
        found = find_boundary(y, s, rule=rule)
        least = min(
            share_below(found.threshold, NEGATIVE), 1 - share_below(found.threshold, POSITIVE)
        )
        broken += found.status is Status.OPTIMAL and least < 0.6
    assert stats.binom.sf(broken - 1, runs, 0.3) > 1e-3


def test_the_first_proposal_that_fails_ends_the_tests(monkeypatch):
    """Each of nine proposals lets another class win rows of the first one, too many of them."""
    proposals = [2.0 * np.eye(10)[k] for k in range(1, 10)]
    monkeypatch.setattr(floors, "_proposals", lambda *_: proposals)
    rng = np.random.default_rng(0)
    runs = 200
    broken = 0
    rule = ClassFloors(recall={0: 0.9}, confidence=0.9)
    y = np.append(np.zeros(60, dtype=int), np.arange(1, 10))
    for _ in range(runs):
        # A row of the first class is lost to another class with a probability of 0.11.
        scores = np.where(rng.random((69, 10)) < 0.11, 0.0, -9.0)
        scores[:, 0] = 1.0
        rows = ClassRows(y, scores)
        found = guarantee_floors(rows, rule, list(range(10)), guide=rows)
        broken += found.status is Status.SHARED
    assert stats.binom.sf(broken - 1, runs, 0.1) > 1e-3


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_joint_certificate_of_clusters_breaks_as_seldom_as_stated():
    """All outcomes of five clusters of each class, each wrong as a whole or right."""
    n = 5
    delta = 0.3
    rate = 1.01 * (1 - delta ** (1 / n))  # just above the bound if none is wrong
    broken = 0.0
    for wrong in itertools.product(range(n + 1), repeat=2):
        y = np.repeat([0, 1], n)
        s = np.concatenate([np.arange(n) < wrong[0], np.arange(n) >= wrong[1]]).astype(float)
        found = certify(y, s, 0.5, 1 - delta, cluster=np.arange(2 * n), joint=True)
        if min(found.error_bounds) < rate:
            broken += np.prod(stats.binom.pmf(wrong, n, rate))
    assert broken <= delta


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_an_unmet_floor_of_two_has_the_band_at_what_the_tests_leave():
    rule = Floors(recall=0.95, specificity=0.95)
    curve = ClopperPearson(0.95)
    boundary = find_boundary(*two_normals(300, 60, 1.0), rule=rule, curve=curve)
    found = certify_floors(boundary, curve, rule)
    bounds = [
        float(uniform_bound(k, n, 0.05 - 0.05 / 2))
        for k, n in zip(boundary.wrong, boundary.n_samples, strict=True)
    ]
    assert any(b == pytest.approx(f) for b, f in zip(bounds, found.error_bounds, strict=True))
