"""Scores in files: boundary, groups and zone, in memory and in passes."""

import json
import os
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import boundshift
from boundshift import (
    Boundary,
    ClopperPearson,
    Cost,
    FBeta,
    Floors,
    InvalidInputError,
    Metric,
    Zone,
    certify,
    find_boundary,
    find_zone,
)
from boundshift import _tables as batches
from boundshift._app import options
from boundshift._app.scores import ScoreTable
from boundshift._boundary import choose_claims
from boundshift.curves import as_curve
from boundshift.rules import as_rule

COLUMNS = ["--score", "risk", "--label", "ill"]
CURVES = options.CURVES.split(", ")
RULES = options.RULES.split(", ")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def threshold(run):
    """Run the command on columns risk and ill, and return its JSON, or the refusal."""

    def asked(*words, code=(0, 3), **how):
        result = run("threshold", *words, *COLUMNS, "--json", code=code, **how)
        return result.stderr if code == 1 else json.loads(result.stdout)

    return asked


def is_record_of(found, boundary):
    """Return whether the JSON of a threshold has the record of a boundary."""
    return boundary.to_dict().items() <= found.items()


@pytest.fixture
def in_passes(monkeypatch):
    return lambda: monkeypatch.setattr("boundshift._app.scores._LARGE", 100)


@pytest.fixture
def beside(tmp_path, rows):
    """Return a file with costs beside labels and scores, and these columns."""
    amounts = np.random.default_rng(0).exponential(100, len(rows[0])).round(2)
    columns = {"risk": rows[1], "ill": rows[0], "amount": amounts}
    csv.write_csv(pa.table(columns), tmp_path / "beside.csv")
    return tmp_path / "beside.csv", columns


def test_the_certificate_is_that_of_the_library(threshold, scores, rows):
    found = threshold(scores, "--confidence", "0.9")
    expected = certify(*rows, found["threshold"], 0.9, pos_label="yes", chosen_here=True)
    assert found["certificate"]["error_bounds"] == pytest.approx(list(expected.error_bounds))


def test_training_scores_certify_nothing(run, scores):
    shown = run("threshold", scores, *COLUMNS, "--scores", "training").stdout
    assert "nominal" in shown
    assert "certified" not in shown
    shown = run("report", scores, *COLUMNS, "--scores", "training").stdout
    assert "Nothing here is certified" in shown


# What is typed → what is passed in Python, with the rows that the file holds.
OPTIONS = {
    "--costs 1:9": {"rule": Cost(false_negative=9)},
    "--costs 1,9 --curve empirical": {"rule": Cost(false_negative=9), "curve": "empirical"},
    "--recall-floor 0.5 --precision-floor 0.2 --capacity 0.9": {
        "rule": Floors(recall=0.5, precision=0.2, flagged=0.9)
    },
    "--specificity-floor 0.4 --npv-floor 0.4 --then recall": {
        "rule": Floors(specificity=0.4, npv=0.4, then="recall")
    },
    "--precision-floor 0.1 --prevalence 0.3 --then f1": {
        "rule": Floors(precision=0.1, prevalence=0.3, then="f1")
    },
    "--confidence 0.9": {},
}


@pytest.mark.parametrize("typed", OPTIONS)
def test_the_same_call_in_python_gives_the_same_boundary(threshold, scores, rows, typed):
    expected = find_boundary(*rows, pos_label="yes", **OPTIONS[typed])
    assert is_record_of(threshold(scores, *typed.split()), expected)


def test_the_page_s_table_of_calls_is_true(threshold, scores, rows):
    page = (ROOT / "docs" / "reference" / "command_line.md").read_text(encoding="utf-8")
    calls = re.findall(r"(?m)^\| (nothing|`--.*?`) \| `(find_boundary.*?)` \|$", page)
    assert len(calls) >= 6
    known = {"y": rows[0], "s": rows[1], "find_boundary": find_boundary}
    known |= {each.__name__: each for each in (Cost, Floors, ClopperPearson, FBeta, Metric)}
    for typed, written in calls:
        words = [] if typed == "nothing" else typed.strip("`").split()
        assert is_record_of(threshold(scores, *words), eval(written, known))


