"""Rows drawn with unequal probabilities, and labels one by one."""

import copy

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

from boundshift import Audit, Floors, InvalidInputError, certify, find_boundary
from boundshift._guarantees.draws import SHARES, PoolBets, _Draw
from boundshift.curves._clusters import bound_mean

Y = np.repeat([0, 1], [60, 40])
S = np.concatenate([np.linspace(0, 0.7, 60), np.linspace(0.3, 1, 40)])


def ask(n, threshold=0.5):
    """Return an audit that has asked for the labels of n rows."""
    audit = Audit(S, threshold, Floors(recall=0.9))
    audit.next_rows(n)
    return audit


def test_equal_probabilities_are_those_of_a_plain_sample():
    wrong = (S > 0.5) != Y
    drawn = certify(Y, S, 0.5, probability=np.full(100, 0.2), least_probability=0.2)
    expected = [bound_mean(1.0 * wrong[y == Y], 0.05) for y in (0, 1)]
    assert drawn.error_bounds == pytest.approx(expected)
    assert drawn.errors == pytest.approx([wrong[y == Y].mean() for y in (0, 1)])
    assert drawn.lowest_bounds == pytest.approx([1 - 0.05 ** (1 / n) for n in (60, 40)], rel=1e-3)
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
    negative, positive = sides
    share = rate * negative / (rate * negative + (1 - rate) * positive)  # of labelled positives
    failed = []
    for i in range(n + 1):
        found = certify(np.ones(n), np.repeat([0.0, 1.0], [i, n - i]), 0.5, probability=sides)
        failed.append(found.error_bounds[1] < rate)
    assert np.sum(stats.binom.pmf(np.arange(n + 1), n, share)[failed]) <= 0.05
    assert (found.method, found.status) == ("drawn", "certified")
    assert "rows of each side" in found.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"probability": (0.5, 1.5), "least_probability": None}, "at most 1 on each side"),
        ({"probability": (0.5, 1.0)}, "one value for each of 100 rows"),
        ({"probability": (0.0, 1.0), "least_probability": None}, "must be a positive finite"),
        ({"probability": (0.5, 1.0), "chosen_here": True}, "without each other"),
        ({"probability": [0.0] * 100}, "from `least_probability`, 0.5, to 1, got 0"),
        ({"probability": [np.nan] * 100}, "to 1, got nan"),
        ({"least_probability": 0.1}, "`probability` must be given with `least"),
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
def test_verdicts_about_a_population_are_hardly_ever_wrong(floor):
    """Every path of 300 rows at the floor, by the formula of the docstring, summed exactly."""
    m = 1 - floor
    gains = {0: (1 - SHARES, 1 + SHARES * m / floor), 1: (1 + SHARES * floor / m, 1 - SHARES)}
    for if_wrong, if_right in gains.values():
        alive = np.array([1.0])
        ended = 0.0
        for n in range(1, 301):
            alive = np.append(alive * floor, 0.0) + np.append(0.0, alive * m)
            k = np.arange(n + 1)[:, None]
            logs = k * np.log(if_wrong) + (n - k) * np.log(if_right)
            hit = logsumexp(logs, axis=1) >= np.log(20 * len(SHARES))
            ended += alive[hit].sum()
            alive[hit] = 0.0
        assert 0.001 < ended <= 0.05
    audit = Audit(np.ones(50), 0.5, Floors(precision=floor), about="population")
    audit.next_rows(5)
    audit.add([1, 0, 1, 1, 0])
    for found, (if_wrong, if_right) in zip(audit.evidence(), gains.values(), strict=True):
        assert found == pytest.approx(np.mean(if_wrong**2 * if_right**3))


def next_states(bets, labels):
    """Return each possible next state of a pool with its probability, given hidden labels.

    A stratum is drawn by its weights, and one of its rows that remain at random.
    """
    weights = bets._choose_weights()
    remaining = bets.sizes - bets.n_labelled
    chances = weights * remaining / (weights @ remaining)
    for stratum in np.flatnonzero(remaining):
        for is_positive in (False, True):
            left = np.sum(labels[stratum]) - bets.n_positive[stratum]
            left = left if is_positive else remaining[stratum] - left
            if left:
                after = copy.deepcopy(bets)
                after._pending.append(_Draw(0, stratum, weights))
                after.observe(is_positive)
                yield chances[stratum] * left / remaining[stratum], after


@pytest.mark.parametrize("prior", [None, np.array([0.1, 0.4])])
@pytest.mark.parametrize(
    ("values", "labels"),
    [
        ([[0, 0.75], [0, -0.25]], ([1, 0, 0], [1, 1, 1, 0])),  # a recall of 0.75
        ([[-0.25, 0.75], [-0.25, 0.75]], ([1, 0, 0], [1, 0, 0, 0, 0])),  # an NPV of 0.75
    ],
)
def test_the_mean_capital_is_one_if_the_floor_is_just_kept(prior, values, labels):
    """All draws of four rows from a pool, each with its probability."""
    values = np.array(values)
    stratum = np.repeat([0, 1], [len(each) for each in labels])
    pool = PoolBets(np.arange(len(stratum)), stratum, values, prior, True, np.random.default_rng())
    assert sum(values[k, y] for k in (0, 1) for y in labels[k]) == 0
    states = [(1.0, pool)]
    for _ in range(4):
        states = [
            (chance * more, after)
            for chance, bets in states
            for more, after in next_states(bets, labels)
        ]
    for verdict in (0, 1):
        capital = [np.exp(bets._log_capital[verdict]).mean() for _, bets in states]
        assert np.average(capital, weights=[chance for chance, _ in states]) == pytest.approx(1)
    assert sum(chance for chance, _ in states) == pytest.approx(1)


