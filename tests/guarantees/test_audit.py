"""Rows drawn with unequal probabilities, and labels one by one."""

import numpy as np
import pytest
from scipy import stats

from boundshift import Audit, Floors, InvalidInputError, certify, find_boundary
from boundshift._guarantees.bets import ODDS_RATIOS

Y = np.repeat([0, 1], [60, 40])
S = np.concatenate([np.linspace(0, 0.7, 60), np.linspace(0.3, 1, 40)])


def ask(n, threshold=0.5):
    """Return an audit that has asked for the labels of n rows."""
    audit = Audit(S, threshold, Floors(recall=0.9))
    audit.next_rows(n)
    return audit


def test_equal_probabilities_are_those_of_a_plain_sample():
    plain = certify(Y, S, 0.5, cluster=np.arange(100))
    drawn = certify(Y, S, 0.5, probability=np.full(100, 0.2), least_probability=0.2)
    assert drawn.error_bounds == pytest.approx(plain.error_bounds)
    assert drawn.errors == pytest.approx(plain.errors)
    assert drawn.lowest_bounds == pytest.approx(plain.lowest_bounds)
    assert (drawn.method, drawn.status, drawn.n_clusters) == ("betting", "certified", None)
    assert "probabilities given" in drawn.reason
    with pytest.raises(InvalidInputError, match="drawing probabilities"):
        drawn.rate("npv")


def test_the_error_is_that_of_all_rows():
    """Horvitz and Thompson: a row drawn with probability 0.1 stands for ten."""
    p = np.where(S > 0.6, 0.1, 1.0)
    found = certify(Y, S, 0.5, probability=p, least_probability=0.1)
    weights = 1 / p
    for label in (0, 1):
        mine = label == Y
        wrong = (S > 0.5) != Y
        assert found.errors[label] == pytest.approx(np.average(wrong[mine], weights=weights[mine]))


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.5])
def test_the_bound_of_rows_drawn_unequally_holds_and_a_plain_one_does_not(rate):
    rng = np.random.default_rng(0)
    runs = 200
    broken = 0
    plain = 0
    t = stats.norm.ppf(rate)
    for _ in range(runs):
        pool = rng.normal(size=2000)
        p = np.where(pool > t, 1.0, 0.2)  # the wrong ones are drawn less often
        chosen = np.flatnonzero(rng.random(2000) < p)[:300]
        rows = np.ones(len(chosen)), pool[chosen], t
        drawn = certify(*rows, probability=p[chosen], least_probability=0.2)
        broken += drawn.error_bounds[1] < rate
        plain += certify(*rows).error_bounds[1] < rate
    assert stats.binom.sf(broken - 1, runs, 0.05) > 1e-3
    assert plain > runs / 2


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.4])
@pytest.mark.parametrize("sides", [(0.1, 1.0), (1.0, 0.2), (0.5, 0.5)])
def test_rows_drawn_by_their_side_have_an_exact_bound(rate, sides):
    """All rows of a class are drawn by their side; every count has its probability."""
    n = 80
    (negative, positive) = sides
    share = rate * negative / (rate * negative + (1 - rate) * positive)  # of labelled positives
    failed = []
    bets = []
    k = np.arange(n + 1)
    for i in k:
        y = np.ones(n)
        s = np.repeat([0.0, 1.0], [i, n - i])
        found = certify(y, s, 0.5, probability=sides)
        failed.append(found.error_bounds[1] < rate)
        if i in (0, 5, 20):
            per_row = np.where(s > 0.5, positive, negative)
            bet = certify(y, s, 0.5, probability=per_row, least_probability=min(sides))
            assert found.errors[1] == pytest.approx(bet.errors[1])
            bets.append((found.error_bounds[1], bet.error_bounds[1]))
    assert np.sum(stats.binom.pmf(k, n, share)[failed]) <= 0.05
    assert all(exact <= bet + 1e-9 for exact, bet in bets)
    assert bets[1][0] < 0.95 * bets[1][1]


def test_rows_drawn_by_their_side_are_those_of_a_population():
    rng = np.random.default_rng(1)
    runs = 400
    broken = np.zeros(2)
    rates = stats.norm.sf(1.0), stats.norm.cdf(1.0 - 2.5)
    for _ in range(runs):
        y = (rng.random(3000) < 0.3).astype(int)
        s = rng.normal(2.5 * y)
        chosen = rng.random(3000) < np.where(s > 1.0, 0.5, 0.1)
        found = certify(y[chosen], s[chosen], 1.0, probability=(0.1, 0.5))
        broken += np.array(rates) > found.error_bounds
    assert stats.binom.sf(broken - 1, runs, 0.05).min() > 1e-3
    assert (found.method, found.status) == ("drawn", "certified")
    assert "rows of each side" in found.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"probability": (0.5, 1.5), "least_probability": None}, "at most 1 each"),
        ({"probability": (0.5, 1.0)}, "go without `least_probability`"),
        ({"probability": (0.0, 1.0), "least_probability": None}, "must be a positive finite"),
        ({"probability": (0.5, 1.0), "chosen_here": True}, "without each other"),
        ({"probability": [0.0] * 100}, "from `least_probability`, 0.5, to 1, got 0"),
        ({"probability": [np.nan] * 100}, "to 1, got nan"),
        ({"least_probability": 0.1}, "`probability` must be one-dim"),
        ({"probability": [0.5] * 100, "least_probability": None}, "must be given with"),
        ({"probability": [0.5] * 9}, "one value for each of 100 rows"),
        ({"probability": [0.5] * 100, "chosen_here": True}, "without each other"),
        ({"probability": [0.5] * 100, "cluster": range(100)}, "without each other"),
    ],
)
def test_probabilities_are_checked(options, words):
    with pytest.raises(InvalidInputError, match=words):
        certify(Y, S, 0.5, **({"least_probability": 0.5} | options))