@pytest.mark.parametrize(
    ("option", "names", "choose"), [("curve", CURVES, as_curve), ("rule", RULES, as_rule)]
)
def test_the_help_names_all_that_the_library_knows(option, names, choose):
    with pytest.raises(InvalidInputError) as error:
        choose("nonsense")
    known = re.search(r"one of (.*), got", str(error.value))[1]
    known = {name.strip("'") for name in known.split(", ")}
    assert set(names) <= known
    # Names of scikit-learn's metrics are other names of what the help names.
    told = [choose(name) for name in names]
    assert all(choose(name) in told for name in known)
    for name in names:
        claims = choose_claims(**{"curve": None, "rule": None} | {option: name})
        assert options.Goal(**{option: name}).claims() == claims


def test_the_other_class_can_be_the_positive_one(run, scores):
    result = run("threshold", scores, *COLUMNS, "--positive", "no", "--json")
    assert json.loads(result.stdout)["labels"] == ["yes", "no"]
    assert "name the other label as the positive one" in result.stderr


def test_a_rule_for_one_class_asks_which_of_two_as_frequent_ones(threshold, tmp_path):
    (tmp_path / "s.csv").write_text("risk,ill\n" + "1,well\n2,well\n5,sick\n6,sick\n" * 9)
    refused = threshold("s.csv", "--costs", "1,20", code=1)
    assert "--positive must name the positive class" in refused
    assert "Use 'well', for example" in refused
    assert threshold("s.csv")["labels"] == ["sick", "well"]


@pytest.mark.parametrize("name", ["scores.csv", "scor*.csv"])
def test_a_rule_for_one_class_warns_of_scores_that_point_to_the_other(run, scores, name):
    result = run("threshold", name, *COLUMNS, "--recall-floor", "0.9", "--positive", "no")
    assert "The positive class has the lower scores" in result.stdout
    assert "name the other label as the positive one" in result.stdout
    assert result.exit_code == 3


def test_the_remedies_of_one_threshold_do_not_contradict_each_other(run, tmp_path):
    (tmp_path / "s.csv").write_text("risk,ill\n" + "3,well\n4,well\n1,sick\n3.5,sick\n" * 25)
    asked = ("threshold", "s.csv", *COLUMNS, "--rule", "f1")
    shown = run(*asked, "--positive", "sick", code=3).stdout
    assert "Negate the scores" in shown
    assert "rows of class 'well' are on the wrong side" in shown
    assert "a model that separates the classes" not in shown
    assert "`score > threshold` is wrong for most rows" not in shown


def test_every_format_gives_the_same_boundary_also_down_a_pipe(threshold, tmp_path, rows):
    labels, scores = rows
    table = pa.table({"note": ["ä;,\t"] * len(labels), "risk": scores, "ill": labels})
    csv.write_csv(table, tmp_path / "s.csv")
    csv.write_csv(table, tmp_path / "s.tsv", csv.WriteOptions(delimiter="\t"))
    csv.write_csv(table, tmp_path / "semicolon.csv", csv.WriteOptions(delimiter=";"))
    csv.write_csv(table, pa.output_stream(tmp_path / "s.csv.gz"))
    text = (tmp_path / "s.csv").read_bytes()
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + text)
    (tmp_path / "windows.csv").write_bytes(text.replace(b"\n", b"\r\n"))
    parquet.write_table(table, tmp_path / "s.parquet", row_group_size=100)
    expected = find_boundary(*rows, pos_label="yes")
    for path in sorted(tmp_path.iterdir()):
        assert is_record_of(threshold(path.name), expected), path
        if path.suffix in (".csv", ".tsv"):  # A pipe carries plain text.
            assert is_record_of(threshold("-", input=path.read_bytes()), expected), path


@pytest.mark.parametrize("decimal", [".", ","])
def test_scores_in_percent_are_shares(run, threshold, tmp_path, monkeypatch, rows, decimal):
    monkeypatch.setattr(batches, "_BLOCK", 1 << 9)
    shares = np.round(1 / (1 + np.exp(-rows[1])), 3)
    cells = [f"{100 * share:.1f} %".replace(".", decimal) for share in shares]
    lines = [f"{cell};{label}" for cell, label in zip(cells, rows[0], strict=True)]
    (tmp_path / "s.csv").write_text("\n".join(["risk;ill", *lines]))
    found = threshold("s.csv")
    assert is_record_of(found, find_boundary(rows[0], shares, pos_label="yes"))
    (tmp_path / "t.json").write_text(json.dumps(found))
    again = json.loads(run("certify", "t.json", "s.csv", *COLUMNS, "--json").stdout)
    assert again["wrong"] == found["wrong"]


