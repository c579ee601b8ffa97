"""The whole way with a small grid: protocols, rows, tables, figures, and the pages of the docs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from boundshift.exceptions import InvalidInputError
from lab.experiment import ROOT
from lab.markdown import Estimate, Number, Table, fill
from lab.records import read_records
from lab.reproduction import run as protocols
from lab.reproduction.decisions import Row
from lab.reproduction.figures import FIGURES, draw_figures
from lab.reproduction.methods import METHODS
from lab.reproduction.problems import PROBLEMS
from lab.reproduction.run import ROWS, Setting, reproduce, run_protocol, stored_tables
from lab.reproduction.tables import (
    Results,
    deviation_table,
    result_table,
)
from lab.reproduction.train import ClassifierOptions, collect_scores, reproduction_cache
from lab.statistics import Mean
from tests.lab.mimic import write_mimic

SYNTHETIC = [PROBLEMS["synthetic-raw"]]
DOCS = ROOT / "lab" / "docs"


@pytest.mark.parametrize(("seed", "accuracy"), [(0, 0.861), (1, 0.8625), (2, 0.9295), (3, 0.909)])
def test_smote_draws_what_the_authors_global_generator_draws(seed, accuracy):
    # Accuracies of SMOTE in the authors' own runs of these seeds.
    problem = PROBLEMS["synthetic"]
    split = problem.split(seed, "paper")
    state = problem.smote_state(seed, "paper")
    found = collect_scores(split, "logistic-regression", "smote", state, ClassifierOptions())
    assert np.mean((found.test > 0) == split.y_test) == pytest.approx(accuracy, abs=1e-12)


@pytest.mark.parametrize(
    ("solved", "seeds", "kept"),
    [
        ([False, True, False, False, True], 2, {0: False, 1: True, 2: False, 3: False, 4: True}),
        ([False, False], 1, {0: False, 1: False}),
    ],
)
def test_paper_goes_on_until_enough_are_solved_or_gives_up(
    setting_of, monkeypatch, solved, seeds, kept
):
    answers = iter(solved)
    monkeypatch.setattr(protocols, "_MOST_SEEDS_PER_WANTED", 4 if seeds == 2 else 2)
    monkeypatch.setattr(protocols, "is_solved", lambda *run: next(answers))
    rows = run_protocol(SYNTHETIC, seeds, setting_of("paper"))
    assert {row.seed: row.kept for row in rows} == kept


def test_a_failed_training_is_a_row_a_method_and_done_ones_are_not_repeated(
    tmp_path, small, monkeypatch
):
    setting = Setting("honest", "binary", reproduction_cache(tmp_path), small)
    setting.fill([(SYNTHETIC[0], 0, "untouched")])

    def fail(split, kind, model, state, options):
        raise RuntimeError("no neighbours")

    monkeypatch.setattr("lab.reproduction.train.collect_scores", fail)
    rows = {row.method: row for row in run_protocol(SYNTHETIC, 1, setting)}
    assert rows["smote"].status == "FAILED"
    assert rows["smote"].message == "RuntimeError: no neighbours"
    assert math.isnan(rows["smote"].g_mean)
    assert rows["untouched"].status == "DECIDED"


def test_all_problems_give_a_row_a_seed_and_method_and_the_other_slack_trains_nothing(
    tmp_path, small, monkeypatch
):
    done = reproduce("all", seeds=1, out=tmp_path, options=small, figures=False)
    rows = read_records(tmp_path / "rows-all-honest-binary.csv", Row)
    assert [(r.problem, r.method) for r in rows] == [(p, m) for p in PROBLEMS for m in METHODS]
    assert (tmp_path / "tables-all-honest-binary.md").is_file()
    monkeypatch.setattr("lab.reproduction.train.collect_scores", None)
    again = reproduce(
        "all", slack="continuous", seeds=1, out=tmp_path, options=small, figures=False
    )
    assert {r.slack_kind for r in again.rows} == {"continuous"}
    assert [r.message for r in (*done.rows, *again.rows) if r.status == "FAILED"] == []


def test_mimic_from_a_file_of_the_users(tmp_path, small):
    outcomes = [0] * 24 + [1] * 96
    path = write_mimic(tmp_path / "fm_MIMIC_IMPUTED_extended.csv", outcomes)
    done = reproduce(
        "mimic", seeds=1, out=tmp_path, options=small, mimic_file=path, mimic_rows="all",
        figures=False,
    )  # fmt: skip
    assert [r.message for r in done.rows if r.status == "FAILED"] == []
    assert max(r.g_mean for r in done.rows) > 0.8
    # 18 features and 120 rows beside the printed 19 and 7420.
    assert done.tables[0].sections[""][0][1:3] == ("18 (19)", "120 (7420)")


def test_mimic_without_its_file_is_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="--mimic-file"):
        reproduce("mimic", out=tmp_path)


ROW = Row(
    protocol="paper", slack_kind="binary", problem="pima", seed=0, method="untouched",
    kept=True, status="DECIDED", solved=True,
)  # fmt: skip


@pytest.fixture(scope="module")
def results():
    rows = []
    for i, method in enumerate(METHODS):
        for seed, kept in enumerate([True, True, False]):
            values = dict.fromkeys(("accuracy", "g_mean", "f1"), 0.6 + 0.001 * i + 0.01 * seed)
            rows.append(replace(ROW, method=method, seed=seed, kept=kept, **values))
    return Results(rows)


def test_a_result_has_the_printed_value_and_the_difference_beside_it(results):
    table = result_table(results, "pima")
    assert "3 tried, 1 dropped" in table.caption
    line = table.sections["The paper's methods"][0]
    assert (line[0], line[-1]) == ("Baseline", "3/3")
    values = line[4].value.mean, line[5].value, line[6].value
    assert values == pytest.approx((0.605, 0.181, 0.605 - 0.181))
    for lines in table.sections.values():
        assert [line[1].best for line in lines] == [False] * (len(lines) - 1) + [True]


def test_tables_in_markdown():
    lines = [
        ("x_y|z", Estimate(Mean(0.99951, 0.025, 3), True), Number(-0.0126, True), "<.001"),
        ("w", Estimate(Mean(0.5, 0.0, 3)), Number(None), ""),
    ]
    table = Table("A & B, 5 %.", ("Method", "G-Mean", "Δ", "p"), {"Block <1>": lines})
    assert str(table).splitlines() == [
        "A & B, 5 %.",
        "",
        "| Method | G-Mean | Δ | p |",
        "|:--|--:|--:|--:|",
        "| *Block <1>* | | | |",
        "| x_y\\|z | **1.000** ± .03 | −.013 | <.001 |",
        "| w | .500 ± .00 |  |  |",
    ]


def test_every_figure_is_drawn_and_none_is_left_open(tmp_path):
    from matplotlib import pyplot

    before = pyplot.get_fignums()  # of other tests in this process
    files = draw_figures(tmp_path)
    assert [path.stem for path in files] == list(FIGURES)
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in files)
    assert pyplot.get_fignums() == before
    page = (DOCS / "reproduction.md").read_text("utf-8")
    for path in files:
        assert path.name in page
        assert (DOCS / "images" / "reproduction" / path.name).is_file()


PAGES = sorted(DOCS.glob("reproduction*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_has_the_tables_of_the_stored_rows(path):
    page = path.read_text("utf-8")
    assert fill(page, stored_tables()) == page


@pytest.mark.parametrize("slack", ["binary", "continuous"])
def test_the_printed_tables_come_out(slack):
    table = deviation_table(Results(read_records(ROWS / f"rows-paper-{slack}.csv.gz", Row)))
    deviating = {(title, line[0]) for title, lines in table.sections.items() for line in lines}
    assert deviating == {
        ("Synthetic, scaled", "Baseline"),
        ("Pima Diabetes", "Paper's method, exact"),
        ("Hepatitis", "Paper's method, exact"),
    }
