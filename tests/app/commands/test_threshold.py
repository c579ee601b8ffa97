import dataclasses
import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import boundshift
from boundshift import Boundary, certify, find_boundary
from boundshift.rules import Cost, NeymanPearson

COLUMNS = ["--score", "risk", "--label", "ill"]
SOURCE = Path(boundshift.__file__).parents[1]


@pytest.fixture
def rows(score_lines):
    cells = [line.split(",") for line in score_lines[1:]]
    return np.array([label for _, label in cells]), np.array([float(score) for score, _ in cells])


def answer(result):
    return json.loads(result.stdout)


def test_json_is_the_boundary_of_the_library(run, scores, rows):
    found = answer(run("threshold", scores, *COLUMNS, "--json"))
    assert Boundary.from_dict(found) == find_boundary(*rows, pos_label="yes")
    assert {field.name for field in dataclasses.fields(Boundary)} <= set(found)


def test_the_table_says_the_decision_in_words(run, scores, rows):
    shown = run("threshold", scores, *COLUMNS).stdout
    threshold = find_boundary(*rows, pos_label="yes").threshold
    assert f"Call a row yes if risk > {threshold:.6g}, else no." in shown
    assert "class no" in shown
    assert "400" in shown


def test_the_certificate_is_that_of_the_library(run, scores, rows):
    found = answer(run("threshold", scores, *COLUMNS, "--json", "--certify", "--confidence", "0.9"))
    expected = certify(*rows, found["threshold"], 0.9, pos_label="yes", chosen_here=True)
    assert found["certificate"]["error_bounds"] == pytest.approx(list(expected.error_bounds))


def test_training_scores_certify_nothing(run, scores):
    shown = run("threshold", scores, *COLUMNS, "--scores", "training").stdout
    assert "nominal" in shown
    assert "certified" not in shown


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--rule", "minimax"], {"rule": "minimax"}),
        (["--bound", "dkw", "--rule", "g-mean"], {"bound": "dkw", "rule": "g-mean"}),
        (["--preset", "paper"], {"preset": "paper"}),
        (["--costs", "1,20"], {"rule": Cost((1, 20)), "bound": "smoothed"}),
        (["--costs", "1:9", "--bound", "kth-point"], {"rule": Cost((1, 9)), "bound": "kth-point"}),
        (["--recall-floor", "0.8"], {"rule": NeymanPearson(0.8), "bound": "clopper-pearson"}),
    ],
)  # fmt: skip
def test_options_are_those_of_the_library(run, scores, rows, options, expected):
    found = answer(run("threshold", scores, *COLUMNS, "--json", *options))
    boundary = find_boundary(*rows, pos_label="yes", **expected)
    assert found == boundary.to_dict()  # NaN is a word there, and equal to itself


def test_the_other_class_can_be_the_positive_one(run, scores):
    result = run("threshold", scores, *COLUMNS, "--positive", "no", "--json")
    assert answer(result)["labels"] == ["yes", "no"]
    assert "Note: The positive class has the lower scores" in result.stderr


def write_every_format(folder, rows):
    labels, scores = rows
    table = pa.table({"note": ["ä;,\t"] * len(labels), "risk": scores, "ill": labels})
    csv.write_csv(table, folder / "s.csv")
    csv.write_csv(table, folder / "s.tsv", csv.WriteOptions(delimiter="\t"))
    csv.write_csv(table, folder / "semicolon.csv", csv.WriteOptions(delimiter=";"))
    csv.write_csv(table, pa.output_stream(folder / "s.csv.gz"))
    csv.write_csv(table, pa.output_stream(folder / "s.csv.zst", compression="zstd"))
    (folder / "bom.csv").write_bytes(b"\xef\xbb\xbf" + (folder / "s.csv").read_bytes())
    windows = (folder / "s.csv").read_bytes().replace(b"\n", b"\r\n")
    (folder / "windows.csv").write_bytes(windows)
    parquet.write_table(table, folder / "s.parquet", row_group_size=100)
    feather.write_feather(table, folder / "s.feather", chunksize=100)
    lines = [json.dumps(row) for row in table.to_pylist()]
    (folder / "s.jsonl").write_text("\n".join(lines))


FORMATS = [
    "s.csv", "s.tsv", "semicolon.csv", "s.csv.gz", "s.csv.zst", "bom.csv", "windows.csv",
    "s.parquet", "s.feather", "s.jsonl",
]  # fmt: skip


# The shell decompresses before a pipe.
WAYS = [(name, False) for name in FORMATS]
WAYS += [(name, True) for name in FORMATS if not name.endswith((".gz", ".zst"))]


@pytest.mark.parametrize(("name", "piped"), WAYS)
def test_every_format_gives_the_same_boundary(run, tmp_path, rows, name, piped):
    write_every_format(tmp_path, rows)
    given = {"input": (tmp_path / name).read_bytes()} if piped else {}
    found = answer(run("threshold", "-" if piped else name, *COLUMNS, "--json", **given))
    assert Boundary.from_dict(found) == find_boundary(*rows, pos_label="yes")


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (("0", "1"), [0, 1]),
        (("-1", "+1"), [-1, 1]),
        (("0.0", "1.0"), [0.0, 1.0]),
        (("False", "True"), ["False", "True"]),
        (("[red]a", "b[/red]"), ["[red]a", "b[/red]"]),
    ],
)
def test_labels_keep_their_kind(run, tmp_path, rows, texts, labels):
    lines = [f"{s},{texts[y == 'yes']}" for y, s in zip(*rows, strict=True)]
    (tmp_path / "s.csv").write_text("risk,ill\n" + "\n".join(lines))
    assert answer(run("threshold", "s.csv", *COLUMNS, "--json"))["labels"] == labels
    assert str(labels[1]) in run("threshold", "s.csv", *COLUMNS).stdout


