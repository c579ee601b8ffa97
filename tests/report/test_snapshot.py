"""All facts of eight reports, stored: `python -m tests.report.test_snapshot` writes them anew.

What other rooms own (the record of the boundary, the version) and the inside of long lists are left
out; floats may differ by one in a million.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from boundshift import Cost, Floors, find_boundary, find_zone
from boundshift.report import ColumnUse, RowDetails, collect_facts
from tests.report.problems import NAMES, amounts, rows

STORED = Path(__file__).with_name("facts.json")
LONG = 8
OWN = ("message", "claim", "table", "threshold")


def report_on(rule=None, details=None, **known):
    y, s = rows()
    chosen = {name: known.pop(name) for name in ("sample_weight", "row_cost", "curve")
              if name in known}  # fmt: skip
    found = find_boundary(y, s, rule=rule, **chosen)
    test = known.pop("test", rows(800, 90, seed=1))
    return collect_facts(y, s, boundary=found, test=test, names=NAMES, details=details, **known)


def with_groups():
    y, s = rows(800, 90, seed=1)
    draw = np.random.default_rng(5)
    details = RowDetails(
        probability=1 / (1 + np.exp(-s)),
        groups={"town": draw.choice(["Bonn", "Rome", None], len(y))},
        decisions={"coin": draw.random(len(y)) < 0.5},
    )
    methods = [
        {"method": "boundshift", "g_mean": 0.9, "threshold": find_boundary(*rows()).threshold},
        {"method": "untouched", "metrics": {"g_mean": 0.8, "note": "-"}, "threshold": 0.0},
        {"method": "coin", "g_mean": 0.5, "threshold": np.nan},
    ]
    columns = [
        ColumnUse("town", "category", "3", "few values"),
        ColumnUse("id", "left out", "", "it names rows", used=False),
    ]
    return report_on(details=details, comparison=methods, columns=columns)


def with_zone():
    zone = find_zone(*rows(400, 120, seed=3), errors=(0.05, 0.1))
    return report_on(zone=zone, zone_found_here=False)


CASES = {
    "default": lambda: report_on(
        training=rows(600, 50, seed=2, gap=4.0),
        model="Logistic regression",
        interval=(-1.2, -0.4),
    ),
    "floors": lambda: report_on(Floors(recall=0.8, specificity=0.5, then="f1")),
    "capacity": lambda: report_on(Floors(flagged=0.1), test=None),
    "cost": lambda: report_on(Cost(false_negative=20), test=None, scores="out-of-fold"),
    "groups": with_groups,
    "zone": with_zone,
    "row costs": lambda: report_on(
        None, RowDetails(row_cost=amounts(890, 7), column="amount"), row_cost=amounts(650, 3)
    ),
    "paper": lambda: report_on(None, curve="support", test=None, scores="training"),
}


def summary(value):
    """Return a value with short lists and short numbers."""
    if isinstance(value, dict):
        return {key: summary(item) for key, item in value.items()}
    if isinstance(value, list) and len(value) > LONG:
        picked = [summary(value[i]) for i in (0, len(value) // 3, len(value) // 2, -1)]
        return {"length": len(value), "some": picked}
    if isinstance(value, list):
        return [summary(item) for item in value]
    if isinstance(value, str):  # a threshold in a line of code
        return re.sub(r"\d+\.\d{7,}", lambda found: f"{float(found[0]):.6g}", value)
    return float(f"{value:.9g}") if isinstance(value, float) else value


def facts_of(name):
    facts = CASES[name]()
    del facts["version"]
    facts["boundary"] = {key: facts["boundary"][key] for key in OWN}
    return summary(facts)


def compare(found, stored, place):
    if isinstance(stored, dict):
        assert set(found) == set(stored), place
        for key in stored:
            compare(found[key], stored[key], f"{place}.{key}")
    elif isinstance(stored, list):
        assert len(found) == len(stored), place
        for i, (mine, theirs) in enumerate(zip(found, stored, strict=True)):
            compare(mine, theirs, f"{place}[{i}]")
    elif isinstance(stored, float):
        assert found == pytest.approx(stored, rel=1e-6, abs=1e-7), place
    else:
        assert found == stored, place


@pytest.mark.parametrize("name", CASES)
def test_facts_are_as_they_were(name):
    compare(facts_of(name), json.loads(STORED.read_text(encoding="utf-8"))[name], name)


if __name__ == "__main__":
    cases = []
    for name in CASES:
        lines = [
            f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
            for key, value in facts_of(name).items()
        ]
        cases.append(f"{json.dumps(name)}: {{\n" + ",\n".join(lines) + "}")
    STORED.write_text("{" + ",\n".join(cases) + "}\n", encoding="utf-8")
