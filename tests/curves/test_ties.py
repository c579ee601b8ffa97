"""Scores that repeat stay whole: no claim spreads an atom, no boundary stands beside one."""

import itertools
from dataclasses import replace
from functools import cache
from math import erf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_predict

from boundshift import find_boundary
from boundshift._scores import ScoreSample, robust_std
from boundshift.curves import Smoothed, as_curve
from boundshift.rules import GMean, as_rule
from tests.problems import many


@cache
def problem(kind):
    if kind == "forest":
        X, y = make_classification(1200, 8, weights=[0.9], random_state=3)
        model = RandomForestClassifier(10, random_state=0)
        return y, cross_val_predict(model, X, y, method="predict_proba")[:, 1]
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], [900, 30])
    if kind == "integers":
        return y, np.clip(rng.poisson(2 + 3 * y), 0, 10).astype(float)
    return y, np.where(rng.random(930) < np.where(y == 1, 0.3, 0.9), 0.0, rng.gamma(2 + y))


KINDS = ["integers", "zero-inflated", "forest"]


@pytest.mark.parametrize("kind", KINDS)
def test_only_single_rows_separate_a_claim_from_the_count(kind):
    y, s = problem(kind)
    found = find_boundary(y, s, curve="smoothed", rule="sum", scale="raw")
    values, counts = np.unique(s, return_counts=True)
    for k in (0, 1):
        own = s[y == k]
        single = np.isin(own, values[counts == 1]).mean()
        assert abs(found.errors[k] - found.wrong[k] / len(own)) <= single + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_the_default_does_not_flag_an_atom_of_the_common_class(kind):
    y, s = problem(kind)

    def g_mean(t):
        return np.sqrt(np.mean(s[y == 0] <= t) * np.mean(s[y == 1] > t))

    assert g_mean(find_boundary(y, s).threshold) > max(map(g_mean, [-1.0, *np.unique(s)])) - 0.03


def spread_share(values, atoms, t):
    """Return the share above t: atoms as they are, single scores by a normal kernel."""
    single = [v for v in values if v not in atoms]
    above = sum(v > t for v in values if v in atoms)
    if single:
        sample = ScoreSample.from_labels([0] * len(single) + [1], [*single, 0.0])
        h = robust_std(sample.negative) * len(single) ** -0.2
        if not h:
            return None
        above += sum((1 + erf((v - t) / h / sqrt(2))) / 2 for v in single)
    return above / len(values)


@many(40)
@given(
    st.lists(st.integers(0, 6).map(float), min_size=8, max_size=20),
    st.lists(st.integers(3, 9).map(float), min_size=8, max_size=20),
    st.sets(st.integers(1, 400).map(lambda i: i / 40 + 0.001), min_size=3, max_size=6),
)
def test_no_gap_between_distinct_scores_is_better(low, high, singles):
    negative = low + sorted(singles)[::2]
    positive = high + sorted(singles)[1::2]
    y = np.repeat([0, 1], [len(negative), len(positive)])
    sample = ScoreSample.from_labels(y, [*negative, *positive])
    rule = GMean()
    atoms = set(sample.atoms.tolist())
    points = sorted({*negative, *positive})
    best = np.inf
    for t in [points[0] - 1, *map(np.mean, itertools.pairwise(points)), points[-1] + 1]:
        u = spread_share(negative, atoms, t)
        v = spread_share([-p for p in positive], {-a for a in atoms}, -t)
        if u is None or v is None:
            return  # a class with a single row takes the pooled spread
        best = min(best, float(rule.value(np.array([u]), np.array([v]), sample.n_samples)[0]))
    # The kernel is looked up on a grid.
    assert Smoothed()._search(sample, rule).value == pytest.approx(best, abs=2e-3)


def test_tiny_atoms_and_heavy_rows_are_spread():
    s = np.round(np.random.default_rng(0).normal(size=20000), 4)
    assert len(ScoreSample.from_labels(np.arange(20000) % 2, s).atoms) == 0
    weight = [1.9, 2.0, 1.0, 5.0]
    weighted = ScoreSample.from_labels([0, 0, 1, 1], [0.0, 1.0, 2.0, 3.0], sample_weight=weight)
    assert weighted.atoms.tolist() == []


def test_calibration_counts_atoms_where_they_stand():
    errors = as_curve("logistic").errors(ScoreSample.from_labels(*problem("integers")))
    middle, below, above = np.transpose(errors(np.array([2.5, 2.999, 3.001])))
    np.testing.assert_allclose(below, middle, atol=1e-12)
    assert above[0] < below[0] - 0.05


def test_a_claim_of_the_blend_is_the_mean_of_its_parts():
    sample = ScoreSample.from_labels(*problem("zero-inflated"))
    t = np.linspace(-1, 5, 50)
    found, own, pooled = (as_curve(c).errors(sample)(t) for c in ("blend", "smoothed", "logistic"))
    for blend, a, b, n in zip(found, own, pooled, sample.n_samples, strict=True):
        np.testing.assert_allclose(blend, n / (n + 10) * a + 10 / (n + 10) * b)


def test_atoms_above_every_score_of_a_part_are_no_obstacle():
    """Resampled rows keep the atoms of all rows, also those of which none was drawn."""
    rng = np.random.default_rng(0)
    part = ScoreSample.from_labels(np.repeat([0, 1], 30), rng.normal(size=60) + np.arange(60) / 30)
    kept = replace(part, given_atoms=np.array([50.0]))
    found, alone = (as_curve("smoothed").solve(x, as_rule("sum")).found for x in (kept, part))
    # The same claims, judged between scores instead of anywhere on the line.
    assert found.errors == pytest.approx(alone.errors, abs=0.05)
