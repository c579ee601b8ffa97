"""Scores in files: boundary, groups, zone and comparison, in memory and in passes."""

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
from pyarrow import csv, feather, parquet

import boundshift
from boundshift import (
    Boundary,
    ClopperPearson,
    Cost,
    FBeta,
    Floors,
    GroupBoundaries,
    InvalidInputError,
    Metric,
    SupportRadius,
    Zone,
    certify,
    find_boundaries,
    find_boundary,
    find_zone,
)
from boundshift.app import options
from boundshift.app.scores import ScoreTable
from boundshift.app.tables import write_frame
from boundshift.curves import DKW, as_curve
from boundshift.rules import as_rule
from boundshift.streaming import tables as batches

COLUMNS = ["--score", "risk", "--label", "ill"]
_CURVES, _RULES = options.CURVES.split(", "), options.RULES.split(", ")
SOURCE = Path(boundshift.__file__).parents[1]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def rows(score_lines):
    cells = [line.split(",") for line in score_lines[1:]]
    return np.array([label for _, label in cells]), np.array([float(score) for score, _ in cells])


def answer(result):
    return json.loads(result.stdout)


def test_the_certificate_is_that_of_the_library(run, scores, rows):
    found = answer(run("threshold", scores, *COLUMNS, "--json", "--certify", "--confidence", "0.9"))
    expected = certify(*rows, found["threshold"], 0.9, pos_label="yes", chosen_here=True)
    assert found["certificate"]["error_bounds"] == pytest.approx(list(expected.error_bounds))


def test_training_scores_certify_nothing(run, scores):
    shown = run("threshold", scores, *COLUMNS, "--scores", "training").stdout
    assert "nominal" in shown
    assert "certified" not in shown
    shown = run("report", scores, *COLUMNS, "--scores", "training", "--no-interval").stdout
    assert "Nothing here is certified" in shown


# What is typed → what is passed in Python, with the rows that the file holds.
OPTIONS = {
    "nothing": ([], {}),
    "rule": (["--rule", "minimax"], {"rule": "minimax"}),
    "curve": (["--curve", "smoothed"], {"curve": "smoothed"}),
    "both": (["--curve", "dkw", "--rule", "g-mean"], {"curve": "dkw", "rule": "g-mean"}),
    "paper": (["--curve", "paper"], {"curve": SupportRadius.paper()}),
    "authors": (["--curve", "authors"], {"curve": "authors"}),
    "costs": (["--costs", "1,20"], {"rule": Cost(false_positive=1, false_negative=20)}),
    "costs by a colon": (["--costs", "1:9"], {"rule": Cost(false_negative=9)}),
    "costs on a curve": (
        ["--costs", "1,9", "--curve", "kth-point"],
        {"rule": Cost(false_negative=9), "curve": "kth-point"},
    ),
    "floor": (["--recall-floor", "0.8"], {"rule": Floors(recall=0.8)}),
    "floor at a confidence": (
        ["--recall-floor", "0.8", "--confidence", "0.9"],
        {"rule": Floors(recall=0.8), "curve": ClopperPearson(0.9)},
    ),
    "floor on a curve": (
        ["--recall-floor", "0.8", "--curve", "dkw", "--confidence", "0.9"],
        {"rule": Floors(recall=0.8), "curve": DKW(0.9)},
    ),
    "floors together": (
        ["--recall-floor", "0.5", "--precision-floor", "0.2", "--max-flagged", "0.9"],
        {"rule": Floors(recall=0.5, precision=0.2, flagged=0.9)},
    ),
    "floors of the negatives": (
        ["--specificity-floor", "0.4", "--npv-floor", "0.4", "--then", "recall"],
        {"rule": Floors(specificity=0.4, npv=0.4, then="recall")},
    ),
    "floor at a prevalence": (
        ["--precision-floor", "0.1", "--prevalence", "0.3", "--then", "f1"],
        {"rule": Floors(precision=0.1, prevalence=0.3, then="f1")},
    ),
    "costs at a prevalence": (
        ["--costs", "1,20", "--prevalence", "0.01"],
        {"rule": Cost(false_negative=20, prevalence=0.01)},
    ),
    "F1 at a prevalence": (
        ["--rule", "f1", "--prevalence", "0.01"],
        {"rule": FBeta(prevalence=0.01)},
    ),
    "metric": (["--metric", "jaccard"], {"rule": Metric("jaccard")}),
    "confidence that the curve has not": (["--confidence", "0.9"], {}),
}
OPTIONS |= {f"curve {name}": (["--curve", name], {"curve": name}) for name in _CURVES}
OPTIONS |= {f"rule {name}": (["--rule", name], {"rule": name}) for name in _RULES}


