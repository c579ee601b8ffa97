"""The page on scale says what the stored measurements say."""

import json

import pytest

from lab.speed import scale, scale_model, scale_page


def test_the_page_is_made_from_the_stored_measurements():
    facts = json.loads(scale.RESULTS.read_text(encoding="utf-8"))
    assert scale_page.PAGE.read_text(encoding="utf-8") == scale_page.page(facts, scale.COMMANDS)


@pytest.mark.parametrize("case", [("logistic", "g-mean"), ("kth-point", "sum")])
def test_files_are_measured_and_compared_with_memory(tmp_path, case):
    assert case in scale.CASES
    scale.write_parquet(str(tmp_path), 20_000)
    (expected,) = scale.in_memory(str(tmp_path), [case])
    found = scale.compare(scale.read_files(str(tmp_path), *case), expected)
    is_smooth = case[0] == "logistic"  # decided on cells, whose width is stated
    assert (found["resolution"] > 0) == is_smooth
    assert found["distance from memory"] <= found["resolution"] / expected["spread"]
    assert found["distance from memory"] <= (1e-6 if is_smooth else 0.0)
    assert found["same counts"] is True
    rows = scale_page.judged({"files": {"runs": [found]}})
    assert [row[3] for row in rows if "memory" in row[0]] == [True]


def test_the_cost_model_counts_every_pass(monkeypatch):
    monkeypatch.setattr(scale_model, "PARTITIONS", 10**6)
    model = scale.cost_model(scale.draw, scale.POSITIVE_SHARE)
    assert len(model["decision seconds"]) == len(model["passes"]) == 2
    assert max(p["points"] for p in model["passes"]) < 2**23
    assert "10¹⁰ rows" in scale_model.model_text(model)
