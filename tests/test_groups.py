"""Boundaries by group: their formula, and that shrinkage helps small groups."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from scipy.stats import norm

from boundshift import (
    BoundaryWarning,
    Cost,
    Floors,
    InvalidInputError,
    Smoothed,
    Status,
    find_boundaries,
    find_boundary,
)
from boundshift._scores import ScoreSample
from boundshift.curves import Empirical
from boundshift.rules import GMean, as_rule


def draw(rng, sizes, gap=2.0, share=0.2):
    by = np.repeat(list(sizes), list(sizes.values()))
    y = (rng.random(len(by)) < share).astype(int)
    return y, rng.normal(size=len(by)) + gap * y, by


@pytest.fixture
def rows():
    return draw(np.random.default_rng(0), {"a": 600, "b": 80, "c": 40})


def test_one_group_with_reversed_scores_does_not_stop_the_others(rows):
    y, s, by = rows
    labels = np.where(y == 1, "sick", "healthy")
    reversed_too = np.where(by == "c", -s, s)
    rule = Cost(false_negative=5)
    with pytest.warns(BoundaryWarning, match="need a second look"):
        found = find_boundaries(labels, reversed_too, by, rule=rule, pos_label="sick")
    with pytest.warns(BoundaryWarning):
        by_number = find_boundaries(y, reversed_too, by, rule=rule)
    assert [b.threshold for b in found.values()] == [b.threshold for b in by_number.values()]


@pytest.mark.parametrize("scale", ["raw", "probability"])
def test_a_boundary_remembers_the_rows_of_its_group_and_all_rows_if_it_is_shrunk(rows, scale):
    y, s, by = rows
    s = expit(s)
    own = find_boundary(y[by == "a"], s[by == "a"], scale=scale)
    assert find_boundaries(y, s, by, scale=scale, prior_rows=0)["a"].chosen_on == own.chosen_on
    common = find_boundary(y, s, scale=scale)
    assert find_boundaries(y, s, by, scale=scale)["a"].chosen_on == common.chosen_on


def test_without_shrinkage_each_group_decides_by_its_own_rows(rows):
    y, s, by = rows
    found = find_boundaries(y, s, by, prior_rows=0)
    for group in "abc":
        own = find_boundary(y[by == group], s[by == group])
        assert found[group].threshold == pytest.approx(own.threshold)


def test_claims_are_the_mixed_curves_and_no_other_cut_is_better(rows):
    y, s, by = rows
    for curve in (Smoothed(), Empirical()):
        found = find_boundaries(y, s, by, curve=curve, rule="sum", prior_rows=30)
        everyone = curve.errors(ScoreSample.from_labels(y, s))
        at = np.linspace(-3, 5, 4001)
        for group in "abc":
            mine = by == group
            own = curve.errors(ScoreSample.from_labels(y[mine], s[mine]))
            total = np.zeros(len(at))
            for k in (0, 1):
                n = np.sum(y[mine] == k)
                total += n / (n + 30) * own(at)[k] + 30 / (n + 30) * everyone(at)[k]
            assert found[group].loss <= total.min() + 1e-9
            here = np.array([found[group].threshold])
            n = np.sum(y[mine] == 1)
            mixed = n / (n + 30) * own(here)[1] + 30 / (n + 30) * everyone(here)[1]
            assert found[group].errors[1] == pytest.approx(mixed[0])


@pytest.mark.parametrize("rule", ["sum", "minimax", GMean()])
@pytest.mark.parametrize(("curve", "digits"), [(Empirical(), 9), (Empirical(), 1), (Smoothed(), 1)])
def test_no_gap_between_scores_of_all_rows_is_better(curve, digits, rule):
    y, s, by = draw(np.random.default_rng(4), {"a": 3000, "b": 900, "c": 60}, gap=1.0)
    s = s.round(digits)
    sample = ScoreSample.from_labels(y, s)
    edges = np.unique(s)
    edges = np.concatenate([[edges[0] - 1], edges, [edges[-1] + 1]])
    gaps = (edges[1:] + edges[:-1]) / 2
    everyone = curve.errors(sample)(gaps)
    for group, boundary in find_boundaries(y, s, by, curve=curve, rule=rule).items():
        own_sample = ScoreSample.from_labels(y[by == group], s[by == group])
        # Scores that repeat among all rows repeat in each group, too.
        own_errors = curve.errors(replace(own_sample, given_atoms=sample.atoms))(gaps)
        claims = []
        for n, own, common in zip(own_sample.n_samples, own_errors, everyone, strict=True):
            claims.append(n / (n + 20) * own + 20 / (n + 20) * common)
        values = as_rule(rule).value(*claims, own_sample.n_samples)
        assert boundary.loss == pytest.approx(values.min(), abs=1e-12)


class Counting(Empirical):
    """A curve that counts the thresholds at which it is evaluated, and on how many samples."""

    evaluated = 0
    samples = 0

    def errors(self, sample):
        Counting.samples += 1
        return super().errors(sample)

    def bound(self, wrong, n):
        Counting.evaluated += np.size(wrong)
        return super().bound(wrong, n)


def test_a_group_costs_the_same_whatever_the_number_of_other_groups(monkeypatch):
    evaluated = {}
    for n_groups in (10, 80):
        monkeypatch.setattr(Counting, "evaluated", 0)
        monkeypatch.setattr(Counting, "samples", 0)
        sizes = {f"g{k}": 100 for k in range(n_groups)}
        y, s, by = draw(np.random.default_rng(5), sizes)
        find_boundaries(y, s, by, curve=Counting(), rule="sum")
        evaluated[n_groups] = Counting.evaluated / n_groups
        # The common boundary, the common curve, and each group.
        assert Counting.samples <= n_groups + 2
    assert evaluated[80] < 2 * evaluated[10]


def test_a_cap_on_flagged_rows_holds_in_each_group_as_counted(rows):
    y, s, by = rows
    found = find_boundaries(y, s, by, rule=Floors(flagged=0.1))
    for group, boundary in found.items():
        own = s[by == group]
        assert np.sum(own > boundary.threshold) == len(own) // 10


@pytest.mark.parametrize("curve", [None, "empirical", "clopper-pearson"])
@pytest.mark.parametrize("m", [0, 20])
def test_probabilities_are_decided_on_their_log_odds(rows, curve, m):
    y, s, by = rows
    s[:3] = -800, -800, 800  # exact zeros and ones, which no group places by itself
    odds = s.copy()
    inside = np.abs(s) < 800
    odds[~inside] = s[inside].min() - np.log(2), s[inside].min() - np.log(2), 0
    odds[2] = s[inside].max() + np.log(2)
    with np.errstate(over="ignore"):
        p = 1 / (1 + np.exp(-s))
    found = find_boundaries(y, p, by, curve=curve, prior_rows=m)
    expected = find_boundaries(y, odds, by, curve=curve, prior_rows=m, scale="raw")
    assert {b.scale for b in found.values()} == {"probability"}
    for group, boundary in found.items():
        assert boundary.threshold == pytest.approx(expit(expected[group].threshold), rel=1e-6)
        assert found[group].wrong == expected[group].wrong
    np.testing.assert_array_equal(found.predict(p, by), expected.predict(odds, by))


def test_all_rows_say_whether_scores_are_probabilities(rows):
    y, s, by = rows
    s = np.where(by == "a", s, expit(s))
    found = find_boundaries(y, s, by, prior_rows=0)
    assert found == find_boundaries(y, s, by, prior_rows=0, scale="raw")
    with pytest.raises(InvalidInputError, match="scale='probability'"):
        find_boundaries(y, s, by, scale="probability")


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")  # of groups with few rows
def test_shrinkage_makes_small_groups_err_less():
    """Groups differ a little; the true loss, balanced error, is least with some shrinkage."""
    rng = np.random.default_rng(1)
    loss = {0.0: [], 20.0: [], 1e9: []}
    for _ in range(25):
        centres = {f"g{k}": rng.normal(scale=0.3) for k in range(6)}
        by = np.repeat(list(centres), 30)
        y = np.tile([0, 0, 0, 0, 1], 36)
        s = rng.normal(size=180) + 2 * y + np.array([centres[group] for group in by])
        for rows, seen in loss.items():
            found = find_boundaries(y, s, by, curve="smoothed", rule="sum", prior_rows=rows)
            for group, boundary in found.items():
                t = boundary.threshold - centres[group]
                seen.append((norm.sf(t) + norm.cdf(t - 2)) / 2)
    own, shrunk, common = (np.array(seen) for seen in loss.values())
    error = (own - shrunk).std() / len(own) ** 0.5
    assert shrunk.mean() < own.mean() - 2 * error
    assert shrunk.mean() < common.mean()


def test_predictions_follow_the_group_and_others_the_common_boundary(rows):
    y, s, by = rows
    found = find_boundaries(y, s, by)
    scores = np.array([found["a"].threshold, found["c"].threshold, found.common.threshold])
    for shift, expected in ((1e-9, 1), (-1e-9, 0)):
        assert (found.predict(scores + shift, ["a", "c", "new"]) == expected).all()
    assert found.predict([found.common.threshold + 1e-9], [None]).tolist() == [1]


def test_a_group_without_a_class_has_the_common_boundary(rows):
    y, s, by = rows
    by = np.where((y == 0) & (np.arange(len(y)) < 5), "quiet", by)
    found = find_boundaries(y, s, by)
    assert found["quiet"] == found.common
    with pytest.warns(BoundaryWarning, match="need a second look"):
        promised = find_boundaries(y, s, by, rule=Floors(recall=0.5))
    assert promised["quiet"].status is Status.UNMET
    assert promised.prior_rows == 0


def test_a_rare_group_s_prevalence_counts_in_costs():
    rng = np.random.default_rng(2)
    by = np.repeat(["rare", "common"], 1000)
    y = (rng.random(2000) < np.where(by == "rare", 0.02, 0.4)).astype(int)
    s = rng.normal(size=2000) + 2 * y
    found = find_boundaries(y, s, by, rule=Cost(false_negative=3))
    assert found["rare"].threshold > found["common"].threshold + 0.5
    assert found["rare"].rule == Cost(false_negative=3)


def test_scores_that_point_down_are_decided_as_they_are(rows):
    y, s, by = rows
    with pytest.warns(BoundaryWarning):
        down = find_boundaries(y, -s, by, rule="sum")
    for group in "abc":
        assert down[group].status is Status.REVERSED
        assert sum(down[group].errors) > 0.9


def test_predictions_of_a_series_are_a_series():
    scores = pd.Series([1.0, 4.0], index=["ann", "bob"], name="risk")
    groups = find_boundaries([0, 0, 1, 1] * 9, [1, 2, 3, 4] * 9, ["a"] * 20 + ["b"] * 16)
    found = groups.predict(scores, ["a", "b"])
    pd.testing.assert_series_equal(found, pd.Series([0, 1], index=["ann", "bob"], name="risk"))