@pytest.mark.tool("Excel files on the command line", "threshold('s.xlsx')")
def test_an_excel_file_gives_the_boundary_to_the_16_digits_that_it_holds(threshold, tmp_path, rows):
    table = pa.table({"risk": rows[1], "ill": rows[0]}).to_pandas()
    table.to_excel(tmp_path / "s.xlsx", index=False)
    exact = find_boundary(*rows, pos_label="yes").threshold
    assert threshold("s.xlsx")["threshold"] == pytest.approx(exact, rel=1e-12)


PAIRS = [(("good", "fraud"), None, "fraud"), ((True, False), None, True), ((2, 1), None, 1)]
PAIRS += [((1.5, 0.5), "1.5", 1.5), (("No", "Yes"), "yes", "Yes")]
PAIRS += [((date(2020, 1, 1), date(2020, 1, 2)), None, "2020-01-02")]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(("names", "positive", "expected"), PAIRS, ids=str)
def test_passes_take_the_same_class_as_positive(
    threshold, in_passes, tmp_path, rows, kind, names, positive, expected, monkeypatch
):
    y, s = rows
    table = pa.table({"risk": s, "ill": [names[label == "yes"] for label in y]})
    write = csv.write_csv if kind == "csv" else parquet.write_table
    write(table, tmp_path / f"s.{kind}")
    asked = [f"s.{kind}", *(["--positive", positive] if positive else [])]
    held = threshold(*asked)
    in_passes()
    monkeypatch.setattr("boundshift._app.scores.ScoreTable.rows", None)
    found = threshold(*asked)
    assert found["labels"] == held["labels"]
    assert found["labels"][1] == expected
    assert found["n_samples"] == held["n_samples"]
    # Passes sum in another order, so that the last digits may differ.
    assert found["threshold"] == pytest.approx(held["threshold"], rel=1e-9)
    assert found["certificate"]["wrong"] == held["certificate"]["wrong"]


def test_a_large_file_is_certified_by_exact_counts(threshold, in_passes, tmp_path):
    rng = np.random.default_rng(4)
    is_ill = rng.random(60_000) < 0.1
    risk = rng.standard_cauchy(len(is_ill)) + 2 * is_ill
    parquet.write_table(pa.table({"risk": risk, "ill": is_ill}), tmp_path / "s.parquet")
    in_passes()
    found = threshold("s.parquet")
    flagged = risk > found["threshold"]
    counted = [int(np.sum(flagged & ~is_ill)), int(np.sum(~flagged & is_ill))]
    assert found["certificate"]["wrong"] == found["wrong"] == counted


@pytest.mark.parametrize("asked", ["--confidence 0.9", "--cost-column amount", "--zone 0.1,0.2"])
def test_several_files_are_one_table(threshold, tmp_path, beside, asked):
    table = csv.read_csv(beside[0])
    asked = [*asked.split(), "--positive", "yes"]
    for part, half in enumerate((table[:100], table[100:])):
        csv.write_csv(half, tmp_path / f"part-{part}.csv")
    expected = threshold(beside[0], *asked)
    assert threshold("part-*.csv", *asked) == expected
    assert threshold("part-0.csv", "part-1.csv", *asked) == expected


def test_rows_without_a_label_are_left_out(run, in_passes, scores, score_lines):
    alone = run("threshold", scores, *COLUMNS, "--positive", "yes")
    scores.with_name("b.csv").write_text("\n".join([score_lines[0], "0.5,NA", "9,"]) + "\n")
    both = "threshold", scores, "b.csv", *COLUMNS, "--positive", "yes"
    result = run(*both)
    assert "2 rows without a value of 'ill' are left out" in result.stderr
    assert result.stdout == alone.stdout
    in_passes()
    result = run(*both, "--json")
    assert "2 rows without a value of 'ill' are left out" in result.stderr
    assert json.loads(result.stdout)["n_samples"] == [400, 40]


def test_many_rows_down_a_real_pipe(tmp_path):
    """Ids that do not repeat are no clusters, and nothing is said of them."""
    rng = np.random.default_rng(0)
    ill = rng.random(50_000) < 0.01
    scores = rng.normal(size=len(ill)) + 2.5 * ill
    table = pa.table(
        {"patient_id": np.arange(len(ill)), "risk": scores, "ill": ill.astype(np.int8)}
    )
    csv.write_csv(table, tmp_path / "scores.csv")
    asked = f"{sys.executable} -m boundshift threshold - {' '.join(COLUMNS)} --json"
    how = {"shell": True, "capture_output": True, "encoding": "utf-8", "cwd": tmp_path}
    source = os.environ | {"PYTHONPATH": str(Path(boundshift.__file__).parents[1])}
    done = subprocess.run(f"cat scores.csv | {asked}", **how, env=source, timeout=120, check=True)
    assert Boundary.from_json(done.stdout) == find_boundary(ill.astype(int), scores)
    assert done.stderr == ""


