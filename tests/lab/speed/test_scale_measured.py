"""The page on scale says what the stored measurements say."""

import json

import pytest

from lab.experiment import RESULTS
from lab.markdown import fill
from lab.speed import scale


def test_the_page_is_made_from_the_stored_measurements():
    facts = json.loads((RESULTS / "scale.json").read_text(encoding="utf-8"))
    page = scale.PAGE.read_text(encoding="utf-8")
    assert fill(page, {"measured": scale.measured(facts)}) == page


def test_rows_of_this_code_are_not_called_older():
    facts = {"dask": {"code": "another"}, "duckdb": {"code": scale.digest_code()}}
    said = scale.measured(facts).splitlines()[0]
    assert "earlier code of the engines: `dask`." in said
    assert "Not measured yet: `files`, `command`, `spark`, `scaling`." in said


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
    rows = scale.judged({"files": {"runs": [found]}})
    assert [row[3] for row in rows if "memory" in row[0]] == [True]
