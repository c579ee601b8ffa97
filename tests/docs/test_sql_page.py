"""The page about SQL shows what `to_sql` writes; `tests/sql` runs it in databases."""

import re
from pathlib import Path

import duckdb
import jinja2
import pytest

from tests.docs.pages import blocks, read, run

PAGE = read("howto/sql.md")
COLUMNS = {"snowflake": "MARGIN"}
ROWS = [(2.5,), (3.0,), (3.0000000000000004,), (None,), (float("nan"),)]
EXPECTED = ["no", "no", "yes", None, None]


def shown(kind, name):
    """Return the block after a mark."""
    found = re.search(rf"<!-- {kind} {name} -->\n```\w+\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    return found[1]


@pytest.fixture(scope="module")
def names():
    """Return what the first block of the page defines."""
    return run(blocks(PAGE)[0], "sql.md")


@pytest.mark.tool("SQL in 13 dialects", "names['boundary'].to_sql(column, dialect=dialect)")
@pytest.mark.parametrize(
    "dialect", ["duckdb", "polars", "bigquery", "snowflake", "postgres", "sqlite"]
)
def test_the_page_shows_what_is_written(names, dialect):
    column = COLUMNS.get(dialect, "margin")
    assert shown("sql", dialect).strip() == names["boundary"].to_sql(column, dialect=dialect)
    assert f'`boundary.to_sql("{column}", dialect="{dialect}")`' in PAGE


def test_duckdb_finds_the_boundary_as_shown():
    block = shown("run", "duckdb").rstrip().splitlines()
    found = run("\n".join([*block[:-1], f"rows = {block[-1]}"]), "sql.md")
    assert sum(row[-1] for row in found["rows"]) == 7000
    assert {row[1] for row in found["rows"]} == {False, True}


def test_the_macro_is_rendered_and_runs(names, tmp_path, monkeypatch):
    (tmp_path / "macros").mkdir()
    monkeypatch.chdir(tmp_path)
    exec(shown("run", "dbt"), names)
    macro = Path("macros/fraud_label.sql").read_text(encoding="utf-8")
    query = jinja2.Environment(autoescape=False).from_string(macro + shown("model", "dbt")).render()
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE scores (margin DOUBLE)")
        connection.executemany("INSERT INTO scores VALUES (?)", ROWS)
        found = connection.execute(query).fetchall()
    assert [row[1] for row in found] == EXPECTED
