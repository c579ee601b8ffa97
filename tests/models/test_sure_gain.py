import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier
from boundshift.boundary import make_decision
from boundshift.curves import Blend, Logistic, Smoothed
from boundshift.models.nested import shift_loses
from boundshift.models.sure_gain import (
    _count_left,
    _Side,
    enclose_thresholds,
    surely_gains,
)
from boundshift.rules import GMean, Minimax, Sum
from boundshift.scores.sample import ScoreSample

SHAPES = {
    "normal": lambda rng, n: rng.standard_normal(n),
    "heavy": lambda rng, n: rng.standard_t(2, n),
    "skewed": lambda rng, n: rng.exponential(1, n),
    "tied": lambda rng, n: np.round(3 * rng.standard_normal(n)) / 3,
    "spike": lambda rng, n: (
        np.where(rng.random(n) < 0.8, 0, 5 * rng.standard_normal(n)) + 1e-7 * rng.standard_normal(n)
    ),
}


def draw(seed, shape="normal", n=2000, share=0.1, apart=2.5, own=2.0, n_parts=5):
    """Return whether rows are positive, their scores, whose own boundary is at 0, and parts."""
    rng = np.random.default_rng(seed)
    is_positive = rng.random(n) < share
    noise = SHAPES[shape](rng, n)
    width = np.std(noise)
    return is_positive, noise + width * (apart * is_positive - own), np.arange(n) % n_parts


def decide(rows, curve, rule):
    sample = ScoreSample.from_labels(*rows[:2])
    return sample, make_decision(curve, rule)(sample).threshold


def nested(rows, curve, rule):
    """Return the thresholds that are chosen without each part."""
    is_positive, scores, parts = rows
    kept = [parts != part for part in np.unique(parts)]
    return [decide((is_positive[k], scores[k]), curve, rule)[1] for k in kept]


def wrong_share(rows, thresholds):
    """Return the sum of both classes' shares on the wrong side of their part's threshold."""
    is_positive, scores, parts = rows
    wrong = (scores > np.array(thresholds)[np.unique(parts, return_inverse=True)[1]]) != is_positive
    return sum(np.count_nonzero(wrong[of]) / (of.sum() + 2) for of in (is_positive, ~is_positive))


problems = {
    "seed": st.integers(0, 2**32 - 1),
    "shape": st.sampled_from(sorted(SHAPES)),
    "n": st.integers(300, 4000),
    "share": st.floats(0.03, 0.5),
    "apart": st.floats(0.5, 4.0),
    "own": st.floats(-2.0, 5.0),
    "n_parts": st.integers(3, 10),
}
curves = st.sampled_from([Blend(), Smoothed(), Smoothed(2.0), Blend(rows=50.0)])
rules = st.sampled_from([GMean(), GMean(0.05), Minimax(), Sum()])


@settings(max_examples=150, deadline=None)
@given(st.fixed_dictionaries(problems), curves, rules)
def test_what_counts_tell_is_what_decisions_without_each_part_find(problem, curve, rule):
    rows = draw(**problem)
    sample, threshold = decide(rows, curve, rule)
    enclosure = enclose_thresholds(sample, threshold, rows, curve, rule)
    if enclosure is None:
        return
    found = nested(rows, curve, rule)
    assert enclosure.low <= min(found) <= max(found) <= enclosure.high
    assert wrong_share(rows, found) <= enclosure.wrong * (1 + 1e-12)
    if surely_gains(sample, threshold, rows, curve, rule):
        by_part = (rows[0].astype(np.intp), rows[1], rows[2])
        assert not shift_loses(*by_part, lambda y, s: decide((y == 1, s), curve, rule)[1], rule)


@settings(max_examples=60, deadline=None)
@given(st.fixed_dictionaries(problems), st.floats(0.01, 0.99))
def test_claims_without_each_part_are_enclosed(problem, share):
    is_positive, scores, parts = draw(**problem)
    sample = ScoreSample.from_labels(is_positive, scores)
    left = _count_left(is_positive, parts, sample.n_samples)
    side = _Side.of(sample.negative, left[0], (1.0, 10.0))
    t = float(np.quantile(scores, share))
    cell = side.bandwidths[1] / 4 if side else 0.0
    enclosed = side and side.enclose(t, cell, (3, 6), ~is_positive, scores, parts)
    if not enclosed:
        return
    for part, (most, least, wrong) in enumerate(zip(*enclosed, strict=True)):
        rest = ScoreSample.from_labels(is_positive[parts != part], scores[parts != part])
        claims = Blend().errors(rest)(t + cell * np.arange(-3, 7))[0]
        assert (least <= claims).all()
        assert claims[3] <= most
        own = scores[~is_positive & (parts == part)]
        assert (np.count_nonzero(own[:, None] > t + cell * np.arange(-3, 7), axis=0) <= wrong).all()


def test_rows_left_are_those_of_other_parts():
    is_positive, _, parts = draw(0, n=500, share=0.3)
    expected = [
        [np.count_nonzero((is_positive == k) & (parts != part)) for part in range(5)]
        for k in (False, True)
    ]
    n_samples = (int((~is_positive).sum()), int(is_positive.sum()))
    assert _count_left(is_positive, parts, n_samples).tolist() == expected


def test_a_rare_class_far_from_the_own_boundary_is_told_from_counts():
    rows = draw(0, n=10_000, share=0.05, own=3.0)
    sample, threshold = decide(rows, Blend(), GMean())
    assert surely_gains(sample, threshold, rows, Blend(), GMean())


@pytest.mark.parametrize(
    ("curve", "change"),
    [
        pytest.param(Blend(), {"own": 1.25}, id="own boundary is best"),
        pytest.param(Blend(), {"n": 400}, id="few rows"),
        pytest.param(Blend(), {"n_parts": 2}, id="parts leave half"),
        pytest.param(Logistic(), {}, id="a curve that counts do not tell"),
    ],
)
def test_what_counts_do_not_tell_is_left_to_the_rows(curve, change):
    rows = draw(0, **{"n": 10_000, "share": 0.05, "own": 3.0, **change})
    sample, threshold = decide(rows, curve, GMean())
    assert not surely_gains(sample, threshold, rows, curve, GMean())


@pytest.mark.parametrize("labels", [[0, 1], ["rare", "usual"]])
def test_a_fit_asks_no_rows_about_a_gain_that_is_sure(labels, monkeypatch):
    def forbidden(*asked):
        raise AssertionError("the rows were asked")

    monkeypatch.setattr("boundshift.models.decision.shift_loses", forbidden)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    y = (X @ [2.0, 1.0, 1.0] + rng.standard_normal(20_000) > 4).astype(int)
    named = np.array(labels)[1 - y] if labels[0] == "rare" else y
    BoundShiftClassifier(LogisticRegression()).fit(X, named)
    with pytest.raises(AssertionError, match="asked"):
        BoundShiftClassifier(LogisticRegression(class_weight="balanced")).fit(X, named)
