"""The unsure zone on the page, by counting rows, and by hand where it has no limit."""

import numpy as np
import pytest
from scipy.stats import beta

from boundshift import find_zone
from boundshift.report import add_zone, collect_facts, render_report

NAMES = {"positive": "sick", "negative": "healthy", "unit": "patients"}


def draw(seed, n_samples=(400, 120)):
    y = np.repeat([0, 1], n_samples)
    return y, np.random.default_rng(seed).normal(size=len(y)) + 2 * y


@pytest.fixture(scope="module")
def facts():
    return collect_facts(*draw(0), names=NAMES)


def test_both_sides_are_counted_row_by_row(facts):
    y, s = draw(1)
    zone = find_zone(*draw(0), errors=(0.05, 0.1))
    told = add_zone(facts, zone, y, s, found_here=False)["zone"]
    negative, positive = told["sides"]
    assert negative["wrong"] == sum(score > zone.high for score in s[y == 0])
    assert positive["wrong"] == sum(score <= zone.low for score in s[y == 1])
    assert negative["unsure"] == np.mean([zone.low < score <= zone.high for score in s[y == 0]])
    assert negative["bound"] == pytest.approx(
        beta.ppf(0.95, negative["wrong"] + 1, 400 - negative["wrong"])
    )
    # The rows have the prevalence of the facts.
    assert told["unsure"] == pytest.approx(np.mean((zone.low < s) & (s <= zone.high)))


def test_where_the_limits_were_found_the_promise_is_the_bound(facts):
    zone = find_zone(*draw(0), errors=(0.05, 0.1))
    told = add_zone(facts, zone, *draw(0), found_here=True)["zone"]
    assert [side["bound"] for side in told["sides"]] == [None, None]
    assert "at most 5.0% with 95% confidence" in told["sides"][0]["sentence"]
    assert "at most 10.0% with 95% confidence" in told["sides"][1]["sentence"]


def test_a_limit_that_cannot_be_promised_is_said_with_the_rows_it_takes(facts):
    y, s = draw(2, (400, 20))
    zone = find_zone(y, s)
    told = add_zone(facts, zone, y, s, found_here=True)["zone"]
    assert told["low"] is None
    assert "Too few rows are there to call any healthy" in told["sentence"]
    assert "takes at least 59 of them, and there are 20" in told["sides"][1]["sentence"]


def test_without_any_limit_a_person_decides_on_all(facts):
    y, s = draw(3, (20, 20))
    zone = find_zone(y, s)
    told = add_zone(facts, zone, y, s, found_here=True)["zone"]
    assert told["unsure"] == 1.0
    assert told["sentence"].endswith("a person should decide on all patients.")


def test_an_empty_zone_is_one_threshold(facts):
    y, s = draw(4)
    zone = find_zone(y, s + 20 * y)
    told = add_zone(facts, zone, y, s + 20 * y, found_here=True)["zone"]
    assert "One threshold keeps both promises" in told["sentence"]


def test_the_page_shows_it_and_pages_without_one_do_not(facts):
    zone = find_zone(*draw(0), errors=(0.05, 0.1))
    told = add_zone(facts, zone, *draw(0), found_here=True)
    page = render_report(told)
    assert "The unsure zone" in page
    assert told["zone"]["sides"][0]["sentence"] in page
    assert "The unsure zone" not in render_report(facts)
    older = {name: value for name, value in facts.items() if name != "zone"}
    assert "The unsure zone" not in render_report(older)