@pytest.mark.parametrize("asked", OPTIONS)
def test_the_same_call_in_python_gives_the_same_boundary(run, scores, rows, asked):
    options, expected = OPTIONS[asked]
    found = answer(run("threshold", scores, *COLUMNS, "--json", *options))
    boundary = find_boundary(*rows, pos_label="yes", **expected)
    assert found == boundary.to_dict()  # NaN is a word there, and equal to itself
    assert Boundary.from_dict(found).curve == boundary.curve


def test_the_page_s_table_of_calls_is_true(run, scores, rows):
    page = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    calls = re.findall(
        r"^\| (nothing|`--.*?`) \| `(find_boundary.*?)` \|$", page, flags=re.MULTILINE
    )
    assert len(calls) >= 6
    known = {"y": rows[0], "s": rows[1], "find_boundary": find_boundary}
    known |= {"Cost": Cost, "Floors": Floors, "ClopperPearson": ClopperPearson}
    known |= {"FBeta": FBeta, "Metric": Metric}
    for typed, written in calls:
        options = [] if typed == "nothing" else typed.strip("`").split()
        found = answer(run("threshold", scores, *COLUMNS, "--json", *options))
        assert found == eval(written, known).to_dict()


@pytest.mark.parametrize(
    ("option", "names", "choose"), [("--curve", _CURVES, as_curve), ("--rule", _RULES, as_rule)]
)
def test_the_help_names_all_that_the_library_knows(run, option, names, choose):
    with pytest.raises(InvalidInputError) as error:
        choose("nonsense")
    known = re.search(r"one of (.*), got", str(error.value))[1]
    known = {name.strip("'") for name in known.split(", ")}
    assert set(names) <= known
    # Names of scikit-learn's metrics are other names of what the help names.
    told = [choose(name) for name in names]
    assert all(choose(name) in told for name in known)


def test_the_other_class_can_be_the_positive_one(run, scores):
    result = run("threshold", scores, *COLUMNS, "--positive", "no", "--json")
    assert answer(result)["labels"] == ["yes", "no"]
    assert "Note: The positive class has the lower scores" in result.stderr
    assert "pass the other label as --positive" in result.stderr


def test_a_rule_for_one_class_asks_which_of_two_as_frequent_ones(run, tmp_path):
    (tmp_path / "s.csv").write_text("risk,ill\n" + "1,well\n2,well\n5,sick\n6,sick\n" * 9)
    refused = run("threshold", "s.csv", *COLUMNS, "--costs", "1,20", code=1).stderr
    assert "Use --positive well, for example" in refused
    found = answer(
        run("threshold", "s.csv", *COLUMNS, "--costs", "1,20", "--positive", "sick", "--json")
    )
    y, s = ["well", "well", "sick", "sick"] * 9, [1, 2, 5, 6] * 9
    expected = find_boundary(y, s, rule=Cost(false_negative=20), pos_label="sick")
    assert Boundary.from_dict(found) == expected
    assert answer(run("threshold", "s.csv", *COLUMNS, "--json"))["labels"] == ["sick", "well"]


@pytest.mark.parametrize("name", ["scores.csv", "scor*.csv"])
def test_a_rule_for_one_class_refuses_scores_that_point_to_the_other(run, scores, name):
    options = ["--recall-floor", "0.9", "--positive", "no"]
    refused = run("threshold", name, *COLUMNS, *options, code=1).stderr
    assert "--score must be higher for the positive class 'no'" in refused
    assert "the other label as --positive" in refused


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


