"""The search on the line against a dense grid, and what all searches share."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift import Cost, InvalidInputError, Metric, find_boundaries, find_boundary
from boundshift._scores import ScoreSample
from boundshift._search import minimum_on_line
from boundshift.curves import CURVES, as_curve
from boundshift.rules import GMean, Sum, as_rule
from tests.problems import many, two_normals

SCREENING = Cost(false_positive=1, false_negative=1e6)


def all_cuts(*scores):
    points = np.unique(np.concatenate(scores))
    return np.concatenate([[points[0] - 1], (points[1:] + points[:-1]) / 2, [points[-1] + 1]])


@pytest.mark.parametrize("rounding", [None, 1])
@pytest.mark.parametrize("rule", ["sum", GMean()])
@pytest.mark.parametrize("curve", ["logistic", "smoothed", "blend"])
def test_no_place_on_a_dense_grid_is_better(curve, rule, rounding):
    curve = as_curve(curve)
    rule = as_rule(rule)

    @many(10)
    @given(seed=st.integers(0, 10_000), n=st.sampled_from([60, 200, 1000]))
    def check(seed, n):
        rng = np.random.default_rng(seed)
        y = np.arange(n) < max(n * rng.choice([0.05, 0.2, 0.5]), 2)
        s = rng.normal(size=n) * rng.choice([0.3, 1.0], n) + rng.choice([0.5, 1.0, 3.0]) * y
        dense = np.linspace(s.min() - 0.1, s.max() + 0.1, 50_001)
        if rounding is not None:  # scores repeat: the middles of the gaps between them
            s = np.round(s, rounding)
            dense = all_cuts(s)
        sample = ScoreSample.from_labels(y, s)
        best = rule.value(*curve.errors(sample)(dense), sample.n_samples).min()
        assert curve._search(sample, rule).value <= best + 1e-9

    check()


@pytest.mark.parametrize(
    ("curve", "rule"),
    [
        ("support", "sum"),
        *itertools.product(sorted(set(CURVES) - {"support"}), ["sum", "minimax", None]),
    ],
)
def test_a_mirrored_problem_has_the_mirrored_boundary(curve, rule):
    y, s = two_normals(180, 20, 2.0)
    there = find_boundary(y, s, curve=curve, rule=rule)
    back = find_boundary(1 - y, -s, curve=curve, rule=rule)
    assert back.threshold == pytest.approx(-there.threshold, abs=1e-9)
    assert back.errors == pytest.approx(there.errors[::-1])


@pytest.mark.parametrize("curve", ["blend", "empirical"])
def test_a_gap_between_the_classes_is_shared_and_not_given_to_the_larger_one(curve):
    y = np.repeat([0, 1], [1000, 8])
    scores = np.concatenate([np.linspace(-1, 1, 1000), np.linspace(9, 11, 8)])
    assert 4 < find_boundary(y, scores, curve=curve).threshold < 6


def screen(y, s, **given):
    return find_boundary(y, s, rule=SCREENING, scale="raw", **given)


COUNTING = {
    "empirical": lambda y, s: screen(y, s, curve="empirical"),
    "clopper-pearson": lambda y, s: screen(y, s, curve="clopper-pearson"),
    "row_cost": lambda y, s: find_boundary(y, s, row_cost=np.where(y, 1e6, 1.0), scale="raw"),
    "group": lambda y, s: find_boundaries(
        y, s, np.zeros(len(y)), curve="empirical", rule=SCREENING, scale="raw"
    )[0.0],
}


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("lowest", [1e16, -1e16, 1.0, 0.3, 1e280, 0.0])
@pytest.mark.parametrize("way", COUNTING)
def test_all_rows_can_be_flagged_where_scores_are_neighbouring_doubles(way, lowest):
    rng = np.random.default_rng(0)
    y = np.append(rng.integers(0, 2, 98), [1, 0])
    s = lowest + np.spacing(lowest) * np.append(rng.integers(0, 3, 98), [0, 2])
    found = COUNTING[way](y, s)
    # A miss costs more than all false alarms together, and a positive row has the least score.
    assert found.wrong == (np.sum(y == 0), 0)
    assert found.predict(s).all()


def test_a_metric_that_prefers_a_share_of_flagged_rows_is_refused_by_counts():
    def near_30_percent(y_true, y_pred, sample_weight=None):
        return -abs(np.average(y_pred, weights=sample_weight) - 0.3)

    rng = np.random.default_rng(0)
    y = (rng.random(200) < 0.3).astype(int)
    s = rng.normal(size=200) + 2 * y
    with pytest.raises(InvalidInputError, match="`rule` must not improve while an error rate"):
        find_boundary(y, s, rule=Metric(near_30_percent), curve="clopper-pearson")
    found = find_boundary(y, s, rule=Metric(near_30_percent), curve="smoothed")
    assert np.mean(found.predict(s)) == pytest.approx(0.3, abs=0.02)


def test_a_narrow_valley_between_the_first_boundaries_is_looked_into():
    sample = ScoreSample.from_labels([0, 0, 1, 1], [0.0, 1.0, 2.0, 3.0])

    def errors(t):  # the first boundaries are 0.25 apart, and 0.5 is the best of them
        wide = np.exp(-(((t - 0.5) / 0.3) ** 2))
        narrow = np.exp(-(((t - 2.36) / 0.1) ** 2))
        return 1 - 0.5 * wide - 0.9 * narrow, np.zeros_like(t)

    found = minimum_on_line(errors, Sum(), sample, np.arange(4.0))
    assert (found.threshold, found.value) == pytest.approx((2.36, 0.1), abs=1e-4)
