"""docs/reproduction*.md says what the rows in lab/results/reproduction say."""

from pathlib import Path

import pytest

from lab.records import read_records
from lab.reproduction.publish import fill
from lab.reproduction.tables import Results, Row, deviation_table

ROOT = Path(__file__).parents[3]
ROWS = ROOT / "lab" / "results" / "reproduction"


PAGES = sorted((ROOT / "docs").glob("reproduction*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_has_the_tables_of_the_rows(path):
    page = path.read_text("utf-8")
    assert fill(page) == page


def test_no_two_settings_of_this_library_are_the_same():
    rows = read_records(ROWS / "rows-honest-binary.csv.gz", Row)
    found = {}
    for row in rows:
        if row.method.startswith("boundshift"):
            found.setdefault(row.method, []).append((row.problem, row.seed, row.threshold))
    assert len({tuple(thresholds) for thresholds in found.values()}) == len(found)


def test_the_figures_of_the_page_are_there():
    page = (ROOT / "docs" / "reproduction.md").read_text("utf-8")
    for name in range(1, 7):
        (path,) = (ROOT / "docs" / "images" / "reproduction").glob(f"figure-{name}-*.png")
        assert path.name in page


@pytest.mark.parametrize("slack", ["binary", "continuous"])
def test_the_printed_tables_come_out(slack):
    results = Results(read_records(ROWS / f"rows-paper-{slack}.csv.gz", Row))
    table = deviation_table(results)
    deviating = {(title, line[0]) for title, lines in table.sections.items() for line in lines}
    assert deviating == {
        ("Synthetic, scaled", "Baseline"),
        ("Pima Diabetes", "Paper's method, exact"),
        ("Hepatitis", "Paper's method, exact"),
    }


def test_at_least_thirty_seeds_are_kept_and_none_failed():
    rows = read_records(ROWS / "rows-honest-binary.csv.gz", Row)
    assert {r.seed for r in rows} >= set(range(30))
    assert all(r.kept and r.status != "FAILED" for r in rows)
