"""The unsure zone keeps both promises, and is no wider than they need."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binom, norm
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from boundshift import BoundShiftClassifier, InvalidInputError, certify, find_boundary
from boundshift._promises.zone import Zone, find_zone
from boundshift.streaming import scan_zone

RUNS = 600
ZONE = Zone(0.0, 1.0, (0.1, 0.1), (9, 9), (0, 1), 0.9, (0.0, 0.0))


def draw(rng, n, p, gap):
    y = np.repeat([0, 1], [n, p])
    return y, rng.normal(size=n + p) + gap * y


@pytest.mark.parametrize(("n", "p"), [(100, 60), (2000, 59), (300, 300)])
@pytest.mark.parametrize("gap", [1.0, 3.0, 6.0])
def test_both_promises_are_kept(n, p, gap):
    rng = np.random.default_rng(0)
    kept = np.zeros(2)
    for _ in range(RUNS):
        zone = find_zone(*draw(rng, n, p, gap))
        kept += norm.sf(zone.high) <= 0.05, norm.cdf(zone.low - gap) <= 0.05
    assert np.all(kept / RUNS >= 0.95 - 2 * (0.05 * 0.95 / RUNS) ** 0.5)


def test_tied_scores_keep_their_promises():
    rng = np.random.default_rng(1)
    kept = 0
    for _ in range(RUNS):
        y, s = draw(rng, 200, 200, 2.0)
        zone = find_zone(y, np.round(s))
        levels = np.arange(-12, 15)
        share = np.diff(norm.cdf(np.concatenate([[-np.inf], levels + 0.5]) - 2))
        kept += share[levels <= zone.low].sum() <= 0.05
    assert kept / RUNS >= 0.95 - 2 * (0.05 * 0.95 / RUNS) ** 0.5


def test_one_error_is_that_of_both_classes():
    rows = draw(np.random.default_rng(2), 300, 100, 2.0)
    for number in (
        0.25,
        np.float32(0.25),
        np.float16(0.25),
        Fraction(1, 4),
        np.array([0.25, 0.25]),
    ):
        assert find_zone(*rows, errors=number) == find_zone(*rows, errors=(0.25, 0.25))


@pytest.mark.parametrize("errors", [(0.05, 0.05), (0.02, 0.12)])
def test_one_row_more_would_break_a_promise(errors):
    y, s = draw(np.random.default_rng(2), 500, 200, 2.0)
    zone = find_zone(y, s, errors=errors)
    wrong = np.sum(s[y == 0] > zone.high), np.sum(s[y == 1] <= zone.low)
    for k, n, error in zip(wrong, (500, 200), errors, strict=True):
        assert binom.cdf(k, n, error) <= 0.05 < binom.cdf(k + 1, n, error)


@pytest.mark.parametrize(("rows", "status"), [(58, "open"), (59, "zone")])
def test_fewer_rows_than_a_promise_needs_leave_the_limit_open(rows, status):
    rng = np.random.default_rng(3)
    zone = find_zone(*draw(rng, 500, rows, 1.0))
    assert zone.status == status
    assert math.isinf(zone.low) == (status == "open")
    assert ("at least 59" in zone.message) == (status == "open")


def test_a_column_of_single_precision_is_decided_alike():
    """Limits at a score itself call it negative after rounding up, for every tied row."""
    rng = np.random.default_rng(4)
    y, s = draw(rng, 500, 200, 1.0)
    s = np.round(s, 1)
    zone = find_zone(y, s)
    np.testing.assert_array_equal(
        zone.predict(s.astype(np.float32), unsure=-1), zone.predict(s, unsure=-1)
    )


@pytest.mark.parametrize(("share", "gap"), [(0.1, 2.0), (0.3, 1.0), (0.03, 3.0)])
def test_predictive_values_are_kept_together(share, gap):
    rng, runs, broken, answered = np.random.default_rng(5), 200, 0, 0
    for _ in range(runs):
        y = (rng.random(1000) < share).astype(int)
        zone = find_zone(y, rng.normal(gap * y), precision=0.5, npv=0.95)
        # False and true positives, true and false negatives, as shares of all rows to come.
        alarms, hits = [1 - share, share] * norm.sf(zone.high - np.array([0, gap]))
        cleared, missed = [1 - share, share] * norm.cdf(zone.low - np.array([0, gap]))
        broken += hits < 0.5 * (hits + alarms) or cleared < 0.95 * (cleared + missed)
        answered += np.isfinite(zone.low) and np.isfinite(zone.high)
    assert binom.sf(broken - 1, runs, 0.05) > 1e-3
    assert answered > 0.5 * runs or share == 0.3


def test_limits_by_predictive_values_that_cross_are_one_boundary():
    y, s = draw(np.random.default_rng(6), 900, 300, 6.0)
    zone = find_zone(y, s, precision=0.8, npv=0.9)
    assert zone.status == "empty"
    assert Zone.from_json(zone.to_json()) == zone
    chosen = zone.predict(s, unsure=-1)
    assert np.mean(y[chosen == 1]) > 0.8
    assert np.mean(y[chosen == 0] == 0) > 0.9


def test_a_predictive_value_out_of_reach_leaves_its_limit_open():
    zone = find_zone(*draw(np.random.default_rng(7), 900, 20, 1.0), precision=0.99, npv=0.9)
    assert math.isinf(zone.high)
    assert "No limit can promise a precision of 0.99" in zone.message


@pytest.mark.parametrize(
    "asked", [{"precision": 0.9}, {"precision": 0.9, "npv": 0.9, "errors": 0.1}]
)
def test_predictive_values_are_asked_together(asked):
    with pytest.raises(InvalidInputError, match="must be given together and without `errors`"):
        find_zone([0, 1], [0.0, 1.0], **asked)


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_alone_has_its_own_limit(label):
    rng, kept = np.random.default_rng(8), 0
    for _ in range(RUNS):
        y, s = np.full(200, label), np.round(rng.normal(size=200), 1)
        zone = find_zone(y, s, errors=(0.05, 0.05))
        assert zone.n_samples == ((0, 200) if label else (200, 0))
        limit = zone.low if label else -zone.high
        assert np.isinf(zone.high if label else zone.low)
        # Scores are rounded: those up to the limit are called negative, or above it positive.
        kept += norm.cdf(np.floor(limit * 10) / 10 + 0.05) <= 0.05
    assert kept / RUNS >= 0.95 - 2 * (0.05 * 0.95 / RUNS) ** 0.5
    assert "there are 0" in zone.message


def test_one_class_alone_is_certified_and_the_other_is_not_known():
    found = certify(np.array(["ok"] * 300), np.arange(300.0), 289.5, pos_label="fraud")
    assert found.labels == ("ok", "fraud")
    assert (found.wrong, found.n_samples, found.error_bounds[1]) == ((10, 0), (300, 0), 1.0)
    assert (
        found.error_bounds[0] == certify([0] * 300 + [1], np.arange(301.0), 289.5).error_bounds[0]
    )
    assert "class fraud has no rows" in found.reason
    with pytest.raises(InvalidInputError, match="`pos_label` must be given"):
        certify(["ok"], [0.0], 0.5)


def test_one_class_is_named_as_the_boundary_names_it():
    boundary = find_boundary(["ok"] * 9 + ["bad"] * 9, np.arange(18.0), pos_label="bad")
    found = certify(["bad"] * 40, np.arange(40.0), boundary)
    assert (found.labels, found.n_samples) == (("ok", "bad"), (0, 40))
    with pytest.raises(InvalidInputError, match="must hold the labels of the boundary"):
        certify(["Bad"] * 40, np.arange(40.0), boundary)


def test_classes_apart_leave_no_zone():
    rng = np.random.default_rng(4)
    y, s = draw(rng, 200, 200, 20.0)
    zone = find_zone(y, s)
    assert zone.status == "empty"
    assert zone.low == zone.high
    assert not zone.is_unsure(s).any()
    np.testing.assert_array_equal(zone.predict(s, unsure=-1), y)


SCALES = ("auto", "probability", "raw")


def test_the_boundary_of_an_empty_zone_is_the_middle_by_log_odds_of_probabilities():
    y = np.repeat([0, 1], 100)
    p = np.concatenate([np.linspace(0.001, 0.01, 100), np.linspace(0.5, 0.9, 100)])
    middles = [find_zone(y, p, scale=scale).low for scale in SCALES]
    # Of 100 rows one may be wrong: the second-largest healthy and the second-lowest ill one limit.
    negative, positive = np.sort(p[:100])[-2], np.sort(p[100:])[1]
    expected = expit((logit(negative) + logit(positive)) / 2)
    np.testing.assert_allclose(middles, [expected, expected, (negative + positive) / 2])


@pytest.mark.parametrize("errors", [(0.05, 0.05), (0.2, 0.1)])
def test_a_zone_that_is_not_empty_hangs_on_no_scale(errors):
    y, s = draw(np.random.default_rng(8), 300, 200, 1.5)
    raw, *others = (find_zone(y, expit(s), errors, scale=scale) for scale in SCALES[::-1])
    assert raw.status == "zone"
    assert [replace(other, scale="raw") for other in others] == [raw, raw]


@given(
    st.lists(st.sampled_from([0.0, 1e-300, 1e-9, 0.25, 0.5, 1 - 2.0**-53, 1.0]), min_size=4),
    st.integers(1, 3),
)
def test_a_zone_of_any_probabilities_wrongs_no_more_rows_than_the_raw_one(values, cut):
    low, high = np.sort(values)[:cut], np.sort(values)[cut:]
    y = np.repeat([0, 1], [80 * len(low), 80 * len(high)])
    p = np.concatenate([np.repeat(low, 80), np.repeat(high, 80)])
    found, raw = (find_zone(y, p, scale=scale) for scale in ("auto", "raw"))
    np.testing.assert_array_equal(found.predict(p, unsure=-1), raw.predict(p, unsure=-1))


def test_an_exact_one_counts_as_twice_the_largest_odds_below():
    y = np.repeat([0, 1], 100)
    p = np.repeat([0.0, 0.2, 0.5, 1.0], [99, 1, 1, 99])
    # One row of each class may be wrong, so that the limits are an exact 0 and an exact 1.
    odds = math.sqrt(0.25 / 2 * 1.0 * 2)
    assert find_zone(y, p, (0.06, 0.06)).low == pytest.approx(odds / (1 + odds))


@pytest.mark.parametrize(
    ("scale", "message"),
    [("odds", "`scale` must be one of"), ("probability", "lie in .0, 1. with scale='probability'")],
)
def test_a_scale_that_cannot_be_is_refused(scale, message):
    with pytest.raises(InvalidInputError, match=message):
        find_zone([0, 0, 1, 1], [0.1, 0.2, 0.3, 7.0], scale=scale)


@pytest.mark.parametrize("gap", [1.5, 40.0])
@pytest.mark.parametrize("scale", SCALES)
def test_a_zone_read_in_passes_is_that_of_memory(gap, scale):
    y, s = draw(np.random.default_rng(9), 300, 200, gap)
    order = np.random.default_rng(0).permutation(500)
    y, p = y[order], expit(s[order] - gap / 2)
    p[p < np.quantile(p, 0.01)] = 0.0
    chunks = [(y[i : i + 100], p[i : i + 100]) for i in range(0, 500, 100)]
    assert scan_zone(chunks, pos_label=1, scale=scale) == find_zone(y, p, scale=scale)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: find_zone([0, 1], [0, 1], errors=[0.05]),
            "`errors` must be one positive number or a pair",
        ),
        (lambda: find_zone([0, 1], [0, 1], errors=(0, 0.05)), "`errors` must be a positive"),
        (lambda: find_zone([0, 1], [0, 1], errors=(0.05, 1)), "`errors` must be between"),
        (lambda: find_zone([0, 1], [1, 0]), "`y_score` must be higher"),
        (lambda: find_zone("aabb", [0, 1, 2, 3], errors=(0.1, 0.2)), "`y_true`"),
        (lambda: find_zone(list("aabb"), [0, 1, 2, 3], errors=(0.1, 0.2)), "`pos_label`"),
        (lambda: Zone.from_json("{"), "must be JSON"),
        (
            lambda: Zone(0, 1, (0.1, 0.1), (9, 9), (0, 1), 0.9, (0, 0)).predict([np.nan], -1),
            "1 miss",
        ),
    ],
)
def test_bad_requests_get_a_sentence(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_labels_keep_their_kind_beside_a_word_for_unsure():
    assert ZONE.predict([-1, 0.5, 2], "ask").tolist() == [0, "ask", 1]
    assert ZONE.predict([-1, 0.5, 2], -1).dtype.kind == "i"


def test_a_notebook_shows_the_limits_and_what_they_are_worth():
    shown = ZONE._repr_html_()
    assert "0 up to 0" in shown
    assert "1 above 1" in shown
    assert "with 0.9 confidence" in shown


@pytest.mark.parametrize("pos_label", [0, 1])
def test_a_classifier_finds_the_zone_of_its_scores(pos_label):
    X, y = make_classification(1500, weights=[0.8], flip_y=0.1, random_state=0)
    model = BoundShiftClassifier(LogisticRegression(), pos_label=pos_label, rule="f1")
    model.fit(X[:500], y[:500])
    scores = model.positive_scores(X[500:])
    zone = model.find_zone(X[500:], y[500:])
    decided = zone.predict(scores, -1)
    np.testing.assert_array_equal(decided == pos_label, scores > zone.high)
    expected = find_zone(y[500:], scores, pos_label=pos_label, scale="probability")
    assert (zone.low, zone.high) == (expected.low, expected.high)


@pytest.mark.parametrize("unsure", [-1, None])
def test_a_column_is_answered_by_one_of_its_kind(unsure):
    pandas, polars, arrow = (pytest.importorskip(n) for n in ("pandas", "polars", "pyarrow"))
    zone = Zone(0.0, 1.0, (0.05, 0.05), (90, 90), (0, 1), 0.95, (0.2, 0.3))
    expected = [0, unsure, 1]
    series = pandas.Series([-1.0, 0.5, 2.0], index=["ann", "bob", "eve"], name="risk")
    assert zone.predict(series, unsure).to_dict() == dict(zip(series.index, expected, strict=True))
    assert zone.is_unsure(series).tolist() == [False, True, False]
    assert zone.is_unsure(series).name == "risk"
    column = polars.Series("risk", [-1.0, 0.5, 2.0])
    assert zone.predict(column, unsure).to_list() == expected
    assert zone.predict(column, unsure).dtype == polars.Int64
    assert zone.predict(arrow.array([-1.0, 0.5, 2.0]), unsure).to_pylist() == expected
    chunks = arrow.chunked_array([[-1.0, 0.5], [2.0]])
    assert zone.predict(chunks, unsure).to_pylist() == expected


def test_a_column_of_one_kind_refuses_another_kind_for_unsure():
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    zone = Zone(0.0, 1.0, (0.05, 0.05), (90, 90), (0, 1), 0.95, (0.2, 0.3))
    for column in (polars.Series("risk", [-1.0, 0.5]), arrow.array([-1.0, 0.5])):
        with pytest.raises(InvalidInputError, match="`unsure` must be of the same kind"):
            zone.predict(column, "ask")


@pytest.mark.parametrize("scores", [[0.1, None], [0.1, math.nan], ["a", "b"]])
def test_scores_that_are_missing_or_no_numbers_are_refused(scores):
    zone = Zone(0.0, 1.0, (0.05, 0.05), (90, 90), (0, 1), 0.95, (0.2, 0.3))
    with pytest.raises(InvalidInputError, match="`y_score` must"):
        zone.predict(scores)
