"""The search against brute force over every gap, and over a dense grid."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from boundshift import find_boundary
from boundshift._scores import ScoreSample
from boundshift.curves import CURVES, CountCurve, as_curve
from boundshift.rules import Floors, GMean, as_rule
from tests.problems import many

COUNT = [name for name, c in CURVES.items() if issubclass(c, CountCurve)]
VALUE_RULES = ["sum", "minimax", GMean(tolerance=0), "cost", Floors(recall=0.9)]

score_lists = st.lists(st.integers(-8, 8).map(float), min_size=1, max_size=30)


def brute_force(curve: str, rule: str, negative: list[float], positive: list[float]) -> float:
    """Return the least value over every gap, counting one point after the other."""
    points = sorted({*negative, *positive})
    cuts = [points[0] - 1, *[(a + b) / 2 for a, b in itertools.pairwise(points)]]
    values = []
    for t in [*cuts, points[-1] + 1]:
        above = sum(s > t for s in negative)
        below = sum(s <= t for s in positive)
        u = as_curve(curve).bound([above], len(negative))
        v = as_curve(curve).bound([below], len(positive))
        values.append(float(as_rule(rule).value(u, v, (len(negative), len(positive)))[0]))
    return min(values)


def find_minimum(curve, rule, sample):
    """Return what the curve's own search finds, in the orientation given."""
    return curve._search(sample, rule)


def errors_at(curve, sample, t):
    """Return the claimed errors at each boundary."""
    return curve.errors(sample)(np.asarray(t, dtype=float))


def sample_of(negative: list[float], positive: list[float]) -> ScoreSample:
    y = np.repeat([0, 1], [len(negative), len(positive)])
    return ScoreSample.from_labels(y, [*negative, *positive])


@pytest.mark.parametrize("curve", COUNT)
@pytest.mark.parametrize("rule", VALUE_RULES)
@given(negative=score_lists, positive=score_lists)
@settings(max_examples=40)
def test_no_gap_is_better(
    curve: str, rule: str, negative: list[float], positive: list[float]
) -> None:
    found = find_minimum(as_curve(curve), as_rule(rule), sample_of(negative, positive))
    assert found.value == pytest.approx(brute_force(curve, rule, negative, positive), rel=1e-9)


@pytest.mark.parametrize("curve", COUNT)
def test_pruning_loses_nothing_at_thousands_of_rows(curve: str) -> None:
    rng = np.random.default_rng(1)
    negative, positive = rng.normal(0, 1, 3000).tolist(), rng.normal(1, 2, 150).tolist()
    for rule in ("sum", "cost"):
        found = find_minimum(as_curve(curve), as_rule(rule), sample_of(negative, positive))
        cuts = np.sort([*negative, *positive])
        u, v = errors_at(as_curve(curve), sample_of(negative, positive), cuts)
        assert found.value <= as_rule(rule).value(u, v, (3000, 150)).min() + 1e-12


@pytest.mark.parametrize("curve", CURVES)
@pytest.mark.parametrize("rule", ["sum", "minimax", "g-mean"])
def test_a_mirrored_problem_has_the_mirrored_boundary(curve: str, rule: str) -> None:
    rng = np.random.default_rng(3)
    rule = "sum" if curve == "support" else rule
    s, y = rng.normal(size=200), np.repeat([0, 1], [180, 20])
    s = s + 2 * y
    there = find_boundary(y, s, curve=curve, rule=rule)
    back = find_boundary(1 - y, -s, curve=curve, rule=rule)
    assert back.threshold == pytest.approx(-there.threshold, abs=1e-9)
    assert back.errors == pytest.approx(there.errors[::-1])


def test_a_gap_between_the_classes_is_shared_and_not_given_to_the_larger_one() -> None:
    y = np.repeat([0, 1], [1000, 8])
    scores = np.concatenate([np.linspace(-1, 1, 1000), np.linspace(9, 11, 8)])
    assert 4 < find_boundary(y, scores).threshold < 6
    assert 4 < find_boundary(y, scores, curve="empirical").threshold < 6


def test_neighbouring_gaps_that_are_as_good_are_one_plateau() -> None:
    # The negative class rules the maximum from 1 to 9: its points there change nothing.
    y, s = [0, 0, 0, 1, 1, 1], [0, 1, 20, 9, 9.5, 10]
    boundary = find_boundary(y, s, curve="empirical", rule="minimax")
    assert boundary.errors[0] == pytest.approx(1 / 3)
    assert boundary.plateau == (1.0, 9.5)


@pytest.mark.parametrize("curve", [c for c in CURVES if c != "support"])
@pytest.mark.parametrize(
    "scores",
    [[0, 0, 0, 0], [0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 1], [1e6, 0, 0, 1]],
    ids=["constant", "identical", "reversed", "one apart", "outlier"],
)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_there_is_always_an_answer(curve: str, scores: list[float]) -> None:
    boundary = find_boundary([0, 0, 1, 1], scores, curve=curve)
    assert np.isfinite(boundary.threshold)
    assert boundary.status.solved


@pytest.mark.parametrize("rounding", [None, 1])
@pytest.mark.parametrize("rule", ["sum", GMean(tolerance=0)])
@pytest.mark.parametrize("curve", ["logistic", "smoothed", "blend"])
def test_no_candidate_is_better(curve, rule, rounding):
    @many(10)
    @given(seed=st.integers(0, 10_000), n=st.sampled_from([60, 200, 1000]))
    def check(seed, n):
        rng = np.random.default_rng(seed)
        y = np.arange(n) < max(n * rng.choice([0.05, 0.2, 0.5]), 2)
        s = rng.normal(size=n) * rng.choice([0.3, 1.0], n) + rng.choice([0.5, 1.0, 3.0]) * y
        s = s if rounding is None else np.round(s, rounding)
        sample = ScoreSample.from_labels(y, s)
        found = find_minimum(as_curve(curve), as_rule(rule), sample)
        dense = np.linspace(s.min() - 0.1, s.max() + 0.1, 50_001)
        if rounding is not None:  # scores repeat: the middles of the gaps between them
            values = np.unique(s)
            dense = np.concatenate([dense[[0, -1]], (values[1:] + values[:-1]) / 2])
        errors = errors_at(as_curve(curve), sample, dense)
        assert found.value <= as_rule(rule).value(*errors, sample.n_samples).min() + 1e-9

    check()
