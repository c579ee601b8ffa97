"""Whether scores rank the positive class higher, against other computations and by simulation."""

import numpy as np
import pytest
from scipy.stats import mannwhitneyu
from sklearn.metrics import roc_auc_score

from boundshift import BoundaryWarning, Status, find_boundary
from boundshift._ranking import Ranking, area_under_curve, auc_interval, find_ranking
from boundshift._scores import ScoreSample

quiet = pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")


def draw(negatives, positives, gap, seed, digits=None):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [negatives, positives])
    s = rng.normal(size=len(y)) + gap * y
    return y, s if digits is None else np.round(s, digits)


@pytest.mark.parametrize("digits", [None, 0])
@pytest.mark.parametrize("sizes", [(200, 30), (30, 200), (50_000, 40_000)])
def test_the_area_is_that_of_scikit_learn(sizes, digits):
    y, s = draw(*sizes, 0.7, 0, digits)
    area = area_under_curve(ScoreSample.from_labels(y, s))
    assert area == pytest.approx(roc_auc_score(y, s), abs=1e-12 if len(y) < 1000 else 5e-5)


def test_weights_count_in_the_area():
    y, s = draw(300, 40, 0.7, 0, 1)
    weight = np.random.default_rng(1).exponential(size=len(y))
    area = area_under_curve(ScoreSample.from_labels(y, s, sample_weight=weight))
    assert area == pytest.approx(roc_auc_score(y, s, sample_weight=weight))


@pytest.mark.parametrize("digits", [None, 0])
def test_the_verdict_is_that_of_the_mann_whitney_test(digits):
    for seed in range(100):
        y, s = draw(60, 12, [-0.8, 0.0, 0.8][seed % 3], seed, digits)
        sample = ScoreSample.from_labels(y, s)
        test = mannwhitneyu(s[y == 1], s[y == 0], method="asymptotic", use_continuity=False)
        if abs(test.pvalue - 0.05) < 0.002:  # only atoms count as ties
            continue
        expected = Ranking.CHANCE
        if test.pvalue < 0.05:
            above = area_under_curve(sample) > 0.5
            expected = Ranking.SEPARATES if above else Ranking.REVERSED
        assert find_ranking(sample) is expected


@pytest.mark.parametrize("seed", range(40))
def test_the_interval_leaves_out_one_half_where_the_verdict_is_not_chance(seed):
    sample = ScoreSample.from_labels(*draw(50, 15, 0.4 * (seed % 5 - 2), seed))
    low, high = auc_interval(area_under_curve(sample), 50, 15, 0.95)
    assert (find_ranking(sample) is Ranking.CHANCE) == (low <= 0.5 <= high)


@quiet
def test_noise_is_called_chance_and_seldom_anything_else():
    statuses = [find_boundary(*draw(300, 30, 0.0, seed)).status for seed in range(300)]
    n_reversed = statuses.count(Status.REVERSED)
    n_chance = statuses.count(Status.CHANCE)
    assert n_chance >= 270  # 285 are expected
    assert n_reversed <= 18  # 7.5 are expected
    assert n_chance + n_reversed + statuses.count(Status.OPTIMAL) == 300


@pytest.mark.parametrize("seed", range(20))
def test_good_scores_are_not_blamed_for_few_positive_rows(seed):
    y, s = draw(400, 2, 4.0, seed)
    assert find_boundary(y, s).status is Status.OPTIMAL


@pytest.mark.parametrize("y", [[0, 0, 1, 1], [0, 0, 0, 0, 0, 1, 1]])
def test_so_few_rows_that_none_could_prove_more_are_not_blamed(y):
    assert find_boundary(y, np.arange(len(y)) * 1.0).status is Status.OPTIMAL


@quiet
def test_so_few_rows_are_not_called_reversed_either():
    assert find_boundary([0, 0, 1, 1], [3.0, 4.0, 1.0, 2.0]).status is Status.CHANCE


def test_advice_to_negate_is_given_only_if_the_scores_are_shown_to_be_reversed():
    y, s = draw(200, 20, 0.0, 3)
    assert np.median(s[y == 1]) < np.median(s[y == 0])
    with pytest.warns(BoundaryWarning, match="may be no better than chance") as caught:
        find_boundary(y, s)
    assert "Negate" not in str(caught[0].message)


@pytest.mark.parametrize("unit", [5e-324, 1e-320, 1e-308])
@pytest.mark.parametrize("curve", ["blend", "logistic", "smoothed", "empirical"])
@quiet
def test_the_smallest_doubles_are_decided(unit, curve):
    y = np.repeat([0, 1], 20)
    found = find_boundary(y, (np.arange(40) + 0.0) * unit, curve=curve, scale="raw")
    assert 0 <= found.threshold <= 40 * unit
    assert find_boundary(y, np.repeat([0.0, 3.0], 20) * unit, curve=curve, scale="raw").wrong == (
        0,
        0,
    )
