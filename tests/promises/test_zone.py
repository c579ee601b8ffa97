"""The unsure zone keeps both promises, and is no wider than they need."""

import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from boundshift import InvalidInputError
from boundshift.promises.zone import Zone, find_zone

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


def test_one_row_more_would_break_a_promise():
    rng = np.random.default_rng(2)
    y, s = draw(rng, 500, 200, 2.0)
    zone = find_zone(y, s)
    for wrong, n in ((np.sum(s[y == 0] > zone.high), 500), (np.sum(s[y == 1] <= zone.low), 200)):
        assert binom.cdf(wrong, n, 0.05) <= 0.05 < binom.cdf(wrong + 1, n, 0.05)


@pytest.mark.parametrize(("rows", "status"), [(58, "open"), (59, "zone")])
def test_fewer_rows_than_a_promise_needs_leave_the_limit_open(rows, status):
    rng = np.random.default_rng(3)
    zone = find_zone(*draw(rng, 500, rows, 1.0))
    assert zone.status == status
    assert math.isinf(zone.low) == (status == "open")
    assert ("at least 59" in zone.message) == (status == "open")


def test_classes_apart_leave_no_zone():
    rng = np.random.default_rng(4)
    y, s = draw(rng, 200, 200, 20.0)
    zone = find_zone(y, s)
    assert zone.status == "empty"
    assert zone.low == zone.high
    assert not zone.is_unsure(s).any()
    np.testing.assert_array_equal(zone.predict(s, unsure=-1), y)


def test_rows_between_get_the_label_for_unsure():
    zone = Zone(0.0, 1.0, (0.05, 0.05), (9, 9), ("no", "yes"), 0.95, (0.5, 0.5))
    assert zone.predict([-1, 0, 0.5, 1, 2], unsure="ask").tolist() == [
        "no",
        "no",
        "ask",
        "ask",
        "yes",
    ]
    assert zone.predict([0.5], unsure=None).tolist() == [None]
    assert zone.is_unsure([-1, 0.5, 2]).tolist() == [False, True, False]


@pytest.mark.parametrize("rows", [30, 200])
def test_a_stored_zone_comes_back(rows):
    zone = find_zone(*draw(np.random.default_rng(5), 300, rows, 2.0))
    assert Zone.from_json(zone.to_json()) == zone


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: find_zone([0, 1], [0, 1], errors=0.05), "`errors` must be a pair"),
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


def test_labels_stay_what_they_are_beside_the_word_for_unsure():
    zone = find_zone([0] * 200 + [1] * 200, np.r_[np.linspace(-3, 1, 200), np.linspace(-1, 3, 200)])
    found = zone.predict([-3.0, 0.0, 3.0], unsure="ask").tolist()
    assert found == [0, "ask", 1]


@pytest.mark.parametrize(
    "change",
    [
        {"low": 9.0, "high": 1.0},
        {"low": "NaN"},
        {"labels": [1, 1]},
        {"errors": [2.0, 0.1]},
        {"n_samples": [-1, 5]},
        {"confidence": 3.0},
    ],
    ids=str,
)
def test_a_zone_that_cannot_be_is_not_read(change):
    stored = find_zone([0] * 99 + [1] * 99, np.arange(198.0)).to_dict()
    with pytest.raises(InvalidInputError, match="A stored zone must have"):
        Zone.from_dict(stored | change)
