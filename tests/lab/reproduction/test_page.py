"""docs/reproduction*.md says what the rows in lab/results/reproduction say."""

import re
from pathlib import Path

import pytest

from lab.evidence.reproduction import _tables, fill
from lab.reproduction import Results, read_rows
from lab.reproduction.methods import title_of
from lab.reproduction.tables import deviation_table

ROOT = Path(__file__).parents[3]


PAGES = sorted((ROOT / "docs").glob("reproduction*.md"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_has_the_tables_of_the_rows(path):
    page = path.read_text("utf-8")
    assert fill(page) == page


def test_every_table_stands_on_one_page():
    shown = [name for path in PAGES for name in re.findall("<!-- table (.+) -->", path.read_text())]
    assert sorted(shown) == sorted(_tables())


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_no_page_is_long(path):
    # A line of a table is about 37 pixels high on the site, a paragraph's line about 28.
    lines = path.read_text("utf-8").splitlines()
    rows = sum(line.startswith("|") for line in lines)
    others = sum(1 + len(line) // 100 for line in lines if not line.startswith("|"))
    assert 37 * rows + 28 * others < 8000


def test_no_two_settings_of_this_library_are_the_same():
    rows = read_rows(ROOT / "lab" / "results" / "reproduction" / "rows-honest-binary.csv.gz")
    found = {}
    for row in rows:
        if row.method.startswith("boundshift"):
            found.setdefault(row.method, []).append((row.problem, row.seed, row.threshold))
    assert len({tuple(thresholds) for thresholds in found.values()}) == len(found)


def test_ours_means_one_thing():
    rows = read_rows(ROOT / "lab" / "results" / "reproduction" / "rows-paper-binary.csv.gz")
    assert not [name for name in {row.method for row in rows} if "our" in name]
    assert {title_of(row.method).split(",")[0] for row in rows} >= {"boundshift", "Paper's method"}


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
