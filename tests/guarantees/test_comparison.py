import itertools
import math

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import recall_score

from boundshift import Cost, InvalidInputError, compare_boundaries, find_boundary
from boundshift._guarantees.comparison import _upper
from boundshift._guarantees.differences import difference_interval

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], [400, 80])
OLD = RNG.normal(1.5 * Y)
EQUAL = Cost()
NEW = OLD + RNG.normal(3 * (Y - 0.5), 0.4)


def test_counts_are_those_of_the_predictions_and_p_values_binomial():
    found = compare_boundaries(Y, OLD, 1.0, NEW, 0.7, cost=EQUAL)
    old = (OLD > 1.0) != Y
    new = (NEW > 0.7) != Y
    for k in (0, 1):
        assert found.mended[k] == np.sum(old & ~new & (k == Y))
        assert found.broken[k] == np.sum(~old & new & (k == Y))
        expected = new[k == Y].mean() - old[k == Y].mean()
        assert found.differences[k] == pytest.approx(expected)
    for b, c, p in zip(found.mended, found.broken, found.p_values, strict=True):
        assert p == pytest.approx(stats.binomtest(b, b + c, alternative="greater").pvalue)


def test_who_is_better_turns_with_the_order():
    same = compare_boundaries(Y, OLD, 1.0, OLD, 1.0, cost=EQUAL)
    assert (same.differences, same.p_values, same.verdict) == ((0, 0), (1, 1), "undecided")
    one = compare_boundaries(Y, OLD, 1.0, NEW, 1.0, cost=Cost(false_negative=10))
    two = compare_boundaries(Y, NEW, 1.0, OLD, 1.0, cost=Cost(false_negative=10))
    assert (one.verdict, two.verdict) == ("better", "worse")
    assert one.cost_interval == pytest.approx(
        (-two.cost_interval[1], -two.cost_interval[0]), rel=0.1
    )


@pytest.mark.parametrize("rates", [(0.1, 0.1), (0.02, 0.3), (0.4, 0.5), (0.0, 0.05), (0.3, 0.05)])
def test_the_bound_of_a_difference_holds_exactly(rates):
    # All outcomes of 15 rows, each with its probability.
    n = 15
    (p_mended, p_broken) = rates
    missed = 0.0
    for b, c in itertools.product(range(n + 1), repeat=2):
        if b + c <= n:
            ways = math.comb(n, b) * math.comb(n - b, c)
            chance = ways * p_mended**b * p_broken**c * (1 - p_mended - p_broken) ** (n - b - c)
            missed += chance * (_upper(b, c, n, 0.1) < p_broken - p_mended)
    assert missed <= 0.1


def test_a_prevalence_weighs_the_classes():
    for place, prevalence in enumerate((0.001, 0.999)):
        found = compare_boundaries(Y, OLD, 1.0, NEW, 0.2, cost=Cost(prevalence=prevalence))
        assert found.cost_difference == pytest.approx(found.differences[place], abs=1e-3)


@pytest.mark.parametrize("n", [(120, 60), (30, 3)])
@pytest.mark.parametrize("rates", [((0.02, 0.02), (0.1, 0.05)), ((0.0, 0.01), (0.0, 0.3))])
def test_an_interval_of_costs_holds_and_may_be_much_narrower_than_a_sum_of_bounds(n, rates):
    """Rows of both classes are drawn by themselves, as the docstring of the module allows."""
    rng = np.random.default_rng(3)
    runs = 80
    weights = [0.8, 1.0]
    truth = sum(w * (broken - mended) for w, (mended, broken) in zip(weights, rates, strict=True))
    missed = np.zeros(2)
    widths = np.zeros(2)
    for _ in range(runs):
        counts = [
            rng.multinomial(m, [*rates_of_class, 1 - sum(rates_of_class)])
            for m, rates_of_class in zip(n, rates, strict=True)
        ]
        values = [np.repeat([-1.0, 1.0, 0.0], each) for each in counts]
        low, high = difference_interval(values, weights, 0.05)
        missed += truth < low, truth > high
        of_classes = [
            w * (_upper(b, c, m, 0.0125) + _upper(c, b, m, 0.0125))
            for w, (b, c, _), m in zip(weights, counts, n, strict=True)
        ]
        widths += high - low, sum(of_classes)
    assert stats.binom.sf(missed - 1, runs, 0.025).min() > 1e-3
    if n[1] > 3:
        assert widths[0] < 0.9 * widths[1]


