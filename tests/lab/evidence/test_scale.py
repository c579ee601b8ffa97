"""The page on scale says what the stored measurements say."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def scale():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        spec = importlib.util.spec_from_file_location("scale", ROOT / "benchmarks" / "scale.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


def test_the_page_is_made_from_the_stored_measurements(scale):
    facts = json.loads(scale.RESULTS.read_text(encoding="utf-8"))
    assert scale.PAGE.read_text(encoding="utf-8") == scale.page(facts)


def test_files_are_measured_and_compared_with_memory(scale, tmp_path):
    scale.write_parquet(str(tmp_path), 20_000)
    (expected,) = scale.in_memory(str(tmp_path), scale.CASES[:1])
    found = scale.compare(scale.read_files(str(tmp_path), *scale.CASES[0]), expected)
    assert found["distance from memory"] <= 1e-9
    assert found["same counts"] is True
    rows = scale.judged({"files": {"runs": [found]}})
    assert [row[3] for row in rows if "memory" in row[0]] == [True]


def test_the_cost_model_counts_every_pass(scale, monkeypatch):
    module = sys.modules[scale.cost_model.__module__]
    monkeypatch.setattr(module, "PARTITIONS", 10**6)
    model = scale.cost_model(scale.draw, scale.POSITIVE_SHARE)
    assert len(model["decision seconds"]) == len(model["passes"]) == 3
    assert max(p["points"] for p in model["passes"]) < 2**23
    assert "10¹⁰ rows" in scale.model_text(model)