@pytest.mark.tool(
    "Excel files on the command line", "run('threshold', 's.xlsx', *COLUMNS, '--json')"
)
def test_an_excel_file_gives_the_boundary_to_the_16_digits_that_it_holds(run, tmp_path, rows):
    labels, scores = rows
    write_frame(pa.table({"risk": scores, "ill": labels}).to_pandas(), tmp_path / "s.xlsx")
    found = answer(run("threshold", "s.xlsx", *COLUMNS, "--json"))
    exact = find_boundary(*rows, pos_label="yes")
    assert found["threshold"] == pytest.approx(exact.threshold, rel=1e-12)


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (("0", "1"), [0, 1]),
        (("-1", "+1"), [-1, 1]),
        (("0.0", "1.0"), [0.0, 1.0]),
        (("False", "True"), [False, True]),
        (("[red]a", "b[/red]"), ["[red]a", "b[/red]"]),
    ],
)
def test_labels_keep_their_kind(run, tmp_path, rows, texts, labels):
    lines = [f"{s},{texts[y == 'yes']}" for y, s in zip(*rows, strict=True)]
    (tmp_path / "s.csv").write_text("risk,ill\n" + "\n".join(lines))
    assert answer(run("threshold", "s.csv", *COLUMNS, "--json"))["labels"] == labels
    assert str(labels[1]) in run("threshold", "s.csv", *COLUMNS).stdout


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
    ("names", "positive", "expected"),
    [
        (("good", "fraud"), None, "fraud"),
        ((False, True), None, True),
        ((True, False), None, True),
        ((0, 1), None, 1),
        ((1, 0), None, 1),
        ((2, 1), None, 1),
        ((1.5, 0.5), "1.5", 1.5),
        (("No", "Yes"), "yes", "Yes"),
    ],
    ids=str,
)
def test_passes_take_the_same_class_as_positive(
    run, tmp_path, rows, kind, names, positive, expected
):
    """The last name is that of the rare class."""
    rare, (y, s) = names[-1], rows
    labels = [rare if label == "yes" else names[i % (len(names) - 1)] for i, label in enumerate(y)]
    table = pa.table({"risk": s, "ill": labels})
    if kind == "csv":
        csv.write_csv(table, tmp_path / "s.csv")
    else:
        parquet.write_table(table, tmp_path / "s.parquet")
    chosen = ["--positive", positive] if positive else []
    found, held = (
        answer(run("threshold", name, *COLUMNS, *chosen, "--json", "--certify"))
        for name in (f"*.{kind}", f"s.{kind}")
    )
    assert found["labels"] == held["labels"]
    assert found["labels"][1] == expected
    assert found["threshold"] == pytest.approx(held["threshold"], rel=1e-9)
    assert found["n_samples"] == held["n_samples"]
    # Passes sum in another order, so that the last digits may differ.
    at = [facts["certificate"].pop("threshold") for facts in (found, held)]
    assert at[0] == pytest.approx(at[1], rel=1e-9)
    assert found["certificate"] == held["certificate"]


@pytest.mark.parametrize("name", ["*.csv", "s.csv"])
def test_a_third_label_is_refused_with_its_count_also_in_passes(run, tmp_path, rows, name):
    y, s = rows
    labels = ["c" if label == "yes" else "ab"[i % 2] for i, label in enumerate(y)]
    csv.write_csv(pa.table({"risk": s, "ill": labels}), tmp_path / "s.csv")
    said = run("threshold", name, *COLUMNS, "--positive", "c", code=1).stderr
    assert "holds 3: 'a' (200 rows), 'b' (200 rows), 'c' (40 rows)" in " ".join(said.split())


