import zipfile
from datetime import datetime

import openpyxl
import pandas as pd
import pytest

from boundshift import InvalidInputError
from boundshift.app.tables import read_frame, write_frame
from boundshift.streaming.tables import column_names


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
        ["day", "score", "n", "ill"],
        [datetime(2026, 3, 1), 0.1, 3.0, True],
        [None, 1e-9, 2, "x"],
    ]
    path = save(tmp_path / "t.xlsx", rows)
    assert column_names(path) == ["day", "score", "n", "ill"]
    assert read_frame(path).to_numpy().tolist() == [
        ["2026-03-01", "0.1", "3", "True"],
        ["", "1e-09", "2", "x"],
    ]


def test_empty_sheets_rows_and_columns_at_the_edge_are_no_cells(tmp_path):
    path = save(tmp_path / "t.xlsx", [], [[None, None], ["a", "b", None], [None], [1, None, None]])
    assert read_frame(path).to_numpy().tolist() == [["1", ""]]


def test_of_two_sheets_none_is_chosen(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a"], [1]], [["b"], [2]])
    with pytest.raises(InvalidInputError, match=r"one sheet with cells, and .* has 2: 'Sheet"):
        read_frame(path)


def test_a_cell_without_a_name_above_it_is_refused(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a"], [1, "stray"]])
    with pytest.raises(InvalidInputError, match="names 1 while a row has more cells, as 'stray'"):
        read_frame(path)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b""])
def test_what_is_no_workbook_is_refused(tmp_path, content):
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(InvalidInputError, match="must be a whole Excel file"):
        read_frame(tmp_path / "t.xlsx")


def test_an_empty_workbook_has_no_rows(tmp_path):
    with pytest.raises(InvalidInputError, match=r"must have rows, but .* is empty"):
        read_frame(save(tmp_path / "t.xlsx", []))


def test_text_that_looks_like_a_formula_is_written_as_text(tmp_path):
    write_frame(pd.DataFrame({"name": ["=1+1", None], "score": [0.1, 2.5]}), tmp_path / "t.xlsx")
    rows = list(openpyxl.load_workbook(tmp_path / "t.xlsx").active.iter_rows())
    assert [cell.data_type for cell in rows[1]] == ["s", "n"]
    assert [[cell.value for cell in row] for row in rows[1:]] == [["=1+1", 0.1], [None, 2.5]]


def test_letters_that_a_workbook_cannot_hold_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="Write CSV or Parquet"):
        write_frame(pd.DataFrame({"name": ["a\x00"]}), tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []


def rewrite(path, part, change):
    """Write a workbook again with one part of its archive changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


@pytest.mark.parametrize("declared", [b"A1:B50", b"A1", b"A1:A200", b"A1:Z9"])
def test_rows_and_columns_outside_the_declared_dimension_are_read(tmp_path, declared):
    rows = [["score", "ill"], *([i / 7, "yes" if i % 3 else "no"] for i in range(120))]
    path = save(tmp_path / "t.xlsx", rows)
    whole = read_frame(path)
    sheet = "xl/worksheets/sheet1.xml"
    rewrite(path, sheet, lambda xml: xml.replace(b"A1:B121", declared))
    assert len(whole) == 120
    pd.testing.assert_frame_equal(read_frame(path), whole)


def test_a_damaged_workbook_is_refused_wherever_it_is_damaged(tmp_path):
    path = save(tmp_path / "t.xlsx", [["a", "b"], *([i, i * i] for i in range(300))])
    content = path.read_bytes()
    refused = 0
    for place in range(40, len(content) - 20, len(content) // 60):
        damaged = content[:place] + bytes(20) + content[place + 20 :]
        path.write_bytes(damaged)
        try:
            read_frame(path)
        except InvalidInputError as error:
            refused += "must be a whole Excel file" in str(error)
    assert refused > 20
