"""docs/reproduction.md says what the rows in lab/results/reproduction say."""

from pathlib import Path

import pytest

from lab.evidence.reproduction import fill
from lab.reproduction import Results, read_rows
from lab.reproduction.tables import deviation_table

ROOT = Path(__file__).parents[3]


def test_the_page_has_the_tables_of_the_rows():
    page = (ROOT / "docs" / "reproduction.md").read_text("utf-8")
    assert fill(page) == page


def test_the_figures_of_the_page_are_there():
    page = (ROOT / "docs" / "reproduction.md").read_text("utf-8")
    for name in range(1, 7):
        (path,) = (ROOT / "docs" / "images" / "reproduction").glob(f"figure-{name}-*.png")
        assert path.name in page


@pytest.mark.parametrize("slack", ["binary", "continuous"])
def test_the_printed_tables_come_out(slack):
    results = Results(
        read_rows(ROOT / "lab" / "results" / "reproduction" / f"rows-paper-{slack}.csv.gz")
    )
    table = deviation_table(results)
    deviating = {(section.title, line[0]) for section in table.sections for line in section.lines}
    assert deviating == {
        ("Synthetic, scaled", "Baseline"),
        ("Pima Diabetes", "Paper's method, exact"),
        ("Hepatitis", "Paper's method, exact"),
    }


def test_at_least_thirty_seeds_are_kept_and_none_failed():
    rows = read_rows(ROOT / "lab" / "results" / "reproduction" / "rows-honest-binary.csv.gz")
    assert {r.seed for r in rows} >= set(range(30))
    assert all(r.kept and r.status != "FAILED" for r in rows)
