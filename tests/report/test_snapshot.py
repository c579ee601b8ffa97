"""Every sentence of seven reports, stored: `python -m tests.report.test_snapshot` writes them anew.

Figures are checked elsewhere, against a second computation.
"""

import json
from pathlib import Path

import pytest

from boundshift import Cost, Floors, find_boundary, find_zone
from boundshift.report import RowDetails, collect_facts
from tests.report.problems import NAMES, amounts, rows

STORED = Path(__file__).with_name("sentences.json")


def report_on(rule=None, details=None, **known):
    y, s = rows()
    chosen = {name: known.pop(name) for name in ("sample_weight", "row_cost", "curve")
              if name in known}  # fmt: skip
    found = find_boundary(y, s, rule=rule, **chosen)
    test = known.pop("test", rows(800, 90, seed=1))
    known = {"old_threshold": 0.0} | known
    return collect_facts(y, s, boundary=found, test=test, **NAMES, details=details, **known)


def with_zone():
    zone = find_zone(*rows(400, 120, seed=3), errors=(0.05, 0.1))
    return report_on(zone=zone)


CASES = {
    "default": lambda: report_on(
        model="Logistic regression",
        interval=(-1.2, -0.4),
    ),
    "floors": lambda: report_on(Floors(recall=0.8, specificity=0.5, then="f1")),
    "capacity": lambda: report_on(Floors(flagged=0.1), test=None),
    "cost": lambda: report_on(Cost(false_negative=20), test=None, scores="out-of-fold"),
    "zone": with_zone,
    "row costs": lambda: report_on(
        None, RowDetails(row_cost=amounts(890, 7)), row_cost=amounts(650, 3)
    ),
    "paper": lambda: report_on(None, curve="support", test=None, scores="training"),
}


def sentences(name):
    facts = CASES[name]()
    goal = facts["goal"]
    zone = facts["zone"]
    diagnosis = facts["diagnosis"]
    return [
        *([goal["word"], goal["sentence"]] if goal else []),
        facts["verdict"]["sentence"],
        facts["verdict"]["note"],
        diagnosis["next"],
        *([zone["sentence"], *zone["sides"]] if zone else []),
        *(f"{f['title']} ({f['level']}). {f['text']}" for f in diagnosis["findings"]),
        *(f["advice"] for f in diagnosis["findings"] if f["advice"]),
        facts["comparison"]["lead"],
    ]


@pytest.mark.parametrize("name", CASES)
def test_a_report_says_what_it_said(name):
    assert sentences(name) == json.loads(STORED.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    said = {name: sentences(name) for name in CASES}
    STORED.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
