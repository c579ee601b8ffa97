"""Cuts of one score into ordered bands: best by brute force, and floors that hold."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from boundshift import (
    BoundaryWarning,
    ClassFloors,
    CostMatrix,
    Floors,
    InvalidInputError,
    Status,
    find_cuts,
)
from boundshift._cuts import _count_allowed, _share_risk

DISTANCE = np.abs(np.subtract.outer(np.arange(4), np.arange(4))) ** 2.0


def draw(seed, sizes, distance=1.5, decimals=1):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return y, np.round(rng.normal(distance * y), decimals)


def every_choice(s, n_cuts):
    distinct = np.unique(s)
    places = [distinct[0] - 1, *(distinct[:-1] + distinct[1:]) / 2, distinct[-1] + 1]
    return itertools.combinations_with_replacement(places, n_cuts)


def outside(y, s, thresholds):
    """Return rows of each band up to its lower cut, and above its upper cut."""
    ends = [-np.inf, *thresholds, np.inf]
    bands = range(len(ends) - 1)
    below = [int(np.sum(s[y == k] <= ends[k])) for k in bands]
    return below, [int(np.sum(s[y == k] > ends[k + 1])) for k in bands]


def loss(goal, y, s, thresholds):
    n = np.bincount(y)
    if isinstance(goal, CostMatrix):
        predicted = (s[:, None] > np.array(thresholds)).sum(axis=1)
        share = n / len(y) if goal.prevalence is None else np.array(goal.prevalence)
        return np.sum(np.array(goal.costs)[y, predicted] * (share / n)[y])
    recalls = 1 - np.sum(outside(y, s, thresholds), axis=0) / n
    if goal == "minimax":
        return 1 - recalls.min() - 1e-6 * recalls.mean()
    if goal == "balanced_accuracy":
        return 1 - recalls.mean()
    return -np.log(np.maximum(recalls, 1e-9)).sum()


GOALS = {
    "g-mean": lambda k: "g-mean",
    "balanced_accuracy": lambda k: "balanced_accuracy",
    "minimax": lambda k: "minimax",
    "costs": lambda k: CostMatrix(DISTANCE[:k, :k], labels=range(k)),
    "costs elsewhere": lambda k: CostMatrix(
        DISTANCE[:k, :k], labels=range(k), prevalence=np.arange(1, k + 1) / (k * (k + 1) / 2)
    ),
}


@pytest.mark.parametrize("sizes", [(9, 4, 6), (5, 6, 1, 4)], ids=str)
@pytest.mark.parametrize("name", GOALS)
def test_no_other_cuts_are_better(name, sizes):
    goal = GOALS[name](len(sizes))
    for seed in range(4):
        y, s = draw(seed, sizes, 0.8 + 0.3 * seed, seed % 2)
        cuts = find_cuts(y, s, rule=goal)
        assert [*cuts.thresholds] == sorted(cuts.thresholds)
        assert cuts.wrong == tuple(np.sum(outside(y, s, cuts.thresholds), axis=0))
        best = min(loss(goal, y, s, each) for each in every_choice(s, len(sizes) - 1))
        assert loss(goal, y, s, cuts.thresholds) == pytest.approx(best, abs=1e-9)


def test_floors_come_before_the_objective():
    sizes = (30, 40, 22)
    rule = ClassFloors(recall={1: 0.6, 2: 0.7}, confidence=0.9)
    # Quantiles of Beta distributions: one cut excludes one order statistic, two cuts two.
    most = {
        k: max(m for m in range(-1, n) if stats.beta.ppf(0.95, m + ends, n - m - ends + 1) <= error)
        for k, n, error, ends in [(1, 40, 0.4, 2), (2, 22, 0.3, 1)]
    }
    assert most == {1: 9, 2: 2}
    n_met = 0
    for seed in range(12):
        y, s = draw(seed, sizes, 2.2 if seed % 2 else 1.8)
        kept = []
        for each in every_choice(s, 2):
            below, above = outside(y, s, each)
            if below[1] <= most[1] // 2 and above[1] <= most[1] - most[1] // 2 and below[2] <= 2:
                kept.append(each)
        if not kept:
            with pytest.warns(BoundaryWarning, match="The bands 1 and 2 overlap too much"):
                cuts = find_cuts(y, s, rule=rule)
            assert cuts.guaranteed is False
            assert cuts.thresholds == find_cuts(y, s).thresholds
            continue
        n_met += 1
        cuts = find_cuts(y, s, rule=rule)
        assert cuts.guaranteed
        best = min(loss("g-mean", y, s, each) for each in kept)
        assert loss("g-mean", y, s, cuts.thresholds) == pytest.approx(best, abs=1e-9)
    assert 0 < n_met < 12


@pytest.mark.parametrize("band", [0, 1, 2])
def test_a_band_may_have_as_many_rows_outside_as_its_guarantee_bears(band):
    # The cuts that use up the allowance are the worst choice of all that keep it.
    n = 35
    (guarantee,) = _share_risk({band: 0.8}, 0.9, range(3)).values()
    rank = np.sort(np.random.default_rng(band).random((40_000, n)), axis=1)
    allowed = _count_allowed(guarantee, band, [n] * 3)

    def failure(outside):
        below, above = {0: (-1, outside), 1: (outside // 2, outside - outside // 2)}.get(
            band, (outside, -1)
        )
        low = rank[:, below] if below >= 0 else 0.0
        high = rank[:, n - 1 - above] if above >= 0 else 1.0
        return np.mean(high - low < 0.8)

    assert failure(allowed) <= 0.1 + 3 * np.sqrt(0.09 / 40_000)
    assert failure(allowed + 1) > 0.1


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
def test_all_floors_hold_together():
    rule = ClassFloors(recall={0: 0.7, 1: 0.55, 2: 0.7}, confidence=0.8)
    mean = np.array([0.0, 2.3, 4.6])
    broken = []
    guaranteed = []
    for seed in range(500):
        y, s = draw(seed, (60, 60, 60), 2.3, 9)
        cuts = find_cuts(y, s, rule=rule)
        ends = np.array([-np.inf, *cuts.thresholds, np.inf])
        recalls = stats.norm.cdf(ends[1:] - mean) - stats.norm.cdf(ends[:-1] - mean)
        broken.append(bool(cuts.guaranteed and np.any(recalls < [0.7, 0.55, 0.7])))
        guaranteed.append(bool(cuts.guaranteed))
    assert np.mean(guaranteed) > 0.5
    assert 0 < np.mean(broken) <= 0.2


def test_many_scores_are_searched_on_a_grid_that_is_refined():
    y, s = draw(1, (40_000, 15_000, 4000, 1000), 1.2, 9)
    cuts = find_cuts(y, s, rule="balanced_accuracy")
    # The mean recall is a sum over cuts, so each is best by itself if they come out in order.
    n = np.bincount(y)
    distinct = np.sort(s)
    alone = 0.0
    for k in range(3):
        low, high = (np.sort(s[y == j]) for j in (k, k + 1))
        above = 1 - np.searchsorted(low, distinct, side="right") / n[k]
        alone += np.min(above + np.searchsorted(high, distinct, side="right") / n[k + 1]) / 4
    assert alone <= sum(cuts.errors) / 4 <= alone + 2e-4
    moved = find_cuts(y, 8 * s + 4, rule="balanced_accuracy")
    np.testing.assert_allclose(moved.thresholds, 8 * np.array(cuts.thresholds) + 4, atol=1e-5)


def test_bands_are_named_and_shown():
    words = np.array(["low", "medium", "high"])
    y, s = draw(0, (60, 50, 40), 4.0)
    cuts = find_cuts(words[y], s, order=[*words], rule=ClassFloors(recall={"high": 0.8}))
    assert cuts.predict(cuts.thresholds).tolist() == ["low", "medium"]
    given = pd.Series([9.0, -3.0], index=["ann", "bob"])
    assert cuts.predict(given).to_dict() == {"ann": "high", "bob": "low"}
    lines = str(cuts).splitlines()
    assert lines[3].split() == ["high", f"{cuts.thresholds[1]:.6g}", "40", "1", "0.9750", "0.8"]
    assert lines[4] == "All floors hold together with 0.95 confidence."
    assert "<pre>" in cuts._repr_html_()
    assert find_cuts(y, s).guaranteed is None


def test_too_few_rows_for_a_floor_are_named_with_the_number_needed():
    y, s = draw(0, (60, 30, 28), 6.0)
    rule = ClassFloors(recall={1: 0.9, 2: 0.9})
    needed = r"0.9 for 1 needs at least 54 rows .*30.* 0.9 for 2 needs at least 36 rows .*28"
    with pytest.warns(BoundaryWarning, match=needed):
        cuts = find_cuts(y, s, rule=rule)
    assert cuts.status is Status.UNMET
    assert cuts.detail in str(cuts)
    y, s = draw(0, (60, 54, 36), 9.0)
    assert find_cuts(y, s, rule=rule).guaranteed


WRONG = {
    "words without order": (["a", "b", "c"], {}, "`order` must be given"),
    "a band without rows": ([1, 2, 3], {"order": [1, 2, 3, 4]}, "`order` must name"),
    "a label beyond the order": ([1, 2, 3], {"order": [1, 2]}, "`order` must name"),
    "a band twice": ([1, 2, 3], {"order": [1, 2, 2]}, "`order` must name"),
    "one band": ([1, 1, 1], {}, "`y_true` must name two"),
    "reversed order": ([1, 2, 3], {"order": [3, 2, 1]}, "`y_score` must be higher for the band 1"),
    "a binary rule": ([1, 2, 3], {"rule": "f1"}, "`rule` must be one of 'g-mean'"),
    "binary floors": ([1, 2, 3], {"rule": Floors(recall=0.9)}, "`rule` must be one of 'g-mean'"),
    "an unknown band": ([1, 2, 3], {"rule": ClassFloors(recall={7: 0.9})}, "got [7] too"),
    "a missing label": ([1, 2, np.nan], {}, "must hold a label for each row"),
    "too few labels": ([1, 2], {}, "must have one value for each of 2 rows"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_request_gets_a_sentence(name):
    y, options, words = WRONG[name]
    with pytest.raises(InvalidInputError) as caught:
        find_cuts(y, [0.1, 0.5, 0.9], **options)
    assert words in str(caught.value)
