"""Excel sheets as tables."""

from datetime import datetime

import openpyxl
import pytest

from boundshift import InvalidInputError
from boundshift._app.opening import Reading, column_names
from boundshift._app.tables import read_frame


def save(path, *sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


def test_cells_are_read_as_a_csv_file_has_them(tmp_path):
    rows = [
        [None, None],
        ["day", "score", "n", "ill", None],
        [datetime(2026, 3, 1), 0.1, 3.0, True, None],
        [None],
        [None, 1e-9, "#DIV/0!", "x"],
    ]
    found = read_frame(save(tmp_path / "t.xlsx", [], rows))
    assert [list(found.columns), *found.to_numpy().tolist()] == [
        ["day", "score", "n", "ill"],
        ["2026-03-01", "0.1", "3", "True"],
        ["", "1e-09", "", "x"],
    ]


ONE = [["c"], [3]]
TITLED = [["Patients, März"], [None], ["a", "b"], [1, 2]]


def test_a_sheet_and_its_row_of_names_can_be_chosen(tmp_path):
    path = save(tmp_path / "t.xlsx", ONE, TITLED)
    found = read_frame(path, reading=Reading(sheet="Sheet1", header_row=3))
    assert [*found.columns, *found.to_numpy()[0]] == ["a", "b", "1", "2"]
    assert column_names(path, Reading(sheet="Sheet")) == ["c"]


NO_TABLE = {
    "two sheets": ([ONE, TITLED], Reading(), "got none for .* one of 'Sheet', 'Sheet1'"),
    "no such sheet": ([ONE], Reading(sheet="x"), "got x for .* one of 'Sheet'"),
    "row 0": ([TITLED], Reading(header_row=0), "from 1 to 4, got 0"),
    "an empty row": ([TITLED], Reading(header_row=2), "from 1 to 4, got 2"),
    "a row beyond": ([TITLED], Reading(header_row=9), "from 1 to 4, got 9"),
    "a stray cell": ([[["a"], [1, "stray"]]], Reading(), "names 1 while a row has more.* 'stray'"),
    "no cells": ([[]], Reading(), r"must have rows, but .* is empty"),
    "text": (b"a,b\n1,2\n", Reading(), "must be a whole Excel file"),
}


@pytest.mark.parametrize("case", NO_TABLE)
def test_a_workbook_that_is_no_table_is_refused(tmp_path, case):
    content, reading, words = NO_TABLE[case]
    path = tmp_path / "t.xlsx"
    path.write_bytes(content) if isinstance(content, bytes) else save(path, *content)
    with pytest.raises(InvalidInputError, match=words):
        read_frame(path, reading=reading)