@pytest.mark.parametrize("missing", ["", "NA", "?"])
def test_missing_labels_of_several_files_are_refused(run, tmp_path, score_lines, missing):
    (tmp_path / "a.csv").write_text("\n".join(score_lines) + "\n")
    (tmp_path / "b.csv").write_text("\n".join([score_lines[0], f"0.5,{missing}"]) + "\n")
    result = run("threshold", "a.csv", "b.csv", *COLUMNS, "--positive", "yes", code=1)
    assert "column 'ill' lacks 1" in result.output


@pytest.mark.parametrize("name", ["s.parquet", "*.parquet"])
def test_dates_as_labels_are_text(run, tmp_path, rows, name):
    y, s = rows
    labels = [date(2020, 1, 1 + (label == "yes")) for label in y]
    parquet.write_table(pa.table({"risk": s, "ill": labels}), tmp_path / "s.parquet")
    found = answer(run("threshold", name, *COLUMNS, "--json"))
    assert found["labels"] == ["2020-01-01", "2020-01-02"]
    assert found["n_samples"] == [400, 40]


def test_many_rows_from_a_file_and_from_a_pipe(run, tmp_path):
    rng = np.random.default_rng(0)
    ill = rng.random(50_000) < 0.01
    scores = rng.normal(size=len(ill)) + 2.5 * ill
    table = pa.table({"id": np.arange(len(ill)), "risk": scores, "ill": ill.astype(np.int8)})
    csv.write_csv(table, tmp_path / "scores.csv")
    from_file = run("threshold", "scores.csv", *COLUMNS, "--json")
    command = [sys.executable, "-m", "boundshift", "threshold", "-", *COLUMNS, "--json"]
    known = {"env": os.environ | {"PYTHONPATH": str(SOURCE)}, "timeout": 120, "check": True}
    with subprocess.Popen(["cat", tmp_path / "scores.csv"], stdout=subprocess.PIPE) as pipe:
        from_pipe = subprocess.run(
            command, stdin=pipe.stdout, capture_output=True, encoding="utf-8", **known
        )
    assert Boundary.from_json(from_file.stdout) == find_boundary(ill.astype(int), scores)
    assert from_pipe.stdout == from_file.stdout
    assert from_file.stderr == from_pipe.stderr == ""


def test_a_large_file_is_read_in_passes(run, monkeypatch, scores, rows):
    monkeypatch.setattr("boundshift.app.scores._LARGE", 100)
    monkeypatch.setattr("boundshift.app.scores.ScoreTable._read", None)
    found = answer(run("threshold", scores, *COLUMNS, "--positive", "yes", "--json"))
    expected = find_boundary(*rows, pos_label="yes").threshold
    assert found["threshold"] == pytest.approx(expected, rel=1e-12)


@pytest.fixture
def beside(tmp_path, rows):
    """Return a file with weights, costs and groups beside labels and scores, and these columns."""
    y, s = rows
    rng = np.random.default_rng(0)
    columns = {
        "risk": s,
        "ill": y,
        "times": rng.choice([0.5, 1.0, 1.7], len(y)),
        "amount": rng.exponential(100, len(y)).round(2),
        "site": np.where(np.arange(len(y)) % 10 == 0, "small", "large"),
    }
    path = tmp_path / "beside.csv"
    csv.write_csv(pa.table(columns), path)
    return path, columns


def test_a_weight_column_counts_and_certifies_nothing(run, beside, rows):
    path, columns = beside
    found = answer(run("threshold", path, *COLUMNS, "--weight", "times", "--json", "--certify"))
    expected = find_boundary(*rows, pos_label="yes", sample_weight=columns["times"])
    assert found["threshold"] == pytest.approx(expected.threshold)
    assert found["certificate"]["status"] == "nominal"


def halves(path):
    """Return two files with the rows of one."""
    table = csv.read_csv(path)
    parts = [path.with_name(f"part-{i}.csv") for i in (0, 1)]
    for part, half in zip(parts, (table[:100], table[100:]), strict=True):
        csv.write_csv(half, part)
    return parts