def test_one_class_against_the_rest(run, tmp_path, rows):
    lines = [f"{s},{y if i % 2 else 'old'}" for i, (y, s) in enumerate(zip(*rows, strict=True))]
    (tmp_path / "s.csv").write_text("risk,ill\n" + "\n".join(lines))
    found = answer(run("threshold", "s.csv", *COLUMNS, "--positive", "yes", "--json"))
    assert found["labels"] == ["not yes", "yes"]
    assert found["n_samples"] == [420, 20]


@pytest.mark.parametrize("arguments", [["part-*.csv"], ["part-1.csv", "part-2.csv"]])
def test_several_files_are_one_table(run, tmp_path, score_lines, rows, arguments):
    for part in (1, 2):
        lines = [score_lines[0], *score_lines[part::2]]
        (tmp_path / f"part-{part}.csv").write_text("\n".join(lines) + "\n")
    result = run("threshold", *arguments, *COLUMNS, "--positive", "yes", "--json", "--certify")
    expected = find_boundary(*rows, pos_label="yes")
    assert answer(result)["threshold"] == pytest.approx(expected.threshold, rel=1e-12)
    certificate = certify(*rows, expected.threshold, pos_label="yes", chosen_here=True)
    assert answer(result)["certificate"]["wrong"] == list(certificate.wrong)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("names", "positive"),
    [
        (("good", "fraud"), None),
        (("false", "true"), None),
        (("true", "false"), None),
        ((0, 1), None),
        ((1, 0), None),
        ((1.5, 0.5), "0.5"),
        (("a", "b", "c"), "c"),
        (("No", "Yes"), "yes"),
    ],
    ids=str,
)
def test_passes_take_the_same_class_as_positive(run, tmp_path, rows, kind, names, positive):
    common, rare = names[0], names[-1]
    y, s = rows
    labels = [rare if label == "yes" else names[i % (len(names) - 1)] for i, label in enumerate(y)]
    table = pa.table({"risk": s, "ill": labels})
    if kind == "csv":
        csv.write_csv(table, tmp_path / "s.csv")
    else:
        parquet.write_table(table, tmp_path / "s.parquet")
    chosen = ["--positive", positive] if positive else []
    found, expected = (
        answer(run("threshold", name, *COLUMNS, *chosen, "--json", "--certify"))
        for name in (f"*.{kind}", f"s.{kind}")
    )
    assert found["labels"] == expected["labels"]
    assert found["labels"][1] == (rare if isinstance(rare, str) or positive else max(common, rare))
    assert found["threshold"] == pytest.approx(expected["threshold"], rel=1e-9)
    assert found["n_samples"] == expected["n_samples"]
    assert found["certificate"] == expected["certificate"]


@pytest.mark.parametrize("missing", ["", "NA", "?"])
def test_missing_labels_of_several_files_are_refused(run, tmp_path, score_lines, missing):
    (tmp_path / "a.csv").write_text("\n".join(score_lines) + "\n")
    (tmp_path / "b.csv").write_text("\n".join([score_lines[0], f"0.5,{missing}"]) + "\n")
    result = run("threshold", "a.csv", "b.csv", *COLUMNS, "--positive", "yes", code=1)
    assert "b.csv lacks some" in result.output


@pytest.mark.parametrize("name", ["s.parquet", "*.parquet"])
def test_dates_as_labels_are_text(run, tmp_path, rows, name):
    y, s = rows
    labels = [date(2020, 1, 1 + (label == "yes")) for label in y]
    parquet.write_table(pa.table({"risk": s, "ill": labels}), tmp_path / "s.parquet")
    found = answer(run("threshold", name, *COLUMNS, "--json"))
    assert found["labels"] == ["2020-01-01", "2020-01-02"]
    assert found["n_samples"] == [400, 40]


def test_a_large_file_is_read_in_passes(run, monkeypatch, scores, rows):
    from boundshift.app.workflow import file_boundary as module

    monkeypatch.setattr(module, "_LARGE", 100)
    monkeypatch.setattr(module, "read_scores", None)
    found = answer(run("threshold", scores, *COLUMNS, "--positive", "yes", "--json"))
    expected = find_boundary(*rows, pos_label="yes").threshold
    assert found["threshold"] == pytest.approx(expected, rel=1e-12)


def test_a_million_rows_from_a_file_and_from_a_pipe(tmp_path):
    rng = np.random.default_rng(0)
    ill = rng.random(1_000_000) < 0.01
    scores = rng.normal(size=len(ill)) + 2.5 * ill
    table = pa.table({"id": np.arange(len(ill)), "risk": scores, "ill": ill.astype(np.int8)})
    csv.write_csv(table, tmp_path / "scores.csv")
    command = [sys.executable, "-m", "boundshift", "threshold", *COLUMNS, "--json"]
    known = {"cwd": tmp_path, "capture_output": True, "check": True, "timeout": 120}
    known["env"] = os.environ | {"PYTHONPATH": str(SOURCE)}
    from_file = subprocess.run([*command, "scores.csv"], **known)
    with (tmp_path / "scores.csv").open("rb") as pipe:
        from_pipe = subprocess.run([*command, "-"], stdin=pipe, **known)
    assert Boundary.from_json(from_file.stdout) == find_boundary(ill.astype(int), scores)
    assert from_pipe.stdout == from_file.stdout
    assert from_file.stderr == from_pipe.stderr == b""
