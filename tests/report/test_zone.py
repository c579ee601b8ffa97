"""The unsure zone on the page, by counting rows, and by hand where it has no limit."""

import numpy as np
import pytest

from boundshift import find_zone
from boundshift.report import Report, collect_facts

NAMES = {"positive": "sick", "negative": "healthy", "unit": "patients"}


def draw(seed, n_samples=(400, 120)):
    y = np.repeat([0, 1], n_samples)
    return y, np.random.default_rng(seed).normal(size=len(y)) + 2 * y


def zone_of(rows, zone):
    return collect_facts(*rows, names=NAMES, zone=zone)["zone"]


def test_both_sides_are_counted_row_by_row():
    y, s = draw(1)
    zone = find_zone(*draw(0), errors=(0.05, 0.1))
    told = zone_of((y, s), zone)
    alarms = sum(score > zone.high for score in s[y == 0])
    misses = sum(score <= zone.low for score in s[y == 1])
    left = [np.mean((zone.low < s[y == i]) & (s[y == i] <= zone.high)) for i in (0, 1)]
    assert told["sides"] == [
        f"Of healthy patients, {alarms} of 400 are called sick here; in the long run at most 5.0% "
        f"with 95% confidence. A person must decide {100 * left[0]:.1f}% of healthy patients.",
        f"Of sick patients, {misses} of 120 are called healthy here; in the long run at most 10.0% "
        f"with 95% confidence. A person must decide {100 * left[1]:.1f}% of sick patients.",
    ]
    assert told["unsure"] == pytest.approx(np.mean((zone.low < s) & (s <= zone.high)))


def test_only_a_zone_that_is_given_is_on_the_page():
    facts = collect_facts(*draw(0), names=NAMES, zone=find_zone(*draw(0), errors=(0.05, 0.1)))
    page = Report(facts).html
    assert "The unsure zone" in page
    assert all(side in page for side in facts["zone"]["sides"])
    assert "The unsure zone" not in Report(collect_facts(*draw(0))).html


def test_limits_that_cannot_be_promised_are_said_with_the_rows_that_are_needed():
    rows = draw(2, (400, 20))
    told = zone_of(rows, find_zone(*rows))
    assert told["low"] is None
    said = f"A person must decide {100 * told['unsure']:.1f}% of patients."
    assert told["sentence"].endswith(said)
    assert told["sides"][1].startswith(
        "There are too few sick patients to call anyone healthy safely (20; at least 59 are "
        "needed)."
    )
    rows = draw(3, (20, 20))
    told = zone_of(rows, find_zone(*rows))
    assert told["unsure"] == 1.0
    assert told["sentence"].endswith("A person must decide all patients.")


def test_rows_of_one_class_promise_one_limit():
    y, s = draw(5)
    zone = find_zone(y[y == 1], s[y == 1], pos_label=1)
    negative, positive = zone_of((y, s), zone)["sides"]
    assert "There are too few healthy patients to call anyone sick safely (0; at " in negative
    missed = int(np.sum(s[y == 1] <= zone.low))
    assert f"Of sick patients, {missed} of 120 are called healthy here" in positive


def test_limits_of_clusters_are_averages_over_them():
    y, s = draw(6)
    zone = find_zone(y, s, errors=(0.05, 0.1), cluster=np.arange(len(y)) // 2)
    sides = zone_of((y, s), zone)["sides"]
    assert all("with 95% confidence, averaged over clusters." in side for side in sides)


def test_predictive_values_are_counted_among_the_rows_that_are_called_so():
    y, s = draw(7)
    zone = find_zone(*draw(8), precision=0.6, npv=0.9)
    negative, positive = zone_of((y, s), zone)["sides"]
    below, above = s <= zone.low, s > zone.high
    assert negative.startswith(
        f"Of {below.sum()} patients called healthy here, {np.sum(below & (y == 0))} are; in the "
        "long run at least 90.0% with 95% confidence for both limits together."
    )
    assert positive.startswith(
        f"Of {above.sum()} patients called sick here, {np.sum(above & (y == 1))} are; in the long "
        "run at least 60.0%"
    )


def test_an_empty_zone_is_one_threshold():
    y, s = draw(4)
    rows = (y, s + 20 * y)
    assert "one threshold keeps both promises" in zone_of(rows, find_zone(*rows))["sentence"]
