"""The whole way, two seeds, with a small grid: rows, tables, figures, cache."""

import csv

import numpy as np
import pytest

from boundshift.exceptions import InvalidInputError
from lab.data.paper import MIMIC_FEATURES
from lab.records import read_records
from lab.reproduction import figures
from lab.reproduction.methods import METHODS
from lab.reproduction.problems import PROBLEMS
from lab.reproduction.run import reproduce
from lab.reproduction.tables import Row


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def done(out, small):
    return reproduce("all", seeds=2, out=out, options=small, figures=False)


def test_there_is_one_row_per_problem_seed_and_method(done, out):
    rows = read_records(out / "rows-all-honest-binary.csv", Row)
    keys = [(r.problem, r.seed, r.method) for r in rows]
    assert keys == [(p, s, m) for p in PROBLEMS for s in (0, 1) for m in METHODS]
    assert [r.message for r in rows if r.status == "FAILED"] == []


def test_the_other_slack_trains_nothing(done, out, small, monkeypatch):
    monkeypatch.setattr("lab.reproduction.train.collect_scores", None)
    again = reproduce("all", slack="continuous", seeds=2, out=out, options=small, figures=False)
    assert {r.slack_kind for r in again.rows} == {"continuous"}
    assert [r.message for r in again.rows if r.status == "FAILED"] == []


def test_the_papers_protocol_on_one_problem(out, small, monkeypatch):
    # All six are drawn by test_figures.
    monkeypatch.setattr(figures, "FIGURES", {"figure-2": figures.draw_projected_space})
    done = reproduce(
        "breast-cancer", protocol="paper", seeds=2, out=out, options=small, figures=True
    )
    assert sum(r.kept for r in done.rows if r.method == "paper-grid") == 2
    assert (out / "figures" / "figure-2.png").is_file()
    assert done.tables[-1].caption.startswith("Means that differ")


@pytest.fixture
def mimic_file(tmp_path):
    rng = np.random.default_rng(0)
    header = ["icustay_id", *MIMIC_FEATURES, "cohort", "age", "sex", "bmi", "los", "outcome"]
    path = tmp_path / "fm_MIMIC_IMPUTED_extended.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        for stay in range(120):
            ready = int(stay >= 24)
            signs = rng.normal(50 + 15 * ready, 10, len(MIMIC_FEATURES)).round(2).tolist()
            writer.writerow([stay, *signs, "MIMIC", 60, "M", 25, 3, ready])
    return path


def test_mimic_from_a_file_of_the_users(out, small, mimic_file):
    done = reproduce(
        "mimic",
        seeds=2,
        out=out,
        options=small,
        mimic_file=mimic_file,
        mimic_rows="all",
        figures=False,
    )
    assert [r.message for r in done.rows if r.status == "FAILED"] == []
    assert {(r.problem, r.seed) for r in done.rows} == {("mimic", 0), ("mimic", 1)}
    best = max(r.g_mean for r in done.rows)
    assert best > 0.8
    # 18 features and 120 rows beside the printed 19 and 7420.
    assert done.tables[0].sections[""][0][1:3] == ("18 (19)", "120 (7420)")


def test_mimic_needs_a_file(out):
    with pytest.raises(InvalidInputError, match="--mimic-file"):
        reproduce("mimic", out=out)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seeds": 0}, "`seeds` must be a whole number of at least 1, got 0"),
        ({"protocol": "fair"}, "`protocol` must be one of"),
        ({"slack": "some"}, "`slack` must be one of"),
        ({"problem": "iris"}, "must be one of synthetic, pima"),
    ],
)
def test_wrong_arguments_are_refused(out, options, message):
    with pytest.raises(InvalidInputError, match=message):
        reproduce(**({"out": out} | options))
