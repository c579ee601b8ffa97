"""The report on scores of any system."""

import html
import json
import re

import numpy as np
import pytest

from boundshift import certify, find_boundary, threshold_interval

COLUMNS = ["--score", "risk", "--label", "ill"]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr("boundshift._app.scores._RESAMPLES", 5)


def embedded(path):
    block = re.search(r'id="data">(.*?)</script>', path.read_text(encoding="utf-8"), re.S)
    return json.loads(block.group(1))


def shifted(data):
    stops = data["stops"]
    return [counts[stops["marks"]["shifted"]] for counts in stops["wrong"]]


def test_writes_a_page_and_says_the_verdict(run, scores, rows, tmp_path):
    shown = run("report", scores, *COLUMNS, "--case-name", "patients").stdout
    assert "Out of 100 patients with ill = yes, the new threshold misses about" in shown
    assert "440 rows that chose the threshold" in shown
    boundary = find_boundary(*rows, pos_label="yes")
    expected = certify(*rows, boundary.threshold, pos_label="yes", chosen_here=True)
    data = embedded(tmp_path / "report.html")
    assert data["n"] == [400, 40]
    assert shifted(data) == list(expected.wrong)
    assert data["certificate"]["error_bounds"] == pytest.approx(expected.error_bounds)


def test_a_test_file_certifies(run, scores, rows, tmp_path):
    other = tmp_path / "test.csv"
    rng = np.random.default_rng(9)
    ill = np.repeat([0, 1], [300, 30])
    fresh = rng.normal(2.5 * ill)
    words = np.where(ill == 1, "yes", "no")
    lines = [f"{s},{word}" for s, word in zip(fresh, words, strict=True)]
    other.write_text("\n".join(["risk,ill", *lines]))
    out = tmp_path / "page.html"
    shown = run("report", scores, *COLUMNS, "--test", other, "--out", out).stdout
    assert "Measured on 330 test rows. The “at most” is valid only if they were used" in shown
    boundary = find_boundary(*rows, pos_label="yes")
    expected = certify(words, fresh, boundary.threshold, pos_label="yes")
    assert shifted(embedded(out)) == list(expected.wrong)
    assert embedded(out)["certificate"]["error_bounds"] == pytest.approx(expected.error_bounds)


def test_each_file_s_rows_without_a_label_are_noted_once(run, scores, score_lines, tmp_path):
    scores.write_text("\n".join([*score_lines, "1,", "2,"]))
    lines = [score_lines[0], *(f"{line[:5]}{line[line.index(',') :]}" for line in score_lines[1:])]
    (tmp_path / "test.csv").write_text("\n".join([*lines, "1,", "2,", "3,"]))
    said = run("report", scores, *COLUMNS, "--test", "test.csv").stderr
    assert said.count("without a value of 'ill'") == 2


def test_results_that_are_too_good_are_no_success(run, tmp_path):
    lines = [f"{i + 1000 * (i % 5 == 0)},{'yes' if i % 5 == 0 else 'no'}" for i in range(800)]
    (tmp_path / "perfect.csv").write_text("\n".join(["risk,ill", *lines]))
    asked = "report", "perfect.csv", *COLUMNS, "--test-share", "0.5"
    assert "too good to be trusted" in run(*asked, code=3).stdout


def test_the_test_s_classes_are_those_of_the_boundary(run, scores, tmp_path, score_lines):
    """In the test the other class is the rarer one; what is positive was settled before."""
    ill = [line for line in score_lines[1:] if line.endswith("yes")]
    well = [line for line in score_lines[1:] if line.endswith("no")]
    (tmp_path / "test.csv").write_text("\n".join(["risk,ill", *ill, *well[:10]]))
    result = run("report", scores, *COLUMNS, "--test", "test.csv")
    assert "rows with ill = yes, the new threshold misses about" in result.stdout
    assert "The positive class is 'yes', the rarer one (40 of 440 rows)" in result.stderr
    assert embedded(tmp_path / "report.html")["n"] == [10, 40]


def test_the_interval_is_that_of_the_library(run, scores, rows, tmp_path):
    run("report", scores, *COLUMNS)
    low, high = threshold_interval(*rows, pos_label="yes", n_resamples=5, random_state=0)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f"Interval {low:.4g} to {high:.4g}." in page


def test_groups_are_counted_on_the_rows_that_judge(run, scores, rows, tmp_path):
    towns = np.random.default_rng(1).choice(["Bonn", "Rome"], 440)
    lines = scores.read_text().splitlines()
    grouped = [f"{lines[0]},town", *(f"{a},{b}" for a, b in zip(lines[1:], towns, strict=True))]
    scores.write_text("\n".join(grouped))
    run("report", scores, *COLUMNS, "--by", "town")
    run("report", "-", *COLUMNS, "--by", "town", "--out", "piped.html", input=scores.read_bytes())
    boundary = find_boundary(*rows, pos_label="yes")
    flagged = rows[1] > boundary.threshold
    bonn = towns == "Bonn"
    ill = rows[0] == "yes"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    row = re.search(r'<th scope="row">Bonn</th><td>(\d+)</td><td>(\d+)</td><td>([\d.]+)%', page)
    recall = 100 * np.sum(flagged & bonn & ill) / np.sum(bonn & ill)
    assert row.groups() == (str(bonn.sum()), str((bonn & ill).sum()), f"{recall:.1f}")
    assert row[0] in (tmp_path / "piped.html").read_text(encoding="utf-8")
    run("report", scores, *COLUMNS, "--by", "town", "--test-share", 0.5, "--out", "half.html")
    half = (tmp_path / "half.html").read_text(encoding="utf-8")
    counts = re.findall(r'<th scope="row">(?:Bonn|Rome)</th><td>(\d+)</td><td>(\d+)</td>', half)
    assert [sum(int(pair[i]) for pair in counts) for i in (0, 1)] == [220, 20]


def test_scores_from_0_to_1_are_shown_with_their_calibration(run, scores, rows, tmp_path):
    run("report", scores, *COLUMNS)
    assert "own probability" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    share = 1 / (1 + np.exp(-rows[1]))
    lines = [f"{p},{label}" for p, label in zip(share, rows[0], strict=True)]
    scores.write_text("\n".join(["risk,ill", *lines]))
    run("report", scores, *COLUMNS, "--force")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    said = f"On average the model's own probability is {100 * share.mean():.1f}%, and 9.1% are"
    assert said in html.unescape(page)