def test_groups_of_several_files_are_decided_in_passes(run, beside):
    path, _ = beside
    found = answer(run("threshold", *halves(path), *COLUMNS, "--by", "site", "--json"))
    expected = answer(run("threshold", path, *COLUMNS, "--by", "site", "--json"))
    own = {group["group"]: group for group in expected["groups"]}
    assert {group["group"] for group in found["groups"]} == set(own)
    for group in found["groups"]:
        there = own[group["group"]]
        assert group["counts"] == there["counts"]
        assert group["boundary"]["threshold"] == pytest.approx(there["boundary"]["threshold"])
        assert group["boundary"]["labels"] == there["boundary"]["labels"]


def test_weights_of_several_files_count_in_passes(run, beside):
    path, _ = beside
    parts = halves(path)
    options = ["--weight", "times", "--json", "--certify"]
    found = answer(run("threshold", *parts, *COLUMNS, *options))
    expected = answer(run("threshold", path, *COLUMNS, *options))
    assert found["threshold"] == pytest.approx(expected["threshold"], abs=1e-12)
    assert found["n_samples"] == pytest.approx(expected["n_samples"])
    assert found["certificate"]["wrong"] == expected["certificate"]["wrong"]
    assert found["certificate"]["status"] == "nominal"


def test_a_cost_column_decides(run, beside, rows):
    path, columns = beside
    found = answer(run("threshold", path, *COLUMNS, "--cost-column", "amount", "--json"))
    expected = find_boundary(*rows, pos_label="yes", row_cost=columns["amount"])
    assert found["threshold"] == pytest.approx(expected.threshold)


def test_groups_have_boundaries_of_their_own(run, beside, rows):
    path, columns = beside
    found = answer(run("threshold", path, *COLUMNS, "--by", "site", "--json"))
    expected = find_boundaries(*rows, columns["site"], pos_label="yes")
    for line in found["groups"]:
        own = expected[line["group"]].threshold
        assert line["boundary"]["threshold"] == pytest.approx(own)
    shown = run("threshold", path, *COLUMNS, "--by", "site").stdout
    assert "small" in shown
    assert "precision" in shown


def test_a_zone_is_that_of_the_library(run, scores, rows):
    expected = find_zone(*rows, errors=(0.1, 0.2), pos_label="yes", confidence=0.9)
    zone = ["--zone", "0.1,0.2", "--confidence", "0.9", "--positive", "yes"]
    assert Zone.from_dict(answer(run("threshold", scores, *COLUMNS, *zone, "--json"))) == expected
    shown = run("threshold", scores, *COLUMNS, *zone).stdout
    assert f"yes if risk > {expected.high:.6g}" in shown
    assert f"{expected.low:.6g}; between the two, ask a person" in " ".join(shown.split())


def test_a_zone_of_several_files_is_that_of_all_rows(run, scores, rows):
    labels, values = (np.concatenate([column] * 2) for column in rows)
    expected = find_zone(labels, values, pos_label="yes")
    zone = ["--zone", "0.05,0.05", "--positive", "yes", "--json"]
    assert Zone.from_dict(answer(run("threshold", scores, scores, *COLUMNS, *zone))) == expected


