import csv
import json

import numpy as np
import pytest

from boundshift.datasets.catalogue import load_table
from boundshift.metrics import binary_metrics

COLUMNS = ["--score", "risk", "--label", "ill"]


def test_scores_are_compared_out_of_sample(run, scores):
    shown = json.loads(run("compare", scores, *COLUMNS, "--json").stdout)
    methods = {row["method"]: row for row in shown["methods"]}
    assert {"untouched", "boundshift", "tuned threshold, G-mean"} <= set(methods)
    assert shown["labels"] == ["no", "yes"]


def test_the_untouched_row_is_the_model_at_its_own_threshold(run, scores, score_lines):
    cells = [line.split(",") for line in score_lines[1:]]
    truth = [label == "yes" for _, label in cells]
    predicted = [float(score) > 0 for score, _ in cells]
    expected = binary_metrics(truth, predicted, pos_label=True)
    shown = json.loads(run("compare", scores, *COLUMNS, "--json").stdout)
    row = next(row for row in shown["methods"] if row["method"] == "untouched")
    assert {name: row[name] for name in expected} == pytest.approx(expected)


def test_probabilities_have_their_boundary_at_a_half(run, tmp_path):
    y = np.repeat([0, 1], [50, 20])
    p = np.linspace(0.01, 0.99, 70)
    lines = [f"{a},{b}" for a, b in zip(p, y, strict=True)]
    (tmp_path / "p.csv").write_text("risk,ill\n" + "\n".join(lines))
    shown = json.loads(run("compare", "p.csv", *COLUMNS, "--json").stdout)["methods"]
    found = {row["method"]: row["threshold"] for row in shown}
    assert found["untouched"] == 0.5
    assert found["prior threshold"] == pytest.approx(20 / 70)


def test_a_table_is_compared_by_a_model_and_written(run, tmp_path):
    load_table("heart").to_csv(tmp_path / "heart.csv", index=False)
    result = run("compare", "heart.csv", "--target", "target", "--out", "c.csv")
    with (tmp_path / "c.csv").open(newline="") as file:
        methods = [row["method"] for row in csv.DictReader(file)]
    assert methods[:2] == ["boundshift", "untouched"]
    assert all(method in result.stdout for method in methods)
    again = run("compare", "heart.csv", "--target", "target", "--out", "c.csv", code=1)
    assert "--force" in again.stderr
