"""Every sentence of twelve reports, stored: the one place that pins their wording.

``python -m tests.report.test_snapshot`` writes them anew. Figures are checked elsewhere, against a
second computation.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from boundshift import ClassFloors, Cost, Floors, find_zone
from boundshift.report import RowDetails, collect_facts
from tests.report.problems import TEST, amounts, facts, report_on, rows, with_costs
from tests.report.test_classes import ill
from tests.stories.truth import statements

STORED = Path(__file__).with_name("sentences.json")


def class_report(rule):
    model, X, y = ill(rule)
    return model.report(X, y, case_name="patients").facts


CASES = {
    "default": facts,
    "floors": lambda: report_on(Floors(recall=0.8, specificity=0.5, then="f1")),
    "capacity": lambda: report_on(Floors(flagged=0.1), test=None),
    "cost": lambda: report_on(Cost(false_negative=20), test=None, scores="out-of-fold"),
    "zone": lambda: report_on(zone=find_zone(*rows(400, 120, seed=3), errors=(0.05, 0.1))),
    "row costs": lambda: report_on(details=with_costs(7), choice={"row_cost": amounts(650, 3)}),
    "reversed": lambda: collect_facts(
        *rows(gap=-1.5), test=rows(400, 90, seed=1, gap=-1.5), pos_label=1
    ),
    "clusters": lambda: collect_facts(
        *rows(), test=TEST, old_threshold=0.0, details=RowDetails(cluster=np.arange(890) // 2)
    ),
    "uncertain shift": lambda: report_on(test=rows(60, 30, seed=1), interval=(-1.2, 0.4)),
    "classes": lambda: class_report(None),
    "class floors": lambda: class_report(ClassFloors(recall={"tb": 0.5})),
    "paper": lambda: report_on(choice={"curve": "support"}, test=None, scores="training"),
}


def sentences(name):
    known = CASES[name]()
    zone = known.get("zone")
    told = [text for _, text in statements(known)]
    return [*told, *([zone["sentence"], *zone["sides"]] if zone else [])]


@pytest.mark.filterwarnings("ignore::boundshift.BoundaryWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_report_says_what_it_said(name):
    assert sentences(name) == json.loads(STORED.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    said = {name: sentences(name) for name in CASES}
    STORED.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
