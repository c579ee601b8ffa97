import json

import numpy as np
import pandas as pd
import pytest

from boundshift.exceptions import InvalidInputError
from lab.__main__ import main
from lab.records import read_records
from lab.suite.data import read_own
from lab.suite.rows import SuiteRow
from lab.suite.run import run_suite


def _write(path, rare=40, common=160, seed=0):
    """A table of patients: two numbers, one of them with gaps, a word, an id, and who is ill."""
    rng = np.random.default_rng(seed)
    n = rare + common
    ill = np.repeat(["yes", "no"], [rare, common])
    age = rng.normal(50, 9, n).round(1) + 9 * (ill == "yes")
    table = pd.DataFrame(
        {
            "id": np.arange(n),
            "age": np.where(np.arange(n) % 10 == 0, np.nan, age),
            "pressure": rng.normal(120, 10, n).round(1) + 12 * (ill == "yes"),
            "town": np.where(rng.random(n) < 0.5, "Bonn", "Rome"),
            "ill": ill,
        }
    ).sample(frac=1, random_state=0)
    table.to_csv(path, index=False)
    return table


def test_a_table_becomes_numbers_gaps_and_one_column_a_word(tmp_path):
    table = _write(tmp_path / "patients.csv")
    own = read_own(tmp_path / "patients.csv", "ill")
    assert own.entry.name == own.entry.family == "patients"
    assert (own.entry.n_samples, own.entry.n_minority, own.entry.imbalance) == (200, 40, 4.0)
    np.testing.assert_array_equal(own.rows.y, (table["ill"] == "yes").astype(int))
    towns = [(table["town"] == town).astype(float) for town in ("Bonn", "Rome")]
    np.testing.assert_array_equal(
        own.rows.X, np.column_stack([table["age"], table["pressure"], *towns])
    )
    assert [name for name, _ in own.left_out] == ["id"]


def test_the_rarer_class_is_the_positive_one_whatever_its_name(tmp_path):
    table = _write(tmp_path / "patients.csv", rare=160, common=40)
    own = read_own(tmp_path / "patients.csv", "ill")
    np.testing.assert_array_equal(own.rows.y, (table["ill"] == "no").astype(int))


def test_a_third_label_is_refused_with_its_count(tmp_path):
    table = _write(tmp_path / "patients.csv")
    table.loc[table["ill"] == "no", "ill"] = np.where(np.arange(160) % 2 == 0, "no", "unclear")
    table.to_csv(tmp_path / "patients.csv", index=False)
    with pytest.raises(InvalidInputError, match=r"'unclear' \(80 rows\), 'yes' \(40 rows\)"):
        read_own(tmp_path / "patients.csv", "ill", "yes")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"target": "sick"}, "`target` must be a column"),
        ({"target": "ill", "positive": "no"}, "`positive` must be the rarer class, got 'no'"),
        ({"target": "ill", "taken": ["patients"]}, "'patients' twice"),
    ],
)
def test_what_cannot_be_meant_is_refused(asked, message, tmp_path):
    _write(tmp_path / "patients.csv")
    with pytest.raises(InvalidInputError, match=message):
        read_own(tmp_path / "patients.csv", **asked)


def test_too_few_rare_rows_are_refused(tmp_path):
    _write(tmp_path / "patients.csv", rare=15)
    with pytest.raises(InvalidInputError, match="at least 20 rows of the rarer class, got 15"):
        read_own(tmp_path / "patients.csv", "ill")


def test_rare_rows_that_no_table_has_are_refused(tmp_path):
    _write(tmp_path / "patients.csv")
    with pytest.raises(InvalidInputError, match=r"`rare` must be rows .* got 20"):
        run_suite(csv=[tmp_path / "patients.csv"], target="ill", rare=[0, 20], out=tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_the_command_compares_on_tables_of_ones_own(tmp_path):
    for name in ("patients", "visitors"):
        _write(tmp_path / f"{name}.csv", seed=len(name))
    files = [tmp_path / f"{name}.csv" for name in ("patients", "visitors")]
    arguments = [
        "suite", "--csv", files[0], "--csv", files[1], "--target", "ill", "--splits", 2,
        "--models", "logistic", "--methods", "tuned/*", "--methods", "untouched", "--jobs", 1,
        "--out", tmp_path / "out",
    ]  # fmt: skip
    assert main(list(map(str, arguments))) == 0
    rows = read_records(tmp_path / "out" / "rows.csv.gz", SuiteRow)
    assert {(row.dataset, row.half, row.seed) for row in rows} == {
        (name, "own", seed) for name in ("patients", "visitors") for seed in (0, 1)
    }
    facts = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert f"--csv {files[0]} --csv {files[1]} --target ill" in facts["command"]
    assert [entry["half"] for entry in facts["datasets"]] == ["own", "own"]
    page = (tmp_path / "out" / "benchmark.md").read_text()
    assert "Measured on your own tables: 2 families, 2 data sets" in page


def test_other_rows_under_the_same_name_are_trained_anew(tmp_path):
    seen = []

    def run():
        seen.clear()
        return run_suite(
            csv=[tmp_path / "patients.csv"], target="ill", models=["logistic"],
            methods=["untouched"], out=tmp_path / "out",
            progress=lambda what, done, total: seen.append(what),
        )  # fmt: skip

    _write(tmp_path / "patients.csv")
    first = run().facts["rows"]
    assert "training" in seen
    assert run().facts["rows"] == first
    assert "training" not in seen
    _write(tmp_path / "patients.csv", seed=1)
    assert run().facts["rows"] != first
    assert "training" in seen