@pytest.mark.parametrize("prevalence", [0.5, None])
def test_clusters_count_once(prevalence):
    """Rows of a cluster change alike. A third of the clusters is mended, a third is broken."""
    rng = np.random.default_rng(4)
    ids = np.repeat(np.arange(60), 10)
    y = np.tile([0, 1], 300)
    right = np.where(y, 1.0, -1.0)
    cost = Cost(prevalence=prevalence)
    missed = np.zeros(2)
    for _ in range(40):
        kind = rng.integers(3, size=60)[ids]
        rows = y, np.where(kind == 0, -right, right), 0.0, np.where(kind == 1, -right, right), 0.0
        found = [compare_boundaries(*rows, cost=cost, cluster=c) for c in (ids, None)]
        missed += [not each.cost_interval[0] <= 0 <= each.cost_interval[1] for each in found]
    assert missed[0] <= 6
    assert missed[1] > 10
    means = [np.mean((kind == 1) - 1.0 * (kind == 0))] * 2
    assert found[0].differences == pytest.approx(means)
    assert found[0].cost_difference == pytest.approx(means[0])
    assert "averages over 60 negative and 60 positive clusters" in str(found[0])
    assert np.isnan(found[0].p_values).all()
    assert all(
        low < mean < high for (low, high), mean in zip(found[0].intervals, means, strict=True)
    )
    with pytest.raises(InvalidInputError, match="one value for each of 600 rows"):
        compare_boundaries(*rows, cost=cost, cluster=ids[:9])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"new_score": NEW[:-1]}, "`new_score` must have one value for each of 480 rows, got 479"),
        ({"new_score": np.where(Y, np.nan, NEW)}, "`new_score` must be finite .*got 80"),
        ({"cost": 20}, "`cost` must be a Cost"),
        ({"confidence": 95}, "`confidence` must be between 0 and 1"),
        ({"y_true": np.zeros(480)}, "two classes"),
        ({"new": "high"}, "`threshold` must be a finite number"),
        ({"cost": None}, "unless the boundaries have one rule"),
        ({"y_true": np.ma.masked_array(Y, Y == 1)}, "got masked"),
    ],
)
def test_input_is_checked(change, words):
    given = {"y_true": Y, "old_score": OLD, "old": 1.0, "new_score": NEW, "new": 0.7, "cost": EQUAL}
    with pytest.raises(InvalidInputError, match=words):
        compare_boundaries(**(given | change))


def test_the_cost_is_that_of_the_boundary():
    cost = Cost(false_positive=1, false_negative=20)
    old = find_boundary(Y, OLD, rule=cost)
    new = find_boundary(Y, NEW, rule=cost)
    with pytest.raises(InvalidInputError, match="old boundary was chosen on these rows"):
        compare_boundaries(Y, OLD, old, NEW, new, cluster=Y)
    found = compare_boundaries(Y, OLD, old, NEW, new)
    assert found == compare_boundaries(Y, OLD, old, NEW, new, cost=cost)
    wrong = [(old.threshold < OLD) != Y, (new.threshold < NEW) != Y]
    before, after = (np.where(Y, 20, 1)[w].sum() / len(Y) for w in wrong)
    assert found.cost_difference == pytest.approx(after - before)
    assert compare_boundaries(Y, OLD, 1.0, NEW, new).cost == cost


@pytest.mark.parametrize("rule", ["g-mean", "sum", "minimax"])
def test_symmetric_rules_are_compared_by_the_balanced_error(rule):
    """By equal costs nearly every shift of the default is worse."""
    y = np.repeat([0, 1], [4500, 500])
    s = np.random.default_rng(1).normal(2 * y)
    new = find_boundary(y[::2], s[::2], rule=rule)
    own = 1 + np.log(9) / 2  # of equal costs
    found = compare_boundaries(y[1::2], s[1::2], own, s[1::2], new)
    assert found.verdict == "better"
    assert compare_boundaries(y[1::2], s[1::2], own, s[1::2], new, cost=EQUAL).verdict == "worse"
    recalls = [recall_score(y[1::2], s[1::2] > t, average="macro") for t in (own, new.threshold)]
    assert found.cost_difference == pytest.approx(recalls[0] - recalls[1])
    assert "the balanced error changes by" in str(found)


def test_rules_that_do_not_agree_or_have_no_bound_ask_for_a_cost():
    one = find_boundary(Y, OLD, rule="sum")
    two = find_boundary(Y, OLD, rule="minimax")
    f1 = find_boundary(Y, OLD, rule="f1")
    p = 1 / (1 + np.exp(-OLD))
    assert compare_boundaries(Y, OLD, one, NEW, two, cost=EQUAL).cost == EQUAL
    for rows, words in (
        ((OLD, one, NEW, two), "one rule"),
        ((OLD, 1.0, OLD, f1), r"one rule .*FBeta"),
        ((OLD, find_boundary(Y, p), p, find_boundary(Y, p)), "must be probabilities"),
    ):
        with pytest.raises(InvalidInputError, match=words):
            compare_boundaries(Y, *rows)
