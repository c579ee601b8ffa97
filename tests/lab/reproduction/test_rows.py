import math
from dataclasses import replace

from lab.harness.methods import Method
from lab.reproduction.methods import METHODS
from lab.reproduction.rows import Row, evaluate, read_rows, write_rows
from tests.lab.reproduction_seeds import seed_of

RUN = {"protocol": "honest", "problem": "synthetic-raw", "seed": 0, "kept": True}


def test_a_row_has_the_whole_decision(cache):
    row = evaluate(seed_of(cache, "synthetic-raw"), METHODS["paper-exact"], **RUN)
    assert row.status == "RELAXED"
    assert 0 < row.delta_negative < 1
    assert row.slack_negative > row.slack_positive > 0
    assert row.g_mean == math.sqrt(row.recall_negative * row.recall_positive)
    assert row.seconds > 0
    assert row.fit_seconds > 0


def test_an_error_is_a_row(cache):
    def fail(fitted):
        raise ZeroDivisionError("by nought")

    row = evaluate(seed_of(cache, "synthetic-raw"), Method("bad", "rival", fail), **RUN)
    assert (row.status, row.message) == ("FAILED", "ZeroDivisionError: by nought")


def test_rows_survive_the_file(tmp_path, cache):
    row = evaluate(seed_of(cache, "synthetic-raw"), METHODS["untouched"], **RUN)
    rows = [row, replace(row, message='with, comma and "quotes"\nand lines', solved=False)]
    for name in ("rows.csv", "rows.csv.gz"):
        read = read_rows(write_rows(tmp_path / name, rows))
        assert [r.message for r in read] == [r.message for r in rows]
        assert [r.solved for r in read] == [True, False]
        assert abs(read[0].g_mean - row.g_mean) < 1e-6
        assert math.isnan(read[0].delta_negative)


def test_the_same_rows_give_the_same_file(tmp_path):
    row = Row(**RUN, slack_kind="binary", method="untouched", status="DECIDED", solved=True)
    first, second = (write_rows(tmp_path / f"{i}.csv.gz", [row]).read_bytes() for i in (1, 2))
    assert first == second