def test_costs_by_row_decide_as_in_the_library(threshold, beside, rows):
    path, columns = beside
    found = threshold(path, "--cost-column", "amount")
    expected = find_boundary(*rows, pos_label="yes", row_cost=columns["amount"])
    assert found["threshold"] == pytest.approx(expected.threshold)
    found = threshold(path, "--cost-column", "amount", "--own", "1.5")
    is_ill = rows[0] == "yes"
    for rates in found["rates"]:
        is_wrong = (rows[1] > rates["threshold"]) != is_ill
        cost = columns["amount"][is_wrong].sum() / len(is_ill)
        assert rates["cost_per_1000"] == pytest.approx(1000 * cost)


def test_a_goal_is_said_in_the_usual_words(run, scores):
    shown = run("threshold", scores, *COLUMNS, "--npv-floor", "0.9", "--positive", "yes").stdout
    assert "Goal: an NPV of at least 90%." in shown


def test_the_zone_is_that_of_the_library(run, threshold, tmp_path, rows):
    y = rows[0]
    p = 1 / (1 + np.exp(-rows[1]))
    csv.write_csv(pa.table({"risk": p, "ill": y}), tmp_path / "p.csv")
    zone = Zone.from_dict(threshold("p.csv", "--positive", "yes", "--zone", "0.1,0.2"))
    assert zone == find_zone(y, p, errors=(0.1, 0.2), pos_label="yes")
    shown = run("threshold", "p.csv", *COLUMNS, "--positive", "yes", "--zone", "0.1,0.2").stdout
    assert f"{zone.low:.6g}; between the two, ask a person" in " ".join(shown.split())


def test_labels_keep_their_codes_from_block_to_block(tmp_path, monkeypatch):
    """The first block has one class only, and the next meets the other one first."""
    monkeypatch.setattr(batches, "_BLOCK", 1 << 12)
    y = np.r_[np.zeros(3000, int), 1, np.zeros(500, int), np.ones(500, int)]
    s = np.arange(len(y)) / 7
    lines = [f"{a},{'no' if b == 0 else 'yes'}" for a, b in zip(s, y, strict=True)]
    (tmp_path / "t.csv").write_text("score,ill\n" + "\n".join(lines))
    rows = ScoreTable([tmp_path / "t.csv"], "score", "ill").rows
    assert rows.is_positive.tolist() == y.astype(bool).tolist()
    assert rows.scores.tolist() == s.tolist()


@pytest.mark.parametrize("kind", [pa.float32(), pa.int16(), pa.decimal128(22, 3)])
def test_scores_of_any_number_type(tmp_path, kind):
    table = pa.table({"s": pa.array([1, 2, 3, 4]).cast(kind), "y": [0.0, 0.0, 1.0, 1.0]})
    parquet.write_table(table, tmp_path / "t.parquet")
    assert ScoreTable([tmp_path / "t.parquet"], "s", "y").rows.scores.tolist() == [1, 2, 3, 4]


