"""The unsure zone on the page, by counting rows, and by hand where it has no limit."""

import numpy as np
import pytest
from scipy.stats import beta

from boundshift import find_zone
from boundshift.report import Report, collect_facts

NAMES = {"positive": "sick", "negative": "healthy", "unit": "patients"}


def draw(seed, n_samples=(400, 120)):
    y = np.repeat([0, 1], n_samples)
    return y, np.random.default_rng(seed).normal(size=len(y)) + 2 * y


def zone_of(rows, zone, found_here=True):
    facts = collect_facts(*rows, names=NAMES, zone=zone, zone_found_here=found_here)
    return facts["zone"]


def test_both_sides_are_counted_row_by_row():
    y, s = draw(1)
    zone = find_zone(*draw(0), errors=(0.05, 0.1))
    told = zone_of((y, s), zone, found_here=False)
    negative, positive = told["sides"]
    assert negative["wrong"] == sum(score > zone.high for score in s[y == 0])
    assert positive["wrong"] == sum(score <= zone.low for score in s[y == 1])
    assert negative["unsure"] == np.mean([zone.low < score <= zone.high for score in s[y == 0]])
    bound = beta.ppf(0.95, negative["wrong"] + 1, 400 - negative["wrong"])
    assert negative["bound"] == pytest.approx(bound)
    assert told["unsure"] == pytest.approx(np.mean((zone.low < s) & (s <= zone.high)))


def test_where_the_limits_were_found_the_promise_is_the_bound():
    zone = find_zone(*draw(0), errors=(0.05, 0.1))
    facts = collect_facts(*draw(0), names=NAMES, zone=zone)
    sides = facts["zone"]["sides"]
    assert [side["bound"] for side in sides] == [None, None]
    assert "at most 5.0% with 95% confidence" in sides[0]["sentence"]
    assert "at most 10.0% with 95% confidence" in sides[1]["sentence"]
    page = Report(facts).html
    assert "The unsure zone" in page
    assert sides[0]["sentence"] in page
    assert "The unsure zone" not in Report(collect_facts(*draw(0))).html


def test_limits_that_cannot_be_promised_are_said_with_the_rows_that_are_needed():
    rows = draw(2, (400, 20))
    told = zone_of(rows, find_zone(*rows))
    assert told["low"] is None
    said = f"A person must decide {100 * told['unsure']:.1f}% of patients."
    assert told["sentence"].endswith(said)
    assert told["sides"][1]["sentence"].startswith(
        "There are too few sick patients to call anyone healthy safely (20; at least 59 are "
        "needed)."
    )
    rows = draw(3, (20, 20))
    told = zone_of(rows, find_zone(*rows))
    assert told["unsure"] == 1.0
    assert told["sentence"].endswith("A person must decide all patients.")


def test_an_empty_zone_is_one_threshold():
    y, s = draw(4)
    rows = (y, s + 20 * y)
    assert "one threshold keeps both promises" in zone_of(rows, find_zone(*rows))["sentence"]
