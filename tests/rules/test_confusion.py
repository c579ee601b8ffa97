"""F-beta, MCC, kappa, Youden and markedness against scikit-learn, rule by rule and gap by gap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    fbeta_score,
    matthews_corrcoef,
    precision_score,
)

from boundshift import BoundaryWarning, FBeta, InvalidInputError, find_boundary
from boundshift.rules import MCC, Kappa, Markedness, Youden, as_rule
from tests.problems import many


def markedness(y, p, sample_weight=None):
    ppv = precision_score(y, p, zero_division=0, sample_weight=sample_weight)
    npv = precision_score(
        1 - np.asarray(y), 1 - np.asarray(p), zero_division=0, sample_weight=sample_weight
    )
    return ppv + npv - 1 if 0 < np.mean(p) < 1 else 0.0


METRICS = {
    "f1": lambda y, p, w=None: fbeta_score(y, p, beta=1, zero_division=0, sample_weight=w),
    "f2": lambda y, p, w=None: fbeta_score(y, p, beta=2, zero_division=0, sample_weight=w),
    "f0.5": lambda y, p, w=None: fbeta_score(y, p, beta=0.5, zero_division=0, sample_weight=w),
    "mcc": lambda y, p, w=None: matthews_corrcoef(y, p, sample_weight=w),
    "kappa": lambda y, p, w=None: cohen_kappa_score(y, p, sample_weight=w),
    "youden": lambda y, p, w=None: balanced_accuracy_score(y, p, sample_weight=w) * 2 - 1,
    "markedness": markedness,
}
RULES = (FBeta(), FBeta(beta=2), MCC(), Kappa(), Youden(), Markedness(), MCC(prevalence=0.01))
RATE = st.floats(0, 1)


def best_of_all_gaps(metric, y, s):
    """Return the best of a metric over every way to cut the scores."""
    points = np.unique(s)
    cuts = np.concatenate([[points[0] - 1], (points[1:] + points[:-1]) / 2, [points[-1] + 1]])
    return max(metric(y, (s > t).astype(int)) for t in cuts)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_with_counts_a_rule_is_the_best_of_its_metric_over_all_gaps(name):
    @many(40)  # of each of seven rules
    @given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 30), st.booleans())
    def check(seed, p, n, tied):
        rng = np.random.default_rng(seed)
        y = np.repeat([0, 1], [n, p])
        s = rng.normal(size=n + p) + rng.choice([0.0, 1.0, 3.0]) * y
        s = np.round(s) if tied else s
        if np.median(s[y == 1]) < np.median(s[y == 0]) and as_rule(name).alike:
            s = -s
        found = find_boundary(y, s, curve="empirical", rule=name)
        best = best_of_all_gaps(METRICS[name], y, s)
        assert METRICS[name](y, found.predict(s)) == pytest.approx(max(best, 0), abs=1e-12)
        assert -found.loss == pytest.approx(max(best, 0), abs=1e-12)

    check()


@pytest.mark.parametrize("name", ["mcc", "kappa", "youden", "markedness"])
@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_a_boundary_below_chance_is_not_taken_for_a_guess(name):
    rng = np.random.default_rng(25)
    y = np.repeat([0, 1], [19, 8])
    for s in (np.round(rng.normal(size=27)) for _ in range(200)):
        s = -s if np.median(s[y == 1]) < np.median(s[y == 0]) else s
        found = find_boundary(y, s, curve="empirical", rule=name)
        assert METRICS[name](y, found.predict(s)) >= -1e-12


@pytest.mark.parametrize("rule", RULES, ids=str)
@given(a=RATE, b=RATE, c=RATE, d=RATE)
def test_they_grow_with_each_error(rule, a, b, c, d):
    pairs = (min(a, b), min(c, d)), (max(a, b), max(c, d))
    lower, upper = (float(rule.value(np.array([u]), np.array([v]), (90, 10))[0]) for u, v in pairs)
    assert lower <= upper + 1e-12


@pytest.mark.parametrize("name", [name for name in METRICS if name != "youden"])
@pytest.mark.parametrize("prevalence", [0.5, 0.01])
def test_the_prevalence_is_that_of_weighted_rows(name, prevalence):
    y = np.repeat([0, 1], [90, 10])
    p = np.concatenate([np.repeat([0, 1], [81, 9]), np.repeat([0, 1], [3, 7])])
    weight = np.where(y == 1, prevalence / 10, (1 - prevalence) / 90)
    rule = as_rule(name)
    rule = type(rule)(**{**vars(rule), "prevalence": prevalence})
    found = -float(rule.value(np.array([0.1]), np.array([0.3]), (90, 10))[0])
    assert found == pytest.approx(METRICS[name](y, p, weight), abs=1e-12)


def test_a_rarer_class_at_deployment_raises_the_boundary_of_f1():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [500, 500])
    s = rng.normal(size=1000) + 2 * y
    here, there = (
        find_boundary(y, s, curve="smoothed", rule=FBeta(prevalence=p)).threshold
        for p in (None, 0.01)
    )
    assert there > here + 0.5


def test_mirrored_problems_have_the_mirrored_boundary_of_mcc():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [90, 10])
    s = rng.normal(size=100) + 2 * y
    there = find_boundary(y, s, rule="mcc", curve="smoothed").threshold
    assert find_boundary(1 - y, -s, rule="mcc", curve="smoothed").threshold == pytest.approx(-there)


@pytest.mark.parametrize(
    ("given_name", "meant"),
    [("MCC", "mcc"), ("F-1", "f1"), ("youdens", "youden")],
)
def test_unknown_names_suggest_the_nearest(given_name, meant):
    with pytest.raises(InvalidInputError, match=f"Did you mean '{meant}'"):
        as_rule(given_name)


def test_no_metric_is_better_than_a_guess_where_scores_say_nothing():
    with pytest.warns(BoundaryWarning):
        found = find_boundary([0, 0, 1, 1], [1.0, 1.0, 1.0, 1.0], curve="empirical", rule="mcc")
    assert found.loss == 0
