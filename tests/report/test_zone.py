"""The unsure zone on the page, by counting rows, and by hand where it has no limit."""

import numpy as np
import pytest

from boundshift import find_zone
from boundshift.report import Report, collect_facts
from tests.report.problems import NAMES, rows


def draw(seed, n_samples=(400, 120)):
    return rows(*n_samples, seed=seed, gap=2.2)


def zone_of(scored, zone):
    return collect_facts(*scored, **NAMES, zone=zone)["zone"]


def test_both_sides_are_counted_row_by_row():
    y, s = draw(1)
    zone = find_zone(*draw(0), errors=(0.05, 0.1))
    told = zone_of((y, s), zone)
    alarms = sum(score > zone.high for score in s[y == 0])
    misses = sum(score <= zone.low for score in s[y == 1])
    left = [100 * np.mean((zone.low < s[y == i]) & (s[y == i] <= zone.high)) for i in (0, 1)]
    assert told["sides"] == [
        f"Of healthy patients, {alarms} of 400 are called sick here; a person must decide "
        f"{left[0]:.1f}%.",
        f"Of sick patients, {misses} of 120 are called healthy here; a person must decide "
        f"{left[1]:.1f}%.",
    ]
    assert told["unsure"] == pytest.approx(np.mean((zone.low < s) & (s <= zone.high)))
    assert "Of class 0 at most 0.05 lie above" in told["promise"]


def test_only_a_zone_that_is_given_is_on_the_page():
    facts = collect_facts(*draw(0), **NAMES, zone=find_zone(*draw(0), precision=0.6, npv=0.9))
    page = Report(facts).html
    assert "The unsure zone" in page
    assert all(side in page for side in facts["zone"]["sides"])
    assert "with 0.95 confidence for both limits together" in page
    assert "The unsure zone" not in Report(collect_facts(*draw(0))).html


@pytest.mark.parametrize(
    ("scored", "told"),
    [
        (draw(2, (400, 20)), "Patients with a score above"),
        (draw(3, (20, 20)), "There are too few rows to decide safely. A person must decide 100.0%"),
        ((draw(4)[0], draw(4)[1] + 20 * draw(4)[0]), "one threshold keeps both guarantees"),
    ],
)
def test_a_limit_that_is_missing_or_shared_is_said(scored, told):
    assert told in zone_of(scored, find_zone(*scored))["sentence"]