@pytest.mark.parametrize("floor", [0.5, 0.9, 0.98])
def test_a_floor_that_is_just_missed_is_hardly_ever_certified(floor):
    """Every path of 300 rows, summed exactly; the other verdict is as rare."""
    audit = Audit(np.ones(400), 0.5, Floors(precision=floor))
    for verdict in (0, 1):
        alive = np.array([1.0])
        ended = 0.0
        for n in range(1, 301):
            alive = np.append(alive * floor, 0.0) + np.append(0.0, alive * (1 - floor))
            hit = np.array([audit.evidence(n, k)[verdict] >= 20 for k in range(n + 1)])
            ended += alive[hit].sum()
            alive[hit] = 0.0
        assert 0.001 < ended <= 0.05


def test_the_evidence_is_that_of_the_formula():
    audit = Audit(np.ones(50), 0.5, Floors(precision=0.8))
    audit.next_rows(5)
    audit.add([1, 0, 1, 1, 0])
    m = 0.2
    n = 5
    k = 2
    for sign, found in zip((-1, 1), audit.evidence(), strict=True):
        odds = np.array(ODDS_RATIOS) ** sign
        q = odds * m / (1 - m + odds * m)
        assert found == pytest.approx(np.mean((q / m) ** k * ((1 - q) / (1 - m)) ** (n - k)))


@pytest.mark.parametrize(
    ("floor", "asked", "counts"),
    [
        ("precision", S > 0.5, S > 0.5),
        ("npv", S <= 0.5, S <= 0.5),
        ("recall", S >= 0, Y == 1),
        ("specificity", S >= 0, Y == 0),
    ],
)
def test_rows_asked_and_rows_that_count(floor, asked, counts):
    audit = Audit(S, 0.5, Floors(**{floor: 0.6}, confidence=0.9999999))
    rows = audit.next_rows(1000)
    assert sorted(rows) == np.flatnonzero(asked).tolist()
    audit.add(Y[rows])
    assert (audit.n_labels, audit.n_samples) == (asked.sum(), counts.sum())
    assert audit.wrong == np.sum(((S > 0.5) != Y) & counts)
    assert audit.status == "exhausted"
    assert len(audit.next_rows(5)) == 0


def test_it_ends_at_the_same_label_in_any_batches():
    def audit(labels, size):
        found = Audit(np.ones(500), 0.5, Floors(precision=0.8), pos_label="ill")
        while found.status == "open":
            rows = found.next_rows(size)
            found.add([labels[i % len(labels)] for i in range(len(rows))])
        return found

    whole = audit(["ill"], 500)
    single = audit(["ill"], 1)
    assert whole.status == single.status == "certified"
    assert whole.n_labels == single.n_labels < 30
    missed = audit(["well", "ill"], 500)
    assert missed.status == "missed"
    assert str(missed).startswith(f"missed after {missed.n_labels} labels: precision < 0.8")


FITTED = find_boundary(Y, S**2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Audit(S, 0.5, Floors(precision=0.5, recall=0.5)), "one guaranteed floor"),
        (lambda: Audit(S, 0.5, Floors(flagged=0.5)), "one guaranteed floor"),
        (lambda: Audit(S, 0.5, "sum"), "one guaranteed floor"),
        (lambda: Audit(S, 0.5, Floors(recall=1.0)), "floor below 1"),
        (lambda: ask(10).add([1] * 11), "10 of which have none yet, got 11"),
        (lambda: ask(10).add([1] * 6).add([1] * 6), "4 of which have none yet, got 6"),
        (lambda: ask(10).add([1, None]), "with 1 missing"),
        (lambda: ask(10, FITTED).add([1, 2]), "the positive class, or one other label"),
        *(
            (lambda y=y: ask(10).add(y), "the positive class, or one other label")
            for y in (["1", "1"], ["ill", "well"], [0, 1, 2], [1, "0"])
        ),
        *((lambda n=n: ask(n), "whole number from 1") for n in (-1, 0, 2.5, "3")),
        (lambda: Audit(5 * S, FITTED, Floors(recall=0.9)), "must be probabilities"),
    ],
)
def test_wrong_requests_get_a_sentence(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call()


def test_the_order_is_new_each_time():
    first, second = (Audit(S, 0.5, Floors(recall=0.9)).next_rows(100) for _ in range(2))
    assert first.tolist() != second.tolist()
