import statistics
from dataclasses import replace

import pytest

from lab.markdown import Estimate, Number, Table
from lab.reproduction.methods import METHODS, PRINTED
from lab.reproduction.problems import PROBLEMS
from lab.reproduction.tables import (
    Results,
    Row,
    comparison_table,
    dataset_table,
    deviation_table,
    printed_datasets,
    printed_value,
    result_table,
)
from lab.statistics import Mean

SLACKS = ("binary", "continuous")


@pytest.fixture
def results():
    row = Row(
    protocol="paper", slack_kind="binary", problem="pima", seed=0, method="untouched",
    kept=True, status="DECIDED", solved=True,
)  # fmt: skip
    rows = []
    for i, method in enumerate(METHODS):
        for seed, kept in enumerate([True, True, False]):
            value = 0.6 + 0.001 * i + 0.01 * seed
            values = dict.fromkeys(("accuracy", "g_mean", "f1"), value)
            rows.append(replace(row, method=method, seed=seed, kept=kept, **values))
    return Results(rows)


def _name(method):
    return PRINTED.get(method, method)


def test_all_printed_values_are_there():
    medical = ("pima", "breast-cancer", "hepatitis", "heart", "mimic")
    paper = [m.name for m in METHODS.values() if m.group == "paper"]
    assert len(paper) == 7
    for slack in SLACKS:
        for problem in (*medical, "synthetic", "synthetic-raw"):
            for method in paper:
                for metric in ("accuracy", "g_mean", "f1"):
                    assert 0 < printed_value(slack, problem, _name(method), metric).mean < 1


def test_the_data_sets_are_the_papers():
    table = dataset_table(PROBLEMS.values(), "paper")
    lines = {line[0]: line[1:] for line in table.sections[""]}
    assert lines["Pima Diabetes"] == ("8", "768", "250/25", "250/243")
    assert lines["Synthetic, raw"] == ("2", "3010", "1000/10", "1000/1000")
    # A figure that differs from the printed one would be followed by it in brackets.
    assert not any("(" in cell for line in lines.values() for cell in line)
    assert printed_datasets()["mimic"].attributes == 19


def test_a_result_has_the_printed_value_and_the_difference_beside_it(results):
    table = result_table(results, "pima")
    line = table.sections["The paper's methods"][0]
    assert line[0] == "Baseline"
    assert line[4].value.mean == pytest.approx(0.605)
    assert line[5].value == 0.181
    assert line[6].value == pytest.approx(0.605 - 0.181)
    assert line[-1] == "3/3"


def test_the_best_of_each_block_is_marked(results):
    for lines in result_table(results, "pima").sections.values():
        assert [line[1].best for line in lines] == [False] * (len(lines) - 1) + [True]


def test_the_caption_says_how_many_seeds_were_dropped(results):
    assert "3 tried, 1 dropped" in result_table(results, "pima").caption


def test_deviations_are_those_above_one_hundredth(results):
    lines = deviation_table(results).sections["Pima Diabetes"]
    listed = {(line[0], line[1]) for line in lines}
    assert ("Baseline", "G-Mean") in listed
    assert ("SMOTE", "Accuracy") in listed
    assert all(abs(line[4].value) > 0.01 for line in lines)


def test_a_comparison_is_with_the_best_rival(results):
    line = comparison_table(results).sections["Pima Diabetes"][1]
    assert line[2] == "DKW, minimax"
    assert line[4].value == pytest.approx(0.001)
    assert line[5] == "2/0/0"


TABLE = Table(
    "A & B, 5 %.",
    ("Method", "G-Mean", "Δ", "p"),
    {
        "Block <1>": [
            ("x_y|z", Estimate(Mean(0.99951, 0.025, 3), True), Number(-0.0126, True), "<.001"),
            ("w", Estimate(Mean(0.5, 0.0, 3)), Number(None), ""),
        ]
    },
)


def test_markdown():
    assert str(TABLE).splitlines() == [
        "A & B, 5 %.",
        "",
        "| Method | G-Mean | Δ | p |",
        "|:--|--:|--:|--:|",
        "| *Block <1>* | | | |",
        "| x_y\\|z | **1.000** ± .03 | −.013 | <.001 |",
        "| w | .500 ± .00 |  |  |",
    ]


ROW = Row(
    protocol="paper", slack_kind="binary", problem="pima", seed=0, method="untouched",
    kept=True, status="DECIDED", solved=True,
)  # fmt: skip


def _rows():
    values = [0.5, 0.7, 0.6, 0.9]
    return [replace(ROW, seed=i, g_mean=v, kept=i != 3) for i, v in enumerate(values)]


def test_means_count_only_kept_seeds():
    mean = Results(_rows()).mean("pima", "untouched", "g_mean")
    assert mean.mean == pytest.approx(0.6)
    assert mean.sd == pytest.approx(statistics.stdev([0.5, 0.7, 0.6]))
    assert mean.standard_error == pytest.approx(mean.sd / 3**0.5)


def test_failures_are_counted_and_have_no_mean():
    failed = replace(ROW, seed=9, status="FAILED", solved=False)
    results = Results([*_rows(), failed])
    assert results.mean("pima", "untouched", "g_mean").n == 3
    assert results.counts("pima", "untouched") == (5, 4, 4, 1)
