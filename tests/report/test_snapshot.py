"""Every sentence of eleven reports, stored: the one place that pins their wording.

``python -m tests.report.test_snapshot`` writes them anew. Figures are checked elsewhere, against a
second computation.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from boundshift import ClassFloors, Cost, Floors, find_boundary, find_zone
from boundshift.report import RowDetails, collect_facts
from tests.report.problems import NAMES, amounts, rows
from tests.report.test_classes import ill
from tests.stories.truth import statements

STORED = Path(__file__).with_name("sentences.json")


def report_on(rule=None, details=None, **known):
    y, s = rows()
    chosen = {name: known.pop(name) for name in ("sample_weight", "row_cost", "curve")
              if name in known}  # fmt: skip
    found = find_boundary(y, s, rule=rule, **chosen)
    test = known.pop("test", rows(800, 90, seed=1))
    known = {"old_threshold": 0.0} | known
    return collect_facts(y, s, boundary=found, test=test, **NAMES, details=details, **known)


def class_report(rule):
    model, X, y = ill(rule)
    return model.report(X, y, case_name="patients").facts


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
    "reversed": lambda: collect_facts(
        *rows(gap=-1.5), test=rows(400, 90, seed=1, gap=-1.5), pos_label=1
    ),
    "clusters": lambda: collect_facts(
        *rows(), test=rows(800, 90, seed=1), details=RowDetails(cluster=np.arange(890) // 2)
    ),
    "classes": lambda: class_report(None),
    "class floors": lambda: class_report(ClassFloors(recall={"tb": 0.5})),
    "paper": lambda: report_on(None, curve="support", test=None, scores="training"),
}


def sentences(name):
    facts = CASES[name]()
    zone = facts.get("zone")
    told = [text for _, text in statements(facts)]
    return [*told, *([zone["sentence"], *zone["sides"]] if zone else [])]


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_report_says_what_it_said(name):
    assert sentences(name) == json.loads(STORED.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    said = {name: sentences(name) for name in CASES}
    STORED.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