def make_pool(rng, scores, n=200, prevalence=0.2):
    """Return labels, scores and a threshold at which a tenth of the positives is missed."""
    y = (np.arange(n) < prevalence * n).astype(int)
    s = {
        "good": 2.0 * y + rng.normal(size=n),
        "useless": rng.normal(size=n),
        "hostile": np.where(y & (rng.random(n) < 0.15), -5.0, 2.0 * y) + rng.normal(size=n),
    }[scores]
    threshold = np.sort(s[y == 1])[int(0.1 * y.sum()) - 1]
    return y, s, threshold


def run_audit(y, audit):
    while audit.status == "open":
        audit.add(y[audit.next_rows(10)])
    return audit


@pytest.mark.parametrize("draw", ["random", "score"])
@pytest.mark.parametrize("scores", ["good", "useless", "hostile"])
@pytest.mark.parametrize(("floor", "verdict"), [(0.92, "certified"), (0.9, "missed")])
def test_a_pool_is_hardly_ever_judged_wrongly(draw, scores, floor, verdict):
    """The recall is 0.9: a floor of 0.92 is just missed, one of 0.9 just kept."""
    rng = np.random.default_rng(0)
    runs = 60
    wrong = 0
    for _ in range(runs):
        y, s, threshold = make_pool(rng, scores)
        audit = Audit(s, threshold, Floors(recall=floor), draw=draw, random_state=rng)
        wrong += run_audit(y, audit).status == verdict
        assert audit.status in ("certified", "missed")
    assert stats.binom.sf(wrong - 1, runs, 0.05) > 1e-3


def test_a_finite_pool_saves_labels_and_so_does_a_score():
    """The issue's pool: 465 of 500 flagged rows are right, and a precision of 0.9 is asked for."""
    rng = np.random.default_rng(1)
    right = np.repeat([1, 0], [465, 35])
    n_labels = {"pool": 0, "population": 0}
    for _ in range(20):
        y = rng.permutation(right)
        for about in n_labels:
            audit = Audit(np.ones(500), 0.5, Floors(precision=0.9), about=about, random_state=rng)
            n_labels[about] += run_audit(y, audit).n_labels
    assert n_labels["pool"] < 0.75 * n_labels["population"]
    n_by_draw = {"random": 0, "score": 0}
    y = (np.arange(8000) < 400).astype(int)
    for _ in range(3):
        s = rng.normal(size=8000) + 4 * y
        threshold = np.sort(s[y == 1])[23]  # a recall of 0.94
        for draw in n_by_draw:
            audit = Audit(s, threshold, Floors(recall=0.9), draw=draw, random_state=rng)
            n_by_draw[draw] += run_audit(y, audit).n_labels
            assert audit.status == "certified"
    assert n_by_draw["score"] < 0.8 * n_by_draw["random"]


def test_without_a_row_that_counts_there_is_no_verdict():
    for rule in (Floors(recall=0.5), Floors(npv=0.5)):
        audit = Audit(np.linspace(1, 2, 9), 0.5, rule)
        assert run_audit(np.zeros(9), audit).status == "exhausted"


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
    audit = Audit(S, 0.5, Floors(**{floor: 0.6}, confidence=0.9999999), about="population")
    rows = audit.next_rows(1000)
    assert sorted(rows) == np.flatnonzero(asked).tolist()
    audit.add(Y[rows])
    assert (audit.n_labels, audit.n_samples) == (asked.sum(), counts.sum())
    assert audit.wrong == np.sum(((S > 0.5) != Y) & counts)
    assert audit.status == "exhausted"
    assert len(audit.next_rows(5)) == 0


def test_it_ends_at_the_same_label_in_any_batches():
    def audit(labels, size):
        found = Audit(np.ones(500), 0.5, Floors(precision=0.8), pos_label="ill", random_state=0)
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
    assert str(missed).startswith(
        f"missed after {missed.n_labels} labels: precision < 0.8 in the pool"
    )


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
        (lambda: Audit(S, 0.5, Floors(recall=0.9), draw="all"), "`draw` must be"),
        (lambda: Audit(S, 0.5, Floors(recall=0.9), about="all"), "`about` must be"),
        (
            lambda: Audit(S, 0.5, Floors(recall=0.9), draw="score", about="population"),
            "must be 'random' with about='population'",
        ),
    ],
)
def test_wrong_requests_get_a_sentence(call, words):
    with pytest.raises(InvalidInputError, match=words):
        call()


def test_the_order_is_new_each_time():
    first, second = (Audit(S, 0.5, Floors(recall=0.9)).next_rows(100) for _ in range(2))
    assert first.tolist() != second.tolist()
