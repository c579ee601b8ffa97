"""The unsure zone keeps both guarantees, and is no wider than they need."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit
from scipy.stats import binom, norm

from boundshift import InvalidInputError, certify, find_boundary
from boundshift._guarantees.zone import Zone, find_zone
from boundshift.streaming import scan_zone

RUNS = 600
ZONE = Zone(0.0, 1.0, (0.1, 0.1), (9, 9), (0, 1), 0.9, (0.0, 0.0))


def draw(rng, n, p, gap):
    y = np.repeat([0, 1], [n, p])
    return y, rng.normal(size=n + p) + gap * y


@pytest.mark.parametrize(("n", "p"), [(100, 60), (2000, 59), (300, 300)])
@pytest.mark.parametrize("gap", [1.0, 3.0, 6.0])
def test_both_limits_keep_their_guarantee(n, p, gap):
    rng = np.random.default_rng(0)
    kept = np.zeros(2)
    for _ in range(RUNS):
        zone = find_zone(*draw(rng, n, p, gap))
        kept += norm.sf(zone.high) <= 0.05, norm.cdf(zone.low - gap) <= 0.05
    assert np.all(kept / RUNS >= 0.95 - 2 * (0.05 * 0.95 / RUNS) ** 0.5)


def test_limits_of_tied_scores_keep_their_guarantee():
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
    for number in (0.25, np.float32(0.25), Fraction(1, 4), np.array([0.25, 0.25])):
        assert find_zone(*rows, errors=number) == find_zone(*rows, errors=(0.25, 0.25))


@pytest.mark.parametrize("errors", [(0.05, 0.05), (0.02, 0.12)])
def test_one_row_more_would_break_a_guarantee(errors):
    y, s = draw(np.random.default_rng(2), 500, 200, 2.0)
    zone = find_zone(y, s, errors=errors)
    wrong = np.sum(s[y == 0] > zone.high), np.sum(s[y == 1] <= zone.low)
    for k, n, error in zip(wrong, (500, 200), errors, strict=True):
        assert binom.cdf(k, n, error) <= 0.05 < binom.cdf(k + 1, n, error)


@pytest.mark.parametrize("rows", [58, 59])
def test_fewer_rows_than_a_guarantee_needs_leave_the_limit_open(rows):
    zone = find_zone(*draw(np.random.default_rng(3), 500, rows, 1.0))
    assert zone.status == ("open" if rows == 58 else "zone")
    assert math.isinf(zone.low) == ("at least 59" in zone.message) == (rows == 58)


def test_a_column_of_single_precision_is_decided_alike():
    """Limits at a score itself call it negative after rounding up, for every tied row."""
    y, s = draw(np.random.default_rng(4), 500, 200, 1.0)
    zone = find_zone(y, np.round(s, 1))
    s = np.round(s, 1)
    np.testing.assert_array_equal(zone.predict(s.astype(np.float32), -1), zone.predict(s, -1))


@pytest.mark.parametrize(("share", "gap"), [(0.1, 2.0), (0.3, 1.0), (0.03, 3.0)])
def test_predictive_values_are_kept_together(share, gap):
    rng = np.random.default_rng(5)
    runs = 200
    broken = 0
    answered = 0
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


def test_limits_by_predictive_values_that_cross_are_one_boundary_or_open():
    y, s = draw(np.random.default_rng(6), 900, 300, 6.0)
    zone = find_zone(y, s, precision=0.8, npv=0.9)
    assert zone.status == "empty"
    assert Zone.from_json(zone.to_json()) == zone
    chosen = zone.predict(s, unsure=-1)
    assert np.mean(y[chosen == 1]) > 0.8
    assert np.mean(y[chosen == 0] == 0) > 0.9

    zone = find_zone(*draw(np.random.default_rng(7), 900, 20, 1.0), precision=0.99, npv=0.9)
    assert math.isinf(zone.high)
    assert "No limit can guarantee a precision of 0.99" in zone.message


@pytest.mark.parametrize("label", [0, 1])
def test_one_class_alone_has_its_own_limit(label):
    rng = np.random.default_rng(8)
    kept = 0
    for _ in range(RUNS):
        y = np.full(200, label)
        s = np.round(rng.normal(size=200), 1)
        zone = find_zone(y, s, errors=(0.05, 0.05))
        assert zone.n_samples == ((0, 200) if label else (200, 0))
        limit = zone.low if label else -zone.high
        assert np.isinf(zone.high if label else zone.low)
        # Scores are rounded: those up to the limit are called negative, or above it positive.
        kept += norm.cdf(np.floor(limit * 10) / 10 + 0.05) <= 0.05
    assert kept / RUNS >= 0.95 - 2 * (0.05 * 0.95 / RUNS) ** 0.5
    assert "there are 0" in zone.message


def test_one_class_alone_is_certified_and_named_as_the_boundary_names_it():
    found = certify(np.array(["ok"] * 300), np.arange(300.0), 289.5, pos_label="fraud")
    assert found.labels == ("ok", "fraud")
    assert (found.wrong, found.n_samples, found.error_bounds[1]) == ((10, 0), (300, 0), 1.0)
    both = certify([0] * 300 + [1], np.arange(301.0), 289.5)
    assert found.error_bounds[0] == both.error_bounds[0]
    assert "class fraud has no rows" in found.reason
    with pytest.raises(InvalidInputError, match="`pos_label` must be given"):
        certify(["ok"], [0.0], 0.5)
    boundary = find_boundary(["ok"] * 9 + ["bad"] * 9, np.arange(18.0), pos_label="bad")
    found = certify(["bad"] * 40, np.arange(40.0), boundary)
    assert (found.labels, found.n_samples) == (("ok", "bad"), (0, 40))
    with pytest.raises(InvalidInputError, match="must hold the labels of the boundary"):
        certify(["Bad"] * 40, np.arange(40.0), boundary)


def test_classes_apart_leave_no_zone():
    y, s = draw(np.random.default_rng(4), 200, 200, 20.0)
    zone = find_zone(y, s)
    assert (zone.status, zone.low) == ("empty", zone.high)
    np.testing.assert_array_equal(zone.predict(s, unsure=-1), y)


SCALES = ("auto", "probability", "raw")


def test_the_boundary_of_an_empty_zone_is_the_middle_by_log_odds_of_probabilities():
    y = np.repeat([0, 1], 100)
    p = np.concatenate([np.linspace(0.001, 0.01, 100), np.linspace(0.5, 0.9, 100)])
    middles = [find_zone(y, p, scale=scale).low for scale in SCALES]
    # Of 100 rows one may be wrong: the second-largest healthy and the second-lowest ill one limit.
    negative = np.sort(p[:100])[-2]
    positive = np.sort(p[100:])[1]
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
    low = np.sort(values)[:cut]
    high = np.sort(values)[cut:]
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


@pytest.mark.parametrize("gap", [1.5, 40.0])
def test_a_zone_read_in_passes_is_that_of_memory(gap):
    y, s = draw(np.random.default_rng(9), 300, 200, gap)
    p = expit(s - gap / 2)
    p[p < np.quantile(p, 0.01)] = 0.0
    chunks = [(y[i::5], p[i::5]) for i in range(5)]
    for scale in SCALES:
        assert scan_zone(chunks, pos_label=1, scale=scale) == find_zone(y, p, scale=scale)


TWO = [0, 1], [0.0, 1.0]
FOUR = [0, 0, 1, 1], [0.1, 0.2, 0.3, 7.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: find_zone(*TWO, errors=[0.05]), "`errors` must be one positive number or a pair"),
        (lambda: find_zone(*TWO, errors=(0, 0.05)), "`errors` must be a positive"),
        (lambda: find_zone(*TWO, errors=(0.05, 1)), "`errors` must be between"),
        (lambda: find_zone(*TWO, precision=0.9), "given together and without `errors`"),
        (lambda: find_zone(*TWO, 0.1, precision=0.9, npv=0.9), "together and without `errors`"),
        (lambda: find_zone([0, 1], [1, 0]), "`y_score` must be higher"),
        (lambda: find_zone("aabb", [0, 1, 2, 3], errors=(0.1, 0.2)), "`y_true`"),
        (lambda: find_zone(list("aabb"), [0, 1, 2, 3], errors=(0.1, 0.2)), "`pos_label`"),
        (lambda: find_zone(*FOUR, scale="odds"), "`scale` must be one of"),
        (lambda: find_zone(*FOUR, scale="probability"), "lie in .0, 1. with scale='probability'"),
        (lambda: Zone.from_json("{"), "must be JSON"),
        *((lambda s=s: ZONE.predict(s), "`y_score` must") for s in ([0.1, None], ["a", "b"])),
        (lambda: ZONE.predict([0.1, math.nan], -1), "1 miss"),
    ],
)
def test_bad_requests_get_a_sentence(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


def test_a_notebook_shows_the_limits_and_what_they_are_worth():
    assert ZONE.predict([-1, 0.5, 2], -1).dtype.kind == "i"
    for text in ("0 up to 0", "1 above 1", "with 0.9 confidence"):
        assert text in ZONE._repr_html_()


@pytest.mark.parametrize("unsure", [-1, None])
def test_a_column_is_answered_by_one_of_its_kind(unsure):
    pandas, polars, arrow = (pytest.importorskip(n) for n in ("pandas", "polars", "pyarrow"))
    expected = [0, unsure, 1]
    series = pandas.Series([-1.0, 0.5, 2.0], index=["ann", "bob", "eve"], name="risk")
    assert ZONE.predict(series, unsure).to_dict() == dict(zip(series.index, expected, strict=True))
    assert ZONE.is_unsure(series).tolist() == [False, True, False]
    assert ZONE.is_unsure(series).name == "risk"
    column = polars.Series("risk", series)
    chunks = arrow.chunked_array([[-1.0, 0.5], [2.0]])
    assert ZONE.predict(column, unsure).to_list() == expected
    assert ZONE.predict(column, unsure).dtype == polars.Int64
    for each in (arrow.array([-1.0, 0.5, 2.0]), chunks):
        assert ZONE.predict(each, unsure).to_pylist() == expected
    for each in (column, chunks):
        with pytest.raises(InvalidInputError, match="`unsure` must be of the same kind"):
            ZONE.predict(each, "ask")