@pytest.fixture
def probabilities(tmp_path):
    """A file of probabilities that leave no unsure row, and its columns."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 80)
    p = np.where(y == 1, rng.uniform(0.4, 0.9, 160), rng.uniform(0.001, 0.01, 160))
    site = np.tile(["north", "south"], 80)
    path = tmp_path / "probabilities.csv"
    lines = [f"{a!r},{b},{c}" for a, b, c in zip(p.tolist(), y, site, strict=True)]
    path.write_text("risk,ill,site\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path, y, p, site


@pytest.mark.parametrize("scale", ["auto", "probability", "raw"])
def test_zone_and_groups_follow_the_scale(run, probabilities, scale):
    path, y, p, site = probabilities
    asked = ["threshold", path, *COLUMNS, "--scale", scale, "--json"]
    zone = Zone.from_dict(answer(run(*asked, "--zone", "0.05,0.05", "--positive", "1")))
    assert zone.low == find_zone(y, p, scale=scale).low
    groups = GroupBoundaries.from_dict(answer(run(*asked, "--by", "site", "--positive", "1")))
    expected = find_boundaries(y, p, site, pos_label=1, scale=scale)
    assert {g: b.threshold for g, b in groups.items()} == {
        g: b.threshold for g, b in expected.items()
    }


@pytest.mark.parametrize("beside", [["--zone", "0.05,0.05"], ["--by", "site"]])
def test_scores_that_are_no_probabilities_are_refused_as_such(run, tmp_path, beside):
    path = tmp_path / "scores.csv"
    path.write_text("risk,ill,site\n" + "0.1,0,a\n3,1,a\n" * 80, encoding="utf-8")
    asked = ["threshold", path, *COLUMNS, "--positive", "1", "--scale", "probability"]
    assert "in [0, 1]" in " ".join(run(*asked, *beside, code=1).stderr.split())


def test_labels_keep_their_codes_from_block_to_block(tmp_path, monkeypatch):
    """The first block has one class only, and the next meets the other one first."""
    monkeypatch.setattr(batches, "_BLOCK", 1 << 12)
    y = np.r_[np.zeros(3000, int), 1, np.zeros(500, int), np.ones(500, int)]
    s = np.arange(len(y)) / 7
    lines = [f"{a},{'no' if b == 0 else 'yes'}" for a, b in zip(s, y, strict=True)]
    (tmp_path / "t.csv").write_text("score,ill\n" + "\n".join(lines))
    told = []
    sample = ScoreTable(
        [tmp_path / "t.csv"], "score", "ill", progress=lambda *at: told.append(at)
    ).sample
    labels, scores = sample.to_rows()
    assert (labels == np.repeat(["no", "yes"], [3500, 501])).all()
    assert scores.tolist() == [*s[y == 0], *s[y == 1]]
    assert len(told) > 5
    assert told[-1][1] == told[-1][2]


@pytest.mark.parametrize("kind", [pa.float32(), pa.int16(), pa.decimal128(22, 3)])
def test_scores_of_any_number_type(tmp_path, kind):
    table = pa.table({"s": pa.array([1, 2, 3, 4]).cast(kind), "y": [False, False, True, True]})
    parquet.write_table(table, tmp_path / "t.parquet")
    sample = ScoreTable([tmp_path / "t.parquet"], "s", "y").sample
    assert sample.to_rows()[1].tolist() == [1, 2, 3, 4]
    assert sample.labels == (False, True)


def test_nested_scores_are_refused(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"s": {"a": 1}, "y": 0}\n{"s": {"a": 2}, "y": 1}\n')
    with pytest.raises(InvalidInputError, match="must hold numbers, got struct"):
        ScoreTable([tmp_path / "t.jsonl"], "s", "y")


def test_a_column_of_numbers_is_no_label(tmp_path):
    lines = [f"{i / 7},{i / 3}" for i in range(1500)]
    (tmp_path / "t.csv").write_text("s,y\n" + "\n".join(lines))
    with pytest.raises(InvalidInputError, match="more than 1000 different values"):
        ScoreTable([tmp_path / "t.csv"], "s", "y")


def test_one_and_one_point_nought_are_one_label(tmp_path):
    (tmp_path / "t.csv").write_text("s,y\n1,0\n2,1\n3,1.0\n")
    sample = ScoreTable([tmp_path / "t.csv"], "s", "y").sample
    assert sample.labels == (0.0, 1.0)
    assert sample.n_samples == (1, 2)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0.0, 1.0, float("nan")], "lacks 1"),
        ([0.0, 1.0, float("inf")], "finite"),
        ([["a"], ["b"], ["a"]], "list"),
    ],
)
def test_labels_that_are_none_are_refused(tmp_path, labels, words):
    table = pa.table({"score": [1.0, 2.0, 3.0], "ill": labels})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InvalidInputError, match=words):
        ScoreTable([tmp_path / "t.parquet"], "score", "ill", positive="1.0")
