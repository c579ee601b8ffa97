"""The search for the best gap against brute force: every gap is evaluated, one after the other."""

import math
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from boundshift import Cost, Metric
from boundshift._scores import ScoreSample
from boundshift._search import best_gap, find_smallest
from boundshift.curves import ClopperPearson, Empirical
from boundshift.rules import MCC, FBeta, Floors, GMean, Kappa, Minimax, Rule, Sum
from tests.problems import many

COST = Cost(false_negative=7)
RULES = [
    Sum(), Minimax(), GMean(), COST, FBeta(), MCC(), Kappa(),
    Floors(recall=0.8, confidence=None), Floors(specificity=0.8, confidence=None),
    Floors(recall=0.7, precision=0.4, confidence=None),
]  # fmt: skip
CURVES = [Empirical(), ClopperPearson()]


@dataclass(frozen=True)
class OneSided(Rule):
    """A rule that is flat in one of the two rates."""

    name = "one-sided"

    which: int = 0

    def value(self, negative, positive, n_samples):
        return np.asarray((negative, positive)[self.which])


@st.composite
def samples(draw, weighted=False):
    """Draw up to 40 scores with ties, either class the rarer one, with or without weights."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = draw(st.sampled_from([(1, 1), (2, 9), (9, 2), (25, 4), (4, 25), (15, 15), (1, 20)]))
    y = np.repeat([0, 1], sizes)
    spread = draw(st.sampled_from([1.0, 3.0, 40.0]))
    s = np.round(rng.normal(size=len(y)) * spread + draw(st.sampled_from([0.0, 1.0, 4.0])) * y)
    weight = rng.choice([0.25, 0.5, 1.0, 3.0], len(y)) if weighted else None
    return ScoreSample.from_labels(y, s, sample_weight=weight)


def all_gaps(sample):
    """Return the lower and the upper end of every gap."""
    scores = np.unique(np.concatenate([sample.negative.value, sample.positive.value]))
    return [-math.inf, *scores.tolist()], [*scores.tolist(), math.inf]


def values_by_hand(sample, curve, rule):
    """Return the value of the rule in every gap, from rows counted one by one."""
    values = []
    for low in all_gaps(sample)[0]:
        rates = []
        for scores, is_positive in zip(sample.classes, (False, True), strict=True):
            counts = [1] * len(scores.value) if scores.count is None else scores.count.tolist()
            rows = zip(scores.value.tolist(), counts, strict=True)
            wrong = sum(count for score, count in rows if (score > low) != is_positive)
            rates.append(curve.bound(np.array([wrong]), scores.n))
        values.append(float(rule.value(*rates, sample.n_samples)[0]))
    return values


def check_against_brute_force(sample, curve, rule):
    best = best_gap(curve.errors(sample), rule, sample)
    values = values_by_hand(sample, curve, rule)
    most = min(values) + 1e-12 * max(1.0, abs(min(values)))
    assert best.value <= most
    lows, highs = all_gaps(sample)
    is_inside = [
        low < best.plateau[1] and high > best.plateau[0]
        for low, high in zip(lows, highs, strict=True)
    ]
    inside = np.flatnonzero(is_inside)
    assert max(values[k] for k in inside) <= most
    # The plateau ends at a score beyond which the rule is worse, or beyond all scores.
    for outside in (inside[0] - 1, inside[-1] + 1):
        assert not 0 <= outside < len(values) or values[outside] > most
    assert best.threshold == pytest.approx(sum(best.plateau) / 2)
    # No other plateau between two scores is wider.
    is_best = [value <= most for value in values]
    for _, run in groupby(range(1, len(values) - 1), key=is_best.__getitem__):
        places = [*run]
        width = highs[places[-1]] - lows[places[0]]
        assert not is_best[places[0]] or width <= np.diff(best.plateau) + 1e-12


@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
@pytest.mark.parametrize("rule", [*RULES, OneSided(0), OneSided(1)], ids=repr)
def test_no_gap_is_better_and_the_plateau_is_whole(curve, rule):
    many(60)(given(samples())(lambda sample: check_against_brute_force(sample, curve, rule)))()


@pytest.mark.parametrize("rule", [*RULES, OneSided(0), OneSided(1)], ids=repr)
def test_weighted_rows_are_searched_alike(rule):
    check = given(samples(weighted=True))
    many(60)(check(lambda sample: check_against_brute_force(sample, Empirical(), rule)))()


def test_a_metric_that_is_slow_to_compute_is_searched_alike():
    rule = Metric("jaccard")
    many(15)(given(samples())(lambda s: check_against_brute_force(s, Empirical(), rule)))()


@pytest.mark.parametrize("share", [0.02, 0.5, 0.98])
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_thousands_of_rows_have_no_better_gap(curve, rule, share):
    rng = np.random.default_rng(0)
    y = rng.random(4000) < share
    sample = ScoreSample.from_labels(y, rng.normal(size=4000) + y)
    errors = curve.errors(sample)
    everywhere = np.append(sample.extremes[0] - 1, np.sort(np.concatenate(
        [sample.negative.value, sample.positive.value]
    )))  # fmt: skip
    smallest = rule.value(*errors(everywhere), sample.n_samples).min()
    assert best_gap(errors, rule, sample).value == pytest.approx(smallest, rel=1e-9)


def test_a_plateau_of_many_gaps_is_found_whole():
    # 500 negative scores lie between the two positives.
    negative = np.linspace(1, 2, 500)
    positive = np.array([0.0, 3.0])
    sample = ScoreSample.from_labels(np.repeat([0, 1], [500, 2]), np.append(negative, positive))
    best = best_gap(Empirical().errors(sample), Minimax(), sample)
    # One of the two positives is missed, and at most half of the negatives are flagged.
    assert best.plateau == (negative[249], 3.0)
    best = best_gap(Empirical().errors(sample), OneSided(1), sample)
    assert best.plateau[1] == 0.0
    best = best_gap(Empirical().errors(sample), OneSided(0), sample)
    assert best.plateau[0] == 2.0


def test_few_values_are_computed_however_many_candidates_there_are():
    n = 1 << 20
    computed = []

    def bound(first, last):
        computed.append(len(first))
        return (1 - last / n) ** 2 + (first / n) ** 2  # falls with the last, grows with the first

    np.testing.assert_array_equal(find_smallest(bound, n, Sum()), [n // 2])
    assert sum(computed) < 20_000


def test_candidates_of_equal_value_are_all_returned():
    def bound(first, last):  # ones everywhere, as where scores of both classes take turns
        return np.ones(len(first)) - 0.1 * (last > first)

    np.testing.assert_array_equal(find_smallest(bound, 1000, Sum()), np.arange(1000))