REFUSED = {
    "scores that are objects": ([{"a": 1}, {"a": 2}, {"a": 3}], [0, 1, 1], "must hold numbers"),
    "labels that are lists": ([1.0, 2.0, 3.0], [["a"], ["b"], ["a"]], "list"),
    "numbers as labels": (np.arange(1500.0), np.arange(1500) / 3, "holds 1,500"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_are_no_scores_or_labels_is_refused(tmp_path, case):
    scores, labels, words = REFUSED[case]
    parquet.write_table(pa.table({"score": scores, "ill": labels}), tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match=words):
        _ = ScoreTable([tmp_path / "t.parquet"], "score", "ill", positive="1.0").rows


@pytest.fixture
def visits(tmp_path, rows):
    """Return a file in which each patient has four rows."""
    path = tmp_path / "visits.csv"
    (y, s) = rows
    ids = np.random.default_rng(0).permutation(np.arange(len(y)) // 4)
    csv.write_csv(pa.table({"patient_id": ids, "risk": s, "ill": y}), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet", "-", "two files", "passes"])
def test_ids_that_repeat_certify_nothing(run, visits, kind, in_passes):
    table = csv.read_csv(visits)
    paths = [visits]
    how = {}
    if kind == "parquet":
        paths = [visits.with_suffix(".parquet")]
        parquet.write_table(table, paths[0])
    elif kind == "-":
        paths = ["-"]
        how = {"input": visits.read_text()}
    elif kind == "two files":
        paths.append(visits.with_name("more.csv"))
        csv.write_csv(table[:220], visits)
        csv.write_csv(table[220:], paths[1])
    elif kind == "passes":
        in_passes()
    asked = ("threshold", *paths, *COLUMNS, "--recall-floor", "0,8", "--json")
    found = run(*asked, **how)
    independent = run(*asked, "--cluster", "none", **how)
    assert "'patient_id' repeats (440 rows of 110)" in found.stderr
    assert "repeats" not in independent.stderr
    for result, status in ((found, "nominal"), (independent, "certified")):
        assert json.loads(result.stdout)["certificate"]["status"] == status


def test_a_zone_or_report_on_repeating_ids_promises_nothing(run, visits):
    zone = "threshold", visits, *COLUMNS, "--zone", "0.2,0.2"
    assert "Nominal: Rows of one 'patient_id' may be alike" in run(*zone).stdout
    assert "Nominal" not in run(*zone, "--cluster", "none").stdout
    assert "Nominal" not in run(*zone, "--cluster", "patient_id").stdout
    told = run("report", visits, *COLUMNS, "--test-share", "0.5").stdout
    assert "Nothing here is certified. Rows of one 'patient_id'" in told
    told = run("report", visits, *COLUMNS, "--cluster", "none", "--force").stdout
    assert "Nothing here" not in told


def test_a_report_on_test_rows_of_other_patients(run, visits):
    table = csv.read_csv(visits)
    test = visits.with_name("test.csv")
    of_test = np.array(table["patient_id"]) < 55
    asked = "report", visits, *COLUMNS, "--cluster", "patient_id"
    assert "--cluster must go with --test" in run(*asked, code=1).stderr
    half = run(*asked, "--test-share", 0.5, "--out", "half.html").stdout
    assert "test rows in 55 clusters" in half
    csv.write_csv(table.filter(pa.array(of_test)), test)
    assert "must not occur in the other file, got 55" in run(*asked, "--test", test, code=1).stderr
    csv.write_csv(table.filter(pa.array(~of_test)), visits)
    assert "test rows in 55 clusters" in run(*asked, "--test", test).stdout


def test_the_same_rows_twice_certify_nothing(run, scores, visits):
    twice = ("threshold", scores, scores, *COLUMNS), ("report", scores, *COLUMNS, "--test", scores)
    for asked in twice:
        assert "Files must hold different rows" in run(*asked, code=1).stderr
    copy = scores.with_name(f"copy-of-{scores.name}")
    copy.write_bytes(scores.read_bytes())
    glob = scores.with_name(f"*{scores.name}")
    assert "Files must hold different rows" in run("threshold", glob, *COLUMNS, code=1).stderr
    copy.unlink()
    table = csv.read_csv(visits)
    test = visits.with_name("test.csv")
    order = np.random.default_rng(1).permutation(len(table))
    ids = np.array(table["patient_id"])[order]
    first = np.unique(ids, return_index=True)[1]
    rest = np.setdiff1d(np.arange(len(ids)), first)
    second = rest[np.unique(ids[rest], return_index=True)[1]]
    csv.write_csv(table.take(order[first]), test)
    csv.write_csv(table.take(order[second]), visits)
    told = run("report", visits, *COLUMNS, "--test", test)
    assert "'patient_id' repeats" in told.stderr
    assert "Nothing here is certified" in told.stdout


@pytest.mark.parametrize("delimiter", [";", ",", "\t"])
def test_decimal_commas_are_read(threshold, in_passes, tmp_path, rows, delimiter):
    quote = '"' if delimiter == "," else ""
    lines = [f"{quote}{s:.6f}{quote};{y}".replace(".", ",") for y, s in zip(*rows, strict=True)]
    path = tmp_path / "commas.csv"
    path.write_text("\n".join(["risk;ill", *lines]).replace(";", delimiter))
    expected = find_boundary(rows[0], rows[1].round(6), pos_label="yes")
    assert is_record_of(threshold(path), expected)
    in_passes()
    assert threshold(path)["threshold"] == pytest.approx(expected.threshold)


@pytest.mark.parametrize("cells", [("1,234", "2,345"), ("0,5", "0.7")])
def test_a_comma_that_may_be_of_thousands_is_refused(threshold, tmp_path, cells):
    path = tmp_path / "unclear.csv"
    path.write_text("risk;ill\n" + "\n".join(f"{s};{y}" for s in cells for y in (0, 1)))
    assert "write a decimal point" in threshold(path, code=1)
